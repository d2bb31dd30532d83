"""A language model of one million weights learns Sudoku: from games of a policy, then by GRPO.

pip install 'sudoku-gym[trl]'
python examples/train_language_model.py --settings one/solved --seeds 0 --out runs/lm.json

It starts from random weights, and its tokenizer has 33 symbols: cells, digits, what a reply says.
It copies games on training orbits of 4x4, of a player that solves and of one that rarely does, and
stops early. Then TRL's `GRPOTrainer` goes on in our environment: in `many` turns a move is a call
of the tool `place`, in `one` turn the answer is a whole board. Between, boards of orbits that
neither phase has seen are played. A row that is there is not made again.
"""

import json
import re
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
import tyro

from sudoku_gym import load_policy
from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.storage.atomic import write_text
from sudoku_gym.text import ScriptedModel, TextOptions, TextSudoku
from sudoku_gym.text import trl as adapter

CALL = '<tool_call>\n{{"name": "place", "arguments": {{"row": {}, "column": {}, "digit": '
CELLS = [CALL.format(row, column) for row in range(1, 5) for column in range(1, 5)]
DIGITS = [f"{digit}}}}}\n</tool_call>" for digit in range(1, 5)]
REPLIES = ["clashes with the", "already: erase", "is given", "is solved", "No turn", "is over"]
PAD, END = "<pad>", "<end>"
TEMPLATE = (  # of a reply the first line is read: what was placed the model has written itself
    "{% for message in messages %}{% if message.tool_calls %}{% for call in message.tool_calls %}"
    '<tool_call>\n{"name": "{{ call.function.name }}", "arguments": '
    "{{ call.function.arguments | tojson }}}\n</tool_call>{% endfor %}<end>"
    "{% elif message.role == 'assistant' %}{{ message.content }}<end>"
    "{% elif message.role == 'tool' %}{{ message.content.split('\n')[0] }}"
    "{% else %}{{ message.content }}{% endif %}{% endfor %}"
)
CALLS = {"open": "<tool_call>", "close_pattern": r"</tool_call>\s*", "content": "json"}
CALLS |= {"repeats": True, "transform": {"type": "function", "function": "{content}"}}
FIELDS = {"tool_calls": CALLS, "content": {"close_pattern": END, "content": "text"}}
RESPONSES = {"defaults": {"role": "assistant"}, "start_anchor_pattern": r"\Z", "fields": FIELDS}
PLAIN = TextOptions(env_id="Sudoku4x4-v0", style="compact", max_turns=5)
OPTIONS = {"many": replace(PLAIN, blanks=4), "one": replace(PLAIN, mode="answer")}
COPIED = {"many": (["solver"] * 2, (1, 4)), "one": (["naked-singles", "masked-random"], None)}
PHASES = {"many": ((0, 1, 2e-3), (1, 1 / 8, 5e-4)), "one": ((0, 1, 2e-3),)}  # of copying
LENGTH = {"many": 24, "one": 17}  # most tokens of an answer, with its replies
LOGGED = ("reward", "entropy", "frac_reward_zero_std", "completions/mean_length")
ONE = ("one/solved", "one/constraints", "one/solved/curriculum")
MANY = ("many/solved", "many/constraints", "many/still_solvable", "many/solved/curriculum")


@dataclass(frozen=True)
class Config:
    """What to train.

    Attributes:
        settings: turns, reward, and `curriculum` for few blanks first.
        seeds: of GRPO's puzzles and draws; all start from one model that has copied.
        games: games to copy, by the two players of `COPIED` in turn.
        updates: of copying, which is to stop early.
        steps: updates by GRPO, each by `group` answers to each of `prompts` puzzles.
        learning_rate: of GRPO's first update; it falls to 0.
        held_out: boards of the test split to play.
        runs: folder of the models that have copied.
        out: a JSON file, a row for each setting and seed.
        smoke: do little, to see that it runs.
    """

    settings: tuple[str, ...] = (*ONE, *MANY)
    seeds: tuple[int, ...] = (0, 1, 2)
    games: int = 4_000
    updates: int = 800
    steps: int = 45
    prompts: int = 8
    group: int = 16
    learning_rate: float = 1e-4
    held_out: int = 300
    runs: Path = Path("runs/language-model")
    out: Path = Path("runs/language-model/results.json")
    smoke: bool = False


def make_tokenizer():
    """Make a tokenizer of moves, boards and replies; it passes over all other words."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = [PAD, END, *".1234", *REPLIES, *CELLS, *DIGITS]
    raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, PAD))
    known = "|".join(map(re.escape, [*REPLIES, *CELLS, *DIGITS]))
    raw.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(rf"[.1-4]{{16}}|{known}"), "removed", invert=True),
        pre_tokenizers.Split(Regex("[.1-4](?=[.1-4]*$)"), "isolated"),
    ])  # fmt: skip
    raw.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=END, pad_token=PAD)
    tokenizer.padding_side = "left"
    tokenizer.chat_template, tokenizer.response_template = TEMPLATE, RESPONSES
    return tokenizer


def played_game(game, player, seed, careless=False):
    """Return the messages of one game, as TRL keeps them; `careless` draws every other digit."""
    prompt = message = game.reset(seed)
    rng, messages = np.random.default_rng(seed), [{"role": "user", "content": prompt}]
    if game.options.mode == "answer":
        board = "".join(re.findall("[.1-4]", player.whole_board(prompt)))
        return [*messages, {"role": "assistant", "content": board}]
    while not game.done:
        move = re.findall(r"\d+", player.next_move(message, first=len(messages) == 1))
        if not move:
            break  # it gives up
        if careless and rng.random() < 0.5:
            move[2] = str(rng.integers(1, 5))
        arguments = dict(zip(("row", "column", "digit"), map(int, move), strict=True))
        message = game.step(" ".join(move)).message
        call = {"type": "function", "function": {"name": "place", "arguments": arguments}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "name": "place", "content": message})
    return [*messages, {"role": "assistant", "content": ""}]


def traces(config, turns, tokenizer, careless):
    """Return tokens int64 `[games, T]`, and labels: -100 for what the model reads."""
    names, blanks = COPIED[turns]
    game = TextSudoku(replace(OPTIONS[turns], blanks=blanks))
    players = [ScriptedModel(load_policy(name), game.geometry) for name in names]
    games = [played_game(game, players[i % 2], i, careless * (i % 2)) for i in range(config.games)]
    texts = tokenizer.apply_chat_template(games, tokenize=False)
    found = tokenizer(texts, padding=True, padding_side="right", return_tensors="pt")
    tokens, replies = found["input_ids"], torch.tensor(tokenizer.convert_tokens_to_ids(REPLIES))
    is_read = torch.isin(tokens, replies) | (found["attention_mask"] == 0)
    is_read[:, : game.geometry.num_cells] = True
    return tokens, tokens.masked_fill(is_read, -100)


def play(model, tokenizer, options, count, sampled):
    """Play puzzles, sampled as in training or greedily; return which are solved, bool `[count]`."""
    games = [TextSudoku(options) for _ in range(count)]
    prompts = [game.reset(seed) for seed, game in enumerate(games)]
    tokens, still = tokenizer(prompts)["input_ids"], list(range(len(games)))
    while still:
        batch = tokenizer.pad({"input_ids": [tokens[i] for i in still]}, return_tensors="pt")
        room = LENGTH["one"] if options.mode == "answer" else 3
        with torch.inference_mode():
            found = model.generate(**batch, max_new_tokens=room, do_sample=sampled, top_k=0)
        read, going = found[:, batch["input_ids"].shape[1] :].tolist(), []
        for i, answer in zip(still, read, strict=True):
            text = tokenizer.decode(answer, skip_special_tokens=True)
            numbers = re.findall(r"\d+", text)
            if options.mode == "answer":
                games[i].step(text)
            elif len(numbers) == 3:
                turn = games[i].step(" ".join(numbers))
                reply = tokenizer(turn.message.split("\n")[0])["input_ids"]
                tokens[i] = tokens[i] + answer + reply
                going += [i] * (not turn.done)
        still = going
    return np.array([game.is_solved for game in games])


def copy_policies(config, turns, tokenizer):
    """Return a GPT-2 of 1.01 million weights that has copied games, digits renamed at random."""
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = config.runs / turns
    if folder.exists():
        return GPT2LMHeadModel.from_pretrained(folder)
    start = time.process_time()
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=len(tokenizer), n_positions=128, n_embd=128, n_layer=5, n_head=4,
        activation_function="relu", resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
    ))  # fmt: skip
    for careless, share, rate in PHASES[turns]:
        tokens, labels = traces(config, turns, tokenizer, careless)
        generator, updates = torch.Generator().manual_seed(0), int(share * config.updates)
        optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.01)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, updates + 1, pct_start=0.1)
        for _ in range(updates):
            rows = torch.randint(len(tokens), (64,), generator=generator)
            renamed = torch.arange(-100, len(tokenizer))
            order = torch.randperm(4, generator=generator)
            for names in (list("1234"), DIGITS):
                ids = torch.tensor(tokenizer.convert_tokens_to_ids(names)) + 100
                renamed[ids] = renamed[ids[order]]
            found = model(input_ids=renamed[tokens[rows] + 100], labels=renamed[labels[rows] + 100])
            optimizer.zero_grad()
            found.loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    print(f"{turns}: loss {found.loss:.3f} after {time.process_time() - start:.0f} s", flush=True)
    model.save_pretrained(folder)
    return model


def still_solvable(options, reward):
    """Return a class of environments that pays each turn after which the board can be solved."""
    told = replace(options, reward_still_solvable=True)

    class StillSolvable(adapter.environment_factory(told, reward=reward)):
        def reset(self, seed=None, **row):
            self._kept = 0.0
            return super().reset(seed, **row)

        def place(self, row: int, column: int, digit: int) -> str:
            message = super().place(row, column, digit)
            self._kept += super().get_reward() * (message != "The episode is over.")
            return message

        def get_reward(self):
            return self._kept / options.max_turns

    return StillSolvable


def improve(config, setting, seed, model, tokenizer):
    """Go on by GRPO; return the shares of held-out boards by step, and what TRL logged."""
    from datasets import concatenate_datasets
    from transformers import TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    turns, reward, *rest = setting.split("/")
    options, count, first = OPTIONS[turns], config.steps * config.prompts, 10**8 + 10**6 * seed
    levels: list[int | None] = [None] * count  # None: puzzles as stored
    if rest:  # few blanks first: more and more in the first half
        low, high = (4, 10) if turns == "one" else (2, 4)
        levels[: count // 2] = np.linspace(low, high, count // 2).astype(int).tolist()
    if turns == "one":
        like = {"env_id": options.env_id, "style": options.style}
        rows = [adapter.answer_dataset(1, i, blanks=n, **like) for i, n in enumerate(levels, first)]
        data = concatenate_datasets(rows)
        given = {"reward_funcs": adapter.reward_functions()[reward == "constraints"]}
    else:
        data = adapter.seed_dataset(count, first).add_column("blanks", levels)
        make = still_solvable if reward == "still_solvable" else adapter.environment_factory
        given = {"environment_factory": make(options, reward=reward)}
    arguments = GRPOConfig(
        str(config.runs / "trl"), max_steps=config.steps, num_generations=config.group,
        per_device_train_batch_size=config.prompts * config.group, beta=0, seed=seed,
        max_completion_length=LENGTH[turns], learning_rate=config.learning_rate,
        lr_scheduler_type="linear", shuffle_dataset=False, gradient_checkpointing=False,
        bf16=False, use_cpu=True, logging_steps=1, save_strategy="no", disable_tqdm=True,
    )  # fmt: skip
    held_out, checks = replace(options, split="test"), []

    class Check(TrainerCallback):
        def on_step_end(self, args, state, control, **rest):
            if state.global_step % max(1, config.steps // 3):
                return
            found = {"step": state.global_step}
            for name in ("sampled", "greedy"):
                with torch.random.fork_rng():
                    torch.manual_seed(state.global_step)
                    solved = play(model, tokenizer, held_out, config.held_out, name == "sampled")
                count, total = int(solved.sum()), len(solved)
                low, high = (round(100 * end, 2) for end in wilson_interval(count, total))
                found[name] = {"count": total, "solved": count, "low": low, "high": high}
            print(setting, seed, found, flush=True)
            checks.append(found)

        on_train_begin = on_step_end

    given |= {"train_dataset": data, "processing_class": tokenizer, "callbacks": [Check()]}
    trainer = GRPOTrainer(model, args=arguments, **given)
    trainer.train()
    logged = [row for row in trainer.state.log_history if "reward" in row]
    return {"checks": checks} | {k: [round(float(row[k]), 4) for row in logged] for k in LOGGED}


def main(argv=None):
    config = tyro.cli(Config, args=argv)
    if config.smoke:
        few = {"games": 32, "updates": 2, "steps": 2, "prompts": 2, "group": 2, "held_out": 4}
        config = replace(config, **few, seeds=(0,))
    torch.set_num_threads(1)
    tokenizer = make_tokenizer()
    rows = json.loads(config.out.read_text("utf-8"))["rows"] if config.out.exists() else []
    for seed in config.seeds:
        for setting in config.settings:
            key = {"setting": setting, "seed": seed}
            if any(row.items() >= key.items() for row in rows):
                continue
            model = copy_policies(config, setting.split("/")[0], tokenizer)
            start = time.process_time()
            found = improve(config, setting, seed, model, tokenizer)
            rows.append({**key, "seconds": round(time.process_time() - start), **found})
            config.out.parent.mkdir(parents=True, exist_ok=True)
            write_text(config.out, '{"rows": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]}\n")
    return rows


if __name__ == "__main__":
    main()

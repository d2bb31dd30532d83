"""A language model of one million weights learns Sudoku: from games of a policy, then by GRPO.

pip install 'sudoku-gym[trl]'
python examples/train_language_model.py --settings one/solved --seeds 0 --out runs/lm.json

From random weights, with a tokenizer of cells, digits and what a reply says, it copies games on
training orbits, of a player that solves and of one that rarely does, and stops early. Then TRL's
`GRPOTrainer` goes on in our environment: in `many` turns a move is a call of the tool `place`, in
`one` turn the answer is a whole board. Between, boards of orbits that neither phase has seen are
played. A row that is there is not made again.
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
from sudoku_gym.board import SYMBOLS
from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.storage.atomic import write_text
from sudoku_gym.text import ScriptedModel, TextOptions, TextSudoku
from sudoku_gym.text import trl as adapter

CALL = '<tool_call>\n{{"name": "place", "arguments": {{"row": {}, "column": {}, "digit": '
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
COPIED = {"many": ["solver"] * 2, "one": ["naked-singles", "masked-random"]}
PHASES = {"many": ((0, 1, 2e-3), (1, 1 / 8, 5e-4)), "one": ((0, 1, 2e-3),)}  # of copying
LOGGED = ("reward", "entropy", "frac_reward_zero_std", "completions/mean_length")


@dataclass(frozen=True)
class Config:
    """What to train.

    Attributes:
        size: of the board, such as 6 with few `blanks`.
        blanks: of a puzzle; None: as stored in one turn, 4 in many.
        settings: turns/reward, or turns/reward/curriculum for few blanks first.
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

    size: int = 4
    blanks: int | None = None
    settings: tuple[str, ...] = ("one/solved", "many/solved")
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


def options_of(config, turns):
    """Return the options of the text environment: a turn more than blanks, or one turn."""
    env_id, few = f"Sudoku{config.size}x{config.size}-v0", config.blanks or 4
    options = TextOptions(env_id, "turns", "compact", few, max_turns=few + 1)
    return options if turns == "many" else replace(options, mode="answer", blanks=config.blanks)


def make_tokenizer(size):
    """Make a tokenizer of moves, boards and replies; it passes over all other words."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    symbols, digits = SYMBOLS[: size + 1], range(1, size + 1)
    calls = [CALL.format(row, column) for row in digits for column in digits]
    calls += [f"{digit}}}}}\n</tool_call>" for digit in digits]
    words = [PAD, END, *symbols, *REPLIES, *calls]
    raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, PAD))
    known = "|".join(map(re.escape, [*REPLIES, *calls]))
    parts = pre_tokenizers.Split(Regex(f"[{symbols}]{{{size**2}}}|{known}"), "removed", invert=True)
    cells = pre_tokenizers.Split(Regex(f"[{symbols}](?=[{symbols}]*$)"), "isolated")
    raw.pre_tokenizer = pre_tokenizers.Sequence([parts, cells])
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
        board = "".join(re.findall("[.1-9A-Z]", player.whole_board(prompt)))
        return [*messages, {"role": "assistant", "content": board}]
    while not game.done:
        move = re.findall(r"\d+", player.next_move(message, first=len(messages) == 1))
        if not move:
            break  # it gives up
        if careless and rng.random() < 0.5:
            move[2] = str(rng.integers(1, game.geometry.size + 1))
        arguments = dict(zip(("row", "column", "digit"), map(int, move), strict=True))
        message = game.step(" ".join(move)).message
        call = {"type": "function", "function": {"name": "place", "arguments": arguments}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "name": "place", "content": message})
    return [*messages, {"role": "assistant", "content": ""}]


def traces(config, turns, tokenizer, careless):
    """Return tokens int64 `[games, T]`, and labels: -100 for what the model reads."""
    options = options_of(config, turns)
    game = TextSudoku(replace(options, blanks=(1, options.blanks)) if turns == "many" else options)
    players = [ScriptedModel(load_policy(name), game.geometry) for name in COPIED[turns]]
    games = [played_game(game, players[i % 2], i, careless * (i % 2)) for i in range(config.games)]
    texts = tokenizer.apply_chat_template(games, tokenize=False)
    found = tokenizer(texts, padding=True, padding_side="right", return_tensors="pt")
    tokens, replies = found["input_ids"], torch.tensor(tokenizer.convert_tokens_to_ids(REPLIES))
    is_read = torch.isin(tokens, replies) | (found["attention_mask"] == 0)
    is_read[:, : game.geometry.num_cells] = True
    return tokens, tokens.masked_fill(is_read, -100)


def play(model, tokenizer, options, count, sampled):
    """Play puzzles, sampled as in training or greedily; return how many are solved."""
    games, is_answer = [TextSudoku(options) for _ in range(count)], options.mode == "answer"
    prompts = [game.reset(seed) for seed, game in enumerate(games)]
    tokens, still = tokenizer(prompts)["input_ids"], range(count)
    while still:
        batch = tokenizer.pad({"input_ids": [tokens[i] for i in still]}, return_tensors="pt")
        room = len(tokens[0]) + 1 if is_answer else 3
        found = model.generate(**batch, max_new_tokens=room, do_sample=sampled, top_k=0)
        read, going = found[:, batch["input_ids"].shape[1] :].tolist(), []
        for i, answer in zip(still, read, strict=True):
            text = tokenizer.decode(answer, skip_special_tokens=True)
            move = text if is_answer else " ".join(re.findall(r"\d+", text))
            if is_answer or move.count(" ") == 2:
                turn = games[i].step(move)
                tokens[i] += answer + tokenizer(turn.message.split("\n")[0])["input_ids"]
                going += [i] * (not turn.done)
        still = going
    return sum(game.is_solved for game in games)


def copy_policies(config, turns, tokenizer):
    """Return a GPT-2 of 1.01 million weights that has copied games, digits renamed at random."""
    from transformers import GPT2Config, GPT2LMHeadModel

    folder, size = config.runs / f"{config.size}x{config.size}" / turns, config.size
    if folder.exists():
        return GPT2LMHeadModel.from_pretrained(folder)
    start = time.process_time()
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=len(tokenizer), n_positions=8 * size**2, n_embd=128, n_layer=5, n_head=4,
        activation_function="relu", resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
    ))  # fmt: skip
    digits = torch.arange(size) + torch.tensor([[103], [100 + len(tokenizer) - size]])  # of `words`
    for careless, share, rate in PHASES[turns]:
        tokens, labels = traces(config, turns, tokenizer, careless)
        generator, updates = torch.Generator().manual_seed(0), int(share * config.updates)
        optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.01)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, updates + 1, pct_start=0.1)
        for _ in range(updates):
            rows = torch.randint(len(tokens), (64,), generator=generator)
            renamed = torch.arange(-100, len(tokenizer))
            renamed[digits] = renamed[digits[:, torch.randperm(size, generator=generator)]]
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
    options, count = options_of(config, turns), config.steps * config.prompts
    longest = config.size**2 + 1 if turns == "one" else 4 * options.max_turns + 4  # with replies
    first, levels = 10**8 + 10**6 * seed, [options.blanks] * count
    if rest:  # few blanks first: more and more in the first half
        high = options.blanks or 10
        levels[: count // 2] = np.linspace(min(4, high // 2), high, count // 2).astype(int).tolist()
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
        str(config.runs / "trl"), max_steps=config.steps, num_generations=config.group, beta=0,
        per_device_train_batch_size=config.prompts * config.group, seed=seed, disable_tqdm=True,
        max_completion_length=longest, learning_rate=config.learning_rate, shuffle_dataset=False,
        gradient_checkpointing=False, bf16=False, use_cpu=True, logging_steps=1, save_strategy="no",
    )  # fmt: skip
    held_out, total, checks = replace(options, split="test"), config.held_out, []

    class Check(TrainerCallback):
        def on_step_end(self, args, state, control, **rest):
            if state.global_step % max(1, config.steps // 3):
                return
            found = {"step": state.global_step}
            for name in ("sampled", "greedy"):
                with torch.random.fork_rng():
                    torch.manual_seed(state.global_step)
                    solved = play(model, tokenizer, held_out, total, name == "sampled")
                low, high = (round(100 * end, 2) for end in wilson_interval(solved, total))
                found[name] = {"count": total, "solved": solved, "low": low, "high": high}
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
    tokenizer = make_tokenizer(config.size)
    rows = json.loads(config.out.read_text("utf-8"))["rows"] if config.out.exists() else []
    for seed in config.seeds:
        for setting in config.settings:
            key = {"setting": setting, "seed": seed, "size": config.size, "blanks": config.blanks}
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

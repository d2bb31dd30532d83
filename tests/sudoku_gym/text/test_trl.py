"""TRL's trainer plays our environments; the model is a random one, made on the spot."""

import re
from pathlib import Path

import pytest

from sudoku_gym.policies import load_policy
from sudoku_gym.text import ScriptedModel, TextOptions
from sudoku_gym.text import trl as adapter

trl = pytest.importorskip("trl", reason="the extra trl is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # from trl and what it loads
]


def tiny_model():
    """Make a random Qwen3 of two layers and a tokenizer of bytes; nothing is downloaded."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    words = {word: i for i, word in enumerate([*special, *letters])}
    raw = Tokenizer(models.BPE(words, []))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    tokenizer.add_special_tokens({"additional_special_tokens": special[1:2]})
    templates = Path(trl.__file__).parent / "chat_templates"
    tokenizer.chat_template = (templates / "qwen3.jinja").read_text("utf-8")
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=8192,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return Qwen3ForCausalLM(config), tokenizer


def test_two_steps_with_tools_on_boards_of_two_sizes(tmp_path, monkeypatch):
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    starts, sizes = [], ["Sudoku4x4-v0", "Sudoku9x9-v0"]

    def watched(env_id):
        class Watched(adapter.environment_factory(env_id=env_id, blanks=3)):
            def reset(self, seed=None, **row):
                starts.append((env_id, super().reset(seed, **row)))
                return starts[-1][1]

        return Watched

    model, tokenizer = tiny_model()
    config = trl.GRPOConfig(
        output_dir=str(tmp_path),
        max_steps=2,
        per_device_train_batch_size=2,
        num_generations=2,
        max_completion_length=16,
        shuffle_dataset=False,
        use_cpu=True,
        save_strategy="no",
    )
    trainer = trl.GRPOTrainer(
        model,
        args=config,
        processing_class=tokenizer,
        environment_factory={env_id: watched(env_id) for env_id in sizes},
        train_dataset=adapter.seed_dataset(2).add_column("environment", sizes),
    )
    trainer.train()
    assert {tool.__name__ for tool in trainer.tools} == {"place", "erase", "undo"}
    assert [env_id for env_id, _ in starts[::2]] == sizes and starts[::2] == starts[1::2]


def test_the_lines_of_the_page(tmp_path, monkeypatch):
    """As they stand, with a random model in a folder of the name that they ask for."""
    page = (Path(__file__).parents[3] / "docs" / "text.md").read_text(encoding="utf-8")
    section = page.partition("\n## TRL\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```py\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    for part in tiny_model():
        part.save_pretrained("Qwen/Qwen3-0.6B")
    names = {}
    for block in blocks:
        exec(block, names)
        assert names["trainer"].state.global_step == 2
    assert len(blocks) == 2


def test_a_scripted_model_solves_with_the_tools_that_the_trainer_calls():
    factory = adapter.environment_factory(blanks=40, split="test")
    environment = factory()
    model = ScriptedModel(load_policy("expert-iteration"), environment._game.geometry)
    solved = 0
    for row in adapter.seed_dataset(100):
        message, first = environment.reset(**row), True
        while not environment._game.done:
            numbers = map(int, re.findall(r"\d+", model.next_move(message, first=first)))
            message, first = environment.place(*numbers), False
        solved += environment.get_reward()
        assert environment.undo() == "The episode is over."
    assert solved == 100


def test_tools_refuse_numbers_that_name_no_cell():
    environment = adapter.environment_factory(env_id="Sudoku4x4-v0", blanks=10)()
    environment.reset(seed=0)
    before = environment._game.board_text()
    assert "There is no row -1" in environment.place(-1, 1, 1)
    assert "There is no column -2" in environment.erase(1, -2)
    assert "-3 is no digit" in environment.place(1, 1, -3)
    for odd in ([1], None, "1 1 1\nr1c1=1", {"row": 1}, float("nan"), 10**30):
        environment.place(odd, 1, 1)
    assert environment._game.board_text() == before


def test_a_scripted_model_answers_the_data_set():
    dataset = adapter.answer_dataset(100, blanks=40, split="test")
    from sudoku_gym.geometry import Geometry

    model = ScriptedModel(load_policy("expert-iteration"), Geometry.standard(9))
    texts = [model.whole_board(row["prompt"][0]["content"]) for row in dataset]
    completions = [[{"role": "assistant", "content": text}] for text in texts]
    for function in adapter.reward_functions():
        assert function(completions=completions, puzzle=dataset["puzzle"]) == [1] * 100


def test_tools_are_documented_for_the_trainer():
    from transformers.utils import get_json_schema

    for name in ("place", "erase", "undo"):
        schema = get_json_schema(getattr(adapter.SudokuTools(), name))["function"]
        assert schema["description"] and schema["return"]["description"]


def test_unknown_rewards_are_refused_at_once():
    with pytest.raises(ValueError, match="reward='typo': use one of solved, constraints, format"):
        adapter.environment_factory(reward="typo")
    assert adapter.environment_factory(reward="still_solvable", reward_still_solvable=True)


def test_whole_boards_are_no_tools():
    with pytest.raises(ValueError, match="answer_dataset"):
        adapter.environment_factory(TextOptions(mode="answer"))

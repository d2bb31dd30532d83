"""Every example runs with --smoke and shows what it promises."""

import importlib.util
import json
import sys
from pathlib import Path

import matplotlib.colors as mcolors
import numpy as np
import pytest

from sudoku_curricula.curves import (
    BLANKS_LEVEL,
    COMPLETION_RATE,
    POLICY_LOSS,
    STEPS_PER_SECOND,
    SUCCESS_RATE,
    VALUE_LOSS,
    read_curves,
)

EXAMPLES = Path(__file__).parent.parent / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name, *arguments):
    return load(name).main(["--smoke", *arguments])


def test_quickstart(capsys):
    results = run("quickstart")
    assert results["naked-singles"].completion_rate == 1
    assert results["masked-random"].completion_rate < 0.3
    assert "random games with 6 blanks" in capsys.readouterr().out


def test_plug_in_your_agent():
    results = run("plug_in_your_agent")
    assert results["4x4"]["fewest-candidates"].completion_rate == 1
    rates = {name: result.completion_rate for name, result in results["9x9"].items()}
    assert rates["masked-random"] == 0 < rates["hidden-singles"]


def test_compare_policies(tmp_path, capsys):
    picture = tmp_path / "comparison.png"
    results = run(
        "compare_policies", "hidden-singles", "dlx?node_limit=100000", "--out", str(picture)
    )
    assert all(result.completion_rate == 1 for result in results["dlx?node_limit=100000"].values())
    assert results["hidden-singles"]["hidden singles"].completion_rate == 1
    assert "| ms per puzzle |" in capsys.readouterr().out and picture.stat().st_size > 0


def test_demo(tmp_path, capsys):
    minimal, others = run("demo", "--run", str(tmp_path / "demo"))
    rates = {name: result.completion_rate for name, result in minimal.items()}
    assert rates["before training*"] == 0 == rates["masked-random"] < rates["hidden-singles"]
    assert rates["trained, best-first search"] == 1  # it is complete, whatever the network learned
    assert {"untrained, luckiest of ten*", "trained, greedy"} <= set(rates)
    assert not any(result.illegal for result in minimal.values())
    assert set(others) == {"minimal 4x4", "minimal 6x6", "16x16 with 130 blanks"}
    for results in others.values():
        assert {"before training", "untrained, luckiest of ten", "trained, greedy"} <= set(results)
    printed = capsys.readouterr().out
    assert "Evaluations of the network that the best-first search took" in printed
    assert "    task  at level  " in printed and "           4x4    " in printed
    curves = read_curves(tmp_path / "demo")
    assert {COMPLETION_RATE, SUCCESS_RATE, POLICY_LOSS, "task_weight/9x9, as stored"} <= set(curves)
    for name in ("curves.png", "9x9.gif", "config.json"):
        assert (tmp_path / "demo" / name).stat().st_size > 0
    figures = json.loads((tmp_path / "demo" / "figures.json").read_text())["minimal 9x9"]
    assert {name.rstrip("*") for name in minimal} == set(figures)
    assert figures["hidden-singles"]["solved"] == minimal["hidden-singles"].solved.sum()


@pytest.mark.parametrize("flags", [(), ("--schedule", "constant?blanks=12")], ids=len)
def test_train_sb3_maskable_ppo(flags, tmp_path):
    results = run("train_sb3_maskable_ppo", "--run", str(tmp_path), *flags)
    assert set(results[None]) == {"masked-random", "naked-singles", "untrained", "MaskablePPO"}
    assert results[None]["MaskablePPO"].illegal == 0
    assert (tmp_path / "model.zip").stat().st_size > 0
    blanks = read_curves(tmp_path / "ppo_1")[BLANKS_LEVEL][1]
    assert blanks == [12] * len(blanks) if flags else blanks[-1] > 2


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_train_rllib_ppo(tmp_path, ray_cluster):
    schedule = "algorithm-1?start=2&stop=12&gamma=0.8&metric=completion"
    results = run("train_rllib_ppo", "--run", str(tmp_path), "--schedule", schedule)
    assert set(results) == {"masked-random", "naked-singles", "untrained", "PPO"}
    assert results["PPO"].illegal == 0
    assert (tmp_path / "checkpoint" / "learner_group").is_dir()
    found = read_curves(tmp_path)
    assert {SUCCESS_RATE, POLICY_LOSS, VALUE_LOSS, STEPS_PER_SECOND} <= set(found)
    assert found[BLANKS_LEVEL][1][-1] > 2


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_is_run_by_a_test(path):
    own_file = Path(__file__).with_name(f"test_{path.stem}.py")
    assert own_file.exists() or f"def test_{path.stem}(" in Path(__file__).read_text("utf-8")


def test_your_own_learner(tmp_path):
    folder = str(tmp_path / "run")
    run("your_own_learner", "--run", folder)
    first = read_curves(folder)[POLICY_LOSS]
    resumed = load("your_own_learner")
    results = resumed.main(["--run", folder, "--resume", "--iterations", "25", "--games", "192"])
    rates = {name: result.completion_rate for name, result in results.items()}
    assert rates["untrained"] == 0 == rates["masked-random"] and rates["REINFORCE"] > 0.8
    found = read_curves(folder)
    assert [curve[:3] for curve in found[POLICY_LOSS]] == [curve[:3] for curve in first]
    assert found[BLANKS_LEVEL][1][-1] == 12


def test_behaviour_cloning(tmp_path):
    pytest.importorskip("minari", reason="the extra minari is not installed")
    data = tmp_path / "4x4-singles-v0"
    source = ["--policy", "hidden-singles", "--source", "4x4", "--episodes", "64"]
    learning = ["--updates", "120", "--batch", "16", "--seed", "2", "--puzzles", "128"]
    results = load("behaviour_cloning").main(["--data", str(data), *source, *learning])
    assert results["untrained"].completion_rate == 0 < 0.9 < results["cloned"].completion_rate
    metadata = data / "data" / "metadata.json"
    forged = json.loads(metadata.read_text())
    del forged["action_space"]
    forged["env_spec"] = forged["env_spec"].replace("sudoku_gym", "os")
    metadata.write_text(json.dumps(forged))  # Minari would make this environment
    with pytest.raises(SystemExit, match=r"metadata\.json has no spaces"):
        load("behaviour_cloning").main(["--data", str(data)])


@pytest.mark.filterwarnings("ignore")  # from torchrl
@pytest.mark.parametrize("flags", [(), ("--recurrent",)], ids=["plain", "recurrent"])
def test_torchrl_ppo_masked(flags):
    pytest.importorskip("torchrl", reason="the extra torchrl is not installed")
    results = run("torchrl_ppo_masked", *flags)
    assert results["naked-singles"].completion_rate == 1
    assert results["PPO"].illegal == 0 and 0 < results["PPO"].completion_rate < 1


@pytest.mark.parametrize("size", [4, 6])
def test_train_language_model_reads_what_policies_write(size):
    lm = load("train_language_model")
    for turns, length in (("many", 10), ("one", 2)):
        game = lm.TextSudoku(lm.options_of(lm.Config(size=size, blanks=4), turns))
        player = lm.ScriptedModel(lm.load_policy("naked-singles"), game.geometry)
        messages = lm.played_game(game, player, 0)
        assert messages[0]["content"] == game.reset(0) and len(messages) >= length
        written = [message["content"] for message in messages if message["role"] != "user"]
        assert "The board is solved." in written[-2] if turns == "many" else game.step(written[0])


@pytest.mark.filterwarnings("ignore")  # from trl and what it loads
@pytest.mark.parametrize(("size", "blanks"), [(4, ""), (6, "--blanks 5")])
def test_train_language_model(tmp_path, monkeypatch, size, blanks):
    trl = pytest.importorskip("trl.chat_template_utils", reason="the extra trl is not installed")
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    lm = load("train_language_model")
    tokenizer, cells = lm.make_tokenizer(size), size**2
    game = lm.TextSudoku(lm.options_of(lm.Config(size=size), "many"))
    player = lm.ScriptedModel(lm.load_policy("naked-singles"), game.geometry)
    messages = lm.played_game(game, player, 0)
    tokens = tokenizer.apply_chat_template(messages, return_dict=False)
    assert tokenizer.decode(tokens[:cells]) == messages[0]["content"][-cells:]
    call = trl.parse_response(tokenizer, tokens[cells:][:3], prefix=tokens[:cells])["tool_calls"]
    assert call == messages[1]["tool_calls"] and len(tokenizer) == {4: 33, 6: 57}[size]
    settings = "one/solved", "many/still_solvable", "many/solved/curriculum"
    options = f"--smoke --size {size} {blanks} --runs {tmp_path} --out {tmp_path}/rows --settings"
    rows = lm.main([*options.split(), *settings])
    assert [row["setting"] for row in rows] == list(settings)
    assert all([check["step"] for check in row["checks"]] == [0, 1, 2] for row in rows)
    monkeypatch.setattr(lm, "copy_policies", None)
    assert lm.main([*options.split(), *settings]) == rows


def test_draw_a_search(tmp_path):
    example = load("draw_a_search")
    search = example.main(["--row", "40", "--simulations", "20", "--out", str(tmp_path / "a.png")])
    assert (tmp_path / "a.png").stat().st_size > 5_000
    texts = example.draw_search(search).axes[0].texts
    assert len(texts) == search.trees.tree_size[0, 0] == 21
    red = mcolors.to_rgba(example.COLOURS[example.LOST])
    drawn_red = [each.get_bbox_patch().get_facecolor() == red for each in texts]
    trees = search.trees  # only edges of expanded nodes are initialized
    begins, counts = trees.node_first_edge[0, :21], trees.node_num_visited[0, :21]
    edges = np.concatenate([np.arange(b, b + n) for b, n in zip(begins, counts, strict=True)])
    lost = trees.children_outcomes[0, edges] == example.LOST
    assert sum(drawn_red) == (lost & (trees.children_visits[0, edges] > 0)).sum() > 0
    assert len(example.draw_search(search, nodes=5).axes[0].texts) == 5

"""Tasks: what their texts mean, and that environments draw them as weighted."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

import sudoku_gym
from sudoku_gym import puzzles
from sudoku_gym.puzzles.sources import BankSource
from sudoku_gym.puzzles.tasks import AS_STORED, PuzzleWeights, Tasks, TaskWeights

BANK = "9x9"


def weighted(text, *weights):
    return TaskWeights(Tasks(text), np.array(weights, float))


def test_texts_name_tasks_in_order():
    assert Tasks("blanks=2..4").blanks.tolist() == [2, 3, 4]
    assert Tasks("blanks=20..50:15,7,stored").blanks.tolist() == [20, 35, 50, 7, AS_STORED]
    both = Tasks("grade=hidden singles,search x blanks=5,6")
    names = [task.name for task in both.each]
    assert names[:2] == ["hidden singles, 5 blanks", "hidden singles, 6 blanks"]
    assert len(both) == 4 and not both.only_blanks and Tasks("blanks=2..4").only_blanks
    bands = [(task.low, task.high) for task in Tasks("rating=0..10..100").each]
    assert bands == [(0, 10), (10, 100)]


def test_fine_grades_are_tasks_too():
    bank = puzzles.load("latin9x9")
    table = BankSource(bank).table(weighted("grade=pairs,X-Wing,search", 1, 1, 1))
    fine = puzzles.grade(bank.puzzles, bank.geometry, fine=True)
    assert table.counts.tolist() == [(fine == 3).sum(), (fine == 5).sum(), (bank.grades == 4).sum()]


def test_boards_share_tasks_and_each_environment_draws_its_own():
    text = "board=4x4 x blanks=3,5 + board=9x9 x grade=search x blanks=20,stored"
    assert [task.name for task in Tasks(text).each] == [
        *("4x4, 3 blanks", "4x4, 5 blanks", "9x9, search, 20 blanks", "9x9, search, as stored")
    ]
    assert Tasks(text).boards == ["4x4", "9x9"]
    for board, drawn in (("4x4", [0.25, 0.75, 0, 0]), ("9x9", [0, 0, 0.5, 0.5])):
        envs = gym.make_vec(f"Sudoku{board}-v0", num_envs=2000)
        envs.unwrapped.set_blanks(weighted(text, 1, 3, 2, 2))
        observations, infos = envs.reset(seed=0)
        shares = np.bincount(infos["task"], minlength=4) / 2000
        assert shares == pytest.approx(drawn, abs=0.04)
        of_first = (observations == 0).sum((1, 2))[infos["task"] == np.argmax(np.array(drawn) > 0)]
        assert set(of_first.tolist()) == {3 if board == "4x4" else 20}
        with pytest.raises(ValueError, match="not all zero"):
            envs.unwrapped.set_blanks(weighted(text, *np.array(drawn) == 0))


@pytest.mark.parametrize(
    "text",
    [
        *("", "blanks=a", "size=4", "grade=easy", "blanks=5..2", "grade x puzzle=0..3", "board"),
        *("blanks=3 x blanks=4", "board=4x4 x board=9x9", "board=4x4 +", "board=4x4 + size=4"),
    ],
)
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match=r"tasks="):
        Tasks(text)


def test_an_environment_draws_tasks_by_weight_and_says_which():
    bank = puzzles.load(BANK, split="train")
    envs = gym.make_vec("Sudoku9x9-v0", num_envs=2000)
    text = "grade=hidden singles,search x blanks=20,40"
    envs.unwrapped.set_blanks(weighted(text, 0, 3, 1, 0))
    observations, infos = envs.reset(seed=0)
    drawn = np.bincount(infos["task"], minlength=4) / 2000
    assert drawn == pytest.approx([0, 0.75, 0.25, 0], abs=0.03)
    grades = bank.grades[infos["puzzle_id"]]
    assert (grades == np.where(infos["task"] == 1, 1, 4)).all()
    blanks = (observations == 0).sum((1, 2))
    assert (blanks == np.where(infos["task"] == 1, 40, 20)).all()
    assert len(np.unique(infos["puzzle_id"])) > 1500


def test_single_puzzles_are_replayed_under_new_symmetries():
    bank = puzzles.load(BANK, split="train")
    envs = gym.make_vec("Sudoku9x9-v0", num_envs=50)
    weights = np.zeros(1000)
    weights[[17, 500]] = 1
    envs.unwrapped.set_blanks(TaskWeights(Tasks("puzzle=0..999"), weights))
    observations, infos = envs.reset(seed=0)
    assert set(infos["puzzle_id"].tolist()) == {17, 500} == set(infos["task"].tolist())
    assert (infos["level"] == bank.blanks[infos["puzzle_id"]]).all()
    assert len(np.unique(observations, axis=0)) == 50
    for index in (0, 1):
        puzzle = observations[index], bank.puzzles[infos["puzzle_id"][index]]
        assert puzzles.same_orbit(*puzzle)


def test_single_and_vector_environments_draw_alike_and_tell_the_last_task_at_the_end():
    text = "blanks=2..5 x puzzle=0..9"
    envs = gym.make_vec("Sudoku4x4-v0", num_envs=8, blanks=text, autoreset_mode="SameStep")
    singles = SyncVectorEnv(
        [lambda: gym.make("Sudoku4x4-v0", blanks=text)] * 8, autoreset_mode="SameStep"
    )
    rng = np.random.default_rng(0)
    (_, ours), (_, theirs) = envs.reset(seed=3), singles.reset(seed=3)
    for _ in range(30):
        for key in ("task", "puzzle_id", "_task"):
            assert (ours[key] == theirs[key]).all()
        actions = sudoku_gym.sample_actions(ours["action_mask"], rng)
        before = ours["task"].copy()
        *_, over, _, ours = envs.step(actions)
        theirs = singles.step(actions)[-1]
        if over.any():
            last = ours["final_info"]["task"][over]
            assert (last == theirs["final_info"]["task"][over]).all()
            assert (last == before[over]).all()


def test_a_list_of_ones_own_takes_the_place_of_the_source():
    some = puzzles.load("4x4", split="test")[:3]
    env = gym.make("Sudoku4x4-v0", augment=False).unwrapped
    env.set_blanks(PuzzleWeights(some, np.array([0, 1.0, 0])))
    board, info = env.reset(seed=0)
    assert (board == some.puzzles[1]).all() and info["task"] == info["puzzle_id"] == 1
    with pytest.raises(ValueError, match="can't be drawn here: the boards are 9x9"):
        gym.make("Sudoku9x9-v0").unwrapped.set_blanks(PuzzleWeights(some, np.ones(3)))


@pytest.mark.parametrize("before", [None, 30, "grade", "blanks=20,40"])
def test_running_episodes_are_of_no_task_once_others_are_drawn(before):
    envs = gym.make_vec("Sudoku9x9-v0", num_envs=4, blanks=before).unwrapped
    envs.reset(seed=0)
    for weights in ([0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]):
        envs.set_blanks(weighted("blanks=20,30,40 x grade=naked singles,search", *weights))
        *_, infos = envs.step(np.zeros(4, np.int64))
        assert (infos["task"] == -1).all() and (infos["puzzle_id"] == -1).all()
    assert (envs.reset()[1]["task"] == 0).all()
    envs.set_blanks(weighted("blanks=20,30,40 x grade=naked singles,search", *[1] * 6))
    assert (envs.step(np.zeros(4, np.int64))[-1]["task"] == 0).all()  # the same tasks


def test_a_source_that_is_no_bank_takes_no_list():
    class Own:
        geometry, max_blanks = puzzles.load("4x4").geometry, 12
        sample = BankSource(puzzles.load("4x4")).sample

    env = gym.make("Sudoku-v0", source=Own()).unwrapped
    with pytest.raises(ValueError, match="draws its puzzles itself: it takes no list of them"):
        env.set_blanks(PuzzleWeights(puzzles.load("4x4")[:3], np.ones(3)))


def test_a_task_without_a_puzzle_is_refused_unless_its_weight_is_zero():
    source = BankSource(puzzles.load("4x4", split="train"))
    with pytest.raises(ValueError, match="the source has no puzzle for 'hidden singles'"):
        source.table("grade")
    assert len(source.table(weighted("grade", 1, 0, 0, 0, 0)).members) == len(source.bank[0])
    with pytest.raises(ValueError, match="must be 3 finite numbers"):
        source.table(weighted("blanks=2..4", 1, 2))

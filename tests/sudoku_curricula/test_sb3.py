"""The callback on a small game: levels pushed, curves written, state saved with the model."""

import numpy as np
import pytest
from small_game import GAMES, USUAL_CURVES, Game, HeldOut, Wave
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from sudoku_curricula import curves, make_schedule
from sudoku_curricula.sb3 import CurriculumCallback


def games(game=Game, count=GAMES):
    return VecMonitor(DummyVecEnv([game] * count))


def ppo(env=None, **options):
    return PPO(
        "MlpPolicy",
        env or games(),
        n_steps=20,
        batch_size=30,
        seed=0,
        device="cpu",
        n_epochs=1,
        **options,
    )


def algorithm_1(**options):
    levels = {"start": 2, "stop": 6, "gamma": 0.9, "max_iterations": 99, "metric": "completion"}
    return make_schedule("algorithm-1", **{**levels, **options})


def weights(model):
    return model.get_env().get_attr("weights")


def test_training_episodes_move_the_level_of_every_environment():
    model, schedule = ppo(), algorithm_1()
    callback = CurriculumCallback(schedule, episodes_per_update=10)
    model.learn(600, callback)
    assert schedule.level == 5  # 4 was mastered, 5 can't be
    assert [advance.level for advance in schedule.history] == [2, 3, 4]
    assert weights(model) == [{5: 1.0}] * GAMES


def test_held_out_games_move_it_past_all_that_is_mastered():
    model, schedule, held_out = ppo(), algorithm_1(), HeldOut(skill=4)
    model.learn(240, CurriculumCallback(schedule, held_out, evaluate_every=120))
    assert schedule.level == 5
    assert held_out.asked == [2, 3, 4, 5, None, 5, None]
    assert weights(model) == [{5: 1.0}] * GAMES


def test_a_short_run_is_evaluated_ten_times_and_one_without_an_update_says_so():
    held_out = HeldOut(skill=1)
    ppo().learn(600, CurriculumCallback(algorithm_1(), held_out))
    assert held_out.asked == [2, None] * 10
    with pytest.warns(UserWarning, match=r"60 steps ended without an update of the schedule: "):
        ppo().learn(60, CurriculumCallback(algorithm_1()))


def test_the_curves_have_the_names_of_every_trainer(tmp_path):
    model = ppo(tensorboard_log=str(tmp_path))
    schedule = algorithm_1()
    model.learn(600, CurriculumCallback(schedule, HeldOut(skill=4), evaluate_every=100), 1, "run")
    found = curves.read_curves(tmp_path / "run_1")
    assert all(found[name][1] for name in (*USUAL_CURVES, curves.COMPLETION_RATE))
    steps, blanks = found[curves.BLANKS_LEVEL]
    assert (blanks[0], blanks[-1], steps[-1]) == (2, 5, 600)
    assert all(value >= 0 for value in found[curves.ENTROPY][1])


def test_it_survives_save_and_load(tmp_path):
    model = ppo()
    model.learn(300, CurriculumCallback(algorithm_1(), episodes_per_update=10))
    saved = model.curriculum_state
    assert saved["schedule"]["level"] > 2
    model.save(tmp_path / "model")

    again = PPO.load(tmp_path / "model", games(), device="cpu")
    schedule = algorithm_1()
    callback = CurriculumCallback(schedule, episodes_per_update=10_000)
    with pytest.warns(UserWarning, match="without an update"):
        again.learn(60, callback, reset_num_timesteps=False)
    assert schedule.level == saved["schedule"]["level"]
    assert [advance.level for advance in schedule.history] == list(range(2, schedule.level))
    assert weights(again) == [{schedule.level: 1.0}] * GAMES
    assert callback.curriculum.steps == again.num_timesteps == 360
    counts = (
        sum(count for count, *_ in state["tally"])
        for state in (callback.curriculum.state_dict(), saved)
    )
    assert next(counts) > next(counts)


def test_held_out_games_of_single_puzzles_are_refused_at_once():
    with pytest.raises(ValueError, match="held-out games tell nothing of puzzle=0"):
        CurriculumCallback(make_schedule("replay"), HeldOut(skill=4))


def test_a_game_that_does_not_tell_is_refused():
    env = games(lambda: Game({"told": ["level"]}))
    with pytest.raises(KeyError, match="is_success"):
        ppo(env).learn(60, CurriculumCallback(algorithm_1()))


def test_off_policy_algorithms_take_it_too():
    schedule = algorithm_1()
    model = DQN("MlpPolicy", games(), learning_starts=60, seed=0, device="cpu")
    model.learn(300, CurriculumCallback(schedule, episodes_per_update=10))
    assert schedule.level > 2


def test_a_schedule_over_tasks_gets_the_advantages_of_each(tmp_path):
    schedule = make_schedule("bandit", tasks="blanks=2..6", rate=0.5)
    model = ppo(tensorboard_log=str(tmp_path))
    model.learn(600, CurriculumCallback(schedule, episodes_per_update=10), 1, "run")
    assert schedule.weights().sum() == pytest.approx(1)
    assert (schedule.values > 0).all()  # longer games have larger advantages early on
    found = curves.read_curves(tmp_path / "run_1")
    assert len(found[f"{curves.TASK_WEIGHT}/3 blanks"][1]) > 5
    events = EventAccumulator(str(tmp_path / "run_1"), {"images": 0}).Reload()
    assert f"{curves.TASK_WEIGHT}/over time" in events.Tags()["images"]
    saved = model.curriculum_state
    again = make_schedule("bandit", tasks="blanks=2..6", rate=0.5)
    again.load_state_dict(saved["schedule"])
    assert (again.weights() == schedule.weights()).all()


def test_a_player_never_passes_a_threshold_above_its_success():
    schedule = algorithm_1(gamma=0.6)
    model = PPO("MlpPolicy", games(Wave, 512), n_steps=20, batch_size=10_240, n_epochs=1, seed=0)
    model.learn(512 * 60, CurriculumCallback(schedule, episodes_per_update=100))
    assert schedule.level == 2 and schedule.updates > 20
    assert 0.2 < schedule.rate < 0.5


def test_a_robust_replay_does_not_learn_from_new_tasks():
    schedule = make_schedule("replay", tasks="blanks=2..6", robust=True)
    with pytest.raises(ValueError, match="normalize_advantage=False"):
        ppo().learn(60, CurriculumCallback(schedule, episodes_per_update=10))
    schedule = make_schedule("replay", tasks="blanks=2..6", robust=True)
    model = ppo(normalize_advantage=False)
    seen = []

    class Watch(CurriculumCallback):
        def _on_rollout_end(self):
            new = ~np.array(self._trained)
            super()._on_rollout_end()
            buffer = self.model.rollout_buffer
            assert (buffer.advantages[new] == 0).all()
            assert (buffer.returns[new] == buffer.values[new]).all()
            seen.append((new.sum(), np.count_nonzero(buffer.advantages)))

    model.learn(300, Watch(schedule, episodes_per_update=10))
    assert seen[0][0] > 0  # at first every task is new, and in the end none is
    assert seen[-1][0] == 0 < seen[-1][1]

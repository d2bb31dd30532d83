"""Ready configurations: PPO and APPO on Sudoku, masked, with or without a curriculum.

Each function returns RLlib's own configuration, and everything in it can be set again:
`ppo_config("Sudoku9x9-v0").env_runners(num_env_runners=4).training(lr=3e-4)`.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, TypeVar

import gymnasium as gym
from ray.rllib.algorithms import AlgorithmConfig
from ray.rllib.algorithms.appo import APPOConfig
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from sudoku_agents.rllib.modules import MaskedActorCritic
from sudoku_agents.rllib.play import held_out
from sudoku_curricula import Curriculum, ScheduleConfig
from sudoku_curricula.rllib import add_curriculum
from sudoku_gym.wrappers import MaskedObservation, VectorMaskedObservation
from sudoku_learning.networks import BodyConfig
from sudoku_learning.training.environments import divided_source, is_bank


class MaskedSudoku:
    """Makes environments that observe `{"observations": board, "action_mask": ...}`.

    RLlib takes a class for an environment. This one's instances are Gymnasium's: with `num_envs` a
    vector environment, which RLlib's runners step with
    `gym_env_vectorize_mode="vector_entry_point"`, else a single one. A class needs no registration
    in the process that loads a checkpoint.
    """

    def __new__(cls, config: Mapping[str, Any]) -> Any:
        """Make the environment of `config["id"]`, e.g. `"Sudoku9x9-v0"`, with the other options."""
        options = dict(config)
        name, num_envs = options.pop("id"), options.pop("num_envs", None)
        if num_envs is None:
            return MaskedObservation(gym.make(name, **options))
        return VectorMaskedObservation(gym.make_vec(name, num_envs=num_envs, **options))


_Config = TypeVar("_Config", bound=AlgorithmConfig)


def ppo_config(env: str, *, num_envs: int = 64, **options: Any) -> PPOConfig:
    """Configure PPO with masked actions; `options` as in `sudoku_config`."""
    config = PPOConfig().training(
        lr=1e-3,
        train_batch_size_per_learner=4096,
        minibatch_size=512,
        num_epochs=4,
        gamma=1.0,
        lambda_=0.95,
        entropy_coeff=0.01,
        use_kl_loss=False,
        grad_clip=0.5,
    )
    config.env_runners(num_env_runners=0)
    return sudoku_config(config, env, num_envs=num_envs, **options)


def appo_config(env: str, *, num_envs: int = 64, **options: Any) -> APPOConfig:
    """Configure APPO, where runners sample while the learner learns; see `sudoku_config`."""
    config = APPOConfig().training(
        lr=1e-3,
        train_batch_size_per_learner=1024,
        gamma=1.0,
        entropy_coeff=0.01,
        grad_clip=0.5,
    )
    config.env_runners(num_env_runners=1, rollout_fragment_length=16).learners(num_learners=0)
    # Results by steps, not every ten seconds: the curriculum looks at them.
    config.reporting(min_time_s_per_iteration=None, min_sample_timesteps_per_iteration=4096)
    return sudoku_config(config, env, num_envs=num_envs, **options)


def sudoku_config(
    config: _Config,
    env: str,
    *,
    num_envs: int,
    network: BodyConfig | None = None,
    curriculum: ScheduleConfig | None = None,
    evaluate_every: int = 0,
    **options: Any,
) -> _Config:
    """Add environment, module and curriculum to an algorithm's configuration.

    Args:
        config: is changed, and returned.
        env: id of the environment, e.g. `"Sudoku9x9-v0"`.
        num_envs: boards that each runner steps together.
        network: the body, e.g. `MLPConfig()`; None means `FactorGraphConfig()`.
        curriculum: moves the number of blanks by greedy play on puzzles that are not trained on:
            the validation puzzles of a bank, else the part of the source that
            `training_and_held_out` holds out; None leaves the number to `options`.
        evaluate_every: environment steps, at least, between two such evaluations; 0: each result.
        **options: of the environment; by default `reward="sparse", end_at_dead_end=True`.

    Raises:
        ValueError: if the environment or the level does not exist; or, with a curriculum, if
            `options` ask for another split than `"train"`, or the source can't be divided.
    """
    env_config: dict[str, Any] = {"reward": "sparse", "end_at_dead_end": True, **options}
    board: Any = gym.make(env, **env_config).unwrapped
    if curriculum is not None:
        # Set here too, since an error in a runner's process would only end that.
        schedule = curriculum.build()
        Curriculum(schedule, board.set_blanks)
        env_config["blanks"] = schedule.blanks()
        if (split := options.get("split", "train")) != "train":
            raise ValueError(
                f"split={split!r}: a curriculum trains on the training puzzles, and plays others"
            )
        play: Any = partial(held_out, source=board.spec.kwargs["source"])
        if not is_bank(board.spec.kwargs["source"]):
            training, others = divided_source(board.spec.kwargs)
            env_config |= {"source": training, "split": "all"}
            play = partial(held_out, source=others, split="all")
        if schedule.tasks.only_puzzles:  # which training games alone can tell of
            play = None
        add_curriculum(config, curriculum, play, evaluate_every=evaluate_every)
    config.environment(MaskedSudoku, env_config={"id": env, **env_config})
    config.env_runners(
        num_envs_per_env_runner=num_envs, gym_env_vectorize_mode="vector_entry_point"
    )
    # One board at a time: the first games to end on many boards are the failed ones.
    config.evaluation(evaluation_config={"num_envs_per_env_runner": 1})
    config.fault_tolerance(restart_failed_env_runners=True, delay_between_env_runner_restarts_s=0)
    config.rl_module(
        rl_module_spec=RLModuleSpec(module_class=MaskedActorCritic),
        model_config={"network": network, "geometry": board.geometry},
    )
    return config

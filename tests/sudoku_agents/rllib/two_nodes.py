"""Train PPO with a runner on each of two nodes, of ADDRESS or here: both follow the learner."""

import sys

import ray
from ray.cluster_utils import Cluster
from ray.rllib.core import DEFAULT_MODULE_ID

from sudoku_agents.rllib import ppo_config
from sudoku_curricula.schedules import SuccessRateConfig


def look(runner):  # its node, the blanks its games begin with, its weights
    levels = {episode.get_infos(-1)["level"] for episode in runner.sample(num_episodes=2)}
    return ray.get_runtime_context().get_node_id(), levels, runner.module.get_state()


if len(sys.argv) < 2:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
ray.init(sys.argv[1] if sys.argv[1:] else cluster.address, log_to_driver=False)
ppo = ppo_config("Sudoku4x4-v0", curriculum=SuccessRateConfig(threshold=0.9), evaluate_every=8192)
algorithm = ppo.env_runners(num_env_runners=2).debugging(seed=0).build_algo()
for iteration in range(1, 4):
    level = algorithm.train()["curves"]["curriculum/blanks"]
    learned = algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID]
    seen = algorithm.env_runner_group.foreach_env_runner(look, local_env_runner=False)
    for node, levels, weights in seen:
        assert max(levels) == level  # lower ones are rehearsed
        assert weights and all((weights[name] == learned[name]).all() for name in weights)
        print(f"iteration {iteration}, node {node[:8]}: {levels} blanks, the learner's weights")
    assert len({node for node, _, _ in seen}) == 2
assert level > 2
algorithm.stop()
ray.shutdown()  # before the nodes end with this program

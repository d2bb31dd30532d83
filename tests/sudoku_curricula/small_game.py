"""A game of known outcome, and held-out games of known outcome, for all that feeds schedules."""

import gymnasium as gym
import numpy as np

from sudoku_curricula import curves

GAMES = 3
USUAL_CURVES = (
    *(curves.SUCCESS_RATE, curves.EPISODIC_RETURN, curves.EPISODIC_LENGTH, curves.STEPS_PER_SECOND),
    *(curves.POLICY_LOSS, curves.VALUE_LOSS, curves.ENTROPY, curves.LEARNING_RATE),
)


class Game(gym.Env):
    """A game of `level` moves that is won unless its level is above 4."""

    observation_space = gym.spaces.Box(0, 100, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)
    render_mode = None

    def __init__(self, config=None):
        self.told = (config or {}).get("told", ("level", "is_success"))
        self.weights = {1: 1.0}
        self.played = set()

    def set_blanks(self, blanks):
        self.weights = dict(blanks)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.level = int(self.np_random.choice(list(self.weights), p=list(self.weights.values())))
        self.left = self.level
        self.played.add(self.level)
        return self._observation(), self._info()

    def step(self, action):
        self.left -= 1
        return self._observation(), 1.0, self.left == 0, False, self._info()

    def _observation(self):
        return np.array([self.left], np.float32)

    def _wins(self):
        return self.level <= 4

    def _info(self):
        info = {"level": self.level, "is_success": bool(self.left == 0 and self._wins())}
        return {key: info[key] for key in self.told}


class Wave(Game):
    """Two of three episodes are lost at the second step, the third is won at the tenth."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.is_long = self.np_random.random() < 1 / 3
        self.left = 10 if self.is_long else 2
        return self._observation(), self._info()

    def _wins(self):
        return self.is_long


class HeldOut:
    """Solves all up to a level; remembers what it was asked."""

    games = 100

    def __init__(self, skill, minimal=0.5):
        self.skill, self.minimal, self.asked = skill, minimal, []

    def __call__(self, blanks, games=None):
        self.asked.append(blanks)
        if blanks is None:
            return int(100 * self.minimal), 100
        return (100, 100) if blanks <= self.skill else (10, 100)

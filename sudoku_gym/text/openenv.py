"""OpenEnv: a server of text Sudokus, one game a session, and its client.

    uvicorn sudoku_gym.text.openenv:app

Source: https://github.com/meta-pytorch/OpenEnv, `Environment`, `EnvClient`, `create_fastapi_app`.
"""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import uuid4

from fastapi import FastAPI
from fastapi.responses import JSONResponse
from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, ConcurrencyConfig, Observation, State

from sudoku_gym.text.episode import TextOptions, TextSudoku

_IDLE_SECONDS = 3600.0  # that a session may be idle before another takes its place


class SudokuAction(Action):
    """What a model wrote."""

    text: str
    """A move, or a whole board, with whatever stands around it."""


class SudokuObservation(Observation):
    """What a model reads."""

    message: str
    """The prompt, or a turn's sentence and the board."""
    rewards: dict[str, float] = {}  # noqa: RUF012 - pydantic copies it
    """`TextSudoku.rewards()`; the observation's `reward` is `solved`, paid at the end."""


class SudokuServerEnvironment(Environment[SudokuAction, SudokuObservation, State]):
    """One game on a server.

    Args:
        options: a `TextOptions`; None takes its defaults.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, options: TextOptions | None = None) -> None:
        super().__init__()
        self._game = TextSudoku(options)
        self._state = State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **given: Any
    ) -> SudokuObservation:
        """Start an episode; `puzzle` and `blanks` are passed on to `TextSudoku.reset`."""
        allowed = {name: given[name] for name in ("puzzle", "blanks") if name in given}
        message = self._game.reset(seed, **allowed)
        self._state = State(episode_id=episode_id or str(uuid4()))
        return SudokuObservation(message=message, rewards=self._game.rewards())

    def step(
        self, action: SudokuAction, timeout_s: float | None = None, **given: Any
    ) -> SudokuObservation:
        """Take a turn."""
        turn = self._game.step(action.text)
        self._state.step_count += 1
        rewards = self._game.rewards()
        paid = rewards["solved"] if turn.done else 0.0
        return SudokuObservation(message=turn.message, rewards=rewards, done=turn.done, reward=paid)

    @property
    def state(self) -> State:
        """The episode's id and its turns so far."""
        return self._state


class SudokuClient(EnvClient[SudokuAction, SudokuObservation, State]):
    """A session with a server; `.sync()` makes it one without `await`."""

    def _step_payload(self, action: SudokuAction) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[SudokuObservation]:
        done, reward = bool(payload.get("done")), payload.get("reward")
        observation = SudokuObservation(**payload["observation"], done=done, reward=reward)
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


def make_app(options: TextOptions | None = None, most_sessions: int = 100) -> FastAPI:
    """Return a server's application.

    Args:
        options: of all games.
        most_sessions: games at once.
    """
    sessions = ConcurrencyConfig(max_concurrent_envs=most_sessions, session_timeout=_IDLE_SECONDS)
    environment = partial(SudokuServerEnvironment, options)
    app: FastAPI = create_fastapi_app(
        environment, SudokuAction, SudokuObservation, concurrency_config=sessions
    )
    for kind in (ValueError, TypeError, RuntimeError):  # told as the sessions of websockets do
        app.add_exception_handler(kind, lambda _, error: JSONResponse({"detail": str(error)}, 422))
    return app


def __getattr__(name: str) -> Any:
    if name == "app":
        return make_app()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

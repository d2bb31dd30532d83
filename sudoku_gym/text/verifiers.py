"""verifiers: a set of tasks, the environment that plays them, and a harness in the same process.

verifiers finds a set of tasks by the name of a module that is imported from anywhere, so give it
one, such as a file `sudoku_text.py` that imports `__all__` and all names from here.

Source: https://github.com/PrimeIntellect-ai/verifiers, `Taskset`, `Env` and `Harness` of
`verifiers.v1`.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from typing import Literal

import verifiers.v1 as vf
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from pydantic import BaseModel
from verifiers.v1.dialects.chat import message_to_wire

from sudoku_gym.text.boards import BoardStyle
from sudoku_gym.text.episode import TextOptions, TextSudoku

__all__ = ["ChatHarness", "SudokuTaskset", "SudokuTasksetEnv"]


class TextFields(BaseModel):
    """What `TextOptions` has, as pydantic reads and writes it."""

    env_id: str = "Sudoku9x9-v0"
    """Which environment's boards and puzzles."""
    mode: Literal["turns", "answer"] = "turns"
    """One move a turn, or the whole board in a single turn."""
    style: BoardStyle = "grid"
    """How boards are written: `"grid"`, `"compact"` or `"json"`."""
    blanks: int | tuple[int, int] | None = None
    """A number, a (low, high) pair, or None for puzzles as stored."""
    split: str = "train"
    """Part of the bank to draw from."""
    max_turns: int | None = None
    """Turns of an episode; None allows three for each blank."""
    allow_candidates: bool = False
    """Whether a turn may ask which digits the rules leave for a cell."""
    announce_dead_ends: bool = False
    """Whether a blank cell that no digit is left for is announced."""

    def text_options(self) -> TextOptions:
        """Return them as `TextOptions`."""
        return TextOptions(**{name: getattr(self, name) for name in TextFields.model_fields})


class SudokuTasksetConfig(TextFields, vf.TasksetConfig):
    """The configuration of `SudokuTaskset`."""

    first_seed: int = 0
    """The seed of the first task."""


class SudokuTaskData(TextFields, vf.TaskData):
    """What decides an episode."""

    seed: int
    """The puzzle's seed."""

    @contextmanager
    def playing(self) -> Iterator[TextSudoku]:
        """Lend a game at its start; it is lent again later, as making one takes 0.1 seconds."""
        options = self.text_options()
        idle = _idle_games(options)
        game = idle.pop() if idle else TextSudoku(options)
        game.reset(self.seed)
        yield game
        idle.append(game)


class SudokuTask(vf.Task[SudokuTaskData, vf.State, vf.TaskConfig]):
    """One puzzle; its rewards come from playing again what the model wrote.

    Only `solved` has a weight that is not 0: a configuration gives the others one, such as
    `--env.taskset.task.rewards.constraints.weight 0.1`.
    """

    @vf.reward
    async def solved(self, trace: vf.Trace) -> float:
        """Return 1 if the puzzle was solved, else 0."""
        return self.replay(trace)["solved"]

    @vf.reward(weight=0.0)
    async def constraints(self, trace: vf.Trace) -> float:
        """Return the `filled_constraint_fraction` of the last board."""
        return self.replay(trace)["constraints"]

    @vf.reward(weight=0.0)
    async def format(self, trace: vf.Trace) -> float:
        """Return the share of turns that were understood."""
        return self.replay(trace)["format"]

    def replay(self, trace: vf.Trace) -> dict[str, float]:
        """Play the turns of a trace and return `TextSudoku.rewards`."""
        with self.data.playing() as game:
            for message in trace.assistant_messages:
                if not game.done:
                    game.step(message.content or "")
            return game.rewards()


class SudokuTaskset(vf.Taskset[SudokuTask, SudokuTasksetConfig]):
    """Puzzles without end, one a seed; all rollouts of a task start from the same one."""

    INFINITE = True

    def load(self) -> Iterator[SudokuTask]:
        """Yield the tasks."""
        fields = {name: getattr(self.config, name) for name in TextFields.model_fields}
        game = TextSudoku(self.config.text_options())
        for seed in count(self.config.first_seed):
            name = f"{self.config.env_id}#{seed}"
            data = SudokuTaskData(name=name, prompt=game.reset(seed), seed=seed, **fields)
            yield SudokuTask(data, self.config.task)


class SudokuTasksetEnvConfig(vf.EnvConfig):
    """The configuration of `SudokuTasksetEnv`."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """The model that plays."""


class SudokuTasksetEnv(vf.Env[SudokuTasksetEnvConfig]):
    """Answers a model's turns until the game is over."""

    async def run(self, task: SudokuTask, agents: vf.Agents) -> None:
        """Play one episode."""
        with task.data.playing() as game:
            async with agents.player.interaction(task) as interaction:
                segment = await interaction.turn()
                while not segment.terminated:
                    turn = game.step(segment.last_reply)
                    if turn.done:
                        break
                    segment = await interaction.turn(turn.message)


class ChatHarness(vf.Harness[vf.HarnessConfig]):
    """Asks the model for one message a turn, in the process of the environment.

    The other harnesses start a program for each turn; a game of 9x9 has some fifty.
    """

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: Mapping[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Send the conversation and record the reply."""
        system, prompt = self.resolve_prompt(data)
        messages = [{"role": "system", "content": system}] if system else []
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages += [message_to_wire(message) for message in prompt or []]
        transport = DefaultAsyncHttpxClient(verify=_tls_context())
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, http_client=transport) as client:
            await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


@lru_cache
def _tls_context() -> ssl.SSLContext:
    """Read the certificates once, not every turn."""
    return ssl.create_default_context()


@lru_cache
def _idle_games(options: TextOptions) -> list[TextSudoku]:
    """Return the list of games with these options that nobody plays."""
    return []

"""verifiers: a set of tasks, the environment that plays them, and a harness in the same process.

verifiers finds a set of tasks by the name of a module that is imported from anywhere, so give it
one, such as a file `sudoku_text.py` that imports `__all__` and all names from here.

Source: https://github.com/PrimeIntellect-ai/verifiers, `Taskset`, `Env` and `Harness` of
`verifiers.v1`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Literal

import verifiers.v1 as vf
from openai import AsyncOpenAI
from pydantic import BaseModel
from verifiers.v1.dialects.chat import message_to_wire

from sudoku_gym.text.boards import BoardStyle
from sudoku_gym.text.episode import TextSudoku

__all__ = ["ChatHarness", "SudokuTaskset", "SudokuTasksetEnv"]


class TextFields(BaseModel):
    """The fields of `TextOptions`, where their meaning stands, as pydantic reads and writes it."""

    env_id: str = "Sudoku9x9-v0"
    mode: Literal["turns", "answer"] = "turns"
    style: BoardStyle = "grid"
    blanks: int | tuple[int, int] | None = None
    split: str = "train"
    max_turns: int | None = None
    reward_still_solvable: bool = False

    def options(self) -> dict[str, Any]:
        """Return them by their names."""
        return {name: getattr(self, name) for name in TextFields.model_fields}


class SudokuTasksetConfig(TextFields, vf.TasksetConfig):
    """The configuration of `SudokuTaskset`."""

    first_seed: int = 0
    """The seed of the first task."""


class SudokuTaskData(TextFields, vf.TaskData):
    """What decides an episode."""

    seed: int
    """The puzzle's seed."""

    def new_game(self) -> TextSudoku:
        """Return a game at its start."""
        game = TextSudoku(**self.options())
        game.reset(self.seed)
        return game


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
        """Return the share of turns that were understood; of a whole board, 1 without blanks."""
        return self.replay(trace)["format"]

    @vf.reward(weight=0.0)
    async def still_solvable(self, trace: vf.Trace) -> float:
        """Return 1 where `reward_still_solvable` is on and the last turn earned it, else 0."""
        return self.replay(trace).get("still_solvable", 0.0)

    def replay(self, trace: vf.Trace) -> dict[str, float]:
        """Play the turns of a trace and return `TextSudoku.rewards`."""
        game = self.data.new_game()
        for message in trace.assistant_messages:
            if not game.done:
                game.step(message.content or "")
        return game.rewards()


class SudokuTaskset(vf.Taskset[SudokuTask, SudokuTasksetConfig]):
    """Puzzles without end, one a seed; all rollouts of a task start from the same one."""

    INFINITE = True

    def load(self) -> Iterator[SudokuTask]:
        """Yield the tasks."""
        options = self.config.options()
        game = TextSudoku(**options)
        for seed in count(self.config.first_seed):
            name = f"{self.config.env_id}#{seed}"
            data = SudokuTaskData(name=name, prompt=game.reset(seed), seed=seed, **options)
            yield SudokuTask(data, self.config.task)


class SudokuTasksetEnvConfig(vf.EnvConfig):
    """The configuration of `SudokuTasksetEnv`."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """The model that plays."""


class SudokuTasksetEnv(vf.Env[SudokuTasksetEnvConfig]):
    """Answers a model's turns until the game is over."""

    async def run(self, task: SudokuTask, agents: vf.Agents) -> None:
        """Play one episode."""
        game = task.data.new_game()
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
        async with AsyncOpenAI(base_url=endpoint, api_key=secret) as client:
            await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")

"""Requests of visitors: few of each are answered at a time, and fewer worked at.

Those from this machine are not counted: a reverse proxy serves all visitors from there.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from typing import Any
from weakref import WeakValueDictionary

from sudoku_gym.app.connections import MOST_CONNECTIONS
from sudoku_gym.app.limits import VisitorBudgets, visitor_at_other_end
from sudoku_gym.app.paths import is_stream
from sudoku_gym.storage.requests import Application, Message, Receive, Send, refuse

WORKED_AT = 4
"""Requests of a visitor that are worked at; gradio has a thread for each."""


class FewRequests:
    """An ASGI application that answers few requests of a visitor at a time; more get status 503.

    A request goes on after its connection has closed, until the application has noticed it.

    Args:
        app: that answers.
        budgets: of the time that this thread spends on the requests of visitors.
    """

    def __init__(self, app: Application, budgets: VisitorBudgets) -> None:
        self._app, self._budgets = app, budgets
        self._served: Counter[str] = Counter()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        visitor = visitor_at_other_end(scope.get("client"))
        if not visitor or scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._served[visitor] >= MOST_CONNECTIONS:
            await refuse(scope, send, 503)
            return
        self._served[visitor] += 1
        try:
            await _Charged(self._app(scope, receive, send), self._budgets, visitor)
        finally:
            self._served[visitor] -= 1
            if not self._served[visitor]:
                del self._served[visitor]


class InTurn:
    """An ASGI application that works at few requests of a visitor at a time; the others wait.

    Threads that work at many would compete with the one that answers everybody. A request takes its
    turn once its body is there, and gives it back when its answer begins, so nobody waits for
    others of his address who are slow to send or to read. Answers that stream need no turn.
    """

    def __init__(self, app: Application) -> None:
        self._app = app
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        visitor = visitor_at_other_end(scope.get("client"))
        if not visitor or scope["type"] != "http" or is_stream(scope["path"]):
            await self._app(scope, receive, send)
            return
        body = [await receive()]
        while body[-1].get("more_body"):
            body.append(await receive())
        turns = self._turns.setdefault(visitor, asyncio.Semaphore(WORKED_AT))
        await turns.acquire()
        has_turn = True

        async def receive_again() -> Message:
            return body.pop(0) if body else await receive()

        async def send_on(message: Message) -> None:
            nonlocal has_turn
            if has_turn:
                has_turn = False
                turns.release()
            await send(message)

        try:
            await self._app(scope, receive_again, send_on)
        finally:
            if has_turn:
                turns.release()


class _Charged:
    """An awaitable for each of whose steps a visitor is charged."""

    def __init__(self, awaitable: Awaitable[None], budgets: VisitorBudgets, visitor: str) -> None:
        self._steps, self._budgets, self._visitor = awaitable.__await__(), budgets, visitor

    def __await__(self) -> Generator[Any, Any, None]:
        step: Callable[[Any], Any] = self._steps.send
        argument: Any = None
        while True:
            try:
                with self._budgets.charged(self._visitor):
                    awaited = step(argument)
            except StopIteration:
                return
            try:
                argument, step = (yield awaited), self._steps.send
            except BaseException as error:
                argument, step = error, self._steps.throw

"""What the page may ask for: its own paths of its server, and nothing of other machines."""

from __future__ import annotations

from sudoku_gym.storage.requests import Application, Message, Receive, Send, refuse

_FILES = ("/", "/config", "/theme.css", "/favicon.ico", "/manifest.json", "/robots.txt")
_FOLDERS = ("/static/", "/assets/", "/svelte/")
_PREFIX, _HEARTBEAT, _EVENTS = "/gradio_api/", "heartbeat/", "queue/data"
_CALLS = ("queue/join", _EVENTS, "run/predict", "reset", "cancel")
_ANSWERS = ("info", "app_id", "token", "user", "login_check", "theme.css")
_LONGEST = 200  # letters of a path
_FROM_HERE = (
    b"default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; frame-ancestors 'self'; "
    b"form-action 'self'"
)


class AllowedPaths:
    """An ASGI application that answers all but the paths of the page with 404.

    Gradio has others, to fetch files and addresses, to send files, and to call what waits in its
    queue without waiting; the page needs none of them.
    """

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or is_allowed(scope["path"]):
            await self._app(scope, receive, send)
        else:
            await refuse(scope, send, 404)


class OneOrigin:
    """An ASGI application whose answers forbid the page to load anything from other machines."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                policy = (b"content-security-policy", _FROM_HERE)
                message = {**message, "headers": [*message.get("headers", ()), policy]}
            await send(message)

        await self._app(scope, receive, send_with_policy)


def is_allowed(path: str) -> bool:
    """Whether a path, decoded, is one of the page's."""
    if len(path) > _LONGEST or ".." in path or "\\" in path or not path.isprintable():
        return False
    if path in _FILES or path.startswith(_FOLDERS):
        return True
    call = path.removeprefix(_PREFIX)
    return call != path and (call in (*_CALLS, *_ANSWERS) or call.startswith(_HEARTBEAT))


def is_stream(path: str) -> bool:
    """Whether an answer at a path of the page goes on for as long as the page is open."""
    return path == _PREFIX + _EVENTS or path.startswith(_PREFIX + _HEARTBEAT)

"""What the page's server reads of a request: the paths and headers that the page needs."""

from __future__ import annotations

from sudoku_gym.storage.bodies import Application, Message, Receive, Send

_FILES = ("/", "/config", "/theme.css", "/favicon.ico", "/manifest.json", "/robots.txt")
_FOLDERS = ("/static/", "/assets/", "/svelte/")
_CALLS = ("queue/join", "queue/data", "run/predict", "reset", "cancel")
_ANSWERS = ("info", "startup-events", "app_id", "token", "user", "login_check", "theme.css")
_PREFIX, _HEARTBEAT = "/gradio_api/", "heartbeat/"
_LONGEST, _LONGEST_HEAD = 200, 16_384  # letters of a path; bytes of all headers
_HEADERS = (
    *(b"host", b"origin", b"x-forwarded-host", b"x-forwarded-proto"),  # the page's own address
    *(b"accept", b"content-length", b"content-type", b"if-none-match", b"user-agent"),
)


class AllowedPaths:
    """An ASGI application that answers all but the paths of the page with 404.

    Gradio has others, to fetch files and addresses, to send files, and to call what waits in its
    queue without waiting; the page needs none of them. Nor do other headers reach it. It has no
    cookies, and some Pythons take seconds to read a long one; and gradio would compress a script
    anew for each visitor who accepts that, half a second in which nobody is answered.
    """

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 200 if is_allowed(scope["path"]) else 404
        if sum(len(name) + len(value) for name, value in scope["headers"]) > _LONGEST_HEAD:
            status = 431
        if status == 200:
            headers = [pair for pair in scope["headers"] if pair[0] in _HEADERS]
            await self._app({**scope, "headers": headers}, receive, send)
            return
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def is_allowed(path: str) -> bool:
    """Whether a path, decoded, is one of the page's."""
    if len(path) > _LONGEST or ".." in path or "\\" in path or not path.isprintable():
        return False
    if path in _FILES or path.startswith(_FOLDERS):
        return True
    call = path.removeprefix(_PREFIX)
    return call != path and (call in (*_CALLS, *_ANSWERS) or call.startswith(_HEARTBEAT))

"""The page's server answers what the page asks for, and nothing else that gradio offers."""

import asyncio

import pytest

from sudoku_gym.app.paths import AllowedPaths, is_allowed


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/config",
        "/assets/index-1.js",
        "/static/fonts/a.woff2",
        "/gradio_api/queue/join",
        "/gradio_api/queue/data",
        "/gradio_api/run/predict",
        "/gradio_api/heartbeat/abc",
    ],
)
def test_what_the_page_asks_for_is_answered(path):
    assert is_allowed(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "//",
        "/gradio_api/file=/etc/passwd",
        "/gradio_api/file/etc/passwd",
        "/gradio_api/proxy=http://127.0.0.1/",
        "/gradio_api/upload",
        "/gradio_api/api/start",
        "/gradio_api/call/start",
        "/gradio_api/run/start",
        "/gradio_api/stream/a/b/0/playlist.m3u8",
        "/gradio_api/dev/reload",
        "/gradio_api/vibe-edit",
        "/gradio_api/queue/join/../file=/etc/passwd",
        "/gradio_api/queue/join\n",
        "/static/../../etc/passwd",
        "/static/..\\etc",
        "queue/join",
        "/static/" + "a" * 5000,
        "/static/\0",
        "/monitoring",
    ],
)
def test_all_else_is_not_found(path):
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(AllowedPaths(None)({"type": "http", "path": path}, None, send))
    assert sent[0]["status"] == 404

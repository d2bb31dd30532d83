"""OpenEnv's server with our games, and its clients."""

import asyncio
import socket
import threading
import time

import pytest

from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import load_policy
from sudoku_gym.text import ScriptedModel, TextOptions

pytest.importorskip("openenv", reason="the extra openenv is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # from openenv's server


@pytest.fixture(scope="module")
def address():
    import uvicorn

    from sudoku_gym.text.openenv import make_app

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    options = TextOptions(blanks=40, split="test")
    config = uvicorn.Config(make_app(options), "127.0.0.1", port, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(30)


async def play(address, seeds, model=None):
    """Play episodes in one session; return their prompts and rewards."""
    from sudoku_gym.text.openenv import SudokuAction, SudokuClient

    prompts, rewards = [], []
    async with SudokuClient(base_url=address) as client:
        for seed in seeds:
            result = await client.reset(seed=seed)
            prompts.append(result.observation.message)
            first, turns = True, 0
            while not result.done:
                text = "give up"
                if model is not None:
                    seen = result.observation.message
                    text = await asyncio.to_thread(model.next_move, seen, first=first)
                result = await client.step(SudokuAction(text=text))
                first, turns = False, turns + 1
            assert (await client.state()).step_count == turns
            rewards.append(result.reward)
    return prompts, rewards


def test_twenty_clients_play_at_once_and_the_server_says_nothing(address, caplog):
    async def all_of_them():
        return await asyncio.gather(*(play(address, [seed % 10]) for seed in range(20)))

    prompts = [found[0] for found, _ in asyncio.run(all_of_them())]
    assert prompts[:10] == prompts[10:] and len(set(prompts)) == 10
    assert not caplog.records


def test_a_scripted_model_solves_through_the_server(address):
    model = ScriptedModel(load_policy("expert-iteration"), Geometry.standard(9))
    _, rewards = asyncio.run(play(address, range(100), model))
    assert rewards == [1] * 100


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("reset", '{"puzzle": "12"}', "a board of 2"),
        ("reset", '{"blanks": {"a": 1}}', "invalid literal"),
        ("step", '{"action": {"text": "r1c1=1"}}', "call reset"),
    ],
)
def test_a_wrong_request_is_told(path, body, said):
    from fastapi.testclient import TestClient

    from sudoku_gym.text.openenv import make_app

    client = TestClient(make_app(TextOptions("Sudoku4x4-v0")))
    answer = client.post(f"/{path}", content=body, headers={"Content-Type": "application/json"})
    assert 400 <= answer.status_code < 500 and said in answer.text

"""verifiers' own evaluation plays our tasks; the model is a policy behind an HTTP server."""

import asyncio
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import load_policy
from sudoku_gym.text import ScriptedModel

pytest.importorskip("verifiers", reason="the extra verifiers is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # from what it loads

TASKSET = "from sudoku_gym.text.verifiers import *\nfrom sudoku_gym.text.verifiers import __all__\n"


def completion(text):
    """Return what OpenAI's chat completions answer."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "0",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


@pytest.fixture(scope="module")
def address():
    """Serve `expert-iteration`: the whole board where the prompt asks for it, else one move."""
    model = ScriptedModel(load_policy("expert-iteration"), Geometry.standard(9))
    one_at_a_time = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            messages = body["messages"]
            with one_at_a_time:
                if "gibberish" in self.path:
                    text = "I give this some thought."
                elif "<answer>" in messages[0]["content"]:
                    text = model.whole_board(messages[-1]["content"])
                else:
                    text = model.next_move(messages[-1]["content"], first=len(messages) == 1)
            answer = json.dumps(completion(text)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join(30)
    server.server_close()


@pytest.fixture
def evaluate(tmp_path, monkeypatch, address):
    """Run `vf-eval`'s evaluation and return the traces."""
    (tmp_path / "sudoku_text.py").write_text(TASKSET)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield lambda limit, path="", rollouts=1, **options: asyncio.run(
        play(address + path, tmp_path, limit, rollouts, options)
    )
    sys.modules.pop("sudoku_text", None)


async def play(address, folder, limit, rollouts, options):
    from verifiers.v1.cli.eval.runner import run_eval
    from verifiers.v1.configs.cli.eval import EvalConfig

    taskset = {"id": "sudoku-text", "split": "test", **options}
    config = EvalConfig(
        env={"taskset": taskset},
        model="scripted",
        client={"base_url": f"{address}/v1", "api_key_var": "NO_KEY"},
        select={"limit": limit},
        num_rollouts=rollouts,
        max_concurrent=8,
        rich=None,
        push=False,
        output_dir=folder / "outputs",
    )
    episodes = await run_eval(config)
    assert [error for episode in episodes for error in episode.errors] == []
    return [trace for episode in episodes for trace in episode.traces]


def test_a_scripted_model_answers_whole_boards(evaluate):
    traces = evaluate(100, mode="answer", blanks=40)
    assert [trace.reward for trace in traces] == [1] * 100
    assert {trace.num_turns for trace in traces} == {1}


def test_a_scripted_model_solves_turn_by_turn(evaluate):
    traces = evaluate(100, blanks=40)
    assert [trace.reward for trace in traces] == [1] * 100
    assert {trace.num_turns for trace in traces} == {40}


def test_a_group_has_one_puzzle_and_nothing_for_gibberish(evaluate):
    traces = evaluate(2, "/gibberish", 2, blanks=(3, 5), max_turns=2)
    prompts = [trace.task.data.prompt for trace in traces]
    assert len(prompts) == 4 and len(set(prompts)) == 2
    for trace in traces:
        assert trace.num_turns == 2 and trace.reward == 0
        assert {name: reward.value for name, reward in trace.rewards.items()}["format"] == 0

"""The folders of `examples/publish` are what hubs take: they start, and nothing is pushed."""

import json
import re
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from urllib.request import urlopen

import pytest

PUBLISH = Path(__file__).parents[3] / "examples" / "publish"
pytestmark = [pytest.mark.nightly, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_the_space_starts_by_the_command_of_its_image(tmp_path):
    pytest.importorskip("openenv", reason="the extra openenv is not installed")
    import yaml

    from sudoku_gym.text.openenv import SudokuAction, SudokuClient

    about = yaml.safe_load((PUBLISH / "openenv/openenv.yaml").read_text())
    image = (PUBLISH / "openenv/Dockerfile").read_text()
    command = json.loads(re.search(r"^CMD (.*)$", image, re.MULTILINE)[1])
    page = (PUBLISH / "openenv/README.md").read_text().split("---")[1]
    assert about["app"] in command and str(about["port"]) == command[-1]
    assert yaml.safe_load(page)["app_port"] == about["port"]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    here = [*command[:-3], "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen([sys.executable, "-m", *here], cwd=tmp_path)
    try:
        for _ in range(600):
            try:
                urlopen(f"http://127.0.0.1:{port}/health")
                break
            except OSError:
                time.sleep(0.1)
        with SudokuClient(base_url=f"http://127.0.0.1:{port}").sync() as client:
            assert "Blank cells: 20." in client.reset(seed=0, blanks=20).observation.message
            assert client.step(SudokuAction(text="give up")).done
    finally:
        server.terminate()
        server.wait(30)


def test_the_package_has_tasks_that_verifiers_finds_by_its_name(tmp_path, monkeypatch):
    pytest.importorskip("verifiers", reason="the extra verifiers is not installed")
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="hatchling is not installed")
    folder = shutil.copytree(PUBLISH / "verifiers", tmp_path / "package")
    (built,) = wheel.WheelBuilder(str(folder)).build(directory=str(tmp_path))
    with zipfile.ZipFile(built) as archive:
        archive.extractall(tmp_path / "installed")
    monkeypatch.syspath_prepend(str(tmp_path / "installed"))
    from verifiers.v1.utils.loaders import environment_class, taskset_class

    from sudoku_gym.text.verifiers import SudokuTasksetConfig

    taskset = taskset_class("sudoku-text")(SudokuTasksetConfig(id="sudoku-text", blanks=20))
    assert "Blank cells: 20." in next(iter(taskset.load())).data.prompt
    assert environment_class("sudoku-text").__name__ == "SudokuTasksetEnv"

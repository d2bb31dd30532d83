"""The third-party package as it is installed, or as if it were."""

import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import gymnasium as gym
import pytest

from sudoku_curricula import SCHEDULES
from sudoku_gym import plugins
from sudoku_gym.storage import configs

HERE = Path(__file__).parent
IDS = ("Corners4x4-v0", "CornersNamed4x4-v0")


def install(folder):
    """Lay the package into a folder as an installer would: its modules, its entry points."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    groups = (
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups))
    (folder / "corner_sudoku").symlink_to(HERE / "corner_sudoku")


def forget():
    """Undo what the package has entered in this process."""
    plugins.available.cache_clear()
    for name in IDS:
        gym.registry.pop(name, None)
    SCHEDULES.pop("hurdles", None)
    for tag in ("schedule/hurdles", "corners"):
        configs._CLASSES.pop(tag, None)
    for name in [name for name in sys.modules if name.partition(".")[0] == "corner_sudoku"]:
        del sys.modules[name]


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory):
    """The folder that the package is installed in."""
    try:
        return Path(str(distribution("corner-sudoku").locate_file("")))
    except PackageNotFoundError:
        install(folder := tmp_path_factory.mktemp("site"))
        return folder


@pytest.fixture
def package(site_folder, monkeypatch, tmp_path):
    """Let the package be found, not imported yet, from an empty working folder."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(site_folder)])
    monkeypatch.chdir(tmp_path)
    forget()
    yield forget
    forget()

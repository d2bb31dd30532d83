"""What tests of several packages share."""

import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest


def pytest_configure(config):
    """Keep machine code in one place for all processes where the install can't be written to.

    Each would say so on standard error otherwise, where tests of the command line count the lines;
    `test_machine_code` tries what happens without such a place.
    """
    package = Path(find_spec("sudoku_gym").origin).parent
    if not os.access(package, os.W_OK) and "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = folder = tempfile.mkdtemp(prefix="sudoku-gym-tests-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.fixture(autouse=True)
def _same_weights_every_time():
    """Seed torch before each test that uses it: some networks are born with a dead unit."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


@pytest.fixture(scope="session")
def ray_cluster():
    """Start Ray on this machine, once for all tests of the group `ray`.

    Its tests carry `pytest.mark.xdist_group("ray")`: two clusters on one machine only wait for
    each other.
    """
    ray = pytest.importorskip("ray")
    from sudoku_learning.training.actors import give_a_token

    give_a_token()
    ray.init(
        "local", num_cpus=4, include_dashboard=False, log_to_driver=False, configure_logging=False
    )
    yield ray
    ray.shutdown()

"""What tests of several packages share."""

import sys

import pytest


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
    ray.init(
        "local", num_cpus=4, include_dashboard=False, log_to_driver=False, configure_logging=False
    )
    yield ray
    ray.shutdown()

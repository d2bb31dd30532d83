"""What tests of several packages share."""

import os
import sys

import pytest
from hypothesis import settings

settings.register_profile("nightly", max_examples=2_000, deadline=None)  # `make test-all`


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as slow what starts Ray or a browser, and what runs whole programs.

    Each file is a group, so that what it needs is compiled, or trained, by one process alone. The
    tests with Ray are one group, the longest, and come first, so that no process waits for them.
    """
    for item in items:
        name = item.path.name
        programs = name in ("test_examples.py", "test_one_file.py") or "benchmark" in name
        if programs or item.path.parent.name == "browser" or "ray_cluster" in item.fixturenames:
            item.add_marker("slow")
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(str(item.path)))
        elif item.get_closest_marker("xdist_group").args == ("ray",):
            item.add_marker("ray")
    items.sort(key=lambda item: item.get_closest_marker("xdist_group").args != ("ray",))


@pytest.fixture(autouse=True)
def _same_results_every_time():
    """Give each test that uses torch one thread, as trainers do, and a seed.

    Only on one thread is a result the same to the bit; and some networks are born with a dead unit.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def ray_cluster():
    """Start Ray on this machine, once for all tests of the group `ray`.

    Its tests carry `pytest.mark.xdist_group("ray")`: two clusters on one machine only wait for
    each other.
    """
    ray = pytest.importorskip("ray")
    os.environ.setdefault("RAY_worker_niceness", "0")  # 15 if unset: they wait for other tests
    ray.init(
        "local", num_cpus=4, include_dashboard=False, log_to_driver=False, configure_logging=False
    )
    yield ray
    ray.shutdown()


@pytest.fixture
def actors_change_nothing(ray_cluster, tmp_path):
    """Return a check that a run ends with the same weights whoever samples, to the bit.

    It takes `train(config)`, which makes a training, and `small(run, **changes)`, which makes its
    configuration.
    """
    import torch

    from sudoku_learning.training import RayConfig

    def check(train, small):
        weights = []
        for actors in (0, 2):
            ray = RayConfig(actors=actors, games_per_task=5)
            training = train(small(tmp_path / str(actors), ray=ray))
            training.run()
            network = training.learner.network
            weights.append(torch.nn.utils.parameters_to_vector(network.parameters()))
        assert torch.equal(*weights)

    return check

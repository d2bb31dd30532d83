"""What tests of GFlowNets share."""

import pytest


@pytest.fixture(autouse=True)
def one_thread():
    """Compute on one thread, as trainers do: only then is a seed's result the same to the bit."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)

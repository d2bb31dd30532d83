"""Workers of pytest-xdist take whole files: what a file compiles or trains is made once."""

import pytest


def test_a_file_is_a_group(request):
    if not request.config.getoption("loadgroup", False):
        pytest.skip("run by one process")
    assert request.node.nodeid.endswith(f"@{request.path}")  # the name of the group

"""Every policy that has a name can be made, with the network that comes with it."""

import pytest

from sudoku_gym import load_policy, plugins

NAMES = sorted(set(plugins.available("policies")) - {"supervised"})  # that needs a folder


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_is_made_by_its_name(name):
    assert callable(load_policy(name).act)

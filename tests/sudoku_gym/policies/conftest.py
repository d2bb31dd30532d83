"""What tests of policies share."""

import pytest


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """A folder whose modules can be imported."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path

"""Values that make no sense are named."""

from types import SimpleNamespace

import pytest

from sudoku_gym.storage.checks import check_counts, check_positive, check_shares


@pytest.mark.parametrize(
    ("check", "good", "bad", "message"),
    [
        (check_counts, (1, 7, None), 0, "value must be at least 1, not 0"),
        (check_counts, (2**63 - 1,), 2**63, "value must be at most 9,223,372,036,854,775,807, not"),
        (check_positive, (0.1, None), 0.0, r"value must be positive, not 0\.0"),
        (check_shares, (0, 0.5, 1), 1.5, r"value must lie in \[0, 1\], not 1\.5"),
    ],
)
def test_values_are_checked(check, good, bad, message):
    for value in good:
        check(SimpleNamespace(value=value), "value")
    with pytest.raises(ValueError, match=message):
        check(SimpleNamespace(value=bad), "value")

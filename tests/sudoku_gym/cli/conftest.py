"""What the tests of the command share."""

import pytest

from sudoku_gym import cli


@pytest.fixture
def run(capsys):
    """Run the command in this process; return its exit code, standard output and error."""

    def call(*arguments):
        code = cli.main(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call

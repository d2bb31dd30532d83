"""The first lines of the README print what it says."""

import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_first_lines_print_what_the_readme_says(capsys):
    code, printed = re.search(
        r"^```python\n(.*?)^```$.*?^```text\n(.*?)^```$", README, re.DOTALL | re.MULTILINE
    ).groups()
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == printed
    assert len([line for line in code.splitlines() if line]) <= 12

"""What holds for the files of the packages: none is long, and nothing serves tests alone."""

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ["sudoku_gym", "curricula", "learning", "agents", "baselines"]
MOST_LINES = 400


def python_files(*folders):
    return [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]


def names_in(tree):
    """Yield every name that a piece of code uses, also in strings that name something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if re.fullmatch(r"[\w.:]+", node.value):  # "module:attribute", a key of `__getattr__`
                yield from re.findall(r"\w+", node.value)


def names_run_in(tree):
    """Yield what an `__init__` does more with than to import and to offer it."""
    yield from (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def unused(packages, others, text):
    """Return the public functions and classes of some sources that nothing else names.

    Args:
        packages: sources `{path: source}` that define them, and may use them.
        others: sources that may use them.
        text: other writing that may name them.
    """
    trees = {path: ast.parse(source) for path, source in packages.items()}
    used = Counter(
        name
        for path, tree in trees.items()
        for name in (names_in(tree) if not path.endswith("__init__.py") else names_run_in(tree))
    )
    used.update(name for source in others for name in names_in(ast.parse(source)))
    used.update(re.findall(r"\w+", text))
    defined = [
        (path, node)
        for path, tree in trees.items()
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and not node.name.startswith("_")
        # Configurations are registered, and found by the names that files hold.
        and not any("registered" in names_in(decorator) for decorator in node.decorator_list)
    ]
    return [
        f"{path}: {node.name}"
        for path, node in defined
        if used[node.name] <= Counter(names_in(node))[node.name]
    ]


def test_no_file_is_long():
    lengths = {file: len(file.read_text().splitlines()) for file in python_files(*PACKAGES)}
    assert [str(file) for file, lines in lengths.items() if lines > MOST_LINES] == []


def test_everything_public_is_used_by_more_than_tests():
    packages = {str(file): file.read_text() for file in python_files(*PACKAGES)}
    others = [file.read_text() for file in python_files("benchmarks", "examples")]
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "pyproject.toml"]
    text = " ".join(page.read_text() for page in pages)
    assert unused(packages, others, text) == []


def test_what_is_unused_is_seen():
    source = "def f(n):\n    return f(n - 1)\n\ndef g():\n    pass\n\nclass H:\n    pass\n"
    assert unused({"a": source}, ["from a import g"], "") == ["a: f", "a: H"]
    assert unused({"a": source}, ["a.f()", "'a:g'"], "See `H`.") == []
    offer = "from a import f, g, H"
    assert unused({"a": source, "__init__.py": offer}, ["a.f()"], "") == ["a: g", "a: H"]

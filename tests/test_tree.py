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


def names_shown(page):
    """Yield what a page's blocks of Python use, and what it shows or links of the reference."""
    for _, code in re.findall(r"^```(python|py)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        yield from names_in(ast.parse(code))
    for shown, options in re.findall(r"^::: (\S+)\n((?:    .*\n)*)", page, re.MULTILINE):
        yield shown.rpartition(".")[2]
        members = re.search(r"^ +members: \[(.*)\]", options, re.MULTILINE)
        yield from re.findall(r"\w+", members[1] if members else "")
    for linked in re.findall(r"\]\[([\w.]+)\]", page):
        yield linked.rpartition(".")[2]


def definitions(tree):
    """Yield each public function, class and constant of a module, and how often it names itself."""
    for node in tree.body:
        names = []
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            # Configurations are registered, and found by the names that files hold.
            if not any("registered" in names_in(decorator) for decorator in node.decorator_list):
                names = [(node.name, Counter(names_in(node))[node.name])]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            # Not the members of an enumeration, `A, B, C = range(3)`, in which one may go unnamed.
            names = [(target.id, 1) for target in targets if isinstance(target, ast.Name)]
        yield from ((name, inside) for name, inside in names if not name.startswith("_"))


def unused(packages, others, pages=(), entry_points=""):
    """Return the public functions, classes and constants of sources that nothing else names.

    Args:
        packages: sources `{path: source}` that define them, and may use them.
        others: sources that may use them.
        pages: Markdown whose code and references may use them; its prose names without using.
        entry_points: text that names them as `module:attribute`.
    """
    trees = {path: ast.parse(source) for path, source in packages.items()}
    used = Counter(
        name
        for path, tree in trees.items()
        for name in (names_in(tree) if not path.endswith("__init__.py") else names_run_in(tree))
    )
    used.update(name for source in others for name in names_in(ast.parse(source)))
    used.update(name for page in pages for name in names_shown(page))
    used.update(re.findall(r"\w+", entry_points))
    defined = [(path, *definition) for path in trees for definition in definitions(trees[path])]
    return [f"{path}: {name}" for path, name, inside in defined if used[name] <= inside]


def test_no_file_is_long():
    lengths = {file: len(file.read_text().splitlines()) for file in python_files(*PACKAGES)}
    assert [str(file) for file, lines in lengths.items() if lines > MOST_LINES] == []


def test_everything_public_is_used_by_more_than_tests():
    packages = {
        file.relative_to(ROOT).as_posix(): file.read_text() for file in python_files(*PACKAGES)
    }
    others = [file.read_text() for file in python_files("benchmarks", "examples")]
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    texts = [page.read_text() for page in pages]
    named = re.findall(r'"[\w.]+:(\w+)"', "".join(packages.values()))  # as the commands are
    entry_points = " ".join([(ROOT / "pyproject.toml").read_text(), *named])
    left = unused(packages, others, texts, entry_points)
    assert not left, "\n".join(left)


def test_what_is_unused_is_seen():
    source = "def f(n):\n    return f(n - 1)\n\ndef g():\n    pass\n\nclass H:\n    pass\n\nI = 1\n"
    assert unused({"a": source}, ["from a import g"]) == ["a: f", "a: H", "a: I"]
    page = "A `g` of I.\n```python\nH()\n```\n"
    assert unused({"a": source}, ["a.f()"], [page], 'i = "a:I"') == ["a: g"]
    page = "[h][a.H]\n\n::: a.f\n\n::: a\n    options:\n      members: [g]\n"
    assert unused({"a": source}, [], [page]) == ["a: I"]
    offer = "from a import f, g, H, I"
    assert unused({"a": source, "__init__.py": offer}, ["a.f()", "I"]) == ["a: g", "a: H"]

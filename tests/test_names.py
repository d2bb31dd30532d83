"""A public name has one meaning: one file defines it, and it needs no glossary."""

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ["sudoku_gym", "curricula", "learning", "agents", "baselines"]

# Public names that more than one file defines, and why.
SHARED = {
    "main": "what the entry points of trainers and the command call",
    "load": "what the entry points of policies call; `puzzles.load` is public",
    "BlanksCurriculumCallback": "one class a library, named as its users look for it",
    "run_rounds": "the compiled function, and the same in plain torch that it is held to",
}

# Words that name nothing a textbook of this field knows, whatever they are a part of.
PRIVATE_WORDS = set(
    """
    guest guests hear heard hears judge judges linger lingers occupant occupants programme remember
    replies reply seat seats settle settled settles speak speaks spoiled stranger strangers think
    thinking thinks thorough told
    """.split()
)


def sources():
    """Yield the path and the tree of each file of the packages."""
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            yield file.relative_to(ROOT).as_posix(), ast.parse(file.read_text())


def public_names(tree):
    """Return the functions, classes and constants that a module defines for others."""
    names = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            stored = (part for target in targets for part in ast.walk(target))
            names |= {
                part.id
                for part in stored
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            }
    return {name for name in names if not name.startswith("_")}


def defined_names(tree):
    """Yield every name that a module gives: of functions, classes, arguments, values, fields."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def words_of(name):
    """Split `snake_case` and `CamelCase` into words."""
    return set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()))


def defined_twice(trees):
    """Return {name: files} for public names that more than one file defines."""
    found = defaultdict(list)
    for path, tree in trees:
        for name in public_names(tree):
            found[name].append(path)
    return {name: files for name, files in found.items() if len(files) > 1}


def privately_named(trees, words):
    """Return `path: name` for each name that contains one of some words."""
    return sorted(
        {
            f"{path}: {name}"
            for path, tree in trees
            for name in defined_names(tree)
            if words_of(name) & words
        }
    )


def test_one_public_name_is_defined_in_one_file():
    twice = defined_twice(sources())
    wrong = [f"{name}: {', '.join(twice[name])}" for name in sorted(twice.keys() - SHARED.keys())]
    assert not wrong, "defined twice:\n" + "\n".join(wrong)
    gone = sorted(SHARED.keys() - twice.keys())
    assert not gone, "no longer defined twice, remove from the list: " + " ".join(gone)


def test_names_are_of_the_field():
    wrong = privately_named(sources(), PRIVATE_WORDS)
    assert not wrong, "\n".join(wrong)


def test_what_is_defined_twice_is_seen():
    first = ast.parse("def f(x): pass\nA, _B = 1, 2\nclass C:\n    def g(self): pass\n")
    second = ast.parse("def g(): pass\nA: int = 3\n_B = 4\nC = None\nfor f in (): pass\n")
    assert defined_twice([("a", first), ("b", second)]) == {"A": ["a", "b"], "C": ["a", "b"]}


def test_private_words_are_seen():
    tree = ast.parse(
        "def f(old_seat): self.numSeats = 1\nSEAT = researcher = 1\nclass SeatMap: x = 1"
    )
    found = ["a: SEAT", "a: SeatMap", "a: old_seat"]
    assert privately_named([("a", tree)], {"seat"}) == found
    assert privately_named([("a", tree)], {"seats"}) == ["a: numSeats"]

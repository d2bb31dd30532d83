"""Random inputs: what is nearly right, and what is not right at all."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

NUMBERS = [0, 1, -1, 2, 3, 4, 5, 9, 10, 16, 17, 25, 26, 64, 80, 81, 127, 128, 255, 729, 10**6]
NUMBERS += [2**31, -(2**31) - 1, 2**63, -(2**63) - 1, 2**64, 10**30, -(10**30)]
NAN, INF = float("nan"), float("inf")
FLOATS = [0.0, -0.0, 0.5, 1.0, -1.0, 2.7, 1e-300, 1e300, NAN, INF, -INF]
WORDS = ["", " ", "4x4", "9x9", "4", "x9x9", "12x12", "legal", "blank", "train", "all", "NextStep"]
WORDS += [
    "dense",
    "sparse",
    "hidden singles",
    "\0",
    "\n",
    "é",
    "💥",
    "a" * 300,
    "..",
    "/",
    "-",
    "nan",
]
SYMBOLS = ".0123456789ABCDEFGabcdefg*_-|+ \t\n,;:=<>[](){}\"'rRcC?&%#\\/\0é٣💥"
DTYPES = ["i1", "u1", ">i2", "i4", "i8", "u8", "f4", "f8", "?", "c8", "U3", "M8[s]", "V3"]


class Inputs:
    """Draws inputs; the same seed draws the same ones. `folder` is for files."""

    def __init__(self, seed: str, folder: Path) -> None:
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(self.random.getrandbits(32))
        self.folder = folder

    def chance(self, share: float) -> bool:
        """Return True with a chance."""
        return self.random.random() < share

    def value(self, depth: int = 2) -> Any:
        """Draw a value of any type."""
        draw = self.random
        kind = draw.randrange(12 if depth else 8)
        if kind < 2:
            return draw.choice(NUMBERS)
        if kind < 4:
            return draw.choice([None, True, False, *FLOATS])
        if kind < 6:
            return draw.choice(WORDS)
        if kind == 6:
            return self.text("")
        if kind == 7:
            return self.array()
        if kind == 8:
            return [self.value(depth - 1) for _ in range(draw.randrange(4))]
        if kind == 9:
            return tuple(self.value(depth - 1) for _ in range(draw.randrange(4)))
        keys = [draw.choice([*NUMBERS, *WORDS, 2.7, None]) for _ in range(draw.randrange(4))]
        return {key: self.value(depth - 1) for key in keys}

    def array(self) -> NDArray[Any]:
        """Draw an array of any shape and type."""
        draw = self.random
        shape = tuple(draw.choice([0, 1, 2, 3, 4, 9]) for _ in range(draw.randrange(5)))
        dtype = np.dtype(draw.choice(DTYPES))
        count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        return np.frombuffer(draw.randbytes(count), dtype).reshape(shape).copy()

    def near(self, like: ArrayLike) -> Any:
        """Draw an array close to one: other values, shape or type; or anything."""
        draw, array = self.random, np.asarray(like)
        if self.chance(0.1):
            return self.value()
        with np.errstate(invalid="ignore"):
            changed = np.array(array, draw.choice([array.dtype, array.dtype, *DTYPES[:9], "O"]))
        for _ in range(draw.choice([0, 1, 1, 3])):
            if changed.size:
                kept = [-128, -96, -1, 0, 1, 4, 5, 9, 26, 105, 127]
                value = kept if changed.dtype.kind in "iuf" else [0, 1]
                place = draw.randrange(changed.size)
                changed.reshape(-1)[place] = np.array(draw.choice(value)).astype(changed.dtype)
        kind = draw.randrange(8)
        if kind == 0:
            return changed.T
        if kind == 1 and changed.ndim:
            return changed[: len(changed) - 1]
        if kind == 2:
            return changed[None]
        if kind == 3:
            return changed[..., ::-1] if changed.ndim else changed
        return changed.tolist() if kind == 4 else changed

    def text(self, near: str) -> str:
        """Draw a text close to one: some characters changed, added, taken away or repeated."""
        draw = self.random
        letters = list(near)
        for _ in range(draw.choice([1, 1, 2, 5, 20])):
            place = draw.randrange(len(letters) + 1)
            kind = draw.randrange(5)
            if kind < 2:
                letters.insert(place, draw.choice(SYMBOLS))
            elif kind == 2 and letters:
                letters[place - 1] = draw.choice(SYMBOLS)
            elif kind == 3:
                del letters[place : place + draw.choice([1, 1, 9])]
            else:
                end = place + draw.choice([1, 9, 81])
                letters[place:place] = letters[place:end] * draw.choice([1, 1, 50])
        return "".join(letters)

    def bytes(self, near: bytes) -> bytes:
        """Draw bytes close to some: flipped, cut, exchanged or repeated."""
        draw = self.random
        data = bytearray(near)
        for _ in range(draw.choice([1, 1, 3, 10])):
            place, end = sorted(draw.randrange(len(data) + 1) for _ in range(2))
            kind = draw.randrange(5)
            if kind < 2 and place < len(data):
                data[place] ^= 1 << draw.randrange(8)
            elif kind == 2:
                del data[place : end if self.chance(0.3) else place + draw.randrange(9)]
            elif kind == 3:
                data[place:place] = data[place:end][:10_000]
            else:
                data[place:place] = draw.randbytes(draw.choice([1, 4, 100]))
        return bytes(data)

    def json(self, near: Any) -> Any:
        """Draw a value of JSON close to one: a field changed, renamed, dropped or exchanged."""
        whole = deepcopy(near)
        for _ in range(self.random.choice([1, 1, 2, 5])):
            places = list(_places(whole))
            if not places:
                return self.plain()
            inner, key = self.random.choice(places)
            kind = self.random.randrange(6)
            if kind < 3:
                inner[key] = self.plain()
            elif kind == 3:
                other, other_key = self.random.choice(places)
                inner[key] = deepcopy(other[other_key])
            elif kind == 4 and isinstance(inner, dict):
                inner[self.random.choice(WORDS)] = inner.pop(key)
            else:
                del inner[key]
        return whole

    def plain(self) -> Any:
        """Draw a value that JSON may hold."""
        return self.random.choice(
            [*NUMBERS, *FLOATS, *WORDS, None, True, [], {}, [[1]], {"type": "x"}]
        )

    def file(self, name: str, content: bytes) -> Path:
        """Write a file."""
        path = self.folder / name
        path.write_bytes(content)
        return path

    def json_file(self, name: str, near: Any) -> Path:
        """Write a file of JSON close to a value; sometimes its bytes are damaged too."""
        content = json.dumps(self.json(near)).encode()
        return self.file(name, self.bytes(content) if self.chance(0.3) else content)


def _places(content: Any) -> list[tuple[Any, Any]]:
    """Return each container of a value with each of its keys."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content)
    found = []
    for key, each in list(pairs):
        found.append((content, key))
        if isinstance(each, dict | list):
            found += _places(each)
    return found

"""Vectors of 16 uint32 for compiled kernels: `&`, `|`, `^`, `~`, `<<` and `>>` act on every lane.

In compiled code a row of a C-contiguous uint32 array `[R, 16]` is read by `load_lanes` and written
by `store_lanes`; the second operand of an operator may be an integer, which every lane takes. LLVM
maps a vector to what the processor has: one register of AVX-512, two of AVX2, four of SSE or Neon.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,import-untyped,misc"

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable
from numpy.typing import NDArray

from sudoku_gym.compiler.intrinsics import address, repeated

NUM_LANES = 16

_WORD = ir.IntType(32)
_VECTOR = ir.VectorType(_WORD, NUM_LANES)
_ZERO = ir.Constant(_VECTOR, [0] * NUM_LANES)


class _LanesType(types.Type):
    """Numba's type of a vector."""


lanes_type = _LanesType("Lanes")


register_model(_LanesType)(lambda manager, kind: models.PrimitiveModel(manager, kind, _VECTOR))


def empty_rows(count: int) -> NDArray[np.uint32]:
    """Allocate uint32 `[count, 16]`, uninitialised, each row in one cache line."""
    words = np.empty((count + 1) * NUM_LANES, np.uint32)
    start = -words.ctypes.data // words.itemsize % NUM_LANES
    return words[start : start + count * NUM_LANES].reshape(count, NUM_LANES)


@intrinsic
def load_lanes(_typing, rows, row):
    """Read a row of a C-contiguous uint32 array `[R, 16]`."""

    def generate(context, builder, signature, arguments):
        return builder.load(_address(context, builder, signature, arguments), align=4)

    return lanes_type(rows, row), generate


@intrinsic
def store_lanes(_typing, rows, row, value):
    """Write a row of a C-contiguous uint32 array `[R, 16]`."""

    def generate(context, builder, signature, arguments):
        builder.store(arguments[2], _address(context, builder, signature, arguments), align=4)
        return context.get_dummy_value()

    return types.none(rows, row, value), generate


@intrinsic
def nonzero_lanes(_typing, value):
    """Return which lanes are not 0, as bits of a uint32."""

    def generate(_context, builder, _signature, arguments):
        nonzero = builder.icmp_unsigned("!=", arguments[0], _ZERO)
        return builder.zext(builder.bitcast(nonzero, ir.IntType(NUM_LANES)), _WORD)

    return types.uint32(value), generate


def _address(context, builder, signature, arguments):
    """Return where a row lies, for arguments `(rows, row, ...)`."""
    kinds, values = (*signature.args[:2], types.int32), (*arguments[:2], _WORD(0))
    return address(context, builder, kinds, values, _VECTOR)


def _define(function: Callable[..., Any], instruction: str) -> None:
    """Let an operator of Python stand for an instruction of LLVM."""

    @type_callable(function)
    def give_type(_context):
        def of(left, right):
            is_operand = right == lanes_type or isinstance(right, types.Integer)
            return lanes_type if left == lanes_type and is_operand else None

        return of

    @lower_builtin(function, _LanesType, _LanesType)
    @lower_builtin(function, _LanesType, types.Integer)
    def generate(context, builder, signature, arguments):
        left, right = arguments
        if signature.args[1] != lanes_type:
            word = context.cast(builder, right, signature.args[1], types.uint32)
            right = repeated(builder, word, NUM_LANES)
        return getattr(builder, instruction)(left, right)


for _function, _instruction in (
    (operator.and_, "and_"),
    (operator.iand, "and_"),
    (operator.or_, "or_"),
    (operator.ior, "or_"),
    (operator.xor, "xor"),
    (operator.lshift, "shl"),
    (operator.rshift, "lshr"),
):
    _define(_function, _instruction)


@type_callable(operator.invert)
def _type_of_invert(_context):
    def of(value):
        return lanes_type if value == lanes_type else None

    return of


@lower_builtin(operator.invert, _LanesType)
def _invert(_context, builder, _signature, arguments):
    return builder.not_(arguments[0])

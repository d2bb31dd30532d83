"""Vectors of 8 or 16 float32 in numba, with the arithmetic of a recurrent network.

Loops over channels are too short for LLVM's vectoriser, which wants 32 numbers and proof that no
two arrays overlap; so a value of type `VECTOR` is `LANES` numbers that are loaded, multiplied and
stored together, in LLVM's portable language. Errors are the largest over every 997th float32 on a
processor that rounds a multiplication and addition once.
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from sudoku_gym.compiler.intrinsics import repeated
from sudoku_gym.compiler.jit import njit

# mypy: disable-error-code="no-untyped-def,no-untyped-call,import-untyped"
# mypy: disable-error-code="call-arg,var-annotated,call-overload"

_FEATURES = cpu_target.target_context.codegen().magic_tuple()[2]
LANES = 16 if "+avx512f" in _FEATURES else 8  # as many floats as a register of the processor has


def inner(function):
    """Compile a function for compiled callers only: without its entrances, a quarter faster."""
    return njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


_WORD = ir.IntType(32)
_WORDS = ir.VectorType(_WORD, LANES)
_FLOAT = ir.FloatType()
_FLOATS = ir.VectorType(_FLOAT, LANES)
_FLOAT_BYTES = 4


class _Vector(types.Type):
    def __init__(self) -> None:
        super().__init__(name=f"float32x{LANES}")


VECTOR = _Vector()


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _FLOATS)


def _define_operator(function, instruction):
    @type_callable(function)
    def type_operator(_context):
        return lambda left, right: VECTOR if left == VECTOR and right == VECTOR else None

    @lower_builtin(function, VECTOR, VECTOR)
    def lower_operator(_context, builder, _signature, arguments):
        return getattr(builder, instruction)(*arguments)


_define_operator(operator.add, "fadd")
_define_operator(operator.sub, "fsub")
_define_operator(operator.mul, "fmul")
_define_operator(operator.truediv, "fdiv")


@intrinsic
def load(_typing, array, first):
    """Return `array[first : first + LANES]` of a C-contiguous float32 array `[n]`."""

    def generate(context, builder, signature, arguments):
        return builder.load(_address(context, builder, signature, arguments), align=_FLOAT_BYTES)

    return VECTOR(array, types.intp), generate


@intrinsic
def store(_typing, array, first, vector):
    """Write `vector` to `array[first : first + LANES]` of a C-contiguous float32 array `[n]`."""

    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature, arguments)
        builder.store(arguments[2], address, align=_FLOAT_BYTES)
        return context.get_dummy_value()

    return types.none(array, types.intp, VECTOR), generate


@intrinsic
def spread(_typing, number):
    """Return a vector that holds `number` in all lanes."""

    def generate(_context, builder, _signature, arguments):
        return repeated(builder, arguments[0], LANES)

    return VECTOR(types.float32), generate


@intrinsic
def spread_from(_typing, array, position):
    """Return a vector that holds `array[position]` in all lanes."""

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        return repeated(builder, builder.load(pointer, align=_FLOAT_BYTES), LANES)

    return VECTOR(array, types.intp), generate


@intrinsic
def multiply_add(_typing, left, right, third):
    """Return `left * right + third`, rounded once where the processor can."""

    def generate(_context, builder, _signature, arguments):
        kind = ir.FunctionType(_FLOATS, [_FLOATS] * 3)
        name = f"llvm.fmuladd.v{LANES}f32"
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(function, list(arguments))

    return VECTOR(VECTOR, VECTOR, VECTOR), generate


@intrinsic
def clamp(_typing, vector, low, high):
    """Return `vector` with every number brought into [low, high]; NaN stays NaN."""

    def generate(_context, builder, _signature, arguments):
        value, low, high = arguments
        value = builder.select(builder.fcmp_ordered("<", value, low), low, value)
        return builder.select(builder.fcmp_ordered(">", value, high), high, value)

    return VECTOR(VECTOR, VECTOR, VECTOR), generate


@intrinsic
def where_between(_typing, value, low, high, chosen):
    """Return `chosen` where low < value < high, and 0 elsewhere."""

    def generate(_context, builder, _signature, arguments):
        value, low, high, chosen = arguments
        above = builder.fcmp_ordered(">", value, low)
        inside = builder.and_(above, builder.fcmp_ordered("<", value, high))
        return builder.select(inside, chosen, ir.Constant(_FLOATS, [0.0] * LANES))

    return VECTOR(VECTOR, VECTOR, VECTOR, VECTOR), generate


@intrinsic
def _times_power_of_two(_typing, vector, shifted):
    """Return `vector * 2**k`, where `shifted` is k plus 1.5 * 2**23: k stands in its low bits."""

    def generate(_context, builder, _signature, arguments):
        vector, shifted = (builder.bitcast(argument, _WORDS) for argument in arguments)
        exponent = builder.shl(shifted, _words(23))
        return builder.bitcast(builder.add(vector, exponent), _FLOATS)

    return VECTOR(VECTOR, VECTOR), generate


@intrinsic
def _exponent(_typing, vector):
    """Return the k for which `vector / 2**k` lies in [2/3, 4/3), of positive normal numbers."""

    def generate(_context, builder, _signature, arguments):
        bits = builder.bitcast(arguments[0], _WORDS)
        exponent = builder.ashr(builder.sub(bits, _words(_TWO_THIRDS)), _words(23))
        return builder.sitofp(exponent, _FLOATS)

    return VECTOR(VECTOR), generate


@intrinsic
def _mantissa(_typing, vector):
    """Return `vector / 2**k` in [2/3, 4/3), of positive normal numbers."""

    def generate(_context, builder, _signature, arguments):
        bits = builder.bitcast(arguments[0], _WORDS)
        low = builder.and_(builder.sub(bits, _words(_TWO_THIRDS)), _words(0x7FFFFF))
        return builder.bitcast(builder.add(low, _words(_TWO_THIRDS)), _FLOATS)

    return VECTOR(VECTOR), generate


_TWO_THIRDS = 0x3F2AAAAB  # the bits of the float32 next to 2/3


@inner
def exp(x):
    """Return e**x for x in [-87, 87], by a Chebyshev fit; relative error 0.8e-7."""
    magic = spread(12582912.0)  # 1.5 * 2**23: adding it rounds to a whole number
    shifted = multiply_add(x, spread(1.4426950408889634), magic)
    whole = shifted - magic
    rest = multiply_add(whole, spread(-0.693145751953125), x)
    rest = multiply_add(whole, spread(-1.428606765330187e-06), rest)
    series = multiply_add(spread(1.3933733e-3), rest, spread(8.363235e-3))
    series = multiply_add(series, rest, spread(0.04166646417))
    series = multiply_add(series, rest, spread(0.16666576643))
    series = multiply_add(series, rest, spread(0.5))
    series = multiply_add(series, rest, spread(1.0))
    series = multiply_add(series, rest, spread(1.0))
    return _times_power_of_two(series, shifted)


@inner
def log(x):
    """Return the logarithm of positive normal x; error 1.8e-7, absolute for results below 1."""
    rest = _mantissa(x) - spread(1.0)
    series = multiply_add(spread(-0.15049429), rest, spread(0.16729101))
    series = multiply_add(series, rest, spread(-0.16481579))
    series = multiply_add(series, rest, spread(0.19858717))
    series = multiply_add(series, rest, spread(-0.25004206))
    series = multiply_add(series, rest, spread(0.33335335))
    series = multiply_add(series, rest, spread(-0.49999985))
    series = multiply_add(series * rest, rest, rest)
    return multiply_add(_exponent(x), spread(0.6931471805599453), series)


@inner
def sigmoid_and_tanh(x, y):
    """Return 1 / (1 + e**-x) and tanh y, with one division; absolute errors 1.5e-7 and 2.4e-7."""
    one, low, high = spread(1.0), spread(-40.0), spread(40.0)
    a = one + exp(clamp(spread(0.0) - x, low, high))
    rest = exp(clamp(spread(-2.0) * y, low, high))
    inverse = one / (a * (one + rest))
    return inverse * (one + rest), inverse * a * (one - rest)


def _address(context, builder, signature, arguments):
    pointer = _pointer(context, builder, signature, arguments)
    return builder.bitcast(pointer, _FLOATS.as_pointer())


def _pointer(context, builder, signature, arguments):
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


def _words(value):
    return ir.Constant(_WORDS, [value] * LANES)

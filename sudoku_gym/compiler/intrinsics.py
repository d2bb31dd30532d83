"""Machine instructions that numba does not offer, in LLVM's portable language."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

# mypy: disable-error-code="no-untyped-def,no-untyped-call,import-untyped,attr-defined"

_BYTE = ir.IntType(8)
_BYTES = ir.VectorType(_BYTE, 64)
_HALF = ir.VectorType(_BYTE, 32)


@intrinsic
def borrowed(_typing, held):
    """Return the same array, or tuple with arrays anywhere in it, without reference counting.

    The caller must hold the originals.
    """

    def generate(context, builder, signature, arguments):
        return view(context, builder, held, arguments[0])

    def view(context, builder, kind, value):
        if isinstance(kind, types.BaseTuple):
            parts = zip(kind.types, cgutils.unpack_tuple(builder, value), strict=True)
            views = [view(context, builder, *part) for part in parts]
            return context.make_tuple(builder, kind, views)
        if not isinstance(kind, types.Array):
            return value
        found = cgutils.create_struct_proxy(kind)(context, builder, value=value)
        found.meminfo = cgutils.get_null_value(found.meminfo.type)
        found.parent = cgutils.get_null_value(found.parent.type)
        return found._getvalue()

    return held(held), generate


@intrinsic
def borrowed_rows(_typing, array, count):
    """Return a C-contiguous array as `[count, -1]`, `borrowed`; `count` must divide its size.

    `array.reshape(count, -1)` does the same, but takes numba half a second to compile.
    """
    rows = array.copy(ndim=2)

    def generate(context, builder, signature, arguments):
        held = cgutils.create_struct_proxy(array)(context, builder, value=arguments[0])
        view = cgutils.create_struct_proxy(rows)(context, builder)
        height = context.cast(builder, arguments[1], signature.args[1], types.intp)
        width = builder.udiv(held.nitems, height)
        step, shape = held.itemsize, (height, width)
        strides = (builder.mul(width, step), step)
        populate_array(view, held.data, shape, strides, step, meminfo=None)
        return view._getvalue()

    return rows(array, count), generate


@intrinsic
def prefetch(_typing, array, row, column):
    """Ask for `array[row, column]` of a C-contiguous array to be brought near; changes nothing."""

    def generate(context, builder, signature, arguments):
        pointer = address(context, builder, signature.args, arguments, _BYTE)
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [pointer, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.none(array, row, column), generate


@intrinsic
def popcount(_typing, word):
    """Return how many bits of a uint32 or uint64 are set, of the same type."""

    def generate(_context, builder, _signature, arguments):
        return builder.ctpop(arguments[0])

    return word(word), generate


@intrinsic
def lowest_bit(_typing, word):
    """Return the index of the lowest set bit of a uint32 or uint64 (0: its width), same type."""

    def generate(_context, builder, _signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return word(word), generate


@intrinsic
def nonzero_bits(_typing, array, row, column):
    """Return which of the 64 bytes from `array[row, column]` on are not 0, as bits of a uint64."""

    def generate(context, builder, signature, arguments):
        pointer = address(context, builder, signature.args, arguments, _BYTES)
        values = builder.load(pointer, align=1)
        nonzero = builder.icmp_unsigned("!=", values, ir.Constant(_BYTES, [0] * 64))
        return builder.bitcast(nonzero, ir.IntType(64))

    return types.uint64(array, row, column), generate


@intrinsic
def spread_bits(_typing, word, array, row, column):
    """Write the bits of a uint64 as 64 bytes, 0 or 1, from `array[row, column]` on."""

    def generate(context, builder, signature, arguments):
        pointer = address(context, builder, signature.args[1:], arguments[1:], _BYTES)
        bits = builder.bitcast(arguments[0], ir.VectorType(ir.IntType(1), 64))
        builder.store(builder.zext(bits, _BYTES), pointer, align=1)
        return context.get_dummy_value()

    return types.none(types.uint64, array, row, column), generate


@intrinsic
def equal_bytes(_typing, array, row, column, value):
    """Return which of 32 bytes from `array[row, column]` on are a uint8, as bits of a uint32."""

    def generate(context, builder, signature, arguments):
        pointer = address(context, builder, signature.args, arguments, _HALF)
        values = builder.load(pointer, align=1)
        equal = builder.icmp_unsigned("==", values, repeated(builder, arguments[3], 32))
        return builder.bitcast(equal, ir.IntType(32))

    return types.uint32(array, row, column, types.uint8), generate


@intrinsic
def put_bytes(_typing, array, row, column, value, bits):
    """Write a uint8 to those of 32 bytes from `array[row, column]` on whose bit of a uint32 is set.

    The other bytes are read and written as they are.
    """

    def generate(context, builder, signature, arguments):
        pointer = address(context, builder, signature.args, arguments, _HALF)
        chosen = builder.bitcast(arguments[4], ir.VectorType(ir.IntType(1), 32))
        value, before = repeated(builder, arguments[3], 32), builder.load(pointer, align=1)
        builder.store(builder.select(chosen, value, before), pointer, align=1)
        return context.get_dummy_value()

    return types.none(array, row, column, types.uint8, types.uint32), generate


def repeated(builder, value, count):
    """Return a vector of `count` times the same value."""
    nothing = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    single = builder.insert_element(nothing, value, ir.IntType(32)(0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count)
    return builder.shuffle_vector(single, nothing, everywhere)


def address(context, builder, kinds, values, target):
    """Return a pointer to `array[row, column]`, of the values `(array, row, column, ...)`."""
    view = cgutils.create_struct_proxy(kinds[0])(context, builder, value=values[0])
    indices = [context.cast(builder, values[i], kinds[i], types.intp) for i in (1, 2)]
    item = cgutils.get_item_pointer(context, builder, kinds[0], view, indices)
    return builder.bitcast(item, target.as_pointer())

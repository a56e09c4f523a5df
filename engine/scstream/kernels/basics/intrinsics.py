"""LLVM instructions that numba does not offer: bit patterns, minima, fused multiply-add, vectorisation hints."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import intrinsic

from scstream.kernels.basics.layout import TILE

#: Side of the window of `sum_where_equal`.
WINDOW = 7


@intrinsic
def float_to_bits(typingctx, value):
    """Reinterpret a float32 as its int32 bit pattern."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.int32))

    return types.int32(types.float32), codegen


@intrinsic
def bits_to_float(typingctx, value):
    """Reinterpret an int32 bit pattern as a float32."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.float32))

    return types.float32(types.int32), codegen


@intrinsic
def double_to_bits(typingctx, value):
    """Reinterpret a float64 as its int64 bit pattern."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.int64))

    return types.int64(types.float64), codegen


@intrinsic
def bits_to_double(typingctx, value):
    """Reinterpret an int64 bit pattern as a float64."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.int64), codegen


def _binary_intrinsic(name):
    """Intrinsic for an LLVM operation on two floats, neither of them nan; loops over it vectorise, over `min` not."""

    @intrinsic
    def choose(typingctx, x, y):
        def codegen(context, builder, signature, args):
            kind = context.get_value_type(x)
            function = builder.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind] * 2))
            return builder.call(function, args, fastmath=("nnan", "nsz"))

        return x(x, x), codegen

    return choose


#: Smaller and larger of two floats of one type, neither of them nan.
smaller = _binary_intrinsic("llvm.minnum")
larger = _binary_intrinsic("llvm.maxnum")


@intrinsic
def min_difference(typingctx, these, i, those, j):
    """Minimum over n < TILE of these[i + n] - those[j + n].

    these and those are contiguous float32 arrays without nan, i and j uint64 indices; returns a float32.
    """

    def codegen(context, builder, signature, args):
        row = ir.VectorType(ir.FloatType(), TILE)
        parts = []
        for n in (0, 2):
            array = context.make_array(signature.args[n])(context, builder, args[n])
            place = builder.bitcast(builder.gep(array.data, [args[n + 1]]), row.as_pointer())
            parts.append(builder.load(place, align=4))
        name = f"llvm.vector.reduce.fmin.v{TILE}f32"
        least = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.FloatType(), [row]), name)
        return builder.call(least, [builder.fsub(*parts)], fastmath=("nnan", "nsz"))

    return types.float32(these, i, those, j), codegen


@intrinsic
def changes_after(typingctx, values, i):
    """Bits (int32) of the places n < TILE where values[i + n] != values[i + n + 1].

    values is a contiguous int32 array, i a uint64 index.
    """

    def codegen(context, builder, signature, args):
        row = ir.VectorType(ir.IntType(32), TILE)
        array = context.make_array(signature.args[0])(context, builder, args[0])
        parts = []
        for n in range(2):
            place = builder.gep(array.data, [builder.add(args[1], context.get_constant(types.uint64, n))])
            parts.append(builder.load(builder.bitcast(place, row.as_pointer()), align=4))
        bits = builder.bitcast(builder.icmp_unsigned("!=", *parts), ir.IntType(TILE))
        return builder.zext(bits, ir.IntType(32))

    return types.int32(values, i), codegen


@intrinsic
def sum_where_equal(typingctx, keys, values, i, stride, spare, key):
    """Sum (int32) of the values of the pixels in a window of WINDOW x WINDOW whose keys are equal to one key.

    keys and values are contiguous int32 arrays, i (uint64) is the index of the window's first pixel, stride (uint64)
    the length of a row. Of each row one pixel more than the window has is read: that at spare (int32) does not count.
    """

    def codegen(context, builder, signature, args):
        lane, row = ir.IntType(32), ir.VectorType(ir.IntType(32), WINDOW + 1)
        arrays = [context.make_array(signature.args[n])(context, builder, args[n]) for n in range(2)]
        spare, wanted = ir.Constant(row, ir.Undefined), ir.Constant(row, ir.Undefined)
        for n in range(row.count):
            spare = builder.insert_element(spare, args[4], lane(n))
            wanted = builder.insert_element(wanted, args[5], lane(n))
        nothing = row([0] * row.count)
        total, begin = nothing, args[2]
        for _ in range(WINDOW):
            places = (builder.gep(array.data, [begin]) for array in arrays)
            here, value = (builder.load(builder.bitcast(place, row.as_pointer()), align=4) for place in places)
            is_wanted = builder.icmp_signed("==", here, wanted)
            total = builder.add(total, builder.select(is_wanted, value, nothing))
            begin = builder.add(begin, args[3])
        total = builder.select(builder.icmp_signed("!=", row(list(range(row.count))), spare), total, nothing)
        name = f"llvm.vector.reduce.add.v{row.count}i32"
        add = cgutils.get_or_insert_function(builder.module, ir.FunctionType(lane, [row]), name)
        return builder.call(add, [total])

    return types.int32(keys, values, i, stride, spare, key), codegen


@intrinsic
def lowest_bit(typingctx, bits):
    """Position (int32) of the lowest bit that is set in an int32 other than 0."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int32(types.int32), codegen


@intrinsic
def muladd(typingctx, x, y, z):
    """x * y + z of float32s, fused (rounded once) where the processor can.

    Written out, the result does not depend on which products the compiler chooses to fuse.
    """

    def codegen(context, builder, signature, args):
        kind = context.get_value_type(types.float32)
        function = builder.module.declare_intrinsic("llvm.fmuladd", [kind], ir.FunctionType(kind, [kind] * 3))
        return builder.call(function, args)

    return types.float32(types.float32, types.float32, types.float32), codegen


@intrinsic
def vectorise(typingctx):
    """Help the loops of the calling function to vectorise.

    Declares that the function's array arguments do not overlap, so that loops need no test for it, and allows vectors
    of 512 bits, which LLVM avoids by default for the sake of older processors.
    """

    def codegen(context, builder, signature, args):
        # llvmlite's own `add` rejects attributes of one processor family; other processors ignore this one.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        # The first two arguments are the places of the return value and of the exception.
        for argument in builder.function.args[2:]:
            if isinstance(argument.type, ir.PointerType):
                argument.add_attribute("noalias")
        return context.get_dummy_value()

    return types.none(), codegen

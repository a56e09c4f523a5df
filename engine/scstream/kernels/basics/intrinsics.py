"""LLVM instructions that numba does not offer: bit patterns, minima, fused multiply-add, vectorisation hints."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import intrinsic

from scstream.kernels.basics.layout import TILE

#: Side of the window of `sums_where_equal`.
WINDOW = 7
#: float64 numbers of a vector, and points of `square_distances`: four vectors, whose sums do not wait for each other.
LANES = 8
SIDE_BY_SIDE = 4 * LANES
#: Points of `add_outer_products`, for which a sum is loaded and stored once.
TOGETHER = 4


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
        arrays = [context.make_array(signature.args[n])(context, builder, args[n]) for n in (0, 2)]
        parts = [_load(builder, array, i, row) for array, i in zip(arrays, args[1::2], strict=True)]
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
        places = (builder.add(args[1], context.get_constant(types.uint64, n)) for n in range(2))
        parts = [_load(builder, array, i, row) for i in places]
        bits = builder.bitcast(builder.icmp_unsigned("!=", *parts), ir.IntType(TILE))
        return builder.zext(bits, ir.IntType(32))

    return types.int32(values, i), codegen


@intrinsic
def places_of(typingctx, key, values, i):
    """Bits (int32) of the places n < TILE where values[i + n] == key.

    key is an int32, values a contiguous int32 array, i a uint64 index.
    """

    def codegen(context, builder, signature, args):
        row = ir.VectorType(ir.IntType(32), TILE)
        array = context.make_array(signature.args[1])(context, builder, args[1])
        is_key = builder.icmp_signed("==", _load(builder, array, args[2], row), _repeat(builder, args[0], row))
        return builder.zext(builder.bitcast(is_key, ir.IntType(TILE)), ir.IntType(32))

    return types.int32(key, values, i), codegen


@intrinsic
def sums_where_equal(typingctx, keys, values, i, stride, spare, one, other):
    """Sums (int32, int32) of the values of the pixels in a window of WINDOW x WINDOW whose keys equal either key.

    keys and values are contiguous int32 arrays, i (uint64) is the index of the window's first pixel, stride (uint64)
    the length of a row. Of each row one pixel more than the window has is read: that at spare (int32) does not count.
    """

    def codegen(context, builder, signature, args):
        lane, row = ir.IntType(32), ir.VectorType(ir.IntType(32), WINDOW + 1)
        arrays = [context.make_array(signature.args[n])(context, builder, args[n]) for n in range(2)]
        spare, *wanted = (_repeat(builder, value, row) for value in args[4:])
        nothing = row([0] * row.count)
        totals, begin = [nothing, nothing], args[2]
        for _ in range(WINDOW):
            here, value = (_load(builder, array, begin, row) for array in arrays)
            for n in range(2):
                is_wanted = builder.icmp_signed("==", here, wanted[n])
                totals[n] = builder.add(totals[n], builder.select(is_wanted, value, nothing))
            begin = builder.add(begin, args[3])
        counts = builder.icmp_signed("!=", row(list(range(row.count))), spare)
        name = f"llvm.vector.reduce.add.v{row.count}i32"
        add = cgutils.get_or_insert_function(builder.module, ir.FunctionType(lane, [row]), name)
        sums = [builder.call(add, [builder.select(counts, total, nothing)]) for total in totals]
        return cgutils.pack_array(builder, sums)

    return types.UniTuple(types.int32, 2)(keys, values, i, stride, spare, one, other), codegen


@intrinsic
def equal_around(typingctx, keys, i, stride, key):
    """Bits (int32) 3 m + n of the places (m, n) in a block of 3 x 3 whose keys equal one key.

    keys is a contiguous int32 array, i (uint64) the index of the block's first place, stride (uint64) the length of a
    row. Of each row a fourth key is read, whatever it is.
    """

    def codegen(context, builder, signature, args):
        lane, row = ir.IntType(32), ir.VectorType(ir.IntType(32), 4)
        array = context.make_array(signature.args[0])(context, builder, args[0])
        wanted = _repeat(builder, args[3], row)
        bits, begin = lane(0), args[1]
        for m in range(3):
            is_wanted = builder.icmp_signed("==", _load(builder, array, begin, row), wanted)
            found = builder.zext(builder.bitcast(is_wanted, ir.IntType(row.count)), lane)
            bits = builder.or_(bits, builder.shl(builder.and_(found, lane(0b111)), lane(3 * m)))
            begin = builder.add(begin, args[2])
        return bits

    return types.int32(keys, i, stride, key), codegen


def _repeat(builder, value, row):
    """Vector of type ``row`` with one value in all places."""
    first = builder.insert_element(ir.Constant(row, ir.Undefined), value, ir.IntType(32)(0))
    places = ir.VectorType(ir.IntType(32), row.count)([0] * row.count)
    return builder.shuffle_vector(first, ir.Constant(row, ir.Undefined), places)


def _load(builder, array, i, row):
    """Vector of type ``row`` that begins at index i of an array."""
    return builder.load(builder.bitcast(builder.gep(array.data, [i]), row.as_pointer()), align=4)


@intrinsic
def square_distances(typingctx, X, A, b, q):
    """q[n] = |A x + b|^2 of the points x = X[:D, n], n < SIDE_BY_SIDE, whose sums stay in registers.

    X (at least D, SIDE_BY_SIDE), A (D, D), only its lower triangle, b (D,) and q (SIDE_BY_SIDE,) are contiguous float64
    arrays. A point's result does not depend on the points beside it.
    """

    def codegen(context, builder, signature, args):
        row, index = ir.VectorType(ir.DoubleType(), LANES), ir.IntType(64)
        points, matrix, shift, out = (_array(context, builder, signature, args, n) for n in range(4))
        (D,) = cgutils.unpack_tuple(builder, shift.shape)
        sums, totals = ([cgutils.alloca_once(builder, row) for _ in range(SIDE_BY_SIDE // LANES)] for _ in range(2))
        for total in totals:
            builder.store(row([0.0] * LANES), total)
        with cgutils.for_range(builder, D) as outer:
            start = _repeat(builder, builder.load(builder.gep(shift.data, [outer.index])), row)
            for part in sums:
                builder.store(start, part)
            begin = builder.mul(outer.index, D)
            with cgutils.for_range(builder, builder.add(outer.index, index(1))) as inner:
                place = builder.add(begin, inner.index)
                factor = _repeat(builder, builder.load(builder.gep(matrix.data, [place])), row)
                here = builder.mul(inner.index, index(SIDE_BY_SIDE))
                for n, part in enumerate(sums):
                    x = _load(builder, points, builder.add(here, index(n * LANES)), row)
                    _muladd_to(builder, factor, x, part)
            for part, total in zip(sums, totals, strict=True):
                y = builder.load(part)
                _muladd_to(builder, y, y, total)
        for n, total in enumerate(totals):
            _store(builder, builder.load(total), out, index(n * LANES))
        return context.get_dummy_value()

    return types.none(X, A, b, q), codegen


@intrinsic
def add_outer_products(typingctx, Z, rows, weight, m, M):
    """M += the sum of weight[i] z z', z = Z[rows[i]], over m <= i < m + TOGETHER.

    Only the lower triangle, and what is to the right of it in the same vectors. Z (N, L), weight, M (D, L), L a
    multiple of `LANES`, are contiguous float64 arrays, rows is one of int64, m a uint64.
    """

    def codegen(context, builder, signature, args):
        row, index = ir.VectorType(ir.DoubleType(), LANES), ir.IntType(64)
        points, places, weights, out = (_array(context, builder, signature, args, n) for n in (0, 1, 2, 4))
        height, width = cgutils.unpack_tuple(builder, out.shape)
        here = [builder.add(args[3], index(n)) for n in range(TOGETHER)]
        begins = [builder.mul(builder.load(builder.gep(places.data, [n])), width) for n in here]
        scales = [builder.load(builder.gep(weights.data, [n])) for n in here]
        with cgutils.for_range(builder, height) as outer:
            factors = []
            for begin, scale in zip(begins, scales, strict=True):
                z = builder.load(builder.gep(points.data, [builder.add(begin, outer.index)]))
                factors.append(_repeat(builder, builder.fmul(scale, z), row))
            start, end = builder.mul(outer.index, width), builder.add(outer.index, index(1))
            with cgutils.for_range_slice(builder, index(0), end, index(LANES)) as (column, _):
                place = builder.add(start, column)
                total = _load(builder, out, place, row)
                for begin, factor in zip(begins, factors, strict=True):
                    total = _fused(builder, factor, _load(builder, points, builder.add(begin, column), row), total)
                _store(builder, total, out, place)
        return context.get_dummy_value()

    return types.none(Z, rows, weight, types.uint64, M), codegen


def _array(context, builder, signature, args, n):
    """The structure of the n-th argument, an array."""
    return context.make_array(signature.args[n])(context, builder, args[n])


def _fused(builder, x, y, z):
    """x * y + z of vectors of float64, fused where the processor can."""
    name = f"llvm.fmuladd.v{LANES}f64"
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(x.type, [x.type] * 3), name)
    return builder.call(function, [x, y, z])


def _muladd_to(builder, x, y, place):
    """Add the product of two vectors to the one at a place in memory."""
    builder.store(_fused(builder, x, y, builder.load(place)), place)


def _store(builder, vector, array, i):
    """Store a vector of float64 from index i of an array on."""
    builder.store(vector, builder.bitcast(builder.gep(array.data, [i]), vector.type.as_pointer()), align=8)


@intrinsic
def count_bits(typingctx, bits):
    """Number (int32) of the bits that are set in an int32."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int32(types.int32), codegen


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

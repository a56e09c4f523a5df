"""Queue from which several threads take pieces of work inside compiled code."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import types
from numba.core.extending import intrinsic

from scstream.kernels._jit import inlined


class Queue(NamedTuple):
    """Rows of a picture, or of tiles, in pieces that threads take one by one without the interpreter's lock.

    Attributes
    ----------
    edges : array (n + 1,) int64
        Piece i is the rows [edges[i], edges[i + 1]).
    order : array (n,) int64
        Pieces in the order in which threads take them.
    taken : array (1,) int64
        Number of pieces taken so far; threads increment it atomically.
    """

    edges: Any
    order: Any
    taken: Any


@intrinsic
def _fetch_and_increment(typingctx, counter):
    """Return counter[0], counter (1,) int64, and increment it in one atomic step."""

    def codegen(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.atomic_rmw("add", array.data, context.get_constant(types.int64, 1), "monotonic")

    return types.int64(counter), codegen


@inlined
def next_piece(queue):
    """Index (int64) of the next piece of a `Queue`, or -1 if all are taken."""
    turn = _fetch_and_increment(queue.taken)
    return queue.order[turn] if turn < queue.order.shape[0] else -1

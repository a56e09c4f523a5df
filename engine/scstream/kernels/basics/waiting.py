"""Waiting for another thread without sleeping, and without the interpreter's lock."""

from __future__ import annotations

import os

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import intrinsic

from scstream.kernels._jit import kernel

#: Whether the C library has the function `sched_yield`: that of Windows has not.
_YIELDS = hasattr(os, "sched_yield")


@intrinsic
def _load(typingctx, counter):
    """Return counter[0], counter (1,) int64, as another thread has stored it last."""

    def codegen(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.load_atomic(array.data, "acquire", 8)

    return types.int64(counter), codegen


@intrinsic
def _yield_processor(typingctx):
    """Let another thread run that waits for this processor, if there is one."""

    def codegen(context, builder, signature, args):
        if _YIELDS:
            function = ir.FunctionType(ir.IntType(32), [])
            builder.call(cgutils.get_or_insert_function(builder.module, function, "sched_yield"), [])
        return context.get_dummy_value()

    return types.none(), codegen


@kernel
def wait_for_change(counter, value, looks):
    """Wait until counter[0], counter (1,) int64, is not ``value``; look so many times. Returns whether it changed."""
    for _ in range(looks):
        if _load(counter) != value:
            return True
        _yield_processor()
    return False

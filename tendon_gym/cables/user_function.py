"""Implicit functions of users, called from kernels that are compiled once for all of them.

A kernel that takes a function as an argument is compiled anew for every function. Here a function
is made a C callback, and kernels call it by its address, a number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, config, types
from numba.extending import intrinsic

from tendon_gym import checks

Jet = tuple[float, float, float, float, float, float, float, float, float, float]
"""phi, its gradient (x, y, z), its Hessian (xx, yy, zz, xy, xz, yz)."""

NOWHERE: Any = (math.nan,) * 10
_settings: Any = config
_KEPT: dict[int, tuple[Callable, Any]] = {}  # by address; a callback must outlive its users


def address_of(function: Callable[[float, float, float], Jet]) -> int:
    """Return the number by which kernels call `function(x, y, z)`, plain or compiled by Numba.

    Where it raises an exception, kernels get ten NaN.

    Raises:
        TypeError: Numba can't compile it.
    """
    for address, (known, _) in _KEPT.items():
        if known is function:
            return address
    if _settings.DISABLE_JIT:
        address = len(_KEPT) + 1
        _KEPT[address] = (function, None)
        return address
    try:
        callback = _callback(function)
    except Exception as error:  # Numba's have no common type
        got = checks.shown(function)
        reason = _short(str(error))
        raise TypeError(f"function must be one that Numba compiles, got {got}: {reason}") from error
    address = int(callback.address or 0)
    _KEPT[address] = (function, callback)
    return address


def _callback(function: Any) -> Any:
    """Compile a function anew, whatever it was compiled with, so that it may divide by zero."""
    inner: Any = numba.njit(getattr(function, "py_func", function), error_model="numpy")

    @numba.cfunc(types.void(*[types.float64] * 3, types.CPointer(types.float64)))
    def callback(x: float, y: float, z: float, out: Any) -> None:
        try:
            jet = inner(x, y, z)
            (out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7], out[8], out[9]) = jet
        except Exception:
            for k in range(10):
                out[k] = math.nan

    return callback


def _short(message: str) -> str:
    """Return the first line of a message of Numba's that says why."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", message)
    lines = [line.strip() for line in plain.splitlines()]
    telling = [line for line in lines if line and not line.startswith("Failed in nopython mode")]
    return telling[0] if telling else "no reason given"


@intrinsic
def _call_address(typing: Any, address: Any, x: Any, y: Any, z: Any) -> Any:
    """Call the C function void(double, double, double, double *) at an address."""
    jet = types.UniTuple(types.float64, 10)
    signature = jet(types.int64, types.float64, types.float64, types.float64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        kind = ir.FunctionType(ir.VoidType(), [double, double, double, double.as_pointer()])
        pointer = builder.inttoptr(arguments[0], kind.as_pointer())
        out = cgutils.alloca_once(builder, double, size=10)
        builder.call(pointer, [*arguments[1:], out])
        values = [builder.load(cgutils.gep_inbounds(builder, out, k)) for k in range(10)]
        return context.make_tuple(builder, jet, values)

    return signature, generate


def _call_known(address: int, x: float, y: float, z: float) -> Jet:
    try:
        return _KEPT[int(address)][0](x, y, z)
    except Exception:
        return NOWHERE


call: Any = _call_known if _settings.DISABLE_JIT else _call_address
"""call(address, x, y, z) -> Jet, for kernels."""

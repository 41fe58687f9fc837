"""Several simulations in one vector register: a number type for compiled code.

A value of this type holds one double for each of WIDTH simulations, its lanes; `+ - * /` and the
functions below act on each lane alone, rounded as on a plain float. Code that uses nothing else
is written once and compiled twice: for floats, and for lanes. A lane gets bit for bit what the
float would get.

Memory is a flat array of slots. `read` and `write` take the slot's number; with lanes a slot is
WIDTH doubles wide. Which of the two is meant is told by `unit`: 1.0, or UNIT for lanes.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, config, types
from numba.core.typing import templates
from numba.extending import (
    NativeValue,
    intrinsic,
    lower_builtin,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numpy.typing import NDArray

from tendon_gym.compiled import inlined

WIDTH = 8
"""Lanes: one 512-bit register, or two of 256 bits, which overlap their waiting."""

_settings: Any = config
_infer_global: Any = templates.infer_global

_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, WIDTH)


class LanesType(types.Type):
    """The type of a value with WIDTH lanes."""

    def __init__(self) -> None:
        """Name it."""
        super().__init__(name=f"lanes{WIDTH}")


LANES = LanesType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


class _Unit:
    """What Python hands to compiled code in the place of 1.0."""


UNIT = _Unit()
"""1.0 in every lane."""


@typeof_impl.register(_Unit)
def _type_of_unit(value: Any, context: Any) -> Any:
    return LANES


@unbox(LanesType)
def _open_unit(kind: Any, value: Any, context: Any) -> Any:
    one = ir.Constant(_DOUBLE, 1.0)
    return NativeValue(_splat(context.builder, one))


def _is_lanes(*kinds: Any) -> bool:
    return any(isinstance(kind, LanesType) for kind in kinds)


def _splat(builder: Any, value: Any) -> Any:
    index = ir.IntType(32)
    empty = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(empty, value, ir.Constant(index, 0))
    zeros = ir.Constant(ir.VectorType(index, WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(first, empty, zeros)


def _as_lanes(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, LanesType):
        return value
    return _splat(builder, context.cast(builder, value, kind, types.float64))


def _as_double(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.cast(builder, value, kind, types.float64)


def _define(operation: Callable, emit: Callable) -> None:
    """Define a binary operator on lanes, or on lanes and a number."""

    @_infer_global(operation)
    class Typing(templates.AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            return LANES(*args) if len(args) == 2 and _is_lanes(*args) else None

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pairs = zip(signature.args, values, strict=True)
        return emit(builder, *(_as_lanes(context, builder, k, v) for k, v in pairs))

    for pair in ((LanesType, LanesType), (LanesType, types.Number), (types.Number, LanesType)):
        lower_builtin(operation, *pair)(lower)


_define(operator.add, lambda builder, a, b: builder.fadd(a, b))
_define(operator.sub, lambda builder, a, b: builder.fsub(a, b))
_define(operator.mul, lambda builder, a, b: builder.fmul(a, b))
_define(operator.truediv, lambda builder, a, b: builder.fdiv(a, b))


@_infer_global(operator.neg)
class _Negative(templates.AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return LANES(*args) if _is_lanes(*args) else None


@lower_builtin(operator.neg, LanesType)
def _lower_negative(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return builder.fneg(values[0])


def _llvm(name: str) -> Callable:
    """Return what generates a call of LLVM's function `name` on doubles or lanes."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if _is_lanes(*signature.args):
            kind, suffix, wide = _VECTOR, f"v{WIDTH}f64", _as_lanes
        else:
            kind, suffix, wide = _DOUBLE, "f64", _as_double
        pairs = zip(signature.args, values, strict=True)
        numbers = [wide(context, builder, k, v) for k, v in pairs]
        form = ir.FunctionType(kind, [kind] * len(numbers))
        function = cgutils.get_or_insert_function(builder.module, form, f"{name}.{suffix}")
        return builder.call(function, numbers)

    return generate


def _result(*kinds: Any) -> Any:
    return LANES if _is_lanes(*kinds) else types.float64


@intrinsic
def _root(typing: Any, a: Any) -> Any:
    return _result(a)(a), _llvm("llvm.sqrt")


@intrinsic
def _magnitude(typing: Any, a: Any) -> Any:
    return _result(a)(a), _llvm("llvm.fabs")


@intrinsic
def _muladd(typing: Any, a: Any, b: Any, c: Any) -> Any:
    return _result(a, b, c)(a, b, c), _llvm("llvm.fma")


@intrinsic
def _larger(typing: Any, a: Any, b: Any) -> Any:
    return _result(a, b)(a, b), _llvm("llvm.maxnum")


@intrinsic
def _smaller(typing: Any, a: Any, b: Any) -> Any:
    return _result(a, b)(a, b), _llvm("llvm.minnum")


def _address(context: Any, builder: Any, signature: Any, values: Any, kind: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, values[0])
    slot = context.cast(builder, values[1], signature.args[1], types.intp)
    if kind is _VECTOR:
        slot = builder.mul(slot, ir.Constant(slot.type, WIDTH))
    return builder.bitcast(builder.gep(array.data, [slot]), kind.as_pointer())


@intrinsic
def _read(typing: Any, memory: Any, slot: Any, unit: Any) -> Any:
    kind = _VECTOR if _is_lanes(unit) else _DOUBLE

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        # numpy aligns to 16 bytes, so no more may be promised than what a double needs
        return builder.load(_address(context, builder, signature, values, kind), align=8)

    return _result(unit)(memory, slot, unit), generate


@intrinsic
def _write(typing: Any, memory: Any, slot: Any, value: Any) -> Any:
    kind = _VECTOR if _is_lanes(value) else _DOUBLE

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _address(context, builder, signature, values, kind)
        builder.store(values[2], place, align=8)
        return context.get_dummy_value()

    return types.void(memory, slot, value), generate


def _lowered(instruction: Any) -> Callable[[Any], Any]:
    """Put an instruction in the place of a plain function, unless all is plain Python."""
    return lambda plain: plain if _settings.DISABLE_JIT else instruction


@_lowered(_root)
def root(a: Any) -> Any:
    """Return the square root."""
    return math.sqrt(a)


@_lowered(_magnitude)
def magnitude(a: Any) -> Any:
    """Return |a|."""
    return abs(a)


@_lowered(_muladd)
def muladd(a: Any, b: Any, c: Any) -> Any:
    """Return a b + c, rounded once by the processor (and twice in plain Python)."""
    return a * b + c


@_lowered(_larger)
def larger(a: Any, b: Any) -> Any:
    """Return the larger of two numbers."""
    return max(a, b)


@_lowered(_smaller)
def smaller(a: Any, b: Any) -> Any:
    """Return the smaller of two numbers."""
    return min(a, b)


@_lowered(_read)
def read(memory: NDArray, slot: int, unit: Any) -> Any:
    """Return what a slot holds."""
    return memory[slot]


@_lowered(_write)
def write(memory: NDArray, slot: int, value: Any) -> None:
    """Put a value into a slot."""
    memory[slot] = value


# pi / 2 in three parts, the first two with 33 bits: their products with a small integer are exact.
_HALF_PI = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
# Adding and taking away this number rounds to the nearest integer.
_ROUND = 6755399441055744.0


@inlined
def sine_cosine(angle: Any) -> tuple[Any, Any]:
    """Return (sin, cos) of an angle, rad, to 1e-16 for |angle| < 1e6: no table, no branch.

    The angle is taken to [-pi/4, pi/4] as in W. J. Cody and W. Waite, Software Manual for the
    Elementary Functions, 1980; there both are polynomials.
    """
    turns = (angle * (2.0 / math.pi) + _ROUND) - _ROUND
    x = muladd(turns, -_HALF_PI[0], angle)
    x = muladd(turns, -_HALF_PI[1], x)
    x = muladd(turns, -_HALF_PI[2], x)
    z = x * x
    odd = muladd(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08)
    odd = muladd(z, odd, 2.75573137070700676789e-06)
    odd = muladd(z, odd, -1.98412698298579493134e-04)
    odd = muladd(z, odd, 8.33333333332248946124e-03)
    odd = muladd(z, odd, -1.66666666666666324348e-01)
    sine = muladd(x * z, odd, x)
    even = muladd(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09)
    even = muladd(z, even, -2.75573143513906633035e-07)
    even = muladd(z, even, 2.48015872894767294178e-05)
    even = muladd(z, even, -1.38888888888741095749e-03)
    even = muladd(z, even, 4.16666666666666019037e-02)
    cosine = muladd(z * z, even, muladd(z, -0.5, 1.0))
    # Back by quarter turns: their sine and cosine are -1, 0 or 1, exactly.
    quarter = muladd((turns * 0.25 + _ROUND) - _ROUND, -4.0, turns)
    size = magnitude(quarter)
    up, across = quarter * (2.0 - size), 1.0 - size
    return muladd(sine, across, cosine * up), muladd(cosine, across, -(sine * up))

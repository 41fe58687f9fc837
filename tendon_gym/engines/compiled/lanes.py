"""Several simulations in one vector register: a number type for compiled code.

A value of this type holds one double for each of WIDTH simulations, its lanes; `+ - * /` and the
functions below act on each lane alone, rounded as on a plain float. Code that uses nothing else
is written once and compiled twice: for floats, and for lanes. A lane gets bit for bit what the
float would get.

Memory is a flat array of slots. `read` and `write` take the slot's number; with lanes a slot is
WIDTH doubles wide. Which of the two is meant is told by `unit`: 1.0, or `lanes_of(1.0)`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, overload, register_model
from numpy.typing import NDArray

from tendon_gym.compiled import inlined

WIDTH = 8
"""Lanes: one 512-bit register, or two of 256 bits, which overlap their waiting."""

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


def _define(operation: Callable, emit: Callable) -> None:
    """Define a binary operator on lanes, or on lanes and a number."""

    @intrinsic
    def on_lanes(typing: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            pairs = zip(signature.args, values, strict=True)
            return emit(builder, *(_as_lanes(context, builder, k, v) for k, v in pairs))

        return LANES(a, b), generate

    @overload(operation, strict=False)
    def choose(a: Any, b: Any) -> Any:
        if _is_lanes(a, b):
            return lambda a, b: on_lanes(a, b)
        return None


_define(operator.add, lambda builder, a, b: builder.fadd(a, b))
_define(operator.sub, lambda builder, a, b: builder.fsub(a, b))
_define(operator.mul, lambda builder, a, b: builder.fmul(a, b))
_define(operator.truediv, lambda builder, a, b: builder.fdiv(a, b))


@intrinsic
def _negative(typing: Any, a: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.fneg(values[0])

    return LANES(a), generate


@overload(operator.neg, strict=False)
def _choose_negative(a: Any) -> Any:
    return (lambda a: _negative(a)) if _is_lanes(a) else None


def _llvm(name: str, count: int) -> Any:
    """Return an intrinsic for LLVM's function `name` of `count` doubles or lanes."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if _is_lanes(*signature.args):
            kind, suffix = _VECTOR, f"v{WIDTH}f64"
            pairs = zip(signature.args, values, strict=True)
            values = [_as_lanes(context, builder, k, v) for k, v in pairs]
        else:
            kind, suffix = _DOUBLE, "f64"
        form = ir.FunctionType(kind, [kind] * count)
        function = cgutils.get_or_insert_function(builder.module, form, f"{name}.{suffix}")
        return builder.call(function, values)

    def result(*kinds: Any) -> Any:
        return LANES if _is_lanes(*kinds) else types.float64

    if count == 1:

        @intrinsic
        def unary(typing: Any, a: Any) -> Any:
            return result(a)(a), generate

        return unary

    if count == 2:

        @intrinsic
        def binary(typing: Any, a: Any, b: Any) -> Any:
            return result(a, b)(a, b), generate

        return binary

    @intrinsic
    def ternary(typing: Any, a: Any, b: Any, c: Any) -> Any:
        return result(a, b, c)(a, b, c), generate

    return ternary


_root, _magnitude, _muladd = _llvm("llvm.sqrt", 1), _llvm("llvm.fabs", 1), _llvm("llvm.fma", 3)
_larger, _smaller = _llvm("llvm.maxnum", 2), _llvm("llvm.minnum", 2)


def root(a: Any) -> Any:
    """Return the square root."""
    return math.sqrt(a)


@overload(root, strict=False)
def _choose_root(a: Any) -> Any:
    return lambda a: _root(a)


def magnitude(a: Any) -> Any:
    """Return |a|."""
    return abs(a)


@overload(magnitude, strict=False)
def _choose_magnitude(a: Any) -> Any:
    return lambda a: _magnitude(a)


def muladd(a: Any, b: Any, c: Any) -> Any:
    """Return a b + c, rounded once by the processor (and twice in plain Python)."""
    return a * b + c


@overload(muladd, strict=False)
def _choose_muladd(a: Any, b: Any, c: Any) -> Any:
    return lambda a, b, c: _muladd(a, b, c)


def larger(a: Any, b: Any) -> Any:
    """Return the larger of two numbers."""
    return max(a, b)


@overload(larger, strict=False)
def _choose_larger(a: Any, b: Any) -> Any:
    return lambda a, b: _larger(a, b)


def smaller(a: Any, b: Any) -> Any:
    """Return the smaller of two numbers."""
    return min(a, b)


@overload(smaller, strict=False)
def _choose_smaller(a: Any, b: Any) -> Any:
    return lambda a, b: _smaller(a, b)


@intrinsic
def _lanes_of(typing: Any, a: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _splat(builder, values[0])

    return LANES(types.float64), generate


def lanes_of(a: float) -> Any:
    """Return a value with `a` in every lane; compiled code only."""
    raise NotImplementedError("lanes exist in compiled code alone")


@overload(lanes_of, strict=False)
def _choose_lanes_of(a: Any) -> Any:
    return lambda a: _lanes_of(a)


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

    return (LANES if _is_lanes(unit) else types.float64)(memory, slot, unit), generate


@intrinsic
def _write(typing: Any, memory: Any, slot: Any, value: Any) -> Any:
    kind = _VECTOR if _is_lanes(value) else _DOUBLE

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _address(context, builder, signature, values, kind)
        builder.store(values[2], place, align=8)
        return context.get_dummy_value()

    return types.void(memory, slot, value), generate


def read(memory: NDArray, slot: int, unit: Any) -> Any:
    """Return what a slot holds."""
    return memory[slot]


@overload(read, strict=False)
def _choose_read(memory: Any, slot: Any, unit: Any) -> Any:
    return lambda memory, slot, unit: _read(memory, slot, unit)


def write(memory: NDArray, slot: int, value: Any) -> None:
    """Put a value into a slot."""
    memory[slot] = value


@overload(write, strict=False)
def _choose_write(memory: Any, slot: Any, value: Any) -> Any:
    return lambda memory, slot, value: _write(memory, slot, value)


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

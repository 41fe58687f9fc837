"""Boxes: many arrays as one argument of a compiled kernel.

Numba unpacks every array of a call, 0.04 us each, which adds up to as much as a small kernel takes.
A box is a reference to a tuple of them in Numba's own memory: one argument, whatever is in it.
Kernels open it by `.value`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
from numba.core import config, types
from numba.experimental import structref
from numpy.typing import NDArray

from tendon_gym.compiled import compiled

_settings: Any = config


@structref.register
class _BoxType(types.StructRef):
    """Numba's type of a box with something of a certain type in it."""

    def preprocess_fields(self, fields: Any) -> Any:
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


class _Box(structref.StructRefProxy):
    """A Python object that is nothing but a reference to a box in Numba's memory."""


class _PlainBox:
    """A box for kernels that are plain Python."""

    def __init__(self, value: Any) -> None:
        self.value = value


structref.define_proxy(_Box, _BoxType, ["value"])


@compiled
def _put(value: Any) -> Any:
    return _Box(value)


def box(value: Any, strided: Sequence[NDArray] = ()) -> Any:
    """Return a box with a (named) tuple of arrays, which kernels open by `.value`.

    Numba unpacks an array in 0.04 us, at every call; a box is one argument, whatever is in it.

    Args:
        value: the tuple, which may have tuples in it.
        strided: those of the arrays that may have gaps between their rows in another use of the
            kernel, so that it is compiled once for both.
    """
    if _settings.DISABLE_JIT:
        return _PlainBox(value)
    kind = _type_of(value, {id(array) for array in strided})
    put: Any = _put
    return put.compile((kind,))(value)


def _type_of(argument: Any, gaps: set[int]) -> Any:
    """Return Numba's type of an argument, of any layout for the arrays with an id in `gaps`."""
    kind: Any = numba.typeof(argument)
    if id(argument) in gaps:
        return kind.copy(layout="A")
    if isinstance(argument, tuple):
        inner = [_type_of(item, gaps) for item in argument]
        return types.BaseTuple.from_types(inner, type(argument))
    return kind

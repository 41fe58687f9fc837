"""Boxes: many arrays as one argument of a compiled kernel.

Numba unpacks every array of a call, 0.04 us each, which adds up to as much as a small kernel takes.
A box is a copy of Numba's own form of a tuple of arrays, in memory that stays where it is: one
argument, whatever is in it. Kernels open it by `.value`, which reads that memory and counts no
references: the Python object of the box keeps the arrays alive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import config, types
from numba.core.imputils import impl_ret_borrowed
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numpy.typing import NDArray

from tendon_gym.compiled import compiled

_settings: Any = config


class Box:
    """A tuple, and Numba's form of it at `address`.

    Attributes:
        value: the tuple.
        kind: Numba's type of it.
        address: where its Numba form begins.
    """

    def __init__(self, value: Any, kind: Any) -> None:
        """Copy the tuple's Numba form to memory that lives as long as this object."""
        self.value, self.kind = value, kind
        context: Any = cpu_target.target_context
        size = context.get_abi_sizeof(context.get_data_type(kind))
        self._memory = np.zeros(size // 8 + 1, np.int64)
        self.address = self._memory.ctypes.data
        put: Any = _put
        put.compile((types.int64, kind))(self.address, value)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuse to be copied or pickled: the copy would hold the addresses of these arrays."""
        raise TypeError("a box can't be copied or pickled; make one of copies of its arrays")


class _PlainBox:
    """A box for kernels that are plain Python."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _BoxType(types.Type):
    """Numba's type of a box with something of a certain type in it."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        super().__init__(name=f"Box({kind})")


@typeof_impl.register(Box)
def _type_of_box(value: Box, _: Any) -> _BoxType:
    return _BoxType(value.kind)


@register_model(_BoxType)
class _BoxModel(models.PrimitiveModel):
    """To a kernel a box is an address."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@unbox(_BoxType)
def _unbox(_: Any, box: Any, context: Any) -> NativeValue:
    address = context.pyapi.object_getattr_string(box, "address")
    number = context.pyapi.long_as_longlong(address)
    context.pyapi.decref(address)
    return NativeValue(number)


def _pointer(context: Any, builder: Any, address: Any, kind: Any) -> Any:
    data = context.data_model_manager[kind].get_data_type()
    return builder.inttoptr(address, data.as_pointer())


@intrinsic
def _store(_: Any, address: Any, value: Any) -> Any:
    """Write a tuple's Numba form to an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.data_model_manager[value].as_data(builder, arguments[1])
        builder.store(data, _pointer(context, builder, arguments[0], value))
        return context.get_dummy_value()

    return types.none(address, value), generate


@infer_getattr
class _BoxAttributes(AttributeTemplate):
    """What Numba may read of a box."""

    key = _BoxType

    def resolve_value(self, box: _BoxType) -> Any:
        """Return the type of the tuple."""
        return box.kind


@lower_getattr(_BoxType, "value")
def _open(context: Any, builder: Any, box: _BoxType, address: Any) -> Any:
    model = context.data_model_manager[box.kind]
    pointer = _pointer(context, builder, address, box.kind)
    value = model.load_from_data_pointer(builder, pointer)
    return impl_ret_borrowed(context, builder, box.kind, value)


@compiled
def _put(address: int, value: Any) -> None:
    store: Any = _store
    store(address, value)


def box(value: Any, strided: Sequence[NDArray] = ()) -> Any:
    """Return a box with a (named) tuple of arrays, which kernels open by `.value`.

    The kernels don't see later what is in the tuple's place, only what is in its arrays.

    Args:
        value: the tuple, which may have tuples in it.
        strided: those of the arrays that may have gaps between their rows in another use of the
            kernel, so that it is compiled once for both.
    """
    if _settings.DISABLE_JIT:
        return _PlainBox(value)
    return Box(value, _type_of(value, {id(array) for array in strided}))


def _type_of(argument: Any, gaps: set[int]) -> Any:
    """Return Numba's type of an argument, of any layout for the arrays with an id in `gaps`."""
    kind: Any = numba.typeof(argument)
    if id(argument) in gaps:
        return kind.copy(layout="A")
    if isinstance(argument, tuple):
        inner = [_type_of(item, gaps) for item in argument]
        return types.BaseTuple.from_types(inner, type(argument))
    return kind

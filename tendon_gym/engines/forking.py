"""What must not be taken down in the child of a fork.

A `mujoco.batch.Batch` has threads, and they don't come along. When a child lets go of one that its
parent made, if only because its garbage collector finds it, taking down the threads' lock waits
for them for ever. So a child keeps what there was at the fork.
"""

from __future__ import annotations

import os
import weakref
from typing import Any

from numpy.typing import NDArray

_arrays: dict[int, weakref.ref[Any]] = {}
_held: list[Any] = []


def keep_in_children(*arrays: NDArray) -> None:
    """Let the owner of the memory of these arrays live on in children that are forked later."""
    for array in arrays:
        key = id(array)
        _arrays[key] = weakref.ref(array, lambda _, key=key: _arrays.pop(key, None))


def _hold() -> None:
    found = [reference() for reference in list(_arrays.values())]
    _held.extend(array for array in found if array is not None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_held.clear)

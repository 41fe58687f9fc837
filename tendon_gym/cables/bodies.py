"""The bodies that cables are attached to: numbers, names or those of a MuJoCo model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks


@dataclass(frozen=True)
class Bodies:
    """How many bodies there are, and their names, '' for a body without one."""

    count: int
    names: tuple[str, ...]

    @classmethod
    def of(cls, value: Any) -> Bodies:
        """Read a number of bodies, a sequence of names, or an mjModel."""
        mujoco = sys.modules.get("mujoco")
        if mujoco is not None and isinstance(value, mujoco.MjModel):
            return cls(value.nbody, tuple(value.body(b).name for b in range(value.nbody)))
        if isinstance(value, Sequence) and not isinstance(value, str):
            names = tuple(value)
            if not all(isinstance(name, str) and name for name in names):
                raise TypeError(f"names of bodies must be strings, got {checks.shown(value)}")
            if len(set(names)) < len(names):
                checks.reject("names of bodies", value, "different from each other")
            checks.integer("number of bodies", len(names), minimum=1)
            return cls(len(names), names)
        count = checks.integer("number of bodies", value, minimum=1)
        return cls(count, ("",) * count)

    def index(self, body: object) -> int:
        """Return the index of a body that is given by it or by its name.

        Raises:
            KeyError: there is no such name.
            IndexError: there is no such index.
        """
        if isinstance(body, str):
            if not body or body not in self.names:
                known = ", ".join(name for name in self.names if name) or "none"
                raise KeyError(f"no body is named {body!r}; named bodies are {known}")
            return self.names.index(body)
        return index("body", body, self.count)


def index(name: str, value: object, count: int) -> int:
    """Return `value`, which must be an index below `count`.

    Raises:
        IndexError: it isn't.
    """
    result = checks.integer(name, value)
    if not 0 <= result < count:
        legal = f"from 0 to {count - 1}" if count else "given, as there are none"
        raise IndexError(f"{name} must be an index {legal}, got {result}")
    return result


def rotation(name: str, quaternion: ArrayLike) -> NDArray[np.float64]:
    """Return the rotation matrices (..., 3, 3) of quaternions (..., 4), (w, x, y, z)."""
    q = np.asarray(quaternion, dtype=np.float64)
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    if not (length > 1e-6).all():
        checks.reject(name, quaternion, "a quaternion (w, x, y, z) of unit length")
    w, x, y, z = np.moveaxis(q / length, -1, 0)
    rows = [
        [w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.ascontiguousarray(np.moveaxis(np.array(rows), (0, 1), (-2, -1)))

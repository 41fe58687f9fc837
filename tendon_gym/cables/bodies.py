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


def simulations(value: ArrayLike | None, count: int) -> NDArray[np.int64]:
    """Return which of `count` simulations are meant: one, a list of indices, or None for all.

    Raises:
        TypeError: not of integers, such as a mask.
        IndexError: there is no such simulation.
    """
    if value is None:
        return np.arange(count)
    try:
        given = np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise TypeError(f"simulations must be indices, got {checks.shown(value)}") from error
    if given.shape == (0,):
        return np.zeros(0, np.int64)
    if given.dtype.kind not in "iu":
        mask = given.dtype.kind == "b" and given.ndim
        hint = "; numpy.flatnonzero makes indices of a mask" if mask else ""
        raise TypeError(f"simulations must be indices, got {checks.shown(value)}{hint}")
    if given.ndim > 1:
        raise ValueError(f"simulations must be one index or a list, got {checks.shown(value)}")
    rows = np.atleast_1d(given)
    for row in rows[(rows < 0) | (rows >= count)]:
        raise IndexError(f"simulations must be indices from 0 to {count - 1}, got {row}")
    return rows.astype(np.int64)


def wrenches(value: object, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return `value`, which must be an array of forces and moments that can be added to."""
    legal = f"a float64 array of shape {shape}"
    if not isinstance(value, np.ndarray):
        raise TypeError(f"forces must be {legal}, got {checks.described(value)}")
    if value.shape != shape or value.dtype != np.float64:
        raise ValueError(f"forces must be {legal}, got {value.dtype} {value.shape}")
    if not value.flags.writeable:
        raise ValueError("forces must be an array that can be written to, got a read-only one")
    return value


def unit_quaternion(name: str, quaternion: ArrayLike) -> NDArray[np.float64]:
    """Return quaternions (..., 4), (w, x, y, z), at unit length."""
    q = np.asarray(quaternion, dtype=np.float64)
    largest = np.abs(q).max(axis=-1, keepdims=True)
    if not (largest > 1e-6).all():
        checks.reject(name, quaternion, "a quaternion (w, x, y, z) other than zero")
    q = np.ldexp(q, -np.frexp(largest)[1])  # exact, and no square is too large
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def rotation(name: str, quaternion: ArrayLike) -> NDArray[np.float64]:
    """Return the rotation matrices (..., 3, 3) of quaternions (..., 4), (w, x, y, z)."""
    w, x, y, z = np.moveaxis(unit_quaternion(name, quaternion), -1, 0)
    rows = [
        [w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.ascontiguousarray(np.moveaxis(np.array(rows), (0, 1), (-2, -1)))

"""Calling kernels from Python: one state or a batch, checked, or straight to the machine code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.chains import batches, composite, dynamics, kinematics
from tendon_gym.chains.segments import SEGMENT
from tendon_gym.compiled import entry

_ARRAY = np.ndarray
_FLOAT = np.dtype(np.float64)


def is_state(value: object, shape: tuple[int, ...]) -> bool:
    """Return whether a value is an array of floats of just this shape, as machine code wants it."""
    return type(value) is _ARRAY and value.shape == shape and value.dtype == _FLOAT


def work_arrays(joints: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what kernels need besides: rows of three numbers per joint, and a square matrix."""
    return np.empty((joints, composite.ROWS, 3)), np.empty((joints, joints))


class Kernel:
    """A kernel for one state and its brother for batches, compiled when they are first called.

    Args:
        one: the kernel (segments, *states, out), with what the base does before out if `based`.
        many: the same for batches.
        states: names of the states, as messages call them.
        axes: number of axes of what it writes for one state.
        based: whether it takes what the base does.
        works: how many work arrays it takes.
    """

    def __init__(
        self,
        one: Callable[..., bool],
        many: Callable[..., bool],
        states: tuple[str, ...],
        axes: int,
        based: bool = False,
        works: int = 0,
    ) -> None:
        self._kernels = one, many
        self._states = states
        self._axes = axes
        self._based = based
        self._works = works

    @functools.cached_property
    def one(self) -> Callable[..., bool]:
        """The kernel's machine code, for arrays of just the right types."""
        return self._compile(0)

    @functools.cached_property
    def many(self) -> Callable[..., bool]:
        """The same for batches."""
        return self._compile(1)

    def _compile(self, batched: int) -> Callable[..., bool]:
        def strided(axes: int) -> NDArray:  # arguments may have gaps
            return np.empty((2,) * (axes + 1))[..., 0]

        arguments = [strided(1 + batched) for _ in self._states]
        arguments += [strided(2 + batched)] * self._based
        arguments += work_arrays(1)[: self._works]
        out = np.empty((1,) * (self._axes + batched))
        return entry(self._kernels[batched], np.empty(1, SEGMENT), *arguments, out)

    def checked(
        self,
        segments: NDArray[np.void],
        shape: tuple[int, ...],
        states: tuple[Any, ...],
        base: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Return what the kernel makes of anything that can be read as states, after all checks.

        Args:
            segments: the chain's constants.
            shape: of what comes out for one state.
            states: arrays (joints,) or (batch, joints).
            base: what the base does, (3, 3) or (batch, 3, 3), if the kernel takes that.

        Raises:
            ValueError: a wrong shape, NaN or infinities, or a singular mass matrix.
            TypeError: what is no array of numbers.
        """
        joints: tuple[int, ...] = (len(segments) - 1,)
        given: list[tuple[str, Any, tuple[int, ...]]] = []
        given += [(name, state, joints) for name, state in zip(self._states, states, strict=True)]
        if self._based:
            given.append(("base", base, (3, 3)))
        arrays, sizes = [], {}
        for name, value, legal in given:
            batched = np.ndim(value) > len(legal)
            array = checks.array(name, value, (None, *legal) if batched else legal)
            if batched:
                sizes[name] = len(array)
            arrays.append((array, legal))
        size = next(iter(sizes.values()), 1)
        if any(other != size for other in sizes.values()):
            raise ValueError(f"batches must have one size, got {checks.shown(sizes)}")
        out = np.empty((size, *shape))
        spread = [np.broadcast_to(array, (size, *legal)) for array, legal in arrays]
        work = work_arrays(joints[0])[: self._works]
        if not self.many(segments, *spread, *work, out):
            raise ValueError("the mass matrix is singular: a joint moves nothing that has a mass")
        return out if sizes else out[0]


POSE = Kernel(kinematics.tip_pose, batches.tip_pose, ("q",), 2)
TWIST = Kernel(kinematics.tip_twist, batches.tip_twist, ("q", "v"), 1)
JACOBIAN = Kernel(kinematics.tip_jacobian, batches.tip_jacobian, ("q",), 2)
JACOBIAN_RATE = Kernel(
    kinematics.tip_jacobian_rate, batches.tip_jacobian_rate, ("q", "v"), 2, works=1
)
GRAVITY = Kernel(dynamics.gravity_torques, batches.gravity_torques, ("q",), 1, based=True, works=1)
BIAS = Kernel(dynamics.bias_torques, batches.bias_torques, ("q", "v"), 1, based=True, works=1)
TORQUES = Kernel(
    dynamics.joint_torques, batches.joint_torques, ("q", "v", "a"), 1, based=True, works=1
)
MASS = Kernel(composite.mass_matrix, batches.mass_matrix, ("q",), 2, works=1)
CORIOLIS = Kernel(composite.coriolis_matrix, batches.coriolis_matrix, ("q", "v"), 2, works=1)
ACCELERATIONS = Kernel(
    composite.joint_accelerations,
    batches.joint_accelerations,
    ("q", "v", "torque"),
    1,
    based=True,
    works=2,
)

"""Calling kernels from Python: one state or a batch, with little on top of the kernel itself."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.chains import batches, composite, dynamics, kinematics
from tendon_gym.chains.segments import SEGMENT
from tendon_gym.compiled import entry

_FLOAT = np.dtype(np.float64)


class Kernel:
    """A kernel for one state and its brother for batches, compiled when they are first called.

    Args:
        one: the kernel (segments, *states, out), with what the base does before out if `based`.
        many: the same for batches.
        states: names of the states, as messages call them.
        axes: number of axes of what it writes for one state.
        based: whether it takes what the base does.
    """

    def __init__(
        self,
        one: Callable[..., bool],
        many: Callable[..., bool],
        states: tuple[str, ...],
        axes: int,
        based: bool = False,
    ) -> None:
        self._kernels = one, many
        self._states = states
        self._axes = axes
        self._based = based

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
        out = np.empty((1,) * (self._axes + batched))
        return entry(self._kernels[batched], np.empty(1, SEGMENT), *arguments, out)

    def __call__(
        self,
        segments: NDArray[np.void],
        shape: tuple[int, ...],
        states: tuple[Any, ...],
        base: tuple[NDArray[np.float64], ...] = (),
    ) -> NDArray[np.float64]:
        """Return a new array of what the kernel makes of one state, or of a batch.

        Args:
            segments: the chain's constants.
            shape: of what comes out for one state.
            states: arrays (joints,) or (batch, joints).
            base: what the base does, (3, 3) or (batch, 3, 3), checked, if the kernel takes that.

        Raises:
            ValueError: a wrong shape, NaN or infinities, or a singular mass matrix.
            TypeError: what is no array of numbers.
        """
        expected = (len(segments) - 1,)
        for state in states:
            if type(state) is not np.ndarray or state.shape != expected or state.dtype != _FLOAT:
                return self._checked(segments, shape, states, base)
        if base and base[0].ndim != 2:
            return self._checked(segments, shape, states, base)
        out = np.empty(shape)
        if not self.one(segments, *states, *base, out):
            return self._checked(segments, shape, states, base)
        return out

    def _checked(
        self,
        segments: NDArray[np.void],
        shape: tuple[int, ...],
        states: tuple[Any, ...],
        base: tuple[NDArray[np.float64], ...],
    ) -> NDArray[np.float64]:
        """Return the same of anything that can be read as states, after all checks."""
        axes = [np.ndim(state) for state in states]
        joints = len(segments) - 1
        arrays = {
            name: checks.array(name, state, (None, joints) if axis == 2 else (joints,))
            for name, state, axis in zip(self._states, states, axes, strict=True)
        }
        batched = 2 in axes or any(array.ndim == 3 for array in base)
        sizes = {name: len(array) for name, array in arrays.items() if array.ndim == 2}
        sizes |= {"base": len(array) for array in base if array.ndim == 3}
        size = max(sizes.values(), default=1)
        if any(length != size for length in sizes.values()):
            raise ValueError(f"batches must have one size, got {checks.shown(sizes)}")
        spread = [np.broadcast_to(array, (size, joints)) for array in arrays.values()]
        spread += [np.broadcast_to(array, (size, 3, 3)) for array in base]
        out = np.empty((size, *shape))
        if not self.many(segments, *spread, out):
            raise ValueError("the mass matrix is singular: a joint moves nothing that has a mass")
        return out if batched else out[0]


POSE = Kernel(kinematics.tip_pose, batches.tip_pose, ("q",), 2)
TWIST = Kernel(kinematics.tip_twist, batches.tip_twist, ("q", "v"), 1)
JACOBIAN = Kernel(kinematics.tip_jacobian, batches.tip_jacobian, ("q",), 2)
JACOBIAN_RATE = Kernel(kinematics.tip_jacobian_rate, batches.tip_jacobian_rate, ("q", "v"), 2)
GRAVITY = Kernel(dynamics.gravity_torques, batches.gravity_torques, ("q",), 1, based=True)
BIAS = Kernel(dynamics.bias_torques, batches.bias_torques, ("q", "v"), 1, based=True)
TORQUES = Kernel(dynamics.joint_torques, batches.joint_torques, ("q", "v", "a"), 1, based=True)
MASS = Kernel(composite.mass_matrix, batches.mass_matrix, ("q",), 2)
CORIOLIS = Kernel(composite.coriolis_matrix, batches.coriolis_matrix, ("q", "v"), 2)
ACCELERATIONS = Kernel(
    composite.joint_accelerations,
    batches.joint_accelerations,
    ("q", "v", "torque"),
    1,
    based=True,
)

"""From random numbers to the start of an episode, as a compiled kernel."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.boxes import box
from tendon_gym.compiled import compiled, entry, inlined
from tendon_gym.envs.schedule import Course, follow_one
from tendon_gym.spatial import multiply, turn

DRAWS = 17
"""Numbers drawn for every start: the phase, the base (12) and the arm (4)."""


class Drawing(NamedTuple):
    """What is drawn, and how widely.

    Attributes:
        free: whether the base flies.
        links: number of links.
        position: m, spread along each axis.
        velocity: m/s, spread along each axis.
        tilt: rad, spread of roll and of pitch.
        yaw: rad, spread.
        angular_velocity: rad/s, spread about each axis.
        bend: rad, spread of the whole arm's about the base's x and y axes.
        bend_rate: rad/s, spread of the same's velocity.
        joint_qpos: (2N,), addresses of the hinges x, y of link 1, x, y of link 2 ...
        joint_dofs: (2N,), the same in qvel.
        course: the references.
    """

    free: bool
    links: int
    position: float
    velocity: float
    tilt: float
    yaw: float
    angular_velocity: float
    bend: float
    bend_rate: float
    joint_qpos: NDArray[np.int64]
    joint_dofs: NDArray[np.int64]
    course: Course


class Drawer:
    """Draws starts of n simulations."""

    def __init__(self, drawing: Drawing, nq: int, nv: int) -> None:
        """Bind the kernels to what they work on, for states (k, nq) and (k, nv)."""
        self._drawing = box(drawing)
        ids, draws = np.zeros(1, np.int64), np.zeros((1, DRAWS))
        self._phases = entry(draw_phases, ids, draws, self._drawing)
        state = np.zeros((1, nq)), np.zeros((1, nv))
        self._states = entry(draw_states, ids, draws, *state, self._drawing)

    def phases(self, ids: NDArray[np.int64], draws: NDArray[np.float64]) -> None:
        """Put the simulations `ids` (k,) anywhere in a round of references that never end.

        `draws` (k, DRAWS), from -1 to 1, say where. What ends is begun at its beginning.
        """
        self._phases(ids, draws, self._drawing)

    def states(
        self,
        ids: NDArray[np.int64],
        draws: NDArray[np.float64],
        qpos: NDArray[np.float64],
        qvel: NDArray[np.float64],
    ) -> None:
        """Draw states near the references: the base by its free joint, the arm evenly bent.

        Args:
            ids: (k,), simulations.
            draws: (k, DRAWS), from -1 to 1.
            qpos: (k, nq), the model's own, overwritten.
            qvel: (k, nv), zeros, overwritten.
        """
        self._states(ids, draws, qpos, qvel, self._drawing)


@compiled
def draw_phases(ids: NDArray, draws: NDArray, box: Any) -> None:
    """See `Drawer.phases`."""
    course = box.value.course
    for row in range(ids.shape[0]):
        i = ids[row]
        first, slowest = course.first_row[i], math.inf
        frequency = course.rows["frequency"][first]
        for h in range(frequency.shape[0]):
            if frequency[h] > 0.0:
                slowest = min(slowest, frequency[h])
        course.phase[i] = 0.0
        if math.isinf(course.rows["end"][first]) and slowest < math.inf:
            course.phase[i] = (draws[row, 0] + 1.0) * math.pi / slowest


@compiled
def draw_states(ids: NDArray, draws: NDArray, qpos: NDArray, qvel: NDArray, box: Any) -> None:
    """See `Drawer.states`; the setpoints are scratch."""
    drawing = box.value
    for row in range(ids.shape[0]):
        if drawing.free:
            _draw_base(ids[row], draws[row, 1:13], qpos[row], qvel[row], drawing)
        for k in range(2 * drawing.links):
            bend, rate = draws[row, 13 + k % 2], draws[row, 15 + k % 2]
            qpos[row, drawing.joint_qpos[k]] = drawing.bend * bend / drawing.links
            qvel[row, drawing.joint_dofs[k]] = drawing.bend_rate * rate / drawing.links


@inlined
def _draw_base(i: int, draws: NDArray, qpos: NDArray, qvel: NDArray, drawing: Any) -> None:
    follow_one(i, 0.0, drawing.course)
    setpoint = drawing.course.setpoint
    for k in range(3):
        qpos[k] = setpoint["position"][i, k] + drawing.position * draws[k]
        qvel[k] = setpoint["velocity"][i, k] + drawing.velocity * draws[3 + k]
        qvel[3 + k] = drawing.angular_velocity * draws[9 + k]
    roll = turn((1.0, 0.0, 0.0), drawing.tilt * draws[6])
    pitch = turn((0.0, 1.0, 0.0), drawing.tilt * draws[7])
    yaw = turn((0.0, 0.0, 1.0), setpoint["yaw"][i] + drawing.yaw * draws[8])
    attitude = multiply(multiply(yaw, pitch), roll)
    for k in range(4):
        qpos[3 + k] = attitude[k]

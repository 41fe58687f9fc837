"""Observations: named slices of one float32 vector, each with unit, frame and finite bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import inlined
from tendon_gym.envs.obstacles import OBSTACLE
from tendon_gym.envs.schedule import PREVIEW_WIDTH
from tendon_gym.envs.signals import SIGNALS
from tendon_gym.model import Layout
from tendon_gym.references.setpoint import SETPOINT

SIGNAL, TARGET, JOINT_ANGLE, JOINT_VELOCITY, LENGTH, CONTROL, PREVIEW, SCENE = range(8)

COMPLIANCE = {
    "joint_angles": ("joint_twists", "joint_stretches"),
    "joint_velocities": ("joint_twist_rates", "joint_stretch_rates"),
}
"""What follows a slice where the arm twists or stretches."""


@dataclass(frozen=True)
class Slice:
    """One named part of the observation.

    Attributes:
        name: what it is.
        start: its first index.
        stop: the index after its last.
        unit: of its numbers.
        frame: "world", "body", "body to world" (a rotation matrix, row by row) or "" for numbers
            without a direction.
        bound: largest magnitude that is shown; beyond it the observation is clipped.
    """

    name: str
    start: int
    stop: int
    unit: str
    frame: str
    bound: float

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.stop - self.start


@dataclass(frozen=True)
class _Item:
    """Where a slice comes from: a source and the columns of it."""

    name: str
    source: int
    columns: Sequence[int] | NDArray[np.int64]
    unit: str
    frame: str
    bound: float


def _field(dtype: np.dtype, field: str) -> range:
    """Return the columns of a field in a structured array that is read as a float64 matrix."""
    kind, offset = dtype.fields[field][:2]  # type: ignore[index]
    first = offset // 8
    return range(first, first + kind.itemsize // 8)


def _signal(name: str, unit: str, frame: str, bound: float) -> _Item:
    return _Item(name, SIGNAL, _field(SIGNALS, name), unit, frame, bound)


def _target(field: str, unit: str, frame: str, bound: float) -> _Item:
    return _Item("reference_" + field, TARGET, _field(SETPOINT, field), unit, frame, bound)


def as_matrix(rows: NDArray) -> NDArray[np.float64]:
    """Return structured rows (n,) of float64 fields as a matrix (n, columns) on the same memory."""
    return rows.view(np.float64).reshape(len(rows), rows.dtype.itemsize // 8)


class Items:
    """All slices that a task may observe, for one model."""

    def __init__(
        self,
        layout: Layout,
        reach: float,
        highest_thrust: float,
        highest_tension: float,
        preview_points: int,
    ) -> None:
        """Describe them; `reach` bounds lengths of the arm, in m."""
        rotors, tendons = layout.rotor_actuators, layout.tendon_actuators
        twists, stretches = layout.twist_qpos, layout.stretch_qpos
        items = [
            _signal("position_error", "m", "world", 10.0),
            _signal("velocity", "m/s", "world", 20.0),
            _signal("velocity_error", "m/s", "world", 20.0),
            _signal("rotation", "1", "body to world", 1.0),
            _signal("angular_velocity", "rad/s", "body", 50.0),
            _signal("yaw_error", "rad", "", math.pi),
            _Item("joint_angles", JOINT_ANGLE, layout.joint_qpos, "rad", "body", math.pi),
            _Item("joint_velocities", JOINT_VELOCITY, layout.joint_dofs, "rad/s", "body", 200.0),
            _Item("joint_twists", JOINT_ANGLE, twists, "rad", "body", math.pi),
            _Item("joint_twist_rates", JOINT_VELOCITY, layout.twist_dofs, "rad/s", "body", 200.0),
            _Item("joint_stretches", JOINT_ANGLE, stretches, "m", "body", reach),
            _Item("joint_stretch_rates", JOINT_VELOCITY, layout.stretch_dofs, "m/s", "body", 20.0),
            _signal("tip", "m", "body", reach),
            _signal("tip_velocity", "m/s", "body", 50.0),
            _Item("tendon_lengths", LENGTH, range(len(tendons)), "m", "", 2.0 * reach),
            _Item("thrusts", CONTROL, rotors, "N", "", highest_thrust),
            _Item("tensions", CONTROL, tendons, "N", "", highest_tension),
            _signal("tip_goal", "m", "body", 2.0 * reach),
            _target("velocity", "m/s", "world", 20.0),
            _target("acceleration", "m/s^2", "world", 50.0),
            _target("jerk", "m/s^3", "world", 500.0),
            _target("snap", "m/s^4", "world", 5000.0),
            _target("yaw_rate", "rad/s", "", 20.0),
            _target("yaw_acceleration", "rad/s^2", "", 200.0),
            _target("bend", "1", "body", 1.0),
            *_preview(preview_points),
            *_rig(),
        ]
        self.by_name: Mapping[str, _Item] = {item.name: item for item in items}


def _rig() -> list[_Item]:
    """Describe load, cable and obstacle, for tasks that have them."""
    return [
        _signal("load", "m", "world", 10.0),
        _signal("load_velocity", "m/s", "world", 20.0),
        _signal("load_error", "m", "world", 10.0),
        _signal("cable_pull", "N", "world", 100.0),
        _signal("cable_length", "m", "", 20.0),
        _signal("rest_length", "m", "", 20.0),
        _signal("cable_tension", "N", "", 100.0),
        _signal("turns", "1", "", 10.0),
        _signal("obstacle", "m", "world", 10.0),
        _Item("obstacle_axis", SCENE, _field(OBSTACLE, "axes")[6:], "1", "world", 1.0),
        _Item("obstacle_size", SCENE, _field(OBSTACLE, "size"), "m", "", 10.0),
        _Item("obstacle_kind", SCENE, _field(OBSTACLE, "kind"), "1", "", 1.0),
    ]


def _preview(points: int) -> list[_Item]:
    """Describe the preview: for each kind of number, all points one after another."""
    kinds = (
        ("preview_position", range(3), "m", "world", 20.0),
        ("preview_velocity", range(3, 6), "m/s", "world", 20.0),
        ("preview_acceleration", range(6, 9), "m/s^2", "world", 50.0),
        ("preview_bend", range(9, 11), "1", "body", 1.0),
    )
    return [
        _Item(
            name,
            PREVIEW,
            [p * PREVIEW_WIDTH + c for p in range(points) for c in columns],
            unit,
            frame,
            bound,
        )
        for name, columns, unit, frame, bound in kinds
        if points
    ]


class Sources(NamedTuple):
    """Where observations come from, in the order of SIGNAL ... SCENE.

    Attributes:
        signals: SIGNALS read as a float64 matrix, see `as_matrix`.
        setpoint: SETPOINT read as a float64 matrix.
        qpos: (n, nq).
        qvel: (n, nv).
        lengths: of the tendons (n, tendons), m.
        ctrl: (n, nu), N.
        preview: (n, points * PREVIEW_WIDTH).
        scene: OBSTACLE read as a float64 matrix, without rows for tasks that have none.
    """

    signals: NDArray[np.float64]
    setpoint: NDArray[np.float64]
    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    lengths: NDArray[np.float64]
    ctrl: NDArray[np.float64]
    preview: NDArray[np.float64]
    scene: NDArray[np.float64]


class Gathering(NamedTuple):
    """What `gather_one` works on.

    Attributes:
        sources: all of them.
        pool: (n, columns), the sources side by side, scratch.
        column: (size,), of the pool.
        bound: (size,).
        out: (n, size) float32, clipped to the bounds.
    """

    sources: Sources
    pool: NDArray[np.float64]
    column: NDArray[np.int64]
    bound: NDArray[np.float64]
    out: NDArray[np.float32]


class Observer:
    """Knows what is observed.

    Attributes:
        layout: the slices by name, in order.
        low: (size,) float32.
        high: (size,) float32.
    """

    def __init__(self, items: Items, names: Sequence[str]) -> None:
        """Choose the slices `names`; what the model doesn't have (no rotors) is left out."""
        chosen = [items.by_name[name] for name in names if name in items.by_name]
        chosen = [item for item in chosen if len(item.columns)]
        layout, start = {}, 0
        for item in chosen:
            stop = start + len(item.columns)
            layout[item.name] = Slice(item.name, start, stop, item.unit, item.frame, item.bound)
            start = stop
        self.layout: Mapping[str, Slice] = layout
        self._source = np.concatenate([np.full(len(i.columns), i.source) for i in chosen])
        self._column = np.concatenate([np.asarray(i.columns, np.int64) for i in chosen])
        self.high = np.concatenate([np.full(len(i.columns), i.bound, np.float32) for i in chosen])
        self.low = -self.high

    def gathering(self, sources: Sources) -> Gathering:
        """Return what gathers the observations of n simulations."""
        n, widths = len(sources.signals), [source.shape[1] for source in sources]
        offsets = np.concatenate([[0], np.cumsum(widths)])
        return Gathering(
            sources,
            pool=np.zeros((n, offsets[-1])),
            column=offsets[self._source] + self._column,
            bound=self.high.astype(np.float64),
            out=np.zeros((n, len(self.high)), np.float32),
        )


@inlined
def gather_one(i: int, gathering: Any) -> None:
    """Write the observation of simulation i."""
    sources, pool, out = gathering.sources, gathering.pool, gathering.out
    stop = _pour(i, sources.signals, pool, 0)
    stop = _pour(i, sources.setpoint, pool, stop)
    stop = _pour(i, sources.qpos, pool, stop)
    stop = _pour(i, sources.qvel, pool, stop)
    stop = _pour(i, sources.lengths, pool, stop)
    stop = _pour(i, sources.ctrl, pool, stop)
    stop = _pour(i, sources.preview, pool, stop)
    if i < sources.scene.shape[0]:
        _pour(i, sources.scene, pool, stop)
    column, bound = gathering.column, gathering.bound
    for j in range(out.shape[1]):
        out[i, j] = min(max(pool[i, column[j]], -bound[j]), bound[j])


@inlined
def _pour(i: int, source: NDArray, pool: NDArray, start: int) -> int:
    """Copy simulation i's row of a source to the pool; return where the next one starts."""
    for k in range(source.shape[1]):
        pool[i, start + k] = source[i, k]
    return start + source.shape[1]

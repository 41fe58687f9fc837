"""Flies one controller through several references side by side, and records everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from tendon_gym import baselines, references
from tendon_gym.baselines import Geometric, Policy
from tendon_gym.control import (
    LAW_FULL,
    LAW_PAPER,
    PAPER_GAINS,
    GeometricGains,
    TendonAllocation,
)
from tendon_gym.envs.core import Core
from tendon_gym.envs.observations import as_matrix
from tendon_gym.envs.signals import SIGNALS
from tendon_gym.envs.vector import TendonVectorEnv
from tendon_gym.evaluation.progress import Progress
from tendon_gym.references import Reference
from tendon_gym.registration import ENTRIES

Array = NDArray[np.float64]

LAWS = {"geometric_paper": LAW_PAPER, "geometric_full": LAW_FULL}
"""Controllers that have attitude gains and a tendon allocation to vary."""

REST = {
    "position": 0.0,
    "velocity": 0.0,
    "tilt": 0.0,
    "yaw": 0.0,
    "angular_velocity": 0.0,
    "bend": 0.0,
    "bend_rate": 0.0,
    "phase": "zero",
}
"""Start of all experiments: at rest on the reference, the arm straight."""

FAR = 10.0  # m: an experiment goes on where a learning episode would have ended
MARGIN = 1.0  # s by which a reference outlasts its flight, for policies that look ahead


@dataclass(frozen=True)
class Trip:
    """One flight to fly.

    Attributes:
        reference: its spec, see `references.make`.
        seconds: how long.
        gains: of the controller, if it is one of LAWS.
        older_map: whether such a controller allocates tensions by the older map.
    """

    reference: Mapping[str, Any]
    seconds: float
    gains: GeometricGains = PAPER_GAINS
    older_map: bool = False


@dataclass(frozen=True, eq=False)
class Flight:
    """One flown trip; sample k is the state at time[k], NaN after an early end.

    Attributes:
        time: (k,), s, from the first step's end on.
        signals: (k,) of SIGNALS.
        thrusts: (k, 4), N.
        shape: (links + 1, 3), the joints of the arm and its tip at the end, in body axes, m.
    """

    time: Array
    signals: NDArray[np.void]
    thrusts: Array
    shape: Array

    def index(self, time: float) -> int:
        """Return the sample of the state at `time`, s."""
        return round(time / self.time[0]) - 1

    def span(self, start: float, end: float) -> slice:
        """Return the samples with start < time <= end, s."""
        return slice(self.index(start) + 1, self.index(end) + 1)

    @property
    def error(self) -> Array:
        """Distance of the base from its reference, (k,), m."""
        return np.linalg.norm(self.signals["position_error"], axis=1)

    @property
    def lateral(self) -> Array:
        """Distance of the tip from the body's axis, (k,), m."""
        return np.linalg.norm(self.signals["tip"][:, :2], axis=1)

    @property
    def tip_offset(self) -> Array:
        """Way from the base to the tip in world axes, (k, 3), m."""
        return np.einsum("kij,kj->ki", self.signals["rotation"], self.signals["tip"])


def fly(
    controller: str,
    trips: Sequence[Trip],
    forces: Mapping[str, Mapping[str, Any]] | None = None,
    label: str = "flights",
) -> list[Flight]:
    """Fly all trips side by side in one vector environment of the paper's model.

    Args:
        controller: a name that `baselines.get` knows.
        trips: those with gains or the older map are for the controllers in LAWS.
        forces: force terms, the same for all.
        label: of the progress on stderr.
    """
    env, starts = _environment(controller, trips, forces or {})
    try:
        recorder = _Recorder(env.core, trips, f"{controller}: {label}")
        return recorder.record(env, starts, _policies(controller, env, trips))
    finally:
        env.close()


def side_by_side(parts: Sequence[Mapping[str, Any]]) -> Reference:
    """Return one reference in which the parts follow one another, each for its `seconds`.

    Simulations that start at different phases of it fly different parts at the same time.

    Args:
        parts: {"reference": its spec, "seconds": how long it lasts}; one that ends before stays.

    Raises:
        ValueError: a part that is no single reference, or that is cut where it ramps down.
    """
    tables, offset = [], 0.0
    for part in parts:
        source = references.make(part["reference"])
        if not isinstance(source, Reference):
            raise ValueError(f"a part must be one reference, got {part['reference']!r}")
        seconds = float(part["seconds"])
        rows = np.array(source.rows[source.rows["start"] < seconds])
        if rows["end"][-1] < seconds:
            stay = references.hover(source.at([source.duration])["position"][0]).rows
            rows = np.concatenate([rows, stay])
        rows["end"][-1] = seconds
        ends = offset + np.where(np.arange(len(rows)) < len(rows) - 1, rows["end"], seconds)
        rows["start"], rows["end"] = np.concatenate([[offset], ends[:-1]]), ends
        tables.append(rows)
        offset = ends[-1]
    return Reference("side_by_side", np.concatenate(tables))


def _environment(
    controller: str, trips: Sequence[Trip], forces: Mapping[str, Mapping[str, Any]]
) -> tuple[TendonVectorEnv, Array]:
    """Return the environment of all trips, and the phase (n,), s, at which each one starts."""
    references.register("side_by_side", side_by_side)
    entry = ENTRIES["Track"]
    lengths = [trip.seconds + MARGIN for trip in trips]
    parts = [
        {"reference": dict(trip.reference), "seconds": length}
        for trip, length in zip(trips, lengths, strict=True)
    ]
    settings = {
        **baselines.get(controller).interface(entry),
        "model": "paper",
        "reference": {"name": "side_by_side", "parts": parts},
        "horizon": max(lengths),
        "start": REST,
        "limits": {"distance": FAR},
        "forces": {name: dict(values) for name, values in forces.items()},
    }
    env: Any = gymnasium.make_vec(entry.id, num_envs=len(trips), **settings)
    return env, np.concatenate([[0.0], np.cumsum(lengths)[:-1]])


def _policies(
    controller: str, env: TendonVectorEnv, trips: Sequence[Trip]
) -> list[tuple[NDArray[np.int64], Policy]]:
    """Return one policy for all trips that are flown alike, with their indices."""
    groups: dict[tuple[GeometricGains, bool], list[int]] = {}
    for i, trip in enumerate(trips):
        groups.setdefault((trip.gains, trip.older_map), []).append(i)
    return [
        (np.array(ids), _policy(controller, env, gains, older))
        for (gains, older), ids in groups.items()
    ]


def _policy(controller: str, env: TendonVectorEnv, gains: GeometricGains, older: bool) -> Policy:
    if gains == PAPER_GAINS and not older:
        return baselines.get(controller).make(env)
    if controller not in LAWS:
        raise ValueError(f"{controller!r} has no gains and no allocation to vary")
    layout = env.core.layout
    tendons = [
        tuple(values.tolist())
        for values in (layout.tendon_angles, layout.tendon_radii, layout.tension_max)
    ]
    allocation = TendonAllocation(*tendons, kind="max_cos") if older else None
    return Geometric(env, controller, LAWS[controller], gains, allocation)


class _Recorder:
    """Keeps what happens in each simulation until its trip is over or has ended early."""

    def __init__(self, core: Core, trips: Sequence[Trip], label: str) -> None:
        self._core = core
        self._steps = np.array([round(trip.seconds / core.step_time) for trip in trips])
        n, most = len(trips), int(self._steps.max())
        self._progress = Progress(label, most)
        self._source = as_matrix(core.signals)
        self._signals = np.full((n, most, self._source.shape[1]), np.nan)
        self._thrusts = np.full((n, most, len(core.layout.rotor_actuators)), np.nan)
        self._shapes = np.full((n, len(core.layout.link_bodies) + 1, 3), np.nan)

    def record(
        self,
        env: TendonVectorEnv,
        starts: Array,
        policies: Sequence[tuple[NDArray[np.int64], Policy]],
    ) -> list[Flight]:
        """Fly until all trips are over."""
        observation, _ = env.reset(seed=0, options={"phase": starts})
        action = np.zeros(env.action_space.shape or (), np.float32)
        states: list[Any] = [None] * len(policies)
        flying = np.ones(env.num_envs, bool)
        for k in range(self._signals.shape[1]):
            for p, (ids, policy) in enumerate(policies):
                action[ids], states[p] = policy.predict(observation[ids], states[p])
            observation, _, terminated, _, _ = env.step(action)
            # the failed step's own state belongs to the flight, what a restart follows does not
            self._keep(k, np.flatnonzero(flying & (self._steps > k)))
            self._progress.step()
            flying &= ~terminated & (self._steps > k + 1)
            if not flying.any():
                break
        self._progress.close()
        return [self._flight(i) for i in range(env.num_envs)]

    def _keep(self, k: int, ids: NDArray[np.int64]) -> None:
        core = self._core
        self._signals[ids, k] = self._source[ids]
        self._thrusts[ids, k] = core.engine.ctrl[ids][:, core.layout.rotor_actuators]
        for i in ids[self._steps[ids] == k + 1]:
            motion, signals = core.engine.motion, core.signals[i]
            joints = motion.body_position[i, core.layout.link_bodies] - signals["position"]
            self._shapes[i] = np.vstack([joints @ signals["rotation"], signals["tip"]])

    def _flight(self, i: int) -> Flight:
        steps = int(self._steps[i])
        time = self._core.step_time * np.arange(1, steps + 1)
        signals = self._signals[i, :steps].view(SIGNALS)[:, 0]
        return Flight(time, signals, self._thrusts[i, :steps], self._shapes[i])

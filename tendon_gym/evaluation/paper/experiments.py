"""The experiments: what is flown, and what is read from the flights.

Each returns what it measured by the keys of `expected.EXPECTED`, in the units given there, and the
series that the figures are drawn from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym import references
from tendon_gym.control import PAPER_ATTITUDE_SETS
from tendon_gym.evaluation.paper import metrics
from tendon_gym.evaluation.paper.flights import LAWS, Flight, Trip, fly
from tendon_gym.references.library import HOVER_HEIGHT, START_HEIGHT

CM = 100.0
PHASES = ("hover", "climb", "figure-eight", "rotating bend", "return")
"""Of the mission, one row of its table each."""

MISSION_SECONDS = 36.0
GAINS_SINCE = 24.0  # s of the mission after which the attitude gains are compared
HOLD_SECONDS = 30.0
BEND_SECONDS = 5.0
MAGNITUDES = np.linspace(0.0, 1.0, 11)
DIRECTIONS = np.radians(np.arange(0.0, 360.0, 15.0))
PUSH = {"body": "link_12", "force": [2.0, 0.0, 0.0], "start": 1.0, "duration": 0.2}
PUSH_END = 1.2
PUSH_SECONDS = PUSH_END + 8.0
SETTLED = 0.01  # m
SERIES_STEP = 0.02  # s between samples that are kept for the figures


@dataclass
class Result:
    """What an experiment found.

    Attributes:
        values: by key.
        phases: of the mission: a row for each, see `_mission`.
        series: by name, plain lists.
        bend: by experiment and phase or flight: root mean squares of the bend's error (1 is the
            full moment) and of the tip's (m), which tell whether the bend was held.
    """

    values: dict[str, float] = field(default_factory=dict)
    phases: list[dict[str, Any]] = field(default_factory=list)
    series: dict[str, Any] = field(default_factory=dict)
    bend: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)

    def update(self, other: Result) -> None:
        """Add another experiment's findings."""
        self.values.update(other.values)
        self.phases.extend(other.phases)
        self.series.update(other.series)
        self.bend.update(other.bend)


def _hold(magnitude: float = 1.0, direction: float = 0.0) -> dict[str, Any]:
    return {
        "name": "bend_hold",
        "position": [0.0, 0.0, HOVER_HEIGHT],
        "magnitude": float(magnitude),
        "direction": float(direction),
        "ramp": 1.0,
    }


def mission_and_hold(controller: str) -> Result:
    """Fly the mission, with every attitude set that the controller has, and hold a bend."""
    mission = {"name": "mission"}
    trips = [Trip(mission, MISSION_SECONDS), Trip(_hold(), HOLD_SECONDS)]
    softer = {name: gains for name, gains in PAPER_ATTITUDE_SETS.items() if name != "nominal"}
    if controller in LAWS:
        trips += [Trip(mission, MISSION_SECONDS, gains) for gains in softer.values()]
    nominal, hold, *others = fly(controller, trips, label="mission and a held bend")
    result = _mission(nominal)
    result.update(_held(hold))
    if others:
        sets = dict(zip(softer, others, strict=True))
        result.values.update(_gains({**sets, "nominal": nominal}))
    return result


def _mission(flight: Flight) -> Result:
    offset, phases = flight.tip_offset, _spans(flight)
    distance = np.linalg.norm(offset[:, :2], axis=1)
    values = {
        "mission.rms": CM * metrics.rms(flight.error),
        "mission.rotating_bend_rms": CM * metrics.rms(flight.error[phases["rotating bend"]]),
        "mission.lowest_thrust": float(flight.thrusts.min()),
        "mission.highest_thrust": float(flight.thrusts.max()),
        "mission.tip_distance": CM * float(distance.max()),
        "mission.tip_off_axis": CM * float(flight.lateral.max()),
    }
    rows = [
        {
            "phase": name,
            "rms_cm": CM * metrics.rms(flight.error[span]),
            "maximum_cm": CM * float(flight.error[span].max()),
            "tip_cm": CM * float(distance[span].max()),
            "lowest_thrust_n": float(flight.thrusts[span].min()),
            "highest_thrust_n": float(flight.thrusts[span].max()),
        }
        for name, span in phases.items()
    ]
    position = flight.signals["position"]
    series = {
        "mission": _series(
            flight,
            position=position,
            reference=position + flight.signals["position_error"],
            tip=position + offset,
            error=flight.error,
        )
    }
    bend = {name: _bend_errors(flight, span) for name, span in phases.items()}
    return Result(values, rows, series, {"mission": bend})


def _spans(flight: Flight) -> dict[str, slice]:
    """Return the samples of the mission's phases."""
    rows = references.mission().rows
    spans = [flight.span(row["start"], row["end"]) for row in rows]
    return dict(zip(PHASES, spans, strict=True))


def _gains(flights: dict[str, Flight]) -> dict[str, float]:
    late = {
        name: CM * metrics.rms(flight.error[flight.span(GAINS_SINCE, MISSION_SECONDS)])
        for name, flight in flights.items()
    }
    softest = flights["softest"]
    # the only hover in which the base moves: the first one starts at rest, and stays so
    hover = softest.signals["position_error"][_spans(softest)["rotating bend"], :2]
    return {
        **{f"gains.{name}": value for name, value in late.items()},
        "gains.medium_over_soft": late["medium"] / late["soft"],
        "gains.nominal_over_medium": late["nominal"] / late["medium"],
        "gains.frequency": metrics.dominant_frequency(hover, softest.time[0]),
    }


def _held(flight: Flight) -> Result:
    values = {
        f"hold.drift_{time}": CM * float(flight.error[flight.index(time)]) for time in (5, 15, 30)
    }
    values["hold.tilt_30"] = math.degrees(flight.signals["tilt"][flight.index(HOLD_SECONDS)])
    return Result(values, bend={"hold": {"all": _bend_errors(flight, slice(None))}})


def bends(controller: str) -> Result:
    """Bend by several magnitudes, in several directions, and with the older tendon allocation."""
    trips = [Trip(_hold(magnitude), BEND_SECONDS) for magnitude in MAGNITUDES]
    trips += [Trip(_hold(direction=beta), BEND_SECONDS) for beta in DIRECTIONS]
    if controller in LAWS:
        older = (Trip(_hold(direction=b), BEND_SECONDS, older_map=True) for b in DIRECTIONS)
        trips += older
    flights = fly(controller, trips, label="bends")
    tips = np.array([flight.signals["tip"][-1] for flight in flights])
    sweep, round_about, older_tips = np.split(
        tips, [len(MAGNITUDES), len(MAGNITUDES) + len(DIRECTIONS)]
    )
    lateral, below = sweep[:, 0], -sweep[:, 2]
    radius = np.linalg.norm(round_about[:, :2], axis=1)
    values = {
        "bend.lateral": CM * float(lateral[-1]),
        "bend.below": CM * float(below[-1]),
        "bend.grows": float((np.diff(lateral) > 0.0).all()),
        "bend.saturates": float(metrics.saturates(MAGNITUDES, lateral)),
        "bend.rises": float((np.diff(below) < 0.0).all()),
        "bend.straight": CM * float(below[0]),
        "bend.radius_spread": 100.0 * metrics.spread(radius),
    }
    series = {
        "magnitudes": MAGNITUDES.tolist(),
        "magnitude_tips": sweep.tolist(),
        "shapes": [flight.shape.tolist() for flight in flights[: len(MAGNITUDES)]],
        "directions": DIRECTIONS.tolist(),
        "direction_tips": round_about.tolist(),
        "older_map_tips": older_tips.tolist(),
    }
    if len(older_tips):
        older_radius = np.linalg.norm(older_tips[:, :2], axis=1)
        values["bend.older_lowest"] = CM * float(older_radius.min())
        values["bend.older_highest"] = CM * float(older_radius.max())
    directions = range(len(MAGNITUDES), len(MAGNITUDES) + len(DIRECTIONS))
    bend = {f"flight {i}": _bend_errors(flights[i], slice(None)) for i in directions}
    return Result(values, [], {"bends": series}, {"bends": bend})


def push(controller: str) -> Result:
    """Push the arm's last link at hover."""
    hover = {"name": "hover", "position": [0.0, 0.0, START_HEIGHT]}
    trips, forces = [Trip(hover, PUSH_SECONDS)], {"external_wrench": PUSH}
    (flight,) = fly(controller, trips, forces, label="push")
    tilt = np.degrees(flight.signals["tilt"])
    values = {
        "push.swing": CM * float(flight.lateral.max()),
        "push.tilt": float(tilt.max()),
        "push.deviation": CM * float(flight.error.max()),
        "push.settling": metrics.settling_time(flight.time, flight.error, SETTLED, PUSH_END),
    }
    series: dict[str, Any] = _series(flight, lateral=flight.lateral, error=flight.error, tilt=tilt)
    series.update(start=PUSH["start"], end=PUSH_END)
    return Result(
        values, [], {"push": series}, {"push": {"all": _bend_errors(flight, slice(None))}}
    )


def fly_all(controller: str) -> Result:
    """Fly every experiment with one controller."""
    result = Result()
    for experiment in (mission_and_hold, bends, push):
        result.update(experiment(controller))
    return result


def _bend_errors(flight: Flight, span: slice) -> tuple[float, float]:
    signals = flight.signals[span]
    return metrics.rms(signals["bend_error"]), metrics.rms(signals["tip_error"])


def _series(flight: Flight, **values: NDArray) -> dict[str, list]:
    """Return samples every SERIES_STEP or, if the controller is slower, every step."""
    every = max(1, round(SERIES_STEP / flight.time[0]))
    chosen = {"time": flight.time, **values}
    return {name: np.round(array[::every], 6).tolist() for name, array in chosen.items()}

"""What the experiments read from flights, on flights made by hand and on real ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tendon_gym.envs.signals import SIGNALS
from tendon_gym.evaluation.paper import experiments, table
from tendon_gym.evaluation.paper.expected import EXPECTED, PUSH
from tendon_gym.evaluation.paper.flights import Flight

STEP = 0.002
PHASE_ERRORS = {(0, 4): 0.01, (4, 8): 0.02, (8, 24): 0.05, (24, 34): 0.03, (34, 36): 0.04}


def hand_made(seconds: float, scale: float = 1.0) -> Flight:
    """Return a level flight with a constant error along x in each phase of the mission."""
    time = STEP * np.arange(1, round(seconds / STEP) + 1)
    signals = np.zeros(len(time), SIGNALS)
    signals["rotation"] = np.eye(3)
    signals["tip"] = [0.03, 0.04, -0.5]
    for (start, end), error in PHASE_ERRORS.items():
        inside = (time > start + 1e-9) & (time < end + 1e-9)
        signals["position_error"][inside, 0] = scale * error
    # the hover after the figure-eight: a slow oscillation around the mean
    hover = (time > 24 + 1e-9) & (time < 34 + 1e-9)
    signals["position_error"][hover, 1] = 0.001 * scale * np.sin(2 * np.pi * 0.3 * time[hover])
    thrusts = np.full((len(time), 4), 3.0)
    thrusts[time > 30.0, 2] = 3.5
    return Flight(time, signals, thrusts, np.zeros((13, 3)))


@pytest.fixture
def by_hand(monkeypatch):
    scales = iter([1.0, 1.0, 8.0, 4.0, 2.0])

    def fly(controller, trips, forces=None, label=""):
        return [hand_made(trip.seconds, next(scales)) for trip in trips]

    monkeypatch.setattr(experiments, "fly", fly)


def test_the_mission_is_read_phase_by_phase(by_hand):
    result = experiments.mission_and_hold("geometric_paper")
    rms = [row["rms_cm"] for row in result.phases]
    assert rms == pytest.approx([1.0, 2.0, 5.0, math.hypot(3.0, 0.1 / math.sqrt(2)), 4.0])
    assert [row["phase"] for row in result.phases] == list(experiments.PHASES)
    squares = [(end - start) * error**2 for (start, end), error in PHASE_ERRORS.items()]
    overall = 100.0 * math.sqrt((sum(squares) + 10 * 0.5e-6) / 36.0)
    assert result.values["mission.rms"] == pytest.approx(overall)
    assert result.values["mission.rotating_bend_rms"] == pytest.approx(rms[3])
    assert result.values["mission.tip_distance"] == pytest.approx(5.0)
    assert result.values["mission.lowest_thrust"] == 3.0
    assert result.values["mission.highest_thrust"] == 3.5
    assert [row["highest_thrust_n"] for row in result.phases] == [3.0, 3.0, 3.0, 3.5, 3.5]


def test_the_attitude_sets_are_compared_after_the_figure_eight(by_hand):
    values = experiments.mission_and_hold("geometric_paper").values
    late = 100.0 * math.sqrt((10 * (0.03**2 + 0.5e-6) + 2 * 0.04**2) / 12.0)
    for name, scale in (("softest", 8.0), ("soft", 4.0), ("medium", 2.0), ("nominal", 1.0)):
        assert values[f"gains.{name}"] == pytest.approx(scale * late)
    assert values["gains.medium_over_soft"] == pytest.approx(0.5)
    assert values["gains.nominal_over_medium"] == pytest.approx(0.5)
    assert values["gains.frequency"] == pytest.approx(0.3, abs=0.02)


def test_the_held_bend_is_read_at_its_times(by_hand):
    values = experiments.mission_and_hold("geometric_paper").values
    drifts = [values[f"hold.drift_{time}"] for time in (5, 15, 30)]
    sway = 0.1 * math.sin(2 * math.pi * 0.3 * 30.0)
    assert drifts == pytest.approx([2.0, 5.0, math.hypot(3.0, sway)])


def test_a_controller_without_gains_flies_without_the_sets(by_hand):
    values = experiments.mission_and_hold("zero").values
    assert not [key for key in values if key.startswith("gains.")]


def test_the_distance_from_the_body_axis_is_not_the_horizontal_one(monkeypatch):
    flight = hand_made(36.0)
    angle = math.radians(30.0)  # about y: the body's axis leans towards +x
    c, s = math.cos(angle), math.sin(angle)
    flight.signals["rotation"] = [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]
    monkeypatch.setattr(experiments, "fly", lambda *_, **__: [flight, hand_made(30.0)])
    values = experiments.mission_and_hold("zero").values
    assert values["mission.tip_off_axis"] == pytest.approx(5.0)
    horizontal = 100.0 * math.hypot(c * 0.03 - s * 0.5, 0.04)
    assert values["mission.tip_distance"] == pytest.approx(horizontal)


def test_the_push_is_the_papers():
    """A real flight of 9.2 s: every judged row of the push within its tolerance."""
    result = experiments.push("geometric_paper")
    assert set(result.values) == set(PUSH)
    for key, value in result.values.items():
        assert table.judge(EXPECTED[key], value) == "pass", (key, value)
    time = np.array(result.series["push"]["time"])
    error = np.array(result.series["push"]["error"])
    assert (error[time < 1.0] < 1e-4).all()


def test_a_bend_is_the_papers(monkeypatch):
    """Real flights, fewer of them: the bend at 5 s, and both maps in two directions."""
    monkeypatch.setattr(experiments, "MAGNITUDES", np.array([0.0, 0.1, 0.2, 0.9, 1.0]))
    monkeypatch.setattr(experiments, "DIRECTIONS", np.radians([0.0, 60.0]))
    result = experiments.bends("geometric_paper")
    for key in ("lateral", "below", "grows", "saturates", "rises", "straight", "radius_spread"):
        value = result.values[f"bend.{key}"]
        assert table.judge(EXPECTED[f"bend.{key}"], value) == "pass", (key, value)
    # along a tendon the older map gives more moment than the newer one (1 to 0.87), between two
    # tendons less (0.5 to 0.87): the arm curls up more, and less
    older = [tip[2] for tip in result.series["bends"]["older_map_tips"]]
    equal = [tip[2] for tip in result.series["bends"]["direction_tips"]]
    assert older[0] > equal[0] + 0.01
    assert older[1] < equal[1] - 0.01

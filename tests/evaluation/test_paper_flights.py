"""Trips flown side by side are the trips flown alone, and are recorded as they were."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from tendon_gym import baselines, references
from tendon_gym.control import PAPER_ATTITUDE_SETS
from tendon_gym.evaluation.paper.flights import REST, Trip, fly, side_by_side
from tendon_gym.registration import ENTRIES

HOLD = {"name": "bend_hold", "magnitude": 0.8, "direction": 0.5, "ramp": 0.1}
EIGHT = {"name": "steady_figure_eight"}
SOFT = PAPER_ATTITUDE_SETS["soft"]


def test_parts_follow_one_another():
    parts = [
        {"reference": "mission", "seconds": 37.0},
        {"reference": HOLD, "seconds": 3.0},
        {"reference": {"name": "transition", "duration": 2.0}, "seconds": 5.0},
        {"reference": "steady_figure_eight", "seconds": 4.0},
    ]
    whole = side_by_side(parts)
    assert whole.duration == pytest.approx(49.0)
    offset = 0.0
    for part in parts:
        alone = references.make(part["reference"])
        times = np.linspace(0.0, part["seconds"] - 1e-6, 500)
        expected, got = alone.at(times), whole.at(times + offset)
        for name in expected.dtype.names:
            np.testing.assert_allclose(got[name], expected[name], atol=1e-9, err_msg=name)
        offset += part["seconds"]


def test_a_motion_that_ends_in_a_ramp_cannot_be_cut():
    with pytest.raises(ValueError, match="ramps"):
        side_by_side([{"reference": "figure_eight", "seconds": 3.0}])


def test_a_distribution_is_no_part():
    with pytest.raises(ValueError, match="must be one reference"):
        side_by_side([{"reference": "smooth", "seconds": 3.0}])


def test_trips_do_not_touch_each_other():
    trips = [Trip(HOLD, 0.4), Trip(EIGHT, 0.7), Trip(EIGHT, 0.5, SOFT), Trip(HOLD, 0.4)]
    together = fly("geometric_paper", trips)
    assert [len(flight.time) for flight in together] == [200, 350, 250, 200]
    for trip, flight in zip(trips[:3], together[:3], strict=True):
        (alone,) = fly("geometric_paper", [trip])
        np.testing.assert_allclose(flight.signals["position"], alone.signals["position"], atol=1e-9)
        np.testing.assert_allclose(flight.thrusts, alone.thrusts, atol=1e-5)
    np.testing.assert_array_equal(together[0].shape, together[3].shape)
    assert np.abs(together[1].thrusts[:250] - together[2].thrusts).max() > 1e-3


def test_a_flight_is_what_the_environment_says():
    baseline = baselines.get("geometric_paper")
    entry = ENTRIES["Track"]
    env = gymnasium.make(
        entry.id, model="paper", reference=EIGHT, start=REST, **baseline.interface(entry)
    ).unwrapped
    policy = baseline.make(env)
    observation, state = env.reset(seed=0)[0], None
    infos = []
    for _ in range(300):
        action, state = policy.predict(observation, state)
        observation, *_, info = env.step(action)
        infos.append(info)
    (flight,) = fly("geometric_paper", [Trip(EIGHT, 0.6)])
    np.testing.assert_allclose(flight.time, [info["time"] for info in infos], atol=1e-9)
    np.testing.assert_allclose(flight.error, [info["position_error"] for info in infos], atol=1e-9)
    np.testing.assert_allclose(flight.thrusts, [info["thrusts"] for info in infos], atol=1e-5)
    # MuJoCo's own numbers for what is derived at the end
    data = env.data
    tip, base = data.site("tip").xpos, data.body("base").xpos
    np.testing.assert_allclose(flight.tip_offset[-1], tip - base, atol=1e-9)
    axes = data.body("base").xmat.reshape(3, 3)
    links = [data.body(f"link_{k}").xpos for k in range(1, 13)]
    np.testing.assert_allclose(flight.shape, (np.array([*links, tip]) - base) @ axes, atol=1e-9)
    assert flight.lateral[-1] == pytest.approx(np.hypot(*((tip - base) @ axes)[:2]), abs=1e-9)
    assert env.model.opt.integrator == 3  # implicitfast: the paper's


def test_the_older_map_pulls_as_it_says():
    direction = np.radians(40.0)
    hold = {"name": "bend_hold", "direction": float(direction), "ramp": 0.0}
    (flight,) = fly("geometric_paper", [Trip(hold, 0.01, older_map=True)])
    places = np.radians([0.0, 120.0, 240.0])
    tensions = np.maximum(np.cos(direction - places), 0.0)
    moment = tensions @ np.stack([np.cos(places), np.sin(places)], axis=1)
    np.testing.assert_allclose(flight.signals["bend"][-1], moment / np.sqrt(0.75), atol=1e-6)


def test_after_an_early_end_nothing_is_known():
    # hover thrust and slack tendons, under a push that turns the vehicle over
    wrench = {"body": "base", "torque": [0.3, 0.0, 0.0]}
    hover = {"name": "hover"}
    (flight,) = fly("zero", [Trip(hover, 3.0)], {"external_wrench": wrench})
    known = np.isfinite(flight.error)
    last = int(known.sum())
    assert 10 < last < len(known)
    assert known[:last].all()
    assert flight.signals["tilt"][last - 1] > np.radians(85.0)
    assert np.isnan(flight.thrusts[last:]).all()
    assert np.isnan(flight.shape).all()


def test_only_geometric_laws_have_gains_to_vary():
    with pytest.raises(ValueError, match="'zero' has no gains"):
        fly("zero", [Trip(HOLD, 0.1, SOFT)])


def test_spans_are_open_at_their_start():
    (flight,) = fly("geometric_paper", [Trip(HOLD, 0.4)])
    span = flight.span(0.1, 0.3)
    np.testing.assert_allclose(flight.time[span][[0, -1]], [0.102, 0.3], atol=1e-12)
    assert flight.time[flight.index(0.25)] == pytest.approx(0.25, abs=0.0011)

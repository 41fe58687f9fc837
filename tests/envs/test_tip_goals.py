"""Goals of the tip for arms whose tendons do more than pull: where the arm rests, or refused."""

from __future__ import annotations

import math

import gymnasium as gym
import numpy as np
import pytest

from tendon_gym.model import build_model, preset
from tendon_gym.registration import ENTRIES

STRAIGHT = 0.48
"""Length of the arm's tendons when it is straight, m."""


def make(tendons, goal="tip", **settings):
    model = {"tendons": tendons}
    return gym.make(ENTRIES["ArmBend"].id, goal=goal, model=model, **settings).unwrapped


def test_the_arm_is_as_long_as_that():
    model = build_model(preset("default"))
    assert model.tendon_length0[:3] == pytest.approx(STRAIGHT, abs=1e-9)


@pytest.mark.parametrize("seed", [3, 4])
def test_goals_are_where_an_arm_with_springs_comes_to_rest(seed):
    """The drawn bend, held for long, brings the tip there; without springs it rests elsewhere."""
    springs = {"stiffness": 60.0, "damping": 1.0}
    free = {"lower_limit": STRAIGHT - 0.1, "upper_limit": STRAIGHT + 0.1, "armature": 1e-3}
    env = make({"properties": springs | free}, tendon_action="bend", horizon=30.0)
    env.reset(seed=seed)
    row = env.core.schedule.rows[0]
    bend = row["bend_magnitude"] * np.array(
        [math.cos(row["bend_direction"]), math.sin(row["bend_direction"])]
    )
    places = []
    for k in range(2500):
        observation, *_ = env.step(bend)
        if k >= 1500:
            places.append(env.core.signals["tip"][0].copy())
    part = env.observation_layout["tip_goal"]
    goal = observation[part.start : part.stop].astype(np.float64)
    assert np.linalg.norm(np.mean(places, axis=0) - goal) < 0.01
    plain = make({}, tendon_action="bend")
    plain.reset(seed=seed)
    assert np.linalg.norm(plain.core.goals.values[0] - goal) > 0.03


REFUSED = {
    "friction": ({"properties": {"friction_loss": 0.1}}, "properties.friction_loss"),
    "coupling": (
        {"couplings": [{"first": "tendon_1", "second": "tendon_2"}]},
        "without couplings",
    ),
    "lower limit": (
        {"properties": {"lower_limit": STRAIGHT - 0.005}},
        "properties.lower_limit of tendon_1 must be beyond the 0.4",
    ),
    "upper limit": (
        {"properties": [{}, {"upper_limit": STRAIGHT + 0.001}, {}]},
        "properties.upper_limit of tendon_2 must be beyond the 0.4",
    ),
    "margin": (
        {"properties": {"upper_limit": STRAIGHT + 0.1, "limit_margin": 0.095}},
        "properties.upper_limit of tendon_2",  # which is let go first
    ),
    "lock": (
        {"properties": [{}, {}, {"lower_limit": STRAIGHT, "upper_limit": STRAIGHT}]},
        "properties.upper_limit of tendon_3",
    ),
    "one spring": (
        {"properties": [{}, {"stiffness": 400.0, "spring_upper": 0.47}, {}]},
        "alike in all directions",
    ),
}


@pytest.mark.parametrize(("tendons", "words"), REFUSED.values(), ids=REFUSED)
def test_tendons_that_keep_the_tip_from_its_goals_are_refused(tendons, words):
    with pytest.raises(ValueError, match=words):
        make(tendons)
    with pytest.raises(ValueError, match=words):
        gym.make_vec(ENTRIES["Bend"].id, num_envs=2, goal="tip", model={"tendons": tendons})
    make(tendons, goal="bend").close()

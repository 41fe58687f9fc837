"""Bounds of what pushes: as far as the physics goes, and no honest push meets them."""

from __future__ import annotations

import re

import gymnasium as gym
import numpy as np
import pytest

from tendon_gym import forces
from tendon_gym.forces import (
    ExternalWrench,
    ExternalWrenchTerm,
    Impulse,
    ImpulseTerm,
    Wind,
    WindTerm,
)
from tendon_gym.model import Airframe, ModelParameters, build_model
from tendon_gym.registration import ENTRIES


def vehicle(scale=1.0, **settings):
    """Return a vehicle whose mass is about `scale` times the usual one."""
    usual = Airframe()
    airframe = Airframe(mass=scale * usual.mass, inertia=tuple(scale * i for i in usual.inertia))
    return build_model(ModelParameters(airframe=airframe, **settings))


def terms(model, vector):
    """Return what makes each push, and the most of it: from 100 m/s and 1000 m/s^2."""
    mass = model.body_mass.sum()
    depth = ModelParameters().arm.tip_depth  # the tip is what is farthest from the base
    return {
        "impulse": ({"target": "tip", "impulse": vector}, "impulse", 100.0 * mass, "N s"),
        "force": ({"body": "link_3", "force": vector}, "external_wrench", 1000.0 * mass, "N"),
        "torque": (
            {"body": "base", "torque": vector}, "external_wrench", 1000.0 * mass * depth, "N m"
        ),
    }  # fmt: skip


@pytest.mark.parametrize("base", ["free", "clamped"])
@pytest.mark.parametrize("scale", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("name", ["impulse", "force", "torque"])
def test_the_most_is_that_of_the_whole_vehicle(name, scale, base):
    model = vehicle(scale, base=base, height=5.0)
    direction = np.array([0.6, 0.0, -0.8])
    _, kind, most, unit = terms(model, None)[name]
    values = terms(model, (0.999 * most * direction).tolist())[name][0]
    forces.make(kind, model, 1, values)
    beyond = (1.001 * most * direction).tolist()
    values = terms(model, beyond)[name][0]
    legal = rf"{name} must be at most {re.escape(f'{most:g}')} {unit} long \(.*\), got \("
    with pytest.raises(ValueError, match=legal):
        forces.make(kind, model, 1, values)


@pytest.mark.parametrize("name", ["impulse", "force", "torque"])
@pytest.mark.parametrize("size", [1e9, 1e300, -1e308])
def test_slips_are_refused_by_the_environment_too(name, size):
    values, kind, *_ = terms(vehicle(), [0.0, size, size])[name]
    with pytest.raises(ValueError, match=f"{name} must be at most .* N.* long"):
        gym.make(ENTRIES["Hover"].id, forces={kind: values})


@pytest.mark.parametrize("span", [{"start": 1e7}, {"duration": 1e308}, {"start": 2e6}])
@pytest.mark.parametrize(
    "kind, values",
    [
        ("impulse", {"target": "tip", "impulse": [0, 0, 1]}),
        ("external_wrench", {"body": "base", "force": [0, 0, 1]}),
        ("wind", {"velocity": [1, 0, 0]}),
    ],
)
def test_times_end_where_simulations_do(kind, values, span):
    (name,) = span
    with pytest.raises(ValueError, match=rf"{name} must be .*at most 1e\+06, got "):
        forces.make(kind, vehicle(), 1, {**values, **span})


@pytest.mark.parametrize("i, kind", [(2, ValueError), (-1, ValueError), (0.0, TypeError)])
def test_what_is_set_is_checked_and_changes_nothing_when_refused(i, kind):
    model = vehicle()
    blow, wrench, wind = Impulse("tip", (0, 0, 1)), ExternalWrench("base"), Wind((1, 0, 0))
    for term, value in (
        (ImpulseTerm(model, 2, blow), Impulse("base", (0, 1, 0))),
        (ExternalWrenchTerm(model, 2, wrench), ExternalWrench("base", (0, 1, 0))),
        (WindTerm(2, wind), Wind((0, 1, 0))),
    ):
        before = term.parameters.copy()
        with pytest.raises(kind, match="simulation must be an integer"):
            term.set(i, value)
        assert np.array_equal(term.parameters, before)
    term = ImpulseTerm(model, 2, blow)
    before = term.parameters.copy()
    with pytest.raises(ValueError, match="impulse must be at most"):
        term.set(0, Impulse("tip", (0, 0, 1e9)))
    assert np.array_equal(term.parameters, before)


@pytest.mark.parametrize("engine", ["mujoco", "compiled"])
def test_the_hardest_blow_on_the_tip_ends_at_most_its_own_episode(engine):
    """Whatever is allowed leaves everything that is said finite."""
    model = vehicle()
    most = 99.9 * model.body_mass.sum()
    settings = {"engine": engine, "forces": {"impulse": {"target": "tip", "impulse": [most, 0, 0]}}}
    env = gym.make(ENTRIES["Hover"].id, limits={"distance": 1e6, "tilt": 3.14}, **settings)
    env.reset(seed=0)
    for _ in range(20):
        observation, reward, terminated, _, info = env.step(np.zeros(7))
        assert np.isfinite(observation).all() and np.isfinite(reward)
        assert all(np.isfinite(info[key]) for key in ("position_error", "tip_speed", "tilt"))
        if terminated:
            break

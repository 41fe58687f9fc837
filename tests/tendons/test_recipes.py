"""The recipes that RaiSim's manual checks itself by, at the bars that it sets."""

from __future__ import annotations

import dataclasses
import math

import mujoco
import numpy as np
import pytest

from tendon_gym.tendons import (
    CouplingProperties,
    Drive,
    JointTerm,
    Properties,
    Site,
    TendonWorld,
    cylinder,
    pulley,
    via,
)
from tests.tendons.scenes import add_ball, empty, hanging, sliders

ANCHOR = via(None, (0, 0, 2))


def cable(world, **properties):
    return world.add_spatial_tendon("cable", [ANCHOR, via("load")], Properties(**properties))


def test_limit():
    world = hanging()
    tendon = cable(world, upper_limit=1.2)
    world.data.qvel[2] = -2.0
    longest = 0.0
    for _ in range(500):
        world.step()
        longest = max(longest, tendon.length)
    assert tendon.length == pytest.approx(1.2, abs=1e-6)
    assert longest <= 1.2 + 1e-9
    assert abs(world.data.qvel[2]) <= 1e-6


def pendulum():
    world = TendonWorld(empty_with_ball(gravity=-9.81, position=[1.5, 0, 2]))
    tendon = cable(world)
    tendon.properties = Properties(lower_limit=tendon.length, upper_limit=tendon.length)
    return world, tendon


def empty_with_ball(gravity, position):
    spec = empty(gravity)
    add_ball(spec, "load", position)
    return spec


def test_lock():
    world, tendon = pendulum()
    lowest = 2.0
    for _ in range(2000):
        world.step()
        assert tendon.length == pytest.approx(1.5, abs=2e-3)
        lowest = min(lowest, world.data.qpos[2])
    assert lowest == pytest.approx(0.5, abs=2e-3)  # it swings through the lowest point


def test_lock_stops_motion_both_ways():
    for speed in (2.0, -2.0):
        world = hanging()
        tendon = cable(world, lower_limit=1.0, upper_limit=1.0)
        world.data.qvel[2] = speed
        world.step(200)
        assert tendon.length == pytest.approx(1.0, abs=2e-3)
        assert abs(world.data.qvel[2]) < 1e-6


def test_lock_release():
    world, tendon = pendulum()
    world.step(500)
    unlimited = dataclasses.replace(tendon.properties, lower_limit=-math.inf, upper_limit=math.inf)
    tendon.properties = unlimited
    world.step(200)
    assert tendon.length >= 1.51


def test_spring():
    world = hanging(gravity=-9.81, joint="slide")
    tendon = cable(
        world, stiffness=200.0, damping=20.0, spring_lower=0.0, spring_upper=1.0,
        friction_loss=0.05, armature=0.1,
    )  # fmt: skip
    world.step(4000)
    assert tendon.length == pytest.approx(1.0 + 9.81 / 200.0, abs=1e-3)


def test_force():
    world = hanging()
    tendon = cable(world, actuation_lower=-4.0, actuation_upper=0.0)
    tendon.drive = Drive()
    tendon.set_tension(5.0)
    before = world.data.qvel[2]
    world.step(100)
    assert tendon.forces.actuator == pytest.approx(-4.0, abs=1e-9)
    assert before - world.data.qvel[2] == pytest.approx(-0.4, abs=1e-9)


def test_servo():
    world = hanging(gravity=-9.81, height=0.8, joint="slide")
    tendon = cable(world, actuation_lower=-100.0, actuation_upper=0.0)
    tendon.drive = Drive(force=-9.81, target_length=0.8, position_gain=120.0, velocity_gain=20.0)
    world.step(4000)
    assert tendon.length == pytest.approx(0.8, abs=1e-3)
    assert tendon.forces.actuator == pytest.approx(-9.81, abs=0.02)


def test_wrap():
    spec = empty()
    for name, position in (("left", [-0.2, 0, 1]), ("right", [0.2, 0, 1]), ("output", [2, 0, 1])):
        add_ball(spec, name, position)
    turn = np.empty(4)
    mujoco.mju_quatZ2Vec(turn, np.array([0.0, 1.0, 0.0]))
    spec.worldbody.add_body(name="wheel", pos=[0, 0, 2], quat=turn)
    world = TendonWorld(spec)
    # the wheel's local z is the world's y; the side site keeps the route over the top
    over = cylinder("wheel", 0.2, side=Site(None, (0, 0, 2.5)))
    path = [via("left"), over, via("right"), pulley(2.0), via(None, (2, 0, 2)), via("output")]
    tendon = world.add_spatial_tendon("route", path)
    tendon.set_actuation_force(-4.0)
    straight, arc = 1.0, 0.2 * math.pi
    assert tendon.length == pytest.approx(2 * straight + arc + 0.5, abs=1e-12)
    world.step()
    heights = [world.data.joint(name).qvel[2] for name in ("left", "right", "output")]
    assert heights == pytest.approx([0.004, 0.004, 0.002], abs=1e-8)


def test_fixed():
    world = sliders(1.0, 1.0)
    terms = [JointTerm("slide_0", 1.0), JointTerm("slide_1", 0.5)]
    tendon = world.add_fixed_tendon("sum", terms)
    tendon.drive = Drive(target_length=0.5, position_gain=100.0, velocity_gain=20.0)
    world.step(3000)
    assert tendon.length == pytest.approx(0.5, abs=1e-3)
    assert world.data.qpos[:2] == pytest.approx([0.4, 0.2], abs=1e-3)


def test_coupling():
    spec = empty()
    for name, x in (("a", 0.0), ("b", 1.0)):
        add_ball(spec, name, [x, 0, 1], joint="slide")
    world = TendonWorld(spec)
    tendons = [
        world.add_spatial_tendon(name, [via(None, (x, 0, 2)), via(name)])
        for name, x in (("a", 0.0), ("b", 1.0))
    ]
    a, b = tendons
    relation = CouplingProperties(coefficients=(0.0, -0.65, 0.0, 0.0, 0.0))
    coupling = world.add_coupling("ratio", b, a, relation)
    a.drive = Drive(target_length=1.2, position_gain=100.0, velocity_gain=20.0)
    world.step(4000)
    assert a.length - 1.0 == pytest.approx(0.2, abs=1e-3)
    assert b.length - 1.0 == pytest.approx(-0.13, abs=1e-3)
    assert b.length - 1.0 + 0.65 * (a.length - 1.0) == pytest.approx(0.0, abs=1e-6)
    assert coupling.force == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize(("lower", "upper", "rest"), [(0.0, 0.9, 0.9), (0.9, 0.9, 0.9)])
def test_straight_spring(lower, upper, rest):
    world = hanging()
    cable(world, stiffness=100.0, spring_lower=lower, spring_upper=upper)
    world.step()
    # an implicit step of 0.1 m stretch, 100 N/m and 1 kg at 1 ms
    assert world.data.qvel[2] == pytest.approx(0.01 / 1.0001, abs=1e-9)
    assert 1.0 - rest == pytest.approx(0.1)


def test_compression_spring():
    world = hanging()
    cable(world, stiffness=100.0, spring_lower=1.1, spring_upper=math.inf)
    world.step()
    assert -world.data.qvel[2] == pytest.approx(0.01 / 1.0001, abs=1e-10)


def test_straight_force():
    world = hanging()
    cable(world).set_tension(4.0)
    world.step(100)
    assert -world.data.qvel[2] == pytest.approx(-0.4, abs=1e-9)


def test_what_the_manual_shows_in_python():
    spec = empty(gravity=-9.81)
    add_ball(spec, "load", [0, 0, 1])
    world = TendonWorld(spec)
    tendon = cable(world, upper_limit=1.0, width=0.01, color=(0.1, 0.9, 0.6, 1.0))
    tendon.set_tension(2.0)
    world.step(1000)
    assert tendon.length == pytest.approx(1.0, abs=1e-6)
    assert tendon.tension == pytest.approx(9.81, abs=1e-6)
    length = tendon.length
    tendon.properties = dataclasses.replace(
        tendon.properties, lower_limit=length, upper_limit=length
    )
    world.step(10)
    assert tendon.length == pytest.approx(length, abs=1e-7)
    world.remove_tendon(tendon)
    assert world.tendons == () and world.get_tendon("cable") is None

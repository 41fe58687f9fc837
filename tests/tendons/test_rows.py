"""Limits, locks, couplings, friction, armature: how near they are to RaiSim's laws."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from tendon_gym.tendons import (
    CouplingProperties,
    JointTerm,
    Properties,
    Site,
    TendonWorld,
    cylinder,
    sphere,
    via,
)
from tendon_gym.tendons.base import empty_spec
from tests.tendons.scenes import INTEGRATORS, add_ball, empty, hanging, sliders

H = 1e-3
PATH = [via(None, (0, 0, 2)), via("load")]
# what the discrete integrator leaves of the velocity that comes in
LEFT = {"discrete": 1.2e-3, "Euler": 1e-4, "implicit": 1e-4, "implicitfast": 1e-4}


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("correction", [0.0, 0.2, 0.7, 1.0])
@pytest.mark.parametrize("compliance", [0.0, 1e-7, 1e-6, 1e-5, 1e-3])
def test_one_step_of_a_lock(integrator, correction, compliance):
    """u+ = -b C / h - (c / h^2) p for a mass of 1 kg: u+ = (u g - b C / h) / (1 + g)."""
    world = hanging(h=H, integrator=integrator, joint="slide")
    tendon = world.add_spatial_tendon(
        "t", PATH,
        Properties(lower_limit=1.01, upper_limit=1.01, limit_compliance=compliance,
                   position_correction=correction),
    )  # fmt: skip
    world.data.qvel[0] = -0.3
    world.step()
    softness = compliance / H**2
    expected = (0.3 * softness + correction * 0.01 / H) / (1.0 + softness)
    largest = 0.3 + 0.01 / H
    assert tendon.velocity == pytest.approx(expected, abs=LEFT[integrator] * largest)


@pytest.mark.parametrize("compliance", [1e-7, 1e-6, 1e-5])
def test_a_compliance_is_exact_under_euler(compliance):
    world = hanging(h=H, integrator="Euler", joint="slide")
    tendon = world.add_spatial_tendon(
        "t", PATH,
        Properties(lower_limit=1.01, upper_limit=1.01, limit_compliance=compliance),
    )  # fmt: skip
    world.data.qvel[0] = -0.3
    world.step()
    softness = compliance / H**2
    if softness >= 1.0 / 9999.0:  # what MuJoCo's hardest row has anyhow
        expected = (0.3 * softness + 0.2 * 0.01 / H) / (1.0 + softness)
        assert tendon.velocity == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("integrator", ["discrete", "Euler"])
@pytest.mark.parametrize("locked", [True, False])
@pytest.mark.parametrize("compliance", [1e-6, 1e-5, 1e-4])
def test_static_compliance(integrator, locked, compliance):
    """At rest F = -b C / c."""
    world = hanging(gravity=-9.81, h=H, integrator=integrator, joint="slide")
    tendon = world.add_spatial_tendon(
        "t", PATH,
        Properties(lower_limit=1.0 if locked else -math.inf, upper_limit=1.0,
                   limit_compliance=compliance, damping=20.0),
    )  # fmt: skip
    world.step(3000)
    # the discrete integrator makes rows harder by the inertia that damping adds, h d / m
    inertia = 1.0 + H * 20.0 if integrator == "discrete" else 1.0
    sag = 9.81 * compliance / 0.2 / inertia
    assert tendon.length - 1.0 == pytest.approx(sag, rel=1e-4)
    assert tendon.forces.limit == pytest.approx(-9.81, rel=1e-6)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("speed", [0.1, 2.0, 30.0])
def test_a_limit_is_reached_and_not_passed(integrator, speed):
    world = hanging(h=H, integrator=integrator)
    tendon = world.add_spatial_tendon("t", PATH, Properties(upper_limit=1.2))
    world.data.qvel[2] = -speed
    longest = 0.0
    for _ in range(int(0.3 / speed / H) + 20):
        world.step()
        longest = max(longest, tendon.length)
    assert longest == pytest.approx(1.2, abs=1e-12)
    assert abs(world.data.qvel[2]) < 1e-8  # no rebound


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_an_unforeseen_acceleration_passes_a_limit_by_no_more_than_itself(integrator):
    world = hanging(gravity=-9.81, h=H, integrator=integrator)
    tendon = world.add_spatial_tendon("t", PATH, Properties(upper_limit=1.2))
    worst = 0.0
    for _ in range(1500):
        world.step()
        worst = max(worst, tendon.length - 1.2)
    assert worst <= 9.81 * H**2
    assert abs(tendon.length - 1.2) < 1e-8 and abs(tendon.velocity) < 1e-8


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_violated_limit_opens_by_the_share_of_correction(integrator):
    world = hanging(h=H, integrator=integrator)
    tendon = world.add_spatial_tendon(
        "t", PATH, Properties(upper_limit=0.9, position_correction=0.3)
    )
    world.step()
    assert tendon.velocity == pytest.approx(-0.3 * 0.1 / H, rel=2e-3)
    world.step(40)
    assert tendon.length <= 0.9 + 1e-6


def test_the_margin_lies_inside():
    world = hanging()
    tendon = world.add_spatial_tendon(
        "t", PATH, Properties(lower_limit=0.5, upper_limit=1.5, limit_margin=0.1)
    )
    for speed, end in ((-2.0, 1.4), (2.0, 0.6)):
        world.data.qvel[2] = speed
        world.step(600)
        assert tendon.length == pytest.approx(end, abs=1e-9)
    locked = Properties(lower_limit=0.6, upper_limit=0.6, limit_margin=0.1)
    tendon.properties = locked
    world.step(100)
    assert tendon.length == pytest.approx(0.6, abs=1e-6)


def least_change(masses, speeds, rows, targets):
    """Return the velocities nearest to `speeds`, by kinetic energy, with rows @ v <= targets.

    By the conditions of Karush, Kuhn and Tucker for every set of rows that may be active.
    """
    for chosen in range(2 ** len(rows)):
        active = [k for k in range(len(rows)) if chosen >> k & 1]
        block = rows[active]
        weights = block / masses
        force = np.zeros(0)
        if active:
            force = np.linalg.lstsq(
                weights @ block.T, targets[active] - block @ speeds, rcond=None
            )[0]
        found = speeds + weights.T @ force
        if (force <= 1e-12).all() and (rows @ found <= targets + 1e-9).all():
            return found
    raise AssertionError("no solution")


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("speeds", [(3.0, 2.0, 4.0), (2.0, 3.0, 0.5), (1.0, 1.0, 1.0)])
def test_several_limited_tendons_act_on_each_other(integrator, speeds):
    """The limits that are known to act in a step have RaiSim's velocities in it, all together."""
    masses = np.array([1.0, 2.0, 0.5])
    rows = np.array([[1.0, -0.5, 0.0], [0.0, 1.0, 0.7], [0.6, 0.0, 1.0]])
    uppers = np.array([0.02, 0.03, 0.04])
    world = sliders(*masses, h=H, integrator=integrator)
    for k, row in enumerate(rows):
        terms = [JointTerm(f"slide_{j}", c) for j, c in enumerate(row)]
        world.add_fixed_tendon(f"t_{k}", terms, Properties(upper_limit=uppers[k]))
    world.data.qvel[:] = speeds
    most, worst = 0, 0.0
    for _ in range(200):
        before = world.data.qvel.copy()
        gaps = uppers - rows @ world.data.qpos
        targets = np.where(gaps >= 0.0, gaps, 0.2 * gaps) / H
        known = (gaps < 1e-10) | (rows @ before > targets)
        world.step()
        expected = least_change(masses, before, rows[known], targets[known])
        assert world.data.qvel == pytest.approx(expected, abs=1.1e-3 * np.abs(before).max())
        most = max(most, int(known.sum()))
        worst = max(worst, -float(gaps.min()))
    assert most >= 2
    # what one limit throws at another is known to that from the next step on
    assert worst <= H * np.abs(rows).sum(axis=1).max() * max(map(abs, speeds))
    assert (rows @ world.data.qpos <= uppers + 1e-6).all()


def test_native_limits_are_passed_by_up_to_a_step():
    world = hanging(limits="native", integrator="Euler")
    tendon = world.add_spatial_tendon("t", PATH, Properties(upper_limit=1.2))
    world.data.qvel[2] = -2.1
    longest = 0.0
    for _ in range(300):
        world.step()
        longest = max(longest, tendon.length)
    assert 1e-4 < longest - 1.2 <= 2.1 * H
    assert -2.1 * 0.2 <= tendon.velocity <= 0.0  # the correction, b g / h, throws it back


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_lock_does_not_drift(integrator):
    world = hanging(h=H, integrator=integrator, joint="slide")
    tendon = world.add_spatial_tendon("t", PATH, Properties(lower_limit=1.0, upper_limit=1.0))
    for force in (10.0, -10.0):  # pulled and pushed
        world.data.qfrc_applied[0] = force
        world.step(10_000)
        assert tendon.length == pytest.approx(1.0, abs=1e-6)
        assert tendon.forces.limit == pytest.approx(force, rel=1e-3)


def test_dry_friction_holds_slides_and_stops():
    world = sliders(1.0)
    tendon = world.add_fixed_tendon("t", [JointTerm("slide_0")], Properties(friction_loss=0.5))
    world.data.qfrc_applied[0] = 0.4
    world.step(1000)
    assert abs(world.data.qvel[0]) < 1e-7
    assert tendon.forces.friction == pytest.approx(-0.4, rel=1e-3)
    world.data.qfrc_applied[0] = 0.8
    world.step(100)
    assert world.data.qvel[0] == pytest.approx(0.3 * 0.1, abs=1e-7)
    world.data.qfrc_applied[0] = 0.0
    speeds = []
    for _ in range(100):
        world.step()
        speeds.append(world.data.qvel[0])
    assert min(speeds) > -1e-6 and abs(speeds[-1]) < 1e-7  # stops, without turning back


@pytest.mark.parametrize("integrator", ["discrete", "Euler"])
@pytest.mark.parametrize("compliance", [1e-7, 1e-5])
def test_friction_with_compliance_creeps(integrator, compliance):
    world = sliders(1.0, integrator=integrator)
    world.add_fixed_tendon(
        "t", [JointTerm("slide_0")],
        Properties(friction_loss=0.5, friction_compliance=compliance),
    )  # fmt: skip
    world.data.qfrc_applied[0] = 0.4
    world.step(5000)
    assert world.data.qvel[0] == pytest.approx(compliance * 0.4 / H, rel=3e-3)


def test_armature_of_a_straight_path():
    world = hanging(h=H)
    tendon = world.add_spatial_tendon("t", PATH, Properties(armature=3.0))
    tendon.set_actuation_force(8.0)
    world.step()
    assert -world.data.qvel[2] == pytest.approx(2.0 * H, rel=1e-9)


def test_armature_of_a_curving_path():
    """a (l'' + ...) for a body that passes by: the path's own curvature accelerates it.

    At the distance l, moving across at v, l'' = v^2 / l without force; an inertia a along the
    tendon and a mass m give l'' = v^2 / l * m / (m + a).
    """
    world = hanging(h=1e-4)
    tendon = world.add_spatial_tendon("t", PATH, Properties(armature=3.0))
    world.data.qvel[0] = 2.0
    world.step()
    assert tendon.velocity == pytest.approx(4.0 * 1.0 / 4.0 * 1e-4, rel=2e-3)


def wrapped(armature):
    spec = empty(h=H)
    add_ball(spec, "load", [0.2, 0, -1], joint="slide")
    world = TendonWorld(spec)
    guide = cylinder(None, 0.2, (0, 1, 0), side=Site(None, (0, 0, 0.5)))
    path = [via(None, (-0.2, 0, -1)), guide, via("load")]
    return world, world.add_spatial_tendon("t", path, Properties(armature=armature))


def test_armature_of_a_wrapped_path():
    world, tendon = wrapped(4.0)
    tendon.set_actuation_force(1.0)
    world.step()
    assert -world.data.joint("load").qvel[0] == pytest.approx(0.2 * H, rel=1e-6)
    world.step(999)
    assert -world.data.joint("load").qvel[0] == pytest.approx(0.2, rel=1e-9)
    light, other = wrapped(0.0)
    other.set_actuation_force(1.0)
    light.step(1000)
    assert -light.data.joint("load").qvel[0] == pytest.approx(1.0, rel=1e-9)


def test_gravity_does_not_act_on_armature():
    for make in (lambda: wrapped(4.0), lambda: wrapped(0.0)):
        world, _ = make()
        world.model.opt.gravity[:] = 0.0, 3.0, -9.81
        world.step()
        speed = world.data.joint("load").qvel[0]
        mass = 5.0 if world.tendons[0].properties.armature else 1.0
        assert speed == pytest.approx(-9.81 * H / mass, rel=1e-6)


@pytest.mark.parametrize("integrator", ["discrete", "Euler"])
@pytest.mark.parametrize(
    "coefficients",
    [(0.0, -0.5, 0.0, 0.0, 0.0), (0.0, 2.0, 0.1, 0.0, 0.0), (0.01, 0.5, -0.3, 0.2, 0.4)],
)
def test_couplings(integrator, coefficients):
    world = sliders(1.0, 2.0, integrator=integrator)
    first = world.add_fixed_tendon("first", [JointTerm("slide_0")], Properties(damping=2.0))
    second = world.add_fixed_tendon("second", [JointTerm("slide_1")], Properties(damping=2.0))
    world.data.qpos[:] = 0.3, -0.2
    first.reference_length, second.reference_length = 0.3, -0.2
    coupling = world.add_coupling("c", first, second, CouplingProperties(coefficients))
    world.data.qfrc_applied[1] = 1.0
    for _ in range(500):
        world.step()
    x = second.length + 0.2
    wanted = np.polynomial.polynomial.polyval(x, coefficients)
    slope = np.polynomial.polynomial.polyval(x, np.polynomial.polynomial.polyder(coefficients))
    assert abs(x) > 0.01
    assert first.length - 0.3 - wanted == pytest.approx(0.0, abs=1e-6)
    assert first.forces.coupling == coupling.force
    assert second.forces.coupling == pytest.approx(-slope * coupling.force, rel=1e-3)
    residual_force = coupling.force - 2.0 * first.velocity
    assert abs(residual_force) < 0.05 + abs(coupling.force)


@pytest.mark.parametrize("compliance", [1e-6, 1e-5, 1e-3])
@pytest.mark.parametrize("integrator", ["discrete", "Euler"])
def test_compliance_of_a_coupling(compliance, integrator):
    """At rest lambda = -b C / c."""
    world = sliders(1.0, 1.0, integrator=integrator)
    tendons = [
        world.add_fixed_tendon(f"t_{k}", [JointTerm(f"slide_{k}")], Properties(damping=0.3))
        for k in range(2)
    ]
    tendons[1].properties = Properties(lower_limit=0.0, upper_limit=0.0)
    relation = CouplingProperties(compliance=compliance, position_correction=0.4)
    coupling = world.add_coupling("c", *tendons, relation)
    world.data.qfrc_applied[0] = 2.0
    world.step(4000)
    assert coupling.force == pytest.approx(-2.0, rel=5e-2)
    softness = compliance / 0.4
    assert tendons[0].length == pytest.approx(-softness * coupling.force, rel=5e-3, abs=1e-8)


def test_a_coupling_without_a_second_tendon_holds_the_first():
    world = sliders(1.0)
    world.data.qpos[0] = 0.25
    tendon = world.add_fixed_tendon("t", [JointTerm("slide_0", 2.0)])
    world.add_coupling("c", tendon, None, CouplingProperties((0.1, 9.0, 9.0, 9.0, 9.0)))
    assert tendon.reference_length == 0.5
    world.step(500)
    assert tendon.length == pytest.approx(0.6, abs=1e-6)


def test_a_disabled_coupling_does_nothing():
    world = sliders(1.0, 1.0)
    tendons = [world.add_fixed_tendon(f"t_{k}", [JointTerm(f"slide_{k}")]) for k in range(2)]
    coupling = world.add_coupling("c", *tendons, CouplingProperties(enabled=False))
    world.data.qvel[0] = 1.0
    world.step(10)
    assert world.data.qvel.tolist() == [1.0, 0.0] and coupling.force == 0.0
    coupling.properties = CouplingProperties()
    world.step(100)
    assert world.data.qvel == pytest.approx([0.5, 0.5], abs=1e-6)
    tendons[1].enabled = False
    world.data.qvel[:] = 1.0, 0.0
    world.step(10)
    assert world.data.qvel.tolist() == [1.0, 0.0]


def test_repeated_terms_add_up_and_stay_in_the_list():
    world = sliders(1.0, 1.0)
    terms = [JointTerm("slide_0", 1.0), JointTerm("slide_1", 3.0), JointTerm("slide_0", 0.5)]
    tendon = world.add_fixed_tendon("t", terms)
    world.data.qpos[:] = 0.2, 0.1
    assert tendon.length == pytest.approx(1.5 * 0.2 + 0.3, abs=1e-15)
    assert tendon.joints == tuple(terms)
    gradients = tendon.joint_gradients
    assert [each.coefficient for each in gradients] == [1.0, 3.0, 0.5]
    assert [each.coordinate_index for each in gradients] == [0, 1, 0]
    assert [each.velocity_index for each in gradients] == [0, 1, 0]


@pytest.mark.parametrize("rest", [-1.0, 0.0, 0.3])
def test_any_rest_length_may_be_given(rest):
    """MuJoCo would take -1 for "the present length"."""
    world = sliders(1.0)
    tendon = world.add_fixed_tendon(
        "t", [JointTerm("slide_0")],
        Properties(stiffness=100.0, damping=20.0, spring_lower=rest, spring_upper=rest),
    )  # fmt: skip
    world.step(3000)
    assert tendon.length == pytest.approx(rest, abs=1e-6)


def test_automatic_springs_rest_at_the_pose_of_creation():
    world = hanging()
    world.data.qpos[2] = 0.7  # not the model's own pose
    tendon = world.add_spatial_tendon("t", PATH, Properties(stiffness=100.0))
    world.step(10)
    assert tendon.length == pytest.approx(1.3, abs=1e-15) and tendon.force == 0.0
    tendon.reference_length = 1.2
    world.step()
    assert tendon.forces.spring == pytest.approx(-10.0, rel=1e-3)


def test_a_tendon_that_moves_nothing_in_the_models_pose_is_stable():
    """Its inverse inertia is zero there, so that its rows would be dropped."""
    spec = empty(gravity=-9.81)
    body = spec.worldbody.add_body(name="arm")
    body.add_joint(name="hinge", axis=[0, 1, 0])
    body.add_geom(size=[0.05, 0, 0], pos=[1, 0, 0], mass=1.0)
    world = TendonWorld(spec)
    world.data.qpos[0] = math.pi / 2  # hangs; in the model's pose the path is stretched out
    tendon = world.add_spatial_tendon(
        "t", [via(None, (2, 0, 0)), via("arm", (1, 0, 0))], Properties()
    )
    length = tendon.length
    tendon.properties = Properties(upper_limit=length)
    for _ in range(2000):
        world.data.qfrc_applied[0] = 3.0
        world.step()
        assert tendon.length <= length + 1e-4
    assert tendon.forces.limit < 0.0


def test_a_tendon_between_fixed_points_is_harmless():
    world = hanging(gravity=-9.81)
    tendon = world.add_spatial_tendon(
        "t", [via(None), via(None, (0, 0, 1)), via(None, (0, 0, 1))],
        Properties(stiffness=10.0, lower_limit=1.5, friction_loss=1.0),
    )  # fmt: skip
    world.step(10)
    assert tendon.length == 1.0 and np.isfinite(world.data.qpos).all()


def test_a_sphere_that_is_inside_the_path():
    """The tendon goes through it, by the nearest point of its surface."""
    world = hanging(height=-1.0)
    guide = sphere(None, 0.5, position=(1, 0, 0), side=Site(None, (1.1, 0, 0)))
    tendon = world.add_spatial_tendon("t", [via(None, (0, 0, 1)), guide, via("load")])
    assert tendon.length == pytest.approx(2.0 * math.sqrt(1.0 + 0.25), rel=1e-9)


@pytest.mark.parametrize("friction", [10.0, 100.0, 1000.0])
def test_strong_dry_friction_is_in_balance(friction):
    """M a = applied + constraint forces at every step, also where many rows hold on to a chain."""
    spec = empty_spec()
    parent = spec.worldbody
    for k in range(4):
        parent = parent.add_body(pos=[0.3 if k else 0.0, 0, 0])
        parent.add_joint(name=f"j{k}", axis=[0, 1, 0] if k % 2 == 0 else [0, 0, 1])
        parent.add_geom(size=[0.05, 0, 0], pos=[0.3, 0, 0])
    world = TendonWorld(spec)
    rng = np.random.default_rng(0)
    for k in range(3):
        terms = [JointTerm(f"j{j}", float(rng.normal())) for j in range(4)]
        world.add_fixed_tendon(f"t{k}", terms, Properties(friction_loss=friction))
    world.data.qvel[:] = 1.0, 2.0, -1.0, 0.5
    model, data, inertial = world.model, world.data, np.zeros(4)
    for _ in range(100):
        before = data.qvel.copy()
        world.step()
        force = data.qfrc_smooth + data.qfrc_constraint
        mujoco.mj_mulM(model, data, inertial, (data.qvel - before) / model.opt.timestep)
        assert inertial == pytest.approx(force, abs=1e-7 * (1.0 + abs(force).max()))

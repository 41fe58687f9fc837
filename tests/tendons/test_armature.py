"""Inertia along tendons: (M + a J^T J) qacc = f, whatever the tendon is on."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tendon_gym.tendons import JointTerm, Properties, Site, TendonWorld, cylinder, via
from tests.tendons.scenes import INTEGRATORS, add_ball, empty, hanging, sliders

H = 1e-4
ARMATURE = 2.0

BODY = '<body name="{0}" pos="{1}">{2}<geom size=".1" pos=".2 .05 .03" mass="1"/>{3}</body>'
HINGE, SLIDE = '<joint name="{0}" axis="0 1 0"/>', '<joint name="{0}" type="slide" axis="1 0 0"/>'


def body(name, position, joint, inside=""):
    return BODY.format(name, position, joint.format(name), inside)


TREES = {
    "one chain": body("r", "0 0 1", HINGE, body("a", ".3 .1 0", HINGE)),
    "siblings": body(
        "r", "0 0 1", HINGE, body("a", ".3 .1 0", HINGE) + body("b", ".3 -.1 0", SLIDE)
    ),
    "two trees": body("a", "0 0 1", SLIDE) + body("b", "0 1 1", HINGE),
    "free bodies": body("a", "0 0 1", "<freejoint/>") + body("b", "1 .3 1.2", "<freejoint/>"),
    "a free body and the world": body("a", "0 0 1", "<freejoint/>"),
    "a plane": body("a", "0 0 1", SLIDE + '<joint type="slide" axis="0 0 1"/>'),
}


def world_of(tree, integrator, kind):
    world = TendonWorld.from_string(f"""
        <mujoco><option integrator="{integrator}" timestep="{H}" gravity="0 0 0"
          tolerance="1e-15" ls_iterations="500"/><worldbody>{TREES[tree]}</worldbody></mujoco>""")
    names = [body.name for body in world.spec.bodies[1:]]
    ends = names[-2:] if len(names) > 1 else [None, names[0]]
    properties = Properties(armature=ARMATURE)
    if kind == "fixed":
        joints = [joint.name for joint in world.spec.joints if joint.name]
        terms = [JointTerm(name, 1.0 + 0.7 * k) for k, name in enumerate(joints)]
        tendon = world.add_fixed_tendon("t", terms, properties)
    else:
        path = [via(ends[0], (0.1, 0.0, 0.2)), via(ends[1], (0.0, 0.1, -0.1))]
        if kind == "wrapped":
            path.insert(1, cylinder(None, 0.05, (0, 1, 0), position=(0.5, 0.1, 0.9)))
        tendon = world.add_spatial_tendon("t", path, properties)
    return world, tendon


def gradient(model, data, tendon):
    """Return the derivatives (nv,) of a tendon's length, by central differences."""
    result = np.zeros(model.nv)
    for k in range(model.nv):
        lengths = []
        for sign in (1.0, -1.0):
            moved, way = mujoco.MjData(model), np.zeros(model.nv)
            moved.qpos[:], way[k] = data.qpos, sign * 1e-6
            mujoco.mj_integratePos(model, moved.qpos, way, 1.0)
            mujoco.mj_fwdPosition(model, moved)
            lengths.append(moved.ten_length[tendon])
        result[k] = (lengths[0] - lengths[1]) / 2e-6
    return result


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    ("tree", "kind"),
    [
        (tree, kind)
        for tree in TREES
        for kind in ("fixed", "straight", "wrapped")
        if not (kind == "fixed" and "free" in tree)  # whose joints are on no fixed tendon
    ],
)
def test_bodies_at_rest_accelerate_with_the_tendons_inertia(integrator, tree, kind):
    world, tendon = world_of(tree, integrator, kind)
    model, data = world.model, world.data
    own = model.nv - int(kind == "wrapped" or tree in ("siblings", "two trees", "free bodies"))
    force = np.random.default_rng(4).normal(size=own)
    plain = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{TREES[tree]}</worldbody></mujoco>")
    bare, mass = mujoco.MjData(plain), np.zeros((plain.nv, plain.nv))
    mujoco.mj_forward(plain, bare)
    for k, unit in enumerate(np.eye(plain.nv)):
        mujoco.mj_mulM(plain, bare, mass[k], unit)
    j = gradient(model, data, tendon.id)[:own]
    expected = np.linalg.solve(mass + ARMATURE * np.outer(j, j), force)
    data.qfrc_applied[:own] = force
    world.step()
    assert plain.nv == own
    assert data.qvel[:own] / H == pytest.approx(expected, abs=2e-6 * abs(expected).max())


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_inertia_of_a_tendon_between_free_bodies_keeps_their_momentum(integrator):
    spec = empty(h=H, integrator=integrator)
    spec.option.tolerance, spec.option.ls_iterations = 1e-15, 500
    add_ball(spec, "a", [0, 0, 1], mass=1.0)
    add_ball(spec, "b", [1, 0.3, 1.2], mass=2.0)
    world = TendonWorld(spec)
    world.add_spatial_tendon("t", [via("a"), via("b")], Properties(armature=ARMATURE))
    world.data.qvel[:3], world.data.qvel[6:9] = (1.0, 2.0, -1.0), (0.5, -1.0, 3.0)
    before = world.data.qvel[:3] + 2.0 * world.data.qvel[6:9]
    world.step(1000)
    after = world.data.qvel[:3] + 2.0 * world.data.qvel[6:9]
    assert after == pytest.approx(before, abs=1e-8)


def test_a_tendon_that_curves_as_it_moves():
    """A body in a plane on a tendon from a point: r'' u = -a u l'', solved by Runge and Kutta."""
    spec = empty(h=H)
    ball = add_ball(spec, "b", [1, 0, 0], joint="slide")
    ball.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[1, 0, 0])
    world = TendonWorld(spec)
    world.add_spatial_tendon("t", [via(None, (-1, 0, 0)), via("b")], Properties(armature=ARMATURE))
    world.data.qvel[:] = 1.0, 0.3

    def acceleration(q, v):
        d = np.array([q[0], 2.0 + q[1]])
        r = np.linalg.norm(d)
        u = d / r
        curving = (v @ v - (u @ v) ** 2) / r
        return -u * ARMATURE * curving / (1.0 + ARMATURE)

    q, v, h = np.zeros(2), np.array([1.0, 0.3]), 1e-4
    for _ in range(2500):
        middle = q + 0.5 * h * v, v + 0.5 * h * acceleration(q, v)
        q, v = q + h * middle[1], v + h * acceleration(*middle)
    world.step(2500)
    assert world.data.qpos == pytest.approx(q, abs=2e-5)


def wrapped():
    world = hanging(joint="slide")
    path = [via(None, (-1, 0, 0)), cylinder(None, 0.2, (0, 1, 0), side=Site(None, (0, 0, 1))),
            via("load", (0.5, 0, 0))]  # fmt: skip
    world.add_spatial_tendon("t", path, Properties(armature=ARMATURE))
    return world


def test_a_position_that_is_written_throws_nothing():
    """The rotor that carries the inertia follows."""
    world = wrapped()
    world.step()
    world.data.qpos[0] = 0.4
    world.step(100)
    assert world.data.qpos[0] == pytest.approx(0.4, abs=1e-12)
    assert world.data.qvel[0] == pytest.approx(0.0, abs=1e-9)
    batch = world.batch(3)
    batch.qpos[1, 0] = -0.2
    batch.step(100)
    assert batch.qpos[:, 0] == pytest.approx([0.4, -0.2, 0.4], abs=1e-12)
    assert batch.qvel[:, 0] == pytest.approx(np.zeros(3), abs=1e-9)


def test_a_speed_that_is_written_is_that_of_the_rotor_too():
    """Energy 1/2 m v^2 + 1/2 a l'^2 of a mass that coasts, and none of it is lost in the gear."""
    world = wrapped()
    world.step()
    world.data.qvel[0] = 0.5
    tendon = world.tendons[0]
    energy = 0.5 * 0.5**2 + tendon.kinetic_energy
    world.step()
    assert world.data.qvel[0] == pytest.approx(0.5, abs=1e-3)
    world.step(200)
    now = 0.5 * float(world.data.qvel[0]) ** 2 + tendon.kinetic_energy
    assert now == pytest.approx(energy, rel=2e-3)


def test_saved_states_keep_the_rotors_own():
    world = wrapped()
    world.data.qvel[0] = 0.5
    world.step(50)
    state = world.get_state()
    batch = world.batch(2)
    rows = batch.get_state()
    world.step(50)
    batch.step(50)
    there = world.data.qpos.copy()
    assert np.array_equal(batch.qpos[0], there)
    world.set_state(state)
    batch.set_state([0, 1], rows)
    world.step(50)
    batch.step(50)
    assert np.array_equal(world.data.qpos, there)
    assert np.array_equal(batch.qpos, [there, there])


def test_other_inertias_count_from_the_next_step_on():
    world = sliders(1.0)
    tendon = world.add_fixed_tendon("t", [JointTerm("slide_0")], Properties())
    for armature in (0.0, 3.0, 1.0, 0.0):
        tendon.properties = Properties(armature=armature)
        world.data.qvel[0], world.data.qfrc_applied[0] = 0.0, 8.0
        world.step()
        expected = 8.0 / (1.0 + armature)
        assert world.data.qvel[0] / world.model.opt.timestep == pytest.approx(expected, rel=1e-9)

"""The compiled kinematics against mj_forward and mj_objectVelocity, on random models and states."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tendon_gym.engines import Kinematics
from tendon_gym.model import Arm, ModelParameters, Tendons, build_model

HINGE, SLIDE, BALL = (
    mujoco.mjtJoint.mjJNT_HINGE,
    mujoco.mjtJoint.mjJNT_SLIDE,
    mujoco.mjtJoint.mjJNT_BALL,
)
CLOSE = {"rtol": 0.0, "atol": 1e-12}


def random_model(rng: np.random.Generator) -> mujoco.MjModel:
    """Return a tree of bodies with joints of every kind, offset anchors, refs and tendons."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    bodies, sites = [spec.worldbody], []
    for k in range(int(rng.integers(1, 9))):
        parent = bodies[int(rng.integers(len(bodies)))]
        body = parent.add_body(pos=rng.uniform(-0.3, 0.3, 3), quat=rng.normal(size=4))
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.02, 0, 0], pos=rng.normal(size=3))
        if parent is spec.worldbody and rng.random() < 0.5:
            body.add_freejoint()
        else:
            add_joints(body, rng)
        for s in range(2):
            sites.append(f"site_{k}_{s}")
            body.add_site(name=sites[-1], pos=rng.uniform(-0.1, 0.1, 3))
        bodies.append(body)
    for _ in range(int(rng.integers(0, 4))):
        tendon = spec.add_tendon()
        for name in rng.permutation(sites)[: int(rng.integers(2, 6))]:
            tendon.wrap_site(str(name))
    return spec.compile()


def add_joints(body: mujoco.MjsBody, rng: np.random.Generator) -> None:
    # nothing turns a body after its ball joint: MuJoCo refuses that
    kinds = [*rng.integers(2, size=int(rng.integers(0, 4))), *([2] if rng.random() < 0.3 else [])]
    for kind in kinds:
        joint = body.add_joint(
            type=(HINGE, SLIDE, BALL)[kind],
            axis=rng.normal(size=3),
            pos=rng.uniform(-0.2, 0.2, 3),
            armature=0.01,
        )
        if kind < 2:
            joint.ref = rng.uniform(-1.0, 1.0)


def random_state(model: mujoco.MjModel, rng: np.random.Generator, n: int):
    """Return qpos (n, nq), its quaternions of any length, and qvel (n, nv)."""
    qpos = rng.uniform(-2.0, 2.0, (n, model.nq))
    for joint in range(model.njnt):
        adr = model.jnt_qposadr[joint]
        quaternion = adr + 3 if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE else adr
        if model.jnt_type[joint] in (mujoco.mjtJoint.mjJNT_FREE, BALL):
            qpos[:, quaternion : quaternion + 4] = rng.normal(size=(n, 4))
    return qpos, rng.uniform(-3.0, 3.0, (n, model.nv))


def assert_like_mujoco(model: mujoco.MjModel, qpos: np.ndarray, qvel: np.ndarray) -> None:
    n = len(qpos)
    kinematics = Kinematics(model, n)
    kinematics.update(qpos, qvel)
    data, spin_and_speed = mujoco.MjData(model), np.zeros(6)
    for i in range(n):
        data.qpos, data.qvel = qpos[i], qvel[i]
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(kinematics.body_position[i], data.xpos, **CLOSE)
        xmat = data.xmat.reshape(-1, 3, 3)
        np.testing.assert_allclose(kinematics.body_rotation[i], xmat, **CLOSE)
        np.testing.assert_allclose(kinematics.site_position[i], data.site_xpos, **CLOSE)
        np.testing.assert_allclose(kinematics.tendon_length[i], data.ten_length, **CLOSE)
        for body in range(1, model.nbody):
            mujoco.mj_objectVelocity(
                model, data, mujoco.mjtObj.mjOBJ_XBODY, body, spin_and_speed, 0
            )
            spin, speed = spin_and_speed[:3], spin_and_speed[3:]
            np.testing.assert_allclose(
                kinematics.body_angular_velocity[i, body], spin, rtol=1e-12, atol=1e-12
            )
            np.testing.assert_allclose(
                kinematics.body_velocity[i, body], speed, rtol=1e-12, atol=1e-12
            )


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=150)
def test_random_models_move_as_in_mujoco(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng)
    assert_like_mujoco(model, *random_state(model, rng, 3))


@pytest.mark.parametrize("base", ["free", "clamped"])
@pytest.mark.parametrize("links", [1, 3, 12, 48])
@pytest.mark.parametrize("tendons", [3, 5])
def test_the_vehicle_moves_as_in_mujoco(links, tendons, base):
    model = build_model(
        ModelParameters(arm=Arm(n_links=links), tendons=Tendons(n_tendons=tendons), base=base)
    )
    assert_like_mujoco(model, *random_state(model, np.random.default_rng(links), 4))


def test_a_simulation_does_not_depend_on_its_neighbours():
    rng = np.random.default_rng(3)
    model = build_model(ModelParameters())
    qpos, qvel = random_state(model, rng, 6)
    together, alone = Kinematics(model, 6), Kinematics(model, 1)
    together.update(qpos, qvel)
    for i in range(6):
        alone.update(qpos[i : i + 1], qvel[i : i + 1])
        for name in ("body_position", "body_velocity", "site_position", "tendon_length"):
            assert np.array_equal(getattr(together, name)[i], getattr(alone, name)[0])


def test_a_quaternion_of_zeros_is_no_rotation():
    model = build_model(ModelParameters())
    qpos = model.qpos0[None].copy()
    qpos[0, 3:7] = 0.0
    kinematics = Kinematics(model, 1)
    kinematics.update(qpos, np.zeros((1, model.nv)))
    assert np.array_equal(kinematics.body_rotation[0, 1], np.eye(3))


def test_tendons_that_wrap_are_refused_by_name():
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="arm")
    body.add_geom(name="pin", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.01, 0, 0])
    body.add_joint(name="hinge")
    spec.worldbody.add_site(name="a", pos=[0, 0.1, 0])
    body.add_site(name="b", pos=[0, -0.1, 0])
    tendon = spec.add_tendon(name="wrapped")
    tendon.wrap_site("a")
    tendon.wrap_geom("pin", "")
    tendon.wrap_site("b")
    with pytest.raises(ValueError, match="'wrapped'"):
        Kinematics(spec.compile(), 1)

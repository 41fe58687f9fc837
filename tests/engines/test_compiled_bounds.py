"""No contact is overlooked: single steps from random poses at, in and near everything there is."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tendon_gym import engines
from tendon_gym.model import Layout, build_spec
from tests.engines.random_models import (
    EDITS,
    finish,
    random_parameters,
    random_rotation,
)

MODELS, POSES = 60, 24
EDITED = ("body_pos", "body_mass", "body_ipos", "actuator_gear")
SHAPES = (
    mujoco.mjtGeom.mjGEOM_SPHERE,
    mujoco.mjtGeom.mjGEOM_BOX,
    mujoco.mjtGeom.mjGEOM_CAPSULE,
    mujoco.mjtGeom.mjGEOM_CYLINDER,
    mujoco.mjtGeom.mjGEOM_ELLIPSOID,
)


def random_scene(rng: np.random.Generator) -> mujoco.MjModel:
    """Return a random vehicle on a floor, sometimes tilted or with a margin, among obstacles."""
    spec = build_spec(random_parameters(rng, int(rng.integers(1, 20))))
    if rng.random() < 0.3:
        spec.geom("floor").margin = rng.uniform(0.0, 0.05)
    if rng.random() < 0.3:
        spec.geom("floor").quat = random_rotation(rng, 1, 0.5)[0]
    if rng.random() < 0.3:
        spec.geom("tip").margin, spec.geom("hub").margin = rng.uniform(0.0, 0.05, 2)
    for k in range(int(rng.integers(0, 4))):
        place, turn = (
            rng.uniform([-0.5, -0.5, 0.5], [0.5, 0.5, 1.5]),
            random_rotation(rng, 1, np.pi)[0],
        )
        holder = spec.worldbody
        if rng.random() < 0.5:
            holder = spec.worldbody.add_body(name=f"holder_{k}", pos=place, quat=turn)
            place = rng.uniform(-0.2, 0.2, 3)
        kind = SHAPES[int(rng.integers(len(SHAPES)))]
        thing = holder.add_geom(name=f"thing_{k}", type=kind, pos=place, quat=turn)
        thing.size = rng.uniform(0.02, 0.2, 3)
        thing.margin = rng.uniform(0.0, 0.03) if rng.random() < 0.3 else 0.0
    model = spec.compile()
    for name in EDITED:
        if rng.random() < 0.4:
            EDITS[name](model, rng)
    finish(model)
    return model


def random_pose(model: mujoco.MjModel, rng: np.random.Generator) -> np.ndarray:
    """Return qpos low over the floor, the arm hanging, bent, or rolled up onto the frame."""
    layout = Layout.of(model)
    links, qpos = len(layout.link_bodies), model.qpos0.copy()
    if layout.free:
        qpos[:3] = rng.uniform([-0.6, -0.6, 0.0], [0.6, 0.6, 2.0])
        qpos[3:7] = random_rotation(rng, 1, np.pi if rng.random() < 0.3 else 0.5)[0]
    bend, direction = rng.uniform(0.0, 6.0), rng.uniform(0.0, 2.0 * np.pi)
    shares = rng.dirichlet(np.full(links, 3.0))[:, None]
    angles = np.clip(bend * shares, 0.0, 1.4) * [np.cos(direction), np.sin(direction)]
    qpos[layout.joint_qpos] = angles.ravel()
    if layout.free and rng.random() < 0.5:
        qpos[2] += rng.uniform(-0.02, 0.08) - lowest_point(model, qpos)
    return qpos


def lowest_point(model: mujoco.MjModel, qpos: np.ndarray) -> float:
    """Return the height of the lowest hinge, hub or tip."""
    data = mujoco.MjData(model)
    data.qpos = qpos
    mujoco.mj_kinematics(model, data)
    return float(min(data.site_xpos[:, 2].min(), data.xpos[1:, 2].min()))


@pytest.fixture(scope="module")
def steps() -> list[tuple[int, int, float, float]]:
    """Return seed, contacts, the engine's error after one step and the size of velocities."""
    rows = []
    for seed in range(MODELS):
        rng = np.random.default_rng(seed)
        model = random_scene(rng)
        qpos = np.array([random_pose(model, rng) for _ in range(POSES)])
        qvel = rng.normal(0.0, 0.5, (POSES, model.nv))
        ctrl = rng.uniform(*(0.3 * model.actuator_ctrlrange.T), (POSES, model.nu))
        engine = engines.make("compiled", model, POSES, threads=1)
        engine.reset(np.arange(POSES), qpos, qvel)
        engine.ctrl[...] = ctrl
        engine.step(1)
        data = mujoco.MjData(model)
        for i in range(POSES):
            mujoco.mj_resetData(model, data)
            data.qpos, data.qvel, data.ctrl = qpos[i], qvel[i], ctrl[i]
            mujoco.mj_step(model, data)
            error = float(np.abs(engine.qvel[i] - data.qvel).max())
            rows.append((seed, data.ncon, error, float(np.abs(data.qvel).max())))
    return rows


def test_every_step_is_the_one_of_mujoco(steps):
    overlooked = [row for row in steps if row[2] > 1e-9 * max(1.0, row[3])]
    assert not overlooked, f"{len(overlooked)} of {len(steps)}: {overlooked[:5]}"


def test_the_poses_are_of_every_kind(steps):
    contacts = np.array([row[1] for row in steps])
    assert (contacts > 0).mean() > 0.2
    assert (contacts == 0).mean() > 0.2

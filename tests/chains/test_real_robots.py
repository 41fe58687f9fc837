"""Further chains of real robots, and what Pinocchio itself reads in a URDF."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tendon_gym.chains import Chain
from tests.chains.comparisons import Pinocchio, Simulation, agree
from tests.chains.oracles import branches_of, pinocchio_of
from tests.chains.real_robots import MJCF, URDF, load, urdf_text


def name_of(robot):
    return robot.name


def simulation(robot):
    """Return a chain with all that hangs on it, and data with its other joints somewhere."""
    model = load(robot)
    bits = mujoco.mjtDisableBit
    for bit in (bits.mjDSBL_CONSTRAINT, bits.mjDSBL_SPRING, bits.mjDSBL_DAMPER):
        model.opt.disableflags |= int(bit)
    data = mujoco.MjData(model)
    data.qpos[:] += np.random.default_rng(0).uniform(0, 0.04, model.nq)
    mujoco.mj_forward(model, data)
    chain = Chain.from_model(model, robot.base, robot.tip, branches=True, qpos=data.qpos)
    assert chain.n_joints == robot.joints
    return chain, data


@pytest.mark.parametrize("robot", MJCF[1:], ids=name_of)
def test_an_arm_on_its_torso_and_fingers_of_a_hand(robot):
    pin = pytest.importorskip("pinocchio")
    chain, data = simulation(robot)
    rng = np.random.default_rng(1)
    for _ in range(10):
        agree(chain, Simulation(chain, data), rng)
        agree(chain, pinocchio_of(pin, chain, data, branches_of(chain, data)), rng)


@pytest.mark.parametrize("robot", URDF, ids=name_of)
def test_it_is_what_pinocchio_reads(robot):
    pin = pytest.importorskip("pinocchio")
    chain, data = simulation(robot)
    whole = pin.buildModelFromXML(urdf_text(robot))
    stand = pin.neutral(whole)
    others = [name for name in whole.names[1:] if name not in chain.joint_names]
    for name in others:
        stand[whole.joints[whole.getJointId(name)].idx_q] = data.joint(name).qpos[0]
    model = pin.buildReducedModel(whole, [whole.getJointId(name) for name in others], stand)
    assert tuple(model.names[1:]) == chain.joint_names
    kinds = [model.joints[k + 1].nq for k in range(model.njoints - 1)]

    def angles(q):
        """Return Pinocchio's positions: a joint without limits is a cosine and a sine."""
        parts = [[x] if n == 1 else [np.cos(x), np.sin(x)] for x, n in zip(q, kinds, strict=True)]
        return np.concatenate(parts)

    oracle, rng = (
        Pinocchio(pin, model, model.getFrameId(robot.tip), angles),
        np.random.default_rng(3),
    )
    for _ in range(5):
        agree(chain, oracle, rng)

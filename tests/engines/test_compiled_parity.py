"""The compiled engine against `mj_step` on 200 random vehicles that are built and edited freely."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np
import pytest

from tendon_gym import engines
from tests.engines.random_models import MOST_LINKS, SUBSTEPS, Case, cases

MODELS = 200
CHAOTIC = 10.0
"""Growth of a kick in MuJoCo's own flight from which on a flight proves nothing."""
POSITION, VELOCITY = 1e-11, 1e-9


@dataclass(frozen=True)
class Judged:
    """Largest differences to MuJoCo over a flight of 100 physics steps."""

    case: Case
    qpos: float
    qvel: float
    kinematics: float
    speeds: float
    time: float

    def __str__(self) -> str:
        arm, case = self.case.parameters.arm, self.case
        return (
            f"seed {case.seed}: {arm.n_links} links, {case.parameters.base}, growth "
            f"{case.growth:.1f}, qpos {self.qpos:.1e}, qvel {self.qvel:.1e}, "
            f"kinematics {self.kinematics:.1e}, speeds {self.speeds:.1e}, edited {case.edited}"
        )


@dataclass(frozen=True)
class Verdict:
    judged: list[Judged]
    refused: dict[int, str]
    chaotic: list[int]


def judge(case: Case) -> Judged:
    n = len(case.qpos)
    engine = engines.make("compiled", case.model, n, threads=1)
    engine.reset(np.arange(n), case.qpos, case.qvel)
    data = mujoco.MjData(case.model)
    differences = [look(engine, data, case.qpos, case.qvel)]
    for k in range(len(case.ctrl)):
        engine.ctrl[...] = case.ctrl[k]
        engine.step(SUBSTEPS)
        if engine.unstable.any():
            return Judged(case, *[math.inf] * 5)
        differences.append(look(engine, data, case.flight.qpos[k], case.flight.qvel[k]))
    passed = len(case.ctrl) * SUBSTEPS * case.model.opt.timestep
    return Judged(case, *np.max(differences, axis=0), float(np.abs(engine.time - passed).max()))


def look(engine: engines.Engine, data: mujoco.MjData, qpos, qvel) -> tuple[float, ...]:
    """Return how far the engine is from MuJoCo's state, and from all that follows from it."""
    model, motion = engine.model, engine.motion
    places, speeds, both = 0.0, 0.0, np.zeros(6)
    for i in range(engine.n):
        data.qpos, data.qvel = qpos[i], qvel[i]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_tendon(model, data)
        mujoco.mj_comVel(model, data)
        pairs = (
            (motion.body_position[i], data.xpos),
            (motion.body_rotation[i], data.xmat.reshape(-1, 3, 3)),
            (motion.site_position[i], data.site_xpos),
            (motion.tendon_length[i], data.ten_length),
        )
        places = max(places, *(np.abs(ours - theirs).max() for ours, theirs in pairs))
        for body in range(1, model.nbody):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, both, 0)
            spin = np.abs(motion.body_angular_velocity[i, body] - both[:3]).max()
            speeds = max(speeds, spin, np.abs(motion.body_velocity[i, body] - both[3:]).max())
    return np.abs(engine.qpos - qpos).max(), np.abs(engine.qvel - qvel).max(), places, speeds


@pytest.fixture(scope="module")
def verdict() -> Verdict:
    judged, refused, chaotic = [], {}, []
    for case in cases(MODELS):
        if case.growth >= CHAOTIC:
            chaotic.append(case.seed)
            continue
        try:
            judged.append(judge(case))
        except (ValueError, TypeError, NotImplementedError) as error:
            refused[case.seed] = str(error)
    return Verdict(judged, refused, chaotic)


def test_no_model_is_refused(verdict):
    assert not verdict.refused


def test_hardly_any_model_is_chaotic(verdict):
    assert len(verdict.chaotic) <= 0.05 * MODELS
    assert len(verdict.judged) == MODELS - len(verdict.chaotic)


def test_states_are_those_of_mujoco(verdict):
    off = [each for each in verdict.judged if not (each.qpos <= POSITION and each.qvel <= VELOCITY)]
    assert not off, "\n".join(map(str, off))


def test_tip_sites_and_tendons_are_those_of_mujoco(verdict):
    off = [
        each
        for each in verdict.judged
        if not (each.kinematics <= POSITION and each.speeds <= VELOCITY)
    ]
    assert not off, "\n".join(map(str, off))


def test_time_is_a_count_of_steps(verdict):
    assert max(each.time for each in verdict.judged) <= 1e-14


def test_the_models_are_of_every_kind(verdict):
    """The verdict is worth something only if these were among the models and moved."""
    made = [each.case for each in verdict.judged]
    assert {case.parameters.arm.n_links for case in made} == set(range(1, MOST_LINKS + 1))
    for free in (True, False):
        some = [case for case in made if (case.parameters.base == "free") == free]
        assert len(some) >= 30
        assert {case.parameters.tendons.n_tendons for case in some} == {3, 4, 5, 6}
    counts = {name: sum(name in case.edited for case in made) for name in FIELDS}
    assert min(counts.values()) >= 60, counts
    moved = [np.abs(case.flight.qpos[-1] - case.qpos).max() for case in made]
    assert np.median(moved) > 0.1
    still_air = [case for case in made if case.model.opt.density == case.model.opt.viscosity == 0]
    assert len(still_air) >= 2


FIELDS = (
    "body_mass", "body_ipos", "body_iquat", "body_inertia", "jnt_stiffness", "qpos_spring",
    "dof_damping", "dof_armature", "site_pos", "actuator_gear", "opt.wind", "opt.gravity",
    "body_pos",
)  # fmt: skip

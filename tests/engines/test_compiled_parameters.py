"""Every number of the model alone: it counts in the compiled engine, and counts as in MuJoCo."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import mujoco
import numpy as np
import pytest

from tendon_gym import engines
from tendon_gym.model import Arm, Layout, ModelParameters, Tendons, build_model
from tests.engines.random_models import (
    EDITS,
    SEGMENTS,
    SUBSTEPS,
    Flight,
    finish,
    fly,
    random_controls,
    random_states,
)

POSITION, VELOCITY = 1e-11, 1e-9
SEEN = 1e-8
"""Least difference to the unchanged flight: a thousand times what the engines may differ by."""

Change = Callable[[mujoco.MjModel], None]


def uneven_model(base: str) -> tuple[ModelParameters, mujoco.MjModel]:
    """Return a vehicle in thick air without any symmetry, so that every number counts."""
    parameters = ModelParameters(
        arm=Arm(n_links=3, length=0.3),
        tendons=Tendons(n_tendons=4, angles=(0.2, 1.5, 3.4, 4.9), radii=(0.01, 0.02, 0.015, 0.012)),
        base=base,
        height=8.0,
    )
    model, rng = build_model(parameters), np.random.default_rng(5)
    for edit in EDITS.values():
        edit(model, rng)
    model.opt.density, model.opt.viscosity = 20.0, 1e-3
    finish(model)
    return parameters, model


def turned(body: int, axis: int) -> Change:
    """Return a change that turns a body's inertial frame about one of its axes."""

    def change(model: mujoco.MjModel) -> None:
        quaternion, turn = model.body_iquat[body].copy(), np.zeros(4)
        mujoco.mju_axisAngle2Quat(turn, np.eye(3)[axis], 0.3)
        mujoco.mju_mulQuat(model.body_iquat[body], quaternion, turn)

    return change


def added(field: str, index: tuple[int, ...], amount: float) -> Change:
    """Return a change that adds to one number of a field of the model or of its options."""

    def change(model: mujoco.MjModel) -> None:
        owner, name = (model.opt, field[4:]) if field.startswith("opt.") else (model, field)
        if index:
            getattr(owner, name)[index] += amount
        else:
            setattr(owner, name, getattr(owner, name) + amount)

    return change


def elements(indices: np.ndarray, width: int) -> list[tuple[int, ...]]:
    return [(int(i), k) for i in indices for k in range(width)]


def changes(model: mujoco.MjModel) -> Iterator[tuple[str, Change]]:
    """Yield a name and a change for every number that the vehicle's motion depends on."""
    layout = Layout.of(model)
    links = layout.link_bodies
    bodies = np.array([layout.base_body, *links] if layout.free else links)
    hinges, dofs = layout.joint_qpos, layout.joint_dofs
    joints = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE)
    rotors = layout.rotor_sites if layout.free else np.zeros(0, int)
    sites = [*np.unique(model.wrap_objid), *rotors]
    yield from ((f"body_iquat[{b}, {k}]", turned(int(b), k)) for b in bodies for k in range(3))
    numbers = (
        ("body_mass", [(int(b),) for b in bodies], 0.01),
        ("body_ipos", elements(bodies, 3), 0.003),
        ("body_pos", elements(links, 3), 0.003),
        ("jnt_stiffness", [(int(j),) for j in joints], 0.01),
        ("qpos_spring", [(int(q),) for q in hinges], 0.05),
        ("dof_damping", [(int(d),) for d in dofs], 0.002),
        ("dof_armature", [(int(d),) for d in dofs], 1e-5),
        ("site_pos", elements(np.array(sites), 3), 0.002),
        ("actuator_gear", elements(layout.rotor_actuators, 6), 0.01),
        ("actuator_gear", [(int(a), 0) for a in layout.tendon_actuators], 0.1),
        ("opt.wind", [(k,) for k in range(3)], 0.5),
        ("opt.gravity", [(k,) for k in range(3)], 0.5),
        ("opt.density", [()], 5.0),
        ("opt.viscosity", [()], 1e-3),
        ("opt.timestep", [()], 1e-4),
    )
    for field, places, amount in numbers:
        yield from ((f"{field}{list(at)}", added(field, at, amount)) for at in places)
    for at in elements(bodies, 3):  # a part of its own size, for the links are light
        amount = 0.2 * float(model.body_inertia[at[0]].min())
        yield f"body_inertia{list(at)}", added("body_inertia", at, amount)


def engine_flight(engine: engines.Engine, qpos, qvel, ctrl) -> Flight:
    """Return the same of an engine as `fly` of MuJoCo."""
    n = len(qpos)
    engine.reset(np.arange(n), qpos, qvel)
    flight = Flight(np.zeros((SEGMENTS, *qpos.shape)), np.zeros((SEGMENTS, *qvel.shape)))
    for k in range(SEGMENTS):
        engine.ctrl[...] = ctrl[k]
        engine.step(SUBSTEPS)
        flight.qpos[k], flight.qvel[k] = engine.qpos, engine.qvel
    return flight


def assert_equal_flights(flown: Flight, expected: Flight, what: str = "") -> None:
    close = {"rtol": 0.0, "err_msg": what}
    np.testing.assert_allclose(flown.qpos, expected.qpos, atol=POSITION, **close)
    np.testing.assert_allclose(flown.qvel, expected.qvel, atol=VELOCITY, **close)


@pytest.mark.parametrize("base", ["free", "clamped"])
def test_every_number_counts_as_in_mujoco(base):
    parameters, model = uneven_model(base)
    rng = np.random.default_rng(8)
    qpos, qvel = random_states(model, rng, 1)
    ctrl = random_controls(model, rng, parameters, 1)
    unchanged, counted = fly(model, qpos, qvel, ctrl), 0
    assert unchanged is not None
    assert_equal_flights(
        engine_flight(engines.make("compiled", model, 1), qpos, qvel, ctrl), unchanged
    )
    for name, change in changes(model):
        _, other = uneven_model(base)
        change(other)
        finish(other)
        expected = fly(other, qpos, qvel, ctrl)
        assert expected is not None, name
        assert expected.distance(unchanged) > SEEN, f"{name} does not count in MuJoCo"
        flown = engine_flight(engines.make("compiled", other, 1), qpos, qvel, ctrl)
        assert_equal_flights(flown, expected, name)
        counted += 1
    assert counted > 100

"""Laws of tendons in the MuJoCo engine, against the toolkit's own steps and against MuJoCo."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest

from tendon_gym import config, engines
from tendon_gym.engines import MujocoEngine
from tendon_gym.engines.fields import read_field
from tendon_gym.forces import WindTerm
from tendon_gym.forces.wind import Wind
from tendon_gym.model import TendonProperties, build, build_model, check_timestep, preset
from tendon_gym.tendons.law import LAW
from tendon_gym.tendons.stepping import Stepper
from tests.engines.random_models import EDITS

QUADRATIC = {"first": "tendon_4", "second": "tendon_2", "coefficients": [0, -1, 1, 0, 0]}
LOCKED = {"lower_limit": 0.481, "upper_limit": 0.481}
LIMITED = {"lower_limit": 0.478, "upper_limit": 0.482}
MIXED = {
    "arm": {"n_links": 7},
    "tendons": {
        "n_tendons": 4,
        "angles": [0.3, 1.6, 3.5, 5.1],
        "radii": [0.012, 0.02, 0.016, 0.014],
        "properties": [
            LIMITED,
            {"stiffness": 20.0, "damping": 0.2},
            {**LIMITED, "friction_loss": 0.05, "armature": 0.001},
            {"friction_loss": 0.02},
        ],
        "couplings": [QUADRATIC],
    },
    "height": 3.0,
}
SPRUNG = {"tendons": {"properties": {"stiffness": 20.0, "damping": 0.2}}}


def parameters_of(changes, integrator="Euler"):
    return config.override(preset("default"), {**changes, "solver": {"integrator": integrator}})


def states(model, n, seed=0):
    rng = np.random.default_rng(seed)
    qpos, qvel = np.tile(model.qpos0, (n, 1)), rng.uniform(-0.4, 0.4, (n, model.nv))
    qpos[:, 7:] = rng.uniform(-0.03, 0.03, (n, model.nq - 7))
    return qpos, qvel


def controls(model, steps, n, seed=1):
    """Return controls (steps, n, nu) that carry the vehicle and pull tendons."""
    rng = np.random.default_rng(seed)
    values = np.full((steps, n, model.nu), 3.0)
    tensions = rng.uniform(0.0, 6.0, (steps // 5 + 1, n, model.ntendon))
    values[..., -model.ntendon :] = np.repeat(tensions, 5, axis=0)[:steps]
    return values


def flown(engine, ctrls, substeps=5):
    """Return the states (steps, n, nq + nv) after every control step."""
    rows = []
    for ctrl in ctrls:
        engine.ctrl[...] = ctrl[: engine.n]
        engine.step(substeps)
        rows.append(np.hstack([engine.qpos, engine.qvel]))
    return np.array(rows)


def made(changes, n, integrator="Euler", threads=None, terms=()):
    model, tendons = build(parameters_of(changes, integrator))
    return MujocoEngine(model, n, terms, threads, tendons)


def started(changes, n, seed=0, **settings):
    engine = made(changes, n, **settings)
    engine.reset(np.arange(n), *states(engine.model, n, seed))
    return engine


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_a_flight_is_that_of_the_toolkit_which_asks_mujoco_for_lengths(integrator):
    engine = started(MIXED, 1, integrator=integrator)
    model, tendons = build(parameters_of(MIXED, integrator))
    assert tendons is not None
    data = mujoco.MjData(model)
    data.qpos, data.qvel = engine.qpos[0], engine.qvel[0]
    stepper = Stepper(model, data, tendons.law[None], tendons.activation[None], tendons.first)
    advance, ctrls = stepper.chosen(), controls(model, 30, 1)
    least, at_limits = np.inf, 0
    for ctrl, row in zip(ctrls, flown(engine, ctrls), strict=True):
        data.ctrl = ctrl[0]
        advance(5)
        assert row[0] == pytest.approx(np.concatenate([data.qpos, data.qvel]), abs=1e-7)
        gap = np.minimum(data.ten_length - 0.478, 0.482 - data.ten_length)[[0, 2]].min()
        least, at_limits = min(least, gap), at_limits + int(abs(gap) < 1e-4)
    assert least > -3e-4
    assert at_limits >= 3


@pytest.mark.parametrize("n, threads", [(3, 1), (130, 2)])
def test_many_give_the_bits_of_one(n, threads):
    engine = started(MIXED, n, threads=threads)
    ctrls = controls(engine.model, 12, n)
    rows = flown(engine, ctrls)
    for i in (0, 1, n - 1):
        alone = made(MIXED, 1)
        qpos, qvel = states(alone.model, n)
        alone.reset(np.array([0]), qpos[[i]], qvel[[i]])
        assert np.array_equal(flown(alone, ctrls[:, [i]])[:, 0], rows[:, i])


def test_velocities_are_those_of_mujoco():
    engine = started(MIXED, 5)
    laws = engine._tendons
    assert laws is not None
    laws.look()
    data = mujoco.MjData(engine.model)
    for i in range(5):
        data.qpos, data.qvel = engine.qpos[i], engine.qvel[i]
        mujoco.mj_forward(engine.model, data)
        for t in (0, 2):
            assert laws._velocity[i, t] == pytest.approx(data.ten_velocity[t], abs=1e-12)
            assert engine.motion.tendon_length[i, t] == pytest.approx(data.ten_length[t], abs=1e-12)


def test_without_limits_a_step_is_mj_step():
    engine = started(SPRUNG, 1)
    model, data = build_model(parameters_of(SPRUNG)), None
    data = mujoco.MjData(model)
    data.qpos, data.qvel = engine.qpos[0], engine.qvel[0]
    assert engine._advance == engine._simulations.advance
    ctrls = controls(model, 10, 1)
    for ctrl, row in zip(ctrls, flown(engine, ctrls), strict=True):
        data.ctrl = ctrl[0]
        mujoco.mj_step(model, data, 5)
        assert np.array_equal(row[0], np.concatenate([data.qpos, data.qvel]))


@pytest.mark.parametrize("n", [1, 3])
def test_whoever_looks_changes_nothing(n):
    seen, unseen = started(MIXED, n), started(MIXED, n)
    for ctrl in controls(seen.model, 20, n):
        rows = []
        for engine in (seen, unseen):
            rows.append(flown(engine, ctrl[None]))
        for i in range(n):
            data = seen.data(i)
            kinds = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON)
            assert kinds.sum() <= 2
        assert np.array_equal(*rows)


@pytest.mark.parametrize("n", [1, 3])
def test_a_replay_from_a_state_is_exact(n):
    engine, other = started(MIXED, n), made(MIXED, n)
    ctrls = controls(engine.model, 30, n)
    flown(engine, ctrls[:12])
    state = engine.get_state()
    wanted = flown(engine, ctrls[12:])
    flown(other, ctrls[:3])
    for each in (engine, other):
        each.set_state(np.arange(n), state)
        assert np.array_equal(flown(each, ctrls[12:]), wanted)


def test_a_reset_leaves_nothing_of_what_was():
    engine, fresh = started(MIXED, 3, seed=4), made(MIXED, 3)
    ctrls = controls(engine.model, 20, 3)
    flown(engine, ctrls[:10])
    qpos, qvel = states(engine.model, 3, seed=9)
    some = np.array([0, 2])
    for each in (engine, fresh):
        each.reset(some, qpos[some], qvel[some])
    rows = [flown(each, ctrls[10:])[:, some] for each in (engine, fresh)]
    assert np.array_equal(*rows)


FIELDS = ("body_mass", "body_inertia", "jnt_stiffness", "dof_damping", "site_pos", "opt.wind")


def own_fields(model, ids):
    rows = []
    for i in ids:
        edited, rng = build_model(parameters_of(MIXED)), np.random.default_rng(int(i))
        for name in FIELDS:
            EDITS[name](edited, rng)
        rows.append({name: read_field(edited, name) for name in FIELDS})
    return {name: np.array([row[name] for row in rows]) for name in FIELDS}


def test_many_with_fields_of_their_own_give_the_bits_of_one():
    engine = started(MIXED, 4)
    some = np.array([1, 3])
    engine.set_model_fields(some, own_fields(engine.model, some))
    ctrls = controls(engine.model, 15, 4)
    rows = flown(engine, ctrls)
    qpos, qvel = states(engine.model, 4)
    for i in range(4):
        alone = made(MIXED, 1)
        if i in some:
            alone.set_model_fields(np.array([0]), own_fields(engine.model, [i]))
        alone.reset(np.array([0]), qpos[[i]], qvel[[i]])
        assert np.array_equal(flown(alone, ctrls[:, [i]])[:, 0], rows[:, i])


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("coupled", [False, True])
def test_laws_hold_whatever_fields_simulations_have(n, coupled):
    """Locks, limits, couplings are where they were, and as hard, with other masses and places."""
    tendons = {
        **MIXED["tendons"],
        "properties": [{}, {}, LIMITED, {} if coupled else LOCKED],
        "couplings": [QUADRATIC] if coupled else [],
    }
    engine, ids = made({**MIXED, "base": "clamped", "tendons": tendons}, n), np.arange(n)
    places, masses = engine.model.site_pos, engine.model.body_mass
    own = {
        "body_mass": masses * np.linspace(0.3, 3.0, n)[:, None],
        "site_pos": np.stack([places * [1.0 + 0.05 * i, 1.0, 1.0] for i in ids]),
    }
    engine.set_model_fields(ids, own)
    engine.reset(ids, np.tile(engine.model.qpos0, (n, 1)), np.zeros((n, engine.model.nv)))
    engine.ctrl[:] = [0.0, 0.0, 4.0, 0.0]
    engine.step(1500)
    lengths = engine.motion.tendon_length
    assert lengths[:, 2] == pytest.approx(np.full(n, 0.478), abs=1e-5)
    if not coupled:
        assert lengths[:, 3] == pytest.approx(np.full(n, 0.481), abs=1e-5)
        return
    second = lengths[:, 1] - 0.48
    assert lengths[:, 3] - 0.48 == pytest.approx(-second + second**2, abs=1e-5)
    assert (np.abs(second) > 1e-4).all()


def test_pushed_flights_keep_the_limits():
    terms = [WindTerm(2, Wind((4.0, 1.0, 0.0)))]
    engine = made(MIXED, 2, terms=terms)
    engine.reset(np.arange(2), *states(engine.model, 2))
    rows = flown(engine, controls(engine.model, 20, 2))
    assert np.isfinite(rows).all()
    again = made(MIXED, 2, terms=[WindTerm(2, Wind((4.0, 1.0, 0.0)))])
    again.reset(np.arange(2), *states(again.model, 2))
    assert np.array_equal(flown(again, controls(again.model, 20, 2)), rows)
    assert (np.abs(engine.motion.tendon_length[:, [0, 2]] - 0.48) < 0.0023).all()


def test_an_unstable_simulation_leaves_the_others_alone():
    engine, sound = started(MIXED, 3), started(MIXED, 3)
    ctrls = controls(engine.model, 10, 3)
    for k, ctrl in enumerate(ctrls):
        if k == 4:
            engine.qvel[1, 8] = 1e12
        rows = [flown(each, ctrl[None])[0] for each in (engine, sound)]
        assert engine.unstable.tolist() == [False, k == 4, False]
        assert np.isfinite(rows[0]).all()
        assert np.array_equal(rows[0][[0, 2]], rows[1][[0, 2]])
    engine.reset(np.array([1]), *(each[[1]] for each in states(engine.model, 3)))
    flown(engine, ctrls[:3])
    assert not engine.unstable.any()


ABSURD = (0.0, 1e-300, 1e-12, 1e-6, 1e-3, 0.3, 0.48, 0.6, 1.0, 50.0, 1e3, 1e6, 1e12, 1e300)


@pytest.mark.parametrize("field", [each.name for each in dataclasses.fields(TendonProperties)])
def test_an_absurd_size_is_refused_by_name_or_flies(field):
    besides = {
        "damping": {"stiffness": 1.0},
        "limit_margin": LIMITED,
        "limit_compliance": LIMITED,
        "friction_compliance": {"friction_loss": 0.1},
        "position_correction": {**LIMITED, "friction_loss": 0.1},
        "spring_lower": {"stiffness": 5.0},
        "spring_upper": {"stiffness": 5.0},
    }.get(field, {})
    flew = 0
    for value in ABSURD:
        try:
            parameters = parameters_of(
                {"tendons": {"properties": {**besides, field: value}}, "height": 3.0}
            )
            check_timestep(parameters)
        except ValueError as error:
            assert field in str(error) and " must " in str(error), error
            continue
        model, tendons = build(parameters)
        engine = MujocoEngine(model, 1, tendons=tendons)
        engine.reset(np.array([0]), *states(engine.model, 1))
        rows = flown(engine, controls(engine.model, 20, 1))
        assert np.isfinite(rows).all(), value
        assert not engine.unstable[0], value
        flew += 1
    assert 2 <= flew < len(ABSURD)


REFUSED = [
    ({"stiffness": 1.0}, "tendon_stiffness"),
    ({"damping": 1.0}, "tendon_damping"),
    ({"friction_loss": 1.0}, "tendon_frictionloss"),
    ({"armature": 0.1}, "tendon_armature"),
    ({"upper_limit": 0.49}, "tendon_limited"),
    ({"lower_limit": 0.48, "upper_limit": 0.48}, "neq = 3"),
]


@pytest.mark.parametrize(("properties", "name"), REFUSED)
def test_the_compiled_engine_refuses_by_name_and_tells_what_to_do(properties, name):
    model, tendons = build(parameters_of({"tendons": {"properties": properties}}))
    with pytest.raises(ValueError, match=f'{name}.*; engine="mujoco" steps every model'):
        engines.make("compiled", model, 2, tendons=tendons)


def test_the_engines_take_no_law_that_a_plain_arm_would_need():
    model, tendons = build(parameters_of({}))
    assert tendons is None
    assert engines.make("mujoco", model, 2, tendons=tendons).n == 2
    assert LAW["predictive"] == np.int64

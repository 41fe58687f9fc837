"""Model fields of each simulation's own: both engines fly them as models with those fields."""

from __future__ import annotations

import copy

import mujoco
import numpy as np
import pytest

from tendon_gym import engines
from tendon_gym.engines.fields import FIELDS as OFFERED
from tendon_gym.forces.impulse import Impulse, ImpulseTerm
from tendon_gym.forces.wind import Wind, WindTerm
from tendon_gym.model import Arm, Layout, ModelParameters, Tendons, build_model
from tests.engines.contact_scenes import SCENES
from tests.engines.flights import SUBSTEPS, Swinging, controls, starts, state
from tests.engines.random_models import EDITS, finish, random_rotation

BOTH = ("compiled", "mujoco")
STEPS = 20
POSITION, VELOCITY = 1e-11, 1e-9
FIELDS = tuple(EDITS)
SHAPES = {
    "free": ModelParameters(),
    "clamped": ModelParameters(base="clamped", height=5.0),
    "small": ModelParameters(arm=Arm(n_links=2), tendons=Tendons(n_tendons=5)),
}


def _turned_links(model: mujoco.MjModel, rng: np.random.Generator) -> None:
    links = Layout.of(model).link_bodies
    model.body_quat[links] = random_rotation(rng, len(links), 0.2)


def _turned_rotors(model: mujoco.MjModel, rng: np.random.Generator) -> None:
    model.site_quat[Layout.of(model).rotor_sites] = random_rotation(rng, 4, 0.2)


def _gains(model: mujoco.MjModel, rng: np.random.Generator) -> None:
    model.actuator_gainprm[:, 0] *= rng.uniform(0.7, 1.3, model.nu)


def _density(model: mujoco.MjModel, rng: np.random.Generator) -> None:
    model.opt.density *= rng.uniform(0.5, 1.5)


def _viscosity(model: mujoco.MjModel, rng: np.random.Generator) -> None:
    model.opt.viscosity *= rng.uniform(2.0, 5.0)


MORE = {
    "body_quat": _turned_links,
    "site_quat": _turned_rotors,
    "actuator_gainprm": _gains,
    "opt.density": _density,
    "opt.viscosity": _viscosity,
}
"""Fields that may be offered on top of those that must be."""


def airy(shape: str) -> mujoco.MjModel:
    model = build_model(SHAPES[shape])
    model.opt.density, model.opt.viscosity = 5.0, 1e-3
    return model


def edited(model: mujoco.MjModel, seed: int, names=FIELDS) -> mujoco.MjModel:
    """Return a copy of a model with random changes in some fields."""
    other, rng = copy.copy(model), np.random.default_rng(seed)
    for name in names:
        (EDITS | MORE)[name](other, rng)
    finish(other)
    return other


def field(model: mujoco.MjModel, name: str) -> np.ndarray:
    """Return a copy of a field."""
    owner, key = (model.opt, name[4:]) if name.startswith("opt.") else (model, name)
    return np.array(getattr(owner, key), float)


def fields(models: list[mujoco.MjModel], names=FIELDS) -> dict[str, np.ndarray]:
    return {name: np.array([field(model, name) for model in models]) for name in names}


def fly(engine, first=0, law=None, steps=STEPS) -> np.ndarray:
    """Return the states after every control step of the starts from `first` on."""
    model, n = engine.model, engine.n
    qpos, qvel = (each[first : first + n] for each in starts(model, first + n))
    engine.reset(np.arange(n), qpos, qvel)
    rows = []
    for ctrl in controls(model, first + n, steps):
        engine.ctrl[...] = ctrl[first:]
        engine.step(SUBSTEPS, law)
        assert not engine.unstable.any()
        rows.append(state(engine))
    return np.array(rows)


def assert_close(flown: np.ndarray, expected: np.ndarray, model: mujoco.MjModel) -> None:
    """Compare states: positions and what follows from them; velocities less strictly."""
    places = 1 + model.nq
    np.testing.assert_allclose(flown[..., :places], expected[..., :places], rtol=0, atol=POSITION)
    np.testing.assert_allclose(flown, expected, rtol=0, atol=VELOCITY)


def alone(name: str, models: list[mujoco.MjModel], **settings) -> np.ndarray:
    """Return the flights of engines that each have one of the models."""
    flights = [fly(engines.make(name, m, 1), i, **settings) for i, m in enumerate(models)]
    return np.concatenate(flights, axis=1)


def test_every_field_that_may_differ_has_a_test():
    assert set(FIELDS) <= set(OFFERED) <= set(FIELDS) | set(MORE)


@pytest.mark.parametrize("law", [None, Swinging()], ids=["held", "law"])
@pytest.mark.parametrize("n", [1, 2, 9])
@pytest.mark.parametrize("shape", SHAPES)
def test_each_simulation_flies_as_a_model_of_its_own(shape, n, law):
    model = airy(shape)
    models = [edited(model, seed) for seed in range(n)]
    expected = alone("mujoco", models, law=law)
    plain = alone("mujoco", [model] * n, law=law)
    assert np.abs(expected - plain)[-1].max(axis=1).min() > 1e-3
    bits = alone("compiled", models, law=law)
    for name in BOTH:
        engine = engines.make(name, model, n, threads=2)
        engine.set_model_fields(np.arange(n), fields(models))
        flown = fly(engine, law=law)
        assert_close(flown, expected, model)
        if name == "compiled":
            assert np.array_equal(flown, bits)


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("changed", OFFERED)
def test_each_field_alone_counts(name, changed):
    model = airy("free")
    models = [edited(model, seed, (changed,)) for seed in range(3)]
    engine = engines.make(name, model, 3)
    engine.set_model_fields(np.arange(3), fields(models, (changed,)))
    flown = fly(engine)
    assert_close(flown, alone("mujoco", models), model)
    assert np.abs(flown - alone("mujoco", [model] * 3))[-1].max(axis=1).min() > 1e-6


@pytest.mark.parametrize("name", BOTH)
def test_fields_of_some_stay_through_resets_and_can_be_put_back(name):
    model, n = airy("free"), 6
    models = [edited(model, seed) for seed in range(n)]
    engine = engines.make(name, model, n)
    plain = fly(engine)
    before = {field_name: field(model, field_name) for field_name in FIELDS}
    some = np.array([1, 4])
    engine.set_model_fields(some, fields([models[i] for i in some]))
    mixed = [models[i] if i in some else model for i in range(n)]
    expected = alone("mujoco", mixed)
    for _ in range(2):  # a reset changes no fields
        assert_close(fly(engine), expected, model)
    engine.set_model_fields(np.array([4]), fields([models[0]]))
    mixed[4] = models[0]
    assert_close(fly(engine), alone("mujoco", mixed), model)
    engine.set_model_fields(some, fields([model, model]))
    assert_close(fly(engine), plain, model)
    if name == "compiled":
        assert np.array_equal(fly(engine), plain)
    assert all(np.array_equal(before[each], field(model, each)) for each in FIELDS)


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("n", [1, 3])
def test_data_and_motion_show_the_simulations_own_model(name, n):
    model = airy("free")
    models = [edited(model, seed) for seed in range(n)]
    engine = engines.make(name, model, n)
    engine.set_model_fields(np.arange(n), fields(models))
    fly(engine, steps=3)
    for i in reversed(range(n)):
        expected = mujoco.MjData(models[i])
        expected.qpos, expected.qvel, expected.ctrl = engine.qpos[i], engine.qvel[i], engine.ctrl[i]
        mujoco.mj_forward(models[i], expected)
        data = engine.data(i)
        np.testing.assert_allclose(data.site_xpos, expected.site_xpos, rtol=0, atol=1e-12)
        np.testing.assert_allclose(data.xipos, expected.xipos, rtol=0, atol=1e-12)
        np.testing.assert_allclose(data.qacc, expected.qacc, rtol=1e-8, atol=1e-8)
        motion = engine.motion
        np.testing.assert_allclose(motion.site_position[i], expected.site_xpos, rtol=0, atol=1e-12)
        np.testing.assert_allclose(motion.body_position[i], expected.xpos, rtol=0, atol=1e-12)
        np.testing.assert_allclose(motion.tendon_length[i], expected.ten_length, rtol=0, atol=1e-12)


def test_motion_follows_new_fields_at_once():
    """Sites that were moved are where they are now, also before the next step."""
    model = airy("free")
    models = [edited(model, seed) for seed in range(2)]
    for name in BOTH:
        engine = engines.make(name, model, 2)
        engine.reset(np.arange(2), *starts(model, 2))
        engine.set_model_fields(np.arange(2), fields(models))
        for i in range(2):
            data = mujoco.MjData(models[i])
            data.qpos = engine.qpos[i]
            mujoco.mj_kinematics(models[i], data)
            np.testing.assert_allclose(
                engine.motion.site_position[i], data.site_xpos, rtol=0, atol=1e-12
            )


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("scene", ["crash", "first links on the hub, back", "arm on a boom"])
def test_a_contact_happens_to_the_simulations_own_model(scene, n):
    scene = SCENES[scene]()
    names = tuple(each for each in FIELDS if each not in ("opt.gravity", "body_pos", "opt.wind"))
    models = [edited(scene.model, seed, names) for seed in range(n)]
    rows, touched = [], False
    for name in BOTH:
        engine = engines.make(name, scene.model, n)
        engine.set_model_fields(np.arange(n), fields(models, names))
        qpos, qvel = (np.tile(each, (n, 1)) for each in (scene.qpos, scene.qvel))
        engine.reset(np.arange(n), qpos, qvel)
        looks = []
        for k in range(0, 250, 5):
            engine.ctrl[...] = scene.controls(k)
            engine.step(5)
            assert not engine.unstable.any()
            looks.append(np.concatenate([engine.qpos, engine.qvel], axis=1))
        rows.append(np.array(looks))
    for i in range(n):
        data = mujoco.MjData(models[i])
        data.qpos, data.qvel = scene.qpos, scene.qvel
        for k in range(250):
            data.ctrl = scene.controls(k - k % 5)
            mujoco.mj_step(models[i], data)
            touched |= data.ncon > 0
            if k % 5 == 4:
                end = np.concatenate([data.qpos, data.qvel])
                for each in rows:
                    np.testing.assert_allclose(each[k // 5, i], end, rtol=0, atol=1e-6)
    assert touched


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("n", [1, 3])
def test_terms_act_on_the_simulations_own_model(name, n):
    """A wind comes on top of its own wind; a blow hits the tip, wherever the masses are."""
    model = airy("free")
    models = [edited(model, seed) for seed in range(n)]

    def terms(owner: mujoco.MjModel, count: int):
        blow = Impulse("tip", (0.02, 0.01, 0.0), start=0.02)
        return [WindTerm(count, Wind((2.0, -1.0, 1.0))), ImpulseTerm(owner, count, blow)]

    engine = engines.make(name, model, n, terms(model, n))
    engine.set_model_fields(np.arange(n), fields(models))
    flown = fly(engine)
    for i, each in enumerate(models):
        expected = fly(engines.make("mujoco", each, 1, terms(each, 1)), i)
        assert_close(flown[:, [i]], expected, model)


BAD = {
    "unknown": ({"body_weight": np.zeros((2, 14))}, ValueError, "body_weight"),
    "not one that may differ": (
        {"body_parentid": np.zeros((2, 14))},
        ValueError,
        "body_",
    ),
    "shape": ({"body_mass": np.ones((2, 3))}, ValueError, "body_mass"),
    "rows": ({"body_mass": np.ones((3, 14))}, ValueError, "body_mass"),
    "NaN": ({"body_mass": np.full((2, 14), np.nan)}, ValueError, "body_mass"),
    "text": ({"body_mass": np.full((2, 14), "a")}, TypeError, "body_mass"),
    "negative damping": ({"dof_damping": np.full((2, 30), -1e-3)}, ValueError, "dof_damping"),
    "negative density": ({"opt.density": np.full(2, -1.0)}, ValueError, "opt.density"),
    "quaternion of zeros": ({"body_quat": np.zeros((2, 14, 4))}, ValueError, "body_quat"),
    "second of two": (
        {"body_mass": np.ones((2, 14)), "dof_damping": np.full((2, 30), np.inf)},
        ValueError,
        "dof_damping",
    ),
}


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("kind", BAD)
def test_values_that_make_no_sense_raise_before_anything_changes(name, kind):
    model = airy("free")
    engine = engines.make(name, model, 3)
    before = fly(engine)
    values, error, message = BAD[kind]
    with pytest.raises(error, match=message):
        engine.set_model_fields(np.array([0, 2]), values)
    assert np.array_equal(fly(engine), before)


@pytest.mark.parametrize("field", ["body_quat", "body_iquat", "site_quat"])
def test_quaternions_of_another_length_turn_alike_on_both(field):
    model = airy("free")
    flown = []
    for name in BOTH:
        engine = engines.make(name, model, 2)
        engine.set_model_fields(
            np.arange(2), {field: np.tile(1.1 * getattr(model, field), (2, 1, 1))}
        )
        flown.append(fly(engine))
    assert_close(*flown, model)


@pytest.mark.parametrize("name", BOTH)
def test_no_simulations_may_be_given_no_values(name):
    engine = engines.make(name, airy("free"), 2)
    before = fly(engine)
    none = np.zeros(0, np.int64)
    engine.set_model_fields(
        none, {"body_mass": np.zeros((0, 14)), "body_quat": np.zeros((0, 14, 4))}
    )
    assert np.array_equal(fly(engine), before)


def test_an_interrupt_while_the_engine_binds_is_made_up_for(monkeypatch):
    """The first step, or that after a change of fields, compiles: people interrupt it there."""
    from tendon_gym.engines.compiled import engine as module

    model = airy("free")
    engine, other = (engines.make("compiled", model, 2) for _ in range(2))
    light = {"opt.gravity": np.tile([0.0, 0.0, -3.0], (2, 1))}
    struck = []

    def strike(*arguments):
        if struck:
            raise struck.pop()
        return box(*arguments)

    box = module.box
    monkeypatch.setattr(module, "box", strike)
    for fields in ({}, light):
        for each in (engine, other):
            each.set_model_fields(np.arange(2), fields)
        struck.append(KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            engine.step(1)
        assert np.array_equal(fly(engine), fly(other))


@pytest.mark.parametrize("name", BOTH)
def test_what_the_engine_does_not_represent_cannot_slip_in(name):
    """Damping of the free joint is flown as MuJoCo flies it, or refused; so are other traps."""
    model = airy("free")
    layout = Layout.of(model)
    traps = {}
    for key, index, value in (
        ("dof_damping", 0, 2.0),
        ("dof_armature", 4, 0.05),
        ("jnt_stiffness", 0, 1.0),
    ):
        traps[key] = field(model, key)
        traps[key][index] = value
    assert not set(range(6)) & set(layout.joint_dofs.tolist())
    for key, value in traps.items():
        other = copy.copy(model)
        getattr(other, key)[:] = value
        mujoco.mj_setConst(other, mujoco.MjData(other))
        engine = engines.make(name, model, 1)
        try:
            engine.set_model_fields(np.zeros(1, np.int64), {key: value[None]})
        except ValueError:
            continue
        assert_close(fly(engine), fly(engines.make("mujoco", other, 1)), model)

"""A ball beside the vehicle in the compiled engine: MuJoCo's own motion of it, and its contacts."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tendon_gym import engines
from tendon_gym.forces.external_wrench import ExternalWrench, ExternalWrenchTerm
from tendon_gym.model import Fluid, Layout, Load, ModelParameters, build_model, build_spec

POSITION, VELOCITY = 1e-12, 1e-10
THICK = Fluid(density=30.0, viscosity=0.05)


def parameters(base="free", z=3.0, mass=0.2):
    load = Load(mass=mass, radius=0.05, position=(1.0, 0.2, z))
    return ModelParameters(base=base, height=3.0, load=load, fluid=THICK)


def pair(model, n, terms=lambda: []):
    return [engines.make(kind, model, n, terms()) for kind in ("mujoco", "compiled")]


def start(made, qpos, qvel):
    n = made[0].n
    for engine in made:
        engine.reset(np.arange(n), qpos.copy(), qvel.copy())


def states(model, n, seed=0):
    rng, at = np.random.default_rng(seed), Layout.of(model).load_qpos
    qpos, qvel = np.tile(model.qpos0, (n, 1)), rng.normal(0.0, 2.0, (n, model.nv))
    turned = rng.normal(size=(n, 4))
    qpos[:, at + 3 :] = turned / np.linalg.norm(turned, axis=1)[:, None]
    return qpos, qvel


def compare(made, steps, substeps=5):
    for _ in range(steps):
        for engine in made:
            engine.ctrl[:] = 2.5
            engine.step(substeps)
        np.testing.assert_allclose(made[1].qpos, made[0].qpos, rtol=0, atol=POSITION)
        np.testing.assert_allclose(made[1].qvel, made[0].qvel, rtol=0, atol=VELOCITY)
        assert not made[1].unstable.any()


@pytest.mark.parametrize("base", ["free", "clamped"])
@pytest.mark.parametrize("n", [1, 3])
def test_a_load_flies_as_mujocos(base, n):
    model = build_model(parameters(base))
    made = pair(model, n)
    start(made, *states(model, n))
    compare(made, 12)


def test_force_terms_wind_and_fields_of_its_own_move_it():
    model = build_model(parameters())
    wrench = ExternalWrench(body="load", force=(0.3, -0.2, 0.5), torque=(0.001, 0.002, -0.003))
    made = pair(model, 3, lambda: [ExternalWrenchTerm(model, 3, wrench)])
    load = Layout.of(model).load_body
    mass, inertia = (np.tile(f, (2, *[1] * f.ndim)) for f in (model.body_mass, model.body_inertia))
    mass[:, load], inertia[:, load] = 0.4, 3e-4
    values = {"body_mass": mass, "body_inertia": inertia}
    values["opt.wind"] = np.array([[1.0, 0.5, -0.2], [0.0, 2.0, 0.0]])
    for engine in made:
        engine.set_model_fields(np.array([0, 2]), values)
    start(made, *states(model, 3, seed=1))
    compare(made, 12)


@pytest.mark.parametrize("target", ["floor", "base"])
def test_a_load_that_falls_on_something_meets_it_as_in_mujoco(target):
    model = build_model(parameters(z=0.3 if target == "floor" else 3.25))
    made = pair(model, 2)
    qpos, qvel = np.tile(model.qpos0, (2, 1)), np.zeros((2, model.nv))
    if target == "base":
        at = Layout.of(model).load_qpos
        qpos[:, at : at + 2] = 0.01
    start(made, qpos, qvel)
    touched = 0
    for _ in range(40):
        for engine in made:
            engine.ctrl[:, :4] = 3.09
            engine.step(5)
        data = made[0].data(0)
        touched += int((data.contact.geom == model.geom("load").id).any())
        np.testing.assert_allclose(made[1].qpos, made[0].qpos, rtol=0, atol=1e-7)
    assert touched > 5


def test_simulations_are_the_same_in_any_company():
    model = build_model(parameters())
    qpos, qvel = states(model, 13, seed=2)
    many = engines.make("compiled", model, 13, threads=2)
    many.reset(np.arange(13), qpos, qvel)
    many.step(60)
    for i in (0, 8, 12):
        one = engines.make("compiled", model, 1)
        one.reset(np.arange(1), qpos[i : i + 1], qvel[i : i + 1])
        one.step(60)
        assert np.array_equal(one.qpos[0], many.qpos[i])


def test_a_load_that_is_no_ball_is_refused():
    spec = build_spec(parameters())
    geom = spec.geom("load")
    geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, [0.05, 0.03, 0.02]
    with pytest.raises(ValueError, match=r"load whose inertia is a centred ball's.*'load'"):
        engines.make("compiled", spec.compile(), 1)
    engine = engines.make("compiled", build_model(parameters()), 2)
    model = engine.model
    inertia = np.tile(model.body_inertia, (1, 1, 1))
    inertia[0, Layout.of(model).load_body] = [1e-4, 2e-4, 2e-4]
    with pytest.raises(ValueError, match="inertia of a ball"):
        engine.set_model_fields(np.array([0]), {"body_inertia": inertia})

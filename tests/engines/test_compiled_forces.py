"""Force terms on both engines: against each other, against MuJoCo's wind, and against momentum."""

from __future__ import annotations

import copy

import mujoco
import numpy as np
import pytest

from tendon_gym import engines
from tendon_gym.forces import ExternalWrench, ExternalWrenchTerm
from tendon_gym.forces.impulse import Impulse, ImpulseTerm
from tendon_gym.forces.wind import Wind, WindTerm
from tendon_gym.model import Arm, Fluid, Layout, ModelParameters, Solver, build_model
from tests.engines.flights import Swinging, controls, starts, uneven
from tests.engines.mechanics import mechanics

BOTH = ("compiled", "mujoco")
STEPS, SUBSTEPS = 20, 5
POSITION, VELOCITY = 1e-11, 1e-9


@pytest.fixture(params=["free", "clamped"])
def model(request) -> mujoco.MjModel:
    return airy(request.param)


def airy(base: str) -> mujoco.MjModel:
    """Return a vehicle without symmetry in air that is thick enough to be felt."""
    model = uneven(ModelParameters(base=base))
    model.opt.density, model.opt.viscosity = 5.0, 1e-3
    return model


class Python:
    """A user's own term: brakes the base and the tip by their velocity, and bends every hinge."""

    needs_motion = True

    def __init__(self, model, n):
        layout = Layout.of(model)
        self.base, self.last, self.dofs = (
            layout.base_body,
            layout.link_bodies[-1],
            layout.joint_dofs,
        )
        self.calls = np.zeros(n, int)

    def reset(self, ids):
        self.calls[ids] = 0

    def add(self, time, motion, push):
        self.calls += 1
        for i in range(len(time)):
            for body in (self.base, self.last):
                push.wrench[i, body, :3] -= 0.3 * motion.body_velocity[i, body]
                push.wrench[i, body, 3:] -= 1e-3 * motion.body_angular_velocity[i, body]
            push.joint_force[i, self.dofs] += 1e-3 * np.cos(30.0 * time[i])


def wrench(body, force=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0), **span):
    push = ExternalWrench(body, force, torque, **span)
    return lambda model, n: [ExternalWrenchTerm(model, n, push)]


def blow(target, impulse, **span):
    return lambda model, n: [ImpulseTerm(model, n, Impulse(target, impulse, **span))]


def wind(velocity, **span):
    return lambda model, n: [WindTerm(n, Wind(velocity, **span))]


def several(*makers):
    return lambda model, n: [term for maker in makers for term in maker(model, n)]


TERMS = {
    "force on the base": wrench("base", (0.5, -0.3, 0.2)),
    "torque on the base": wrench("base", torque=(0.02, 0.01, -0.03)),
    "force on a link": wrench("link_5", (0.1, 0.2, -0.3)),
    "torque on a link": wrench("link_5", torque=(0.01, -0.02, 0.005)),
    "force on the last link": wrench("link_12", (0.5, 0.0, 0.3), start=0.03, duration=0.05),
    "blow on the base": blow("base", (0.1, 0.05, -0.02), start=0.021),
    "blow on a link": blow("link_3", (0.0, 0.01, 0.02), start=0.04, duration=0.03),
    "blow on the tip": blow("tip", (0.01, -0.02, 0.01), start=0.05, duration=0.011),
    "blow on a hub": blow("rotor_2", (0.03, 0.0, 0.1)),
    "wind": wind((3.0, -2.0, 1.0)),
    "gust": wind((-4.0, 1.0, 2.0), start=0.033, duration=0.06),
    "own term": lambda model, n: [Python(model, n)],
    "all at once": several(
        wrench("link_7", (0.1, 0.0, 0.1)),
        blow("tip", (0.01, 0.0, 0.01), start=0.02),
        wind((2.0, 1.0, 0.0)),
        wind((0.0, 1.0, -1.0), start=0.1),
        lambda model, n: [Python(model, n)],
    ),
}


def flight(name, model, terms, n=1, law=None, threads=1) -> tuple[np.ndarray, np.ndarray]:
    """Return qpos and qvel after every control step, (STEPS, n, .)."""
    engine = engines.make(name, model, n, terms, threads)
    engine.reset(np.arange(n), *starts(model, n))
    qpos, qvel = [], []
    for ctrl in controls(model, n, STEPS):
        engine.ctrl[...] = ctrl
        engine.step(SUBSTEPS, law)
        assert not engine.unstable.any()
        qpos.append(engine.qpos.copy())
        qvel.append(engine.qvel.copy())
    return np.array(qpos), np.array(qvel)


def assert_close(flown, expected) -> None:
    np.testing.assert_allclose(flown[0], expected[0], rtol=0, atol=POSITION)
    np.testing.assert_allclose(flown[1], expected[1], rtol=0, atol=VELOCITY)


@pytest.mark.parametrize("law", [None, Swinging()], ids=["held", "law"])
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("kind", TERMS)
def test_both_engines_push_alike(model, kind, n, law):
    flights = []
    for name in BOTH:
        own = copy.copy(model)
        flights.append(flight(name, own, TERMS[kind](own, n), n, law))
    assert_close(*flights)
    felt = np.abs(flights[1][0] - flight("mujoco", model, [], n, law)[0]).max() > 1e-6
    fixed = kind.endswith(("the base", "a hub")) and not Layout.of(model).free
    assert felt != fixed


@pytest.mark.parametrize("kind", TERMS)
def test_terms_push_each_lane_as_they_push_one(kind):
    model = airy("free")
    together = flight("compiled", model, TERMS[kind](model, 7), 7, threads=2)
    for i in (0, 4, 6):
        engine = engines.make("compiled", model, 1, TERMS[kind](model, 1))
        engine.reset(np.zeros(1, np.int64), *(each[[i]] for each in starts(model, 7)))
        for k, ctrl in enumerate(controls(model, 7, STEPS)):
            engine.ctrl[...] = ctrl[[i]]
            engine.step(SUBSTEPS)
            assert np.array_equal(engine.qpos[0], together[0][k, i])


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("n", [1, 3])
def test_a_constant_wind_is_the_one_of_the_model(model, name, n):
    other = copy.copy(model)
    other.opt.wind += [3.0, -2.0, 1.0]
    windy = flight(name, model, [WindTerm(n, Wind((3.0, -2.0, 1.0)))], n)
    assert_close(windy, flight("mujoco", other, [], n))
    assert_close(windy, flight("compiled", other, [], n))


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("n", [1, 3])
def test_terms_leave_the_model_as_it_is(name, n):
    """Another engine of the same model does not feel them, during their flight and after it."""
    model = airy("free")
    before = model.opt.wind.copy()
    calm = flight(name, model, [], n)
    for terms in ([WindTerm(n, Wind((5.0, 5.0, 5.0)))], [WindTerm(n, Wind((0.0, 0.0, -5.0)))]):
        assert np.abs(flight(name, model, terms, n)[0] - calm[0]).max() > 1e-6
        assert np.array_equal(model.opt.wind, before)
        engine = engines.make(name, model, n, terms)
        engine.step(1)
        engine.data(0)
        assert np.array_equal(model.opt.wind, before)
        again = flight(name, model, [], n)
        assert all(np.array_equal(a, b) for a, b in zip(again, calm, strict=True))


@pytest.mark.parametrize("name", BOTH)
def test_each_simulation_has_its_own_terms_until_its_reset(name):
    model, n = airy("free"), 4
    gust, own = Wind((4.0, 0.0, 0.0)), Wind((0.0, -4.0, 2.0))
    hit, other = Impulse("tip", (0.02, 0.0, 0.0)), Impulse("base", (0.0, 0.3, 0.0), start=0.04)
    terms = [WindTerm(n, gust), ImpulseTerm(model, n, hit)]
    engine = engines.make(name, model, n, terms)
    engine.reset(np.arange(n), *starts(model, n))
    terms[0].set(2, own)
    terms[1].set(2, other)
    alone = [WindTerm(1, own), ImpulseTerm(model, 1, other)]
    single = engines.make("mujoco", model, 1, alone)
    single.reset(np.zeros(1, np.int64), *(each[[2]] for each in starts(model, n)))
    # reset puts back what a term was made with: here the same
    usual = flight("mujoco", model, [WindTerm(n, gust), ImpulseTerm(model, n, hit)], n)
    for k, ctrl in enumerate(controls(model, n, STEPS)):
        engine.ctrl[...], single.ctrl[...] = ctrl, ctrl[[2]]
        engine.step(SUBSTEPS)
        single.step(SUBSTEPS)
        np.testing.assert_allclose(engine.qpos[2], single.qpos[0], rtol=0, atol=POSITION)
        others = [0, 1, 3]
        np.testing.assert_allclose(engine.qpos[others], usual[0][k, others], rtol=0, atol=POSITION)
    assert np.abs(engine.qpos[2] - usual[0][-1, 2]).max() > 1e-4
    engine.reset(np.arange(n), *starts(model, n))
    for ctrl in controls(model, n, STEPS):
        engine.ctrl[...] = ctrl
        engine.step(SUBSTEPS)
    np.testing.assert_allclose(engine.qpos, usual[0][-1], rtol=0, atol=POSITION)


BLOWS = {
    "base": ("base", (0.3, -0.2, 0.1)),
    "link_3": ("link_3", (0.02, 0.01, -0.03)),
    "tip": ("tip", (0.02, -0.01, 0.02)),
}


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("duration", [0.0, 0.0031])
@pytest.mark.parametrize("target", BLOWS)
def test_a_blow_gives_exactly_its_momentum(name, target, duration):
    """Falling without air: momentum grows by it, spin by lever x momentum, at order dt."""
    model = build_model(
        ModelParameters(
            arm=Arm(n_links=4, bending_damping=0.0),
            fluid=Fluid(0.0, 0.0),
            solver=Solver(timestep=1e-5),
        )
    )
    body, momentum = BLOWS[target]
    start, steps = 0.002, max(1, round(duration / 1e-5))
    engine = engines.make(
        name, model, 1, [ImpulseTerm(model, 1, Impulse(body, momentum, start, duration))]
    )
    qpos = model.qpos0[None].copy()
    qpos[0, 7:] = 0.2
    engine.reset(np.zeros(1, np.int64), qpos, np.zeros((1, model.nv)))
    engine.step(200)
    before = mechanics(model, engine.qpos[0], engine.qvel[0])
    data = engine.data(0)
    struck = data.site("tip").xpos if target == "tip" else data.body(body).xipos
    lever = struck.copy() - before.centre
    engine.step(steps)
    after = mechanics(model, engine.qpos[0], engine.qvel[0])
    gained = after.momentum - before.momentum
    gained -= model.body_mass.sum() * model.opt.gravity * steps * 1e-5
    np.testing.assert_allclose(gained, momentum, rtol=0, atol=1e-3 * np.linalg.norm(momentum))
    turn = np.cross(lever, momentum)
    slack = 1e-3 if duration == 0.0 else 0.05  # the lever moves while a long blow lasts
    np.testing.assert_allclose(
        after.spin - before.spin, turn, rtol=0, atol=slack * np.linalg.norm(momentum) * 0.5
    )
    engine.step(200)
    later = mechanics(model, engine.qpos[0], engine.qvel[0])
    gained = later.momentum - after.momentum
    gained -= model.body_mass.sum() * model.opt.gravity * 200 * 1e-5
    assert np.abs(gained).max() < 1e-3 * np.linalg.norm(momentum)


def test_a_users_term_is_called_once_per_physics_step_on_both_engines():
    model = airy("free")
    for name in BOTH:
        term = Python(model, 3)
        engine = engines.make(name, model, 3, [term])
        engine.reset(np.arange(3), *starts(model, 3))
        engine.step(7)
        assert np.array_equal(term.calls, [7, 7, 7])
        engine.reset(np.array([1]), *(each[:1] for each in starts(model, 3)))
        assert np.array_equal(term.calls, [7, 0, 7])

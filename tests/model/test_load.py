"""A load in the model: a ball of its own, which leaves the vehicle's indices as they are."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tendon_gym import config
from tendon_gym.model import Layout, Load, ModelParameters, build_model

LOAD = Load(mass=0.25, radius=0.05, position=(0.7, -0.2, 0.4))


@pytest.mark.parametrize("base", ["free", "clamped"])
def test_a_load_comes_after_all_that_the_vehicle_has(base):
    plain = build_model(ModelParameters(base=base))
    model = build_model(ModelParameters(base=base, load=LOAD))
    without, layout = Layout.of(plain), Layout.of(model)
    assert (model.nq, model.nv, model.nu) == (plain.nq + 7, plain.nv + 6, plain.nu)
    assert (layout.load_qpos, layout.load_dof) == (plain.nq, plain.nv)
    assert layout.load_body == plain.nbody
    assert (without.load_body, without.load_qpos, without.load_dof) == (-1, -1, -1)
    assert np.array_equal(model.qpos0[: plain.nq], plain.qpos0)
    for name in ("base_body", "link_bodies", "tip_site", "joint_qpos", "joint_dofs", "mass"):
        assert np.array_equal(getattr(layout, name), getattr(without, name)), name
    np.testing.assert_allclose(model.qpos0[layout.load_qpos :], [*LOAD.position, 1, 0, 0, 0])


def test_it_is_a_ball_with_its_mass_and_moment():
    model = build_model(ModelParameters(load=LOAD))
    load = Layout.of(model).load_body
    assert model.body_mass[load] == pytest.approx(0.25)
    np.testing.assert_allclose(model.body_inertia[load], 0.4 * 0.25 * 0.05**2)


@pytest.mark.parametrize("other", ["floor", "hub", "tip"])
def test_it_touches_floor_frame_and_arm(other):
    model = build_model(ModelParameters(load=LOAD, height=2.0))
    data, at = mujoco.MjData(model), Layout.of(model).load_qpos
    mujoco.mj_forward(model, data)
    assert data.ncon == 0
    place = {"floor": [3.0, 0.0, 0.049], "hub": [0.0, 0.0, 2.06]}.get(other)
    data.qpos[at : at + 3] = data.site("tip").xpos if place is None else place
    data.qpos[at] += 0.05
    mujoco.mj_forward(model, data)
    pairs = {frozenset(pair) for pair in data.contact.geom.tolist()}
    assert frozenset((model.geom("load").id, model.geom(other).id)) in pairs


def test_it_is_plain_values():
    parameters = config.override(ModelParameters(), {"load": {"mass": 0.5}}, "model")
    assert parameters.load == Load(mass=0.5)
    assert config.from_dict(ModelParameters, config.to_dict(parameters)) == parameters
    assert config.override(parameters, {"load": None}, "model").load is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"mass": 0.0}, "mass must be"),
        ({"radius": -1.0}, "radius must be"),
        ({"radius": float("nan")}, "radius must be"),
        ({"position": (0.0, 0.0)}, "position must"),
        ({"position": (0.0, 0.0, 1e4)}, "position"),
    ],
)
def test_bad_loads_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        Load(**values)
    with pytest.raises(TypeError, match="load must be Load or None, got"):
        ModelParameters(load=3)

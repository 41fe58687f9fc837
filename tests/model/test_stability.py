"""The limit of the timestep against simulations on either side of it."""

import mujoco
import numpy as np
import pytest

from tendon_gym.model import (
    PRESETS,
    Arm,
    Layout,
    ModelParameters,
    Solver,
    build_model,
    check_timestep,
    preset,
)

CASES = [
    (Arm(), Solver(), "free"),
    (Arm(n_links=1, bending_damping=0.0), Solver(timestep=0.01), "clamped"),
    (Arm(n_links=3, bending_damping=1e-3), Solver("implicitfast", 0.005), "free"),
    (Arm(n_links=24, length=1.0, mass=1.0), Solver(timestep=0.0005), "clamped"),
    (Arm(n_links=6, bending_damping=0.0, tip_mass=0.5), Solver("implicitfast", 0.004), "free"),
    (Arm(n_links=1, discretisation="consistent"), Solver(timestep=0.004), "free"),
]


def parameters_of(arm, solver, base, stiffness):
    values = {name: getattr(arm, name) for name in arm.__dataclass_fields__}
    arm = Arm(**{**values, "bending_stiffness": stiffness})
    return ModelParameters(arm=arm, solver=solver, base=base, height=3.0)


def limit(arm, solver, base):
    """Return the largest stiffness that is taken, to a thousandth."""
    low, high = 1e-5, 1e4
    while high / low > 1.001:
        middle = (low * high) ** 0.5
        try:
            check_timestep(parameters_of(arm, solver, base, middle))
            low = middle
        except ValueError:
            high = middle
    return low


def largest_angle(parameters, steps=3000):
    """Return the largest hinge angle after a while that began with a thousandth of a radian."""
    model = build_model(parameters)
    model.opt.gravity[:] = 0.0
    model.opt.density = model.opt.viscosity = 0.0
    data, hinges = mujoco.MjData(model), Layout.of(model).joint_qpos
    data.qpos[hinges] = 1e-3 * np.random.default_rng(0).normal(size=len(hinges))
    largest = 0.0
    for _ in range(steps):
        mujoco.mj_step(model, data)
        largest = max(largest, float(np.abs(data.qpos[hinges]).max()))
    return largest


@pytest.mark.parametrize(("arm", "solver", "base"), CASES)
def test_arms_stay_small_below_the_limit_and_blow_up_above(arm, solver, base):
    stiffness = limit(arm, solver, base)
    assert largest_angle(parameters_of(arm, solver, base, 0.97 * stiffness)) < 0.1
    assert largest_angle(parameters_of(arm, solver, base, 1.03 * stiffness)) > 1.0


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("links", [1, 12, 48])
def test_the_presets_are_taken_at_every_resolution(name, links):
    parameters = preset(name)
    check_timestep(ModelParameters(arm=Arm(n_links=links), solver=parameters.solver))


def test_the_message_tells_the_limit():
    arm = Arm(n_links=6, bending_stiffness=5.0)
    with pytest.raises(ValueError, match=r"model\.arm\.bending_stiffness must be less than ") as e:
        check_timestep(ModelParameters(arm=arm))
    assert "timestep of 0.002 s" in str(e.value)
    assert str(e.value).endswith("got 5.0")
    told = float(str(e.value).split("less than ")[1].split()[0])
    assert told == pytest.approx(limit(arm, Solver(), "free"), rel=2e-3)

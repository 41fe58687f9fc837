import dataclasses
import json
import math
import re

import mujoco
import numpy as np
import pytest

from tendon_gym import config
from tendon_gym.model import (
    MAX_LINKS,
    PRESETS,
    Airframe,
    Arm,
    Fluid,
    ModelParameters,
    Solver,
    Tendons,
    build_model,
    check_timestep,
    preset,
)


def test_paper_is_implicitfast_and_default_is_euler():
    assert preset("paper").solver.integrator == "implicitfast"
    assert preset("default").solver.integrator == "Euler"
    assert dataclasses.replace(preset("paper"), solver=Solver()) == preset("default")
    assert preset("default") == ModelParameters()


def test_unknown_preset_lists_the_legal_ones():
    with pytest.raises(ValueError, match=r"'default', 'paper'.*'papper'"):
        preset("papper")


@pytest.mark.parametrize("n_links", [1, 2, 3, 7, 12, 24, MAX_LINKS])
def test_another_number_of_links_is_the_same_rod(n_links):
    arm = Arm(n_links=n_links)
    assert arm.n_links * arm.link_length == pytest.approx(0.48)
    assert arm.n_links * arm.link_mass == pytest.approx(0.18)
    # Hinges in series are springs in series: the whole rod's compliance is length / EI.
    assert arm.n_links / arm.joint_stiffness == pytest.approx(0.48 / 2.4e-3)
    assert arm.n_links / arm.joint_damping == pytest.approx(0.48 / (0.006 * 0.04))


def test_the_papers_links():
    arm = Arm()
    assert arm.link_length == pytest.approx(0.04)
    assert arm.link_mass == pytest.approx(0.015)
    assert arm.joint_stiffness == pytest.approx(0.06)
    assert arm.joint_damping == pytest.approx(0.006)
    assert arm.tip_depth == pytest.approx(0.526)


def test_the_tip_reaches_a_ball_around_the_flange():
    arm, flange = Arm(), np.array([0.0, 0.0, -0.024])
    assert arm.reach == pytest.approx(0.502)
    directions = np.random.default_rng(0).normal(size=(50, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    inside, outside = (flange + arm.reach * share * directions for share in (0.9999, 1.0001))
    assert arm.check_tip("goal", inside) == pytest.approx(inside)
    assert arm.check_tip("goal", [0.0, 0.0, -arm.tip_depth]).shape == (3,)
    for place in outside:
        with pytest.raises(
            ValueError, match=r"^goal must be in the tip's reach of 0\.502 m around"
        ):
            arm.check_tip("goal", place)
    mixed = np.array([inside[0], outside[1], inside[2]])
    with pytest.raises(
        ValueError, match=r"^goal\[1\] must be .*flange at \(0, 0, -0\.024\), got \["
    ):
        arm.check_tip("goal", mixed)
    for bad, words in (([0.0, 0.0], "shape"), ([0.0, 0.0, math.nan], r"goal\[2\] must be finite")):
        with pytest.raises(ValueError, match=words):
            arm.check_tip("goal", bad)
    with pytest.raises(ValueError, match="shape"):
        arm.check_tip("goal", 0.3)


def test_rotors_stand_on_the_diagonals():
    hubs = Airframe(arm_length=0.2).hubs
    assert np.hypot(hubs[:, 0], hubs[:, 1]) == pytest.approx(np.full(4, 0.2))
    assert np.sign(hubs[:, :2]).tolist() == [[1, 1], [-1, 1], [-1, -1], [1, -1]]
    own = ((0.2, 0.0, 0.01), (0.0, 0.2, 0.01), (-0.2, 0.0, 0.01), (0.0, -0.2, 0.01))
    assert Airframe(rotor_positions=own).hubs.tolist() == [list(hub) for hub in own]


@pytest.mark.parametrize("n", [3, 4, 5, 6, 8])
def test_tendons_are_equally_spaced_by_default(n):
    x, y = Tendons(n_tendons=n, radii=0.02).positions.T
    assert np.hypot(x, y) == pytest.approx(np.full(n, 0.02))
    angles = np.unwrap(np.arctan2(y, x))
    assert angles[0] == 0.0
    assert np.diff(angles) == pytest.approx(np.full(n - 1, 2 * math.pi / n))


def test_tendons_may_differ():
    angles, radii = (0.1, 2.0, 4.5), (0.01, 0.02, 0.015)
    x, y = Tendons(angles=angles, radii=radii).positions.T
    assert np.arctan2(y, x) % (2 * math.pi) == pytest.approx(angles)
    assert np.hypot(x, y) == pytest.approx(radii)


@pytest.mark.parametrize("name", PRESETS)
def test_parameters_survive_json_and_are_hashable(name):
    parameters = preset(name)
    restored = config.from_dict(ModelParameters, json.loads(json.dumps(config.to_dict(parameters))))
    assert restored == parameters
    assert hash(restored) == hash(parameters)


def test_lists_become_tuples():
    values = {
        "airframe": {"inertia": [0.01, 0.01, 0.015], "spin": [-1, 1, -1, 1]},
        "tendons": {"n_tendons": 4, "angles": [0.0, 1.5, 3.1, 4.7], "radii": [0.01] * 4},
    }
    parameters = config.override(preset("default"), values)
    assert hash(parameters) == hash(config.override(preset("default"), values))
    assert parameters.tendons.radii == (0.01,) * 4
    assert Tendons(radii=[0.01, 0.01, 0.01]).radii == (0.01,) * 3


SQUARE = [[0.1, 0.1, 0.0], [-0.1, 0.1, 0.0], [-0.1, -0.1, 0.0], [0.1, -0.1, 0.0]]
BAD = [
    (Airframe, {"mass": math.nan}, "Airframe.mass must be finite and at least 0.001 and at most"),
    (Airframe, {"mass": -1.0}, "Airframe.mass"),
    (Airframe, {"thrust_max": 0.0}, "Airframe.thrust_max"),
    (Airframe, {"torque_coefficient": math.inf}, "Airframe.torque_coefficient"),
    (Airframe, {"arm_length": 0}, "Airframe.arm_length"),
    (Airframe, {"inertia": (0.01, -0.01, 0.01)}, r"Airframe.inertia\[1\]"),
    (Airframe, {"inertia": (0.01, 0.01, 0.03)}, r"Airframe.inertia\[2\].*sum of the other two"),
    (Airframe, {"inertia": (0.01, 0.01)}, r"Airframe.inertia must have shape \(3\)"),
    (Airframe, {"spin": (1, -1, 1, 2)}, r"Airframe.spin\[3\] must be 1 or -1"),
    (Airframe, {"spin": (1, -1, 1)}, "Airframe.spin must have shape"),
    (Airframe, {"spin": (1, 1, 1, 1)}, "independently"),
    (Airframe, {"rotor_positions": SQUARE[:3]}, "Airframe.rotor_positions must have shape"),
    (Airframe, {"rotor_positions": [[0.1, 0.0, 0.0]] * 4}, "independently"),
    (Arm, {"n_links": 0}, "Arm.n_links must be an integer from 1 to 48"),
    (Arm, {"n_links": 49}, "Arm.n_links must be an integer from 1 to 48"),
    (Arm, {"length": -0.1}, "Arm.length"),
    (Arm, {"bending_stiffness": 0.0}, "Arm.bending_stiffness"),
    (Arm, {"bending_damping": -1e-9}, "Arm.bending_damping must be finite and at least 0"),
    (Arm, {"tip_mass": math.nan}, "Arm.tip_mass"),
    (Airframe, {"mass": 0.005}, r"inertia\[0\] must be from 5e-09 to 0.005 kg m\^2, .*0.005 kg"),
    (Airframe, {"inertia": (1e-9, 1e-9, 1e-9)}, r"inertia\[0\] must be from 1.06e-06 to 1.06"),
    (Airframe, {"rotor_positions": [[1e300, 0, 0]] * 4}, r"rotor_positions\[0\]\[0\] .* most 10"),
    (Tendons, {"n_tendons": 2}, "Tendons.n_tendons must be an integer from 3 to 24"),
    (Tendons, {"n_tendons": 25}, "Tendons.n_tendons must be an integer from 3 to 24"),
    (Tendons, {"n_tendons": 10**9}, "Tendons.n_tendons must be an integer from 3 to 24"),
    (Tendons, {"radii": 0.0}, "Tendons.radii"),
    (Tendons, {"radii": (0.01, 0.01, -0.01)}, r"Tendons.radii\[2\]"),
    (Tendons, {"radii": (0.01, 0.01)}, "Tendons.radii must have shape"),
    (Tendons, {"angles": (0.0, 4.0, 2.0)}, "Tendons.angles must increase strictly"),
    (Tendons, {"angles": (0.0, 2.0, 2.0)}, "Tendons.angles must increase strictly"),
    (Tendons, {"angles": (-0.1, 2.0, 4.0)}, r"Tendons.angles\[0\]"),
    (Tendons, {"angles": (0.0, 2.0, 6.3)}, r"Tendons.angles\[2\].*less than 6.28"),
    (Tendons, {"angles": (0.0, 2.0, math.nan)}, r"Tendons.angles\[2\]"),
    (Tendons, {"angles": (0.0, 1.0, 2.0)}, r"Tendons.angles\[2\].*less than pi"),
    (Tendons, {"angles": (0.0, 2.0, 3.0, 4.0)}, "Tendons.angles must have shape"),
    (Tendons, {"tension_max": -6.0}, "Tendons.tension_max"),
    (Fluid, {"density": -1.0}, "Fluid.density"),
    (Fluid, {"viscosity": math.inf}, "Fluid.viscosity"),
    (Solver, {"integrator": "euler"}, "Solver.integrator must be one of 'Euler', 'implicitfast'"),
    (Solver, {"timestep": 0.02}, "Solver.timestep.*at most 0.01"),
    (ModelParameters, {"base": "fixed"}, "ModelParameters.base must be one of 'free', 'clamped'"),
    (ModelParameters, {"height": 0.5}, "ModelParameters.height.*greater than 0.542"),
]


@pytest.mark.parametrize(("cls", "values", "message"), BAD)
def test_bad_values_name_the_element_and_the_legal_values(cls, values, message):
    with pytest.raises(ValueError, match=message):
        cls(**values)


ABSURD = (0.0, 1e-300, 1e-20, 1e-12, 1e-6, 1e-3, 1e3, 1e6, 1e12, 1e300)
"""From nothing to more than there is."""

PARTS = {"airframe": Airframe, "arm": Arm, "tendons": Tendons, "fluid": Fluid, "solver": Solver}
VECTORS = {
    "inertia": lambda x: [x, x, x],
    "rotor_positions": lambda x: [[x, x, 0], [-x, x, 0], [-x, -x, 0], [x, -x, 0]],
    "angles": lambda x: [0.0, x, 4.2],
}
NUMBERS = [
    (part, field.name)
    for part, cls in PARTS.items()
    for field in dataclasses.fields(cls)
    if isinstance(field.default, float) or field.name in VECTORS
]


def test_every_field_that_is_a_number_is_tried():
    others = {"spin", "n_links", "n_tendons", "integrator", "properties", "couplings"}
    others |= {"discretisation", "torsional_stiffness", "axial_stiffness"}
    names = {field.name for cls in PARTS.values() for field in dataclasses.fields(cls)}
    assert names - {name for _, name in NUMBERS} == others


@pytest.mark.parametrize(("part", "name"), NUMBERS)
def test_an_absurd_size_is_refused_by_name_or_flies(part, name):
    """Either MuJoCo never sees it, or it can step it."""
    flown = 0
    for value in ABSURD:
        values = {name: VECTORS.get(name, lambda x: x)(value)}
        try:
            parameters = config.override(preset("default"), {part: values}, "model")
            check_timestep(parameters)
        except ValueError as error:
            assert re.match(r"model.* must ", str(error)), error
            assert name in str(error) or "ModelParameters.height" in str(error), error
            continue
        model = build_model(parameters)
        data = mujoco.MjData(model)
        data.qpos[-2 * parameters.arm.n_links :] = 0.02
        data.ctrl[:4] = min(3.0, parameters.airframe.thrust_max)
        mujoco.mj_step(model, data, 50)
        assert all(warning.number == 0 for warning in data.warning), value
        assert np.isfinite(data.qpos).all() and np.isfinite(data.qvel).all(), value
        flown += 1
    assert flown < len(ABSURD)


@pytest.mark.parametrize(
    ("cls", "values"),
    [
        (Arm, {"n_links": 12.0}),
        (Arm, {"n_links": True}),
        (Arm, {"length": "0.48"}),
        (Tendons, {"angles": ("a", "b", "c")}),
        (ModelParameters, {"arm": {"n_links": 3}}),
    ],
)
def test_wrong_types_raise(cls, values):
    with pytest.raises(TypeError, match=cls.__name__):
        cls(**values)

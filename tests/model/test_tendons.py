"""The arm's tendons: routing, what else is on them, and what the timestep allows of it."""

from __future__ import annotations

import json

import mujoco
import numpy as np
import pytest

from tendon_gym import config
from tendon_gym.model import (
    PRESETS,
    Arm,
    Layout,
    ModelParameters,
    Solver,
    TendonCoupling,
    TendonProperties,
    Tendons,
    appearance,
    build,
    build_model,
    build_spec,
    check_timestep,
    preset,
    rest_shape,
)

UNEQUAL = Tendons(n_tendons=4, angles=(0.2, 1.9, 3.3, 4.9), radii=(0.012, 0.015, 0.018, 0.02))
PLAIN = {
    **PRESETS,
    "clamped": ModelParameters(base="clamped", height=1.5),
    "unequal": ModelParameters(tendons=UNEQUAL, arm=Arm(n_links=5, length=0.7)),
}
RICH = {
    "tendons": {
        "properties": [
            {"stiffness": 20.0, "damping": 0.5},
            {"lower_limit": 0.47, "upper_limit": 0.485, "limit_margin": 0.001},
            {"friction_loss": 0.1, "armature": 0.01, "spring_upper": 0.5, "stiffness": 3.0},
        ],
        "couplings": [
            {"first": "tendon_1", "second": "tendon_2", "coefficients": [0, -1, 2, 0, 0]}
        ],
    }
}


def on_all(**properties):
    """Return parameters with properties on all tendons."""
    return config.override(preset("default"), {"tendons": {"properties": properties}}, "model")


def bytes_of(model):
    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()


def routed_by_hand(parameters):
    """Return the spec with its tendons taken out and put in again by MuJoCo's own means."""
    spec, arm = build_spec(parameters), parameters.arm
    winches = [each for each in spec.actuators if each.name.startswith("tendon_")]
    sites = [site for site in spec.sites if site.name.startswith(("anchor_", "via_"))]
    for element in (*winches, *spec.tendons, *sites):
        spec.delete(element)
    n = parameters.tendons.n_tendons
    for i, (x, y) in enumerate(parameters.tendons.positions, start=1):
        tendon = spec.add_tendon(name=f"tendon_{i}")
        tendon.width, tendon.rgba = 0.0025, appearance.tendon_colours(n)[i - 1]
        spec.body("base").add_site(name=f"anchor_{i}", pos=[x, y, -arm.flange_offset], group=4)
        tendon.wrap_site(f"anchor_{i}")
        for k in range(1, arm.n_links + 1):
            place = [x, y, -arm.length / arm.n_links]
            spec.body(f"link_{k}").add_site(name=f"via_{k}_{i}", pos=place, group=4)
            tendon.wrap_site(f"via_{k}_{i}")
    for i in range(1, n + 1):
        winch = spec.add_actuator(name=f"tendon_{i}", target=f"tendon_{i}")
        winch.trntype, winch.gear = mujoco.mjtTrn.mjTRN_TENDON, [-1.0, 0, 0, 0, 0, 0]
        winch.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
        winch.ctrlrange = [0.0, parameters.tendons.tension_max]
    return spec


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_arm_is_the_one_that_mujocos_own_means_make(name):
    parameters = PLAIN[name]
    by_hand = routed_by_hand(parameters).compile()
    assert bytes_of(build_model(parameters)) == bytes_of(by_hand)
    assert build(parameters).tendons is None


def test_what_is_on_tendons_adds_no_actuator_joint_or_site():
    plain, rich = (build_model(config.override(preset("default"), c)) for c in ({}, RICH))
    for size in ("nq", "nv", "nu", "na", "nsite", "ntendon", "nbody", "njnt"):
        assert getattr(plain, size) == getattr(rich, size), size
    assert rich.neq == 1
    assert rich.opt.integrator == plain.opt.integrator
    for field in ("actuator_gear", "actuator_ctrlrange", "tendon_rgba", "tendon_width"):
        assert np.array_equal(getattr(plain, field), getattr(rich, field)), field


def test_parameters_survive_json_and_are_hashable():
    parameters = config.override(preset("paper"), RICH, "model")
    text = json.dumps(config.to_dict(parameters), allow_nan=False)
    restored = config.from_dict(ModelParameters, json.loads(text))
    assert restored == parameters and hash(restored) == hash(parameters)
    assert parameters.tendons.couplings[0].coefficients == (0.0, -1.0, 2.0, 0.0, 0.0)


BAD = [
    ({"properties": {"stiff": 1.0}}, "model.tendons.properties has no 'stiff'; it takes stiffness"),
    ({"properties": {"stiffness": -1.0}}, "properties.*TendonProperties.stiffness must be"),
    ({"properties": {"stiffness": 1e7}}, r"stiffness must be finite and .* at most 1e\+06"),
    ({"properties": {"damping": float("nan")}}, "properties.damping must be finite"),
    ({"properties": {"spring_lower": 0.6, "spring_upper": 0.5}}, "spring_lower must be at most"),
    ({"properties": {"lower_limit": 0.6, "upper_limit": 0.5}}, "at most upper_limit, 0.5 m, got"),
    ({"properties": {"upper_limit": float("inf")}}, "upper_limit must be finite"),
    (
        {"properties": {"lower_limit": 0.4, "upper_limit": 0.5, "limit_margin": 0.06}},
        "limit_margin must be finite and at least 0 and at most 0.05",
    ),
    ({"properties": {"lower_limit": 0.53}}, "lower_limit of tendon_1 must be .* at most 0.527"),
    ({"properties": [{}, {"upper_limit": 0.4}, {}]}, "upper_limit of tendon_2 must .* least 0.43"),
    (
        {"couplings": [{"first": "tendon_1", "coefficients": [0.05, 0, 0, 0, 0]}]},
        r"couplings\[0\].coefficients\[0\] must be .* at most 0.047",
    ),
    ({"properties": {"position_correction": 1.5}}, "position_correction must be .* at most 1"),
    ({"properties": [{}, {}]}, "one for all, or one for each of 3 tendons, got 2"),
    ({"properties": [{}, {"armature": -1}, {}]}, r"model.tendons.properties\[1\].*armature"),
    ({"couplings": [{"second": "tendon_1"}]}, r"couplings\[0\].first is required"),
    ({"couplings": [{"first": "tendon_4"}]}, r"couplings\[0\].first must be one of 'tendon_1'"),
    (
        {"couplings": [{"first": "tendon_1"}, {"first": "tendon_2", "second": "tendon_2"}]},
        r"couplings\[1\].second must be one of 'tendon_1', 'tendon_3', got 'tendon_2'",
    ),
    ({"couplings": [{"first": "tendon_1", "coefficients": [0, 1]}]}, "must have 5 elements"),
    ({"couplings": [{"first": "tendon_1", "coefficients": [0, 1e7, 0, 0, 0]}]}, "coefficients"),
    ({"couplings": [{"first": "tendon_1", "stiff": 1}]}, "has no 'stiff'"),
]


@pytest.mark.parametrize(("tendons", "message"), BAD)
def test_bad_values_name_the_element_and_the_legal_values(tendons, message):
    with pytest.raises(ValueError, match=message):
        config.override(preset("default"), {"tendons": tendons}, "model")


@pytest.mark.parametrize(
    "values",
    [
        {"properties": 3},
        {"properties": [TendonProperties(), {}, TendonProperties()]},
        {"couplings": ({"first": "tendon_1"},)},
    ],
)
def test_wrong_types_raise(values):
    with pytest.raises(TypeError, match=f"Tendons.{next(iter(values))} must be a list of Tendon"):
        Tendons(**values)


def bent(model, seed=0):
    """Return data at a random pose and speed of the hinges, where the base hangs still."""
    rng = np.random.default_rng(seed)
    data, layout = mujoco.MjData(model), Layout.of(model)
    data.qpos[layout.joint_qpos] = rng.uniform(-0.1, 0.1, len(layout.joint_qpos))
    data.qvel[layout.joint_dofs] = rng.uniform(-0.5, 0.5, len(layout.joint_qpos))
    mujoco.mj_forward(model, data)
    return data


def passive(parameters, seed=0):
    """Return lengths (n,), and work per time that the tendons' springs and dampers do, W."""
    model = build_model(parameters)
    data, without = bent(model, seed), build_model(ModelParameters())
    plain = bent(without, seed)
    assert np.array_equal(data.qpos, plain.qpos)
    power = (data.qfrc_passive - plain.qfrc_passive) @ data.qvel
    return data.ten_length.copy(), data.ten_velocity.copy(), power


@pytest.mark.parametrize(
    ("ends", "rest"),
    [
        ({}, (0.48, 0.48)),
        ({"spring_lower": 0.478, "spring_upper": 0.481}, (0.478, 0.481)),
        ({"spring_lower": 0.481}, (0.481, np.inf)),
        ({"spring_upper": 0.478}, (-np.inf, 0.478)),
    ],
)
def test_springs_and_dampers_do_the_work_that_they_should(ends, rest):
    for seed in range(4):
        lengths, rates, power = passive(on_all(stiffness=20.0, damping=0.7, **ends), seed)
        stretch = lengths - np.clip(lengths, *rest)
        expected = -(20.0 * stretch * rates + 0.7 * rates**2).sum()
        assert power == pytest.approx(expected, rel=1e-9)


def test_armature_is_inertia_along_the_tendons():
    heavy, light = build_model(on_all(armature=0.05)), build_model(ModelParameters())
    data, other = bent(heavy), bent(light)
    energies = []
    for model, each in ((heavy, data), (light, other)):
        momentum = np.zeros(model.nv)
        mujoco.mj_mulM(model, each, momentum, each.qvel)
        energies.append(0.5 * momentum @ each.qvel)
    expected = 0.5 * 0.05 * (other.ten_velocity**2).sum()
    assert energies[0] - energies[1] == pytest.approx(expected, rel=1e-9)


def test_rest_shapes_know_the_springs():
    """A spring along the tendon that is pulled holds against the tension: the arm bends less."""
    loose, held = ModelParameters(), on_all(stiffness=200.0)
    tensions = [2.0, 0.0, 0.0]
    free, sprung = (rest_shape(build_model(each), tensions) for each in (loose, held))
    assert np.abs(sprung).sum() < 0.7 * np.abs(free).sum()


CASES = [
    ("Euler", 0.002, {"stiffness": 1.0}),
    ("Euler", 0.002, {"damping": 1.0}),
    ("Euler", 0.0005, {"stiffness": 1.0, "damping": 0.002}),
    ("implicitfast", 0.002, {"stiffness": 1.0, "damping": 0.0005}),
    ("implicitfast", 0.004, {"stiffness": 1.0}),
]


def sprung(integrator, timestep, shares, size):
    properties = TendonProperties(**{name: share * size for name, share in shares.items()})
    return ModelParameters(
        arm=Arm(n_links=6),
        tendons=Tendons(n_tendons=4, radii=0.03, properties=properties),
        solver=Solver(integrator, timestep),
        height=3.0,
    )


def largest_taken(*case):
    """Return the largest size of springs and dampers that is taken, to a thousandth."""
    low, high = 1e-2, 1e6 if "stiffness" in case[-1] else 1e4
    while high / low > 1.001:
        middle = (low * high) ** 0.5
        try:
            check_timestep(sprung(*case, middle))
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


@pytest.mark.parametrize(("integrator", "timestep", "shares"), CASES)
def test_arms_stay_small_below_the_limit_and_blow_up_above(integrator, timestep, shares):
    size = largest_taken(integrator, timestep, shares)
    assert largest_angle(sprung(integrator, timestep, shares, 0.97 * size)) < 0.1
    assert largest_angle(sprung(integrator, timestep, shares, 1.03 * size)) > 0.3


def test_the_message_tells_the_largest_share():
    case = ("Euler", 0.002, {"stiffness": 1.0})
    most = largest_taken(*case)
    with pytest.raises(ValueError, match=r"^model\.tendons\.properties\.stiffness and damp") as e:
        check_timestep(sprung(*case, 4.0 * most))
    share = float(str(e.value).split("at most ")[1].split()[0])
    assert share == pytest.approx(0.25, rel=1e-2)


def test_an_undamped_arm_with_springs_is_taken():
    arm = Arm(bending_damping=0.0)
    tendons = Tendons(properties=TendonProperties(stiffness=50.0))
    check_timestep(ModelParameters(arm=arm, tendons=tendons))


def test_couplings_refer_to_the_straight_arm():
    coupling = TendonCoupling("tendon_3", "tendon_1", (0.001, 0.5, 0.0, 0.0, 0.0))
    model = build_model(ModelParameters(tendons=Tendons(couplings=(coupling,))))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 500)
    first, second = data.ten_length[2] - 0.48, data.ten_length[0] - 0.48
    assert first == pytest.approx(0.001 + 0.5 * second, abs=2e-6)
    assert abs(second) > 1e-4

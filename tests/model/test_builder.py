import math

import mujoco
import numpy as np
import pytest

from tendon_gym.model import (
    Airframe,
    Arm,
    Layout,
    ModelParameters,
    Solver,
    Tendons,
    build_model,
    build_spec,
    preset,
)

UNEQUAL = Tendons(angles=(0.2, 1.9, 4.4), radii=(0.012, 0.015, 0.018))
VARIANTS = {
    "paper": preset("paper"),
    "four tendons": ModelParameters(tendons=Tendons(n_tendons=4)),
    "five tendons": ModelParameters(tendons=Tendons(n_tendons=5), arm=Arm(n_links=3)),
    "six tendons": ModelParameters(tendons=Tendons(n_tendons=6), arm=Arm(n_links=5)),
    "unequal": ModelParameters(tendons=UNEQUAL),
    "one link": ModelParameters(arm=Arm(n_links=1)),
    "clamped": ModelParameters(base="clamped", height=1.5),
    "no damping, no tip": ModelParameters(arm=Arm(bending_damping=0.0, tip_mass=0.0)),
}


@pytest.fixture(params=VARIANTS, name="parameters")
def _parameters(request):
    return VARIANTS[request.param]


def bent(model, seed=0):
    """Return data at a random pose with the hinges bent by up to half a radian."""
    rng = np.random.default_rng(seed)
    data, layout = mujoco.MjData(model), Layout.of(model)
    data.qpos[layout.joint_qpos] = rng.uniform(-0.5, 0.5, len(layout.joint_qpos))
    if layout.free:
        quaternion = rng.normal(size=4)
        data.qpos[3:7] = quaternion / np.linalg.norm(quaternion)
    mujoco.mj_forward(model, data)
    return data


def test_sizes_of_the_papers_model():
    model = build_model(preset("paper"))
    assert (model.nq, model.nv, model.nu) == (31, 30, 7)
    assert model.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert (model.opt.timestep, model.opt.density, model.opt.viscosity) == (0.002, 1.2, 1.8e-5)
    euler = build_model(preset("default"))
    assert euler.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER
    clamped = build_model(ModelParameters(base="clamped"))
    assert (clamped.nq, clamped.nv, clamped.nu) == (24, 24, 3)


def test_masses_of_the_papers_model():
    model = build_model(preset("paper"))
    assert model.body_mass.sum() == pytest.approx(1.26, abs=1e-12)
    arm = model.body_mass[Layout.of(model).link_bodies].sum()
    assert arm / model.body_mass.sum() == pytest.approx(0.16, abs=0.002)
    thrust = model.actuator_ctrlrange[:4, 1].sum()
    assert thrust / (model.body_mass.sum() * 9.81) == pytest.approx(2.6, abs=0.02)


def test_seen_geoms_carry_no_mass_and_touch_nothing(parameters):
    spec = build_spec(parameters)
    seen = [geom for geom in spec.geoms if geom.group == 2]
    assert len(seen) == 10
    assert all(geom.contype == 0 and geom.conaffinity == 0 for geom in seen)
    expected = spec.compile().body_mass
    for geom in seen:
        spec.delete(geom)
    assert spec.compile().body_mass.tolist() == expected.tolist()
    assert expected[1] == parameters.airframe.mass


def test_inertia_of_the_base_is_the_given_one():
    airframe = Airframe(inertia=(0.006, 0.007, 0.012))
    layout = Layout.of(build_model(ModelParameters(airframe=airframe)))
    assert layout.inertia == pytest.approx(np.diag([0.006, 0.007, 0.012]), abs=1e-15)


def test_a_rotor_on_the_axis_needs_no_boom():
    hubs = ((0.0, 0.0, 0.05), (-0.1, 0.1, 0.0), (-0.1, -0.1, 0.0), (0.2, 0.0, 0.0))
    airframe = Airframe(rotor_positions=hubs, spin=(1, -1, -1, -1))
    model = build_model(ModelParameters(airframe=airframe))
    assert model.site("rotor_1").pos.tolist() == [0.0, 0.0, 0.05]
    assert sum(model.geom(k).name.startswith("boom") for k in range(model.ngeom)) == 3


def test_everything_has_a_name(parameters):
    model = build_model(parameters)
    kinds = {
        "BODY": model.nbody,
        "JOINT": model.njnt,
        "GEOM": model.ngeom,
        "SITE": model.nsite,
        "CAMERA": model.ncam,
        "LIGHT": model.nlight,
        "MATERIAL": model.nmat,
        "TEXTURE": model.ntex,
        "TENDON": model.ntendon,
        "ACTUATOR": model.nu,
        "EXCLUDE": model.nexclude,
    }
    for kind, count in kinds.items():
        code = getattr(mujoco.mjtObj, f"mjOBJ_{kind}")
        names = [mujoco.mj_id2name(model, code, k) for k in range(count)]
        assert all(names), (kind, names)
    assert model.camera("chase").id >= 0
    assert model.camera("side").id >= 0


def test_dense_whatever_the_size():
    model = build_model(ModelParameters(arm=Arm(n_links=48)))
    assert model.nv == 102
    assert mujoco.mj_isSparse(model) == 0


def test_straight_tip_is_where_the_paper_says():
    model = build_model(preset("paper"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.site("tip").xpos - data.site("base").xpos == pytest.approx([0, 0, -0.526])
    assert data.geom("tip").xpos == pytest.approx(data.site("tip").xpos)
    assert data.site("base").xpos == pytest.approx([0, 0, 1])


def test_wrench_of_the_rotors():
    model = build_model(preset("paper"))
    data = mujoco.MjData(model)
    thrust = np.array([1.0, 2.0, 3.0, 5.0])
    data.ctrl[:4] = thrust
    mujoco.mj_forward(model, data)
    d, kappa = 0.17 / math.sqrt(2), 0.016
    x, y = d * np.array([1, -1, -1, 1]), d * np.array([1, 1, -1, -1])
    torque = [y @ thrust, -x @ thrust, kappa * np.array([1, -1, 1, -1]) @ thrust]
    assert data.qfrc_actuator[:6] == pytest.approx([0, 0, 11.0, *torque])


def test_moment_of_a_tendon_on_the_straight_arm(parameters):
    model = build_model(parameters)
    data, layout = mujoco.MjData(model), Layout.of(model)
    mujoco.mj_forward(model, data)
    for i, (x, y) in enumerate(parameters.tendons.positions):
        tension = 0.5 + i
        data.ctrl[:] = 0.0
        data.ctrl[layout.tendon_actuators[i]] = tension
        mujoco.mj_forward(model, data)
        moments = data.qfrc_actuator[layout.joint_dofs].reshape(-1, 2)
        expected = tension * np.array([y, -x])
        assert moments == pytest.approx(np.tile(expected, (len(moments), 1)), abs=1e-12)


def test_tendon_force_is_the_gradient_of_its_length(parameters):
    model = build_model(parameters)
    layout = Layout.of(model)
    for seed in range(3):
        data = bent(model, seed)
        pose = data.qpos.copy()
        tensions = np.linspace(1.0, 3.0, model.ntendon)
        data.ctrl[layout.tendon_actuators] = tensions
        mujoco.mj_forward(model, data)
        forces = data.qfrc_actuator.copy()
        gradient = np.empty((model.ntendon, model.nv))
        for k in range(model.nv):
            lengths = []
            for sign in (1, -1):
                direction = sign * np.eye(model.nv)[k]
                data.qpos[:] = pose
                mujoco.mj_integratePos(model, data.qpos, direction, 1e-6)
                mujoco.mj_forward(model, data)
                lengths.append(data.ten_length.copy())
            gradient[:, k] = (lengths[0] - lengths[1]) / 2e-6
        assert forces == pytest.approx(-tensions @ gradient, abs=1e-8)


@pytest.mark.parametrize("tendons", [Tendons(), Tendons(n_tendons=5), UNEQUAL])
def test_tension_puts_no_wrench_on_the_vehicle(tendons):
    model = build_model(ModelParameters(tendons=tendons))
    data = bent(model, seed=5)
    data.ctrl[4:] = np.linspace(1.0, 6.0, model.ntendon)
    mujoco.mj_forward(model, data)
    assert data.qfrc_actuator[:6] == pytest.approx(np.zeros(6), abs=1e-13)
    assert np.abs(data.qfrc_actuator[6:]).max() > 0.01


def test_tendon_pulls_the_tip_towards_itself():
    model = build_model(ModelParameters(base="clamped"))
    data = mujoco.MjData(model)
    for i, (x, y) in enumerate(Tendons().positions):
        mujoco.mj_resetData(model, data)
        data.ctrl[i] = 1.0
        mujoco.mj_step(model, data, 100)
        direction = data.site("tip").xpos[:2] / np.linalg.norm(data.site("tip").xpos[:2])
        assert direction == pytest.approx(np.array([x, y]) / 0.015, abs=1e-2)


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
@pytest.mark.parametrize("n_links", [1, 2, 3, 12, 24, 48])
def test_hovers_at_hover_thrust(n_links, integrator):
    parameters = ModelParameters(arm=Arm(n_links=n_links), solver=Solver(integrator=integrator))
    model = build_model(parameters)
    data, layout = mujoco.MjData(model), Layout.of(model)
    data.ctrl[:4] = layout.mass * layout.gravity / 4
    mujoco.mj_step(model, data, 500)
    assert all(warning.number == 0 for warning in data.warning)
    assert data.qpos[:3] == pytest.approx([0, 0, 1], abs=1e-6)
    assert np.abs(data.qpos[layout.joint_qpos]).max() < 1e-6


@pytest.mark.parametrize("n_links", [1, 12, 48])
def test_a_whipping_arm_stays_finite_and_loses_energy(n_links):
    model = build_model(ModelParameters(base="clamped", arm=Arm(n_links=n_links)))
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data = bent(model, seed=1)
    data.qpos *= 12 / max(n_links, 12)
    mujoco.mj_forward(model, data)
    energy = [data.energy.sum()]
    for _ in range(10):
        mujoco.mj_step(model, data, 100)
        mujoco.mj_forward(model, data)
        energy.append(data.energy.sum())
    assert all(warning.number == 0 for warning in data.warning)
    assert (np.diff(energy) < 0).all()


def touching(model, data):
    """Return the pairs of bodies that touch, as sets of "floor", "base", "arm"."""
    kinds = {0: "floor", 1: "base"}
    bodies = model.geom_bodyid[[[c.geom1, c.geom2] for c in data.contact]]
    return [{kinds.get(body, "arm") for body in pair} for pair in bodies]


@pytest.mark.parametrize("n_links", [12, 48])
def test_a_heap_on_the_floor_touches_floor_and_frame_but_never_itself(n_links):
    model = build_model(ModelParameters(arm=Arm(n_links=n_links)))
    data = mujoco.MjData(model)
    data.qvel[6:] = np.random.default_rng(0).normal(size=2 * n_links)
    seen = []
    for _ in range(600):
        mujoco.mj_step(model, data)
        seen += [pair for pair in touching(model, data) if pair not in seen]
    assert {"floor", "arm"} in seen
    assert {"base", "arm"} in seen
    assert {"arm"} not in seen
    assert all(warning.number == 0 for warning in data.warning)
    assert data.maxuse_arena < model.narena / 3


def test_a_rolled_up_arm_does_not_touch_itself():
    model = build_model(ModelParameters(base="clamped", arm=Arm(n_links=24)))
    data = mujoco.MjData(model)
    data.qpos[1::2] = -0.6
    mujoco.mj_forward(model, data)
    near = np.linalg.norm(data.geom("link_4").xpos - data.geom("link_15").xpos)
    assert near < 2 * 0.012, "the pose must make the arm overlap itself"
    assert {"arm"} not in touching(model, data)


@pytest.mark.parametrize("base", ["free", "clamped"])
@pytest.mark.parametrize("n_links", [1, 12, 48])
def test_nothing_touches_at_the_start(base, n_links):
    model = build_model(ModelParameters(base=base, arm=Arm(n_links=n_links)))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon == 0


def test_a_tip_as_large_as_the_vehicle_does_not_touch_it_at_the_start():
    arm = Arm(tip_radius=1.0, tip_offset=0.0)
    model = build_model(ModelParameters(arm=arm, height=5.0))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon == 0


def test_every_model_is_the_callers_own():
    first, second = build_model(preset("paper")), build_model(preset("paper"))
    assert first is not second
    first.opt.gravity[:] = 0.0
    first.body_mass[:] = 7.0
    for model in (second, build_model(preset("paper"))):
        assert model.opt.gravity.tolist() == [0.0, 0.0, -9.81]
        assert model.body_mass.sum() == pytest.approx(1.26)

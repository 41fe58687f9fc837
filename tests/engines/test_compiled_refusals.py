"""Models beyond those that `build_model` makes: refused by name, or flown as MuJoCo flies them.

What would be ignored in silence is the one thing that must not happen.
"""

from __future__ import annotations

import gymnasium as gym
import mujoco
import numpy as np
import pytest

import tendon_gym  # noqa: F401 (registers the environments)
from tendon_gym import engines
from tendon_gym.model import Arm, ModelParameters, build_model, build_spec, preset

DISABLE, ENABLE = mujoco.mjtDisableBit, mujoco.mjtEnableBit
STEPS = 60
PARAMETERS = {
    base: ModelParameters(arm=Arm(n_links=3), height=5.0, base=base) for base in ("free", "clamped")
}


def hinge(**values):
    return lambda spec: _set(spec.joint("link_2_x"), values)


def root(**values):
    return lambda spec: _set(spec.joint("base"), values)


def tendon(**values):
    return lambda spec: _set(spec.tendon("tendon_1"), values)


def winch(name="tendon_1", **values):
    return lambda spec: _set(spec.actuator(name), values)


def rotor(**values):
    return lambda spec: _set(spec.actuator("rotor_1"), values)


def body(name="link_2", **values):
    return lambda spec: _set(spec.body(name), values)


def options(**values):
    return lambda spec: _set(spec.option, values)


def _set(target, values):
    for name, value in values.items():
        setattr(target, name, value)


def _payload(spec):
    load = spec.worldbody.add_body(name="load", pos=[0, 0, 3])
    load.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.02, 0, 0])
    load.add_freejoint(name="load")


def _welded_load(spec):
    load = spec.body("link_3").add_body(name="load", pos=[0.02, 0, -0.1])
    load.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.02, 0, 0], mass=0.05)


def _third_hinge(spec):
    twist = spec.body("link_3").add_joint(name="twist", axis=[0, 0, 1])
    twist.stiffness, twist.damping = [0.1, 0, 0], [0.01, 0, 0]


def _branch(spec):
    side = spec.body("link_1").add_body(name="side", pos=[0.05, 0, 0])
    side.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.01, 0, 0], mass=0.02)
    side.add_joint(name="side", axis=[0, 1, 0])


def _swapped_order(spec):
    """The hinge about y before the one about x."""
    spec.joint("link_2_x").axis, spec.joint("link_2_y").axis = [0, 1, 0], [1, 0, 0]


def _joint_motor(spec):
    motor = spec.add_actuator(name="motor", target="link_2_x")
    motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
    motor.ctrllimited, motor.ctrlrange = mujoco.mjtLimited.mjLIMITED_TRUE, [0.0, 0.02]


def _coupling(spec):
    equality = spec.add_equality(name="coupling", type=mujoco.mjtEq.mjEQ_JOINT)
    equality.objtype = mujoco.mjtObj.mjOBJ_JOINT
    equality.name1, equality.name2 = "link_1_x", "link_2_x"
    equality.data[:2] = 0.0, 1.0


def _short_tendon(spec):
    short = spec.add_tendon(name="short")
    for name in ("anchor_1", "via_2_1"):
        short.wrap_site(name)
    _pull(spec, "short")


def _side_tendon(spec):
    spec.worldbody.add_site(name="post", pos=[0.5, 0, 5])
    side = spec.add_tendon(name="side")
    for name in ("post", "tip"):
        side.wrap_site(name)
    _pull(spec, "side")


def _on_a_mount(spec):
    """The whole world of the vehicle on a body that stands turned in another one."""
    world = mujoco.MjSpec()
    mount = world.worldbody.add_body(name="mount", pos=[0.1, 0.2, 1.0], quat=[0.9, 0.3, -0.2, 0.1])
    world.memory = spec.memory
    for name in ("density", "viscosity", "timestep", "integrator", "jacobian"):
        setattr(world.option, name, getattr(spec.option, name))
    world.attach(spec, frame=mount.add_frame(), prefix="v_")
    return world


def _own_pair(spec):
    spec.add_pair(name="own", geomname1="tip", geomname2="hub", margin=2.0)


def _pull(spec, name):
    puller = spec.add_actuator(name=name, target=name)
    puller.trntype, puller.gear = mujoco.mjtTrn.mjTRN_TENDON, [-1, 0, 0, 0, 0, 0]
    puller.ctrllimited, puller.ctrlrange = mujoco.mjtLimited.mjLIMITED_TRUE, [0.0, 1.0]


def _tip_rotor(spec):
    spec.actuator("rotor_1").target = "tip"


def _turned_rotor(spec):
    spec.site("rotor_1").quat = [0.9, 0.3, 0.1, 0.0]


def _relative_rotor(spec):
    _set(spec.actuator("rotor_1"), {"refsite": "tip"})


def _flat_fluid(spec):
    for geom in spec.geoms:
        if geom.name.startswith("link_"):
            geom.fluid_ellipsoid = 1


ON, OFF = mujoco.mjtLimited.mjLIMITED_TRUE, mujoco.mjtLimited.mjLIMITED_FALSE
AFFINE = mujoco.mjtBias.mjBIAS_AFFINE
FILTER = mujoco.mjtDyn.mjDYN_FILTER
FREE = {
    "hinge friction": hinge(frictionloss=0.02),
    "hinge that yields": hinge(springyield=0.0005),
    "hinge limit": hinge(limited=ON, range=[-0.05, 0.05]),
    "hinge stiffness, cubic": hinge(stiffness=[0.05, 0.3, 2.0]),
    "hinge damping, cubic": hinge(damping=[0.005, 0.01, 0.02]),
    "hinge anchor": hinge(pos=[0.02, 0.01, -0.01]),
    "hinge axis": hinge(axis=[0.8, 0.6, 0.0]),
    "hinge reference": hinge(ref=0.2),
    "hinge force range": hinge(actfrclimited=ON, actfrcrange=[-0.001, 0.001]),
    "hinges swapped": _swapped_order,
    "base damping": root(damping=[0.5, 0, 0]),
    "base armature": root(armature=0.1),
    "base friction": root(frictionloss=0.5),
    "tendon stiffness": tendon(stiffness=[50.0, 0, 0], springlength=[0.4, 0.4]),
    "tendon damping": tendon(damping=[1.0, 0, 0]),
    "tendon friction": tendon(frictionloss=0.5),
    "tendon armature": tendon(armature=0.05),
    "tendon limit": tendon(limited=ON, range=[0.4, 0.47]),
    "tendon force range": tendon(actfrclimited=ON, actfrcrange=[-0.2, 0.2]),
    "winch gain": winch(gainprm=[0.5, *np.zeros(9)]),
    "winch bias": winch(biastype=AFFINE, biasprm=[-0.3, -0.5, -0.2, *np.zeros(7)]),
    "winch lag": winch(dyntype=FILTER, dynprm=[0.05, *np.zeros(9)]),
    "winch force range": winch(forcelimited=ON, forcerange=[0.0, 0.2]),
    "winch damping": winch(damping=[1.0, 0, 0]),
    "winch armature": winch(armature=0.05),
    "winch control range": winch(ctrlrange=[0.0, 0.2]),
    "winch without limits": winch("tendon_3", ctrllimited=OFF),
    "winch that pushes": winch(ctrlrange=[-3.0, 0.1]),
    "rotor gain": rotor(gainprm=[0.5, *np.zeros(9)]),
    "rotor bias": rotor(biastype=AFFINE, biasprm=[1.0, *np.zeros(9)]),
    "rotor lag": rotor(dyntype=FILTER, dynprm=[0.05, *np.zeros(9)]),
    "rotor force range": rotor(forcelimited=ON, forcerange=[0.0, 1.0]),
    "rotor that is late": rotor(delay=0.02, nsample=10),
    "rotor on the tip": _tip_rotor,
    "rotor turned": _turned_rotor,
    "rotor against another site": _relative_rotor,
    "weightless link": body(gravcomp=1.0),
    "weightless base": body("base", gravcomp=0.5),
    "link turned": body(quat=[0.95, 0.1, 0.2, 0.1]),
    "link full inertia": body(
        explicitinertial=True,
        mass=0.1,
        ipos=[0.01, 0.02, -0.03],
        fullinertia=[2e-4, 3e-4, 2.5e-4, 2e-5, -3e-5, 1e-5],
    ),
    "payload": _payload,
    "welded load": _welded_load,
    "third hinge": _third_hinge,
    "branch": _branch,
    "motor at a hinge": _joint_motor,
    "coupled hinges": _coupling,
    "short tendon": _short_tendon,
    "tendon to the world": _side_tendon,
    "explicit contact pair": _own_pair,
    "ellipsoid fluid": _flat_fluid,
    "no gravity": options(disableflags=int(DISABLE.mjDSBL_GRAVITY)),
    "no springs": options(disableflags=int(DISABLE.mjDSBL_SPRING)),
    "no dampers": options(disableflags=int(DISABLE.mjDSBL_DAMPER)),
    "no actuation": options(disableflags=int(DISABLE.mjDSBL_ACTUATION)),
    "no clamping": options(disableflags=int(DISABLE.mjDSBL_CLAMPCTRL)),
    "explicit damping": options(disableflags=int(DISABLE.mjDSBL_EULERDAMP)),
    "group switched off": options(disableactuator=1),
    "margins overridden": options(enableflags=int(ENABLE.mjENBL_OVERRIDE), o_margin=0.6),
    "RK4": options(integrator=mujoco.mjtIntegrator.mjINT_RK4),
    "implicit": options(integrator=mujoco.mjtIntegrator.mjINT_IMPLICIT),
    "implicitfast": options(integrator=mujoco.mjtIntegrator.mjINT_IMPLICITFAST),
}
CLAMPED = {
    "base turned": body("base", quat=[0.9, 0.3, -0.2, 0.1]),
    "hinge friction": FREE["hinge friction"],
    "third hinge": FREE["third hinge"],
    "moving base": body("base", mocap=True),
    "base on a mount": _on_a_mount,
}
NO_DIFFERENCE_BY_DESIGN = {"moving base"}
CASES = [("free", name) for name in FREE] + [("clamped", name) for name in CLAMPED]


def compiled_model(base: str, edit=None) -> mujoco.MjModel:
    spec = build_spec(PARAMETERS[base])
    # thick air, for all that concerns the fluid, and viscous, for MuJoCo's ellipsoids
    spec.option.density, spec.option.viscosity = 20.0, 1e-2
    if edit is not None:
        try:
            spec = edit(spec) or spec
        except AttributeError:
            pytest.skip("not in this version of MuJoCo")
    return spec.compile()


def start(model: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return qpos, qvel and controls, some of them out of their range, in an arm in motion."""
    qpos, qvel = model.qpos0.copy(), np.linspace(-2.0, 2.0, model.nv)
    free = model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    first = 7 if free else 0
    if free:
        qpos[3:7] = 0.98, 0.1, -0.1, 0.12
        qpos[3:7] /= np.linalg.norm(qpos[3:7])
    qpos[first : first + 6] += [0.2, -0.1, 0.15, 0.1, -0.2, 0.1]
    ctrl = np.full(model.nu, 2.0)
    ctrl[1], ctrl[model.nu - 1] = -1.0, 20.0
    return qpos, qvel, ctrl


def mujoco_flight(model: mujoco.MjModel) -> np.ndarray:
    """Return qpos and qvel after every step."""
    data, rows = mujoco.MjData(model), []
    data.qpos, data.qvel, data.ctrl = start(model)
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
        rows.append(np.concatenate([data.qpos, data.qvel]))
    return np.array(rows)


def flight(engine: engines.Engine) -> np.ndarray:
    qpos, qvel, ctrl = start(engine.model)
    engine.reset(np.zeros(1, np.int64), qpos[None], qvel[None])
    rows = []
    for _ in range(STEPS):
        engine.ctrl[0] = ctrl
        engine.step(1)
        rows.append(np.concatenate([engine.qpos[0], engine.qvel[0]]))
    return np.array(rows)


@pytest.mark.parametrize("base, name", CASES)
def test_nothing_is_ignored_in_silence(base, name):
    edit = (FREE if base == "free" else CLAMPED)[name]
    model = compiled_model(base, edit)
    expected = mujoco_flight(model)
    plain = mujoco_flight(compiled_model(base))
    if expected.shape == plain.shape and name not in NO_DIFFERENCE_BY_DESIGN:
        assert np.abs(expected - plain).max() > 1e-6, "this change proves nothing"
    try:
        engine = engines.make("compiled", model, 1)
    except ValueError as error:
        assert "mujoco" in str(error), "the message must say which engine can do it"
        return
    np.testing.assert_allclose(flight(engine), expected, rtol=0, atol=1e-9)


def test_the_unchanged_model_is_not_refused():
    for base in PARAMETERS:
        model = compiled_model(base)
        flown = flight(engines.make("compiled", model, 1))
        np.testing.assert_allclose(flown, mujoco_flight(model), rtol=0, atol=1e-9)


def test_implicitfast_raises_and_says_what_to_do():
    model = build_model(preset("paper"))
    with pytest.raises(ValueError, match=r"implicitfast.*Euler|Euler.*implicitfast") as caught:
        engines.make("compiled", model, 1)
    assert "mujoco" in str(caught.value)


@pytest.mark.parametrize("settings", [{"model": "paper"}, {"model": {"preset": "paper"}}])
@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
def test_an_environment_of_the_paper_raises_the_same(make, settings):
    with pytest.raises(ValueError, match=r"implicitfast.*Euler|Euler.*implicitfast"):
        make("TendonGym/Hover-v0", engine="compiled", **settings)
    changed = {"model": {"preset": "paper", "solver": {"integrator": "Euler"}}}
    make("TendonGym/Hover-v0", engine="compiled", **changed).close()


def test_states_to_start_from_are_checked_first():
    model = compiled_model("free")
    for n in (1, 3):
        engine = engines.make("compiled", model, n)
        qpos, qvel = np.tile(model.qpos0, (n, 1)), np.zeros((n, model.nv))
        engine.reset(np.arange(n), qpos, qvel)
        engine.step(3)
        before = engine.qpos.copy(), engine.qvel.copy(), engine.time.copy()
        bad = qpos.copy()
        bad[-1, 5] = np.inf
        with pytest.raises(ValueError, match=r"qpos\[5\] must be finite, got inf$"):
            engine.reset(np.arange(n), bad, qvel)
        with pytest.raises(ValueError, match=r"qvel must have shape \(simulations, 12\)"):
            engine.reset(np.arange(n), qpos, qvel[:, :-1])
        after = engine.qpos, engine.qvel, engine.time
        assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def test_counts_of_simulations_and_threads_are_checked():
    model = compiled_model("free")
    with pytest.raises(ValueError, match="from 1 to 1024"):
        engines.make("compiled", model, 2, threads=0)
    with pytest.raises(TypeError, match="integer"):
        engines.make("compiled", model, 2, threads=1.5)

"""Arms that twist and stretch in environments."""

import gymnasium
import mujoco
import numpy as np
import pytest

import tendon_gym  # noqa: F401
from tendon_gym.engines.kinematics import Kinematics
from tendon_gym.model import Arm, Layout, ModelParameters, build_model

GJ, EA = 1.6e-3, 66.7
ARM = Arm(n_links=4, torsional_stiffness=GJ, axial_stiffness=EA)


def test_kinematics_are_mujocos():
    model = build_model(ModelParameters(arm=ARM))
    data, draws = mujoco.MjData(model), np.random.default_rng(0)
    data.qpos[7:] = draws.uniform(-0.3, 0.3, model.nq - 7)
    data.qvel[:] = draws.normal(size=model.nv)
    mujoco.mj_forward(model, data)
    own = Kinematics(model, 1)
    own.update(data.qpos[None], data.qvel[None])
    assert own.site_position[0] == pytest.approx(data.site_xpos, abs=1e-12)
    assert own.tendon_length[0] == pytest.approx(data.ten_length, abs=1e-12)
    velocity = np.empty(6)
    tip = int(Layout.of(model).link_bodies[-1])
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, tip, velocity, 0)
    assert own.body_velocity[0, tip] == pytest.approx(velocity[3:], abs=1e-12)


@pytest.mark.parametrize("task", ["TendonGym/Track-v0", "TendonGym/ArmBend-v0"])
def test_environments_observe_twist_and_stretch(task):
    arm = {"n_links": 4, "torsional_stiffness": GJ, "axial_stiffness": EA}
    env = gymnasium.make(task, model={"arm": arm})
    observation, _ = env.reset(seed=1)
    layout, core = env.unwrapped.observation_layout, env.unwrapped.core
    names = list(layout)
    first = names.index("joint_angles")
    assert names[first : first + 3] == ["joint_angles", "joint_twists", "joint_stretches"]
    where = layout["joint_stretches"]
    start = observation[where.start : where.stop]
    mass = 0.18 * np.array([4, 3, 2, 1]) / 4 + 0.02
    assert start == pytest.approx(mass * 9.81 * 0.12 / EA, rel=1e-3)  # it hangs at rest
    for _ in range(10):
        observation, reward, *_ = env.step(env.action_space.sample())
    assert np.isfinite(observation).all() and np.isfinite(reward)
    twists = layout["joint_twists"]
    own = core.engine.qpos[0, core.layout.twist_qpos]
    assert observation[twists.start : twists.stop] == pytest.approx(own, abs=1e-6)
    env.close()
    hidden = gymnasium.make(task, model={"arm": arm}, observation_mode="tip")
    assert not {"joint_twists", "joint_stretches"} & set(hidden.unwrapped.observation_layout)
    hidden.close()


@pytest.mark.parametrize("option", [{"torsional_stiffness": GJ}, {"axial_stiffness": EA}])
def test_the_compiled_engine_refuses_it_by_name(option):
    with pytest.raises(ValueError, match=r"hinges about x, then y on every link, .* 'link_1'"):
        gymnasium.make("TendonGym/Hover-v0", model={"arm": option}, engine="compiled")


def test_consistent_links_fly_the_same_on_both_engines():
    seen = {}
    for engine in ("mujoco", "compiled"):
        env = gymnasium.make(
            "TendonGym/Hover-v0", engine=engine,
            model={"arm": {"n_links": 5, "discretisation": "consistent"}},
        )  # fmt: skip
        env.reset(seed=3)
        for _ in range(25):
            env.step(np.full(env.action_space.shape, 0.1))
        seen[engine] = env.unwrapped.core.engine.qpos.copy()
        env.close()
    assert seen["compiled"] == pytest.approx(seen["mujoco"], abs=1e-9)
    model = build_model(ModelParameters(arm=Arm(n_links=5, discretisation="consistent")))
    hinges = model.jnt_stiffness[1:]
    assert hinges == pytest.approx(np.repeat([2.0, 1, 1, 1, 1], 2) * 2.4e-3 / 0.096)

import math

import mujoco
import numpy as np
import pytest

from tendon_gym.model import Arm, Layout, ModelParameters, Tendons, build_model, preset


def test_layout_of_the_papers_model():
    layout = Layout.of(build_model(preset("paper")))
    assert layout.free
    assert layout.base_body == 1
    assert layout.joint_qpos.tolist() == list(range(7, 31))
    assert layout.joint_dofs.tolist() == list(range(6, 30))
    assert layout.rotor_actuators.tolist() == [0, 1, 2, 3]
    assert layout.tendon_actuators.tolist() == [4, 5, 6]
    assert layout.mass == pytest.approx(1.26)
    assert layout.gravity == pytest.approx(9.81)
    assert layout.thrust_max.tolist() == [8.0] * 4
    assert layout.tension_max.tolist() == [6.0] * 3
    assert layout.tendon_angles == pytest.approx([0.0, 2 * math.pi / 3, 4 * math.pi / 3])
    assert layout.tendon_radii == pytest.approx([0.015] * 3)


def test_a_clamped_base_has_no_rotor_actuators():
    layout = Layout.of(build_model(ModelParameters(base="clamped", arm=Arm(n_links=2))))
    assert not layout.free
    assert layout.rotor_actuators.shape == layout.thrust_max.shape == (0,)
    assert layout.rotor_sites.shape == (4,)
    assert layout.tendon_actuators.tolist() == [0, 1, 2]
    assert layout.joint_qpos.tolist() == layout.joint_dofs.tolist() == [0, 1, 2, 3]
    assert layout.mass == pytest.approx(1.26)


def test_layout_reads_the_model_not_the_parameters():
    tendons = Tendons(n_tendons=4, angles=(0.3, 1.8, 3.2, 5.0), radii=(0.01, 0.02, 0.03, 0.04))
    model = build_model(ModelParameters(tendons=tendons))
    model.body_mass[1] += 1.0
    mujoco.mj_setConst(model, mujoco.MjData(model))
    model.opt.gravity[2] = -1.62
    model.actuator_ctrlrange[4:, 1] = [1, 2, 3, 4]
    layout = Layout.of(model)
    assert layout.mass == pytest.approx(2.26)
    assert layout.gravity == pytest.approx(1.62)
    assert layout.tension_max.tolist() == [1, 2, 3, 4]
    assert layout.tendon_angles == pytest.approx(tendons.angles)
    assert layout.tendon_radii == pytest.approx(tendons.radii)


def test_inertia_is_about_the_origin_in_base_axes():
    model = build_model(preset("paper"))
    half = math.sqrt(0.5)
    model.body_ipos[1] = [0.0, 0.0, 0.1]
    model.body_iquat[1] = [half, half, 0.0, 0.0]
    model.body_inertia[1] = [1.0, 2.0, 3.0]
    # A quarter turn about x swaps the y and z moments; the offset adds m d^2 to x and y.
    expected = np.diag([1.0 + 1.06 * 0.01, 3.0 + 1.06 * 0.01, 2.0])
    assert Layout.of(model).inertia == pytest.approx(expected)


def test_a_strange_model_is_named_as_such():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body name='base'><geom size='1'/></body></worldbody></mujoco>"
    )
    with pytest.raises(ValueError, match="model must have a joint named 'link_1_x'"):
        Layout.of(model)

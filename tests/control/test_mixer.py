from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tendon_gym.control import Mixer, mix, wrench_matrix


def craft(
    rotors: list[tuple[float, float, float]],
    *,
    spin: list[float] | None = None,
    tilt: float = 0.0,
    gain: float = 1.0,
    base: str = "base",
) -> mujoco.MjModel:
    """Compile a free body with rotors at the given places, its centre of mass elsewhere."""
    spin = spin or [(-1.0) ** k * 0.016 for k in range(len(rotors))]
    spec = mujoco.MjSpec()
    spec.option.gravity = [0, 0, 0]
    body = spec.worldbody.add_body(name=base)
    body.add_freejoint()
    body.mass, body.inertia, body.explicitinertial = 1.3, [0.01, 0.02, 0.03], True
    body.ipos = [0.02, -0.03, -0.1]
    turned = [math.cos(tilt / 2), math.sin(tilt / 2), 0, 0]
    for k, (place, s) in enumerate(zip(rotors, spin, strict=True), start=1):
        body.add_site(name=f"rotor_{k}", pos=place, quat=turned)
        motor = spec.add_actuator(name=f"rotor_{k}", target=f"rotor_{k}")
        motor.trntype = mujoco.mjtTrn.mjTRN_SITE
        motor.gear = [0, 0, 1, 0, 0, s]
        motor.gainprm[0] = gain
        motor.ctrllimited, motor.ctrlrange = True, [0, 8]
    return spec.compile()


SQUARE = [(0.12, 0.12, 0.01), (-0.12, 0.12, 0.02), (-0.12, -0.12, 0.0), (0.12, -0.12, 0.0)]
HEXAGON = [(0.2 * math.cos(k * math.pi / 3), 0.2 * math.sin(k * math.pi / 3), 0) for k in range(6)]


def mujocos_wrench(model: mujoco.MjModel, controls: np.ndarray) -> np.ndarray:
    """Return MuJoCo's own [f, tau]: the generalised force of a free joint at identity."""
    data = mujoco.MjData(model)
    data.ctrl[:] = controls
    mujoco.mj_forward(model, data)
    return data.qfrc_actuator[2:6].copy()


@pytest.mark.parametrize(
    "model",
    [craft(SQUARE), craft(HEXAGON), craft(SQUARE, tilt=0.3), craft(SQUARE, gain=2.5)],
    ids=["square", "hexagon", "tilted", "gain"],
)
def test_wrench_matrix_is_what_mujoco_applies(model: mujoco.MjModel) -> None:
    controls = np.random.default_rng(1).uniform(0, 8, model.nu)
    expected = mujocos_wrench(model, controls)
    np.testing.assert_allclose(wrench_matrix(model) @ controls, expected, atol=1e-12)


def test_rows_are_those_of_the_paper() -> None:
    x, y, _ = np.array(SQUARE).T
    spin = [0.016, -0.016, 0.016, -0.016]
    expected = np.stack([np.ones(4), y, -x, spin])
    np.testing.assert_allclose(wrench_matrix(craft(SQUARE)), expected, atol=1e-15)


def test_inverse_and_limits() -> None:
    mixer = Mixer.of(craft(SQUARE))
    np.testing.assert_allclose(mixer.wrench @ mixer.inverse, np.eye(4), atol=1e-12)
    np.testing.assert_array_equal(mixer.low, 0)
    np.testing.assert_array_equal(mixer.high, 8)


def test_six_rotors_get_the_controls_of_least_norm() -> None:
    mixer = Mixer.of(craft(HEXAGON))
    wrench = np.array([12.0, 0.1, -0.2, 0.03])
    expected = np.linalg.lstsq(mixer.wrench, wrench, rcond=None)[0]
    out = np.empty((1, 6))
    mix(mixer.inverse, wrench[:1], wrench[None, 1:], mixer.low, mixer.high, out)
    np.testing.assert_allclose(out[0], expected, atol=1e-12)


wrenches = st.tuples(st.floats(-20, 40), *[st.floats(-3, 3)] * 3)


@settings(deadline=None, max_examples=60)
@given(st.lists(wrenches, min_size=1, max_size=4))
def test_mix_clips_the_exact_solution(rows: list[tuple[float, ...]]) -> None:
    mixer = Mixer.of(craft(SQUARE))
    wrench = np.array(rows)
    out = np.empty((len(rows), 4))
    torque = np.ascontiguousarray(wrench[:, 1:])
    mix(mixer.inverse, wrench[:, 0].copy(), torque, mixer.low, mixer.high, out)
    exact = np.linalg.solve(mixer.wrench, wrench.T).T
    np.testing.assert_allclose(out, np.clip(exact, 0, 8), atol=1e-10)


def test_a_missing_axis_is_named() -> None:
    with pytest.raises(ValueError, match=r"torque about z$"):
        Mixer.of(craft(SQUARE, spin=[0.0] * 4))
    line = [(x, 0.0, 0.0) for x in (-0.3, -0.1, 0.15, 0.3)]
    with pytest.raises(ValueError, match=r"torque about x$"):
        Mixer.of(craft(line, spin=[0.01, -0.02, 0.03, 0.01]))
    with pytest.raises(ValueError, match="3 rotors"):
        Mixer.of(craft(SQUARE[:3]))


def test_models_without_plain_rotors_are_refused() -> None:
    with pytest.raises(ValueError, match='body "base"'):
        wrench_matrix(craft(SQUARE, base="hull"))
    with pytest.raises(ValueError, match='actuator "rotor_1"'):
        wrench_matrix(craft([]))
    servo = craft(SQUARE)
    servo.actuator_biastype[2] = mujoco.mjtBias.mjBIAS_AFFINE
    with pytest.raises(ValueError, match='"rotor_3" must be a motor'):
        wrench_matrix(servo)
    elsewhere = craft(SQUARE)
    elsewhere.site_bodyid[1] = 0
    with pytest.raises(ValueError, match='"rotor_2" must act on a site'):
        wrench_matrix(elsewhere)

import numpy as np
import pytest

from tendon_gym.identification import Recording, identify
from tendon_gym.model import Arm, Load, ModelParameters, TendonProperties, Tendons
from tests.identification.recorded import record

TIME = np.arange(6) * 0.01
HELD = ModelParameters(arm=Arm(n_links=2), base="clamped")
MASS = {"arm.mass": (0.1, 0.3)}


def test_it_survives_a_file(tmp_path):
    recording = record(HELD, ("joint_angles", "tip"), 0.1)
    recording.save(tmp_path / "arm.npz")
    again = Recording.load(tmp_path / "arm.npz")
    assert again.signals == ["joint_angles", "tip"]
    for name in ("time", "controls", *again.signals):
        assert (getattr(again, name) == getattr(recording, name)).all()


def test_files_that_are_none_are_refused(tmp_path):
    text = tmp_path / "text.npz"
    text.write_text("no arrays")
    with pytest.raises(ValueError, match=r"must be an \.npz of arrays"):
        Recording.load(text)
    with pytest.raises(ValueError, match=r"must be an \.npz"):
        Recording.load(tmp_path / "missing.npz")
    np.savez(tmp_path / "other.npz", time=TIME, force=TIME)
    with pytest.raises(ValueError, match=r"force.*it takes time, controls, joint_angles"):
        Recording.load(tmp_path / "other.npz")
    np.savez(tmp_path / "few.npz", time=TIME, tip=np.zeros((6, 3)))
    with pytest.raises(ValueError, match="must have an array 'controls'"):
        Recording.load(tmp_path / "few.npz")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"time": TIME[::-1]}, "must increase"),
        ({"time": TIME**2}, r"Recording\.time\[1\] must be even"),
        ({"time": TIME[:2]}, "number of samples"),
        ({"controls": np.zeros((5, 3))}, r"Recording\.controls must have shape \(6, any\)"),
        ({"tip": np.zeros((6, 2))}, r"Recording\.tip must have shape \(6, 3\)"),
        ({"tip": np.full((6, 3), np.nan)}, r"Recording\.tip\[0\]\[0\]"),
        ({"tip": None}, "must have one of joint_angles"),
        ({"base_attitude": np.zeros((6, 4))}, r"base_attitude\[0\] must be a quaternion"),
    ],
)
def test_wrong_arrays_are_refused(changes, words):
    given = {"time": TIME, "controls": np.zeros((6, 3)), "tip": np.zeros((6, 3)), **changes}
    with pytest.raises(ValueError, match=words):
        Recording(**given)


def recording(**arrays):
    return Recording(TIME, np.zeros((6, 3)), **arrays)


@pytest.mark.parametrize(
    ("parameters", "arrays", "words"),
    [
        (HELD, {"joint_angles": np.zeros((6, 24))}, "must be 4 columns, as the model has it"),
        (HELD, {"tendon_lengths": np.ones((6, 4))}, "tendon_lengths must be 3 columns"),
        (
            HELD,
            {"tip": np.zeros((6, 3)), "base_position": np.zeros((6, 3))},
            "None for a clamped base",
        ),
        (ModelParameters(load=Load()), {"tip": np.zeros((6, 3))}, r"model\.load must be None"),
        (
            ModelParameters(
                base="clamped", tendons=Tendons(properties=TendonProperties(stiffness=10.0))
            ),
            {"tip": np.zeros((6, 3))},
            "nothing but pull",
        ),
    ],
)
def test_recordings_of_other_vehicles_are_refused(parameters, arrays, words):
    with pytest.raises(ValueError, match=words):
        identify(recording(**arrays), parameters, MASS)


def test_a_flight_needs_the_state_and_steps_need_to_fit():
    flying = Recording(TIME, np.zeros((6, 7)), tip=np.zeros((6, 3)))
    with pytest.raises(ValueError, match="joint_angles, base_position and base_attitude"):
        identify(flying, ModelParameters(), MASS)
    uneven = Recording(TIME * 0.77, np.zeros((6, 3)), tip=np.zeros((6, 3)))
    with pytest.raises(ValueError, match=r"a multiple of the model's timestep of 0\.002 s"):
        identify(uneven, HELD, MASS)
    with pytest.raises(ValueError, match="window"):
        identify(recording(joint_angles=np.zeros((6, 4))), HELD, MASS, window=0.001)

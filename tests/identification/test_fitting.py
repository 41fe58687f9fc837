"""Round trips: parameters of simulated vehicles, found again within their standard errors."""

from dataclasses import replace

import numpy as np
import pytest

from tendon_gym.identification import identify
from tendon_gym.model import Arm, Fluid, ModelParameters
from tests.identification.recorded import NOISE, record

GUESS = ModelParameters(arm=Arm(n_links=2), base="clamped")
TRUE = replace(
    GUESS,
    arm=replace(GUESS.arm, bending_stiffness=3.1e-3, bending_damping=2.0e-4, tip_mass=0.031),
)
UNKNOWNS = {
    "arm.bending_stiffness": (1e-3, 1e-2),
    "arm.bending_damping": (5e-5, 1e-3),
    "arm.tip_mass": (0.0, 0.1),
}
TRUTH = np.array([3.1e-3, 2.0e-4, 0.031])


def errors(found, truth):
    """Return what was found minus the truth, in standard errors."""
    return (found.values - truth) / found.standard_errors


@pytest.mark.parametrize("signals", [("joint_angles",), ("tip",), ("tendon_lengths",)])
def test_perturbed_parameters_are_found_again(signals):
    found = identify(record(TRUE, signals), GUESS, UNKNOWNS)
    assert np.abs(errors(found, TRUTH)).max() < 3.5
    assert (found.standard_errors < 0.1 * TRUTH).all()
    assert found.noise == pytest.approx({name: NOISE[name] for name in signals}, rel=0.1)
    assert not found.unidentified and not found.at_bounds
    assert found.parameters.arm.tip_mass == found.values[2]
    assert (found.windows > 1) == (signals == ("joint_angles",))


def test_standard_errors_are_as_large_as_errors_are():
    """Errors of many recordings, in standard errors, have a root mean square of about one."""
    all_errors = [
        errors(identify(record(TRUE, ("tip",), 1.0, seed=seed), GUESS, UNKNOWNS), TRUTH)
        for seed in range(8)
    ]
    # 24 of them: that of 24 normal numbers is outside once in 5,000 times.
    assert 0.5 < np.sqrt(np.mean(np.square(all_errors))) < 1.5


def test_without_noise_the_parameters_come_back_as_they_are():
    found = identify(record(TRUE, ("tip", "tendon_lengths"), noise=False), GUESS, UNKNOWNS)
    assert found.values == pytest.approx(TRUTH, rel=1e-6)


def test_a_flight_tells_thrust_and_mass():
    guess = ModelParameters(arm=Arm(n_links=1))
    true = replace(guess, airframe=replace(guess.airframe, mass=1.15))
    signals = ("joint_angles", "base_position", "base_attitude")
    recording = record(true, signals, seconds=1.0)
    recording.controls[:, :4] /= 0.93  # the rotors give less than they are told
    found = identify(
        recording, guess, {"airframe.mass": (0.8, 1.6), "thrust_gain": (0.5, 1.5)}, window=0.25
    )
    assert np.abs(errors(found, [1.15, 0.93])).max() < 3.5
    assert (found.standard_errors < 0.05).all()
    assert found.noise == pytest.approx({name: NOISE[name] for name in signals}, rel=0.15)


def test_a_motion_that_only_tells_ratios_says_so():
    """Twice as heavy, stiff, damped and strongly pulled, an arm in vacuum moves as before."""
    vacuum = Fluid(density=0.0, viscosity=0.0)
    guess, true = (replace(parameters, fluid=vacuum) for parameters in (GUESS, TRUE))
    unknowns = {**UNKNOWNS, "arm.mass": (0.05, 0.6), "tension_gain": (0.5, 2.0)}
    found = identify(record(true, ("tip",), 1.0), guess, unknowns)
    assert set(found.unidentified) == set(unknowns)
    (way,) = found.unresolved
    # The direction is that of all parameters in proportion, in widths of the bounds.
    widths = {name: high - low for name, (low, high) in unknowns.items()}
    ratios = [
        way[name] * widths[name] / value
        for name, value in zip(found.names, found.values, strict=True)
    ]
    assert ratios == pytest.approx([ratios[0]] * 5, rel=0.05)
    assert found.values[0] / found.values[3] == pytest.approx(3.1e-3 / 0.18, rel=0.15)
    assert "undetermined direction" in found.report()
    assert found.report().count("not identified") == 5
    with pytest.raises(ValueError, match=r"does not determine arm\.bending_stiffness, "):
        _ = found.parameters


def test_what_nothing_depends_on_is_unidentified_alone():
    unknowns = {**UNKNOWNS, "airframe.inertia.0": (5.5e-3, 8e-3)}
    found = identify(record(TRUE, ("tip",), 1.0), GUESS, unknowns)
    assert found.unidentified == ("airframe.inertia.0",)
    assert np.abs(errors(found, [*TRUTH, 6.7e-3])[:3]).max() < 3.5
    assert found.standard_errors[3] > 2.5e-3


def test_a_value_at_a_bound_is_told():
    tight = {**UNKNOWNS, "arm.tip_mass": (0.0, 0.025)}
    found = identify(record(TRUE, ("tip",), 1.0), GUESS, tight)
    assert found.at_bounds == ("arm.tip_mass",)
    with pytest.raises(ValueError, match=r"arm\.tip_mass.*widen their bounds"):
        _ = found.parameters


def test_noise_that_is_given_is_taken():
    recording = record(TRUE, ("tip",), 1.0)
    once, twice = (identify(recording, GUESS, UNKNOWNS, noise={"tip": s}) for s in (1e-3, 2e-3))
    assert once.noise == {"tip": 1e-3}
    assert twice.standard_errors == pytest.approx(2.0 * once.standard_errors, rel=1e-3)
    for noise, words in (({"tipp": 1.0}, "it takes tip"), ({}, "noise"), ({"tip": 0.0}, "greater")):
        with pytest.raises((TypeError, ValueError), match=words):
            identify(recording, GUESS, UNKNOWNS, noise=noise)

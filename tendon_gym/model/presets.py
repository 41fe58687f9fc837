"""Named sets of model parameters."""

from __future__ import annotations

from tendon_gym import checks
from tendon_gym.model.parameters import ModelParameters, Solver

PRESETS = {
    "default": ModelParameters(),
    "paper": ModelParameters(solver=Solver(integrator="implicitfast")),
}


def preset(name: str) -> ModelParameters:
    """Return a named set of parameters.

    "paper" is the system of "An Open MuJoCo Simulation Framework for a Quadrotor Carrying a
    Tendon-Driven Soft Continuum Arm", reconstructed from its text; "default" is the same with
    Euler as the integrator, as accurate and cheaper.

    Raises:
        ValueError: no preset has this name.
    """
    return PRESETS[checks.choice("preset", name, PRESETS)]

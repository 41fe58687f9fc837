"""Whether the timestep is short enough for the arm's fastest oscillation."""

from __future__ import annotations

from functools import lru_cache

import mujoco
import numpy as np

from tendon_gym import checks
from tendon_gym.model.builder import build_model
from tendon_gym.model.layout import Layout
from tendon_gym.model.parameters import ModelParameters


@lru_cache(maxsize=64)
def check_timestep(parameters: ModelParameters) -> None:
    """Raise if the straight arm's oscillations grow from step to step.

    Every hinge has the same stiffness k and damping d, so the straight arm's modes are those of
    the hinges' block of the inverse mass matrix, with squared frequencies w^2 = k l and damping
    c = d l, l its eigenvalues. MuJoCo steps a mode by v' = (v - h w^2 q) / (1 + h c), q' = q + h v'
    (both integrators: stiffness explicit, joint damping implicit), and by the Jury conditions that
    decays if, and only if, h^2 w^2 < 4 + 2 h c.

    Raises:
        ValueError: names the largest bending stiffness that the timestep allows.
    """
    arm, h = parameters.arm, parameters.solver.timestep
    fastest = _largest_eigenvalue(build_model(parameters))
    most = (4.0 / fastest + 2.0 * h * arm.joint_damping) / h**2 * arm.link_length
    if arm.bending_stiffness >= most:
        legal = (
            f"less than {most:.4g} N m^2 for a timestep of {h:g} s, which is too long for the "
            "arm's fastest oscillation; a shorter timestep or more bending_damping raises the limit"
        )
        checks.reject("model.arm.bending_stiffness", arm.bending_stiffness, legal)


def _largest_eigenvalue(model: mujoco.MjModel) -> float:
    """Return the largest eigenvalue of the hinges' block of the inverse mass matrix."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    hinges = Layout.of(model).joint_dofs
    columns = np.zeros((len(hinges), model.nv))
    mujoco.mj_solveM(model, data, columns, np.eye(model.nv)[hinges])
    return float(np.linalg.eigvalsh(columns[:, hinges])[-1])

"""Whether the timestep is short enough for the arm's fastest oscillation."""

from __future__ import annotations

from functools import lru_cache

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.model.builder import build_model
from tendon_gym.model.layout import Layout
from tendon_gym.model.parameters import ModelParameters

Array = NDArray[np.float64]

GROWTH = 1.0 + 1e-6
"""By which a step may enlarge what does not decay: rounding, where nothing damps."""
PRECISION = 1e-3
"""Within which the largest legal share of springs and dampers is told."""


@lru_cache(maxsize=64)
def check_timestep(parameters: ModelParameters) -> None:
    """Raise if the straight arm's oscillations grow from step to step.

    All hinges have the same stiffness k and damping d, up to shares s that both have in common. So
    the straight arm's modes are those of the hinges' block B of the inverse mass matrix, with
    squared frequencies w^2 = k l and damping c = d l, l the eigenvalues of s^1/2 B s^1/2. MuJoCo
    steps a mode by v' = (v - h w^2 q) / (1 + h c), q' = q + h v' (both integrators: stiffness
    explicit, joint damping implicit), and by the Jury conditions that decays if, and only if,
    h^2 w^2 < 4 + 2 h c.

    Springs and dampers along the tendons couple the hinges, see `_growth`.

    Raises:
        ValueError: names the largest bending stiffness that the timestep allows, or the share of
            the tendons' stiffness and damping.
    """
    arm, h = parameters.arm, parameters.solver.timestep
    mobility = _mobility(build_model(parameters))
    roots = np.sqrt(np.repeat(arm.joint_shares, 2))
    fastest = float(np.linalg.eigvalsh(roots[:, None] * mobility * roots)[-1])
    most = (4.0 / fastest + 2.0 * h * arm.joint_damping) / h**2 * arm.link_length
    if arm.bending_stiffness >= most:
        legal = (
            f"less than {most:.4g} N m^2 for a timestep of {h:g} s, which is too long for the "
            "arm's fastest oscillation; a shorter timestep or more bending_damping raises the limit"
        )
        checks.reject("model.arm.bending_stiffness", arm.bending_stiffness, legal)
    _check_tendons(parameters, mobility)


def _mobility(model: mujoco.MjModel) -> Array:
    """Return the hinges' block of the inverse mass matrix of the straight arm, (2N, 2N)."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    hinges = Layout.of(model).joint_dofs
    columns = np.zeros((len(hinges), model.nv))
    mujoco.mj_solveM(model, data, columns, np.eye(model.nv)[hinges])
    return columns[:, hinges]


def _check_tendons(parameters: ModelParameters, mobility: Array) -> None:
    """Raise if the tendons' springs and dampers let the arm's oscillations grow."""
    each = parameters.tendons.each
    given = [(own.stiffness, own.damping) for own in each]
    if not np.any(given) or _growth(parameters, mobility, 1.0) <= GROWTH:
        return
    low, high = 0.0, 1.0
    while high - low > PRECISION * high:
        middle = 0.5 * (low + high)
        if _growth(parameters, mobility, middle) <= GROWTH:
            low = middle
        else:
            high = middle
    raise ValueError(
        f"model.tendons.properties.stiffness and damping must be at most {low:.3g} of what they "
        f"are for a timestep of {parameters.solver.timestep:g} s, which is too long for the "
        f"arm's fastest oscillation with them, got {given[0] if len(set(given)) == 1 else given}"
    )


def _growth(parameters: ModelParameters, mobility: Array, share: float) -> float:
    """Return by how much a step enlarges the arm's motion in the end, with a share of the springs.

    MuJoCo steps M v' = M v - h (K q + E v + D v'), q' = q + h v', M the inverse of the mobility, K
    the stiffness, D the damping that the integrator takes at the step's end, E the other: "Euler"
    takes that of joints so, "implicitfast" that of tendons too. All springs count as stretched.

    Returns:
        The spectral radius of the step.
    """
    arm, h, identity = parameters.arm, parameters.solver.timestep, np.eye(len(mobility))
    shares = np.diag(np.repeat(arm.joint_shares, 2))
    x, y = parameters.tendons.positions.T
    gradients = np.tile(np.stack([-y, x], axis=1), arm.n_links)  # of lengths by hinges, m
    of_each = np.array([(own.stiffness, own.damping) for own in parameters.tendons.each])
    springs, dampers = (gradients.T @ (share * k[:, None] * gradients) for k in of_each.T)
    stiffness = arm.joint_stiffness * shares + springs
    late = arm.joint_damping * shares
    early = dampers
    if parameters.solver.integrator == "implicitfast":
        late, early = late + dampers, np.zeros_like(dampers)
    mass = np.linalg.inv(mobility)
    right = np.hstack([-h * stiffness, mass - h * early])
    pull, keep = np.split(np.linalg.solve(mass + h * late, right), 2, axis=1)
    step = np.block([[identity + h * pull, h * keep], [pull, keep]])
    return float(np.abs(np.linalg.eigvals(step)).max())

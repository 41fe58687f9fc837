"""Whether the timestep is short enough for the arm's fastest oscillation."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

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


class _Family(NamedTuple):
    """Joints of one kind: all links bend, twist or stretch alike.

    Attributes:
        name: "bending", "torsional" or "axial", as the parameters call it.
        unit: of its stiffness.
        dofs: addresses in qvel, (n,), link after link.
        shares: of stiffness and damping, (n,).
        stiffness: of the rod.
        damping: of the rod.
        gradients: of the tendons' lengths where the arm is straight, (tendons, n), m/rad or 1.
    """

    name: str
    unit: str
    dofs: NDArray[np.int64]
    shares: Array
    stiffness: float
    damping: float
    gradients: Array


def _families(parameters: ModelParameters, layout: Layout) -> list[_Family]:
    arm = parameters.arm
    x, y = parameters.tendons.positions.T
    each = arm.joint_shares
    bends = np.tile(np.stack([-y, x], axis=1), arm.n_links)
    found = [
        _Family(
            "bending", "N m^2", layout.joint_dofs, np.repeat(each, 2), arm.bending_stiffness,
            arm.bending_damping, bends,
        )
    ]  # fmt: skip
    none, one = np.zeros((len(x), arm.n_links)), np.ones((len(x), arm.n_links))
    if arm.torsional_stiffness is not None:
        values = (arm.torsional_stiffness, arm.torsional_damping, none)
        found.append(_Family("torsional", "N m^2", layout.twist_dofs, each, *values))
    if arm.axial_stiffness is not None:
        values = (arm.axial_stiffness, arm.axial_damping, one)
        found.append(_Family("axial", "N", layout.stretch_dofs, each, *values))
    return found


@lru_cache(maxsize=64)
def check_timestep(parameters: ModelParameters) -> None:
    """Raise if the straight arm's oscillations grow from step to step.

    Bending, twist and stretch of a straight arm go their own ways. All joints of such a kind have
    the same stiffness k and damping d, up to shares s that both have in common. So the modes are
    those of the joints' block B of the inverse mass matrix, with squared frequencies w^2 = k l and
    damping c = d l, l the eigenvalues of s^1/2 B s^1/2. MuJoCo steps a mode by
    v' = (v - h w^2 q) / (1 + h c), q' = q + h v' (both integrators: stiffness explicit, joint
    damping implicit), and by the Jury conditions that decays if, and only if, h^2 w^2 < 4 + 2 h c.

    Springs and dampers along the tendons couple the joints, see `_growth`.

    Raises:
        ValueError: names the largest stiffness that the timestep allows, or the share of the
            tendons' stiffness and damping.
    """
    h, length = parameters.solver.timestep, parameters.arm.link_length
    model = build_model(parameters)
    families = _families(parameters, Layout.of(model))
    for family in families:
        roots = np.sqrt(family.shares)
        mobility = roots[:, None] * _mobility(model, family.dofs) * roots
        fastest = float(np.linalg.eigvalsh(mobility)[-1])
        most = (4.0 / fastest + 2.0 * h * (family.damping / length)) / h**2 * length
        if family.stiffness >= most:
            legal = (
                f"less than {most:.4g} {family.unit} for a timestep of {h:g} s, which is too long "
                "for the arm's fastest oscillation; a shorter timestep or more "
                f"{family.name}_damping raises the limit"
            )
            checks.reject(f"model.arm.{family.name}_stiffness", family.stiffness, legal)
    _check_tendons(parameters, model, families)


def _mobility(model: mujoco.MjModel, dofs: NDArray[np.int64]) -> Array:
    """Return the block (n, n) of the inverse mass matrix of the straight arm for some joints."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    columns = np.zeros((len(dofs), model.nv))
    mujoco.mj_solveM(model, data, columns, np.eye(model.nv)[dofs])
    return columns[:, dofs]


def _check_tendons(
    parameters: ModelParameters, model: mujoco.MjModel, families: list[_Family]
) -> None:
    """Raise if the tendons' springs and dampers let the arm's oscillations grow."""
    each = parameters.tendons.each
    given = [(own.stiffness, own.damping) for own in each]
    if not np.any(given):
        return
    mobility = _mobility(model, np.concatenate([family.dofs for family in families]))
    if _growth(parameters, families, mobility, 1.0) <= GROWTH:
        return
    low, high = 0.0, 1.0
    while high - low > PRECISION * high:
        middle = 0.5 * (low + high)
        if _growth(parameters, families, mobility, middle) <= GROWTH:
            low = middle
        else:
            high = middle
    raise ValueError(
        f"model.tendons.properties.stiffness and damping must be at most {low:.3g} of what they "
        f"are for a timestep of {parameters.solver.timestep:g} s, which is too long for the "
        f"arm's fastest oscillation with them, got {given[0] if len(set(given)) == 1 else given}"
    )


def _growth(
    parameters: ModelParameters, families: list[_Family], mobility: Array, share: float
) -> float:
    """Return by how much a step enlarges the arm's motion in the end, with a share of the springs.

    MuJoCo steps M v' = M v - h (K q + E v + D v'), q' = q + h v', M the inverse of the mobility, K
    the stiffness, D the damping that the integrator takes at the step's end, E the other: "Euler"
    takes that of joints so, "implicitfast" that of tendons too. All springs count as stretched.

    Returns:
        The spectral radius of the step.
    """
    h, identity = parameters.solver.timestep, np.eye(len(mobility))
    length = parameters.arm.link_length
    gradients = np.concatenate([family.gradients for family in families], axis=1)
    of_each = np.array([(own.stiffness, own.damping) for own in parameters.tendons.each])
    springs, dampers = (gradients.T @ (share * k[:, None] * gradients) for k in of_each.T)
    own = [family.shares * (family.stiffness / length) for family in families]
    stiffness = np.diag(np.concatenate(own)) + springs
    late = np.diag(np.concatenate([f.shares * (f.damping / length) for f in families]))
    early = dampers
    if parameters.solver.integrator == "implicitfast":
        late, early = late + dampers, np.zeros_like(dampers)
    mass = np.linalg.inv(mobility)
    right = np.hstack([-h * stiffness, mass - h * early])
    pull, keep = np.split(np.linalg.solve(mass + h * late, right), 2, axis=1)
    step = np.block([[identity + h * pull, h * keep], [pull, keep]])
    return float(np.abs(np.linalg.eigvals(step)).max())

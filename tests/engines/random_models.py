"""Random vehicles out of all that the model can be built of and randomised in, flown by `mj_step`.

A case is a model with states, controls and what MuJoCo makes of them. Only cases that MuJoCo
itself flies well are kept: stable at their timestep, and nothing in contact.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from tendon_gym.model import (
    Airframe,
    Arm,
    Fluid,
    Layout,
    ModelParameters,
    Solver,
    Tendons,
    build_model,
)

MOST_LINKS = 48
SEGMENTS, SUBSTEPS = 10, 10
"""Controls are constant over a segment of so many physics steps."""
KICK = 1e-12
"""Disturbance of the start that tells chaotic flights, m, rad, m/s and rad/s."""
FASTEST = 300.0
"""Speed in m/s or rad/s beyond which a flight counts as unstable."""
VELOCITY_WEIGHT = 0.01
"""Weight of velocities against positions in every distance of two flights."""

Rng = np.random.Generator


@dataclass(frozen=True)
class Flight:
    """States after every segment: qpos (SEGMENTS, n, nq) and qvel (SEGMENTS, n, nv)."""

    qpos: np.ndarray
    qvel: np.ndarray

    def distance(self, other: Flight) -> float:
        """Return the largest difference of the states, velocities weighted."""
        positions = np.abs(self.qpos - other.qpos).max()
        velocities = np.abs(self.qvel - other.qvel).max()
        return float(max(positions, VELOCITY_WEIGHT * velocities))


@dataclass(frozen=True)
class Case:
    """A model, n starts and controls (SEGMENTS, n, nu), and MuJoCo's flight from there.

    Attributes:
        growth: by how much a kick to the start has grown in MuJoCo's own flight.
        edited: names of the model fields that were changed after compilation.
    """

    seed: int
    parameters: ModelParameters
    model: mujoco.MjModel
    edited: tuple[str, ...]
    qpos: np.ndarray
    qvel: np.ndarray
    ctrl: np.ndarray
    flight: Flight
    growth: float


@functools.lru_cache(maxsize=2)
def cases(count: int) -> tuple[Case, ...]:
    """Return `count` cases, always the same ones; their numbers of links go round 1..48."""
    found: list[Case] = []
    seed = 0
    while len(found) < count:
        case = make_case(seed, 1 + len(found) % MOST_LINKS)
        if case is not None:
            found.append(case)
        seed += 1
        assert seed < 20 * count, "hardly any random model flies"
    return tuple(found)


def make_case(seed: int, n_links: int) -> Case | None:
    """Return a random case, or None if MuJoCo does not fly it well."""
    rng = np.random.default_rng(seed)
    parameters = random_parameters(rng, n_links)
    model = build_model(parameters)
    edited = random_edits(model, rng)
    if seed % 2:  # these leave an engine no occasion to call in contacts
        model.geom_contype[:], model.geom_conaffinity[:] = 0, 0
    n = int(rng.integers(1, 4))
    qpos, qvel = random_states(model, rng, n)
    ctrl = random_controls(model, rng, parameters, n)
    flight = fly(model, qpos, qvel, ctrl)
    if flight is None:
        return None
    kicks = KICK * rng.choice([-1.0, 1.0], (n, model.nq + model.nv))
    kicked = fly(model, qpos + kicks[:, : model.nq], qvel + kicks[:, model.nq :], ctrl)
    if kicked is None:
        return None
    growth = flight.distance(kicked) / KICK
    return Case(seed, parameters, model, edited, qpos, qvel, ctrl, flight, growth)


def fly(
    model: mujoco.MjModel, qpos: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray
) -> Flight | None:
    """Return what `mj_step` makes of each start, or None if one goes unstable or touches."""
    n, data = len(qpos), mujoco.MjData(model)
    flight = Flight(np.zeros((len(ctrl), n, model.nq)), np.zeros((len(ctrl), n, model.nv)))
    for i in range(n):
        mujoco.mj_resetData(model, data)
        data.qpos, data.qvel = qpos[i], qvel[i]
        for k in range(len(ctrl)):
            data.ctrl = ctrl[k, i]
            for _ in range(SUBSTEPS):
                mujoco.mj_step(model, data)
                if data.ncon or not np.abs(data.qvel).max() < FASTEST:
                    return None
            flight.qpos[k, i], flight.qvel[k, i] = data.qpos, data.qvel
        if any(data.warning[w].number for w in range(int(mujoco.mjtWarning.mjNWARNING))):
            return None
    return flight


def _log_uniform(rng: Rng, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _maybe(rng: Rng, chance: float, value: float, other: float = 0.0) -> float:
    return value if rng.random() < chance else other


def random_parameters(rng: Rng, n_links: int) -> ModelParameters:
    """Return parameters of every kind; a finer arm needs more damping to be stable."""
    stiffness = _log_uniform(rng, 3e-4, 1e-2)
    length, radius = rng.uniform(0.15, 0.8), rng.uniform(0.005, 0.02)
    arm = Arm(
        n_links=n_links,
        length=length,
        mass=rng.uniform(0.05, 0.4),
        radius=radius,
        bending_stiffness=stiffness,
        bending_damping=_maybe(rng, 0.95, stiffness * _log_uniform(rng, 0.01, 0.3)),
        flange_offset=_maybe(rng, 0.9, rng.uniform(0.0, 0.08)),
        tip_mass=_maybe(rng, 0.85, _log_uniform(rng, 1e-3, 0.1)),
        tip_radius=rng.uniform(0.005, 0.03),
        tip_offset=_maybe(rng, 0.85, rng.uniform(0.0, 0.05)),
    )
    return ModelParameters(
        airframe=_airframe(rng),
        arm=arm,
        tendons=_tendons(rng),
        fluid=Fluid(
            _maybe(rng, 0.85, _log_uniform(rng, 0.1, 100.0)),
            _maybe(rng, 0.85, _log_uniform(rng, 1e-5, 1e-2)),
        ),
        solver=Solver(timestep=_maybe(rng, 0.5, 0.002, _log_uniform(rng, 2e-4, 4e-3))),
        base="free" if rng.random() < 0.7 else "clamped",
        height=rng.uniform(4.0, 10.0),
    )


def _airframe(rng: Rng) -> Airframe:
    spin = (1, -1, 1, -1) if rng.random() < 0.5 else (-1, 1, -1, 1)
    arm_length = rng.uniform(0.1, 0.3)
    positions: Any = None
    if rng.random() < 0.5:
        square = arm_length * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
        offsets = rng.uniform(-0.03, 0.03, (4, 3))
        positions = tuple(tuple(map(float, hub)) for hub in square + offsets)
    return Airframe(
        mass=rng.uniform(0.5, 2.5),
        inertia=random_inertia(rng, rng.uniform(3e-3, 2e-2)),
        arm_length=arm_length,
        rotor_positions=positions,
        spin=spin,
        torque_coefficient=rng.uniform(0.005, 0.05),
        thrust_max=rng.uniform(4.0, 15.0),
    )


def _tendons(rng: Rng) -> Tendons:
    n, angles = int(rng.integers(3, 7)), None
    while rng.random() < 0.9:
        drawn = np.sort(rng.uniform(0.0, 2.0 * np.pi, n))
        gaps = np.diff(drawn, append=drawn[0] + 2.0 * np.pi)
        if gaps.max() < 3.0 and gaps.min() > 0.1:
            angles = tuple(map(float, drawn))
            break
    radii = tuple(map(float, rng.uniform(0.006, 0.03, n)))
    radius = float(rng.uniform(0.006, 0.03))
    return Tendons(n, angles, radii if rng.random() < 0.7 else radius, rng.uniform(1.0, 8.0))


def random_inertia(rng: Rng, size: float) -> tuple[float, float, float]:
    """Return principal moments of about `size` that a body of positive densities can have."""
    x, y, z = size * rng.uniform(0.1, 1.0, 3)  # second moments of mass along the axes
    return (float(y + z), float(z + x), float(x + y))


def random_rotation(rng: Rng, n: int, largest: float) -> np.ndarray:
    """Return unit quaternions (n, 4) of turns by up to `largest`, rad, about any axis."""
    axis = rng.normal(size=(n, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    half = 0.5 * rng.uniform(0.0, largest, (n, 1))
    return np.hstack([np.cos(half), np.sin(half) * axis])


def random_states(model: mujoco.MjModel, rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return qpos (n, nq) and qvel (n, nv) high in the air, the arm bent and moving."""
    layout = Layout.of(model)
    links = len(layout.link_bodies)
    qpos, qvel = np.tile(model.qpos0, (n, 1)), np.zeros((n, model.nv))
    if layout.free:
        qpos[:, :3] = rng.uniform([-5.0, -5.0, 5.0], [5.0, 5.0, 15.0], (n, 3))
        qpos[:, 3:7] = random_rotation(rng, n, 0.6 if rng.random() < 0.6 else np.pi)
        qvel[:, :3] = rng.normal(0.0, 2.0, (n, 3))
        qvel[:, 3:6] = rng.normal(0.0, 2.0, (n, 3))
    shares = rng.uniform(0.5, 1.5, (2, n, links, 2)) / links
    bend, rate = rng.uniform(-1.2, 1.2, (n, 1, 2)), rng.normal(0.0, 3.0, (n, 1, 2))
    qpos[:, layout.joint_qpos] = (shares[0] * bend).reshape(n, -1)
    qvel[:, layout.joint_dofs] = (shares[1] * rate).reshape(n, -1)
    return qpos, qvel


def random_controls(
    model: mujoco.MjModel, rng: Rng, parameters: ModelParameters, n: int
) -> np.ndarray:
    """Return controls (SEGMENTS, n, nu) in their ranges, the tensions such that the arm can fly."""
    layout, arm = Layout.of(model), parameters.arm
    low, high = model.actuator_ctrlrange.T.copy()
    # at rest a tendon would bend the arm by this angle, rad
    strongest = 3.0 * arm.bending_stiffness / (layout.tendon_radii * arm.length)
    high[layout.tendon_actuators] = np.minimum(high[layout.tendon_actuators], strongest)
    return rng.uniform(low, high, (SEGMENTS, n, model.nu))


def random_edits(model: mujoco.MjModel, rng: Rng) -> tuple[str, ...]:
    """Change what randomisation may change, each field by chance; return what was changed."""
    if rng.random() < 0.2:
        return ()
    names = tuple(name for name in EDITS if rng.random() < 0.6)
    for name in names:
        EDITS[name](model, rng)
    finish(model)
    return names


def finish(model: mujoco.MjModel) -> None:
    """Bring what MuJoCo derives from the fields of a model up to date after they were changed."""
    let_frames_differ(model)
    mujoco.mj_setConst(model, mujoco.MjData(model))


def let_frames_differ(model: mujoco.MjModel) -> None:
    """Withdraw the compiler's promises that frames coincide, by which MuJoCo takes short cuts."""
    model.body_sameframe[:] = 0
    model.geom_sameframe[:] = 0
    model.site_sameframe[:] = 0


def _scale(name: str, low: float, high: float):
    def edit(model: mujoco.MjModel, rng: Rng) -> None:
        values = getattr(model, name)
        values *= rng.uniform(low, high, values.shape)

    return edit


def _inertial_offsets(model: mujoco.MjModel, rng: Rng) -> None:
    model.body_ipos[1:] += rng.uniform(-0.3, 0.3, (model.nbody - 1, 3)) * _sizes(model)[1:]


def _inertial_frames(model: mujoco.MjModel, rng: Rng) -> None:
    model.body_iquat[1:] = random_rotation(rng, model.nbody - 1, np.pi)


def _inertias(model: mujoco.MjModel, rng: Rng) -> None:
    for body in range(1, model.nbody):
        size = rng.uniform(0.7, 1.4) * model.body_inertia[body].mean()
        model.body_inertia[body] = random_inertia(rng, size)


def _springs(model: mujoco.MjModel, rng: Rng) -> None:
    joints = Layout.of(model).joint_qpos
    model.qpos_spring[joints] += rng.uniform(-1.0, 1.0, len(joints)) / len(joints)


def _armature(model: mujoco.MjModel, rng: Rng) -> None:
    layout = Layout.of(model)
    inertia = np.repeat(model.body_inertia[layout.link_bodies].max(axis=1), 2)
    model.dof_armature[layout.joint_dofs] = inertia * rng.uniform(0.0, 2.0, len(inertia))


def _sites(model: mujoco.MjModel, rng: Rng) -> None:
    tendons = np.unique(model.wrap_objid)
    model.site_pos[tendons] += rng.uniform(-3e-3, 3e-3, (len(tendons), 3))
    rotors = Layout.of(model).rotor_sites
    model.site_pos[rotors] += rng.uniform(-0.02, 0.02, (4, 3))


def _gears(model: mujoco.MjModel, rng: Rng) -> None:
    layout = Layout.of(model)
    model.actuator_gear[layout.tendon_actuators, 0] *= rng.uniform(0.7, 1.3)
    rotors = layout.rotor_actuators
    tilts = [0.1, 0.1, 0.1, 5e-3, 5e-3, 5e-3]
    model.actuator_gear[rotors] += rng.uniform(-1.0, 1.0, (len(rotors), 6)) * tilts


def _links(model: mujoco.MjModel, rng: Rng) -> None:
    links = Layout.of(model).link_bodies
    model.body_pos[links] += rng.uniform(-0.2, 0.2, (len(links), 3)) * _sizes(model)[links]


def _sizes(model: mujoco.MjModel) -> np.ndarray:
    """Return a length per body, its radius of gyration, (nbody, 1)."""
    mass = np.maximum(model.body_mass, 1e-9)
    return np.sqrt(model.body_inertia.max(axis=1) / mass)[:, None]


def _wind(model: mujoco.MjModel, rng: Rng) -> None:
    model.opt.wind = rng.uniform(-4.0, 4.0, 3)


def _gravity(model: mujoco.MjModel, rng: Rng) -> None:
    model.opt.gravity = rng.uniform([-1.0, -1.0, -12.0], [1.0, 1.0, 0.0])


EDITS = {
    "body_mass": _scale("body_mass", 0.7, 1.4),
    "body_ipos": _inertial_offsets,
    "body_iquat": _inertial_frames,
    "body_inertia": _inertias,
    "jnt_stiffness": _scale("jnt_stiffness", 0.5, 1.5),
    "qpos_spring": _springs,
    "dof_damping": _scale("dof_damping", 0.5, 2.0),
    "dof_armature": _armature,
    "site_pos": _sites,
    "actuator_gear": _gears,
    "opt.wind": _wind,
    "opt.gravity": _gravity,
    "body_pos": _links,
}

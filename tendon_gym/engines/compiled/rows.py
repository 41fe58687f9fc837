"""What a step of the compiled engine works on, as named tuples that compiled code can open."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.control.loops import Loops
from tendon_gym.engines.compiled import slots
from tendon_gym.engines.kinematics import Tree
from tendon_gym.forces.built_in import Terms
from tendon_gym.forces.term import Motion, Push

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

RUNNING, NEAR, FAILED = 0, 1, 2
"""What became of a simulation in a control step."""

LOOPING, PUSHING, BEGINS, ENDS = 1, 2, 4, 8
"""How to advance: inner loops run before each physics step, else the controls are held; built-in
force terms act, else `push` is as it was; a control step begins; it ends."""


class Setup(NamedTuple):
    """What stays the same for all simulations of an engine.

    Attributes:
        shape: links, rotors, tendons, flags, the first link that may touch the base.
        free: whether the base flies.
        timestep: s.
        rotors: (r,), their controls.
        tendons: (t,), their controls, -1 for none.
        bodies: (1 + N,), the base, then the links.
        hinge_dofs: (N, 2), addresses in qvel.
        low: (nu,), limits of the controls.
        high: (nu,).
        obstacles: (k, 4), centre and radius of what stands around, m.
        planes: (k, 4), unit normal and offset along it, m.
        bounds: how high links may come in the base's frame; how low links may come in the world;
            how low the base's origin; how far the vehicle reaches from it, all in m.
        load: body of the free ball, and its addresses in qpos and qvel; -1 for none.
        load_bounds: see `contacts.Bounds.load`.
    """

    shape: tuple[int, int, int, int, int]
    free: bool
    timestep: float
    rotors: Indices
    tendons: Indices
    bodies: Indices
    hinge_dofs: Indices
    low: Floats
    high: Floats
    obstacles: Floats
    planes: Floats
    bounds: Floats
    load: tuple[int, int, int]
    load_bounds: Floats


class Memories(NamedTuple):
    """Memory of one worker: three in slots of its width, see `slots`, and what it has to report.

    That is whether any of its simulations is NEAR, a 1 or a 0.
    """

    state: Floats
    drive: Floats
    work: Floats
    report: Indices


def new_memories(setup: Setup, width: int) -> Memories:
    """Make memory for a worker that steps blocks of that width."""
    links, rotors, tendons, _, _ = setup.shape
    return Memories(
        np.zeros(width * slots.state_size(links)),
        np.zeros(width * slots.drive_size(links, rotors, tendons)),
        np.zeros(width * slots.work_size(links)),
        np.zeros(1, np.int64),
    )


class Rows(NamedTuple):
    """The simulations, row by row.

    Attributes:
        time: (n,), s.
        ticks: (n,), physics steps since the reset.
        qpos: (n, nq).
        qvel: (n, nv).
        ctrl: (n, nu).
        outcome: (n,), RUNNING, NEAR or FAILED.
        due: (n,), ticks at the end of the present steps.
        good_qpos: (n, nq), qpos when it last was good, whatever is written to it later.
        good_qvel: (n, nv), qvel then.
        unstable: (n,), whether the last control step failed.
        refused: (n,), whether a force term has failed in this one.
    """

    time: Floats
    ticks: Indices
    qpos: Floats
    qvel: Floats
    ctrl: Floats
    outcome: Indices
    due: Indices
    good_qpos: Floats
    good_qvel: Floats
    unstable: NDArray[np.bool_]
    refused: NDArray[np.bool_]


class Given(NamedTuple):
    """All that a step works on.

    Attributes:
        loops: of the action interface, or idle ones.
        terms: built-in force terms.
        tree: tables of the kinematics, for terms that read the motion.
        motion: its results.
        push: what the terms give.
        setup: of the engine.
        constants: (1 or blocks, slots * width).
        pull: (1 or n, tendons), tension per control.
        load: (1 or n, 13), see `constants.load_constants`.
        rows: the simulations.
        memory: of the worker that takes the step.
    """

    loops: Loops
    terms: Terms
    tree: Tree
    motion: Motion
    push: Push
    setup: Setup
    constants: Floats
    pull: Floats
    load: Floats
    rows: Rows
    memory: Memories

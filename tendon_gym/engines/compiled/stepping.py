"""The loop over physics steps: blocks of simulations, each for a whole control step.

A block is one simulation on floats, or WIDTH of them in the lanes of registers. Within a block a
simulation runs on until its steps are done, until it may touch something, or until it fails.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import compiled, inlined
from tendon_gym.control.loops import Loops, run_loops
from tendon_gym.engines.compiled import slots
from tendon_gym.engines.compiled.dynamics import PUSHED
from tendon_gym.engines.compiled.integration import move_base, move_links
from tendon_gym.engines.compiled.inward import to_base
from tendon_gym.engines.compiled.lanes import write
from tendon_gym.engines.compiled.outward import to_tip
from tendon_gym.engines.kinematics import Tree, update_one
from tendon_gym.forces.built_in import Terms, look, push_one
from tendon_gym.forces.term import Motion, Push
from tendon_gym.spatial import quaternion

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_LARGEST = 1e10
"""What MuJoCo takes for no number any more, mjMAXVAL."""

RUNNING, NEAR, FAILED = 0, 1, 2
"""What became of a simulation in a control step."""


class Setup(NamedTuple):
    """What stays the same for all simulations of an engine.

    Attributes:
        shape: links, rotors, tendons, flags, the first link that may touch the base.
        free: whether the base flies.
        timestep: s.
        qpos_slots: (nq,), where each element of qpos is in the state.
        qvel_slots: (nv,).
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
    """

    shape: tuple[int, int, int, int, int]
    free: bool
    timestep: float
    qpos_slots: Indices
    qvel_slots: Indices
    rotors: Indices
    tendons: Indices
    bodies: Indices
    hinge_dofs: Indices
    low: Floats
    high: Floats
    obstacles: Floats
    planes: Floats
    bounds: Floats


class Memories(NamedTuple):
    """Memory of one worker, in slots of its width; see `slots`."""

    state: Floats
    drive: Floats
    work: Floats


def new_memories(setup: Setup, width: int) -> Memories:
    """Make memory for a worker that steps blocks of that width."""
    links, rotors, tendons, _, _ = setup.shape
    return Memories(
        np.zeros(width * slots.state_size(links)),
        np.zeros(width * slots.drive_size(links, rotors, tendons)),
        np.zeros(width * slots.work_size(links)),
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
        done: (n,), physics steps of this control step that were taken.
    """

    time: Floats
    ticks: Indices
    qpos: Floats
    qvel: Floats
    ctrl: Floats
    outcome: Indices
    done: Indices


class Given(NamedTuple):
    """All that a step works on, but for the memory of a worker.

    Attributes:
        loops: of the action interface, or idle ones.
        terms: built-in force terms.
        tree: tables of the kinematics, for terms that read the motion.
        motion: its results.
        push: what the terms give.
        setup: of the engine.
        constants: (1 or blocks, slots * width).
        pull: (1 or n, tendons), tension per control.
        rows: the simulations.
    """

    loops: Loops
    terms: Terms
    tree: Tree
    motion: Motion
    push: Push
    setup: Setup
    constants: Floats
    pull: Floats
    rows: Rows


@compiled
def advance(
    first: int,
    last: int,
    width: int,
    unit: Any,
    substeps: int,
    looping: bool,
    pushing: bool,
    box: Any,
    memory: Memories,
) -> None:
    """Advance the blocks first ... last - 1 by `substeps` physics steps.

    Args:
        first: block.
        last: block.
        width: simulations per block: 1, or WIDTH.
        unit: 1.0, or UNIT for lanes.
        substeps: number of physics steps.
        looping: whether inner loops run before each of them, else the controls are held.
        pushing: whether built-in force terms act, else `push` is as it was.
        box: with a `Given`, see `boxes`.
        memory: of this worker.
    """
    given = box.value
    rows, setup = given.rows, given.setup
    for block in range(first, last):
        constants = given.constants[block % given.constants.shape[0]]
        begin, end = block * width, min((block + 1) * width, len(rows.time))
        _gather(begin, end, width, constants, setup, rows, memory.state)
        links, rotors, tendons, flags, touching = setup.shape
        if pushed(begin, end, given.push):
            flags |= PUSHED
        shape = (links, rotors, tendons, flags, touching)
        for s in range(substeps):
            running = False
            for i in range(begin, end):
                if rows.outcome[i] == RUNNING:
                    running = True
                    _command(i, looping, pushing, given)
                    _load(i, i - begin, width, flags, given, memory.drive)
            if not running:
                break
            state, drive, work = memory.state, memory.drive, memory.work
            to_tip(constants, state, drive, work, shape, unit)
            for i in range(begin, end):
                if rows.outcome[i] == RUNNING and _near(i - begin, width, setup, memory):
                    rows.outcome[i], rows.done[i] = NEAR, s
            arm, pull = to_base(constants, work, shape, unit)
            size, fall = move_base(
                constants, state, drive, shape, setup.free, arm, pull, setup.timestep, unit
            )
            size = size + move_links(constants, state, work, shape, fall, setup.timestep, unit)
            write(work, slots.SIZE, size)
            for i in range(begin, end):
                if rows.outcome[i] == RUNNING:
                    _keep(i, i - begin, width, setup, memory, rows)


@compiled
def pushed(begin: int, end: int, push: Push) -> bool:
    """Say whether anything pushes on the simulations begin ... end - 1 before the step begins."""
    for i in range(begin, end):
        for b in range(push.wrench.shape[1]):
            for k in range(6):
                if push.wrench[i, b, k] != 0.0:
                    return True
        for k in range(push.joint_force.shape[1]):
            if push.joint_force[i, k] != 0.0:
                return True
    return False


@compiled
def command_one(i: int, looping: bool, pushing: bool, box: Any) -> None:
    """Run what comes before a physics step of simulation i: inner loops and force terms."""
    _command(i, looping, pushing, box.value)


@compiled
def _command(i: int, looping: bool, pushing: bool, given: Given) -> None:
    rows = given.rows
    if looping:
        run_loops(i, i + 1, rows.time, rows.qpos, rows.qvel, rows.ctrl, given.loops)
    if pushing:
        if look(i, rows.time[i], given.terms):
            update_one(i, rows.qpos[i], rows.qvel[i], given.tree, given.motion)
        push_one(i, rows.time[i], given.terms, given.motion, given.push)


@inlined
def _gather(
    begin: int, end: int, width: int, constants: Floats, setup: Setup, rows: Rows, state: Floats
) -> None:
    """Bring the states of a block into its memory; lanes without a simulation repeat the last."""
    for lane in range(width):
        i = min(begin + lane, end - 1)
        if not setup.free:
            for k in range(7):
                state[(slots.POSITION + k) * width + lane] = constants[
                    (slots.POSE + k) * width + lane
                ]
            for k in range(6):
                state[(slots.VELOCITY + k) * width + lane] = 0.0
        for k in range(setup.qpos_slots.shape[0]):
            state[setup.qpos_slots[k] * width + lane] = rows.qpos[i, k]
        for k in range(setup.qvel_slots.shape[0]):
            state[setup.qvel_slots[k] * width + lane] = rows.qvel[i, k]
        if setup.free and quaternion(rows.qpos[i, 3:7]) == (1.0, 0.0, 0.0, 0.0):
            state[slots.QUATERNION * width + lane] = 1.0  # what MuJoCo makes of zeros


@inlined
def _load(i: int, lane: int, width: int, flags: int, given: Given, drive: Floats) -> None:
    """Bring what drives simulation i into its lane."""
    setup, push, pull, rows = given.setup, given.push, given.pull, given.rows
    for k in range(3):
        drive[(slots.WIND + k) * width + lane] = push.wind[i, k]
    scale = 1.0
    for u in range(rows.ctrl.shape[1]):
        if not abs(_control(rows.ctrl[i], u, 1.0, setup)) < _LARGEST:
            scale = 0.0  # as MuJoCo does: with a control that is no number, none of them counts
    at = slots.CONTROLS
    for r in range(setup.rotors.shape[0]):
        control = _control(rows.ctrl[i], setup.rotors[r], scale, setup)
        drive[(at + r) * width + lane] = control
    at += setup.rotors.shape[0]
    for t in range(setup.tendons.shape[0]):
        control = _control(rows.ctrl[i], setup.tendons[t], scale, setup)
        drive[(at + t) * width + lane] = pull[i % pull.shape[0], t] * control
    at += setup.tendons.shape[0]
    if flags & PUSHED:
        _load_push(i, at, lane, width, setup, push, drive)


@inlined
def _control(ctrl: Floats, actuator: int, scale: float, setup: Setup) -> float:
    """Return a control within its limits; 0 where there is no actuator, or no sense in any."""
    if actuator < 0 or scale == 0.0:
        return 0.0
    return min(max(ctrl[actuator], setup.low[actuator]), setup.high[actuator])


@inlined
def _load_push(
    i: int, at: int, lane: int, width: int, setup: Setup, push: Push, drive: Floats
) -> None:
    """Bring what the force terms give to simulation i into its lane."""
    base = setup.bodies[0]
    for k in range(6):
        drive[(at + k) * width + lane] = push.wrench[i, base, k]
        drive[(at + 6 + k) * width + lane] = push.joint_force[i, k] if setup.free else 0.0
    at += slots.PUSH_OF_BASE
    for n in range(setup.hinge_dofs.shape[0]):
        body = setup.bodies[1 + n]
        for k in range(6):
            drive[(at + k) * width + lane] = push.wrench[i, body, k]
        for k in range(2):
            drive[(at + 6 + k) * width + lane] = push.joint_force[i, setup.hinge_dofs[n, k]]
        at += slots.PUSH_OF_LINK


@inlined
def _near(lane: int, width: int, setup: Setup, memory: Memories) -> bool:
    """Say whether a simulation may be in contact: never wrong when it says no."""
    highest = memory.work[slots.HIGHEST * width + lane]
    lowest = memory.work[slots.LOWEST * width + lane]
    x, y = memory.state[lane], memory.state[width + lane]
    z = memory.state[2 * width + lane]
    near = highest > setup.bounds[0] or lowest < setup.bounds[1] or z < setup.bounds[2]
    reach = setup.bounds[3]
    for k in range(setup.obstacles.shape[0]):
        a, b, c, radius = setup.obstacles[k]
        square = (x - a) * (x - a) + (y - b) * (y - b) + (z - c) * (z - c)
        near = near or square < (radius + reach) * (radius + reach)
    for k in range(setup.planes.shape[0]):
        a, b, c, offset = setup.planes[k]
        near = near or a * x + b * y + c * z - offset < reach
    return near


@inlined
def _keep(i: int, lane: int, width: int, setup: Setup, memory: Memories, rows: Rows) -> None:
    """Write a step's result to the rows, unless it makes no sense."""
    if not memory.work[slots.SIZE * width + lane] < _LARGEST * _LARGEST:
        rows.outcome[i] = FAILED
        return
    state = memory.state
    for k in range(setup.qpos_slots.shape[0]):
        rows.qpos[i, k] = state[setup.qpos_slots[k] * width + lane]
    for k in range(setup.qvel_slots.shape[0]):
        rows.qvel[i, k] = state[setup.qvel_slots[k] * width + lane]
    rows.ticks[i] += 1
    rows.time[i] = rows.ticks[i] * setup.timestep
    rows.done[i] += 1

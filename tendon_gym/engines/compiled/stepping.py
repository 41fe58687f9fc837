"""The loop over physics steps: blocks of simulations, each for a whole control step.

A block is one simulation on floats, or WIDTH of them in the lanes of registers. Within a block a
simulation runs on until its steps are done, until it may touch something, or until it fails.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import compiled, inlined
from tendon_gym.control.loops import run_loops
from tendon_gym.engines.compiled import slots
from tendon_gym.engines.compiled.dynamics import PUSHED
from tendon_gym.engines.compiled.integration import move_base, move_links
from tendon_gym.engines.compiled.inward import to_base
from tendon_gym.engines.compiled.lanes import write
from tendon_gym.engines.compiled.load import move_load, near_load
from tendon_gym.engines.compiled.outward import to_tip
from tendon_gym.engines.compiled.rows import (
    BEGINS,
    ENDS,
    FAILED,
    LOOPING,
    NEAR,
    PUSHING,
    RUNNING,
    Given,
    Memories,
    Rows,
    Setup,
)
from tendon_gym.engines.kinematics import update_one
from tendon_gym.forces.built_in import look, push_one
from tendon_gym.forces.term import Push
from tendon_gym.spatial import quaternion

Floats = NDArray[np.float64]

_LARGEST = 1e10
"""What MuJoCo takes for no number any more, mjMAXVAL."""


@compiled
def advance(
    first: int,
    last: int,
    width: int,
    unit: Any,
    substeps: int,
    how: int,
    box: Any,
) -> None:
    """Advance the blocks first ... last - 1 by `substeps` physics steps.

    Args:
        first: block.
        last: block.
        width: simulations per block: 1, or WIDTH.
        unit: 1.0, or UNIT for lanes.
        substeps: number of physics steps.
        how: LOOPING, PUSHING, BEGINS, ENDS, added up.
        box: with a `Given`, see `boxes`.
    """
    _advance(first, last, width, unit, substeps, how, box.value)


@inlined
def _advance(
    first: int,
    last: int,
    width: int,
    unit: Any,
    substeps: int,
    how: int,
    given: Given,
) -> None:
    memory = given.memory
    memory.report[0] = 0
    for block in range(first, last):
        begin, end = block * width, min((block + 1) * width, len(given.rows.time))
        for i in range(begin, end):
            given.rows.due[i] = given.rows.ticks[i] + substeps
            if how & BEGINS:
                given.rows.outcome[i] = RUNNING
        _advance_block(block, begin, end, width, unit, substeps, how, given)
        for i in range(begin, end):
            if given.rows.outcome[i] == NEAR:
                memory.report[0] = 1
            elif how & ENDS:
                _settle(i, given.setup.timestep, given.rows, given.push)


@inlined
def _advance_block(
    block: int,
    begin: int,
    end: int,
    width: int,
    unit: Any,
    substeps: int,
    how: int,
    given: Given,
) -> None:
    rows, setup, (state, drive, work, _) = given.rows, given.setup, given.memory
    constants = given.constants[block % given.constants.shape[0]]
    _gather(begin, end, width, constants, setup, rows, state)
    links, rotors, tendons, flags, touching = setup.shape
    flags |= PUSHED if pushed(begin, end, given.push) else 0
    shape = (links, rotors, tendons, flags, touching)
    changing = how & (LOOPING | PUSHING)
    for s in range(substeps):
        running = False
        for i in range(begin, end):
            if rows.outcome[i] == RUNNING:
                running = True
                if changing:
                    _command(i, how, given)
                if changing or s == 0:
                    _load(i, i - begin, width, flags, given, drive)
        if not running:
            break
        to_tip(constants, state, drive, work, shape, unit)
        for i in range(begin, end):
            if rows.outcome[i] == RUNNING and _near(i, i - begin, width, setup, given):
                rows.outcome[i] = NEAR
                _scatter(i, i - begin, width, setup, state, rows)
        _move(constants, given.memory, shape, setup.free, setup.timestep, unit)
        for i in range(begin, end):
            if rows.outcome[i] != RUNNING:
                continue
            size = work[slots.SIZE * width + i - begin]
            if setup.load[0] >= 0:
                size += move_load(i, given)
            if not size < _LARGEST * _LARGEST:
                rows.outcome[i] = FAILED
                continue
            _tick(i, setup.timestep, rows)
            if how & PUSHING or s == substeps - 1:
                _scatter(i, i - begin, width, setup, state, rows)
            elif how & LOOPING and setup.free:
                _scatter_base(i, i - begin, width, state, rows)


@inlined
def _move(
    constants: Floats, memory: Memories, shape: tuple, free: bool, timestep: float, unit: Any
) -> None:
    """Take the second and the third pass of a step."""
    state, drive, work, _ = memory
    arm, pull = to_base(constants, work, shape, unit)
    size, fall = move_base(constants, state, drive, shape, free, arm, pull, timestep, unit)
    size = size + move_links(constants, state, work, shape, fall, timestep, unit)
    write(work, slots.SIZE, size)


@compiled
def settle(i: int, timestep: float, rows: Rows, push: Push) -> None:
    """End a control step of simulation i that MuJoCo has finished."""
    _settle(i, timestep, rows, push)


@inlined
def _settle(i: int, timestep: float, rows: Rows, push: Push) -> None:
    """End a control step of simulation i: its state is good now, or the last good one is put back.

    Then nothing pushes any more, whoever did; the time goes on either way.
    """
    failed = rows.outcome[i] == FAILED or rows.refused[i]
    rows.unstable[i] = failed
    if not failed:
        _copy(i, rows.qpos, rows.good_qpos)
        _copy(i, rows.qvel, rows.good_qvel)
    else:
        _copy(i, rows.good_qpos, rows.qpos)
        _copy(i, rows.good_qvel, rows.qvel)
        rows.ticks[i] = rows.due[i]
        rows.time[i] = rows.ticks[i] * timestep
        for b in range(push.wrench.shape[1]):
            for k in range(6):
                push.wrench[i, b, k] = 0.0
        for k in range(push.joint_force.shape[1]):
            push.joint_force[i, k] = 0.0


@inlined
def _copy(i: int, source: Floats, target: Floats) -> None:
    for k in range(source.shape[1]):
        target[i, k] = source[i, k]


@inlined
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
def command_one(i: int, how: int, box: Any) -> None:
    """Run what comes before a physics step of simulation i: inner loops and force terms."""
    _command(i, how, box.value)


@inlined
def _command(i: int, how: int, given: Given) -> None:
    rows = given.rows
    if how & LOOPING:
        run_loops(i, i + 1, rows.time, rows.qpos, rows.qvel, rows.ctrl, given.loops)
    if how & PUSHING:
        if look(i, rows.time[i], given.terms):
            update_one(i, rows.qpos[i], rows.qvel[i], given.tree, given.motion)
        push_one(i, rows.time[i], given.terms, given.motion, given.push)


@inlined
def _gather(
    begin: int, end: int, width: int, constants: Floats, setup: Setup, rows: Rows, state: Floats
) -> None:
    """Bring the states of a block into its memory; lanes without a simulation repeat the last."""
    hinges = 2 * setup.shape[0]
    for lane in range(width):
        i = min(begin + lane, end - 1)
        base, joints = (7, 6) if setup.free else (0, 0)
        if setup.free:
            for k in range(7):
                state[k * width + lane] = rows.qpos[i, k]
            for k in range(6):
                state[(slots.VELOCITY + k) * width + lane] = rows.qvel[i, k]
            if quaternion(rows.qpos[i, 3:7]) == (1.0, 0.0, 0.0, 0.0):
                state[slots.QUATERNION * width + lane] = 1.0  # what MuJoCo makes of zeros
        else:
            for k in range(7):
                state[k * width + lane] = constants[(slots.POSE + k) * width + lane]
            for k in range(6):
                state[(slots.VELOCITY + k) * width + lane] = 0.0
        for k in range(hinges):
            state[(slots.ANGLES + k) * width + lane] = rows.qpos[i, base + k]
            state[(slots.ANGLES + hinges + k) * width + lane] = rows.qvel[i, joints + k]


@inlined
def _scatter_base(i: int, lane: int, width: int, state: Floats, rows: Rows) -> None:
    """Write the state of a flying base, which is all that inner loops read, to its row."""
    for k in range(7):
        rows.qpos[i, k] = state[k * width + lane]
    for k in range(6):
        rows.qvel[i, k] = state[(slots.VELOCITY + k) * width + lane]


@inlined
def _scatter(i: int, lane: int, width: int, setup: Setup, state: Floats, rows: Rows) -> None:
    """Write the state of a simulation to its row, where that of a load is already."""
    base, joints = (7, 6) if setup.free else (0, 0)
    if setup.free:
        _scatter_base(i, lane, width, state, rows)
    hinges = 2 * setup.shape[0]
    for k in range(hinges):
        rows.qpos[i, base + k] = state[(slots.ANGLES + k) * width + lane]
        rows.qvel[i, joints + k] = state[(slots.ANGLES + hinges + k) * width + lane]


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
def _near(i: int, lane: int, width: int, setup: Setup, given: Given) -> bool:
    """Say whether simulation i may be in contact: never wrong when it says no."""
    memory = given.memory
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
    return near or near_load((x, y, z), given.rows.qpos[i], setup)


@compiled
def tick(i: int, timestep: float, rows: Rows) -> None:
    """Move the clock of simulation i on by a physics step that MuJoCo has taken."""
    _tick(i, timestep, rows)


@inlined
def _tick(i: int, timestep: float, rows: Rows) -> None:
    """Move the clock of simulation i on by a physics step; the time is no sum, so it is exact."""
    rows.ticks[i] += 1
    rows.time[i] = rows.ticks[i] * timestep

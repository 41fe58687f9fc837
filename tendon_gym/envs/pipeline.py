"""What follows the physics in a step, as one compiled kernel over a range of simulations.

One simulation after the other goes through all the parts while its numbers are at hand. Ranges
share no scratch, so that they may run on threads, and give the same bits however they are cut.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import compiled
from tendon_gym.engines.kinematics import Tree, update_one
from tendon_gym.envs.ends import RUNNING, Ends, judge_one
from tendon_gym.envs.infos import Summary, summarise_one
from tendon_gym.envs.observations import Gathering, gather_one
from tendon_gym.envs.rest_tips import Goals, aim_one
from tendon_gym.envs.rig_signals import Carried, sense_rig
from tendon_gym.envs.schedule import Ahead, Course, follow_one, look_one
from tendon_gym.envs.signals import Sensing, clearance_of, put_controls_back, sense_one
from tendon_gym.forces import Motion
from tendon_gym.rewards.total import Weighing, weigh_one

MOVE, SENSE, JUDGE, OBSERVE = 1, 2, 4, 8
"""Parts of the pipeline: kinematics; reference, goal and signals; reward and ends; preview,
observation and info."""


class Pipeline(NamedTuple):
    """Everything that follows the physics of n simulations; of the same types for every task.

    Attributes:
        time: (n,), s since each simulation's reset.
        qpos: (n, nq).
        qvel: (n, nv).
        unstable: (n,), whose physics failed.
    """

    time: NDArray[np.float64]
    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    unstable: NDArray[np.bool_]
    tree: Tree
    motion: Motion
    course: Course
    goals: Goals
    sensing: Sensing
    carried: Carried
    weighing: Weighing
    ends: Ends
    ahead: Ahead
    gathering: Gathering
    summary: Summary


@compiled
def follow_up(first: int, last: int, parts: int, box: Any) -> None:
    """Run some parts of a boxed `Pipeline` for the simulations first..last-1."""
    pipeline = box.value
    time, motion, course, sensing = (
        pipeline.time, pipeline.motion, pipeline.course, pipeline.sensing
    )  # fmt: skip
    signals = sensing.signals
    for i in range(first, last):
        if parts & MOVE:
            update_one(i, pipeline.qpos[i], pipeline.qvel[i], pipeline.tree, motion)
        if parts & SENSE:
            if pipeline.unstable[i]:
                put_controls_back(i, sensing)
            follow_one(i, time[i], course)
            aim_one(i, course.setpoint["bend"][i], pipeline.goals)
            sense_one(i, motion, course.setpoint, pipeline.goals.values, sensing)
            if pipeline.carried.load >= 0:
                sense_rig(i, motion, pipeline.carried, sensing)
        if parts & JUDGE:
            weigh_one(i, signals, pipeline.weighing)
            matrix = pipeline.gathering.sources.signals
            judge_one(i, pipeline.unstable[i], signals, matrix, pipeline.ends)
        if parts & OBSERVE:
            look_one(i, time[i], signals["position"][i], course, pipeline.ahead)
            gather_one(i, pipeline.gathering)
            summarise_one(i, time[i], sensing, pipeline.summary)


@compiled
def lowest(ids: NDArray, out: NDArray, box: Any) -> None:
    """Write the heights (k,) of the lowest points of the simulations `ids` (k,) over the floor."""
    pipeline = box.value
    for row in range(ids.shape[0]):
        i = ids[row]
        update_one(i, pipeline.qpos[i], pipeline.qvel[i], pipeline.tree, pipeline.motion)
        out[row] = clearance_of(i, pipeline.motion, pipeline.sensing)


@compiled
def begin(ids: NDArray, box: Any) -> None:
    """Forget what the last episodes of the simulations `ids` (k,) were: no steps, no reward."""
    pipeline = box.value
    ends, weighing, sensing = pipeline.ends, pipeline.weighing, pipeline.sensing
    for i in ids:
        ends.elapsed[i] = 0
        ends.reason[i] = RUNNING
        ends.truncated[i] = ends.success[i] = False
        ends.squares[i, :] = 0.0
        weighing.total[i] = 0.0
        weighing.parts[i, :] = 0.0
        for k in range(sensing.ctrl.shape[1]):
            sensing.last_ctrl[i, k] = sensing.ctrl[i, k]

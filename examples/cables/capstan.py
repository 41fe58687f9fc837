"""A tether wound around a branch: friction holds e^(mu theta) times the pull of a hand.

The tether's end is carried around the branch, turn after turn, and the path winds with it. Then
the end is pulled off at 1 m/s while a hand holds the other end with 1 N.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np
from showing import Scene, show

from tendon_gym.cables import CablePulls, CableSpan, CableSystem, ConstantTension, Cylinder
from tendon_gym.cables.mujoco_bodies import read_bodies

RADIUS, FRICTION, TURNS = 0.1, 0.3, 1.5
STEPS = 300


def build() -> mujoco.MjModel:
    """Return a branch along y, and an end of a tether that is carried."""
    spec = mujoco.MjSpec()
    spec.worldbody.add_light(pos=[0, -2, 4], dir=[0, 0.4, -1])
    spec.worldbody.add_geom(
        name="branch", type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[0.97 * RADIUS, 0.3, 0],
        quat=[1, 1, 0, 0], rgba=[0.45, 0.3, 0.2, 1],
    )  # fmt: skip
    end = spec.worldbody.add_body(name="end")
    end.add_freejoint(name="end")
    end.add_geom(name="end", size=[0.03, 0, 0], rgba=[0.2, 0.6, 0.4, 1])
    return spec.compile()


def run() -> Scene:
    """Wind the tether, and pull."""
    model = build()
    data = mujoco.MjData(model)
    system = CableSystem(model)
    cable = CableSpan(system, "world", (-0.8, -0.1, 0.0), "end", (0, 0, 0))
    cable.smoothness_tolerance = 1e-9
    pose = (0, 0, 0, math.sqrt(0.5), math.sqrt(0.5), 0, 0)
    cable.add_obstacle("world", pose, Cylinder(RADIUS), (0, 1, 0))
    paths = system.new_state()
    pulls = CablePulls(paths, [ConstantTension(1.0)], [FRICTION])
    for k in range(STEPS + 1):
        angle = 0.5 * math.pi - (0.25 + TURNS * k / STEPS) * 2.0 * math.pi
        data.qpos[:3] = 0.5 * math.cos(angle), 0.1 * k / STEPS, 0.5 * math.sin(angle)
        mujoco.mj_forward(model, data)
        read_bodies(paths, model, data)
        paths.solve()
    data.qvel[:3] = cable.termination_tangent(paths)
    mujoco.mj_forward(model, data)
    read_bodies(paths, model, data)
    pulls.add_forces(np.zeros((1, model.nbody, 6)), 0.05)
    numbers = {
        "turning, rad": pulls.angle(0, 0),
        "arc over radius, rad": cable.arc_length(paths, 0) / RADIUS,
        "rise over path on the branch": float(cable.initial_frame(paths, 0).rotation[1, 0]),
        "tension of the end, N": float(pulls.tensions(0, 0)[1]),
    }
    return Scene(model, data, cable, paths, numbers)


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    """Run the example."""
    return show(__doc__ or "", run, arguments)


if __name__ == "__main__":
    main()

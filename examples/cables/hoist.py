"""A winch lifts a load over a beam: at rest the cable is stretched by m g / k.

A load of 2 kg hangs from a cable that runs over a beam to a winch on the ground. The winch winds
in 0.4 m. Then the load hangs where the path is as long as the rest length and the stretch.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from showing import Scene, show

from tendon_gym.cables import CablePulls, CableSpan, CableSystem, Cylinder, Winch
from tendon_gym.cables.mujoco_bodies import apply_body_forces, read_bodies

MASS, RADIUS, HEIGHT = 2.0, 0.1, 2.0
REST, WOUND, STIFFNESS = 3.2, 0.4, 2000.0


def build() -> mujoco.MjModel:
    """Return a load below the right side of a beam, free to move."""
    spec = mujoco.MjSpec()
    spec.option.timestep = 0.001
    spec.worldbody.add_light(pos=[0, -2, 4], dir=[0, 0.4, -1])
    spec.worldbody.add_geom(
        name="beam", type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[0.97 * RADIUS, 0.3, 0],
        pos=[0, 0, HEIGHT], quat=[1, 1, 0, 0], rgba=[0.5, 0.5, 0.55, 1],
    )  # fmt: skip
    load = spec.worldbody.add_body(name="load", pos=[RADIUS, 0, 0.9])
    load.add_freejoint(name="load")
    load.add_geom(name="load", size=[0.08, 0, 0], mass=MASS, rgba=[0.2, 0.6, 0.4, 1])
    return spec.compile()


def run() -> Scene:
    """Wind in, and wait until the load hangs still."""
    model = build()
    data = mujoco.MjData(model)
    system = CableSystem(model)
    cable = CableSpan(system, "world", (-RADIUS, 0, 0), "load", (0, 0, 0))
    pose = (0, 0, HEIGHT, np.sqrt(0.5), np.sqrt(0.5), 0, 0)
    cable.add_obstacle("world", pose, Cylinder(RADIUS), (0, 1, 0))
    paths = system.new_state()
    winch = Winch(REST, STIFFNESS, 100.0, speed=0.2, target=REST - WOUND)
    pulls = CablePulls(paths, [winch])
    forces = np.zeros((1, model.nbody, 6))
    for _ in range(6000):
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        read_bodies(paths, model, data)
        forces[:], data.xfrc_applied[:] = 0.0, 0.0
        pulls.add_forces(forces, model.opt.timestep)
        apply_body_forces(forces[0], model, data)
        mujoco.mj_step(model, data)
    numbers = {
        "tension, N": pulls.tension(),
        "height of the load, m": float(data.qpos[2]),
        "speed of the load, m/s": float(np.linalg.norm(data.qvel[:3])),
    }
    return Scene(model, data, cable, paths, numbers)


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    """Run the example."""
    return show(__doc__ or "", run, arguments)


if __name__ == "__main__":
    main()

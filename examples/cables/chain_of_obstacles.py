"""A load swings from a cable over three obstacles, one of which moves: the energy adds up.

The cable is elastic, without damping and friction, and runs over a roll, under a fixed ellipsoid
that it touches at times, and over a beam. The roll goes up and down; what it does to the cable is
what the load and the stretch gain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np
from showing import Scene, show

from tendon_gym.cables import CablePulls, CableSpan, CableSystem, Cylinder, Elastic, Ellipsoid
from tendon_gym.cables.mujoco_bodies import apply_body_forces, read_bodies

STIFFNESS, REST = 400.0, 3.4
LIFT, RATE = 0.22, 3.0
TIME = 2.0


def build() -> mujoco.MjModel:
    """Return a roll on a slide, and a load that swings below a beam."""
    spec = mujoco.MjSpec()
    spec.option.timestep = 0.0005
    spec.worldbody.add_light(pos=[0, -2, 4], dir=[0, 0.4, -1])
    spec.worldbody.add_geom(
        name="beam", type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[0.097, 0.3, 0], pos=[1, 0, 2],
        quat=[1, 1, 0, 0], rgba=[0.5, 0.5, 0.55, 1],
    )  # fmt: skip
    spec.worldbody.add_geom(
        name="stone", type=mujoco.mjtGeom.mjGEOM_ELLIPSOID, size=[0.2, 0.2, 0.1],
        pos=[0.2, 0, 2.17], rgba=[0.5, 0.5, 0.55, 1],
    )  # fmt: skip
    roll = spec.worldbody.add_body(name="roll", pos=[-0.6, 0, 1.85], mocap=True)
    roll.add_geom(
        name="roll",
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        size=[0.145, 0.3, 0],
        quat=[1, 1, 0, 0],
        rgba=[0.6, 0.3, 0.3, 1],
    )
    load = spec.worldbody.add_body(name="load", pos=[1.3, 0.1, 1.0])
    load.add_freejoint(name="load")
    load.add_geom(name="load", size=[0.07, 0, 0], mass=1.0, rgba=[0.2, 0.6, 0.4, 1])
    return spec.compile()


def span(model: mujoco.MjModel) -> CableSpan:
    """Return the cable."""
    cable = CableSpan(CableSystem(model), "world", (-1.2, 0, 1.9), "load", (0, 0, 0))
    upright = (1, 0, 0, 0)
    along = (math.sqrt(0.5), math.sqrt(0.5), 0, 0)
    cable.add_obstacle("roll", (0, 0, 0, *along), Cylinder(0.15), (0, 0.15, 0))
    cable.add_obstacle("world", (0.2, 0, 2.17, *upright), Ellipsoid((0.2, 0.2, 0.1)), (0, 0, -0.1))
    cable.add_obstacle("world", (1, 0, 2, *along), Cylinder(0.1), (0, 0.1, 0))
    cable.smoothness_tolerance = 1e-7
    return cable


def run() -> Scene:
    """Move the roll for two seconds, and add up what it has done."""
    model = build()
    data, cable = mujoco.MjData(model), span(model)
    paths = cable.owner.new_state()
    pulls = CablePulls(paths, [Elastic(REST, STIFFNESS)])
    roll, load, forces = model.body("roll").id, model.body("load").id, np.zeros((1, model.nbody, 6))
    work, energies, touching = 0.0, [], set()
    for k in range(round(TIME / model.opt.timestep) + 1):
        time = k * model.opt.timestep
        data.mocap_pos[0, 2] = 1.85 + LIFT * math.sin(RATE * time) ** 2
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        read_bodies(paths, model, data)
        forces[:], data.xfrc_applied[:] = 0.0, 0.0
        pulls.add_forces(forces)
        apply_body_forces(forces[0], model, data)
        kinetic = 0.5 * model.body_mass[load] * (data.qvel[:3] @ data.qvel[:3])
        height = -model.opt.gravity[2] * model.body_mass[load] * data.qpos[2]
        energies.append(kinetic + height + pulls.load("energy"))
        touching.add(tuple(bool(cable.in_contact(paths, j)) for j in range(3)))
        work -= forces[0, roll, 2] * LIFT * RATE * math.sin(2.0 * RATE * time) * model.opt.timestep
        mujoco.mj_step(model, data)
    numbers = {
        "work of the roll, J": work,
        "gain of energy, J": energies[-1] - energies[0],
        "largest change of energy, J": float(np.ptp(energies)),
        "ways of touching": len(touching),
    }
    return Scene(model, data, cable, paths, numbers)


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    """Run the example."""
    return show(__doc__ or "", run, arguments)


if __name__ == "__main__":
    main()

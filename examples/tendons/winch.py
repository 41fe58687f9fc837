"""A winch that can pull but not push: the bounds of its drive end at 0.

It hoists 2 kg to a rope of 0.6 m, where the servo's sag is the weight over its gain. Then it is
told to give 1 m of rope at once: it cannot push the load, which falls freely until the servo
brakes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
from showing import show

from tendon_gym.tendons import Drive, Properties, TendonWorld, via

MASS, GAIN = 2.0, 2000.0
SHORT, LONG = 0.6, 1.0
FALL = 0.1


def build() -> TendonWorld:
    """Return the load on the floor, 1.2 m below the winch."""
    spec = mujoco.MjSpec()
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.timestep = 0.001
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    load = spec.worldbody.add_body(name="load", pos=[0, 0, 0.1])
    load.add_joint(name="load", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, 0, 1])
    load.add_geom(
        name="load", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1] * 3, mass=MASS,
        rgba=[0.7, 0.2, 0.2, 1],
    )  # fmt: skip
    world = TendonWorld(spec)
    pulls = Properties(actuation_lower=-100.0, actuation_upper=0.0, width=0.006)
    rope = world.add_spatial_tendon("rope", [via(None, (0, 0, 1.3)), via("load")], pulls)
    rope.drive = Drive(target_length=SHORT, position_gain=GAIN, velocity_gain=150.0)
    return world


def run(world: TendonWorld) -> dict[str, float]:
    """Hoist for 3 s, then give rope."""
    (rope,) = world.tendons
    h = world.model.opt.timestep
    greatest = -float("inf")
    for _ in range(3000):
        world.step()
        greatest = max(greatest, rope.forces.actuator)
    hoisted = rope.length
    rope.drive = replace(rope.drive, target_length=LONG)
    for _ in range(round(FALL / h)):
        world.step()
        greatest = max(greatest, rope.forces.actuator)
    fallen = rope.length - hoisted
    world.step(3000)
    return {
        "length when hoisted, m": hoisted,
        "fallen in 0.1 s, m": fallen,
        "length in the end, m": rope.length,
        "greatest push, N": greatest,
    }


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    """Run the example."""
    return show(__doc__ or "", build, run, arguments)


if __name__ == "__main__":
    main()

"""Two weights on a cable over a cylinder: without friction an Atwood machine.

The weights m = 1 kg and M = 1.5 kg move with the acceleration g (M - m) / (M + m), and the cable's
tension is 2 g m M / (m + M).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
from showing import show

from tendon_gym.tendons import Properties, Site, TendonWorld, cylinder, via

LIGHT, HEAVY = 1.0, 1.5
RADIUS = 0.2
TIME = 0.4


def build() -> TendonWorld:
    """Return the weights at the height of 1 m, and the cylinder's axis at 2 m."""
    spec = mujoco.MjSpec()
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.timestep = 0.001
    drum = spec.worldbody.add_body(name="drum", pos=[0, 0, 2])
    drum.add_geom(
        name="drum", type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[0.98 * RADIUS, 0.1, 0],
        quat=[1, 1, 0, 0], rgba=[0.5, 0.5, 0.55, 1],
    )  # fmt: skip
    for name, x, mass in (("light", -RADIUS, LIGHT), ("heavy", RADIUS, HEAVY)):
        body = spec.worldbody.add_body(name=name, pos=[x, 0, 1])
        body.add_freejoint(name=name)
        body.add_geom(
            name=name, size=[0.07 * mass ** (1 / 3), 0, 0], mass=mass, rgba=[0.2, 0.6, 0.4, 1]
        )
    world = TendonWorld(spec)
    above = Site(None, (0.0, 0.0, 2.5))
    path = [via("light"), cylinder("drum", RADIUS, (0, 1, 0), side=above), via("heavy")]
    cable = world.add_spatial_tendon("cable", path, Properties(width=0.006))
    length = cable.length
    cable.properties = replace(cable.properties, lower_limit=length, upper_limit=length)
    return world


def run(world: TendonWorld) -> dict[str, float]:
    """Let go for 0.4 s."""
    world.step(round(TIME / world.model.opt.timestep))
    (cable,) = world.tendons
    acceleration = -world.data.joint("heavy").qvel[2] / TIME
    return {"acceleration, m/s^2": float(acceleration), "tension, N": cable.tension}


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    """Run the example."""
    return show(__doc__ or "", build, run, arguments)


if __name__ == "__main__":
    main()

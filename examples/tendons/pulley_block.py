"""A tackle: the load hangs in two parts of the rope, the counterweight in one.

The branch of the load has the divisor 1/2, so that its length counts twice and it is pulled twice
as hard. With the load M = 2 kg and the counterweight m = 1.2 kg the load rises with the
acceleration g (2 m - M) / (4 m + M).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
from showing import show

from tendon_gym.tendons import Properties, TendonWorld, pulley, via

LOAD, COUNTERWEIGHT = 2.0, 1.2
TIME = 0.5


def build() -> TendonWorld:
    """Return the two weights on a rope of constant length."""
    spec = mujoco.MjSpec()
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.timestep = 0.001
    for name, x, mass in (("load", -0.3, LOAD), ("counterweight", 0.3, COUNTERWEIGHT)):
        body = spec.worldbody.add_body(name=name, pos=[x, 0, 1])
        body.add_freejoint(name=name)
        side = 0.06 * mass ** (1 / 3)
        body.add_geom(
            name=name, type=mujoco.mjtGeom.mjGEOM_BOX, size=[side] * 3, mass=mass,
            rgba=[0.7, 0.5, 0.2, 1],
        )  # fmt: skip
    world = TendonWorld(spec)
    path = [
        via(None, (0.3, 0, 2)), via("counterweight"),
        pulley(0.5), via(None, (-0.3, 0, 2)), via("load"),
    ]  # fmt: skip
    rope = world.add_spatial_tendon("rope", path, Properties(width=0.006))
    length = rope.length
    rope.properties = replace(rope.properties, lower_limit=length, upper_limit=length)
    return world


def run(world: TendonWorld) -> dict[str, float]:
    """Let go for half a second."""
    world.step(round(TIME / world.model.opt.timestep))
    rope = world.get_tendon("rope")
    assert rope is not None
    acceleration = world.data.joint("load").qvel[2] / TIME
    return {"acceleration of the load, m/s^2": float(acceleration), "tension, N": rope.tension}


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    """Run the example."""
    return show(__doc__ or "", build, run, arguments)


if __name__ == "__main__":
    main()

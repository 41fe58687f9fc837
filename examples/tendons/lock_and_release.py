"""A load on a locked tendon, which is then released.

Equal limits lock the length at 1.5 m; without limits the load falls freely.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import mujoco
from showing import show

from tendon_gym.tendons import Properties, TendonWorld, via

LENGTH = 1.5
FALL = 0.1


def build() -> TendonWorld:
    """Return the load, at rest 1.5 m below its anchor."""
    spec = mujoco.MjSpec()
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.timestep = 0.001
    load = spec.worldbody.add_body(name="load", pos=[0, 0, 3.0 - LENGTH])
    load.add_freejoint(name="load")
    load.add_geom(name="load", size=[0.1, 0, 0], mass=1.0, rgba=[0.5, 0.3, 0.7, 1])
    world = TendonWorld(spec)
    locked = Properties(lower_limit=LENGTH, upper_limit=LENGTH, width=0.008)
    world.add_spatial_tendon("lock", [via(None, (0, 0, 3)), via("load")], locked)
    return world


def run(world: TendonWorld) -> dict[str, float]:
    """Hold it for 1 s, then release it."""
    (lock,) = world.tendons
    world.step(1000)
    held, tension = lock.length, lock.tension
    lock.properties = replace(lock.properties, lower_limit=-math.inf, upper_limit=math.inf)
    world.step(round(FALL / world.model.opt.timestep))
    return {
        "length while locked, m": held,
        "tension while locked, N": tension,
        "length 0.1 s after the release, m": lock.length,
    }


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    """Run the example."""
    return show(__doc__ or "", build, run, arguments)


if __name__ == "__main__":
    main()

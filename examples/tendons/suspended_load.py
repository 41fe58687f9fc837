"""A load on a spring with a rest interval, a damper, a limit and a constant pull.

The spring holds what the pull of 2 N leaves of the weight: 500 N/m (L - 1 m) = 9.81 N - 2 N.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
from showing import show

from tendon_gym.tendons import Drive, Properties, TendonWorld, via


def build() -> TendonWorld:
    """Return the load, 0.2 m above the end of the spring's rest interval."""
    spec = mujoco.MjSpec()
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.timestep = 0.001
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    load = spec.worldbody.add_body(name="load", pos=[0, 0, 0.8])
    load.add_freejoint(name="load")
    load.add_geom(name="load", size=[0.1, 0, 0], mass=1.0, rgba=[0.08, 0.46, 0.86, 1])
    world = TendonWorld(spec)
    properties = Properties(
        stiffness=500.0, damping=8.0, spring_lower=0.0, spring_upper=1.0, upper_limit=1.5,
        width=0.008,
    )  # fmt: skip
    tendon = world.add_spatial_tendon("suspension", [via(None, (0, 0, 2)), via("load")], properties)
    tendon.drive = Drive(force=-2.0)
    return world


def run(world: TendonWorld) -> dict[str, float]:
    """Let it settle for 5 s."""
    world.step(5000)
    tendon = world.get_tendon("suspension")
    assert tendon is not None
    return {"length, m": tendon.length, "tension, N": tendon.tension}


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    """Run the example."""
    return show(__doc__ or "", build, run, arguments)


if __name__ == "__main__":
    main()

"""A finger of two joints with one motor: the outer joint follows the inner one by a coupling.

A fixed tendon on each joint measures its angle; the coupling ties them by q2 = 0.65 q1 + 0.2 q1^2,
and the drive of the inner one is a servo to 0.8 rad.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
from showing import show

from tendon_gym.tendons import CouplingProperties, Drive, JointTerm, TendonWorld

TARGET = 0.8
CURVE = (0.0, 0.65, 0.2, 0.0, 0.0)


def build() -> TendonWorld:
    """Return the finger, stretched out."""
    spec = mujoco.MjSpec()
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.timestep = 0.001
    parent, start = spec.worldbody, [0.0, 0.0, 0.5]
    for name, length in (("proximal", 0.05), ("distal", 0.035)):
        body = parent.add_body(name=name, pos=start)
        joint = body.add_joint(name=name, axis=[0, 1, 0])
        joint.damping[0] = 1e-3
        body.add_geom(
            name=name, type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0, 0, 0, length, 0, 0],
            size=[0.008, 0, 0], mass=0.05, rgba=[0.8, 0.7, 0.6, 1],
        )  # fmt: skip
        parent, start = body, [length, 0.0, 0.0]
    world = TendonWorld(spec)
    inner, outer = (
        world.add_fixed_tendon(name, [JointTerm(name)]) for name in ("proximal", "distal")
    )
    inner.drive = Drive(target_length=TARGET, position_gain=5.0, velocity_gain=0.2)
    world.add_coupling("finger", outer, inner, CouplingProperties(CURVE))
    return world


def run(world: TendonWorld) -> dict[str, float]:
    """Bend it for 2 s."""
    inner, outer = world.tendons
    worst = 0.0
    for _ in range(2000):
        world.step()
        q = inner.length
        worst = max(worst, abs(outer.length - CURVE[1] * q - CURVE[2] * q**2))
    return {
        "inner joint, rad": inner.length,
        "outer joint, rad": outer.length,
        "greatest error of the coupling, rad": worst,
    }


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    """Run the example."""
    return show(__doc__ or "", build, run, arguments)


if __name__ == "__main__":
    main()

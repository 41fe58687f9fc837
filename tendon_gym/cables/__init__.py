"""Geodesic cables: taut, frictionless, over any sequence of smooth obstacles and via points.

    system = CableSystem(["ground", "load"])
    cable = CableSpan(system, "ground", (0, 0, 0), "load", (0, 0, 0))
    cable.add_obstacle("ground", (1, 0, 2, 1, 0, 0, 0), Cylinder(0.1), (0, 0.1, 0))
    state = system.new_state()
    state.set_poses(position, quaternion)
    cable.length(state), cable.body_forces(state, tension=5.0)

Stands alone on NumPy, SciPy and Numba; `mujoco_bodies` reads from and pushes MuJoCo's bodies.
"""

from tendon_gym.cables.drives import ConstantTension, Drive, Elastic, Winch
from tendon_gym.cables.pulls import CablePulls
from tendon_gym.cables.span import CableSpan, FrenetFrame, UnitForce
from tendon_gym.cables.state import CableState
from tendon_gym.cables.surfaces import (
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightMap,
    ImplicitSurface,
    Sphere,
    Surface,
    Torus,
)
from tendon_gym.cables.system import FAULTS, CableFault, CableSystem, NotConverged

__all__ = [
    "FAULTS",
    "CableFault",
    "CablePulls",
    "CableSpan",
    "CableState",
    "CableSystem",
    "ConstantTension",
    "Cylinder",
    "Drive",
    "Elastic",
    "Ellipsoid",
    "FrenetFrame",
    "HalfSpace",
    "HeightMap",
    "ImplicitSurface",
    "NotConverged",
    "Sphere",
    "Surface",
    "Torus",
    "UnitForce",
    "Winch",
]

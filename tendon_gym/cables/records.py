"""The arrays that the kernels of cables work on, as structured types.

A cable is a row of elements: its origin, obstacles and via points in path order, its termination.
Every element has three records: ELEMENT (what it is), CURVE (where the cable touches it, in the
obstacle's own frame, which is what a warm start starts from) and NODE (the same in the world). All
fields of CURVE, NODE and PATH are floats, so that a state of cables is one array of floats, too.
The codes are compiled into the kernels.
"""

from __future__ import annotations

import numpy as np

END, VIA, OBSTACLE = 0, 1, 2
"""ELEMENT.role: origin or termination, via point, obstacle."""

SPHERE, CYLINDER, HALF_SPACE, ELLIPSOID, TORUS, HEIGHT_MAP, IMPLICIT = range(7)
"""ELEMENT.surface. Up to HALF_SPACE geodesics are in closed form; up to ELLIPSOID convex."""

UNSET, CONTACT, LIFTED = 0.0, 1.0, 2.0
"""CURVE.status: yet to be placed at its hint, on the surface, off it."""

MINIMUM_LENGTH, SCHOLZ_2015 = 0, 1
"""CABLE.algorithm."""

NO_FAULT, NOT_FINITE, POINT_INSIDE, OFF_PATCH = 0.0, 1.0, 2.0, 3.0
"""PATH.fault: why a path could not be solved at all."""

ELEMENT = np.dtype(
    [
        ("role", "i8"),
        ("body", "i8"),
        ("position", "f8", 3),  # of the surface's frame, or the station, in the body, m
        ("rotation", "f8", (3, 3)),  # surface to body
        ("surface", "i8"),
        ("size", "f8", 3),  # radii, m
        ("scale", "f8"),  # a typical length of the surface, m
        ("table", "i8"),  # where a height map's coefficients begin
        ("address", "i8"),  # of a user's implicit function
        ("hint", "f8", 3),  # in the surface's frame, m
        ("hinted", "i8"),
    ]
)

CABLE = np.dtype(
    [
        ("first", "i8"),  # element of the origin
        ("last", "i8"),  # element of the termination
        ("accuracy", "f8"),
        ("tolerance", "f8"),
        ("max_iterations", "i8"),
        ("algorithm", "i8"),
        ("warm_start", "i8"),
    ]
)

CURVE = np.dtype(
    [
        ("status", "f8"),
        ("length", "f8"),  # m
        ("step", "f8"),  # of the integrator when it was last here, m
        ("tracked", "f8"),  # whether it is known where a lifted cable is closest to the surface
        ("tracking", "f8", 3),  # where
        ("start", "f8", (3, 3)),  # position, tangent and normal of the first contact point
        ("end", "f8", (3, 3)),  # and of the last one
        ("start_bend", "f8", 3),  # normal curvatures along and across the tangent, torsion, 1/m
        ("end_bend", "f8", 3),
        ("jacobi", "f8", 4),  # a, a', r, r' at the end
    ]
)

NODE = np.dtype(
    [
        ("origin", "f8", 3),  # of the surface's frame, or the point itself
        ("axes", "f8", (3, 3)),  # surface to world
        ("active", "f8"),  # whether the cable bends here, 0 for a lifted obstacle
        ("arc_length", "f8"),
        ("point", "f8", (2, 3)),  # where the cable arrives and where it leaves
        ("direction", "f8", (2, 3)),  # of the straight lines that end and begin there
        ("held", "f8"),  # how far friction has let the cable give way without sliding, m
        # what pulls found last, zero without any
        ("angle", "f8"),  # through which the cable turns, rad, where there is friction
        ("line", "f8"),  # that arrives here, m
        ("arc", "f8"),  # m
        ("sliding", "f8"),  # m/s, positive towards the termination
        ("holding", "f8"),  # by how much the tension changes here unless the cable slides, N
        ("most", "f8"),  # by which factor it can change
        ("before", "f8"),  # tension where the cable arrives, N
        ("after", "f8"),  # tension where it leaves, N
    ]
)

PATH = np.dtype(
    [
        ("length", "f8"),
        ("smoothness", "f8"),
        ("iterations", "f8"),
        ("converged", "f8"),
        ("known", "f8"),  # whether there is a good path, the last one that had no fault
        ("fault", "f8"),
        ("fault_element", "f8"),
        ("fault_depth", "f8"),  # m
        ("paid_out", "f8"),  # by a winch, m beyond the rest length that it begins with
        ("asked", "f8"),  # of a drive, beyond what it is configured with: m, or N
        # what pulls found last, zero without any
        ("tension", "f8"),  # at the origin, N
        ("rest_length", "f8"),  # m
        ("stretch", "f8"),  # m, negative if slack
        ("energy", "f8"),  # of the stretch, J
        ("grip_energy", "f8"),  # of what holds the cable on obstacles, J
        ("drive_power", "f8"),  # that the drive puts in at the origin, W
        ("damping_power", "f8"),  # that is lost in the cable, W
        ("friction_power", "f8"),  # that goes to grip_energy or is lost on the obstacles, W
    ]
)

LOADS = (PATH.names or ())[(PATH.names or ()).index("tension") :]
"""Fields of PATH that pulls find."""

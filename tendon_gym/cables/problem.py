"""All arrays of a system of cables in n simulations, as kernels get them: in one box."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from tendon_gym.cables.workspace import Workspace


class Problem(NamedTuple):
    """What is given and what is found.

    Attributes:
        elements: (1 or n, e) ELEMENT.
        tables: of the height maps.
        cables: (k,) CABLE.
        position: (n, b, 3), origins of the bodies in the world, m.
        rotation: (n, b, 3, 3), body to world.
        velocity: (n, b, 3), of the origins, m/s.
        angular_velocity: (n, b, 3), in world axes, rad/s.
        curves: (n, e) CURVE, where warm starts begin.
        nodes: (n, e) NODE.
        paths: (n, k) PATH.
        workspace: of the solver.
    """

    elements: NDArray
    tables: NDArray
    cables: NDArray
    position: NDArray
    rotation: NDArray
    velocity: NDArray
    angular_velocity: NDArray
    curves: NDArray
    nodes: NDArray
    paths: NDArray
    workspace: Workspace

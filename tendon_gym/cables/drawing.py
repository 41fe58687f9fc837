"""Cables in MuJoCo's pictures and windows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tendon_gym import checks

FARTHEST = 1e9
"""Of what is drawn, m: a scene has single precision."""
_NOWHERE = np.zeros(3)
_UPRIGHT = np.eye(3).ravel()


def draw(
    scene: mujoco.MjvScene,
    points: ArrayLike,
    width: float | None = None,
    rgba: Sequence[float] = (0.1, 0.1, 0.1, 1.0),
) -> None:
    """Add a polygon to a scene: after `update_scene`, or to a viewer's `user_scn`.

    Args:
        scene: added to.
        points: (m, 3), such as `CableSpan.decorative_points`, m, up to FARTHEST; pieces without
            length are left out.
        width: diameter of the capsules that it is made of, m; None: lines of two pixels.
        rgba: colour, from 0 to 1.

    Raises:
        TypeError: what is given is no scene, or no numbers.
        ValueError: a bad value, or a scene without room for so many geoms; it is unchanged then.
    """
    if not isinstance(scene, mujoco.MjvScene):
        raise TypeError(f"scene must be a mujoco.MjvScene, got {checks.described(scene)}")
    places = checks.array("points", points, (None, 3), minimum=-FARTHEST, maximum=FARTHEST)
    colour = checks.array("rgba", rgba, (4,), minimum=0.0, maximum=1.0)
    kind, size = mujoco.mjtGeom.mjGEOM_LINE, 2.0
    if width is not None:
        kind = mujoco.mjtGeom.mjGEOM_CAPSULE
        size = 0.5 * checks.number("width", width, above=0.0, maximum=FARTHEST)
    pairs = [(a, b) for a, b in itertools.pairwise(places) if (a != b).any()]
    if scene.ngeom + len(pairs) > scene.maxgeom:
        room = scene.maxgeom - scene.ngeom
        checks.reject("number of pieces", len(pairs), f"at most {room}, the scene's room")
    for start, end in pairs:
        geom = scene.geoms[scene.ngeom]
        mujoco.mjv_initGeom(geom, kind, _NOWHERE, _NOWHERE, _UPRIGHT, colour.astype(np.float32))
        mujoco.mjv_connector(geom, kind, size, start, end)
        scene.ngeom += 1

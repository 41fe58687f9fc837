"""Where tendons run at the present state: gradients of their lengths, and lines to draw."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.tendons.path import Site
from tendon_gym.tendons.scene import TendonRecord

Array = NDArray[np.float64]

_PULLEY, _SITE = -2, -1
_ARC = math.radians(10.0)
"""Largest angle of a piece that an arc is drawn with."""


class PointGradient(NamedTuple):
    """What the length does when a point of the tendon moves.

    Attributes:
        site: the body that the point is on, with its position in the frame of that.
        position: (3,), m, world.
        gradient: (3,), the length's derivative by `position`, pulleys included.
    """

    site: Site
    position: Array
    gradient: Array


class JointGradient(NamedTuple):
    """A term of a fixed tendon: the joint, where its position and velocity are, its coefficient."""

    joint: str
    coordinate_index: int
    velocity_index: int
    coefficient: float


class VisualSegment(NamedTuple):
    """A piece of a line from `start` (3,) to `end` (3,), world; on a guide if `wrapped`."""

    start: Array
    end: Array
    wrapped: bool


class _Leg(NamedTuple):
    """Two points of a tendon in a row: positions, bodies, the guide between them or -1, divisor."""

    start: Array
    end: Array
    bodies: tuple[int, int]
    guide: int
    divisor: float


def point_gradients(
    model: mujoco.MjModel, data: mujoco.MjData, tendon: int
) -> tuple[PointGradient, ...]:
    """Return the gradients of a spatial tendon at all points that hold or turn it.

    Guides have them at the points where the tendon touches and leaves: between those it turns
    without friction, so that what it does to the guide comes from its straight ends.
    """
    points: list[tuple[Array, int, Array]] = []
    for leg in _legs(model, data, tendon):
        if leg.guide >= 0:
            continue
        along = leg.end - leg.start
        length = float(np.linalg.norm(along))
        direction = along / length / leg.divisor if length > 0.0 else np.zeros(3)
        for position, body, gradient in (
            (leg.start, leg.bodies[0], -direction),
            (leg.end, leg.bodies[1], direction),
        ):
            if points and points[-1][1] == body and np.array_equal(points[-1][0], position):
                points[-1] = (position, body, points[-1][2] + gradient)
            else:
                points.append((position, body, gradient))
    return tuple(
        PointGradient(_site_at(model, data, body, position), position, gradient)
        for position, body, gradient in points
    )


def joint_gradients(model: mujoco.MjModel, record: TendonRecord) -> tuple[JointGradient, ...]:
    """Return the terms of a fixed tendon as they were given: repeated ones add up."""
    result = []
    for term in record.joints:
        joint = model.joint(term.joint)
        result.append(
            JointGradient(
                term.joint,
                int(model.jnt_qposadr[joint.id]),
                int(model.jnt_dofadr[joint.id]),
                term.coefficient,
            )
        )
    return tuple(result)


def visual_segments(
    model: mujoco.MjModel, data: mujoco.MjData, tendon: int
) -> tuple[VisualSegment, ...]:
    """Return the line of a spatial tendon, arcs on guides in pieces of at most 10 degrees."""
    result: list[VisualSegment] = []
    incoming = np.zeros(3)
    for leg in _legs(model, data, tendon):
        if leg.guide < 0:
            incoming = leg.end - leg.start
            result.append(VisualSegment(leg.start, leg.end, False))
            continue
        points = _arc(model, data, leg, incoming)
        result += [VisualSegment(a, b, True) for a, b in itertools.pairwise(points)]
    return tuple(result)


def _legs(model: mujoco.MjModel, data: mujoco.MjData, tendon: int) -> Iterator[_Leg]:
    """Yield the legs of a tendon from MuJoCo's list of the points that it runs through.

    That has one entry for a site, two in a row for a guide that is touched, one for a pulley.
    """
    start, count = int(data.ten_wrapadr[tendon]), int(data.ten_wrapnum[tendon])
    objects = data.wrap_obj.reshape(-1)[start : start + count]
    points = data.wrap_xpos.reshape(-1, 3)[start : start + count]
    bodies = _bodies(model, tendon, objects)
    divisors = _divisors(model, tendon)
    divisor, touching = 1.0, False
    for k in range(count):
        if objects[k] == _PULLEY:
            divisor, touching = next(divisors), False
            continue
        touching = bool(k) and objects[k] >= 0 and objects[k] == objects[k - 1] and not touching
        if k and objects[k - 1] != _PULLEY:
            guide = int(objects[k]) if touching else -1
            yield _Leg(
                points[k - 1].copy(), points[k].copy(), (bodies[k - 1], bodies[k]), guide, divisor
            )


def _bodies(model: mujoco.MjModel, tendon: int, objects: Array) -> list[int]:
    """Return the body of each of MuJoCo's points of a tendon; -1 for pulleys."""
    start, count = int(model.tendon_adr[tendon]), int(model.tendon_num[tendon])
    site_kind = int(mujoco.mjtWrap.mjWRAP_SITE)
    sites = iter(
        int(model.wrap_objid[w])
        for w in range(start, start + count)
        if int(model.wrap_type[w]) == site_kind
    )
    result = []
    for thing in objects:
        if thing == _SITE:
            result.append(int(model.site_bodyid[next(sites)]))
        else:
            result.append(int(model.geom_bodyid[thing]) if thing >= 0 else -1)
    return result


def _divisors(model: mujoco.MjModel, tendon: int) -> Iterator[float]:
    start, count = int(model.tendon_adr[tendon]), int(model.tendon_num[tendon])
    pulley = int(mujoco.mjtWrap.mjWRAP_PULLEY)
    return (
        float(model.wrap_prm[w])
        for w in range(start, start + count)
        if int(model.wrap_type[w]) == pulley
    )


def _site_at(model: mujoco.MjModel, data: mujoco.MjData, body: int, position: Array) -> Site:
    if body == 0:
        return Site(None, tuple(position))
    local = data.xmat[body].reshape(3, 3).T @ (position - data.xpos[body])
    return Site(model.body(body).name or f"body {body}", tuple(local))


def _arc(model: mujoco.MjModel, data: mujoco.MjData, leg: _Leg, incoming: Array) -> list[Array]:
    """Return points along a tendon's way on a guide, which goes on in the direction it came in.

    On a sphere that is a great circle, on a cylinder a helix.
    """
    center = data.geom_xpos[leg.guide]
    start, end = leg.start - center, leg.end - center
    axis, base, rise = np.cross(start, incoming), np.zeros(3), np.zeros(3)
    if model.geom_type[leg.guide] == mujoco.mjtGeom.mjGEOM_CYLINDER:
        along = data.geom_xmat[leg.guide].reshape(3, 3)[:, 2]
        axis, rise = along * np.sign(along @ axis), along * (along @ (end - start))
        base = along * (along @ start)
        start, end = start - base, end - along * (along @ end)
    size = float(np.linalg.norm(axis))
    if size == 0.0 or np.array_equal(leg.start, leg.end):
        return [leg.start, leg.end]
    axis = axis / size
    angle = math.atan2(float(np.cross(start, end) @ axis), float(start @ end)) % (2.0 * math.pi)
    across = np.cross(axis, start)
    pieces = max(1, math.ceil(angle / _ARC))
    inner = [
        center + base + math.cos(s * angle) * start + math.sin(s * angle) * across + s * rise
        for s in np.linspace(0.0, 1.0, pieces + 1)[1:-1]
    ]
    return [leg.start, *inner, leg.end]

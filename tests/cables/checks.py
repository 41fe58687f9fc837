"""What holds for every solved path, by other means than the solver's own.

Curves are integrated anew without projection, as space curves with the surface's curvatures. The
derivatives that the solver uses are compared to what happens when a curve is really moved.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.integrate import solve_ivp

from tendon_gym.cables import CableSpan, CableState
from tendon_gym.cables.elements import Point
from tendon_gym.cables.implicit import implicit
from tendon_gym.cables.path import draw
from tendon_gym.cables.records import CONTACT
from tendon_gym.cables.smoothness import curvature, errors, jacobian, slope
from tendon_gym.cables.stretch import _apply
from tendon_gym.cables.variations import vary
from tendon_gym.cables.workspace import ACTIVE, CURVATURE, ERROR, JACOBIAN, SLOPE

NUDGE = 1e-5


def check_path(cable: CableSpan, state: CableState) -> None:
    """Check frames, geodesics and derivatives of a solved path."""
    check_frames(cable, state)
    check_geodesics(cable, state)
    if cable.curve_segment_accuracy < 1e-8:
        check_derivatives(cable, state)


def check_frames(cable: CableSpan, state: CableState) -> None:
    """Frames are orthonormal, and lines meet curves along their tangents."""
    problem = state.problem
    first, slack = int(problem.cables[cable.index]["first"]), cable.smoothness(state)
    for k in range(cable.num_obstacles):
        if not cable.in_contact(state, k):
            continue
        node = problem.nodes[0, first + cable.place_of_obstacle(k)]
        frames = (cable.initial_frame(state, k), cable.final_frame(state, k))
        for frame, line, point in zip(frames, node["direction"], node["point"], strict=True):
            product = frame.rotation.T @ frame.rotation
            np.testing.assert_allclose(product, np.eye(3), atol=1e-9)
            assert np.linalg.det(frame.rotation) > 0.0
            np.testing.assert_allclose(frame.position, point, atol=1e-12)
            np.testing.assert_allclose(frame.rotation[:, 0], line, atol=2.0 * slack + 1e-12)


def jets(element, tables, p):
    """Return phi, gradient and Hessian as arrays."""
    phi, gx, gy, gz, xx, yy, zz, xy, xz, yz = implicit(element, tables, tuple(p))
    return phi, np.array([gx, gy, gz]), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def check_geodesics(cable: CableSpan, state: CableState) -> None:
    """Curves are geodesics: integrated as space curves they end where they should."""
    problem = state.problem
    first = int(problem.cables[cable.index]["first"])
    for place in range(1, len(cable.path) - 1):
        curve, element = problem.curves[0, first + place], problem.elements[0, first + place]
        if isinstance(cable.path[place], Point) or curve["status"] != CONTACT:
            continue
        start, end = curve["start"], curve["end"]
        for ends in (start, end):
            assert abs(jets(element, problem.tables, ends[0])[0]) < 1e-9
        reached = follow(element, problem.tables, start, float(curve["length"]))
        assert abs(jets(element, problem.tables, reached[0])[0]) < 1e-8
        np.testing.assert_allclose(reached[:3], end, atol=1e-7)


def follow(element, tables, start, length: float) -> np.ndarray:
    """Return position, tangent, normal and binormal (4, 3) after `length` of a geodesic.

    x' = t, t' = k n, n' = -k t + tau b, b' = -tau n with the normal curvature k and the torsion
    tau of the surface along t; nothing keeps the curve on the surface.
    """

    def slope_of(_: float, y: np.ndarray) -> np.ndarray:
        x, t, n, b = y.reshape(4, 3)
        _, g, hessian = jets(element, tables, x)
        k, tau = -t @ hessian @ t / np.linalg.norm(g), b @ hessian @ t / np.linalg.norm(g)
        return np.concatenate([t, k * n, -k * t + tau * b, -tau * n])

    y = np.concatenate([*start, np.cross(start[1], start[2])])
    if length == 0.0:
        return y.reshape(4, 3)
    done = solve_ivp(slope_of, (0.0, length), y, method="DOP853", rtol=1e-12, atol=1e-13)
    return done.y[:, -1].reshape(4, 3)


def stretches(cable: CableSpan, state: CableState):
    """Yield the first and the last element of every stretch between fixed points."""
    problem = state.problem
    first = int(problem.cables[cable.index]["first"])
    fixed = [k for k, element in enumerate(cable.path) if isinstance(element, Point)]
    for a, b in itertools.pairwise(fixed):
        yield first + a, first + b


def measured(problem, first: int, last: int, m: int) -> tuple[np.ndarray, float, np.ndarray]:
    """Return errors, length and the length's derivatives of a stretch as it is."""
    w, curves = problem.workspace, problem.curves[0]
    draw(problem.elements[0], problem.tables, curves, w, first, last)
    errors(w, m)
    for i in range(m):
        vary(curves[w.indices[ACTIVE, i]], w.motion, i)
    slope(w, m)
    arcs = sum(float(curves[w.indices[ACTIVE, i]]["length"]) for i in range(m))
    length = arcs + float(w.lines[: m + 1, 4].sum())
    return w.vectors[ERROR, : 4 * m].copy(), length, w.vectors[SLOPE, : 4 * m].copy()


def check_derivatives(cable: CableSpan, state: CableState) -> None:
    """Errors, length and its derivatives change with every variation as they were predicted to."""
    problem = state.problem
    w, curves = problem.workspace, problem.curves[0]
    for first, last in stretches(cable, state):
        touched = [j for j in range(first + 1, last) if curves[j]["status"] == CONTACT]
        m = len(touched)
        if not m or any(curves[j]["length"] < 1e-6 for j in touched):
            continue
        kept = curves.copy()
        first_slope = measured(problem, first, last, m)[2]
        world = w.world.copy()
        jacobian(w, m)
        curvature(curves, w, m)
        by, twice = (w.matrices[k, : 4 * m, : 4 * m].copy() for k in (JACOBIAN, CURVATURE))
        for k in range(4 * m):
            j, accuracy = touched[k // 4], cable.curve_segment_accuracy
            sides = []
            for nudge in (NUDGE, -NUDGE):
                q = np.zeros(4)
                q[k % 4] = nudge
                assert _apply(
                    problem.elements[0, j], problem.tables, curves[j], q, accuracy, w.stages
                )
                sides.append(measured(problem, first, last, m))
                curves[:] = kept
            # central differences: what bends a lot has large second derivatives
            rates = [(plus - minus) / (2.0 * NUDGE) for plus, minus in zip(*sides, strict=True)]
            for rate, wanted in zip(rates, (by[:, k], first_slope[k], twice[k]), strict=True):
                assert np.abs(rate - wanted).max() < 1e-3 * max(1.0, np.abs(wanted).max())
        assert (w.world == world).all()

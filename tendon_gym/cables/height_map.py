"""Height maps z = f(x, y): natural bicubic splines through a grid, and their evaluation.

A spline that is natural in x and in y has no curvature across its border, so that its linear
continuation beyond the border is as smooth as the spline itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from tendon_gym.compiled import compiled


def table(x: NDArray, y: NDArray, height: NDArray) -> NDArray[np.float64]:
    """Return the coefficients of the spline as kernels read them.

    Args:
        x: (k,) of the grid, increasing, in m.
        y: (l,) of the grid, increasing, in m.
        height: (k, l), in m.

    Returns:
        k, l, x, y, then for every patch (x first) 16 coefficients of powers of the distances from
        its lower corner, as c[power of x, power of y].
    """
    along_x = CubicSpline(x, height, axis=0, bc_type="natural").c[::-1]  # (4, k-1, l)
    both = CubicSpline(y, along_x, axis=2, bc_type="natural").c[::-1]  # (4, l-1, 4, k-1)
    patches = both.transpose(3, 1, 2, 0)
    return np.concatenate([[len(x), len(y)], x, y, patches.ravel()])


@compiled
def _interval(tables: NDArray, first: int, count: int, x: float) -> int:
    """Return k such that x lies between knots k and k + 1, the outermost ones open."""
    low, high = 0, count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if x < tables[first + middle]:
            high = middle
        else:
            low = middle
    return low


@compiled
def on_patch(tables: NDArray, offset: int, x: float, y: float) -> bool:
    """Return whether a height map is defined at (x, y), its border included."""
    columns, rows = int(tables[offset]), int(tables[offset + 1])
    u, v = offset + 2, offset + 2 + columns
    in_x = tables[u] <= x <= tables[u + columns - 1]
    return in_x and tables[v] <= y <= tables[v + rows - 1]


@compiled
def height(
    tables: NDArray, offset: int, x: float, y: float
) -> tuple[float, float, float, float, float, float]:
    """Return f, f_x, f_y, f_xx, f_yy, f_xy of a height map."""
    columns, rows = int(tables[offset]), int(tables[offset + 1])
    first_x, first_y = offset + 2, offset + 2 + columns
    inner_x = min(max(x, tables[first_x]), tables[first_x + columns - 1])
    inner_y = min(max(y, tables[first_y]), tables[first_y + rows - 1])
    i = _interval(tables, first_x, columns, inner_x)
    j = _interval(tables, first_y, rows, inner_y)
    c = first_y + rows + 16 * (i * (rows - 1) + j)
    u, v = inner_x - tables[first_x + i], inner_y - tables[first_y + j]
    f = fx = fxx = fy = fxy = fxxy = fyy = fxyy = 0.0
    for b in range(3, -1, -1):
        c0, c1, c2, c3 = tables[c + b], tables[c + 4 + b], tables[c + 8 + b], tables[c + 12 + b]
        p = c0 + u * (c1 + u * (c2 + u * c3))
        p1 = c1 + u * (2.0 * c2 + u * 3.0 * c3)
        p2 = 2.0 * c2 + u * 6.0 * c3
        # Horner's rule in v, for the value, the first and half the second derivative
        fyy, fy, f = fyy * v + fy, fy * v + f, f * v + p
        fxyy, fxy, fx = fxyy * v + fxy, fxy * v + fx, fx * v + p1
        fxxy, fxx = fxxy * v + fxx, fxx * v + p2
    fyy, fxyy = 2.0 * fyy, 2.0 * fxyy
    dx, dy = x - inner_x, y - inner_y
    return (
        f + dx * fx + dy * fy + dx * dy * fxy,
        fx + dy * fxy,
        fy + dx * fxy,
        fxx + dy * fxxy,
        fyy + dx * fxyy,
        fxy,
    )

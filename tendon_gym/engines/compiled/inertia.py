"""Spatial inertias in coordinates: turned about one axis, moved, and relieved of a hinge.

An articulated inertia maps an acceleration (angular a, linear b) of the frame's origin to a moment
J a + C b about it and a force C' a + M b. It is a tuple of 21 numbers: J and M, symmetric, as
(xx, xy, xz, yy, yz, zz), and C row by row: (*J, *C, *M). The numbers are floats or lanes.
"""

from __future__ import annotations

from typing import Any

from tendon_gym.compiled import inlined
from tendon_gym.engines.compiled.lanes import muladd

Vector = tuple[Any, Any, Any]
Symmetric = tuple[Any, Any, Any, Any, Any, Any]
Matrix = tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any]
Inertia = tuple[Symmetric, Matrix, Symmetric]


@inlined
def dot(a: Vector, b: Vector) -> Any:
    """Return a . b."""
    return muladd(a[0], b[0], muladd(a[1], b[1], a[2] * b[2]))


@inlined
def cross(a: Vector, b: Vector) -> Vector:
    """Return a x b."""
    return (
        muladd(a[1], b[2], -(a[2] * b[1])),
        muladd(a[2], b[0], -(a[0] * b[2])),
        muladd(a[0], b[1], -(a[1] * b[0])),
    )


@inlined
def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inlined
def add_cross(a: Vector, b: Vector, c: Vector) -> Vector:
    """Return a + b x c."""
    return (
        muladd(b[1], c[2], muladd(-b[2], c[1], a[0])),
        muladd(b[2], c[0], muladd(-b[0], c[2], a[1])),
        muladd(b[0], c[1], muladd(-b[1], c[0], a[2])),
    )


@inlined
def times(m: Symmetric, v: Vector) -> Vector:
    """Return a symmetric matrix times a vector."""
    xx, xy, xz, yy, yz, zz = m
    return dot((xx, xy, xz), v), dot((xy, yy, yz), v), dot((xz, yz, zz), v)


@inlined
def into_x(s: Any, c: Any, v: Vector) -> Vector:
    """Return coordinates in a frame that is turned about x, by an angle of that sine and cosine."""
    return (v[0], muladd(c, v[1], s * v[2]), muladd(c, v[2], -(s * v[1])))


@inlined
def from_x(s: Any, c: Any, v: Vector) -> Vector:
    """Return coordinates from a frame that is turned about x."""
    return (v[0], muladd(c, v[1], -(s * v[2])), muladd(c, v[2], s * v[1]))


@inlined
def into_y(s: Any, c: Any, v: Vector) -> Vector:
    """Return coordinates in a frame that is turned about y."""
    return (muladd(c, v[0], -(s * v[2])), v[1], muladd(c, v[2], s * v[0]))


@inlined
def from_y(s: Any, c: Any, v: Vector) -> Vector:
    """Return coordinates from a frame that is turned about y."""
    return (muladd(c, v[0], s * v[2]), v[1], muladd(c, v[2], -(s * v[0])))


@inlined
def _symmetric_from_x(s: Any, c: Any, m: Symmetric) -> Symmetric:
    xx, xy, xz, yy, yz, zz = m
    t = muladd(s, yy - zz, 2.0 * (c * yz))
    return (
        xx,
        muladd(c, xy, -(s * xz)),
        muladd(c, xz, s * xy),
        muladd(-s, t, yy),
        muladd(c, t, -yz),
        muladd(s, t, zz),
    )


@inlined
def _symmetric_from_y(s: Any, c: Any, m: Symmetric) -> Symmetric:
    xx, xy, xz, yy, yz, zz = m
    t = muladd(s, zz - xx, 2.0 * (c * xz))
    return (
        muladd(s, t, xx),
        muladd(c, xy, s * yz),
        muladd(c, t, -xz),
        yy,
        muladd(c, yz, -(s * xy)),
        muladd(-s, t, zz),
    )


@inlined
def _matrix_from_x(s: Any, c: Any, m: Matrix) -> Matrix:
    xx, xy, xz, yx, yy, yz, zx, zy, zz = m
    t = muladd(s, yy - zz, c * (yz + zy))
    return (
        xx, muladd(c, xy, -(s * xz)), muladd(c, xz, s * xy),
        muladd(c, yx, -(s * zx)), muladd(-s, t, yy), muladd(c, t, -zy),
        muladd(c, zx, s * yx), muladd(c, t, -yz), muladd(s, t, zz),
    )  # fmt: skip


@inlined
def _matrix_from_y(s: Any, c: Any, m: Matrix) -> Matrix:
    xx, xy, xz, yx, yy, yz, zx, zy, zz = m
    t = muladd(s, zz - xx, c * (xz + zx))
    return (
        muladd(s, t, xx), muladd(c, xy, s * zy), muladd(c, t, -zx),
        muladd(c, yx, s * yz), yy, muladd(c, yz, -(s * yx)),
        muladd(c, t, -xz), muladd(c, zy, -(s * xy)), muladd(-s, t, zz),
    )  # fmt: skip


@inlined
def inertia_from_x(s: Any, c: Any, inertia: Inertia) -> Inertia:
    """Return an inertia in coordinates from a frame that is turned about x."""
    j, m, k = inertia
    return _symmetric_from_x(s, c, j), _matrix_from_x(s, c, m), _symmetric_from_x(s, c, k)


@inlined
def inertia_from_y(s: Any, c: Any, inertia: Inertia) -> Inertia:
    """Return an inertia in coordinates from a frame that is turned about y."""
    j, m, k = inertia
    return _symmetric_from_y(s, c, j), _matrix_from_y(s, c, m), _symmetric_from_y(s, c, k)


@inlined
def moved(inertia: Inertia, r: Vector) -> Inertia:
    """Return the inertia about a point from which its origin is seen at r."""
    j, c, m = inertia
    x, y, z = r
    mx, my, mz = (m[0], m[1], m[2]), (m[1], m[3], m[4]), (m[2], m[4], m[5])
    cx, cy, cz = (c[0], c[3], c[6]), (c[1], c[4], c[7]), (c[2], c[5], c[8])
    # columns of C + [r] M, where M is symmetric
    px, py, pz = add_cross(cx, r, mx), add_cross(cy, r, my), add_cross(cz, r, mz)
    # J + ([r] C^T)^T + [r] (C + [r] M)^T, of which the upper half is enough
    jxx = muladd(y, pz[0] + cz[0], muladd(-z, py[0] + cy[0], j[0]))
    jxy = muladd(y, pz[1], muladd(-z, py[1], muladd(z, cx[0], muladd(-x, cz[0], j[1]))))
    jxz = muladd(y, pz[2], muladd(-z, py[2], muladd(x, cy[0], muladd(-y, cx[0], j[2]))))
    jyy = muladd(z, px[1] + cx[1], muladd(-x, pz[1] + cz[1], j[3]))
    jyz = muladd(z, px[2], muladd(-x, pz[2], muladd(x, cy[1], muladd(-y, cx[1], j[4]))))
    jzz = muladd(x, py[2] + cy[2], muladd(-y, px[2] + cx[2], j[5]))
    return (
        (jxx, jxy, jxz, jyy, jyz, jzz),
        (px[0], py[0], pz[0], px[1], py[1], pz[1], px[2], py[2], pz[2]),
        m,
    )


@inlined
def relieved(inertia: Inertia, u: tuple[Vector, Vector], w: tuple[Vector, Vector]) -> Inertia:
    """Return inertia - u w^T for a hinge: u its momentum per rate (moment, force), w = u / D."""
    j, c, m = inertia
    (a, b), (p, q) = u, w
    return (
        (
            muladd(-a[0], p[0], j[0]), muladd(-a[0], p[1], j[1]), muladd(-a[0], p[2], j[2]),
            muladd(-a[1], p[1], j[3]), muladd(-a[1], p[2], j[4]), muladd(-a[2], p[2], j[5]),
        ),
        (
            muladd(-a[0], q[0], c[0]), muladd(-a[0], q[1], c[1]), muladd(-a[0], q[2], c[2]),
            muladd(-a[1], q[0], c[3]), muladd(-a[1], q[1], c[4]), muladd(-a[1], q[2], c[5]),
            muladd(-a[2], q[0], c[6]), muladd(-a[2], q[1], c[7]), muladd(-a[2], q[2], c[8]),
        ),
        (
            muladd(-b[0], q[0], m[0]), muladd(-b[0], q[1], m[1]), muladd(-b[0], q[2], m[2]),
            muladd(-b[1], q[1], m[3]), muladd(-b[1], q[2], m[4]), muladd(-b[2], q[2], m[5]),
        ),
    )  # fmt: skip


@inlined
def turned(inertia: Inertia, axes: tuple[Vector, Vector, Vector]) -> Inertia:
    """Return an inertia in coordinates from a frame with these axes."""
    j, c, m = inertia
    (jx, jy, jz), (mx, my, mz) = _rows(j), _rows(m)
    cx, cy, cz = (c[0], c[1], c[2]), (c[3], c[4], c[5]), (c[6], c[7], c[8])
    a, b, d = (
        _between(axes, (jx, jy, jz)),
        _between(axes, (cx, cy, cz)),
        _between(axes, (mx, my, mz)),
    )
    return (
        (a[0], a[1], a[2], a[4], a[5], a[8]),
        b,
        (d[0], d[1], d[2], d[4], d[5], d[8]),
    )


@inlined
def _rows(m: Symmetric) -> tuple[Vector, Vector, Vector]:
    return (m[0], m[1], m[2]), (m[1], m[3], m[4]), (m[2], m[4], m[5])


@inlined
def _between(axes: tuple[Vector, Vector, Vector], m: tuple[Vector, Vector, Vector]) -> Matrix:
    """Return R m R^T, row by row, where the columns of R are the axes and m is given by rows."""
    a, b, c = axes
    x, y, z = (a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])
    mx = (dot(m[0], x), dot(m[1], x), dot(m[2], x))
    my = (dot(m[0], y), dot(m[1], y), dot(m[2], y))
    mz = (dot(m[0], z), dot(m[1], z), dot(m[2], z))
    return (
        dot(x, mx), dot(x, my), dot(x, mz),
        dot(y, mx), dot(y, my), dot(y, mz),
        dot(z, mx), dot(z, my), dot(z, mz),
    )  # fmt: skip


@inlined
def inverse(m: Symmetric) -> Symmetric:
    """Return the inverse of a symmetric matrix that is positive definite."""
    xx, xy, xz, yy, yz, zz = m
    a, b = muladd(yy, zz, -(yz * yz)), muladd(xz, yz, -(xy * zz))
    c = muladd(xy, yz, -(xz * yy))
    k = 1.0 / muladd(xx, a, muladd(xy, b, xz * c))
    return (
        k * a,
        k * b,
        k * c,
        k * muladd(xx, zz, -(xz * xz)),
        k * muladd(xy, xz, -(xx * yz)),
        k * muladd(xx, yy, -(xy * xy)),
    )


@inlined
def solved(inertia: Inertia, force: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
    """Return the acceleration that a force gives to a body, by the Schur complement of M."""
    j, c, m = inertia
    torque, push = force
    k = inverse(m)
    rows = ((c[0], c[1], c[2]), (c[3], c[4], c[5]), (c[6], c[7], c[8]))
    # rows of C M^-1
    x, y, z = times(k, rows[0]), times(k, rows[1]), times(k, rows[2])
    left = (
        j[0] - dot(x, rows[0]),
        j[1] - dot(x, rows[1]),
        j[2] - dot(x, rows[2]),
        j[3] - dot(y, rows[1]),
        j[4] - dot(y, rows[2]),
        j[5] - dot(z, rows[2]),
    )
    rest = (torque[0] - dot(x, push), torque[1] - dot(y, push), torque[2] - dot(z, push))
    turn = times(inverse(left), rest)
    free = times(k, push)
    # M^-1 C^T turn
    pulled = (
        muladd(x[0], turn[0], muladd(y[0], turn[1], z[0] * turn[2])),
        muladd(x[1], turn[0], muladd(y[1], turn[1], z[1] * turn[2])),
        muladd(x[2], turn[0], muladd(y[2], turn[1], z[2] * turn[2])),
    )
    return turn, (free[0] - pulled[0], free[1] - pulled[1], free[2] - pulled[2])


@inlined
def plus(a: Inertia, b: Inertia) -> Inertia:
    """Return a + b."""
    (j, c, m), (p, q, r) = a, b
    return (
        (j[0] + p[0], j[1] + p[1], j[2] + p[2], j[3] + p[3], j[4] + p[4], j[5] + p[5]),
        (
            c[0] + q[0], c[1] + q[1], c[2] + q[2], c[3] + q[3], c[4] + q[4], c[5] + q[5],
            c[6] + q[6], c[7] + q[7], c[8] + q[8],
        ),
        (m[0] + r[0], m[1] + r[1], m[2] + r[2], m[3] + r[3], m[4] + r[4], m[5] + r[5]),
    )  # fmt: skip

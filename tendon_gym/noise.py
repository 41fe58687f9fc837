"""Random numbers as a pure function of a key and a count, for compiled code.

Sensors and gusts draw at every physics step. What they draw depends on the episode's key and on
the number of the step alone, so that it is the same whatever the number of simulations and
threads, there is no generator to save, and a state that is put back goes on with the same numbers.

Source: the hash pcg4d of M. Jarzynski and M. Olano, "Hash functions for GPU rendering", Journal of
Computer Graphics Techniques 9(3), 2020; Box and Muller for the normal distribution.
"""

from __future__ import annotations

import math

from tendon_gym.compiled import inlined

KEYS = 2**52
"""Keys are integers from 0 to KEYS - 1, which floats hold too."""

_MASK = 0xFFFFFFFF
_FACTOR, _STEP = 1664525, 1013904223


@inlined
def _times(a: int, b: int) -> int:
    """Return the low 32 bits of a product of 32-bit numbers, without leaving 64 bits."""
    return ((a & 0xFFFF) * b + (((a >> 16) * b & 0xFFFF) << 16)) & _MASK


@inlined
def _mixed(x: int, y: int, z: int, w: int) -> tuple[int, int, int, int]:
    """Add products of the four numbers to one another."""
    x = (x + _times(y, w)) & _MASK
    y = (y + _times(z, x)) & _MASK
    z = (z + _times(x, y)) & _MASK
    w = (w + _times(y, z)) & _MASK
    return x, y, z, w


@inlined
def hashed(key: int, count: int, channel: int) -> tuple[int, int, int, int]:
    """Return four 32-bit numbers that stand for a key, a count and a channel.

    Args:
        key: 0 to KEYS - 1.
        count: 0 to 2^32 - 1, as the number of a physics step.
        channel: 0 to 2^32 - 1, apart for everything that draws at the same count.
    """
    x = (_times(key & _MASK, _FACTOR) + _STEP) & _MASK
    y = (_times(key >> 32, _FACTOR) + _STEP) & _MASK
    z = (_times(count, _FACTOR) + _STEP) & _MASK
    w = (_times(channel, _FACTOR) + _STEP) & _MASK
    x, y, z, w = _mixed(x, y, z, w)
    return _mixed(x ^ (x >> 16), y ^ (y >> 16), z ^ (z >> 16), w ^ (w >> 16))


@inlined
def uniforms(key: int, count: int, channel: int) -> tuple[float, float, float, float]:
    """Return four independent numbers, evenly spread in (0, 1); see `hashed`."""
    a, b, c, d = hashed(key, count, channel)
    scale = 2.0**-32
    return (a + 0.5) * scale, (b + 0.5) * scale, (c + 0.5) * scale, (d + 0.5) * scale


@inlined
def normals(key: int, count: int, channel: int) -> tuple[float, float, float, float]:
    """Return four independent numbers of mean 0 and standard deviation 1; see `hashed`."""
    a, b, c, d = uniforms(key, count, channel)
    r, s = math.sqrt(-2.0 * math.log(a)), math.sqrt(-2.0 * math.log(c))
    t, u = 2.0 * math.pi * b, 2.0 * math.pi * d
    return r * math.cos(t), r * math.sin(t), s * math.cos(u), s * math.sin(u)

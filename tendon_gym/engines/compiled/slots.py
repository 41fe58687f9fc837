"""Where the numbers of one simulation are in the memory of the compiled engine.

Three memories, each a flat array of slots: constants, state and work. All start with the base,
then come the links, one stride after another; in a link's constants the tendons come last.
"""

from __future__ import annotations

from itertools import accumulate

# Constants of a rigid body, in its own axes, about the origin of its frame unless told otherwise.
MASS = 0  # kg
MOMENT = 1  # mass times centre of mass, kg m (3)
INERTIA = 4  # xx, xy, xz, yy, yz, zz, kg m^2 (6)
CENTRE = 10  # centre of mass, m (3)
AXES = 13  # of the inertial frame, where the fluid acts: columns of a rotation matrix (9)
DRAG = 22  # force per speed, torque per rate; force per speed^2 (3), torque per rate^2 (3)
BODY = 30  # slots of a rigid body

# Constants of the base, after those of its body.
GRAVITY = BODY  # m/s^2, world (3)
POSE = GRAVITY + 3  # position and quaternion of a base that is fixed (7)
BASE = POSE + 7  # then six slots for each rotor: force and torque about the base's origin per unit

# Constants of a link, after those of its body.
OFFSET = BODY  # its origin in the parent's frame, m (3)
TURN = OFFSET + 3  # its frame at rest in the parent's: columns of a rotation matrix (9)
STIFFNESS = TURN + 9  # N m/rad, about x and about y (2)
REST = STIFFNESS + 2  # angles at which the springs are at rest, rad (2)
DAMPING = REST + 2  # N m s/rad (2)
RESISTANCE = DAMPING + 2  # armature + timestep * damping, kg m^2 (2)
END = RESISTANCE + 2  # the far end of what may touch, m (3)
PATH = END + 3  # then six slots for each tendon: the guide before this link, as seen from the
# link's frame at rest, and the guide on the link, in its own frame, m

# State: position (3), quaternion (4), velocity (3), angular velocity (3) of the base, as in qpos
# and qvel; then the angles of all links about x and y, one link after another; then their rates.
POSITION, QUATERNION, VELOCITY, SPIN, ANGLES = 0, 3, 7, 10, 13

# What drives: the wind (3), controls of the rotors, tensions of the tendons, N. Then what force
# terms give. For the base: force and torque at its centre of mass in world axes, and what they
# give on its joint, a force in world axes and a torque in its own. For every link: the first two,
# and torques about x and y.
WIND, CONTROLS = 0, 3
PUSH_OF_BASE, PUSH_OF_LINK = 12, 8

# Work of a link: what the pass to the tip leaves for the pass to the base, and that for the last.
_WORK = {
    "SINES": 4,  # sine and cosine of the angle about x, then y
    "DRIFT_X": 4,  # velocity-product acceleration of the hinge about x: angular y, z, linear y, z
    "DRIFT_Y": 4,  # the same about y: angular x, z, linear x, z
    "BIAS": 6,  # force that keeps the link on its course: moment, force
    "TORQUE": 2,  # of the hinges: tendons, springs, damping
    "GAIN_X": 6,  # U / D of the hinge about x: moment, force
    "GAIN_Y": 6,
    "FREE_X": 1,  # u / D: its acceleration in a parent at rest
    "FREE_Y": 1,
}
_starts = [0, *accumulate(_WORK.values())]
SINES, DRIFT_X, DRIFT_Y, BIAS, TORQUE, GAIN_X, GAIN_Y, FREE_X, FREE_Y, WORK_OF_LINK = _starts

# Work of the base, before the links': how high the links come.
HIGHEST = 0  # in the base's frame, m, of the links that may touch it
LOWEST = 1  # in the world, m
SIZE = 2  # sum of squares of what moves: not finite, or beyond any limit, where it failed
WORK_OF_BASE = 3


def constants_size(links: int, rotors: int, tendons: int) -> int:
    """Return the number of slots of the constants."""
    return BASE + 6 * rotors + links * link_constants(tendons)


def link_constants(tendons: int) -> int:
    """Return the stride from one link's constants to the next one's."""
    return PATH + 6 * tendons


def state_size(links: int) -> int:
    """Return the number of slots of the state."""
    return ANGLES + 4 * links


def drive_size(links: int, rotors: int, tendons: int) -> int:
    """Return the number of slots of what drives."""
    return CONTROLS + rotors + tendons + PUSH_OF_BASE + links * PUSH_OF_LINK


def work_size(links: int) -> int:
    """Return the number of slots of the work."""
    return WORK_OF_BASE + links * WORK_OF_LINK

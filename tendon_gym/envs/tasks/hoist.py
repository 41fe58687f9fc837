"""Hoist: lift a load on a cable that runs over a beam, and place it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.cables import Winch
from tendon_gym.envs.rig import Rig, Scene
from tendon_gym.envs.scalar import TendonEnv
from tendon_gym.envs.task import Limits, Task
from tendon_gym.envs.vector import TendonVectorEnv
from tendon_gym.forces.cable import Cable, Obstacle, Station
from tendon_gym.model import Load
from tendon_gym.registration import ENTRIES
from tendon_gym.rewards import RewardTerm

LOAD = Load(mass=0.3, radius=0.06)
HEIGHT = 1.6
"""Of the reference, which is over the world's origin, m."""


class Beam(NamedTuple):
    """A beam, and where a load at rest hangs from it; lengths in m.

    Attributes:
        obstacle: what the cable runs over.
        below: (2,), where the load hangs from the beam's middle.
        along: (2,), the beam's level direction.
        share: how far the load follows a vehicle that moves along the beam, see `HoistEnv`.
    """

    obstacle: Obstacle
    below: NDArray[np.float64]
    along: NDArray[np.float64]
    share: float


def make_beam(kind: Any, u: NDArray[np.float64]) -> Beam:
    """Return a beam of a kind from six numbers from 0 to 1; `HoistEnv` tells their ranges."""
    yaw, height, thick = 0.3 * (u[2] - 0.5), 1.3 + 0.2 * u[1], 0.05 + 0.05 * u[4]
    across = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    along = np.array([-math.sin(yaw), math.cos(yaw), 0.0])
    up = np.array([0.0, 0.0, 1.0])
    middle = np.array([1.0 + 0.3 * u[0], 0.0, height - thick]) + 0.2 * (u[3] - 0.5) * along
    line = float(across @ middle)
    slope = math.atan((HEIGHT - height) / line)
    size, share, frame, centre = (thick,), 1.0, (up, across, along), middle
    if kind == "ellipsoid":
        wide = 0.8 + 0.4 * u[5]
        size = (thick, thick, wide)
        arc = thick * (0.5 * math.pi - slope) / wide
        share = 1.0 / (math.cos(arc) - line / wide * math.sin(arc))
    elif kind == "torus":
        ring = 0.4 + 0.2 * u[5]
        size, share = (ring, thick), _share_in_ring(ring, thick, slope, line)
        frame, centre = (-up, along, across), middle + ring * up
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.stack(frame, axis=1).ravel())
    w, x, y, z = quaternion.tolist()
    a, b, c = centre.tolist()
    obstacle = Obstacle(kind, size, position=(a, b, c), quaternion=(w, x, y, z))
    return Beam(obstacle, (middle + thick * across)[:2], along[:2], share)


def _share_in_ring(ring: float, thick: float, slope: float, line: float) -> float:
    """Return the share for a torus: a neighbouring path turns about its axis as Clairaut says."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = 0.5 * (0.5 * math.pi - slope)
    radii = ring - thick * np.cos(slope + half * (1.0 + nodes))
    turn = 1.0 / ring + half * thick * float(weights @ radii**-2)
    leaving = ring - thick * math.cos(slope)
    return 1.0 / (turn * (leaving - line * math.sin(slope)) + line / leaving)


def draw_scene(rng: np.random.Generator) -> Scene:
    """Draw a beam, where the load lies on the floor, and where it is to go."""
    kind = ("cylinder", "ellipsoid", "torus")[rng.integers(3)]
    u = rng.random(10)
    beam = make_beam(kind, u[:6])
    across = np.array([beam.along[1], -beam.along[0]])
    vehicle = -float(beam.along @ (beam.below))
    start = beam.below + beam.share * vehicle * beam.along
    start += 0.1 * (u[7] - 0.5) * beam.along + 0.04 * (u[8] - 0.5) * across
    goal = beam.below + beam.share * (vehicle + 0.6 * (u[6] - 0.5)) * beam.along
    return Scene(beam.obstacle, (*start, LOAD.radius), (*goal, 0.3 + 0.5 * u[9]))


RIG = Rig(
    load=LOAD,
    cable=Cable(
        origin=Station("base"),
        termination=Station("load"),
        drive=Winch(rest_length=3.0, stiffness=200.0, damping=4.0, speed=0.5),
        path=(
            Obstacle(
                "cylinder",
                (0.1,),
                position=(1.2, 0.0, 1.3),
                quaternion=(0.5, -0.5, -0.5, -0.5),  # along y, its x axis up
                hint=(0.3, 0.0, 0.0),  # above a beam, and in a ring where it is lowest
            ),
        ),
    ),
    slack=0.02,
    hanging=False,
    draw=draw_scene,
)

TASK = Task(
    entry=ENTRIES["Hoist"],
    reference="hover",
    observation=(
        "position_error",
        "velocity",
        "rotation",
        "angular_velocity",
        "yaw_error",
        "joint_angles",
        "joint_velocities",
        "tip",
        "tip_velocity",
        "tendon_lengths",
        "thrusts",
        "tensions",
        "load",
        "load_velocity",
        "load_error",
        "cable_pull",
        "cable_length",
        "rest_length",
        "obstacle",
        "obstacle_axis",
        "obstacle_size",
        "obstacle_kind",
    ),
    reward={
        "load": RewardTerm(0.5, margin=0.2),
        "load_velocity": RewardTerm(0.15, margin=0.3),
        "position": RewardTerm(0.15, margin=0.5),
        "velocity": RewardTerm(0.1, margin=1.0),
        "yaw": RewardTerm(0.1, margin=0.3),
    },
    success={"load_error": 0.05, "load_velocity": 0.1},
    limits=Limits(load_speed=1.5),
    rig=RIG,
)


class HoistEnv(TendonEnv):
    """Lift a load on a cable that runs over a beam, and place it.

    ## Description

    A ball of 0.3 kg lies on the floor, tied to a cable that runs up, over a beam, and on to a winch
    in the middle of a quadrotor with a tendon-driven soft arm, which hovers at 1.6 m on the other
    side of the beam. The load is to be lifted to a drawn place and to hang there at rest. The winch
    sets its height, the vehicle's place along the beam where it hangs: there the load swings like a
    pendulum whose middle follows the vehicle. Whoever lifts it fast, drops it or lets it hit the
    floor fails.

    ### The beam

    | Kind        | Shape                                      | Drawn evenly from     | Unit |
    |-------------|--------------------------------------------|-----------------------|------|
    | all         | distance of its middle from the reference  | 1 to 1.3              | m    |
    | all         | height at which the cable crosses it       | 1.3 to 1.5            | m    |
    | all         | its heading, 0 is along the world's y      | -0.15 to 0.15         | rad  |
    | all         | its middle, along itself                   | -0.1 to 0.1           | m    |
    | all         | radius of beam or tube                     | 0.05 to 0.1           | m    |
    | "ellipsoid" | half length; the middle is round           | 0.8 to 1.2            | m    |
    | "torus"     | radius of the ring, upright, cable through | 0.4 to 0.6            | m    |

    The three kinds are equally likely. The cable has no friction on the beam, stretches by 200 N/m
    (4 N s/m) and is 20 mm longer than its path at the start. The load is a ball with a radius of 60
    mm. The beam stops the cable alone; the vehicle must keep away from it.

    ### Where a load can hang

    A vehicle that stands still leaves a taut cable one place of rest, where the path is shortest
    among all of the same height of the load. Neighbouring paths part from the one across the beam
    by y, with y'' = -K y over the beam and y'' = 0 beside it, K Gauss's curvature. At rest the load
    hangs plumb, y' = 0 there; so with the arc s on the beam and the line of length l to the vehicle
    it follows a vehicle that is Y along the beam from the plane of symmetry by

    | Kind        | K                          | Share of Y                  | Which is     |
    |-------------|----------------------------|-----------------------------|--------------|
    | "cylinder"  | 0                          | 1                           | 1            |
    | "ellipsoid" | 1/c^2                      | 1/(cos(s/c) - l/c sin(s/c)) | 1.05 to 1.42 |
    | "torus"     | -cos(a)/(r (R - r cos(a))) | 1/(p (q - l sin(e)) + l/q)  | 0.21 to 0.42 |

    with the ellipsoid's half length c. In a ring of radius R and tube r the cable lies where the
    tube is seen from the ring's middle, at the angles a from the slope e at which it comes from the
    vehicle to pi/2, and a neighbouring path turns about the ring's axis as Clairaut's law says: q =
    R - r cos(e) and p = 1/R plus the integral of r/(R - r cos(a))^2 over a. The place is stable
    while the share is positive: always but on an ellipsoid that is round enough for tan(s/c) > c/l,
    from which a cable slips off, as from a ball. None is drawn that is near to that: tan(s/c) is at
    most 0.19, c/l at least 0.57. Along the cylinder the load swings like a pendulum as long as the
    whole cable; across the beam like one as long as what hangs, which nothing can be done about but
    not to excite it.

    ## Action space

    `Box(-1, 1, (8,), float32)` by default: the rotor part, the tendon part, then the winch. What is
    beyond the bounds is clipped.

    | `rotor_action` | Num | Meaning                          | -1     | 0     | +1    | Unit  |
    |----------------|-----|----------------------------------|--------|-------|-------|-------|
    | "thrust"       | 0-3 | thrust of rotors 1 to 4          | 0      | 3.09  | 8     | N     |
    | "body_rate"    | 0   | thrust of all rotors             | 0      | 12.36 | 32    | N     |
    | "body_rate"    | 1   | rate about the body's x          | -6     | 0     | 6     | rad/s |
    | "body_rate"    | 2   | rate about the body's y          | -6     | 0     | 6     | rad/s |
    | "body_rate"    | 3   | rate about the body's z          | -3     | 0     | 3     | rad/s |
    | "attitude"     | 0   | thrust of all rotors             | 0      | 12.36 | 32    | N     |
    | "attitude"     | 1   | roll                             | -0.611 | 0     | 0.611 | rad   |
    | "attitude"     | 2   | pitch                            | -0.611 | 0     | 0.611 | rad   |
    | "attitude"     | 3   | yaw rate                         | -2     | 0     | 2     | rad/s |
    | "acceleration" | 0-2 | acceleration along world x, y, z | -6     | 0     | 6     | m/s^2 |
    | "acceleration" | 3   | yaw rate                         | -2     | 0     | 2     | rad/s |
    | "residual"     | 0-2 | acceleration added to the law's  | -4     | 0     | 4     | m/s^2 |
    | "residual"     | 3   | yaw rate, added as well          | -2     | 0     | 2     | rad/s |

    Below "thrust" run the loops of `tendon_gym.envs.actions`, at every physics step; with
    "residual" the whole tracking law. At 0 the thrusts carry the weight. Between the three columns
    it is linear.

    | `tendon_action` | Num  | Meaning                         | -1  | 0   | +1  | Unit |
    |-----------------|------|---------------------------------|-----|-----|-----|------|
    | "tension"       | 0-2  | tension of tendons 1 to 3       | 0   | 3   | 6   | N    |
    | "bend"          | 0    | bend along the base's x         | -1  | 0   | 1   | 1    |
    | "bend"          | 1    | bend along the base's y         | -1  | 0   | 1   | 1    |
    | "reference"     | none | the reference's bend is applied |     |     |     |      |

    A bend is a direction and a magnitude, (mu cos beta, mu sin beta) with mu at most 1, in the
    base's axes; the allocation turns it into tensions.

    | `winch` | Num  | Meaning                        | -1   | 0 | +1  | Unit |
    |---------|------|--------------------------------|------|---|-----|------|
    | always  | last | rate of the cable's rest length | -0.5 | 0 | 0.5 | m/s  |

    ## Observation space

    `Box(..., (110,), float32)` by default, clipped to [-bound, bound];
    `env.unwrapped.observation_layout` has the same by name.

    | Num     | Slice            | Meaning                 | Unit  | Frame         | Bound |
    |---------|------------------|-------------------------|-------|---------------|-------|
    | 0-2     | position_error   | reference - actual      | m     | world         | 10    |
    | 3-5     | velocity         | of the base             | m/s   | world         | 20    |
    | 6-14    | rotation         | row by row              | 1     | body to world | 1     |
    | 15-17   | angular_velocity | of the base             | rad/s | body          | 50    |
    | 18      | yaw_error        | reference - actual      | rad   | -             | 3.142 |
    | 19-42   | joint_angles     | x, y of each link       | rad   | body          | 3.142 |
    | 43-66   | joint_velocities | the same order          | rad/s | body          | 200   |
    | 67-69   | tip              | from the base           | m     | body          | 0.789 |
    | 70-72   | tip_velocity     | seen from the base      | m/s   | body          | 50    |
    | 73-75   | tendon_lengths   | of each tendon          | m     | -             | 1.578 |
    | 76-79   | thrusts          | as applied              | N     | -             | 8     |
    | 80-82   | tensions         | as applied              | N     | -             | 6     |
    | 83-85   | load             | from the base           | m     | world         | 10    |
    | 86-88   | load_velocity    | of the load             | m/s   | world         | 20    |
    | 89-91   | load_error       | goal - actual           | m     | world         | 10    |
    | 92-94   | cable_pull       | on the base             | N     | world         | 100   |
    | 95      | cable_length     | of the path             | m     | -             | 20    |
    | 96      | rest_length      | of the cable            | m     | -             | 20    |
    | 97-99   | obstacle         | centre from the base    | m     | world         | 10    |
    | 100-102 | obstacle_axis    | its own z               | 1     | world         | 1     |
    | 103-105 | obstacle_size    | radii, then zeros       | m     | -             | 10    |
    | 106-109 | obstacle_kind    | 1 for its own kind      | 1     | -             | 1     |

    `observation_mode="tip"` leaves out the joints. The kinds are sphere (which is never
    drawn), cylinder, ellipsoid and torus; a torus has its axis across the beam.

    ## Rewards

    The sum of weight x exp(-error / margin), from 0 to 1. `info["reward_terms"]` has the parts.

    | Term            | Weight | Margin | Unit | Error                                   |
    |-----------------|--------|--------|------|-----------------------------------------|
    | `load`          | 0.5    | 0.2    | m    | distance of the load from its goal      |
    | `load_velocity` | 0.15   | 0.3    | m/s  | of the load                             |
    | `position`      | 0.15   | 0.5    | m    | distance of the base from the reference |
    | `velocity`      | 0.1    | 1      | m/s  | of the base                             |
    | `yaw`           | 0.1    | 0.3    | rad  | of the heading                          |

    ## Starting state

    The vehicle is near the reference, each number drawn evenly from [-spread, spread]. Nothing of
    it touches the floor.

    | `start`            | Spread | Unit  | Of                                         |
    |--------------------|--------|-------|--------------------------------------------|
    | "position"         | 0.2    | m     | of the base along each axis                |
    | "velocity"         | 0.2    | m/s   | of the base along each axis                |
    | "tilt"             | 0.1    | rad   | roll, and pitch                            |
    | "yaw"              | 0.3    | rad   | heading                                    |
    | "angular_velocity" | 0.2    | rad/s | about each axis                            |
    | "bend"             | 0.4    | rad   | of the whole arm about the base's x, and y |
    | "bend_rate"        | 0.4    | rad/s | the same for its velocity                  |

    The load lies within 50 mm along the beam and 20 mm across of where it would hang below a
    vehicle on the reference. Its goal is where it hangs at rest when the vehicle is up to 0.3 m
    away along the beam, at a height of 0.3 to 0.8 m.

    `reset(options=...)` takes `qpos`, `qvel`, `phase`; see `tendon_gym.envs.starts.START_OPTIONS`.

    ## Episode end

    Truncation after 8 s (`horizon`). Termination, with the reason in `info["termination_reason"]`:

    | Reason     | `limits`   | Ends  | Limit | Unit | Of                                  |
    |------------|------------|-------|-------|------|-------------------------------------|
    | "crash"    | clearance  | below | 0     | m    | the lowest point above the floor    |
    | "tilt"     | tilt       | above | 1.484 | rad  | the base's z axis from the vertical |
    | "far"      | distance   | above | 2     | m    | the base from the reference         |
    | "obstacle" | obstacle   | below | 0     | m    | the vehicle from the beam           |
    | "slam"     | load_speed | above | 1.5   | m/s  | the load                            |

    "cable", if the cable has no path any more, since one of its ends is inside the beam: it keeps
    its last one; and "unstable", if the simulation itself failed (`info["sim_unstable"]`).

    ## Success

    `info["is_success"]` at the end of an episode: it reached its horizon, and over the last second
    the root mean square of each of these stayed within its limit.

    | Signal          | Limit | Unit |
    |-----------------|-------|------|
    | `load_error`    | 0.05  | m    |
    | `load_velocity` | 0.1   | m/s  |

    Every info has the distance of the load from its goal, `info["load_error"]` (m),
    `info["cable_tension"]` at the vehicle (N) and `info["turns"]` of the cable on the beam.

    ## Arguments

    What each of them takes is told by `tendon_gym.envs.task.EnvConfig`, in plain values that a JSON
    file can hold.

    | Argument            | Default   | Legal                                        |
    |---------------------|-----------|----------------------------------------------|
    | `rotor_action`      | "thrust"  | see above                                    |
    | `tendon_action`     | "tension" | see above                                    |
    | `reference`         | "hover"   | a name, a CSV file, {"name": ..., ...}       |
    | `horizon`           | 8         | s                                            |
    | `reward`            | as above  | {term: w} or {term: {"weight": w, ...}}      |
    | `start`             | as above  | {name: spread}                               |
    | `limits`            | as above  | {name: limit}                                |
    | `observation_mode`  | "state"   | "state", "tip"                               |
    | `control_frequency` | 100       | Hz; must divide the physics rate, 500 Hz     |
    | `model`             | "default" | a preset, or {"preset": name, changes}       |
    | `action`            | as above  | scales, law and gains of the loops           |
    | `forces`            | {}        | {name: parameters} of force terms            |
    | `engine`            | "mujoco"  | "mujoco", "compiled"                         |
    | `threads`           | None      | of a vector environment; None: all that help |

    With `engine="mujoco"` the arm's tendons may have springs, limits, dry friction, inertia and
    couplings: `model={"tendons": {"properties": {"stiffness": 20, "upper_limit": 0.485}}}`, or a
    list with such a dict for each tendon, and `"couplings": [{"first": "tendon_1", "second":
    "tendon_2", "coefficients": [0, -1, 0, 0, 0]}]`; see `tendon_gym.model.TendonProperties` and
    `TendonCoupling`. Goals of the tip know of the springs alone.

    `render_mode`, `width`, `height` and `camera` ("chase", "side") are for pictures; `make_vec`
    also takes `autoreset_mode`, `max_episode_steps`, `copy`, `render_ids` and `render_grid`, see
    `tendon_gym.envs.TendonVectorEnv`.

    ## Version history

    - v0: the first version.
    """

    task = TASK


class HoistVectorEnv(TendonVectorEnv):
    """`HoistEnv`, many at a time."""

    task = TASK

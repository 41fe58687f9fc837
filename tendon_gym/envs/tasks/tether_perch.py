"""TetherPerch: wind a weighted tether around a branch, and hang from it with the rotors idle."""

from __future__ import annotations

import math

import numpy as np

from tendon_gym.cables import Winch
from tendon_gym.envs.rig import Rig, Scene
from tendon_gym.envs.scalar import TendonEnv
from tendon_gym.envs.task import Limits, Task
from tendon_gym.envs.vector import TendonVectorEnv
from tendon_gym.forces.cable import Cable, Obstacle, Station
from tendon_gym.model import Load
from tendon_gym.registration import ENTRIES
from tendon_gym.rewards import RewardTerm

BOB = Load(mass=0.15, radius=0.03)
LENGTH, STIFFNESS = 1.6, 400.0
"""Of the tether: m, N/m."""
TOP = 0.03
"""Height of the tether's end above the base's origin, m."""
HOVER = 3.4
"""Height of the reference, m."""
FRICTION = 0.45


def draw_scene(rng: np.random.Generator) -> Scene:
    """Draw a branch ahead of the vehicle and below it; see `TetherPerchEnv`."""
    u = rng.random(4)
    radius, heading = 0.04 + 0.03 * u[0], 0.3 * (2.0 * u[1] - 1.0)
    place = (0.8 + 0.2 * u[2], 0.0, 2.3 + 0.2 * u[3])
    # the quarter turn that takes z to y, then the heading
    c, s = math.cos(0.5 * heading), math.sin(0.5 * heading)
    half = math.sqrt(0.5)
    axis = (half * c, -half * c, -half * s, half * s)
    branch = Obstacle("cylinder", (radius,), position=place, quaternion=axis)
    return Scene(branch, load=(0.0, 0.0, TOP - LENGTH), goal=place)


RIG = Rig(
    load=BOB,
    cable=Cable(
        origin=Station("base", (0.0, 0.0, TOP)),
        termination=Station("load"),
        drive=Winch(rest_length=LENGTH, stiffness=STIFFNESS, damping=4.0, speed=0.3),
        path=(
            Obstacle("cylinder", (0.05,), position=(0.9, 0.0, 2.4), quaternion=(1.0, -1.0, 0, 0),
                     friction=FRICTION),
        ),
    ),
    slack=-BOB.mass * 9.81 / STIFFNESS,
    hanging=True,
    draw=draw_scene,
    turns=1.5,
)  # fmt: skip

TASK = Task(
    entry=ENTRIES["TetherPerch"],
    reference={"name": "hover", "position": [0, 0, HOVER]},
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
        "cable_length",
        "rest_length",
        "cable_tension",
        "turns",
        "obstacle",
        "obstacle_axis",
        "obstacle_size",
    ),
    reward={
        "turns": RewardTerm(0.5, margin=0.5),
        "velocity": RewardTerm(0.1, margin=0.5),
        "thrust": RewardTerm(0.4, margin=3.0),
    },
    success={"missing_turns": 0.1, "velocity": 0.1, "thrust": 0.5},
    limits=Limits(distance=4.0),
    rig=RIG,
)


class TetherPerchEnv(TendonEnv):
    """Wind a weighted tether around a branch, and hang from it with the rotors idle.

    ## Description

    From the top of a quadrotor with a tendon-driven soft arm hangs a tether of 1.6 m with a bob of
    150 g at its end. Ahead and below is a branch, a cylinder whose place, radius (4 to 7 cm) and
    heading (within 0.3 rad of the y axis) are drawn for every episode. The vehicle is to wind the
    tether around it, one and a half turns or more, and then to hang from it without its rotors: the
    bob, an eighth of its weight, holds it by the friction of the tether on the bark, which changes
    a tension by up to e^(0.45 times the angle of contact), 69 times at one and a half turns.

    The tether is a `tendon_gym.cables` cable: it winds, slides, and is held where friction holds
    it, see docs/cables.md. It touches neither itself nor the vehicle, and vehicle and bob would
    pass through the branch as through air: but where the vehicle would, the episode ends, and where
    the bob's centre is drawn into it, the tether has no path, which ends the episode, too. Where
    both hang plumb below the branch, the tether has exactly one half turn, one and a half, ...

    ## Action space

    `Box(-1, 1, (8,), float32)` by default: the rotor part, the tendon part, then the winch of the
    tether at the vehicle. What is beyond the bounds is clipped.

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
    "residual" the whole tracking law. At 0 the thrusts carry the vehicle without the bob. Between
    the three columns it is linear. "acceleration" and "residual" hold the vehicle up, so that they
    can wind but not let go.

    | `tendon_action` | Num | Meaning                   | -1 | 0 | +1 | Unit |
    |-----------------|-----|---------------------------|----|---|----|------|
    | "tension"       | 0-2 | tension of tendons 1 to 3 | 0  | 3 | 6  | N    |
    | "bend"          | 0   | bend along the base's x   | -1 | 0 | 1  | 1    |
    | "bend"          | 1   | bend along the base's y   | -1 | 0 | 1  | 1    |

    A bend is a direction and a magnitude, (mu cos beta, mu sin beta) with mu at most 1, in the
    base's axes; the allocation turns it into tensions.

    | `winch` | Num  | Meaning                          | -1   | 0 | +1  | Unit |
    |---------|------|----------------------------------|------|---|-----|------|
    | always  | last | rate of the tether's rest length | -0.3 | 0 | 0.3 | m/s  |

    ## Observation space

    `Box(..., (102,), float32)` by default, clipped to [-bound, bound];
    `env.unwrapped.observation_layout` has the same by name.

    | Num    | Slice            | Meaning                   | Unit  | Frame         | Bound |
    |--------|------------------|---------------------------|-------|---------------|-------|
    | 0-2    | position_error   | reference - actual        | m     | world         | 10    |
    | 3-5    | velocity         | of the base               | m/s   | world         | 20    |
    | 6-14   | rotation         | row by row                | 1     | body to world | 1     |
    | 15-17  | angular_velocity | of the base               | rad/s | body          | 50    |
    | 18     | yaw_error        | reference - actual        | rad   | -             | 3.142 |
    | 19-42  | joint_angles     | x, y of each link         | rad   | body          | 3.142 |
    | 43-66  | joint_velocities | the same order            | rad/s | body          | 200   |
    | 67-69  | tip              | from the base             | m     | body          | 0.789 |
    | 70-72  | tip_velocity     | seen from the base        | m/s   | body          | 50    |
    | 73-75  | tendon_lengths   | of each tendon            | m     | -             | 1.578 |
    | 76-79  | thrusts          | as applied                | N     | -             | 8     |
    | 80-82  | tensions         | as applied                | N     | -             | 6     |
    | 83-85  | load             | the bob, from the base    | m     | world         | 10    |
    | 86-88  | load_velocity    | of the bob                | m/s   | world         | 20    |
    | 89     | cable_length     | of the tether, stretched  | m     | -             | 20    |
    | 90     | rest_length      | of the tether, at rest    | m     | -             | 20    |
    | 91     | cable_tension    | at the vehicle            | N     | -             | 100   |
    | 92     | turns            | around the branch         | 1     | -             | 10    |
    | 93-95  | obstacle         | its middle, from the base | m     | world         | 10    |
    | 96-98  | obstacle_axis    | along the branch          | 1     | world         | 1     |
    | 99-101 | obstacle_size    | its radius, and two zeros | m     | -             | 10    |

    `observation_mode="tip"` leaves out the joints.

    ## Rewards

    The sum of weight x exp(-error / margin), from 0 to 1. `info["reward_terms"]` has the parts.

    | Term       | Weight | Margin | Unit | Error                                       |
    |------------|--------|--------|------|---------------------------------------------|
    | `turns`    | 0.5    | 0.5    | 1    | turns that lack to one and a half           |
    | `velocity` | 0.1    | 0.5    | m/s  | of the base's velocity from the reference's |
    | `thrust`   | 0.4    | 3      | N    | thrust of all rotors                        |

    ## Starting state

    In a hover 3.4 m high, the bob plumb below; the branch's middle is 0.8 to 1 m ahead and 0.9 to
    1.1 m below. Each number is drawn evenly from [-spread, spread].

    | `start`            | Spread | Unit  | Of                                         |
    |--------------------|--------|-------|--------------------------------------------|
    | "position"         | 0.2    | m     | of the base along each axis                |
    | "velocity"         | 0.2    | m/s   | of the base along each axis                |
    | "tilt"             | 0.1    | rad   | roll, and pitch                            |
    | "yaw"              | 0.3    | rad   | heading                                    |
    | "angular_velocity" | 0.2    | rad/s | about each axis                            |
    | "bend"             | 0.4    | rad   | of the whole arm about the base's x, and y |
    | "bend_rate"        | 0.4    | rad/s | the same for its velocity                  |

    `reset(options=...)` takes `qpos`, `qvel`, `phase`; see `tendon_gym.envs.starts.START_OPTIONS`.

    ## Episode end

    Truncation after 16 s (`horizon`). Termination, with the reason in `info["termination_reason"]`:

    | Reason     | `limits`  | Ends  | Limit | Unit | Of                                  |
    |------------|-----------|-------|-------|------|-------------------------------------|
    | "crash"    | clearance | below | 0     | m    | the lowest point above the floor    |
    | "tilt"     | tilt      | above | 1.484 | rad  | the base's z axis from the vertical |
    | "obstacle" | obstacle  | below | 0     | m    | the vehicle from the branch         |
    | "far"      | distance  | above | 4     | m    | the base from the reference         |

    "cable", if the tether has no path (the bob's centre lies in the branch), and "unstable", if the
    simulation itself failed (`info["sim_unstable"]`).

    ## Success

    `info["is_success"]` at the end of an episode: it reached its horizon, and over the last second
    the root mean square of each of these stayed within its limit. A bob that swings takes turns
    away and gives them back; what exceeds one and a half doesn't make up for what lacks.

    | Signal          | Limit | Unit |
    |-----------------|-------|------|
    | `missing_turns` | 0.1   | 1    |
    | `velocity`      | 0.1   | m/s  |
    | `thrust`        | 0.5   | N    |

    Every info has the turns on the branch, `info["turns"]`, `info["cable_tension"]` at the vehicle
    (N), and the distance of the bob from the branch's middle, `info["load_error"]` (m).

    ## Arguments

    What each of them takes is told by `tendon_gym.envs.task.EnvConfig`, in plain values that a JSON
    file can hold.

    | Argument            | Default                                    | Legal                    |
    |---------------------|--------------------------------------------|--------------------------|
    | `rotor_action`      | "thrust"                                   | see above                |
    | `tendon_action`     | "tension"                                  | see above                |
    | `reference`         | {'name': 'hover', 'position': [0, 0, 3.4]} | a name, CSV file or dict |
    | `horizon`           | 16                                         | s                        |
    | `reward`            | as above                                   | {term: weight or dict}   |
    | `start`             | as above                                   | {name: spread}           |
    | `limits`            | as above                                   | {name: limit}            |
    | `observation_mode`  | "state"                                    | "state", "tip"           |
    | `control_frequency` | 100                                        | Hz; must divide 500 Hz   |
    | `model`             | "default"                                  | a preset, or changes     |
    | `action`            | as above                                   | scales, law and gains    |
    | `forces`            | {}                                         | {name: parameters}       |
    | `engine`            | "mujoco"                                   | "mujoco", "compiled"     |
    | `threads`           | None                                       | None: all that help      |

    With `engine="mujoco"` the arm's tendons may have springs, limits, dry friction, inertia and
    couplings: `model={"tendons": {"properties": {"stiffness": 20, "upper_limit": 0.485}}}`, or a
    list with such a dict for each tendon, and `"couplings": [{"first": "tendon_1", "second":
    "tendon_2", "coefficients": [0, -1, 0, 0, 0]}]`; see `tendon_gym.model.TendonProperties` and
    `TendonCoupling`.

    `render_mode`, `width`, `height` and `camera` ("chase", "side") are for pictures; `make_vec`
    also takes `autoreset_mode`, `max_episode_steps`, `copy`, `render_ids` and `render_grid`, see
    `tendon_gym.envs.TendonVectorEnv`.

    ## Version history

    - v0: the first version.
    """

    task = TASK


class TetherPerchVectorEnv(TendonVectorEnv):
    """`TetherPerchEnv`, many at a time."""

    task = TASK

"""Bend: hold the hover while the arm does what is asked."""

from __future__ import annotations

from tendon_gym.envs.scalar import TendonEnv
from tendon_gym.envs.task import Task
from tendon_gym.envs.vector import TendonVectorEnv
from tendon_gym.registration import ENTRIES
from tendon_gym.rewards import RewardTerm

TASK = Task(
    entry=ENTRIES["Bend"],
    reference="goal",
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
        "reference_bend",
    ),
    reward={
        "position": RewardTerm(0.3, margin=0.1),
        "yaw": RewardTerm(0.1, margin=0.3),
        "bending_moment": RewardTerm(0.3, margin=0.2),
        "tip": RewardTerm(0.3, margin=0.05),
    },
    success={"position_error": 0.05, "tip_error": 0.03},
)


class BendEnv(TendonEnv):
    """Hold the hover while the arm does what is asked.

    ## Description

    A quadrotor with a tendon-driven soft arm hovers at a height of 1.6 m while the arm is to take a
    bend: a direction and a magnitude, drawn for each episode so that they fill the unit disc
    evenly, and rising from zero within 0.5 s. A bent arm shifts the vehicle's centre of mass.

    ## Action space

    `Box(-1, 1, (7,), float32)` by default: the rotor part, then the tendon part. What is beyond the
    bounds is clipped.

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

    | `tendon_action` | Num | Meaning                   | -1  | 0   | +1  | Unit |
    |-----------------|-----|---------------------------|-----|-----|-----|------|
    | "tension"       | 0-2 | tension of tendons 1 to 3 | 0   | 3   | 6   | N    |
    | "bend"          | 0   | bend along the base's x   | -1  | 0   | 1   | 1    |
    | "bend"          | 1   | bend along the base's y   | -1  | 0   | 1   | 1    |

    A bend is a direction and a magnitude, (mu cos beta, mu sin beta) with mu at most 1, in the
    base's axes; the allocation turns it into tensions.

    ## Observation space

    `Box(..., (85,), float32)` by default, clipped to [-bound, bound];
    `env.unwrapped.observation_layout` has the same by name.

    | Num   | Slice            | Meaning            | Unit  | Frame         | Bound |
    |-------|------------------|--------------------|-------|---------------|-------|
    | 0-2   | position_error   | reference - actual | m     | world         | 10    |
    | 3-5   | velocity         | of the base        | m/s   | world         | 20    |
    | 6-14  | rotation         | row by row         | 1     | body to world | 1     |
    | 15-17 | angular_velocity | of the base        | rad/s | body          | 50    |
    | 18    | yaw_error        | reference - actual | rad   | -             | 3.142 |
    | 19-42 | joint_angles     | x, y of each link  | rad   | body          | 3.142 |
    | 43-66 | joint_velocities | the same order     | rad/s | body          | 200   |
    | 67-69 | tip              | from the base      | m     | body          | 0.789 |
    | 70-72 | tip_velocity     | seen from the base | m/s   | body          | 50    |
    | 73-75 | tendon_lengths   | of each tendon     | m     | -             | 1.578 |
    | 76-79 | thrusts          | as applied         | N     | -             | 8     |
    | 80-82 | tensions         | as applied         | N     | -             | 6     |
    | 83-84 | reference_bend   | asked for          | 1     | body          | 1     |

    `observation_mode="tip"` leaves out the joints. `goal="tip"` shows `tip_goal`, the place where
    the tip is to come to rest (m, body), in place of `reference_bend`.

    ## Rewards

    The sum of weight x exp(-error / margin), from 0 to 1. `info["reward_terms"]` has the parts.

    | Term             | Weight | Margin | Unit | Error                                         |
    |------------------|--------|--------|------|-----------------------------------------------|
    | `position`       | 0.3    | 0.1    | m    | distance of the base from the reference       |
    | `yaw`            | 0.1    | 0.3    | rad  | of the heading                                |
    | `bending_moment` | 0.3    | 0.2    | 1    | of the bending moment, over that at full bend |
    | `tip`            | 0.3    | 0.05   | m    | distance of the tip from where it should rest |

    ## Starting state

    Near the reference; each number is drawn evenly from [-spread, spread]. Nothing touches the
    floor.

    | `start`            | Spread | Unit  | Of                                         |
    |--------------------|--------|-------|--------------------------------------------|
    | "position"         | 0.2    | m     | of the base along each axis                |
    | "velocity"         | 0.2    | m/s   | of the base along each axis                |
    | "tilt"             | 0.1    | rad   | roll, and pitch                            |
    | "yaw"              | 0.3    | rad   | heading                                    |
    | "angular_velocity" | 0.2    | rad/s | about each axis                            |
    | "bend"             | 0.4    | rad   | of the whole arm about the base's x, and y |
    | "bend_rate"        | 0.4    | rad/s | the same for its velocity                  |

    `reset(options=...)` takes `qpos`, `qvel`, `phase` and `goal`; see
    `tendon_gym.envs.starts.START_OPTIONS`.

    ## Episode end

    Truncation after 6 s (`horizon`). Termination, with the reason in `info["termination_reason"]`:

    | Reason  | `limits`  | Ends  | Limit | Unit | Of                                  |
    |---------|-----------|-------|-------|------|-------------------------------------|
    | "crash" | clearance | below | 0     | m    | the lowest point above the floor    |
    | "tilt"  | tilt      | above | 1.484 | rad  | the base's z axis from the vertical |
    | "far"   | distance  | above | 2     | m    | the base from the reference         |

    and "unstable", if the simulation itself failed (`info["sim_unstable"]`).

    ## Success

    `info["is_success"]` at the end of an episode: it reached its horizon, and over the last second
    the root mean square of each of these stayed within its limit.

    | Signal           | Limit | Unit |
    |------------------|-------|------|
    | `position_error` | 0.05  | m    |
    | `tip_error`      | 0.03  | m    |

    ## Arguments

    What each of them takes is told by `tendon_gym.envs.task.EnvConfig`, in plain values that a JSON
    file can hold.

    | Argument            | Default   | Legal                                        |
    |---------------------|-----------|----------------------------------------------|
    | `rotor_action`      | "thrust"  | see above                                    |
    | `tendon_action`     | "tension" | see above                                    |
    | `goal`              | "bend"    | "bend", "tip"                                |
    | `horizon`           | 6         | s                                            |
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


class BendVectorEnv(TendonVectorEnv):
    """`BendEnv`, many at a time."""

    task = TASK

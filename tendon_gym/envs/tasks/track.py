"""Track: follow a moving reference in position, heading and bend."""

from __future__ import annotations

from tendon_gym.envs.scalar import TendonEnv
from tendon_gym.envs.task import PreviewConfig, Task
from tendon_gym.envs.vector import TendonVectorEnv
from tendon_gym.registration import ENTRIES
from tendon_gym.rewards import RewardTerm

TASK = Task(
    entry=ENTRIES["Track"],
    reference="steady_figure_eight",
    observation=(
        "position_error",
        "velocity",
        "velocity_error",
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
        "reference_acceleration",
        "reference_jerk",
        "reference_snap",
        "reference_yaw_rate",
        "reference_yaw_acceleration",
        "reference_bend",
        "preview_position",
        "preview_velocity",
        "preview_acceleration",
        "preview_bend",
    ),
    preview=PreviewConfig(seconds=0.5, points=5),
    reward={
        "position": RewardTerm(0.7, margin=0.05),
        "yaw": RewardTerm(0.1, margin=0.2),
        "bending_moment": RewardTerm(0.2, margin=0.2),
    },
    success={"position_error": 0.05, "bend_error": 0.1},
)


class TrackEnv(TendonEnv):
    """Follow a moving reference in position, heading and bend.

    ## Description

    A quadrotor with a tendon-driven soft arm follows a moving reference: a position, a heading and
    a bend of the arm, all functions of time. The default is a steady figure-eight, 2.4 m long and 8
    s a round, with the arm slack, started anywhere on it; `reference="smooth"` draws another
    reference for each episode.

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

    | `tendon_action` | Num  | Meaning                         | -1  | 0   | +1  | Unit |
    |-----------------|------|---------------------------------|-----|-----|-----|------|
    | "tension"       | 0-2  | tension of tendons 1 to 3       | 0   | 3   | 6   | N    |
    | "bend"          | 0    | bend along the base's x         | -1  | 0   | 1   | 1    |
    | "bend"          | 1    | bend along the base's y         | -1  | 0   | 1   | 1    |
    | "reference"     | none | the reference's bend is applied |     |     |     |      |

    A bend is a direction and a magnitude, (mu cos beta, mu sin beta) with mu at most 1, in the
    base's axes; the allocation turns it into tensions.

    ## Observation space

    `Box(..., (154,), float32)` by default, clipped to [-bound, bound];
    `env.unwrapped.observation_layout` has the same by name.

    | Num     | Slice                      | Meaning            | Unit    | Frame         | Bound |
    |---------|----------------------------|--------------------|---------|---------------|-------|
    | 0-2     | position_error             | reference - actual | m       | world         | 10    |
    | 3-5     | velocity                   | of the base        | m/s     | world         | 20    |
    | 6-8     | velocity_error             | reference - actual | m/s     | world         | 20    |
    | 9-17    | rotation                   | row by row         | 1       | body to world | 1     |
    | 18-20   | angular_velocity           | of the base        | rad/s   | body          | 50    |
    | 21      | yaw_error                  | reference - actual | rad     | -             | 3.142 |
    | 22-45   | joint_angles               | x, y of each link  | rad     | body          | 3.142 |
    | 46-69   | joint_velocities           | the same order     | rad/s   | body          | 200   |
    | 70-72   | tip                        | from the base      | m       | body          | 0.789 |
    | 73-75   | tip_velocity               | seen from the base | m/s     | body          | 50    |
    | 76-78   | tendon_lengths             | of each tendon     | m       | -             | 1.578 |
    | 79-82   | thrusts                    | as applied         | N       | -             | 8     |
    | 83-85   | tensions                   | as applied         | N       | -             | 6     |
    | 86-88   | reference_acceleration     | of the reference   | m/s^2   | world         | 50    |
    | 89-91   | reference_jerk             | of the reference   | m/s^3   | world         | 500   |
    | 92-94   | reference_snap             | of the reference   | m/s^4   | world         | 5000  |
    | 95      | reference_yaw_rate         | of the reference   | rad/s   | -             | 20    |
    | 96      | reference_yaw_acceleration | of the reference   | rad/s^2 | -             | 200   |
    | 97-98   | reference_bend             | asked for          | 1       | body          | 1     |
    | 99-113  | preview_position           | points 1 to 5      | m       | world         | 20    |
    | 114-128 | preview_velocity           | points 1 to 5      | m/s     | world         | 20    |
    | 129-143 | preview_acceleration       | points 1 to 5      | m/s^2   | world         | 50    |
    | 144-153 | preview_bend               | points 1 to 5      | 1       | body          | 1     |

    `observation_mode="tip"` leaves out the joints.

    ## Rewards

    The sum of weight x exp(-error / margin), from 0 to 1. `info["reward_terms"]` has the parts.

    | Term             | Weight | Margin | Unit | Error                                         |
    |------------------|--------|--------|------|-----------------------------------------------|
    | `position`       | 0.7    | 0.05   | m    | distance of the base from the reference       |
    | `yaw`            | 0.1    | 0.2    | rad  | of the heading                                |
    | `bending_moment` | 0.2    | 0.2    | 1    | of the bending moment, over that at full bend |

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

    On a reference that never ends the phase is drawn as well (`start={"phase": "zero"}`: not).

    `reset(options=...)` takes `qpos`, `qvel`, `phase`; see `tendon_gym.envs.starts.START_OPTIONS`.

    ## Episode end

    Truncation after 10 s (`horizon`), or when a reference that ends does. Termination, with the
    reason in `info["termination_reason"]`:

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
    | `bend_error`     | 0.1   | 1    |

    ## Arguments

    What each of them takes is told by `tendon_gym.envs.task.EnvConfig`, in plain values that a JSON
    file can hold.

    | Argument            | Default               | Legal                                        |
    |---------------------|-----------------------|----------------------------------------------|
    | `rotor_action`      | "thrust"              | see above                                    |
    | `tendon_action`     | "tension"             | see above                                    |
    | `reference`         | "steady_figure_eight" | a name, a CSV file, {"name": ..., ...}       |
    | `horizon`           | None                  | s; None: the reference's duration, or 10 s   |
    | `reward`            | as above              | {term: w} or {term: {"weight": w, ...}}      |
    | `start`             | as above              | {name: spread}                               |
    | `limits`            | as above              | {name: limit}                                |
    | `preview`           | 5 points              | {"points": n, "seconds": s}, here 0.5 s      |
    | `observation_mode`  | "state"               | "state", "tip"                               |
    | `control_frequency` | 100                   | Hz; must divide the physics rate, 500 Hz     |
    | `model`             | "default"             | a preset, or {"preset": name, changes}       |
    | `action`            | as above              | scales, law and gains of the loops           |
    | `forces`            | {}                    | {name: parameters} of force terms            |
    | `engine`            | "mujoco"              | "mujoco", "compiled"                         |
    | `threads`           | None                  | of a vector environment; None: all that help |

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


class TrackVectorEnv(TendonVectorEnv):
    """`TrackEnv`, many at a time."""

    task = TASK

"""ArmBend: bend the arm of a base that is held, with the tendons alone."""

from __future__ import annotations

from tendon_gym.envs.scalar import TendonEnv
from tendon_gym.envs.task import Task
from tendon_gym.envs.vector import TendonVectorEnv
from tendon_gym.registration import ENTRIES
from tendon_gym.rewards import RewardTerm

TASK = Task(
    entry=ENTRIES["ArmBend"],
    reference="goal",
    clamped=True,
    observation=(
        "joint_angles",
        "joint_velocities",
        "tip",
        "tip_velocity",
        "tendon_lengths",
        "tensions",
        "reference_bend",
    ),
    reward={
        "bending_moment": RewardTerm(0.3, margin=0.2),
        "tip": RewardTerm(0.7, margin=0.05),
    },
    success={"tip_error": 0.03},
)


class ArmBendEnv(TendonEnv):
    """Bend the arm of a base that is held, with the tendons alone.

    ## Description

    The base is held, level and at rest, and the tendons alone move the arm. It is to take a bend: a
    direction and a magnitude, drawn for each episode so that they fill the unit disc evenly, and
    rising from zero within 0.5 s, and to come to rest there soon.

    ## Action space

    `Box(-1, 1, (3,), float32)` by default: the tendon part alone. What is beyond the bounds is
    clipped.

    | `tendon_action` | Num | Meaning                   | -1  | 0   | +1  | Unit |
    |-----------------|-----|---------------------------|-----|-----|-----|------|
    | "tension"       | 0-2 | tension of tendons 1 to 3 | 0   | 3   | 6   | N    |
    | "bend"          | 0   | bend along the base's x   | -1  | 0   | 1   | 1    |
    | "bend"          | 1   | bend along the base's y   | -1  | 0   | 1   | 1    |

    A bend is a direction and a magnitude, (mu cos beta, mu sin beta) with mu at most 1, in the
    base's axes; the allocation turns it into tensions.

    ## Observation space

    `Box(..., (62,), float32)` by default, clipped to [-bound, bound];
    `env.unwrapped.observation_layout` has the same by name.

    | Num   | Slice            | Meaning            | Unit  | Frame | Bound |
    |-------|------------------|--------------------|-------|-------|-------|
    | 0-23  | joint_angles     | x, y of each link  | rad   | body  | 3.142 |
    | 24-47 | joint_velocities | the same order     | rad/s | body  | 200   |
    | 48-50 | tip              | from the base      | m     | body  | 0.789 |
    | 51-53 | tip_velocity     | seen from the base | m/s   | body  | 50    |
    | 54-56 | tendon_lengths   | of each tendon     | m     | -     | 1.578 |
    | 57-59 | tensions         | as applied         | N     | -     | 6     |
    | 60-61 | reference_bend   | asked for          | 1     | body  | 1     |

    `observation_mode="tip"` leaves out the joints. `goal="tip"` shows `tip_goal`, the place where
    the tip is to come to rest (m, body), in place of `reference_bend`.

    ## Rewards

    The sum of weight x exp(-error / margin), from 0 to 1. `info["reward_terms"]` has the parts.

    | Term             | Weight | Margin | Unit | Error                                         |
    |------------------|--------|--------|------|-----------------------------------------------|
    | `bending_moment` | 0.3    | 0.2    | 1    | of the bending moment, over that at full bend |
    | `tip`            | 0.7    | 0.05   | m    | distance of the tip from where it should rest |

    ## Starting state

    Near the straight arm; each number is drawn evenly from [-spread, spread].

    | `start`     | Spread | Unit  | Of                                         |
    |-------------|--------|-------|--------------------------------------------|
    | "bend"      | 0.4    | rad   | of the whole arm about the base's x, and y |
    | "bend_rate" | 0.4    | rad/s | the same for its velocity                  |

    `reset(options=...)` takes `qpos`, `qvel`, `phase` and `goal`; see
    `tendon_gym.envs.starts.START_OPTIONS`.

    ## Episode end

    Truncation after 4 s (`horizon`). Termination, with the reason in `info["termination_reason"]`:

    "unstable", if the simulation itself failed (`info["sim_unstable"]`); nothing else ends an
    episode with the default limits.

    ## Success

    `info["is_success"]` at the end of an episode: it reached its horizon, and over the last second
    the root mean square of each of these stayed within its limit.

    | Signal      | Limit | Unit |
    |-------------|-------|------|
    | `tip_error` | 0.03  | m    |

    ## Arguments

    What each of them takes is told by `tendon_gym.envs.task.EnvConfig`, in plain values that a JSON
    file can hold.

    | Argument            | Default   | Legal                                        |
    |---------------------|-----------|----------------------------------------------|
    | `rotor_action`      | "none"    | see above                                    |
    | `tendon_action`     | "tension" | see above                                    |
    | `goal`              | "bend"    | "bend", "tip"                                |
    | `horizon`           | 4         | s                                            |
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


class ArmBendVectorEnv(TendonVectorEnv):
    """`ArmBendEnv`, many at a time."""

    task = TASK

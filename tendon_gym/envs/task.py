"""What makes a task: a frozen description that one core turns into environments."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tendon_gym import checks, config, rewards
from tendon_gym.envs.actions import ActionConfig
from tendon_gym.envs.rest_tips import check_goals
from tendon_gym.envs.rig import Rig
from tendon_gym.model import ModelParameters, check_timestep, preset
from tendon_gym.registration import Entry
from tendon_gym.rewards import RewardTerm

LONGEST = 1e6
"""Longest horizon, s."""

FARTHEST = 1e6
"""Largest distance of a limit, m, and largest speed, m/s."""

FREQUENCIES = (0.1, 1e5)
"""Smallest and largest number of actions per second."""

CLEARANCE = 0.05
"""Least distance of every part from the floor at a reset, m."""


@dataclass(frozen=True)
class StartConfig:
    """How far an episode may start from its reference; every number is drawn from [-x, x].

    Attributes:
        position: m, along each axis, at most 1000.
        velocity: m/s, along each axis, at most 100.
        tilt: rad, of roll and of pitch, less than pi/2.
        yaw: rad, at most pi.
        angular_velocity: rad/s, about each axis, at most 100.
        bend: rad, by which the whole arm is bent about the base's x and y axes, at most pi/2.
        bend_rate: rad/s, the same for its velocity, at most 100.
        phase: "random" starts anywhere on a reference that never ends; "zero" at its beginning.
    """

    position: float = 0.2
    velocity: float = 0.2
    tilt: float = 0.1
    yaw: float = 0.3
    angular_velocity: float = 0.2
    bend: float = 0.4
    bend_rate: float = 0.4
    phase: Literal["random", "zero"] = "random"

    def __post_init__(self) -> None:
        """Reject spreads that are negative or too wide."""
        checks.number("start.position", self.position, minimum=0.0, maximum=1e3)
        for name in ("velocity", "angular_velocity", "bend_rate"):
            checks.number(f"start.{name}", getattr(self, name), minimum=0.0, maximum=100.0)
        checks.number("start.tilt", self.tilt, minimum=0.0, below=math.pi / 2)
        checks.number("start.yaw", self.yaw, minimum=0.0, maximum=math.pi)
        checks.number("start.bend", self.bend, minimum=0.0, maximum=math.pi / 2)
        checks.choice("start.phase", self.phase, ("random", "zero"))


@dataclass(frozen=True)
class Limits:
    """Where an episode ends early.

    Attributes:
        distance: m, of the base from the reference ("far").
        tilt: rad, of the base's z axis from the vertical ("tilt").
        clearance: m, of the lowest point above the floor ("crash").
        obstacle: m, of the vehicle from the obstacle, for tasks that have one ("obstacle").
        load_speed: m/s, of the load, for tasks that have one ("slam").
    """

    distance: float = 2.0
    tilt: float = math.radians(85.0)
    clearance: float = 0.0
    obstacle: float = 0.0
    load_speed: float = FARTHEST

    def __post_init__(self) -> None:
        """Reject limits that nothing could keep."""
        checks.number("limits.distance", self.distance, above=0.0, maximum=FARTHEST)
        checks.number("limits.tilt", self.tilt, above=0.0, maximum=math.pi)
        checks.number("limits.clearance", self.clearance, minimum=0.0, maximum=FARTHEST)
        checks.number("limits.obstacle", self.obstacle, minimum=0.0, maximum=FARTHEST)
        checks.number("limits.load_speed", self.load_speed, above=0.0, maximum=FARTHEST)


@dataclass(frozen=True)
class PreviewConfig:
    """How much of the reference's future is observed: `points` points over `seconds`.

    Attributes:
        seconds: 0.0001 to 1000.
        points: 0 to 100.
    """

    seconds: float = 0.5
    points: int = 5

    def __post_init__(self) -> None:
        """Reject what isn't a number of points in the future."""
        checks.number("preview.seconds", self.seconds, minimum=1e-4, maximum=1e3)
        checks.integer("preview.points", self.points, minimum=0, maximum=100)


@dataclass(frozen=True)
class Task:
    """A task with its defaults: the whole decision process, readable in one place.

    Attributes:
        entry: id and legal interfaces.
        observation: names of the slices in the mode "state".
        reward: the terms.
        success: signals and the largest root mean square each may have over the last second of
            an episode that reached its end.
        reference: what to follow: a name, a CSV file or a dict; or "goal" for a drawn bend.
        preview: of the reference.
        start: where episodes start.
        limits: where they end early.
        clamped: whether the base is held.
        rig: a load on a cable, which some tasks have.
    """

    entry: Entry
    observation: tuple[str, ...]
    reward: Mapping[str, RewardTerm]
    success: Mapping[str, float]
    reference: str | Mapping[str, Any]
    preview: PreviewConfig = PreviewConfig(points=0)
    start: StartConfig = StartConfig()
    limits: Limits = Limits()
    clamped: bool = False
    rig: Rig | None = None


@dataclass(frozen=True)
class EnvConfig:
    """Everything that may be chosen of an environment; the docstrings of the parts tell more.

    Attributes:
        model: the vehicle.
        engine: "mujoco", or "compiled": equal to rounding and eight times as fast, for models whose
            integrator is "Euler".
        threads: of a vector environment; None: as many as pay off.
        control_frequency: actions per second; it must divide the physics rate.
        rotor_action: see `envs.actions`.
        tendon_action: see `envs.actions`.
        action: scales of the actions and gains of the inner loops.
        observation_mode: "state", or "tip" for the base, the tip and the tendon lengths alone.
        preview: of the reference, for tasks that observe it.
        reference: a name, the path of a CSV file, or {"name": ..., parameters}.
        goal: "bend" or "tip", for tasks that draw goals.
        horizon: s, after which an episode is truncated; None: when the reference ends.
        start: spread of the starts.
        limits: where episodes end early.
        reward: terms and weights.
        forces: {name: parameters} of force terms.
    """

    model: ModelParameters
    rotor_action: str
    tendon_action: str
    reward: Mapping[str, RewardTerm]
    reference: str | Mapping[str, Any]
    horizon: float | None
    preview: PreviewConfig
    start: StartConfig
    limits: Limits
    engine: str = "mujoco"
    threads: int | None = None
    control_frequency: float = 100.0
    action: ActionConfig = ActionConfig()
    observation_mode: str = "state"
    goal: str = "bend"
    forces: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def configure(task: Task, settings: Mapping[str, Any]) -> EnvConfig:
    """Lay a user's plain settings over a task's defaults.

    Raises:
        ValueError: an unknown setting or an illegal value; the legal ones are named.
        TypeError: a value of the wrong type.
    """
    legal = list(EnvConfig.__dataclass_fields__)
    if task.reference == "goal":
        legal.remove("reference")
    else:
        legal.remove("goal")
    if "preview_position" not in task.observation:
        legal.remove("preview")
    checks.known_keys(task.entry.name, settings, legal)
    entry = task.entry
    horizon = settings.get("horizon", entry.horizon)
    rotor_action = settings.get("rotor_action", entry.rotor_actions[0])
    tendon_action = settings.get("tendon_action", entry.tendon_actions[0])
    forces = _given(settings, "forces")
    if not isinstance(forces, Mapping):
        raise TypeError(f"forces must be a dict of force terms, got {checks.shown(forces)}")
    engine = settings.get("engine", "mujoco")
    goal = checks.choice("goal", settings.get("goal", "bend"), ("bend", "tip"))
    return EnvConfig(
        model=_checked(_model(settings.get("model", "default"), task), engine, goal),
        rotor_action=checks.choice("rotor_action", rotor_action, entry.rotor_actions),
        tendon_action=checks.choice("tendon_action", tendon_action, entry.tendon_actions),
        reward=rewards.override(task.reward, _given(settings, "reward")),
        reference=settings.get("reference", task.reference),
        horizon=None
        if horizon is None
        else checks.number("horizon", horizon, above=0.0, maximum=LONGEST),
        preview=config.override(task.preview, _given(settings, "preview"), "preview"),
        start=config.override(task.start, _given(settings, "start"), "start"),
        limits=config.override(task.limits, _given(settings, "limits"), "limits"),
        engine=engine,
        threads=settings.get("threads"),
        control_frequency=checks.number(
            "control_frequency",
            settings.get("control_frequency", 100.0),
            minimum=FREQUENCIES[0],
            maximum=FREQUENCIES[1],
        ),
        action=config.override(ActionConfig(), _given(settings, "action"), "action"),
        observation_mode=checks.choice(
            "observation_mode", settings.get("observation_mode", "state"), ("state", "tip")
        ),
        goal=goal,
        forces=forces,
    )


def _given(settings: Mapping[str, Any], name: str) -> Any:
    """Return a setting that is a dict of changes; None stands for no changes."""
    value = settings.get(name)
    return {} if value is None else value


def _model(value: Any, task: Task) -> ModelParameters:
    """Return parameters from a preset's name, from overrides, or {"preset": name, overrides}."""
    if isinstance(value, ModelParameters):
        parameters = value
    elif isinstance(value, str):
        parameters = preset(value)
    elif isinstance(value, Mapping):
        changes = dict(value)
        parameters = config.override(preset(changes.pop("preset", "default")), changes, "model")
    else:
        given = checks.shown(value)
        raise TypeError(f"model must be a preset's name or a dict of parameters, got {given}")
    if task.rig is not None and parameters.load is None:
        parameters = dataclasses.replace(parameters, load=task.rig.load)
    if task.clamped:
        return config.override(parameters, {"base": "clamped"}, "model")
    if parameters.base != "free":
        checks.reject("model.base", parameters.base, "'free' for a task that flies")
    return parameters


def _checked(parameters: ModelParameters, engine: object, goal: str) -> ModelParameters:
    """Return parameters that the timestep, the engine and the goals can do with, or raise."""
    if engine == "compiled" and (more := parameters.tendons.more):
        names = ", ".join(f"model.tendons.{name}" for name in more)
        raise ValueError(
            f'engine="compiled" has tendons that only pull, got {names}; '
            'engine="mujoco" steps every model'
        )
    check_timestep(parameters)
    if goal == "tip":
        check_goals(parameters)
    return parameters


def substeps(control_frequency: float, timestep: float) -> int:
    """Return the physics steps per action, or raise and name the nearest legal frequencies."""
    ratio = 1.0 / (control_frequency * timestep)
    count = round(ratio)
    if count < 1 or abs(ratio - count) > 1e-9 * ratio:
        legal = [1.0 / (k * timestep) for k in (math.floor(ratio), math.floor(ratio) + 1) if k]
        raise ValueError(
            f"control_frequency must divide the physics rate of {1 / timestep:g} Hz, got "
            f"{control_frequency:g} Hz; the nearest legal ones are "
            + " and ".join(f"{f:g} Hz" for f in sorted(legal))
        )
    return count

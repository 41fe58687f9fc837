"""The frozen table of benchmarks: what is flown, from which starts, how long, and what counts.

Numbers from different papers can be compared only where all of this is equal. So an entry never
changes: what must change gets a new name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tendon_gym import checks
from tendon_gym.registration import ENTRIES, Entry

FIRST_SEED = 10_000
"""Seed of the first episode; training keeps to seeds below it."""

INTERFACE = (
    "rotor_action",
    "tendon_action",
    "action",
    "control_frequency",
    "observation_mode",
    "preview",
)
"""The settings that a policy chooses: how it acts, how often, and what it sees."""

ENGINES = ("mujoco", "compiled")
"""What a benchmark can be flown on; its figures are those of the first."""

AT_REST = {
    "position": 0.0,
    "velocity": 0.0,
    "tilt": 0.0,
    "yaw": 0.0,
    "angular_velocity": 0.0,
    "bend": 0.0,
    "bend_rate": 0.0,
}
"""A start without any spread: exactly on the reference, level, the arm straight and still."""


@dataclass(frozen=True)
class Benchmark:
    """One benchmark.

    Attributes:
        name: of the table.
        task: key of `registration.ENTRIES`.
        about: one line on what it asks.
        horizon: s; None (never in the table): as long as the reference.
        settle: s at the start that the error metrics leave out; the reward counts from the start.
        settings: of the environment, as plain values, without the interface.
        interface: with which a learned policy flies unless it says otherwise.
        episodes: how many there are.
        first_seed: episode k starts from seed first_seed + k.
        conditions: under which the vehicle flies; "ideal": actuators and sensing without flaws.
    """

    name: str
    task: str
    about: str
    horizon: float | None
    settle: float = 0.0
    settings: Mapping[str, Any] = field(default_factory=dict)
    interface: Mapping[str, Any] = field(default_factory=dict)
    episodes: int = 20
    first_seed: int = FIRST_SEED
    conditions: str = "ideal"

    def __post_init__(self) -> None:
        """Reject what could not be flown."""
        checks.choice("task", self.task, ENTRIES)
        checks.choice("conditions", self.conditions, ("ideal",))
        if self.horizon is not None:
            checks.number("horizon", self.horizon, above=0.0)
            checks.number("settle", self.settle, minimum=0.0, below=self.horizon)
        checks.known_keys("interface", self.interface, INTERFACE)
        checks.integer("episodes", self.episodes, minimum=1)
        checks.integer("first_seed", self.first_seed, minimum=0)

    @property
    def entry(self) -> Entry:
        """The environment's entry."""
        return ENTRIES[self.task]

    def env_settings(self, interface: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the settings for `gymnasium.make(self.entry.id, **settings)`.

        Args:
            interface: the policy's; None: the benchmark's own.

        Raises:
            ValueError: an interface with a setting that isn't a policy's to choose.
        """
        chosen = self.interface if interface is None else interface
        checks.known_keys("a policy's interface", chosen, INTERFACE)
        settings = {**self.settings, **chosen}
        if self.horizon is not None:
            settings["horizon"] = self.horizon
        return settings


def _direct(**more: str) -> dict[str, str]:
    return {"rotor_action": "thrust", "tendon_action": "tension", **more}


BENCHMARKS = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark(
            name="hover-thrust",
            task="Hover",
            about="reach a point and hold it, from a drawn start, the four thrusts as action",
            horizon=8.0,
            settle=2.0,
            interface=_direct(),
        ),
        Benchmark(
            name="track-thrust",
            task="Track",
            about="the steady figure-eight from a drawn start, the four thrusts as action",
            horizon=8.0,
            settle=2.0,
            settings={"reference": "steady_figure_eight"},
            interface=_direct(),
        ),
        Benchmark(
            name="track-residual",
            task="Track",
            about="the steady figure-eight from a drawn start, accelerations on top of the law",
            horizon=8.0,
            settle=2.0,
            settings={"reference": "steady_figure_eight"},
            interface={
                "rotor_action": "residual",
                "tendon_action": "reference",
                "control_frequency": 50.0,
            },
        ),
        Benchmark(
            name="track-steady",
            task="Track",
            about="the steady figure-eight, started on the reference at any of its phases",
            horizon=8.0,
            settle=1.0,
            settings={
                "reference": {
                    "name": "steady_figure_eight",
                    "amplitude": 1.2,
                    "period": 8.0,
                    "height": 1.6,
                },
                "start": {**AT_REST, "phase": "random"},
            },
            interface={
                "rotor_action": "residual",
                "tendon_action": "reference",
                "control_frequency": 50.0,
            },
        ),
        Benchmark(
            name="track-mission",
            task="Track",
            about="the paper's 36 s, from a drawn start that has 4 s to settle",
            horizon=36.0,
            settle=4.0,
            settings={"reference": "mission", "start": {"phase": "zero"}},
            interface={
                "rotor_action": "residual",
                "tendon_action": "reference",
                "control_frequency": 50.0,
            },
        ),
        Benchmark(
            name="bend-tension",
            task="Bend",
            about="hold the hover while the arm takes a drawn bend, the tensions as action",
            horizon=6.0,
            interface={"rotor_action": "residual", "tendon_action": "tension"},
        ),
        Benchmark(
            name="armbend-tension",
            task="ArmBend",
            about="bend the arm of a base that is held, the tensions as action",
            horizon=4.0,
            interface={"rotor_action": "none", "tendon_action": "tension"},
        ),
        Benchmark(
            name="bend-tip",
            task="Bend",
            about="hold the hover while the tip comes to rest at a drawn place",
            horizon=6.0,
            settle=5.0,
            settings={"goal": "tip"},
            interface={"rotor_action": "residual", "tendon_action": "tension"},
        ),
        Benchmark(
            name="armbend-tip",
            task="ArmBend",
            about="bring the tip of a held arm to rest at a drawn place",
            horizon=4.0,
            settle=3.0,
            settings={"goal": "tip"},
            interface={"rotor_action": "none", "tendon_action": "tension"},
        ),
        Benchmark(
            name="hoist-residual",
            task="Hoist",
            about="lift a load over a drawn beam to a drawn place, accelerations and the winch",
            horizon=8.0,
            settle=7.0,
            interface={
                "rotor_action": "residual",
                "tendon_action": "reference",
                "control_frequency": 50.0,
            },
        ),
        Benchmark(
            name="tether-perch",
            task="TetherPerch",
            about="wind a weighted tether around a branch and hang from it, the rotors idle",
            horizon=16.0,
            settle=15.0,
            interface={
                "rotor_action": "attitude",
                "tendon_action": "bend",
                "control_frequency": 25.0,
            },
            episodes=100,
        ),
    )
}
"""By name.

track-steady: the phase of an episode is drawn evenly from its seed, so that an episode is the same
whoever flies it, alone or among any number of others. Where phases evenly spaced are wanted
instead, `reset(options={"phase": ...})` takes one per simulation.
"""


def get(name: str) -> Benchmark:
    """Return the benchmark of a name, or raise and list the names."""
    return BENCHMARKS[checks.choice("benchmark", name, BENCHMARKS)]


def find(name: str) -> Benchmark:
    """Return a benchmark by its name, or a task with all its defaults by the task's name or id."""
    if name in BENCHMARKS:
        return BENCHMARKS[name]
    tasks = {label: entry for entry in ENTRIES.values() for label in (entry.name, entry.id)}
    if name not in tasks:
        legal = ", ".join([*BENCHMARKS, *ENTRIES])
        checks.reject("benchmark or task", name, f"one of {legal}")
    entry = tasks[name]
    return Benchmark(entry.name, entry.name, "the task with its defaults", entry.horizon)


def with_engine(benchmark: Benchmark, engine: str) -> Benchmark:
    """Return a benchmark that is flown on an engine: "mujoco", its own, or "compiled"."""
    checks.choice("engine", engine, ENGINES)
    if engine == ENGINES[0]:
        return benchmark
    return dataclasses.replace(benchmark, settings={**benchmark.settings, "engine": engine})


def with_reference(benchmark: Benchmark, reference: str) -> Benchmark:
    """Return `benchmark` along another reference (a name or a CSV file), to that one's end.

    Raises:
        ValueError: its task draws goals and follows no reference.
    """
    if benchmark.task in ("Bend", "ArmBend"):
        given = checks.shown(reference)
        raise ValueError(f"{benchmark.task} draws bends and takes no reference, got {given}")
    settings = {**benchmark.settings, "reference": reference}
    return dataclasses.replace(benchmark, settings=settings, horizon=None, settle=0.0)

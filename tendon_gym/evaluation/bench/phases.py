"""Where the time of a step goes, in an environment with stopwatches around its parts.

The benchmark puts them on from outside, and a twin without any makes the same steps in turn: what
the phases add up to is held against that. What no stopwatch can get at is timed as kernels alone,
which are hot then: the control law within the engine's time, and decoding and reward within what is
around it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym.boxes import box
from tendon_gym.compiled import bind
from tendon_gym.envs.actions import decode
from tendon_gym.evaluation.bench.kernels import control, weigh
from tendon_gym.evaluation.bench.settings import HELD, LAW, Scope, Setup
from tendon_gym.evaluation.bench.steppers import Scalar, Vector, make_native
from tendon_gym.evaluation.bench.timing import Contestant, race

Run = Callable[[int], int]
Driven = Scalar | Vector

CLOCK = time.process_time
"""The processor's time: all runs on one thread, and what else the machine does stays out."""

SETUPS: dict[str, tuple[Setup, bool]] = {
    "random actions, held": (HELD, True),
    "law at every 2 ms": (LAW, False),
}
"""Environments, and whether their actions are random: then episodes end often."""


class Stopwatch:
    """Adds up the time that is spent in one method of one object.

    Attributes:
        spent: s, since the last `start`.
        calls: likewise.
    """

    def __init__(self, owner: Any, name: str) -> None:
        """Put itself in the place of the method."""
        self._method = getattr(owner, name)
        self.start()
        setattr(owner, name, self._timed)

    def _timed(self, *arguments: Any, **named: Any) -> Any:
        begin = CLOCK()
        result = self._method(*arguments, **named)
        self.spent += CLOCK() - begin
        self.calls += 1
        return result

    def start(self) -> None:
        """Begin at zero."""
        self.spent, self.calls = 0.0, 0


class _Nothing:
    def step(self, substeps: int, law: Any = None) -> None:
        """Return at once."""


def stopwatch_costs(calls: int = 2_000) -> tuple[float, float]:
    """Return what a stopwatch itself takes, s per call: what it measures of that, and the rest."""
    nothing = _Nothing()
    plain = _seconds(nothing, calls)
    watch = Stopwatch(nothing, "step")
    watched = _seconds(nothing, calls)
    inside = max(0.0, watch.spent - plain) / calls
    return inside, max(0.0, (watched - plain) / calls - inside)


def _seconds(nothing: _Nothing, calls: int) -> float:
    begin = CLOCK()
    for _ in range(calls):
        nothing.step(5, None)
    return CLOCK() - begin


class Watched:
    """An environment with stopwatches, and a twin without, which makes the same steps before it.

    Attributes:
        rows: of every `run`, s per environment step: of the twin, and in the engine, in resets,
            and around both of the one with stopwatches.
    """

    def __init__(self, driven: Driven, twin: Driven) -> None:
        """Put stopwatches on the environment that something drives."""
        core = driven.env.core
        self._driven, self._twin = driven, twin
        self._engine, self._reset = Stopwatch(core.engine, "step"), Stopwatch(core, "reset")
        self._inside, self._outside = stopwatch_costs()
        self.rows: list[tuple[float, float, float, float]] = []

    def run(self, count: int) -> int:
        """Make `count` steps and note where the time went."""
        watches = self._engine, self._reset
        for watch in watches:
            watch.start()
        begin = CLOCK()
        self._twin.run(count)
        middle = CLOCK()
        steps = self._driven.run(count)
        whole = CLOCK() - middle
        engine, reset = (watch.spent - self._inside * watch.calls for watch in watches)
        calls = sum(watch.calls for watch in watches)
        around = whole - sum(watch.spent for watch in watches) - self._outside * calls
        self.rows.append(((middle - begin) / steps, engine / steps, reset / steps, around / steps))
        return steps


def phases(scope: Scope, engines: Sequence[str]) -> list[dict[str, Any]]:
    """Return the phases of every setup, number of simulations and engine, on one thread."""
    return [
        _phases(scope, f"{what}, {n} env{'s' if n > 1 else ''}, {engine}", setup, random, engine, n)
        for what, (setup, random) in SETUPS.items()
        for n in scope.phases
        for engine in engines
    ]


def _phases(
    scope: Scope, name: str, setup: Setup, random: bool, engine: str, n: int
) -> dict[str, Any]:
    with ExitStack() as stack:
        driven, twin, spare = (_drive(stack, setup, random, engine, n) for _ in range(3))
        watched, core = Watched(driven, twin), spare.env.core
        parts: dict[str, Run] = {
            "watched": watched.run,
            "reward": _many(bind(weigh, n, core.signals, box(core.rewarder.weighing)), n),
            "decoding": _decoding(core),
        }
        if not core.interface.held:
            parts["loops"] = _loops(core)
        watched.run(scope.run_in)
        spare.run(scope.run_in)
        about = {"substeps": core.substeps, "timestep": core.model.opt.timestep}
        contestants = [Contestant(part, run, about) for part, run in parts.items()]
        rows = race(f"phases: {name}", contestants, scope.protocol, CLOCK)
    kernels = {row["name"]: row["us"]["median"] for row in rows[1:]}
    stopped = 1e6 * np.array(watched.rows[-scope.protocol.rounds :])
    return {
        "name": name,
        "engine": engine,
        "num_envs": n,
        "resets_per_step": driven.resets / driven.steps,
        **_add_up(kernels, stopped),
    }


def _add_up(kernels: dict[str, float], stopped: NDArray) -> dict[str, Any]:
    """Return the phases, us per environment step.

    Args:
        kernels: times of kernels alone.
        stopped: (rounds, 4), of the twin, the engine, resets, and around both.
    """
    total, engine, reset, around = np.median(stopped, axis=0).tolist()
    ratios = stopped[:, 1:].sum(axis=1) / stopped[:, 0]
    loops, decoding, reward = kernels.get("loops", 0.0), kernels["decoding"], kernels["reward"]
    found = {
        "physics": engine - loops,
        "control": loops + decoding,
        "observation": around - decoding - reward,
        "reward": reward,
        "reset": reset,
    }
    return {"us": found, "total_us": total, "sum_over_total": float(np.median(ratios))}


def _drive(stack: ExitStack, setup: Setup, random: bool, engine: str, n: int) -> Driven:
    """Return an environment with something that drives it."""
    env_id, settings = setup
    if n == 1:
        driven: Driven = Scalar(env_id, {**settings, "engine": engine}, random)
    else:
        driven = Vector(make_native(env_id, settings, engine, n, 1), random)
    stack.callback(driven.env.close)
    return driven


def _many(run: Callable[[], Any], n: int) -> Run:
    """Return what runs a kernel over `n` simulations any number of times."""

    def repeat(count: int) -> int:
        for _ in range(count):
            run()
        return count * n

    return repeat


def _decoding(core: Any) -> Run:
    """Return what decodes actions as a core does, into controls of its own."""
    ctrl, last = core.engine.ctrl.copy(), core.engine.ctrl.copy()
    orders = core.interface.orders(ctrl, last)
    return _many(bind(decode, box(orders, (ctrl,))), core.n)


def _loops(core: Any) -> Run:
    """Return what runs the loops of a core as often as a step does, with no physics between."""
    engine = core.engine
    state = (engine.time, engine.qpos, engine.qvel, engine.ctrl, core.interface.loops)
    return _many(bind(control, core.n, core.substeps, box(state)), core.n)

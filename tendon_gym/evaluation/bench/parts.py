"""The parts of the benchmark that are races against bare `mj_step`."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import gymnasium
import numpy as np

from tendon_gym import baselines
from tendon_gym.evaluation.bench.flights import Flight, bare, record
from tendon_gym.evaluation.bench.settings import CLAMPED, HELD, LAW, Scope, Setup, thread_counts
from tendon_gym.evaluation.bench.steppers import (
    Scalar,
    Vector,
    engine_alone,
    make_native,
    native_case,
)
from tendon_gym.evaluation.bench.timing import Contestant, race
from tendon_gym.registration import ENTRIES

POLICY = "track-residual"
"""The learned policy whose steps are measured."""

MANY = 64
"""Simulations where one number must do."""

Rows = list[dict[str, Any]]


def engines_alone(scope: Scope, engines: Sequence[str]) -> Rows:
    """Measure the engines without environments, 5 physics steps a call, on one thread."""
    flight = record(*LAW)
    contestants = [bare("mj_step", flight)]
    for engine in engines:
        for n in dict.fromkeys((1, MANY, max(MANY, max(scope.numbers) // 4))):
            contestants.append(engine_alone(engine, flight, n, 1, "mj_step"))
    return race("engine alone", contestants, scope.protocol)


def links(scope: Scope, engines: Sequence[str]) -> Rows:
    """Measure the engines over the number of links, 64 simulations on one thread."""
    rows = []
    for count in scope.links:
        flight = record(LAW[0], {**LAW[1], "model": {"arm": {"n_links": count}}})
        contestants = [bare("mj_step", flight)]
        contestants += [engine_alone(engine, flight, MANY, 1, "mj_step") for engine in engines]
        found = race(f"{count} links", contestants, scope.protocol)
        rows += [{**row, "part": "links", "links": count} for row in found]
    return rows


def forms(scope: Scope, engines: Sequence[str]) -> Rows:
    """Measure every form of environment: held controls, random actions, and the law inside."""
    rows = []
    for part, setup, random in (
        ("held actions", HELD, False),
        ("random actions", HELD, True),
        ("law at every 2 ms", LAW, False),
    ):
        with ExitStack() as stack:
            asynchronous = part in scope.processes
            contestants = _forms(stack, scope.sync, asynchronous, engines, setup, random)
            rows += race(part, contestants, scope.protocol)
    return rows


def _forms(
    stack: ExitStack,
    n: int,
    asynchronous: bool,
    engines: Sequence[str],
    setup: Setup,
    random: bool,
) -> list[Contestant]:
    env_id, settings = setup
    flight = record(env_id, settings, random)
    threads = thread_counts()[-1]
    contestants = _yardsticks(flight, (1, threads))
    for engine in engines:
        here = {**settings, "engine": engine}
        scalar = Scalar(env_id, here, random)
        stack.callback(scalar.env.close)
        contestants.append(contestant("scalar", scalar.run, flight, engine, 1, 1))
        vectors = [(f"SyncVectorEnv, {n} envs", _sync(env_id, here, n), 1)]
        if asynchronous:
            size = max(2, threads)
            made = _async(env_id, here, size)
            vectors.append((f"AsyncVectorEnv, {size} envs", made, threads))
        for workers in dict.fromkeys((1, threads)):
            made = make_native(env_id, settings, engine, n, workers)
            vectors.append((native_case(n, workers), made, workers))
        for case, env, workers in vectors:
            stack.callback(env.close)
            run = Vector(env, random).run
            contestants.append(contestant(case, run, flight, engine, env.num_envs, workers))
    return contestants


def _sync(env_id: str, settings: dict[str, Any], n: int) -> Any:
    return gymnasium.make_vec(env_id, num_envs=n, vectorization_mode="sync", **settings)


def _async(env_id: str, settings: dict[str, Any], n: int) -> Any:
    """Return an AsyncVectorEnv whose processes know nothing of the threads of this one."""
    multiprocessing.get_context("forkserver").set_forkserver_preload(["tendon_gym.envs"])
    return gymnasium.make_vec(
        env_id,
        num_envs=n,
        vectorization_mode="async",
        vector_kwargs={"context": "forkserver"},
        **settings,
    )


def contestant(
    case: str, run: Callable[[int], int], flight: Flight, engine: str, n: int, threads: int
) -> Contestant:
    """Return a contestant of an engine, against bare MuJoCo on as many threads."""
    about = {**flight.about, "case": case, "engine": engine, "num_envs": n, "threads": threads}
    return Contestant(f"{case}, {engine}", run, about, _yardstick(threads))


def _yardsticks(flight: Flight, threads: Sequence[int]) -> list[Contestant]:
    return [bare(_yardstick(count), flight, count) for count in dict.fromkeys(threads)]


def _yardstick(threads: int) -> str:
    return "mj_step" if threads == 1 else f"mj_step, {threads} threads"


def native(scope: Scope, engines: Sequence[str]) -> Rows:
    """Measure the native vector environment over numbers of simulations and threads."""
    env_id, settings = LAW
    flight, counts = record(env_id, settings), thread_counts()
    rows = []
    for n in scope.numbers:
        with ExitStack() as stack:
            contestants = _yardsticks(flight, [count for count in counts if count <= n])
            for engine in engines:
                for threads in (count for count in counts if count <= n):
                    env = make_native(env_id, settings, engine, n, threads)
                    stack.callback(env.close)
                    case, run = native_case(n, threads), Vector(env).run
                    contestants.append(contestant(case, run, flight, engine, n, threads))
            found = race(f"native, {n}", contestants, scope.protocol)
        rows += [{**row, "part": "native"} for row in found if row["against"] or n == MANY]
    return rows


def native_50_hz(scope: Scope, engines: Sequence[str]) -> Rows:
    """Measure the native vector environment with ten physics steps per action."""
    setup = LAW[0], {**LAW[1], "control_frequency": 50}
    flight = record(*setup)
    with ExitStack() as stack:
        contestants = _yardsticks(flight, (1,))
        for engine in engines:
            case = f"{native_case(MANY, 1)}, 10 physics steps"
            contestants.append(_native(stack, setup, engine, flight, case))
        return race("law at every 2 ms, 50 Hz", contestants, scope.protocol)


def _native(
    stack: ExitStack,
    setup: Setup,
    engine: str,
    flight: Flight,
    case: str,
    policy: str | None = None,
) -> Contestant:
    """Return the native vector environment with 64 simulations on one thread."""
    env = make_native(*setup, engine, MANY, 1)
    stack.callback(env.close)
    pilot = None if policy is None else baselines.get(policy).make(env)
    return contestant(case, Vector(env, policy=pilot).run, flight, engine, MANY, 1)


def policies(scope: Scope, engines: Sequence[str]) -> Rows:
    """Measure the native vector environment with a learned policy (NumPy) and without."""
    setup = ENTRIES["Track"].id, baselines.get(POLICY).interface(ENTRIES["Track"])
    flight = record(*setup)
    with ExitStack() as stack:
        contestants = _yardsticks(flight, (1,))
        for engine in engines:
            for policy in (None, POLICY):
                what = "no policy" if policy is None else f"policy {policy}"
                case = f"{native_case(MANY, 1)}, {what}"
                contestants.append(_native(stack, setup, engine, flight, case, policy))
        return race("policy", contestants, scope.protocol)


def interfaces(scope: Scope, engines: Sequence[str]) -> Rows:
    """Measure every legal action interface, 64 simulations on one thread."""
    rows = []
    for setup in _setups(scope):
        flight = record(*setup)
        what = f"{setup[1]['rotor_action']} / {setup[1]['tendon_action']}"
        with ExitStack() as stack:
            contestants = _yardsticks(flight, (1,))
            for engine in engines:
                contestants.append(_native(stack, setup, engine, flight, what))
            found = race(f"interface {what}", contestants, scope.protocol)
        rows += [{**row, "part": "interface"} for row in found if row["against"]]
    return rows


def _setups(scope: Scope) -> Iterator[Setup]:
    track, clamped = ENTRIES["Track"], ENTRIES["ArmBend"]
    for rotor in track.rotor_actions[: scope.rotor_actions]:
        for tendon in track.tendon_actions:
            yield track.id, {"rotor_action": rotor, "tendon_action": tendon}
    for tendon in clamped.tendon_actions:
        yield CLAMPED[0], {**CLAMPED[1], "tendon_action": tendon}


def fits(rows: Rows) -> dict[str, dict[str, float]]:
    """Return by engine the line through the time of a physics step, us, over the links."""
    result = {}
    found = [row for row in rows if row["part"] == "links" and row["speed"]]
    for engine in dict.fromkeys(row["engine"] for row in found):
        own = [row for row in found if row["engine"] == engine]
        x = np.array([row["links"] for row in own], float)
        y = np.array([row["us"]["median"] / row["substeps"] for row in own])
        slope, intercept = np.polyfit(x, y, 1).tolist()
        rest = y - (intercept + slope * x)
        spread = y - y.mean()
        result[engine] = {
            "slope": slope,
            "intercept": intercept,
            "r_squared": float(1.0 - rest @ rest / (spread @ spread)),
        }
    return result

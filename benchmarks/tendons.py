"""What the tendon layer adds to a step: `TendonWorld.step` against `mj_step` of the same model.

Both start from the same states, in turns, with the same scene: the vehicle with its tendons made
anew by the layer, or a hoist, whose steps are cheap. The drives have come to their commands, so
that MuJoCo alone has the same controls. Limits act in a good part of the steps, which the table
tells; MuJoCo alone has limits of its own, which are active about as often. A call takes as many
steps as a policy at 50 Hz does between its actions.

    python benchmarks/tendons.py --out out/bench/tendons.json
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import tyro

from tendon_gym.model import build_spec, preset
from tendon_gym.tendons import Drive, Properties, Site, TendonWorld, Via, cylinder, via

INTEGRATORS = {
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "discrete": mujoco.mjtIntegrator.mjINT_DISCRETE,
}
LIMITS = ("predictive", "native")
BARS = {"no limits": 1.02, "3 limits": 1.25}
"""The most that a step with the layer may cost, as a multiple of MuJoCo's own."""


@dataclass(frozen=True)
class Options:
    """How much to measure, and where to write it."""

    rounds: int = 40
    """Interleaved rounds; the medians of their ratios are reported."""
    calls: int = 30
    """Calls per round, from one start."""
    steps: int = 10
    """Steps per call."""
    out: Path = Path("out/bench/tendons.json")
    """Results as JSON; an older file is replaced."""


def vehicle(integrator: str, limits: str) -> TendonWorld:
    """Return a world with the default vehicle, its three tendons driven and made by the layer."""
    parameters = preset("default")
    spec = build_spec(parameters)
    spec.option.integrator = INTEGRATORS[integrator]
    count, links = parameters.tendons.n_tendons, parameters.arm.n_links
    for i in range(1, count + 1):
        spec.delete(spec.actuator(f"tendon_{i}"))
        spec.delete(spec.tendon(f"tendon_{i}"))
    world = TendonWorld(spec, limits=limits)
    for i in range(1, count + 1):
        names = [f"anchor_{i}", *(f"via_{k}_{i}" for k in range(1, links + 1))]
        route = [Via(Site(name, kind="site")) for name in names]
        tendon = world.add_spatial_tendon(f"tendon_{i}", route)
        tendon.drive = Drive(force=-0.5 * i, activation_time=0.05)
    return world


def hoist(integrator: str, limits: str) -> TendonWorld:
    """Return a world with three loads on driven cables over one drum."""
    spec = mujoco.MjSpec()
    spec.option.integrator = INTEGRATORS[integrator]
    for k in range(3):
        load = spec.worldbody.add_body(name=f"load_{k}", pos=[0.3, 0.2 * k, 1.0])
        load.add_freejoint()
        load.add_geom(size=[0.05, 0, 0], contype=0, conaffinity=0)
    world = TendonWorld(spec, limits=limits)
    for k in range(3):
        drum = cylinder(None, 0.2, (0, 1, 0), position=(0, 0.2 * k, 2), side=Site(None, (0, 0, 9)))
        path = [via(None, (-0.3, 0.2 * k, 1)), drum, via(f"load_{k}")]
        tendon = world.add_spatial_tendon(f"cable_{k}", path)
        tendon.drive = Drive(force=-0.2, activation_time=0.05)
    return world


WORLDS: dict[str, Callable[[str, str], TendonWorld]] = {"vehicle": vehicle, "hoist": hoist}


def limit(world: TendonWorld) -> None:
    """Give three tendons limits just around their present lengths."""
    for tendon in world.tendons[:3]:
        length = tendon.length
        tendon.properties = Properties(lower_limit=0.995 * length, upper_limit=1.005 * length)


def timed(step: Callable[[], None], options: Options) -> float:
    """Return the microseconds of a step."""
    begin = time.perf_counter()
    for _ in range(options.calls):
        step()
    return 1e6 * (time.perf_counter() - begin) / (options.calls * options.steps)


def measure(layer: TendonWorld, alone: TendonWorld, options: Options) -> dict[str, Any]:
    """Return medians of both, of their ratio within each round, and how often a limit acts."""
    starts = {"layer": layer.get_state(), "mujoco": alone.get_state()}
    model, data, steps = alone.model, alone.data, options.steps
    ways = {
        "layer": lambda: layer.step(steps),
        "mujoco": lambda: mujoco.mj_step(model, data, steps),
    }
    acting = count_acting(layer, options.calls * steps)
    rounds = []
    for k in range(options.rounds):
        pair: dict[str, float] = {}
        for name in ("layer", "mujoco") if k % 2 else ("mujoco", "layer"):
            (layer if name == "layer" else alone).set_state(starts[name])
            pair[name] = timed(ways[name], options)
        rounds.append((pair["layer"], pair["mujoco"], pair["layer"] / pair["mujoco"]))
    medians = np.median(np.array(rounds), axis=0)
    quartiles = np.percentile([each[2] for each in rounds], (25, 75))
    return {
        "layer_us": float(medians[0]),
        "mujoco_us": float(medians[1]),
        "ratio": float(medians[2]),
        "quartiles": quartiles.tolist(),
        "acting": acting,
    }


def count_acting(world: TendonWorld, steps: int) -> float:
    """Return the share of the steps in which a limit has a force."""
    count = 0
    for _ in range(steps):
        world.step()
        count += bool(np.any(world.forces.limit))
    return count / steps


def moving(name: str, integrator: str, limited: bool, limits: str) -> TendonWorld:
    """Return a world that moves, with limits or without."""
    world = WORLDS[name](integrator, limits)
    if limited:
        limit(world)
    for tendon in world.tendons:
        tendon.activation = tendon.drive.force
    world.step()  # writes the controls
    world.data.qvel[:] += np.random.default_rng(0).normal(scale=0.1, size=world.model.nv)
    return world


def main() -> None:
    """Measure, print the table, and write the results."""
    options = tyro.cli(Options)
    results = []
    for name, integrator, limits in itertools.product(WORLDS, INTEGRATORS, BARS):
        pair = [moving(name, integrator, "no" not in limits, way) for way in LIMITS]
        labels = {"world": name, "integrator": integrator, "limits": limits}
        row = {**labels, **measure(pair[0], pair[1], options), "bar": BARS[limits]}
        results.append(row)
        print(
            f"{name:8} {integrator:9} {limits:10} {row['mujoco_us']:7.2f} us -> "
            f"{row['layer_us']:7.2f} us: x {row['ratio']:.3f} (at most {row['bar']}), "
            f"a limit acts in {100 * row['acting']:.0f} %"
        )
    versions = {name: version(name) for name in ("mujoco", "numpy", "numba")}
    record = {"options": {**asdict(options), "out": str(options.out)}, "versions": versions}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**record, "results": results}, indent=2)
    options.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

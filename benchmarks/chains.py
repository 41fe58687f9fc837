"""What the dynamics of a seven-joint chain cost, beside Pinocchio's Python binding.

The arm is Franka's Panda, out of the package example-robot-data, its fingers locked. Both read the
same URDF, and must agree before they are timed. Every figure is a ratio from one interleaved run:
a call of ours over a call of Pinocchio's, and one call of ours for a batch over as many calls of
Pinocchio's, whose binding has none for batches. Inverse kinematics has no rival here: it is
measured by itself, for random poses within the joints' limits.

    python benchmarks/chains.py --out out/bench/chains.json
"""

from __future__ import annotations

import functools
import importlib.metadata
import json
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import tyro
from numpy.typing import NDArray

from tendon_gym.chains import Chain, InverseKinematics

Call = Callable[..., NDArray]
TIP = "panda_hand"
BESIDE = 0.05
"""How far the near guesses for inverse kinematics are away, rad."""


@dataclass(frozen=True)
class Options:
    """How much to measure, and where to write it."""

    rounds: int = 40
    """Interleaved rounds; the medians of their ratios are reported."""
    calls: int = 2000
    """Calls per round and side."""
    batch: int = 1024
    """States of a batch."""
    out: Path = Path("out/bench/chains.json")
    """Results as JSON; an older file is replaced."""


def panda() -> str:
    """Return Panda's URDF without shapes, so that no mesh is read."""
    files = importlib.metadata.files("example-robot-data") or []
    path = next(file for file in files if str(file).endswith("urdf/panda.urdf"))
    root = ET.fromstring(Path(str(path.locate())).read_text(encoding="utf-8"))
    for link in root.iter("link"):
        for shape in (*link.findall("visual"), *link.findall("collision")):
            link.remove(shape)
    ET.SubElement(ET.SubElement(root, "mujoco"), "compiler", {"fusestatic": "false"})
    return ET.tostring(root, encoding="unicode")


def cases(urdf: str, chain: Chain) -> dict[str, tuple[Call, Call, int]]:
    """Return by name: our call, Pinocchio's, and how many of q, v and a they take."""
    whole = pinocchio.buildModelFromXML(urdf)
    fingers = [k for k in range(1, whole.njoints) if whole.names[k] not in chain.joint_names]
    model = pinocchio.buildReducedModel(whole, fingers, pinocchio.neutral(whole))
    data = model.createData()
    tip, axes = model.getFrameId(TIP), pinocchio.LOCAL_WORLD_ALIGNED

    def pose(q: NDArray) -> NDArray:
        pinocchio.framesForwardKinematics(model, data, q)
        return data.oMf[tip].translation

    def of(function: Call) -> Call:
        return functools.partial(function, model, data)

    return {
        "gravity": (chain.gravity, of(pinocchio.computeGeneralizedGravity), 1),
        "mass matrix": (chain.mass_matrix, of(pinocchio.crba), 1),
        "Jacobian": (  # theirs ends with constants, so both are wrapped
            lambda q: chain.jacobian(q),
            lambda q: pinocchio.computeFrameJacobian(model, data, q, tip, axes),
            1,
        ),
        "inverse dynamics": (chain.inverse_dynamics, of(pinocchio.rnea), 3),
        "bias": (chain.bias, of(pinocchio.nonLinearEffects), 2),
        "Coriolis matrix": (chain.coriolis, of(pinocchio.computeCoriolisMatrix), 2),
        "forward dynamics": (chain.forward_dynamics, of(pinocchio.aba), 3),
        "pose": (lambda q: chain.forward_kinematics(q).position, pose, 1),
    }


def check(name: str, ours: Call, theirs: Call, states: NDArray) -> None:
    """Raise if the two don't agree in the first state."""
    mine, other = ours(*states[:, 0]), np.array(theirs(*states[:, 0]))
    if name == "mass matrix":  # Pinocchio fills the upper triangle only
        other = np.triu(other) + np.triu(other, 1).T
    np.testing.assert_allclose(mine, other, atol=1e-8 * max(1.0, np.abs(other).max()))


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call: what else runs on the machine does not count."""
    begin = time.thread_time()
    call()
    return time.thread_time() - begin


def one_by_one(call: Call, rows: list[tuple[NDArray, ...]]) -> None:
    """Call for each state."""
    for row in rows:
        call(*row)


def measure(ours: Call, theirs: Call, count: int, options: Options) -> dict[str, float]:
    """Return us per state, one by one and in a batch, and medians and quartiles of the ratios."""
    rng = np.random.default_rng(0)
    states = rng.uniform(-1, 1, (count, options.batch, 7))
    rows = [tuple(np.ascontiguousarray(states[:, k])) for k in range(options.batch)]
    repeats = max(1, options.calls // options.batch)
    taken = np.empty((options.rounds, 3))
    for call in (ours, theirs):
        one_by_one(call, rows)
    ours(*states)
    for round_ in range(options.rounds):
        for side, run in enumerate(
            (
                lambda: one_by_one(ours, rows),
                lambda: one_by_one(theirs, rows),
                lambda: ours(*states),
            )
        ):
            taken[round_, side] = sum(seconds(run) for _ in range(repeats))
    result = dict(
        zip(
            ("ours_us", "pinocchio_us", "batch_us"),
            (np.median(taken, axis=0) / repeats / options.batch * 1e6).tolist(),
            strict=True,
        )
    )
    for name, side in (("ratio", 0), ("batch_ratio", 2)):
        low, middle, high = np.percentile(taken[:, side] / taken[:, 1], [25, 50, 75]).tolist()
        result |= {name: middle, f"{name}_25": low, f"{name}_75": high}
    return result


def measure_inverse(chain: Chain, options: Options) -> dict[str, dict[str, float]]:
    """Return by guess what inverse kinematics costs for random poses, and how many it reaches."""
    rng, inverse = np.random.default_rng(2), InverseKinematics(chain)
    low, high = np.array(chain.joint_limits).T
    q = rng.uniform(low, high, (options.batch, chain.n_joints))
    pose = chain.forward_kinematics(q)
    guesses = {
        f"{BESIDE} rad away": q + rng.uniform(-BESIDE, BESIDE, q.shape),
        "the middle of the ranges": np.tile(0.5 * (low + high), (len(q), 1)),
    }
    result = {}
    for name, guess in guesses.items():
        rows = list(zip(pose.position, pose.rotation, guess, strict=True))[:100]

        def batch(guess: NDArray = guess) -> None:
            inverse.solve(pose.position, pose.rotation, guess=guess)

        def single(rows: list[tuple[NDArray, NDArray, NDArray]] = rows) -> None:
            for position, rotation, start in rows:
                inverse.solve(position, rotation, guess=start)

        found = inverse.solve(pose.position, pose.rotation, guess=guess)
        repeats = max(1, options.rounds // 8)
        many = float(np.median([seconds(batch) for _ in range(repeats)])) / len(q)
        one = float(np.median([seconds(single) for _ in range(repeats)])) / len(rows)
        iterations = float(found.iterations.mean())
        result[name] = {
            "batch_us": 1e6 * many,
            "single_us": 1e6 * one,
            "iterations": iterations,
            "iteration_us": 1e6 * many / iterations,
            "reached": float(found.reached.mean()),
        }
    return result


def main(options: Options) -> None:
    """Measure every case, show the tables, and write the JSON."""
    table, urdf = {}, panda()
    chain = Chain.from_model(mujoco.MjModel.from_xml_string(urdf), "world", TIP, branches=True)
    for name, (ours, theirs, count) in cases(urdf, chain).items():
        check(name, ours, theirs, np.random.default_rng(1).uniform(-1, 1, (count, 1, 7)))
        table[name] = measure(ours, theirs, count, options)
    packages = ("tendon-gym", "mujoco", "numpy", "numba", "pin")
    inverse = measure_inverse(chain, options)
    result = {
        "cases": table,
        "inverse_kinematics": inverse,
        "options": {**asdict(options), "out": str(options.out)},
        "versions": {name: importlib.metadata.version(name) for name in packages},
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    print("| call | ours, us | Pinocchio, us | ratio | in a batch, us | ratio |")
    print("|---|---|---|---|---|---|")
    for name, row in table.items():
        one = f"{row['ratio']:.2f} ({row['ratio_25']:.2f} to {row['ratio_75']:.2f})"
        many = f"{row['batch_ratio']:.2f} ({row['batch_ratio_25']:.2f} to "
        many += f"{row['batch_ratio_75']:.2f})"
        us = [f"{row[key]:.2f}" for key in ("ours_us", "pinocchio_us", "batch_us")]
        print(f"| {name} | {us[0]} | {us[1]} | {one} | {us[2]} | {many} |")
    print("\n| poses from | in a batch, us | alone, us | iterations | us each | reached |")
    print("|---|---|---|---|---|---|")
    for name, row in inverse.items():
        us = [f"{row[key]:.1f}" for key in ("batch_us", "single_us", "iterations", "iteration_us")]
        print(f"| {name} | {' | '.join(us)} | {row['reached']:.1%} |")
    print(f"written to {options.out}")


if __name__ == "__main__":
    main(tyro.cli(Options))

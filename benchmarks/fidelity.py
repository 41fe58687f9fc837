"""How near the arm in links is to the rod that it stands for: rest shapes and natural frequencies.

The rod is PyElastica's, linearised (`cosserat_rod.py`), extrapolated from two resolutions; without
gravity the Euler-Bernoulli cantilever stands beside it. Arms of both discretisations, from 6 to 48
links, are compared with it. Nothing is timed; the numbers are the same on every machine.

    python benchmarks/fidelity.py

writes fidelity.json and fidelity.png to benchmarks/results and the table to docs/fidelity.md.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import mujoco
import numpy as np
import tyro
from cosserat_rod import Loads, PlanarRod
from numpy.typing import NDArray
from scipy.optimize import brentq, root

from tendon_gym.chains import SoftArm
from tendon_gym.evaluation.plots import figure, save
from tendon_gym.model import Arm, ModelParameters, build_model, modes

Array = NDArray[np.float64]
Kind = Literal["chain", "consistent"]
KINDS: tuple[Kind, ...] = ("chain", "consistent")
LINKS = (6, 12, 18, 24, 36, 48)
ELEMENTS = (96, 192)
"""Two resolutions of the rod, the second twice the first."""
SHOWN = 3
"""Modes that are compared."""
GRAVITY = 9.81
CASES = {"hanging": GRAVITY, "no gravity": 0.0}
"""The gravity at which modes are compared, m/s^2."""
SIDEWAYS = 0.5
"""Force at the tip of the hanging arm, N: a quarter of its weight."""
MARKS = np.arange(1, 7) / 6.0
"""Where shapes are compared: fractions of the rod that end links of every arm here."""
BEGIN, END = "<!-- fidelity: begin -->", "<!-- fidelity: end -->"


@dataclass(frozen=True)
class Options:
    """Where the results go."""

    out: Path = Path("benchmarks/results")
    """Folder of fidelity.json and fidelity.png."""
    page: Path = Path("docs/fidelity.md")
    """The page whose table is replaced."""


@dataclass(frozen=True)
class Static:
    """A case at rest: the direction of the straight arm is that of gravity or across it.

    Attributes:
        across: whether gravity pulls across the straight arm.
        force: at the tip, across the straight arm, N.
    """

    across: bool
    force: float


STATICS = {"horizontal": Static(True, 0.0), "tip force": Static(False, SIDEWAYS)}


def richardson(coarse: Array, fine: Array) -> Array:
    """Return what second-order results at one resolution and at twice that one tend to."""
    return fine + (fine - coarse) / 3.0


def rod_frequencies(arm: Arm, gravity: float, count: int = SHOWN) -> Array:
    """Return the hanging rod's first frequencies, Hz."""
    return richardson(
        *(PlanarRod(arm, n, (0.0, 0.0, -1.0)).frequencies(Loads(gravity), count) for n in ELEMENTS)
    )


def rod_shape(arm: Arm, case: Static) -> Array:
    """Return where the rod's marks and, last, its tip are: along and across the straight rod, m."""
    marks = np.append(MARKS * arm.length, arm.length + arm.tip_offset)
    sides = []
    for elements in ELEMENTS:
        direction = (1.0, 0.0, 0.0) if case.across else (0.0, 0.0, -1.0)
        rod = PlanarRod(arm, elements, direction)
        rod.rest(Loads(GRAVITY, np.array([case.force, 0.0, 0.0])), steps=4)
        x, z = rod.places(marks).T
        sides.append(np.stack([x, -z] if case.across else [-z, x], axis=1))
    return richardson(*sides)


def arm_frequencies(arm: Arm, gravity: float, count: int = SHOWN) -> Array:
    """Return the first frequencies of a clamped arm in one plane, Hz."""
    model = build_model(ModelParameters(arm=arm, base="clamped"))
    model.opt.gravity[2] = -gravity
    return modes(model).frequencies[: 2 * count : 2]


def arm_shape(arm: Arm, case: Static) -> Array:
    """Return where the arm's marks and, last, its tip are: along and across the straight arm, m."""
    model = build_model(ModelParameters(arm=arm, base="clamped"))
    bends = SoftArm(model, "base", "tip", [])
    q = np.zeros(bends.n_joints)
    for share in np.linspace(0.0, 1.0, 21)[1:]:
        model.opt.gravity[:] = (share * GRAVITY, 0, 0) if case.across else (0, 0, -GRAVITY)
        push = np.array([share * case.force, 0.0, 0.0])

        def missing(bend: Array, push: Array = push) -> Array:
            angles = np.zeros(bends.n_joints)
            angles[1::2] = bend
            slope = bends.energy_slope(angles, []) - push @ bends.tip_jacobian(angles)[:3]
            return slope[1::2]

        found = root(missing, q[1::2], tol=1e-12)
        if np.abs(missing(found.x)).max() > 1e-9:
            raise RuntimeError(f"the arm of {arm.n_links} links finds no rest: {found.message}")
        q[1::2] = found.x
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    ends = [model.site(f"via_{round(s * arm.n_links)}_1").id for s in MARKS]
    radius = model.site("via_1_1").pos[0]
    axes = data.site_xmat[ends].reshape(-1, 3, 3)
    places = [data.site_xpos[ends] - radius * axes[:, :, 0], data.site("tip").xpos[None]]
    x, _, z = (np.concatenate(places) - data.body("base").xpos).T
    return np.stack([-z - arm.flange_offset, x], axis=1)


def cantilever(arm: Arm, count: int = SHOWN) -> Array:
    """Return an Euler-Bernoulli cantilever's frequencies with a rigid sphere at its end, Hz.

    w = A (cosh - cos) + B (sinh - sin) of b s; at the end the sphere of mass M and inertia I, its
    centre a distance c ahead, is carried: EI w''' = -W^2 M (w + c w') and
    EI w'' = W^2 (I w' + c M (w + c w')), W = b^2 (EI / m)^(1/2), m the mass per length.
    """
    stiffness, per_length = arm.bending_stiffness, arm.mass / arm.length
    heavy, ahead = arm.tip_mass, arm.tip_offset
    inertia = 0.4 * heavy * arm.tip_radius**2

    def condition(b: float) -> float:
        square = b**4 * stiffness / per_length
        x = b * arm.length
        big, small = 1.0 / math.cosh(x), math.tanh(x)
        c, s = math.cos(x) * big, math.sin(x) * big
        pairs = ((1 - c, small + s, 1 + c, small - s), (small - s, 1 - c, small + s, 1 + c))
        rows = []
        for w, dw, ddw, dddw in pairs:
            moved = w + ahead * b * dw
            shear = stiffness * b**3 * dddw + square * heavy * moved
            moment = stiffness * b**2 * ddw - square * (inertia * b * dw + ahead * heavy * moved)
            rows.append((shear / stiffness / b**3, moment / stiffness / b**2))
        return rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]

    grid = np.linspace(0.1, 4.0 * (count + 1), 4000) / arm.length
    signs = np.sign([condition(float(b)) for b in grid])
    changes = np.flatnonzero(np.diff(signs))[:count]
    roots = np.array([brentq(condition, *grid[k : k + 2], xtol=1e-12) for k in changes])
    return roots**2 * math.sqrt(stiffness / per_length) / (2.0 * math.pi)


def measure() -> dict[str, Any]:
    """Return the rod's and all arms' frequencies and shapes."""
    arm = Arm()
    result: dict[str, Any] = {
        "rod": {
            "frequencies": {name: rod_frequencies(arm, g).tolist() for name, g in CASES.items()},
            "cantilever": cantilever(arm).tolist(),
            "shapes": {name: rod_shape(arm, case).tolist() for name, case in STATICS.items()},
        }
    }
    for kind in KINDS:
        result[kind] = {}
        for n in LINKS:
            links = replace(arm, n_links=n, discretisation=kind)
            result[kind][str(n)] = {
                "frequencies": {
                    name: arm_frequencies(links, g).tolist() for name, g in CASES.items()
                },
                "shapes": {name: arm_shape(links, case).tolist() for name, case in STATICS.items()},
            }
    return result


def frequency_errors(result: dict[str, Any], kind: str, links: int, case: str) -> Array:
    """Return by how much an arm's frequencies differ from the rod's, in per cent, (SHOWN,)."""
    own = np.array(result[kind][str(links)]["frequencies"][case])
    return 100.0 * (own / np.array(result["rod"]["frequencies"][case]) - 1.0)


def shape_error(result: dict[str, Any], kind: str, links: int, case: str) -> float:
    """Return the largest distance of an arm's marks and tip from the rod's, mm."""
    own = np.array(result[kind][str(links)]["shapes"][case])
    away = own - np.array(result["rod"]["shapes"][case])
    return 1e3 * float(np.linalg.norm(away, axis=1).max())


def table(result: dict[str, Any]) -> str:
    """Return the results as a table in Markdown."""
    head = ["links", "", *(f"{case}: modes 1, 2, 3, %" for case in CASES)]
    head += [f"{case}: farthest point, mm" for case in STATICS]
    rows = [head, ["---"] * len(head)]
    for kind in KINDS:
        for n in LINKS:
            row = [str(n), f"`{kind}`"]
            for case in CASES:
                errors = frequency_errors(result, kind, n, case)
                row.append(", ".join(f"{error:+.2f}" for error in errors))
            row += [f"{shape_error(result, kind, n, case):.2f}" for case in STATICS]
            rows.append(row)
    rod = result["rod"]["frequencies"]
    last = ["rod", "Hz", *(", ".join(f"{f:.4f}" for f in rod[case]) for case in CASES)]
    rows.append(last + [""] * len(STATICS))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def plot(result: dict[str, Any], path: Path) -> None:
    """Show the errors over the number of links."""
    picture = figure(11.0, 4.0)
    panels = [(case, True) for case in CASES] + [("shapes at rest", False)]
    for column, (name, frequencies) in enumerate(panels, start=1):
        axes = picture.add_subplot(1, len(panels), column)
        for kind, style in zip(KINDS, ("o-", "s--"), strict=True):
            if frequencies:
                errors = np.abs([frequency_errors(result, kind, n, name) for n in LINKS])
                labels = [f"{kind}, mode {k + 1}" for k in range(SHOWN)]
            else:
                errors = np.array(
                    [[shape_error(result, kind, n, c) for c in STATICS] for n in LINKS]
                )
                labels = [f"{kind}, {case}" for case in STATICS]
            for k, label in enumerate(labels):
                axes.loglog(LINKS, errors[:, k], style, color=f"C{k}", label=label, markersize=4)
        if frequencies:
            axes.axhline(5.0, color="black", linewidth=0.8, linestyle=":")
        axes.set_xticks(LINKS, [str(n) for n in LINKS])
        axes.minorticks_off()
        axes.set_title(name)
        axes.set_xlabel("links")
        axes.set_ylabel("error of the frequency, %" if frequencies else "farthest point, mm")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    save(picture, path)


def main(options: Options) -> None:
    """Measure everything and write it down."""
    result = measure()
    options.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1) + "\n"
    (options.out / "fidelity.json").write_text(text, encoding="utf-8")
    plot(result, options.out / "fidelity.png")
    page = options.page.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    options.page.write_text(f"{before}{BEGIN}\n{table(result)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))

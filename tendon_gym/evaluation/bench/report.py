"""Results of the benchmark as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- speed: begin -->", "<!-- speed: end -->"
"""Marks in a README between which the summary stands."""

SUMMARY = (
    ("engine alone", "engine alone, "),
    ("held actions", "scalar"),
    ("law at every 2 ms", ""),
    ("native", "native, 64 envs"),
    ("native", "native, 1024 envs"),
    ("policy", "native, 64 envs, 1 thread, policy"),
    ("learning", "SB3 PPO"),
    ("mission", ""),
)
"""Parts, and the beginnings of the cases, that a README shows."""

Result = Mapping[str, Any]
Row = Mapping[str, Any]


def full(result: Result) -> str:
    """Return everything: a table for every part, fits, phases, memory and requirements."""
    parts = list(dict.fromkeys(row["part"] for row in result["rows"]))
    lines = ["# What a step costs", "", *_about(result)]
    for part in parts:
        rows = [row for row in result["rows"] if row["part"] == part]
        lines += ["", f"## {part}", "", *_table(rows, result["engines"])]
    for title, made in (
        ("Time of a physics step over the links", _fits(result)),
        ("Phases of a step, us per simulation", _phases(result)),
        ("Memory", _memory(result)),
        ("Requirements", _requirements(result)),
    ):
        body = list(made)
        if len(body) > 2:
            lines += ["", f"## {title}", "", *body]
    return "\n".join(lines) + "\n"


def summary(result: Result) -> str:
    """Return the table that a README shows."""
    rows = [
        row
        for part, beginning in SUMMARY
        for row in result["rows"]
        if row["part"] == part and row["case"].startswith(beginning) and row["speed"]
    ]
    return "\n".join([*_table(rows, result["engines"], parts=True), "", *_about(result)]) + "\n"


def split_readme(readme: Path) -> tuple[str, str]:
    """Return what stands before and after the summary in a README.

    Raises:
        ValueError: it has no marks.
    """
    before, begin, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{readme} must have the lines {BEGIN} and {END}")
    return before, after


def write_summary(result: Result, readme: Path) -> None:
    """Put the summary between the marks of a README; see `split_readme`."""
    before, after = split_readme(readme)
    readme.write_text(f"{before}{BEGIN}\n{summary(result)}{END}{after}", encoding="utf-8")


def _about(result: Result) -> list[str]:
    machine, versions, protocol = result["machine"], result["versions"], result["protocol"]
    usable = len(machine["affinity"] or []) or machine["cores"]
    return [
        f"Medians (quartiles) of {protocol['rounds']} interleaved rounds; *x bare*: speed over "
        "bare `mj_step` (Euler, 2 ms)",
        "of the same states and threads, taken within each round. "
        f"{machine['processor']}, {usable} of {machine['cores']} cores;",
        f"MuJoCo {versions['mujoco']}, NumPy {versions['numpy']}, Numba {versions['numba']}, "
        f"Python {versions['python']}.",
    ]


def _table(rows: Sequence[Row], engines: Sequence[str], parts: bool = False) -> list[str]:
    """Return rows with the engines side by side."""
    titles = ["case", "envs", "threads"]
    for engine in engines:
        titles += [f"`{engine}`: steps/s", "us", "x bare"]
    lines = [_line(titles), _line(["---"] * len(titles))]
    cases: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        label = f"{row['part']}: {row['case']}" if parts and _tells(row) else row["case"]
        if "links" in row:
            label = f"{row['links']} links, {label}"
        key = label, row["num_envs"], row["threads"]
        cases.setdefault(key, {})[row["engine"]] = row
    for (label, envs, threads), found in cases.items():
        cells = [label, str(envs), str(threads)]
        for engine in engines:
            cells += _cells(found.get(engine))
        lines.append(_line(cells))
    return lines


def _tells(row: Row) -> bool:
    """Say whether the name of the part adds something to that of the case."""
    return row["part"] not in ("engine alone", "policy", "learning")


def _cells(row: Row | None) -> list[str]:
    if row is None:
        return ["", "", ""]
    speed = "" if row["speed"] is None else _spread(row["speed"])
    return [f"{row['env_steps_per_second']:,.0f}", f"{row['us']['median']:.3g}", speed]


def _spread(values: Mapping[str, float]) -> str:
    return f"{values['median']:.3g} ({values['low']:.3g} to {values['high']:.3g})"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _fits(result: Result) -> Iterator[str]:
    yield _line(["engine", "us at 0 links", "us per link", "R²"])
    yield _line(["---"] * 4)
    for engine, fit in result["fits"].items():
        values = (f"{fit[name]:.3g}" for name in ("intercept", "slope"))
        yield _line([engine, *values, f"{fit['r_squared']:.4f}"])


def _phases(result: Result) -> Iterator[str]:
    names = list(result["phases"][0]["us"]) if result["phases"] else []
    yield _line(["case", *names, "sum", "total", "sum / total"])
    yield _line(["---"] * (len(names) + 4))
    for each in result["phases"]:
        total = each["total_us"]
        cells = [f"{each['us'][name]:.2f}" for name in names]
        cells += [f"{sum(each['us'].values()):.2f}", f"{total:.2f}"]
        yield _line([each["name"], *cells, f"{each['sum_over_total']:.3f}"])


def _memory(result: Result) -> Iterator[str]:
    yield _line(["engine", "kB per simulation", "kB with its environment", "growth, kB"])
    yield _line(["---"] * 4)
    for engine, found in result["memory"].items():
        growth = (
            f"{found['growth_over_steps'] / 1e3:.0f} over {found['steps']:,} steps, "
            f"{found['growth_over_resets'] / 1e3:.0f} over {found['resets']:,} resets"
        )
        sizes = (f"{found[f'{name}_bytes'] / 1e3:.1f}" for name in ("engine", "environment"))
        yield _line([engine, *sizes, growth])


def _requirements(result: Result) -> Iterator[str]:
    yield _line(["what", "measured", "must", "aim", "holds"])
    yield _line(["---"] * 5)
    for each in result["requirements"]:
        aim = "" if each["aim"] is None else f"{each['aim']:.3g}"
        numbers = (f"{each[name]:.3g}" for name in ("value", "must"))
        yield _line([each["name"], *numbers, aim, "yes" if each["holds"] else "**no**"])

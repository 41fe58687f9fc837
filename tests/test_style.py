"""The rules that no linter knows: sizes, prints, the direction of imports, a light first import."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent
PACKAGE = CHECKOUT / "tendon_gym"
SOURCES = sorted(PACKAGE.rglob("*.py"))
LINES_OF_A_FILE = 400
LINES_OF_A_FUNCTION = 50

# A module may import from its own package and from the layers below it, and from no other.
LAYERS = (
    {"__main__"},
    {"cli"},
    {"evaluation", "identification", "training"},
    {"baselines", "sb3"},
    {"envs", "benchmarks"},
    {"engines", "rewards"},
    {"model", "control", "forces"},
    {"references"},
    {"tendons", "cables", "chains"},
    {"registration", "spatial", "boxes", "config", "assets", "folders", "noise"},
    {"compiled", "checks"},
)
LAYER = {name: level for level, names in enumerate(LAYERS) for name in names}

# `import tendon_gym` registers environments; what they need is imported when one is made.
HEAVY = (
    "OpenGL",
    "imageio",
    "matplotlib",
    "mujoco",
    "numba",
    "scipy",
    "stable_baselines3",
    "torch",
    "tyro",
)

# Places of the machine that a file was written on, and hosts that only an installer needs. The
# brackets keep this pattern from finding itself.
FOREIGN = re.compile(
    r"(?<![\w.])/wor[k]\b|\.\./share[d]\b|/roo[t]/|\bfile:/[/]"
    r"|pypi[.]org|pythonhosted[.]org|deb[.]debian[.]org|registry[.]npmjs[.]org"
    r"|--(extra-)?index-ur[l]|--find-link[s]|--trusted-hos[t]"
)


def tree(source: Path) -> ast.Module:
    return ast.parse(source.read_text(encoding="utf-8"), str(source))


def label(source: Path) -> str:
    return str(source.relative_to(PACKAGE))


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of lines of a function, its docstring left out."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    if ast.get_docstring(function, clean=False) is None:
        return lines
    docstring = function.body[0]
    return lines - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def imports(source: Path) -> Iterator[str]:
    """Yield what a file imports from this package, as dotted names below tendon_gym."""
    folder = ("tendon_gym", *source.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(tree(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name.partition(".")[2] for name in names if name.startswith("tendon_gym."))


def unit(name: str) -> str:
    """Return the top-level module or package of the package that a file or a name belongs to."""
    return name.partition(".")[0]


@pytest.mark.parametrize("source", SOURCES, ids=label)
def test_files_and_functions_are_short(source):
    assert len(source.read_text(encoding="utf-8").splitlines()) < LINES_OF_A_FILE
    functions = [
        node
        for node in ast.walk(tree(source))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    long = {node.name: length(node) for node in functions if length(node) >= LINES_OF_A_FUNCTION}
    assert not long


@pytest.mark.parametrize("source", SOURCES, ids=label)
def test_only_the_command_line_prints(source):
    if unit(source.relative_to(PACKAGE).with_suffix("").parts[0]) == "cli":
        return
    calls = [
        node.lineno
        for node in ast.walk(tree(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("print", "breakpoint")
    ]
    assert not calls


@pytest.mark.parametrize("source", SOURCES, ids=label)
def test_imports_run_downwards_only(source):
    own = source.relative_to(PACKAGE).with_suffix("").parts[0]
    if own == "__init__":
        return
    assert own in LAYER, f"give {own} a place in LAYERS"
    others = [name for name in imports(source) if unit(name) not in (own, "__version__")]
    assert not [name for name in others if LAYER.get(unit(name), -1) <= LAYER[own]]


def test_every_package_is_a_regular_one():
    """A folder without __init__.py would be a namespace, open to any other distribution."""
    folders = {source.parent for source in SOURCES} | {PACKAGE}
    assert not [str(folder) for folder in folders if not (folder / "__init__.py").is_file()]


def test_importing_the_package_is_light():
    code = "import sys, tendon_gym; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "tendon_gym" in loaded
    assert not loaded & set(HEAVY)


def test_no_file_names_a_foreign_place():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    found = []
    for name in filter(None, listed.stdout.split("\0")):
        try:
            text = (CHECKOUT / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):  # a binary file, or one just removed
            continue
        lines = enumerate(text.splitlines(), start=1)
        found += [f"{name}:{k}: {line[:100]}" for k, line in lines if FOREIGN.search(line)]
    assert not found

"""Compiled functions compute what plain ones do, and their cache never serves old sources."""

from __future__ import annotations

import ast
import importlib
import logging
import os
import pkgutil
import re
import subprocess
import sys
import typing
from pathlib import Path

import numba
import numpy as np
import pytest

from tendon_gym import compiled as module
from tendon_gym.compiled import compiled

PACKAGE = Path(module.__file__).parent
CHECKOUT = PACKAGE.parent
PROBE = """
import numpy as np
from tendon_gym.compiled import CACHE_FOLDER
from tendon_gym.spatial import dot
print(CACHE_FOLDER)
print(type(dot).__name__, dot(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])))
"""


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter with some environment variables changed."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    inherited.pop("XDG_CACHE_HOME", None)
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**inherited, **environment},
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in the place of the real one, for the cache's key."""
    sources = {
        "compiled.py": "# makes compiled functions\n",
        "control/laws.py": "from tendon_gym.compiled import compiled\nGAIN = 1.0\n",
        "cli.py": "# nothing of interest\n",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(module, "__file__", str(tmp_path / "compiled.py"))
    return tmp_path


def kernels():
    """Yield every kernel that counts no references, as (where it is, the plain function)."""
    for module_info in pkgutil.walk_packages([str(PACKAGE)], "tendon_gym."):
        owner = importlib.import_module(module_info.name)
        for name, value in vars(owner).items():
            plain = getattr(value, "py_func", None)
            own = plain is not None and plain.__module__ == owner.__name__
            if own and not value.targetoptions.get("_nrt"):
                yield f"{owner.__name__}.{name}", plain


def has_array(kind):
    """Say whether a type is an array, or a tuple with one in it."""
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "__annotations__"):
        return any(has_array(each) for each in typing.get_type_hints(kind).values())
    return "ndarray" in str(kind).lower() or any(map(has_array, typing.get_args(kind)))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="there are no kernels")
def test_kernels_return_no_arrays():
    """They count no references, so that an array that is returned would be let go twice."""
    found = dict(kernels())
    assert len(found) > 150
    for name, plain in found.items():
        assert "return" in plain.__annotations__, name
        said = typing.get_type_hints(plain)["return"]
        assert not has_array(said), f"{name} returns {said}"


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="there are no kernels")
def test_a_kernel_that_makes_an_array_is_refused():
    with pytest.raises(numba.core.errors.NumbaError, match="NRT required but not enabled"):
        compiled(lambda n: np.zeros(n).sum())(3)


def test_key_changes_with_the_sources_of_compiled_functions(package):
    keys = [module._cache_key()]
    laws = package / "control" / "laws.py"
    laws.write_text(laws.read_text().replace("1.0", "2.0"))
    keys.append(module._cache_key())
    laws.rename(laws.with_name("gains.py"))
    keys.append(module._cache_key())
    (package / "spatial.py").write_text("from tendon_gym.compiled import compiled\n")
    keys.append(module._cache_key())
    assert len(set(keys)) == len(keys)


def test_key_outlives_other_edits(package):
    key = module._cache_key()
    (package / "cli.py").write_text("# something else\n")
    assert module._cache_key() == key


@pytest.mark.parametrize(
    ("owner", "attribute"),
    [("numba", "__version__"), ("llvmlite", "__version__"), ("sys", "version")],
)
def test_key_changes_with_the_versions(package, monkeypatch, owner, attribute):
    key = module._cache_key()
    monkeypatch.setattr(sys.modules[owner], attribute, "0.0")
    assert module._cache_key() != key


def test_key_changes_with_the_processor(package, monkeypatch):
    key = module._cache_key()
    monkeypatch.setattr(module.llvmlite.binding, "get_host_cpu_name", lambda: "another")
    assert module._cache_key() != key


@pytest.mark.parametrize("theirs", ["", "/somebody/elses/cache"])
def test_numbas_own_cache_setting_is_put_back(monkeypatch, theirs):
    monkeypatch.setattr(numba.config, "CACHE_DIR", theirs)
    compiled(lambda x: x + 1.0)
    assert numba.config.CACHE_DIR == theirs


def test_numbas_own_cache_setting_is_put_back_after_a_failure(monkeypatch):
    def fail(**options):
        assert str(module.CACHE_FOLDER or "") == numba.config.CACHE_DIR
        raise RuntimeError("no compiler")

    monkeypatch.setattr(numba, "njit", fail)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "/somebody/elses/cache")
    with pytest.raises(RuntimeError, match="no compiler"):
        compiled(lambda x: x)
    assert numba.config.CACHE_DIR == "/somebody/elses/cache"


def test_machine_code_lands_in_the_named_folder(tmp_path):
    lines = run(PROBE, NUMBA_CACHE_DIR=str(tmp_path)).stdout.splitlines()
    folder = Path(lines[0])
    assert folder.parent == tmp_path / "tendon_gym"
    assert list(folder.rglob("*.nbc"))
    assert lines[1].endswith(" 32.0")


def test_cache_falls_back_to_the_users_folders(tmp_path):
    (tmp_path / "xdg").mkdir()
    lines = run(PROBE, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "xdg")).stdout.splitlines()
    assert Path(lines[0]).parent == tmp_path / "xdg" / "tendon_gym"
    lines = run(PROBE, HOME=str(tmp_path)).stdout.splitlines()
    assert Path(lines[0]).parent == tmp_path / ".cache" / "tendon_gym"


@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"])
def test_unwritable_folder_means_no_cache(tmp_path, variable):
    # A file in the place of a folder stops root too, whom permissions do not.
    blocked = tmp_path / "file"
    blocked.touch()
    before = {path: path.stat().st_mtime_ns for path in PACKAGE.rglob("__pycache__/*.nb?")}
    done = run(PROBE, **{variable: str(blocked)})
    after = {path: path.stat().st_mtime_ns for path in PACKAGE.rglob("__pycache__/*.nb?")}
    lines = done.stdout.splitlines()
    assert lines[0] == "None"
    assert lines[1].endswith(" 32.0")
    assert "no cache for compiled kernels" in done.stderr
    assert after == before


def test_plain_python_on_request(tmp_path):
    done = run(PROBE, NUMBA_DISABLE_JIT="1", NUMBA_CACHE_DIR=str(tmp_path))
    assert done.stdout.splitlines()[1] == "function 32.0"
    assert not list(tmp_path.rglob("*.nbc"))


def test_compiled_functions_follow_ieee_division():
    @compiled
    def ratio(a: float, b: float) -> float:
        return a / b

    if numba.config.DISABLE_JIT:
        pytest.skip("plain Python raises ZeroDivisionError")
    assert ratio(1.0, 0.0) == np.inf
    assert np.isnan(ratio(0.0, 0.0))


@pytest.mark.parametrize("seed", range(5))
def test_compiled_sums_keep_their_order(seed):
    @compiled
    def total(values: np.ndarray) -> float:
        result = 0.0
        for k in range(values.size):
            result += values[k]
        return result

    # Vectorised, as fastmath allows, this sum has other last bits.
    values = np.random.default_rng(seed).normal(size=1000)
    wanted = 0.0
    for value in values:
        wanted += value
    assert total(values) == wanted


def test_announcement_is_made_only_before_compilation(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    monkeypatch.setattr(module, "CACHE_FOLDER", tmp_path)
    with caplog.at_level(logging.WARNING, logger="tendon_gym"):
        module.announce_compilation()
        assert str(tmp_path) in caplog.text
        caplog.clear()
        (tmp_path / "kernel.nbc").touch()
        module.announce_compilation()
        monkeypatch.setattr(module, "CACHE_FOLDER", None)
        monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
        module.announce_compilation()
    assert not caplog.text


def imported_constants(source: Path) -> list[tuple[str, str]]:
    """Return (module, name) of what a file imports in capitals from this package."""
    return [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tendon_gym.")
        for alias in node.names
        if alias.name.lstrip("_").isupper()
    ]


def origin(name: str, constant: str) -> Path:
    """Return the file that assigns a constant, through the modules that hand it on."""
    source = Path(str(importlib.import_module(name).__file__))
    handed_on = {imported: module for module, imported in imported_constants(source)}
    return origin(handed_on[constant], constant) if constant in handed_on else source


def test_numbers_frozen_into_machine_code_are_part_of_the_key():
    """Numba compiles a module's constants in: they must lie in files that the key covers."""
    astray = []
    for source in PACKAGE.rglob("*.py"):
        if not re.search(
            r"^@(allocating|brief|compiled|inlined)$", source.read_text(), re.MULTILINE
        ):
            continue
        for name, constant in imported_constants(source):
            value = getattr(importlib.import_module(name), constant)
            frozen = isinstance(value, (int, float, tuple, np.ndarray))
            if frozen and "compiled" not in origin(name, constant).read_text():
                astray.append(f"{source.relative_to(PACKAGE)}: {name}.{constant}")
    assert not astray

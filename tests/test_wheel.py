"""The wheel works away from the checkout: environments, assets, recipes and the command.

The wheel is built from the sdist and installed into an empty environment. That environment sees
the third-party packages of the running one by a plain path in a .pth file; .pth files in a folder
that is reached this way are not read, so an editable install of the checkout stays invisible.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parent.parent
GENERIC = ("assets", "benchmarks", "docs", "envs_assets", "tests", "training")
MAKE_ALL = """
import gymnasium
import tendon_gym

ours = [spec.id for spec in gymnasium.registry.values() if "tendon_gym" in str(spec.entry_point)]
for name in ours:
    environment = gymnasium.make(name)
    environment.reset(seed=0)
    environment.step(environment.action_space.sample())
    environment.close()
print(tendon_gym.__file__)
print(tendon_gym.__version__)
print(*ours)
"""


@dataclasses.dataclass(frozen=True)
class Installed:
    """An environment outside the checkout in which the wheel is installed."""

    wheel: Path
    folder: Path

    @property
    def site_packages(self) -> Path:
        """The folder that packages are installed into."""
        return next(self.folder.glob("env/lib/python*/site-packages"))

    def run(self, *command: str) -> str:
        """Run a program of the environment and return what it prints."""
        hidden = ("PYTHON", "PYTEST", "NUMBA_", "VIRTUAL_ENV")
        environment = {key: val for key, val in os.environ.items() if not key.startswith(hidden)}
        done = subprocess.run(
            [str(self.folder / "env" / "bin" / command[0]), *command[1:]],
            cwd=self.folder,
            env={**environment, "NUMBA_CACHE_DIR": str(self.folder / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel, built from the sdist and installed into an environment of its own."""
    folder = tmp_path_factory.mktemp("wheel")
    assert not folder.is_relative_to(CHECKOUT)
    for command in (
        ["build", "--no-isolation", "--outdir", str(folder / "dist"), str(CHECKOUT)],
        ["venv", "--without-pip", str(folder / "env")],
    ):
        subprocess.run([sys.executable, "-m", *command], check=True, capture_output=True, text=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    result = Installed(wheel, folder)
    python = str(folder / "env" / "bin" / "python")
    install = ["-m", "pip", "--python", python, "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, *install], check=True, capture_output=True, text=True)
    third_party = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (result.site_packages / "third_party.pth").write_text("\n".join(sorted(third_party)) + "\n")
    return result


def test_every_environment_is_made_from_the_wheel(installed):
    file, version, names = installed.run("python", "-c", MAKE_ALL).splitlines()
    assert Path(file).is_relative_to(installed.site_packages)
    assert f"-{version}-" in installed.wheel.name
    assert len(names.split()) >= 2


def test_the_command_lists_the_environments(installed):
    assert "hover-thrust" in installed.run("tendon-gym", "list")


def test_the_command_flies(installed):
    installed.run("tendon-gym", "fly", "hover-thrust", "--policy", "zero", "--seconds", "1")


def test_the_command_compares(installed):
    policies = ["--policies", "zero", "geometric_paper"]
    table = installed.run("tendon-gym", "compare", "hover-thrust", *policies, "--episodes", "2")
    assert "geometric_paper" in table


def test_no_generic_name_lands_in_site_packages(installed):
    top = {path.name.partition(".")[0] for path in installed.site_packages.iterdir()}
    assert "tendon_gym" in top
    assert not top & set(GENERIC)


def test_assets_and_recipes_are_package_data(installed):
    with zipfile.ZipFile(installed.wheel) as archive:
        packed = set(archive.namelist())
    for folder in ("envs_assets", "training/recipes"):
        files = [path for path in (CHECKOUT / folder).rglob("*") if path.is_file()]
        wanted = {f"tendon_gym/_data/{path.relative_to(CHECKOUT)}" for path in files}
        assert wanted
        assert wanted <= packed
    assert "tendon_gym/py.typed" in packed

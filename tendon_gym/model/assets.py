"""Where the files of envs_assets/ are, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

from tendon_gym import checks

PACKAGE = Path(__file__).resolve().parents[1]


def asset_folder() -> Path:
    """Return the folder of assets: the wheel's copy in the package, else the checkout's own.

    Raises:
        FileNotFoundError: neither is there.
    """
    places = [PACKAGE / "_data" / "envs_assets", PACKAGE.parent / "envs_assets"]
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(f"no folder of assets at {places[0]} or {places[1]}")


def asset_path(name: str) -> Path:
    """Return the path of one asset, named relative to envs_assets/ with forward slashes.

    Raises:
        FileNotFoundError: there is no folder of assets.
        ValueError: it has no such file; the error lists those that it has.
    """
    folder = asset_folder()
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return folder / checks.choice("asset", name, [p.relative_to(folder).as_posix() for p in files])

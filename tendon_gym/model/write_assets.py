"""Write envs_assets/quad_continuum.xml: `python -m tendon_gym.model.write_assets`."""

from __future__ import annotations

from pathlib import Path

from tendon_gym.model.assets import asset_folder
from tendon_gym.model.builder import build_spec
from tendon_gym.model.presets import preset


def model_xml() -> str:
    """Return the MJCF of the "paper" preset."""
    spec = build_spec(preset("paper"))
    spec.compile()
    return spec.to_xml()


def main(folder: Path | None = None) -> Path:
    """Write the MJCF of the "paper" preset into `folder` (envs_assets/) and return its path."""
    path = (folder or asset_folder()) / "quad_continuum.xml"
    path.write_text(model_xml(), encoding="utf-8")
    return path


if __name__ == "__main__":
    main()

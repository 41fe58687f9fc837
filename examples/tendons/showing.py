"""What all examples do: build a world, write it to a file, run it, and take a picture of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro

from tendon_gym.evaluation.scene import picture, save_picture
from tendon_gym.tendons import TendonWorld
from tendon_gym.tendons.files import save_scene


@dataclass(frozen=True)
class Options:
    """Of every example.

    Attributes:
        export: native XML file to write the scene to, as it is at the start.
        picture: PNG or JPEG file for a picture of its end.
    """

    export: Path | None = None
    picture: Path | None = None


def show(
    title: str,
    build: Callable[[], TendonWorld],
    run: Callable[[TendonWorld], dict[str, float]],
    arguments: Sequence[str] | None,
) -> dict[str, float]:
    """Do what the command line asks for; print and return what `run` has measured."""
    options = tyro.cli(Options, description=title, args=arguments)
    world = build()
    if options.export is not None:
        for path in save_scene(world, options.export):
            print(f"wrote {path}")
    numbers = run(world)
    for what, value in numbers.items():
        print(f"{what}: {value:.6g}")
    if options.picture is not None:
        save_picture(picture(world, 480, 360), options.picture)
        print(f"wrote {options.picture}")
    return numbers

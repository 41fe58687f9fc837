"""Scenes on the command line: pictures, videos, and what is said of mistakes."""

from __future__ import annotations

import imageio.v3 as imageio
import numpy as np
import pytest
from imageio_ffmpeg import count_frames_and_secs

from tendon_gym import cli
from tendon_gym.evaluation import scene as scenes

SCENE = """<raisim><objects><ground name="floor"/>
<sphere name="load" mass="1"><dim radius=".1"/><state pos="0 0 .8"/></sphere></objects>
<tendon name="rope" type="spatial" stiffness="500" damping="50" width=".02">
<site pos="0 0 2"/><site object="load"/></tendon></raisim>"""


@pytest.fixture
def scene(tmp_path, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "scene.xml"
    path.write_text(SCENE)
    return path


def test_render_draws_and_leaves_an_older_picture(scene, tmp_path, capsys):
    arguments = ["render", str(scene), "--out", str(tmp_path / "p.png"), "--width", "240",
                 "--height", "180"]  # fmt: skip
    for name in ("p.png", "p-2.png"):
        assert cli.main(arguments) == 0
        assert capsys.readouterr().out == f"picture: {tmp_path / name}\n"
        pixels = imageio.imread(tmp_path / name)
        assert pixels.shape == (180, 240, 3)
    # the tendon's orange: more red than green, and more green than blue
    red, green, blue = np.moveaxis(pixels.astype(int), -1, 0)
    assert ((red > green + 30) & (green > blue)).sum() > 50


def test_fly_tells_what_the_tendons_carry(scene, capsys):
    assert cli.main(["fly", str(scene), "--seconds", "4"]) == 0
    text = capsys.readouterr().out
    assert "no display" in text
    assert "scene.xml: 4 s" in text
    name, length, force = text.splitlines()[-1].split()
    assert (name, float(length)) == ("rope", pytest.approx(1.2 + 9.81 / 500, abs=1e-3))
    assert float(force) == pytest.approx(-9.81, rel=1e-2)


def test_fly_films(scene, tmp_path, capsys):
    film = tmp_path / "film.mp4"
    arguments = ["--video", str(film), "--width", "64", "--height", "48", "--seconds", "0.5"]
    assert cli.main(["fly", str(scene), *arguments]) == 0
    assert f"video: {film}" in capsys.readouterr().out
    assert count_frames_and_secs(film) == (25, 0.5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fly", "none.xml"], "No such file"),
        (["fly", "SCENE", "--policy", "zero"], "a scene takes no --policy"),
        (["fly", "SCENE", "--engine", "compiled"], "a scene takes no --engine"),
        (["fly", "SCENE", "--seconds", "-1"], "seconds must be"),
        (["fly", "SCENE", "--camera", "other"], "camera must be one of 'chase', got 'other'"),
        (["render", "SCENE", "--out", "picture.txt"], "picture must be a file that ends in .jpg"),
        (["render", "SCENE", "--width", "0"], "width must be"),
        (["render", "SCENE", "--camera", "other"], "camera must be one of"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, words, scene, capsys):
    given = [str(scene) if each == "SCENE" else each for each in arguments]
    assert cli.main(given) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and words in error


def test_a_scene_that_is_wrong_is_told_with_its_line(scene, capsys):
    scene.write_text(SCENE.replace("stiffness", "stifness"))
    assert cli.main(["fly", str(scene)]) == 2
    assert (
        "scene.xml:3: <tendon name='rope'>: <tendon> has no 'stifness'" in capsys.readouterr().err
    )


def test_a_window_shows_a_scene_where_there_is_a_screen(scene, capsys, monkeypatch):
    shown = []
    monkeypatch.setattr(scenes, "has_display", lambda: True)
    monkeypatch.setattr(scenes, "_watch", lambda world, count, camera: shown.append(count))
    assert cli.main(["fly", str(scene), "--seconds", "1"]) == 0
    assert shown == [200]
    assert "no display" not in capsys.readouterr().out

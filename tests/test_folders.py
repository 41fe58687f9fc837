"""New results never replace old ones, and what cannot be written is known before the work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tendon_gym.folders import fresh_file, results


def test_a_folder_that_holds_something_stays(tmp_path):
    wanted = tmp_path / "a" / "out"
    for k, name in enumerate(["out", "out-2", "out-3"]):
        with results(wanted) as folder:
            assert folder == tmp_path / "a" / name
            assert not any(folder.iterdir())
            (folder / "result").write_text(str(k))
    assert (wanted / "result").read_text() == "0"


def test_a_folder_that_is_not_to_be_fresh_is_used_again(tmp_path):
    (tmp_path / "older").write_text("")
    with results(tmp_path, fresh=False) as folder:
        assert folder == tmp_path
        assert [path.name for path in tmp_path.iterdir()] == ["older"]


def test_an_empty_folder_is_used_and_stays(tmp_path):
    with results(tmp_path) as folder:
        assert folder == tmp_path
    assert tmp_path.is_dir()


@pytest.mark.parametrize("fresh", [True, False])
def test_what_was_made_and_left_empty_goes_away(tmp_path, fresh):
    (tmp_path / "kept").mkdir()
    with pytest.raises(KeyError), results(tmp_path / "kept" / "a" / "b", fresh) as folder:
        assert folder.is_dir()
        raise KeyError
    assert list(tmp_path.rglob("*")) == [tmp_path / "kept"]
    with pytest.raises(KeyError), results(tmp_path / "a" / "b", fresh) as folder:
        (folder / "half").write_text("")
        raise KeyError
    assert (tmp_path / "a" / "b" / "half").is_file()


@pytest.mark.parametrize("fresh", [True, False])
def test_what_cannot_be_written_is_told_at_once(tmp_path, fresh):
    file = tmp_path / "file"
    file.write_text("")
    for path, words in (
        (file, "it is a file"),
        (file / "below", "Not a directory"),
        (Path("/proc/nothing"), "No such file or directory"),
        (tmp_path / ("x" * 300), "File name too long"),
    ):
        with pytest.raises(ValueError, match=f"output folder .* cannot be written: {words}"):
            with results(path, fresh):
                raise AssertionError("it must not get this far")
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_must_not_be_written_into_is_told(tmp_path, monkeypatch):
    def refuse(dir):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(ValueError, match=r"out' cannot be written: Permission denied"):
        with results(tmp_path / "out"):
            raise AssertionError("it must not get this far")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", [".", "/", ".."])
def test_a_sibling_needs_a_name(name):
    with pytest.raises(ValueError, match="must have a name of its own"), results(Path(name)):
        raise AssertionError("it must not get this far")


def test_a_file_that_exists_stays(tmp_path):
    for name in ("film.mp4", "film-2.mp4", "film-3.mp4"):
        path = fresh_file(tmp_path / "film.mp4")
        assert path == tmp_path / name
        path.write_text("")


@pytest.mark.parametrize("name", ["", "folder.mp4"])
def test_a_folder_is_no_file(tmp_path, name):
    (tmp_path / "folder.mp4").mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        fresh_file(tmp_path / name)
    with pytest.raises(ValueError, match=r"'\.' is a folder"):
        fresh_file(Path("."))

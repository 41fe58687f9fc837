"""CSV references against scipy's splines; every error names file, line and column."""

import re

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

from tendon_gym.references import load_csv


def write(tmp_path, text):
    path = tmp_path / "flight.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_it_is_the_natural_quintic_spline(tmp_path):
    rng = np.random.default_rng(0)
    time = np.cumsum(rng.uniform(0.1, 0.5, 40))
    samples = rng.normal(size=(40, 3)).cumsum(axis=0) * 0.1
    lines = [",".join(map(repr, map(float, row))) for row in np.column_stack([samples, time])]
    reference = load_csv(write(tmp_path, "x, y, z, time\n" + "\n".join(lines) + "\n\n"))
    ends = [(3, np.zeros(3)), (4, np.zeros(3))]
    spline = make_interp_spline(time, samples, 5, bc_type=(ends, ends))
    fine = np.linspace(time[0], time[-1] - 1e-9, 1000)
    out = reference.at(fine)
    for order, name in enumerate(("position", "velocity", "acceleration", "jerk")):
        want = spline(fine, nu=order)
        np.testing.assert_allclose(out[name], want, atol=1e-9 * np.abs(want).max())
    assert reference.name == "flight" and reference.duration == time[-1]
    assert not out["yaw"].any() and not out["bend"].any()


def test_yaw_is_unwrapped_and_bend_is_joined_by_lines(tmp_path):
    text = "time,x,y,z,yaw,beta,mu\n0,0,0,1,3.0,0,0\n1,0,0,1,-3.0,0,1\n2,0,0,1,-2.8,1.570796327,1\n"
    reference = load_csv(write(tmp_path, text))
    out = reference.at([0, 0.5, 1, 1.5, 2])
    np.testing.assert_allclose(out["yaw"][[0, 2, 4]], [3.0, 2 * np.pi - 3, 2 * np.pi - 2.8])
    assert (np.diff(out["yaw"]) > 0).all()
    want = [[0, 0], [0.5, 0], [1, 0], [0.5, 0.5], [0, 1]]
    np.testing.assert_allclose(out["bend"], want, atol=1e-9)


def test_two_samples_are_a_straight_line(tmp_path):
    out = load_csv(write(tmp_path, "time,x,y,z\n1,0,0,1\n3,2,0,1\n")).at([0, 1, 2, 2.5, 3, 9])
    np.testing.assert_allclose(out["position"][:, 0], [0, 0, 1, 1.5, 2, 2])
    np.testing.assert_allclose(out["velocity"][:, 0], [0, 1, 1, 1, 0, 0])


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_few_samples_of_a_parabola_give_it_back(tmp_path, n):
    time = np.linspace(0, 2, n)
    lines = [f"{t!r},{t * t!r},{1 - t!r},1" for t in time.tolist()]
    reference = load_csv(write(tmp_path, "\ufefftime,x,y,z\n" + "\n".join(lines)))
    fine = np.linspace(0, 1.999, 50)
    out = reference.at(fine)
    np.testing.assert_allclose(out["position"][:, 0], fine**2, atol=1e-12)
    np.testing.assert_allclose(out["velocity"][:, :2].T, [2 * fine, -1 + 0 * fine], atol=1e-11)


HEAD = "time,x,y,z\n"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", r"line 1: the header lacks column 'time'"),
        ("0,0,0,1\n1,0,0,1\n", r"line 1: unknown column '0'; a header names time, x"),
        ("time,x,y\n0,0,0\n", r"line 1: the header lacks column 'z'"),
        ("time,x,y,z,z\n", r"line 1: column 'z' is there 2 times"),
        ("time,x,y,z,mu\n", r"line 1: the header lacks column 'beta'"),
        ("time,x,y,z,beta\n", r"line 1: the header lacks column 'mu'"),
        (HEAD, r"line 1, column 'time': the file ends after 0 samples"),
        (HEAD + "0,0,0,1\n", r"line 2, column 'time': the file ends after 1 samples"),
        (HEAD + "0,0,0,1\n1,0,0\n", r"line 3, column 'z': the line has 3 cells, the header 4"),
        (HEAD + "0,0,0,1,2\n", r"line 2, column 'z': the line has 5 cells"),
        (HEAD + "0,0,zero,1\n", r"line 2, column 'y': 'zero' is not a number from -10000 to 10000"),
        (HEAD + "0,0,,1\n", r"line 2, column 'y': '' is not a number from"),
        (HEAD + "0,0,0,nan\n", r"line 2, column 'z': 'nan' is not"),
        (HEAD + "0,inf,0,1\n", r"line 2, column 'x': 'inf' is not"),
        (HEAD + "-1,0,0,1\n", r"line 2, column 'time': '-1' is not a number from 0 to 1e\+06"),
        (
            HEAD + "0,0,0,1e300\n",
            r"line 2, column 'z': '1e300' is not a number from -10000 to 10000",
        ),
        (HEAD + "0,0,0,1\n1,-1e5,0,1\n", r"line 3, column 'x': '-1e5' is not a number from -10000"),
        (
            HEAD + "0,0,0,1\n1e16,0,0,1\n",
            r"line 3, column 'time': '1e16' is not a number from 0",
        ),
        (
            HEAD + "0,0,0,1\n1e-300,0,0,1\n",
            r"line 3, column 'time': 1e-300 must be at least 0.0001 ",
        ),
        (HEAD + "0,0,0,1\n\n1,0,0,2001\n", r"line 4, column 'time': 1.0 must be at least 2 s "),
        (
            HEAD + "0,0,0,1\n\n1e-3,0.9,0,1\n\n1e6,0,0,1\n",
            r"line 4, column 'time': the spline from here to line 6 goes beyond 10000 m",
        ),
        ("time,x,y,z,yaw\n0,0,0,1,0\n1,0,0,1,1e300\n", r"line 3, column 'yaw': '1e300' is not"),
        ("time,x,y,z,yaw\n0,0,0,1,0\n.001,0,0,1,2\n", r"line 3, column 'time': 0.001 must be at "),
        (
            "time,x,y,z,mu,beta\n0,0,0,1,0,1e300\n",
            r"line 2, column 'beta': '1e300' is not a number from -10000 to 10000",
        ),
        (HEAD + "0,0,0,1\n\n0,0,0,1\n", r"line 4, column 'time': 0.0 does not come after 0.0"),
        (HEAD + "1,0,0,1\n0.5,0,0,1\n", r"line 3, column 'time': 0.5 does not come after 1.0"),
        (
            "time,x,y,z,beta,mu\n0,0,0,1,0,1.5\n",
            r"line 2, column 'mu': '1.5' is not a number from 0 to 1",
        ),
    ],
)
def test_errors_name_file_line_and_column(tmp_path, text, match):
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match=re.escape(str(path)) + ", " + match):
        load_csv(path)


def test_an_angle_may_wrap_between_close_samples(tmp_path):
    reference = load_csv(write(tmp_path, "time,x,y,z,yaw\n0,0,0,1,3.1\n0.002,0,0,1,-3.1\n"))
    np.testing.assert_allclose(np.ptp(reference.at([0, 0.002])["yaw"]), 2 * np.pi - 6.2)


def test_a_file_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("tendon_gym.references.bounds.MOST", 3)
    lines = [f"{k},0,0,1" for k in range(5)]
    assert load_csv(write(tmp_path, HEAD + "\n".join(lines[:3]))).duration == 2.0
    with pytest.raises(ValueError, match="line 5: a reference has at most 3 samples"):
        load_csv(write(tmp_path, HEAD + "\n".join(lines)))


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "flight.csv"
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(ValueError, match="not a CSV file in UTF-8"):
        load_csv(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no reference file .*nowhere\.csv"):
        load_csv(tmp_path / "nowhere.csv")

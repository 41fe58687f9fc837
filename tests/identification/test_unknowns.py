import pytest

from tendon_gym.identification.unknowns import Unknowns
from tendon_gym.model import ModelParameters

PARAMETERS = ModelParameters()


def test_values_go_where_their_names_say():
    unknowns = Unknowns(
        PARAMETERS,
        {"arm.mass": (0.1, 0.15), "airframe.inertia.1": (6e-3, 9e-3), "tension_gain": (0.5, 2.0)},
    )
    assert unknowns.start == pytest.approx([0.15, 6.7e-3, 1.0])  # the mass is cut to its bounds
    model = unknowns.model([0.12, 7e-3, 0.9])
    assert model.arm.mass == 0.12
    assert model.airframe.inertia == (6.7e-3, 7e-3, 1.2e-2)
    assert model.tendons == PARAMETERS.tendons
    assert unknowns.gains([0.12, 7e-3, 0.9]) == (1.0, 0.9)


@pytest.mark.parametrize(
    "name",
    ["arm.weight", "mass", "arm", "arm.n_links", "airframe.inertia", "airframe.inertia.3",
     "airframe.inertia.0.0", "solver.timestep", "arm.mass.0", "airframe.hubs.0", ""],
)  # fmt: skip
def test_names_of_no_number_are_refused(name):
    with pytest.raises(ValueError, match=r"one of thrust_gain, .*airframe\.inertia\.0.*arm\.mass"):
        Unknowns(PARAMETERS, {name: (0.1, 0.2)})


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"arm.mass": (0.2, 0.1)}, r"unknowns\['arm\.mass'\]\[1\] must be .*greater than 0\.2"),
        ({"arm.mass": (-0.1, 0.1)}, r"Arm\.mass must be"),
        ({"arm.mass": (0.1,)}, "shape"),
        ({"arm.mass": (0.1, float("nan"))}, "finite"),
        ({"tension_gain": (-1.0, 1.0)}, "at least 0"),
        ({"arm.bending_stiffness": (1e-3, 10.0)}, "timestep"),
        ({"airframe.inertia.2": (1e-2, 2e-2)}, "sum of the other two"),
    ],
)
def test_bounds_that_no_model_can_have_are_refused(bounds, words):
    with pytest.raises(ValueError, match=words):
        Unknowns(PARAMETERS, bounds)


@pytest.mark.parametrize("bounds", [{}, None, ["arm.mass"]])
def test_something_must_be_asked_for(bounds):
    with pytest.raises(TypeError, match="a dict of names and bounds"):
        Unknowns(PARAMETERS, bounds)

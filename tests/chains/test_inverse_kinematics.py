from __future__ import annotations

import math
import warnings

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from tendon_gym.chains import reaching
from tendon_gym.chains.chain import Chain
from tendon_gym.chains.inverse_kinematics import IkOptions, InverseKinematics
from tendon_gym.chains.urdf import load_urdf
from tests.chains.random_trees import trees
from tests.chains.scene_files import packaged, real_urdf

ENDS = {
    "panda": ("panda_link0", "panda_hand_tcp"),
    "ur5": ("base_link", "tool0"),
    "jaco": ("j2s6s200_link_base", "j2s6s200_end_effector"),
}


def planar(lengths, limit=None, slide=False):
    """Return an arm in the x-z plane: hinges about y, perhaps on a slide along x."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    body = spec.worldbody.add_body(name="base", pos=[0.3, 0.2, 0.1], quat=[0.5, 0.5, -0.5, 0.5])
    if slide:
        body = body.add_body(name="car")
        body.add_joint(name="car", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[1, 0, 0])
        body.add_geom(size=[0.05, 0, 0])
    before = 0.0
    for k, length in enumerate(lengths):
        body = body.add_body(name=f"link_{k}", pos=[before, 0, 0])
        joint = body.add_joint(name=f"joint_{k}", axis=[0, -1, 0])
        if limit is not None:
            joint.range = [-limit, limit]
        body.add_geom(size=[0.05, 0, 0])
        before = length
    body.add_body(name="tip", pos=[before, 0, 0])
    return Chain.from_model(spec.compile(), "base", "tip")


@pytest.fixture(scope="module")
def chains():
    """Return the real arms, and Fetch's on its torso."""
    found = {}
    for name, (base, tip) in ENDS.items():
        path, packages = real_urdf(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = load_urdf(path, [packages]).compile()
        found[name] = Chain.from_model(model, base, tip)
    fetch = packaged("gymnasium-robotics", "envs/assets/fetch/reach.xml")
    model = mujoco.MjModel.from_xml_path(str(fetch))
    found["fetch"] = Chain.from_model(model, "robot0:base_link", "robot0:gripper_link")
    return found


def random_joints(chain, count, rng):
    low, high = np.clip(chain.joint_limits, -math.pi, 2.0 * math.pi).T
    return rng.uniform(low, high, (count, chain.n_joints))


def angle(a, b):
    return np.linalg.norm(Rotation.from_matrix(a @ np.swapaxes(b, -1, -2)).as_rotvec(), axis=-1)


@pytest.mark.parametrize("name", ["panda", "ur5", "jaco", "fetch"])
@pytest.mark.parametrize("full", [True, False], ids=["pose", "position"])
def test_random_reachable_targets_are_reached_within_the_limits(chains, name, full):
    """At least 99.8 % of 500 poses, and every position: 100 % of both when this was written."""
    chain = chains[name]
    there = chain.forward_kinematics(random_joints(chain, 500, np.random.default_rng(7)))
    solver = InverseKinematics(chain)
    found = solver.solve(there.position, there.rotation if full else None)
    assert found.reached.mean() >= (0.998 if full else 1.0)
    have = chain.forward_kinematics(found.q)
    away = np.linalg.norm(have.position - there.position, axis=1)
    turned = angle(have.rotation, there.rotation) if full else np.zeros(500)
    np.testing.assert_array_equal(found.reached, (away <= 1e-6) & (turned <= 1e-6))
    np.testing.assert_allclose(found.position_error, away, atol=1e-12)
    np.testing.assert_allclose(found.rotation_error, turned, atol=1e-9)
    assert (found.q >= chain.joint_limits[:, 0]).all()
    assert (found.q <= chain.joint_limits[:, 1]).all()
    np.testing.assert_array_equal(found.pose.position, have.position)


def test_equal_seeds_give_equal_bits_alone_and_in_batches(chains):
    chain = chains["panda"]
    there = chain.forward_kinematics(random_joints(chain, 40, np.random.default_rng(3)))
    posture = chain.joint_limits.mean(axis=1)
    first, second = (
        InverseKinematics(chain, IkOptions(seed=5)).solve(
            there.position, there.rotation, posture=posture
        )
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.q, second.q)
    assert first.starts.max() > 1  # restarts were drawn
    solver = InverseKinematics(chain, IkOptions(seed=5))
    for k in range(40):
        alone = solver.solve(there.position[k], there.rotation[k], posture=posture)
        np.testing.assert_array_equal(alone.q, first.q[k])
        assert alone.reached == first.reached[k]
        assert alone.iterations == first.iterations[k]


def test_a_guess_at_the_target_is_the_answer(chains):
    chain = chains["panda"]
    q = random_joints(chain, 20, np.random.default_rng(0))
    there = chain.forward_kinematics(q)
    found = InverseKinematics(chain).solve(there.position, there.rotation, guess=q)
    np.testing.assert_array_equal(found.q, q)
    assert not found.iterations.any()


def test_a_near_guess_stays_near(chains):
    chain = chains["panda"]
    rng = np.random.default_rng(1)
    q = 0.8 * random_joints(chain, 50, rng) + 0.2 * chain.joint_limits.mean(axis=1)
    there = chain.forward_kinematics(q)
    guess = q + rng.normal(scale=0.01, size=q.shape)
    found = InverseKinematics(chain).solve(there.position, there.rotation, guess=guess)
    assert (found.starts == 1).all()
    assert np.abs(found.q - guess).max() < 0.3


@given(st.floats(0.05, 3.0), st.floats(-math.pi, math.pi))
@settings(deadline=None, max_examples=40)
def test_the_closest_point_of_a_planar_arm(radius, direction):
    """All that a free arm of two links reaches is a ring, whose closest point is along the ray."""
    chain = planar((0.7, 0.4))
    target = radius * np.array([math.cos(direction), 0.0, math.sin(direction)])
    found = InverseKinematics(chain, IkOptions(restarts=8)).solve(target)
    closest = np.clip(radius, 0.3, 1.1)
    expected = closest / radius * target
    assert found.reached == (abs(closest - radius) < 1e-6)
    np.testing.assert_allclose(found.pose.position, expected, atol=2e-6)
    np.testing.assert_allclose(found.position_error, abs(radius - closest), atol=2e-6)


def test_a_target_off_the_plane_is_missed_by_its_distance_from_it():
    found = InverseKinematics(planar((0.7, 0.4))).solve([0.5, 0.25, 0.3])
    assert not found.reached
    np.testing.assert_allclose(found.pose.position, [0.5, 0, 0.3], atol=1e-6)
    assert found.position_error == pytest.approx(0.25)
    assert found.starts == IkOptions().restarts + 1


def test_limits_that_block_are_reported():
    """A single joint that may turn by 0.5 rad stops there on its way to a quarter turn."""
    found = InverseKinematics(planar((1.0,), limit=0.5)).solve([0, 0, 1])
    assert found.at_limit.tolist() == [True]
    assert found.q[0] == 0.5
    np.testing.assert_allclose(found.position_error, 2.0 * math.sin((math.pi / 2 - 0.5) / 2))


@pytest.mark.parametrize("name", ["panda", "jaco"])
def test_the_closest_pose_is_a_minimum(chains, name):
    """No bounded minimiser of scipy's finds a lower objective from where ours stopped."""
    chain = chains[name]
    rng = np.random.default_rng(2)
    there = chain.forward_kinematics(random_joints(chain, 5, rng))
    position = 1.6 * there.position + [0.3, 0, 0]
    options = IkOptions(restarts=8)
    found = InverseKinematics(chain, options).solve(position, there.rotation)
    assert not found.reached.any()

    def objective(q, k):
        have = chain.forward_kinematics(q)
        turn = options.rotation_length * angle(have.rotation, there.rotation[k])
        return 0.5 * np.sum((have.position - position[k]) ** 2) + 0.5 * turn**2

    bounds = [(low, high) for low, high in np.clip(chain.joint_limits, -10, 10)]
    for k in range(5):
        ours = objective(found.q[k], k)
        theirs = minimize(objective, found.q[k], (k,), bounds=bounds, method="L-BFGS-B")
        assert theirs.fun > ours - 1e-9
        again = 0.5 * found.position_error[k] ** 2
        again += 0.5 * (options.rotation_length * found.rotation_error[k]) ** 2
        assert ours == pytest.approx(again)


@pytest.mark.parametrize(("name", "full"), [("panda", True), ("panda", False), ("ur5", False)])
def test_the_posture_is_a_minimum_among_equal_poses(chains, name, full):
    """Along every direction that keeps the pose, |q - posture|^2 has no slope, by differences.

    Joints at a limit may only move inwards, where it must not fall.
    """
    chain = chains[name]
    rng = np.random.default_rng(11)
    q = 0.95 * random_joints(chain, 25, rng) + 0.05 * chain.joint_limits.mean(axis=1)
    there = chain.forward_kinematics(q)
    posture = q + rng.normal(scale=0.3, size=q.shape)
    solver = InverseKinematics(chain)
    rotation = there.rotation if full else None
    plain = solver.solve(there.position, rotation, guess=q)
    found = solver.solve(there.position, rotation, guess=q, posture=posture)
    assert found.reached.all()

    def objective(x, k):
        return 0.5 * np.sum((x - posture[k]) ** 2)

    def slope(k, direction):
        h = 1e-5 * direction
        return (objective(found.q[k] + h, k) - objective(found.q[k] - h, k)) / 2e-5

    limited = 0
    for k in range(25):
        assert objective(found.q[k], k) <= objective(plain.q[k], k)
        jacobian = chain.jacobian(found.q[k])[: 6 if full else 3]
        free = ~found.at_limit[k]
        _, sizes, axes = np.linalg.svd(jacobian[:, free])
        for axis in axes[(sizes > 1e-9).sum() :]:
            direction = np.zeros(chain.n_joints)
            direction[free] = axis
            assert abs(slope(k, direction)) < 1e-5
        for joint in np.flatnonzero(~free) if free.sum() >= len(jacobian) else []:
            direction = np.zeros(chain.n_joints)
            direction[joint] = 1.0 if found.q[k, joint] == chain.joint_limits[joint, 0] else -1.0
            direction[free] = -np.linalg.pinv(jacobian[:, free]) @ jacobian @ direction
            assert slope(k, direction) > -1e-5
            limited += 1
    assert limited or name == "ur5"


def test_the_nearest_posture_of_a_cart_is_known():
    """A pendulum on a cart whose tip is held at a height: the angle is fixed, the cart is free."""
    chain = planar((1.0,), slide=True)
    found = InverseKinematics(chain).solve([0.2, 0, 0.5], guess=[0, 0.3], posture=[5.0, 0.3])
    assert found.reached
    np.testing.assert_allclose(found.q, [0.2 - math.cos(math.pi / 6), math.pi / 6], atol=1e-6)


def test_the_posture_of_three_links_is_the_one_that_scipy_finds():
    chain = planar((0.5, 0.4, 0.3), limit=1.8)
    target, posture = np.array([0.5, 0.0, 0.4]), np.array([0.2, 0.3, -1.0])
    found = InverseKinematics(chain).solve(target, guess=[0.1, 0.5, 0.5], posture=posture)
    best = minimize(
        lambda q: np.sum((q - posture) ** 2),
        found.q,
        constraints={
            "type": "eq",
            "fun": lambda q: (chain.forward_kinematics(q).position - target)[[0, 2]],
        },
        bounds=[(-1.8, 1.8)] * 3,
        method="SLSQP",
        tol=1e-12,
    )
    np.testing.assert_allclose(found.q, best.x, atol=1e-4)


@pytest.mark.parametrize("name", ["panda", "ur5", "jaco", "fetch"])
def test_the_objective_derivatives_are_exact(chains, name):
    """First and second derivatives of the objective against central differences."""
    chain = chains[name]
    rng = np.random.default_rng(4)
    n, length = chain.n_joints, 0.3
    place = reaching.new_place(n)
    for q, other in zip(random_joints(chain, 10, rng), random_joints(chain, 10, rng), strict=True):
        pose = chain.forward_kinematics(other)
        target = np.concatenate([pose.rotation, pose.position[None]])
        for rows in (3, 6):

            def at(x, rows=rows, target=target):
                reaching.evaluate(chain.segments, x, target, rows, length, place)
                reaching.differentiate(chain.segments, x, length, place)
                return -place.descent.copy()

            def cost(x, rows=rows, target=target):
                return reaching.evaluate(chain.segments, x, target, rows, length, place)

            h = 1e-5
            steps = h * np.eye(n)
            slopes = [(cost(q + step) - cost(q - step)) / (2 * h) for step in steps]
            np.testing.assert_allclose(at(q), slopes, atol=1e-8)
            bends = np.array([(at(q + step) - at(q - step)) / (2 * h) for step in steps])
            at(q)
            reaching.curve(n, rows, length, True, place)
            np.testing.assert_allclose(np.tril(place.hessian), np.tril(bends), atol=1e-7)


@given(st.integers(0, 10_000), st.sampled_from([1e-9, 1e-4, 1.0, math.pi - 1e-9, math.pi]))
@settings(deadline=None, max_examples=60)
def test_rotation_vectors_of_all_lengths(seed, size):
    rng = np.random.default_rng(seed)
    start = Rotation.random(random_state=rng)
    axis = rng.normal(size=3)
    turn = Rotation.from_rotvec(size * axis / np.linalg.norm(axis))
    vector = reaching.rotation_vector(start.as_matrix(), (turn * start).as_matrix())
    back = Rotation.from_rotvec(vector) * start
    assert angle(back.as_matrix(), (turn * start).as_matrix()) < 1e-7
    assert np.linalg.norm(vector) == pytest.approx(size, rel=1e-6)


def test_velocities_give_the_twist(chains):
    chain = chains["panda"]
    rng = np.random.default_rng(6)
    solver = InverseKinematics(chain)
    for q in 0.7 * random_joints(chain, 20, rng) + 0.3 * chain.joint_limits.mean(axis=1):
        twist = rng.normal(size=6)
        v = solver.velocities(q, twist, damping=1e-6)
        np.testing.assert_allclose(chain.jacobian(q) @ v, twist, atol=1e-5)
        preferred = rng.normal(size=7)
        w = solver.velocities(q, twist, preferred=preferred, damping=1e-6)
        null = np.linalg.svd(chain.jacobian(q))[2][6:]
        np.testing.assert_allclose(chain.jacobian(q) @ w, twist, atol=1e-5)
        np.testing.assert_allclose(null @ w, null @ preferred, atol=1e-5)
        np.testing.assert_allclose(null @ v, 0.0, atol=1e-5)
        u = solver.velocities(q, twist[:3], damping=1e-6)
        np.testing.assert_allclose(chain.jacobian(q)[:3] @ u, twist[:3], atol=1e-5)


def test_velocities_follow_a_line_and_respect_limits(chains):
    chain = chains["panda"]
    solver = InverseKinematics(chain)
    q = np.array([0.1, 0.3, 0.0, -1.8, 0.0, 2.0, 0.7])
    start = chain.forward_kinematics(q)
    for _ in range(100):
        v = solver.velocities(q, [0.1, 0.05, 0, 0, 0, 0], timestep=0.01, largest=2.0)
        assert np.abs(v).max() <= 2.0
        q = q + 0.01 * v
    end = chain.forward_kinematics(q)
    np.testing.assert_allclose(end.position - start.position, [0.1, 0.05, 0], atol=1e-3)
    assert angle(end.rotation, start.rotation) < 1e-3
    high = chain.joint_limits[:, 1] - 1e-3
    v = solver.velocities(high, chain.jacobian(high) @ np.ones(7), timestep=0.01)
    assert (high + 0.01 * v <= chain.joint_limits[:, 1] + 1e-12).all()


def test_velocities_stay_bounded_at_a_singular_position():
    """The stretched arm can't move outwards; the damping keeps the joints from racing."""
    solver = InverseKinematics(planar((0.5, 0.5)))
    v = solver.velocities([0.0, 1e-9], [1.0, 0.0, 0.0], damping=1e-2)
    assert np.abs(v).max() < 60.0


def test_bad_input_is_named(chains):
    solver = InverseKinematics(chains["panda"])
    point, turn = [0.4, 0, 0.4], np.eye(3)
    for call, message in (
        (lambda: solver.solve([0.4, 0]), "position must have shape"),
        (lambda: solver.solve([0.4, 0, math.nan]), r"position\[2\]"),
        (lambda: solver.solve(point, 2 * turn), "rotation must be a rotation matrix"),
        (lambda: solver.solve(point, np.diag([1, 1, -1])), "rotation must be a rotation matrix"),
        (lambda: solver.solve([point, point], [turn, 2 * turn]), r"rotation\[1\] must be a rota"),
        (lambda: solver.solve([point, point], turn), "rotation must have shape"),
        (lambda: solver.solve(point, guess=[0] * 6), "guess must have shape"),
        (lambda: solver.solve(point, posture=[[0] * 7] * 2), "posture must have shape"),
        (lambda: solver.velocities([0] * 6, [0] * 6), "q must have shape"),
        (lambda: solver.velocities([0] * 7, [0] * 4), "twist must have shape"),
        (lambda: solver.velocities([0] * 7, [0] * 6, largest=-1), "largest"),
        (lambda: solver.velocities([0] * 7, [0] * 6, timestep=0), "timestep"),
        (lambda: IkOptions(restarts=-1), "IkOptions.restarts"),
        (lambda: IkOptions(position_tolerance=0), "IkOptions.position_tolerance"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@given(trees(least=1), st.integers(0, 1000))
@settings(deadline=None, max_examples=40)
def test_any_chain_comes_back_to_where_it_was_nearby(tree, seed):
    """Hinges and slides in any order: from a guess nearby the pose is found again."""
    chain = tree.chain()
    rng = np.random.default_rng(seed)
    q = random_joints(chain, 1, rng)[0]
    there = chain.forward_kinematics(q)
    guess = q + rng.normal(scale=0.02, size=q.shape)
    found = InverseKinematics(chain, IkOptions(restarts=4)).solve(
        there.position, there.rotation, guess=guess
    )
    assert found.reached
    have = chain.forward_kinematics(found.q)
    np.testing.assert_allclose(have.position, there.position, atol=1e-6)
    assert angle(have.rotation, there.rotation) < 2e-6
    assert (found.q >= chain.joint_limits[:, 0]).all()
    assert (found.q <= chain.joint_limits[:, 1]).all()

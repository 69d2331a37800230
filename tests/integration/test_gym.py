"""Environments: random values, end and reset of episodes, invalid input, and several robots in one world."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from pettingzoo.test import parallel_api_test

import skerry.gym
from skerry.core.errors import SkerryError, UnknownName
from skerry.gym import ActionCommand, Choice, Environment, LogUniform, Normal, Uniform, VectorEnvironment
from skerry.gym.batch_backend import BatchBackend
from skerry.gym.parallel import ParallelEnvironment
from skerry.gym.sensor_features import sectors
from skerry.gym.task import BASE_FEATURES, PITCH, ROLL, YAW, P, U, X, Z
from skerry.gym.tasks import find_task

SAM_DEPTH = find_task("SamDepth")
NOTHING = np.zeros(4, np.float32)


@pytest.fixture
def make(request: pytest.FixtureRequest) -> Any:
    """Create environments that are closed after the test."""

    def build(kind: Any = Environment, task: Any = "SamDepth", *arguments: Any, **settings: Any) -> Any:
        environment = kind(task, *arguments, **settings)
        request.addfinalizer(environment.close)
        return environment

    return build


# ------------------------------------------------------------------------------------------------ drawing


def test_distributions_return_quantiles() -> None:
    assert Uniform(2, 4).at(0.25) == 2.5
    assert LogUniform(1, 100).at(0.5) == pytest.approx(10)
    assert Normal(3, 2).at(0.5) == 3
    assert Normal(0, 1).at(0.841344746) == pytest.approx(1, abs=1e-6)  # Φ(1)
    assert [Choice("abc").at(u) for u in (0.1, 0.5, 0.99)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "wrong", [lambda: Uniform(2, 1), lambda: LogUniform(0, 1), lambda: Normal(0, -1), lambda: Choice([])]
)
def test_a_distribution_that_makes_no_sense_is_refused(wrong: Any) -> None:
    with pytest.raises(SkerryError):
        wrong()


def test_values_are_drawn_for_each_episode_and_returned_in_info(make: Any) -> None:
    environment = make()
    _, first = environment.reset(seed=1)
    _, second = environment.reset()
    assert 2 < first["depth"] < 10
    assert -10 < first["robots.sam.pose.position.2"] < -2
    assert all(first[path] != second[path] for path in first)
    features = environment.episodes.buffers.now[0]
    assert features[Z] == second["robots.sam.pose.position.2"]
    assert features[PITCH] == pytest.approx(math.radians(second["robots.sam.pose.pitch_deg"]))


def test_an_additional_value_changes_no_other_value(make: Any) -> None:
    _, plain = make().reset(seed=4)
    _, more = make(randomise={"water.density": Uniform(1000, 1030)}).reset(seed=4)
    assert {path: more[path] for path in plain} == plain


@pytest.mark.parametrize("whole_worlds", [False, True])
def test_any_value_of_the_scenario_and_of_a_vehicle_can_be_drawn(make: Any, whole_worlds: bool) -> None:
    """The world is rebuilt with the drawn values: more drag slows SAM down."""
    drag = "robots.sam.overrides.forces.damping.quadratic[0]"
    speeds = {}
    environment = make(
        randomise={drag: Choice([14.0, 60.0]), "gravity": Uniform(9.7, 9.9)}, whole_worlds=whole_worlds, steps=100
    )
    for seed in range(8):
        _, drawn = environment.reset(seed=seed)
        for _ in range(6):
            environment.step(np.array([0, 0, 0, 1], np.float32))
        speeds[drawn[drag]] = environment.episodes.buffers.now[0, U]
    assert speeds[14.0] > 1.2 * speeds[60.0]


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("robots.sam.pose.positon.2", "position"),
        ("water.densty", "density"),
        ("robots.sam.overrides.forces.dampin.linear.0", "damping"),
        ("robots.sam.pose.position.3", "has 3 values"),
        ("robots.sam.pose.position[3]", "has 3 values"),
        ("gravity.x", "without parts"),
    ],
)
def test_an_unknown_path_is_refused_with_a_suggestion(path: str, hint: str) -> None:
    with pytest.raises(UnknownName, match=hint):
        Environment("SamDepth", randomise={path: Uniform(0, 1)})


def test_a_value_that_is_not_a_distribution_is_refused() -> None:
    with pytest.raises(SkerryError, match=r"Uniform\(1, 2\)"):
        Environment("SamDepth", randomise={"gravity": 9.8})  # type: ignore[dict-item]


def test_overrides_are_laid_over_the_scenario(make: Any) -> None:
    environment = make(overrides={"gravity": 3.0})
    assert environment.episodes.backend._mirror.scenario.gravity == 3.0


# ------------------------------------------------------------------------------------------------ features


def test_features_equal_the_state_of_the_robot(make: Any) -> None:
    """Compare the features with pose, twist and joints of the same world."""
    environment = make(whole_worlds=True)
    environment.reset(seed=1)
    for _ in range(30):
        environment.step(np.array([0.5, 0.2, -1, 1], np.float32))
    world = environment.episodes.backend._episode_worlds[0].world
    sam, features = world.robots["sam"], environment.episodes.buffers.now[0]
    assert features[X : X + 3] == pytest.approx(sam.pose.position)
    assert features[[ROLL, PITCH, YAW]] == pytest.approx(np.radians(_degrees(sam.pose)), abs=1e-9)
    assert features[U : U + 3] == pytest.approx(sam.twist.linear)
    assert features[P : P + 3] == pytest.approx(sam.twist.angular)
    assert features[BASE_FEATURES : BASE_FEATURES + 3] == pytest.approx(
        [sam.joint_position(joint) for joint in SAM_DEPTH.joints]
    )


def _degrees(pose: Any) -> Any:
    from skerry.core.frames import quaternion_to_rpy

    return np.degrees(quaternion_to_rpy(pose.orientation))


def test_commands_reach_the_actuators_as_their_own_commands_would(make: Any) -> None:
    environment = make(whole_worlds=True)
    environment.reset(seed=1)
    environment.step(np.array([0.5, -1, 0.25, 2.0], np.float32))  # beyond 1 is 1
    actuators = environment.episodes.backend._episode_worlds[0].world.robots["sam"].actuators
    setpoints = {
        name: actuators[name].setpoint for name in ("lcg", "vbs", "thrust_vector_pitch", "thruster1", "thruster2")
    }
    assert setpoints == pytest.approx(
        {"lcg": 75.0, "vbs": 0.0, "thrust_vector_pitch": 0.0305, "thruster1": 1000.0, "thruster2": 1000.0}
    )


def test_with_sensors_observations_have_noise_but_rewards_use_the_true_state(make: Any) -> None:
    truth, sensors = make(), make(observation="sensors")
    assert isinstance(truth.episodes.backend, BatchBackend)
    for environment in (truth, sensors):
        environment.reset(seed=3)
    for _ in range(20):
        true, true_reward, *_ = truth.step(NOTHING)
        observed, reward, *_ = sensors.step(NOTHING)
        assert reward == true_reward
    assert (observed != true).any()
    assert observed[:2] == pytest.approx(true[:2], abs=0.1)  # pressure to some centimetres


def test_a_scan_has_the_nearest_point_of_each_sector() -> None:
    scan = skerry.gym.Scan("lidar", 4, 50.0, {})
    ranges = np.zeros(4)
    points = np.array([[3.0, 4.0, 0.0], [6.0, 8.0, 0.0], [-1.0, -1.0, 0.0]])  # ahead to the left, and astern
    sectors(scan, points, ranges)
    assert ranges == pytest.approx([math.sqrt(2), 50, 5, 50])


# ------------------------------------------------------------------------------------------------ end of episodes


def test_with_next_step_an_episode_is_reset_in_a_separate_step(make: Any) -> None:
    """Gymnasium's AutoresetMode.NEXT_STEP: the reset step returns the first observation and no reward."""
    vector = make(VectorEnvironment, "SamDepth", 2, max_episode_steps=3, threads=1)
    vector.reset(seed=1)
    actions = np.zeros((2, 4), np.float32)
    ends = []
    for _ in range(8):
        observations, rewards, _, truncated, infos = vector.step(actions)
        ends.append(truncated.tolist())
        if len(ends) == 4:
            assert (rewards == 0).all()
            assert "depth" in infos and observations[:, 2] == pytest.approx([0, 0])
    assert ends == [[False] * 2] * 2 + [[True] * 2] + [[False] * 2] * 3 + [[True] * 2] + [[False] * 2]


def test_worlds_end_and_reset_independently(make: Any) -> None:
    vector = make(VectorEnvironment, "SamDepth", 2, max_episode_steps=4, threads=1)
    first, _ = vector.reset(seed=1)
    vector.step(np.zeros((2, 4), np.float32))
    again, _ = vector.reset(seed=[7, 1], options={"reset_mask": np.array([False, True])})
    assert (again[1] != first[1]).any()
    alone, _ = make().reset(seed=1)
    assert again[1].tobytes() == alone.tobytes()
    lengths = [vector.step(np.zeros((2, 4), np.float32))[3].tolist() for _ in range(4)]
    assert lengths == [[False, False], [False, False], [True, False], [False, True]]


def test_with_same_step_the_last_observation_is_in_info(make: Any) -> None:
    vector = make(
        VectorEnvironment, "SamDepth", 2, max_episode_steps=2, threads=1, autoreset_mode=AutoresetMode.SAME_STEP
    )
    vector.reset(seed=1)
    vector.step(np.zeros((2, 4), np.float32))
    observations, _, _, truncated, infos = vector.step(np.zeros((2, 4), np.float32))
    assert truncated.all()
    assert (infos["final_obs"][0] != observations[0]).any()
    assert infos["final_info"]["is_success"].shape == (2,)


def test_dictionary_observations_of_a_vector_have_one_row_per_world(make: Any) -> None:
    settings = {"max_episode_steps": 2, "threads": 1, "autoreset_mode": AutoresetMode.SAME_STEP}
    flat = make(VectorEnvironment, "SamDepth", 3, **settings)
    entries = make(VectorEnvironment, "SamDepth", 3, dict_observations=True, **settings)
    expected, (observations, _) = flat.reset(seed=1)[0], entries.reset(seed=1)
    assert observations in entries.observation_space
    for _ in range(2):
        assert (
            np.concatenate([observations[name] for name in SAM_DEPTH.observations], 1).tobytes() == expected.tobytes()
        )
        expected, _, _, _, flat_infos = flat.step(np.zeros((3, 4), np.float32))
        observations, _, _, truncated, infos = entries.step(np.zeros((3, 4), np.float32))
        assert observations in entries.observation_space
    assert truncated.all()
    for world in range(3):
        last = infos["final_obs"][world]
        assert last in entries.single_observation_space
        assert (np.concatenate([last[name] for name in SAM_DEPTH.observations]) == flat_infos["final_obs"][world]).all()


def test_several_robots_can_have_dictionary_observations(make: Any) -> None:
    fleet = make(ParallelEnvironment, "SamDepth", 2, dict_observations=True)
    observations, _ = fleet.reset(seed=1)
    assert all(observations[name] in fleet.observation_space(name) for name in fleet.agents)


def test_without_autoreset_a_step_after_the_end_is_refused(make: Any) -> None:
    vector = make(
        VectorEnvironment, "SamDepth", 1, max_episode_steps=1, threads=1, autoreset_mode=AutoresetMode.DISABLED
    )
    vector.reset(seed=1)
    vector.step(np.zeros((1, 4), np.float32))
    with pytest.raises(SkerryError, match="reset_mask"):
        vector.step(np.zeros((1, 4), np.float32))


def test_an_episode_that_leaves_its_bounds_is_terminated(make: Any) -> None:
    environment = make(randomise={"robots.sam.pose.position.2": Choice([-0.45])})
    environment.reset(seed=1)
    _, reward, terminated, truncated, info = environment.step(NOTHING)
    assert terminated and not truncated and reward < -4
    assert info == {"is_success": False}


@pytest.mark.parametrize("whole_worlds", [False, True])
def test_a_world_that_diverges_is_truncated_with_a_reason(make: Any, whole_worlds: bool) -> None:
    environment = make(whole_worlds=whole_worlds)
    environment.reset(seed=1)
    backend = environment.episodes.backend
    engine = (
        backend._engine if isinstance(backend, BatchBackend) else backend._episode_worlds[0].world.robots["sam"].engine
    )
    engine.part("qvel")[0, 0] = 1e7
    _, _, terminated, truncated, info = environment.step(NOTHING)
    assert truncated and not terminated
    assert "sam" in info["failure"]
    environment.reset(seed=1)
    assert not environment.step(NOTHING)[3]


def test_a_vector_continues_when_one_of_its_worlds_diverges(make: Any) -> None:
    vector = make(VectorEnvironment, "SamDepth", 3, threads=2)
    vector.reset(seed=1)
    vector.episodes.backend._engine.part("qvel")[1, 0] = 1e7
    _, _, _, truncated, infos = vector.step(np.zeros((3, 4), np.float32))
    assert truncated.tolist() == [False, True, False]
    assert "sam" in infos["failure"][1]
    assert not vector.step(np.zeros((3, 4), np.float32))[3].any()


# ------------------------------------------------------------------------------------------------ invalid input


def test_an_action_that_is_not_a_number_is_refused(make: Any) -> None:
    environment = make()
    environment.reset(seed=1)
    with pytest.raises(SkerryError, match="NaN or infinity"):
        environment.step(np.array([0, np.nan, 0, 0], np.float32))
    with pytest.raises(SkerryError, match=r"expected \(1, 4\)"):
        environment.step(np.zeros(3, np.float32))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"observation": "sensor"}, "sensors"),
        ({"render_mode": "human"}, "rgb_array"),
        ({"steps": 0}, "at least one step"),
    ],
)
def test_an_invalid_setting_gives_a_clear_error(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SkerryError, match=words):
        Environment("SamDepth", **settings)


def test_an_unknown_task_gives_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="SamDepth"):
        Environment("SamDept")


def test_a_command_beyond_the_limits_of_its_actuator_is_refused() -> None:
    from dataclasses import replace

    with pytest.raises(SkerryError, match="from 0 to 100"):
        Environment(replace(SAM_DEPTH, commands=(ActionCommand("vbs", low=-50, high=100), *SAM_DEPTH.commands[1:])))


WITHOUT_GYMNASIUM = """
import sys
sys.modules["gymnasium"] = None
try:
    import skerry.gym
except ImportError as error:
    print(type(error).__name__, error)
"""


def test_without_gymnasium_the_error_says_what_to_install() -> None:
    said = subprocess.run([sys.executable, "-c", WITHOUT_GYMNASIUM], capture_output=True, text=True, check=False)
    assert "pip install 'skerry[gym]'" in said.stdout + said.stderr


# ------------------------------------------------------------------------------------------------ images and fleets


@pytest.mark.parametrize("whole_worlds", [False, True])
def test_the_camera_renders_the_environment(make: Any, whole_worlds: bool) -> None:
    environment = make(render_mode="rgb_array", whole_worlds=whole_worlds)
    environment.reset(seed=1)
    render = environment.render()
    assert render.shape == (360, 640, 3) and render.dtype == np.uint8
    assert render.std() > 3  # SAM is visible in the water
    for _ in range(20):
        environment.step(np.array([1, 1, -1, 1], np.float32))
    assert (environment.render() != render).any()


def test_both_backends_render_the_same_image(make: Any) -> None:
    images = []
    for whole_worlds in (False, True):
        environment = make(render_mode="rgb_array", whole_worlds=whole_worlds)
        environment.reset(seed=1)
        environment.step(np.array([1, 1, -1, 1], np.float32))
        images.append(environment.render())
    assert (images[0] == images[1]).all()


@pytest.mark.parametrize("task", ["SamDepth", "EvoloSlalom"])
def test_several_robots_pass_the_checks_of_pettingzoo(make: Any, task: str) -> None:
    parallel_api_test(make(ParallelEnvironment, task, 2, spacing=20.0, max_episode_steps=15), num_cycles=40)


def test_robots_of_a_fleet_have_the_same_task_relative_to_their_start(make: Any) -> None:
    fleet = make(ParallelEnvironment, "BluerovStation", 3, spacing=6.0)
    observed, infos = fleet.reset(seed=1)
    assert fleet.agents == ["rov_0", "rov_1", "rov_2"]
    north = [infos["rov_0"][f"robots.rov_{k}.pose.position.1"] - 6.0 * k for k in range(3)]
    assert all(abs(index) < 1.5 for index in north) and len(set(north)) == 3
    assert all(np.abs(observed[name][:2]).max() < 2.2 for name in fleet.agents)
    first = fleet.step({name: np.zeros(6, np.float32) for name in fleet.agents})
    fleet.reset(seed=1)
    second = fleet.step({name: np.zeros(6, np.float32) for name in fleet.agents})
    assert all((first[0][name] == second[0][name]).all() for name in fleet.agents)
    assert first[1] == second[1]


def test_a_task_with_a_rope_has_no_fleet() -> None:
    with pytest.raises(SkerryError, match="attaches its robot"):
        ParallelEnvironment("QuadrotorLoad")


def test_gymnasium_can_make_an_id_with_the_module_name() -> None:
    environment = gymnasium.make("skerry.gym:skerry/SamDepth-v0", steps=4)
    assert environment.reset(seed=1)[0].shape == environment.observation_space.shape
    environment.close()

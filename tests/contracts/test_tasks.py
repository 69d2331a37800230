"""Every task passes Gymnasium's checker, is deterministic, and gives equal bits alone, in a vector, on each backend."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import skerry.gym
from skerry.gym import Environment, Task, VectorEnvironment
from skerry.gym.batch_backend import BatchBackend
from skerry.gym.tasks import shipped_tasks

TASKS = list(shipped_tasks().values())
NATIVE = [task for task in TASKS if not task.scan and not any(command.manual_setpoints for command in task.commands)]
STEPS = 12

pytestmark = pytest.mark.filterwarnings("ignore:.*different from the unwrapped version.*")


def name_of(task: Task) -> str:
    return task.name


def actions_of(task: Task, steps: int, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (steps, len(task.commands))).astype(np.float32)


def episode_world(environment: Environment, actions: np.ndarray, seed: int) -> list[bytes]:
    """Return everything that episodes give, as bytes; reset at the end of an episode."""
    found = [environment.reset(seed=seed)[0].tobytes()]
    for action in actions:
        observation, reward, terminated, truncated, _ = environment.step(action)
        found.append(observation.tobytes() + np.array([reward, terminated, truncated]).tobytes())
        if terminated or truncated:
            found.append(environment.reset()[0].tobytes())
    return found


@pytest.mark.parametrize("task", TASKS, ids=name_of)
def test_it_passes_the_checker_of_gymnasium(task: Task) -> None:
    environment = gymnasium.make(f"skerry/{task.name}-v0", render_mode="rgb_array")
    check_env(environment.unwrapped)
    environment.close()


@pytest.mark.parametrize("task", TASKS, ids=name_of)
def test_dictionary_observations_pass_the_checker_and_equal_the_flat_ones(task: Task) -> None:
    flat, entries = Environment(task), Environment(task, dict_observations=True)
    check_env(entries, skip_render_check=True)
    assert list(entries.observation_space.spaces) == sorted(task.observations)
    expected, _ = flat.reset(seed=4)
    observation, _ = entries.reset(seed=4)
    for action in actions_of(task, STEPS):
        assert np.concatenate([observation[name] for name in task.observations]).tobytes() == expected.tobytes()
        assert all(len(observation[name]) == len(parts) for name, parts in task.observations.items())
        expected, reward, *_ = flat.step(action)
        observation, dict_reward, *_ = entries.step(action)
        assert dict_reward == reward
    flat.close()
    entries.close()


@pytest.mark.parametrize("observation", ["truth", "sensors"])
@pytest.mark.parametrize("task", TASKS, ids=name_of)
def test_the_same_seed_gives_the_same_episode_and_another_another(task: Task, observation: str) -> None:
    actions = actions_of(task, STEPS)
    environment = Environment(task, observation=observation)
    first = episode_world(environment, actions, seed=5)
    assert episode_world(environment, actions, seed=5) == first
    assert episode_world(environment, actions, seed=6) != first
    environment.close()


@pytest.mark.parametrize("task", TASKS, ids=name_of)
def test_each_world_of_a_vector_is_bit_equal_to_the_environment_alone(task: Task) -> None:
    actions = np.stack([actions_of(task, STEPS, seed) for seed in range(3)], axis=1)
    with_others = VectorEnvironment(task, 3, threads=2, max_episode_steps=5, autoreset_mode=AutoresetMode.SAME_STEP)
    observed = [with_others.reset(seed=9)[0]]
    rewards = []
    for action in actions:
        observation, reward, *_ = with_others.step(action)
        observed.append(observation)
        rewards.append(reward)
    with_others.close()
    for world in range(3):
        alone = gymnasium.make(f"skerry/{task.name}-v0", max_episode_steps=5)
        observation, _ = alone.reset(seed=9 + world)
        assert observation.tobytes() == observed[0][world].tobytes()
        for number, action in enumerate(actions[:, world]):
            observation, reward, terminated, truncated, _ = alone.step(action)
            if terminated or truncated:
                observation, _ = alone.reset()
            assert observation.tobytes() == observed[number + 1][world].tobytes()
            assert reward == rewards[number][world]
        alone.close()


@pytest.mark.parametrize("task", NATIVE, ids=name_of)
def test_rows_of_a_batch_are_bit_equal_to_whole_worlds(task: Task) -> None:
    """Two backends that share only the engine and the task's functions agree in every bit."""
    fast, whole = Environment(task), Environment(task, whole_worlds=True)
    assert isinstance(fast.episodes.backend, BatchBackend)
    assert not isinstance(whole.episodes.backend, BatchBackend)
    actions = actions_of(task, STEPS)
    assert episode_world(fast, actions, seed=2) == episode_world(whole, actions, seed=2)
    fast.close()
    whole.close()


@pytest.mark.parametrize("task", TASKS, ids=name_of)
def test_its_id_is_registered_with_its_length(task: Task) -> None:
    specification = gymnasium.spec(f"skerry/{task.name}-v0")
    assert specification.max_episode_steps == task.control_steps
    assert skerry.gym.Environment.__module__ in str(specification.entry_point)

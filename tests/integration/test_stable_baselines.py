"""Stable-Baselines3 on the native vector environment; skipped where it is not installed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from skerry.gym import VectorEnvironment
from skerry.gym.stable_baselines import StableBaselinesEnvironment

NOTHING = np.zeros((2, 4), np.float32)


def test_it_returns_the_data_of_the_vector_environment() -> None:
    worlds, vector = StableBaselinesEnvironment("SamDepth", 2), VectorEnvironment("SamDepth", 2)
    worlds.seed(5)
    assert (worlds.reset() == vector.reset(seed=5)[0]).all()
    observed, rewards, ended, infos = worlds.step(NOTHING)
    expected, expected_rewards, *_ = vector.step(NOTHING)
    assert (observed == expected).all()
    assert rewards == pytest.approx(expected_rewards)
    assert not ended.any() and infos == [{}, {}]
    worlds.close()
    vector.close()


def test_dictionary_observations_suit_a_policy_with_several_inputs() -> None:
    from stable_baselines3 import PPO

    worlds = StableBaselinesEnvironment("SamDepth", 2, steps=20, max_episode_steps=10, dict_observations=True)
    model = PPO("MultiInputPolicy", worlds, n_steps=16, batch_size=32, n_epochs=1, device="cpu")
    model.learn(32)
    assert model.predict(worlds.reset())[0].shape == (2, 4)
    worlds.close()


def test_a_truncated_episode_reports_its_last_observation_and_is_reset() -> None:
    worlds = StableBaselinesEnvironment("SamDepth", 2, max_episode_steps=3)
    worlds.seed(5)
    worlds.reset()
    for _ in range(3):
        observed, _, ended, infos = worlds.step(NOTHING)
    assert ended.all()
    assert all(info["TimeLimit.truncated"] for info in infos)
    assert (infos[0]["terminal_observation"] != observed[0]).any()
    worlds.close()


def test_a_policy_can_be_trained_and_evaluated() -> None:
    from stable_baselines3 import PPO

    worlds = StableBaselinesEnvironment("SamDepth", 4, steps=20, max_episode_steps=10)
    model = PPO("MlpPolicy", worlds, n_steps=16, batch_size=32, n_epochs=1, device="cpu")
    model.learn(64)
    actions, _ = model.predict(worlds.reset())
    assert actions.shape == (4, 4)
    worlds.close()

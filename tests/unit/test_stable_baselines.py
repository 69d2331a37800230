"""The native vector as Stable-Baselines3 wants it; skipped where that is not installed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from skerry.gym import VectorEnvironment
from skerry.gym.stable_baselines import StableBaselinesEnvironment

NOTHING = np.zeros((2, 4), np.float32)


def test_it_gives_what_the_vector_gives() -> None:
    worlds, vector = StableBaselinesEnvironment("SamDepth", 2), VectorEnvironment("SamDepth", 2)
    worlds.seed(5)
    assert (worlds.reset() == vector.reset(seed=5)[0]).all()
    seen, rewards, ended, infos = worlds.step(NOTHING)
    expected, expected_rewards, *_ = vector.step(NOTHING)
    assert (seen == expected).all()
    assert rewards == pytest.approx(expected_rewards)
    assert not ended.any() and infos == [{}, {}]
    worlds.close()
    vector.close()


def test_an_episode_that_is_cut_off_tells_its_last_observation_and_begins_anew() -> None:
    worlds = StableBaselinesEnvironment("SamDepth", 2, max_episode_steps=3)
    worlds.seed(5)
    worlds.reset()
    for _ in range(3):
        seen, _, ended, infos = worlds.step(NOTHING)
    assert ended.all()
    assert all(info["TimeLimit.truncated"] for info in infos)
    assert (infos[0]["terminal_observation"] != seen[0]).any()
    worlds.close()


def test_a_policy_learns_on_it_and_is_asked() -> None:
    from stable_baselines3 import PPO

    worlds = StableBaselinesEnvironment("SamDepth", 4, steps=20, max_episode_steps=10)
    model = PPO("MlpPolicy", worlds, n_steps=16, batch_size=32, n_epochs=1, device="cpu")
    model.learn(64)
    actions, _ = model.predict(worlds.reset())
    assert actions.shape == (4, 4)
    worlds.close()

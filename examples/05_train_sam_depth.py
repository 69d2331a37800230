"""Train SAM to dive: PPO of Stable-Baselines3 on the native vector environment, with its learning curve.

Needs `pip install 'skerry[gym]' stable-baselines3 matplotlib`. A full training takes some minutes on two cores:
`python examples/05_train_sam_depth.py --steps 800000 --curve curve.png`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

try:
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import VecMonitor
except ImportError:
    print("this example needs Stable-Baselines3; run: pip install stable-baselines3")
    sys.exit()

from skerry.gym import VectorEnvironment
from skerry.gym.stable_baselines import StableBaselinesEnvironment

TASK = "SamDepth"
STEPS = 20  # physics steps per control step: 10 decisions per second suffice for a vehicle of 15 kg
WORLDS = 64
EPISODES = 100  # of the evaluation, with seeds that training does not use


class Curve(BaseCallback):
    """Recorder of the mean return of the latest hundred episodes during training."""

    def __init__(self) -> None:
        super().__init__()
        self.points: list[tuple[int, float, float]] = []

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        latest = self.model.ep_info_buffer or ()
        if latest:
            returns = [episode["r"] for episode in latest]
            self.points.append((self.num_timesteps, float(np.mean(returns)), float(np.std(returns))))
            print(f"{self.num_timesteps:8} steps: return {np.mean(returns):6.2f}", flush=True)


def evaluate(model: PPO) -> tuple[float, float]:
    """Return the mean return and the success rate."""
    worlds = VectorEnvironment(TASK, EPISODES, steps=STEPS)
    observations, _ = worlds.reset(seed=1_000_000)
    returns, going = np.zeros(EPISODES), np.ones(EPISODES, bool)
    success = np.zeros(EPISODES, bool)
    while going.any():
        actions, _ = model.predict(observations, deterministic=True)
        observations, rewards, terminated, truncated, infos = worlds.step(actions)
        returns += rewards * going
        if "is_success" in infos:
            success |= infos["is_success"] & going & truncated
        going &= ~(terminated | truncated)
    worlds.close()
    return float(returns.mean()), float(success.mean())


def draw(points: list[tuple[int, float, float]], file: Path) -> None:
    """Draw the learning curve to a file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    steps, mean, spread = np.array(points).T
    figure, axes = pyplot.subplots(figsize=(6.4, 3.6), dpi=100)
    axes.fill_between(steps, mean - spread, mean + spread, alpha=0.2, linewidth=0)
    axes.plot(steps, mean)
    axes.set(xlabel="control steps", ylabel="return of an episode", title="SamDepth, PPO")
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20_000, help="control steps to train for")
    parser.add_argument("--curve", type=Path, help="image file for the learning curve")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    worlds = VecMonitor(StableBaselinesEnvironment(TASK, WORLDS, steps=STEPS))
    model = PPO(
        "MlpPolicy",
        worlds,
        n_steps=200,
        batch_size=1600,
        n_epochs=8,
        gamma=0.98,
        gae_lambda=0.95,
        learning_rate=lambda left: 1e-3 * left + 5e-5,
        policy_kwargs={"log_std_init": -0.5},
        seed=chosen.seed,
        device="cpu",
    )
    curve = Curve()
    model.learn(chosen.steps, callback=curve)
    score, success = evaluate(model)
    print(f"return {score:.2f} of at most 20, {success:.0%} of {EPISODES} episodes end within 0.3 m of their depth")
    if chosen.curve is not None:
        draw(curve.points, chosen.curve)
    worlds.close()


if __name__ == "__main__":
    main()

"""Learning: control steps per second of SamDepth with true features, single and vectorised on two cores.

A control step is 10 ms, two physics steps. The speedup is that of two native threads over one, in the same run.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from skerry.benchmarks._goal import Goal
from skerry.benchmarks._timing import best_wall

ID = "skerry/SamDepth-v0"
WORLDS = 256
STEPS = 50  # of the single environment per measurement
REPEATS = 150

GOALS = {
    "gym.single.env_steps_per_s": Goal(20_000, at_least=True),
    "gym.vector.env_steps_per_s": Goal(60_000, at_least=True),
    "gym.vector.speedup": Goal(1.7, at_least=True),
}


def measure() -> dict[str, float]:
    """Return all figures of this part, best of many short measurements; nothing without the extra `gym`."""
    if find_spec("gymnasium") is None:
        return {}
    import gymnasium

    import skerry.gym  # noqa: F401  # registers the tasks

    single = gymnasium.make(ID)
    values = {"gym.single.env_steps_per_s": STEPS / best_wall(_steps(single, STEPS), REPEATS)}
    single.close()
    best = {1: float("inf"), 2: float("inf")}
    vectors = {threads: gymnasium.make_vec(ID, WORLDS, threads=threads) for threads in best}
    actions = {threads: _steps(vector, 1) for threads, vector in vectors.items()}
    for _ in range(REPEATS):
        for threads, action in actions.items():
            best[threads] = min(best[threads], best_wall(action, repeats=1))
    for vector in vectors.values():
        vector.close()
    values["gym.vector.env_steps_per_s"] = WORLDS / best[2]
    values["gym.vector.speedup"] = best[1] / best[2]
    return values


def _steps(environment: Any, count: int) -> Any:
    """Return a function that makes steps with random actions and resets ended episodes, like a training loop."""
    environment.action_space.seed(1)
    actions = [environment.action_space.sample() for _ in range(100)]
    environment.reset(seed=1)

    def run() -> None:
        for number in range(count):
            _, _, terminated, truncated, _ = environment.step(actions[number % 100])
            if terminated is True or truncated is True:
                environment.reset()

    return run

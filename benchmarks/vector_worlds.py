"""Steps a second of vector environments, through the interface of Gymnasium.

python benchmarks/vector_worlds.py
"""

from __future__ import annotations

import time

import gymnasium

import quickstudy.adapters.gym

STEPS, ACTIONS = 1000, 50


def main() -> None:
    """A line for each task and number of worlds."""
    assert quickstudy.adapters.gym.WorldEnv  # importing it registers the environments
    for task in ("curriculum/micro-1", "games/listener"):
        for count in (64, 256, 1024):
            envs = gymnasium.make_vec("quickstudy/World-v1", num_envs=count, task=task)
            envs.reset(seed=0)
            envs.action_space.seed(0)
            actions = [envs.action_space.sample() for _ in range(ACTIONS)]
            for action in actions:
                envs.step(action)
            start = time.perf_counter()
            for step in range(STEPS):
                envs.step(actions[step % ACTIONS])
            seconds = time.perf_counter() - start
            print(f"{task:20} {count:5} worlds  {STEPS * count / seconds:12,.0f} steps a second")


if __name__ == "__main__":
    main()

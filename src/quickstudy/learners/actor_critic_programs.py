"""Programs of actor and critic: one step or one update by itself; and in a pure world acting, its
answers and every update in one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from quickstudy.base.task import Turn
from quickstudy.jax_gateway import eqx, jax, jnp, key_from_words, lax
from quickstudy.learners.lanes import Frame, over_lanes
from quickstudy.learners.optimiser import OptimiserConfig, optimiser_step
from quickstudy.learners.rollout import Step, logged_loop, turns

if TYPE_CHECKING:
    from quickstudy.learners.actor_critic import ActorCritic

ROOM = 4096
"""The most steps of one call."""


class Mind(NamedTuple):
    """What a pupil has in mind; see `ActorPupil`. All arrays have a lane axis, place and steps are
    one for all.
    """

    arrays: Any
    state: Any
    seen: Any
    done: Any
    gained: Any
    last: Any
    place: Any
    steps: Any


class Lived(NamedTuple):
    """The result of a program: agent and world at the end, the observation there; steps taken,
    and (lane, step) observations, actions and rewards, of which those after the last step are
    undefined.
    """

    mind: Mind
    world: Any
    observation: Any
    reward: Any
    steps: Any
    seen: Any
    done: Any
    gained: Any


class Continued(NamedTuple):
    """Where a world without episodes is, (lane, ...), what is seen there, and the last reward."""

    world: Any
    observation: Any
    reward: Any


class Continuing(NamedTuple):
    """A world without episodes, for `turns`. go: (states, actions) of all lanes -> (states,
    observations, rewards). It draws from its own state, so there are no keys.
    """

    go: Callable[..., Any]

    def keys(self, at: Continued) -> tuple[None, None]:
        """None: neither for the policy, which folds in its own number of a step."""
        return None, None

    def step(self, at: Continued, keys: None, action: Any) -> tuple[Continued, Turn, None]:
        """One step in every lane."""
        world, observation, reward = self.go(at.world, action)
        reward = reward.astype(jnp.float32)
        return Continued(world, observation, reward), Turn(observation, reward, False), None


def _parts(frame: Frame, training: ActorCritic, lanes: int) -> tuple[Callable[..., Any], ...]:
    """What a program is made of: act, update and restart, each of the arrays of all lanes first."""
    back, capacity = training.history, training.history + training.every

    def context(model: Any, seen: Any) -> Any:
        rows = jax.tree.map(lambda part: part[:, None], seen)
        return model.core.unroll(model.core.start(1, capacity), rows)[0]

    def chosen(model: Any, state: Any, now: Any, words: Any, number: Any) -> Any:
        state, features = model.core.step(state, jax.tree.map(lambda part: part[None], now))
        logits = model.head(features)[0, :-1]
        key = jax.random.fold_in(key_from_words(words), jnp.maximum(number, 0))
        noise = jnp.where(number < 0, 0.0, jax.random.gumbel(key, logits.shape))
        return state, jnp.argmax(logits + noise).astype(jnp.int32)

    def updated(model: Any, moments: Any, seen: Any, done: Any, gained: Any, settings: Any) -> Any:
        rate, discount, trace, entropy, critic = settings
        trained, fixed = eqx.partition(model, model.trainable())

        def loss(trained: Any) -> Any:
            model = eqx.combine(trained, fixed)
            rows = jax.tree.map(lambda part: part[:, None], seen)
            outputs = model.head(
                model.core.unroll(model.core.start(1, capacity), rows)[1][back:, 0]
            )
            values, chances = outputs[:, -1], jax.nn.log_softmax(outputs[:, :-1])
            fixed_values = lax.stop_gradient(values)
            # The value after the last step is not known yet: that of the last step replaces it.
            errors = (
                gained + discount * jnp.append(fixed_values[1:], fixed_values[-1]) - fixed_values
            )
            _, advantage = lax.scan(
                lambda later, error: (error + discount * trace * later,) * 2,
                0.0,
                errors,
                reverse=True,
            )
            gains = jnp.take_along_axis(chances, done[:, None], axis=1)[:, 0] * advantage
            spread = -(jnp.exp(chances) * chances).sum(axis=1)
            miss = jnp.square(values - fixed_values - advantage)
            return (critic * miss - gains - entropy * spread).mean()

        gradient = jax.grad(loss)(trained)
        trained, moments = optimiser_step(trained, moments, gradient, OptimiserConfig(rate))
        return eqx.combine(trained, fixed), moments

    def act(arrays: Any, *rest: Any) -> Any:
        return over_lanes(chosen, lanes)(frame.filled(arrays)[0], *rest)

    def update(arrays: Any, *rest: Any) -> Any:
        return Frame.of(over_lanes(updated, lanes)(*frame.filled(arrays), *rest))[0]

    def restart(arrays: Any, seen: Any) -> Any:
        return over_lanes(context, lanes)(frame.filled(arrays)[0], seen)

    return act, update, restart


@lru_cache
def step_programs(
    frame: Frame, training: ActorCritic, lanes: int
) -> tuple[Callable[..., Any], ...]:
    """Act, update and restart, a program each."""
    return tuple(jax.jit(part) for part in _parts(frame, training, lanes))


@lru_cache
def life_program(
    frame: Frame,
    training: ActorCritic,
    lanes: int,
    alone: bool,
    step: Callable[..., Any],
    halts: Callable[..., Any],
) -> Callable[..., Lived]:
    """See `ActorPupil.live_in`. alone: the core reads what is seen, and nothing else."""
    act, update, restart = _parts(frame, training, lanes)
    back, every = training.history, training.every
    go = over_lanes(step, lanes)

    @jax.jit
    def program(
        mind: Mind, world: Any, observation: Any, reward: Any, words: Any, settings: Any, steps: Any
    ) -> Lived:
        def goes_on(lived: Lived) -> Any:
            return (lived.steps < steps) & ~halts(lived.world).any()

        def gaining(mind: Mind, reward: Any) -> Any:
            return mind.gained.at[:, mind.place - 1].set(reward)

        def renewed(lived: Lived) -> Lived:
            mind = lived.mind  # the last reward may have come with an earlier call
            arrays = update(
                mind.arrays, mind.seen, mind.done, gaining(mind, lived.reward), settings
            )
            seen = jax.tree.map(lambda part: jnp.roll(part, -every, axis=1), mind.seen)
            state = restart(arrays, jax.tree.map(lambda part: part[:, :back], seen))
            mind = mind._replace(
                arrays=arrays, seen=seen, state=state, place=jnp.zeros_like(mind.place)
            )
            return lived._replace(mind=mind)

        def acting(lived: Lived) -> Lived:
            """Steps up to the next update. The model is not part of the loop: it would be copied at
            every step.
            """
            arrays = lived.mind.arrays

            def on(carry: Any, at: Continued, keys: None) -> Any:
                mind, number = carry
                now = (
                    at.observation
                    if alone
                    else {
                        "seen": at.observation,
                        "done": mind.last,
                        "reward": jnp.sign(at.reward).astype(jnp.int32) + 1,
                    }
                )
                seen = jax.tree.map(
                    lambda kept, part: kept.at[:, back + mind.place].set(part), mind.seen, now
                )
                # What comes before the first of these steps has been done by the caller.
                gained = jnp.where(
                    (number > 0) & (mind.place > 0), gaining(mind, at.reward), mind.gained
                )
                state, chosen = act(
                    arrays, mind.state, now, words, jnp.full(lanes, mind.steps, jnp.int32)
                )
                mind = mind._replace(
                    state=state,
                    seen=seen,
                    done=mind.done.at[:, mind.place].set(chosen),
                    gained=gained,
                    last=chosen,
                    place=mind.place + 1,
                    steps=mind.steps + 1,
                )
                return (mind, number + 1), chosen, None

            def log(step: Step) -> Any:
                return step.before.observation, step.action, step.reward

            def more(carry: Any, number: Any) -> Any:
                at, (mind, _) = carry
                return (number < steps) & ~halts(at.world).any() & (mind.place < every)

            begin = (
                Continued(lived.world, lived.observation, lived.reward),
                (lived.mind._replace(arrays=None), lived.steps),
            )
            number, (at, (mind, _)), logged = logged_loop(
                turns(Continuing(go), on, log),
                more,
                begin,
                (lived.seen, lived.done, lived.gained),
                lived.steps,
                lambda rows, row, number: rows.at[:, number].set(row),
            )
            seen, done, gained = logged
            return Lived(
                mind._replace(arrays=arrays),
                at.world,
                at.observation,
                at.reward,
                number,
                seen,
                done,
                gained,
            )

        blank = jnp.zeros((lanes, ROOM), jnp.int32)
        begun = Lived(
            mind,
            world,
            observation,
            reward,
            jnp.zeros_like(steps),
            blank,
            blank,
            jnp.zeros((lanes, ROOM), jnp.float32),
        )

        def cycle(lived: Lived) -> Lived:
            return acting(lax.cond(lived.mind.place == every, renewed, lambda lived: lived, lived))

        return lax.while_loop(goes_on, cycle, begun)

    return program

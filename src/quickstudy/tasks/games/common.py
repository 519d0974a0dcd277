"""The ordinary referential game (Denamganaï et al. 2022, Algorithm 4): one space and one language
for a whole run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.examples import Examples
from quickstudy.base.registries import task
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals
from quickstudy.jax_gateway import jax, jnp, key_from_words
from quickstudy.tasks.games.episodes import uniforms
from quickstudy.tasks.games.listener import Named
from quickstudy.tasks.games.one_game import (
    Store,
    draw_game,
    drawn_names,
    game_width,
    named,
    spare_of,
    stimuli_of,
)
from quickstudy.tasks.games.play import in_parts
from quickstudy.tasks.games.spaces import (
    Pools,
    draw_stimuli,
    drawn_axes,
    grid,
    split,
    stimulus_shape,
)
from quickstudy.tasks.games.stimulus_sampling import Decks
from quickstudy.tasks.games.view import Observation, encode


@task(
    "games/common",
    version=1,
    controls=["majority"],
    oracle="no player knows the binning of a space",
)
@dataclass(frozen=True)
class Common(Named):
    """Ordinary referential game: learn one language by heart, then understand it on new
    combinations.

    Every example is one game of a space that is sampled once per run: stimuli and a message.
    Training games have targets of the support pool, test games those of the query pool; all samples
    of a meaning may occur. Parameters are as in `games/listener`; shots, query, rounds, feedback
    and renaming make no difference.

    Sees: its stimuli, the message one-hot.
    Answers: the position of the target, or the number after all positions for none.
    Scored: decisions of the test.
    Chance: 1/(distractors + 2); if not `descriptive`, 1/(distractors + 1).
    Ceiling: 1 for a compositional language; about chance for `language=holistic`.
    Source: Denamganaï, Missaoui and Walker 2022, for the ease of acquisition of a language.
    """

    horizon: ClassVar[int] = 1
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"foils": "mixed", "strict": False, "fair": False}
    }

    @property
    def inputs(self) -> Reals:
        """Stimuli, then the message."""
        return Reals(self.sizes.seen + self.sizes.heard)

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """Games of one space, with targets of the support."""
        space, data = (
            key_from_words(rng.integers(2**32, size=2, dtype=np.uint64)) for _ in range(2)
        )
        return self._games(space, data, 0, count, False)[0]

    def lesson(self, streams: Streams, first: int, count: int) -> Examples:
        """Games to learn from."""
        return self._games(streams.jax("space"), streams.jax("data"), first, count, False)[0]

    def exam(self, streams: Streams, count: int) -> tuple[Examples, dict[str, Any]]:
        """Games to be tested on, and what is known of every question."""
        examples, foil = self._games(streams.jax("space"), streams.jax("test"), 0, count, True)
        number = np.arange(count)
        return examples, {
            "episode": number,
            "game": number,
            "query": np.ones(count, bool),
            "foil": foil,
        }

    def steps(self, examples: Examples) -> int:
        """Games."""
        return examples.count

    def _games(
        self, space: Any, key: Any, first: int, count: int, tested: bool
    ) -> tuple[Examples, Any]:
        inputs, targets, foil = in_parts(
            lambda numbers: _games(self, space, key, numbers, tested), first, count
        )
        asked = np.ones((1, count), dtype=np.bool_)
        return Examples(inputs[None], targets[None], asked, np.ones(count, np.int64)), foil


@partial(jax.jit, static_argnums=(0, 4))
def _games(task: Common, space: Any, key: Any, numbers: Any, tested: bool) -> tuple[Any, Any, Any]:
    sizes, rules = task.sizes, task.rules()
    meanings = jnp.asarray(grid(sizes.dimensions, sizes.most))
    names = (sizes.words**sizes.length,)
    shapes = (), stimulus_shape(sizes.dimensions, sizes.most, sizes.columns), names
    of_structure, of_stimuli, of_names = uniforms(space, shapes)
    values = rules.structures[jnp.floor(of_structure * len(rules.structures)).astype(jnp.int32)]
    stimuli = draw_stimuli(of_stimuli, values, rules.unequal, rules.warp, rules.mirrored)
    axes = drawn_axes(of_stimuli)[None] if sizes.shuffled else None
    pools = split(values, meanings, rules.threshold)
    everything = jnp.where(rules.balanced, pools.query, pools.support | pools.query)
    around = Decks.counted(jnp.stack([pools.support, everything]).astype(jnp.int32), len(meanings))
    spare = spare_of(Pools(pools.support[None], pools.query[None])) if sizes.distractors else None
    store, names = Store(pools.query[None], around, spare), drawn_names(sizes, of_names)
    targets_of = jnp.argsort(~(pools.query if tested else pools.support))

    def single(number: Any) -> tuple[Any, Any, Any]:
        uniform = jax.random.uniform(jax.random.fold_in(key, number), (1 + game_width(sizes),))
        count = (pools.query if tested else pools.support).sum()
        target = targets_of[jnp.floor(uniform[-1] * count).astype(jnp.int32)].astype(jnp.int32)
        game = draw_game(sizes, rules, store, uniform[:-1], target, jnp.asarray(tested))
        shown = [
            stimuli_of(stimuli[None], 0, meanings[means], own, axes)
            for means, own in (game.speaker, game.listener)
        ]
        message = named(sizes, names, meanings[target], target, shown[0][0])[: sizes.length]
        tokens = jax.nn.one_hot(message, sizes.words + 1).reshape(-1)
        return encode(Observation(shown[1].reshape(-1), tokens)), game.correct, game.foil

    return jax.vmap(single)(numbers)

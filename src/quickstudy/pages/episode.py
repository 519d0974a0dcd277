"""One episode of a meta-referential game: the stimuli that are seen and the messages that are
sent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.blocks import (
    POINTS,
    Axis,
    Block,
    Guide,
    HeatMap,
    Made,
    Mark,
    Panel,
    Plot,
    Plotted,
)
from quickstudy.base.errors import UsageError
from quickstudy.base.registries import block
from quickstudy.base.seeds import Streams
from quickstudy.pages.study_request import Request
from quickstudy.pages.systems import Drawn
from quickstudy.runs.run_spec import make_task


@block("episode", version=1)
class EpisodePicture(Drawn):
    """One episode of every row: the speaker's stimuli or its messages, game by game.

    Settings: `show`: `stimuli` or `messages`; `values`: the structure that the episode must have,
    the first such is taken; `representations`: structures whose stimuli are drawn as ones and zeros
    and as numbers.
    """

    def blocks(self, request: Request) -> Made:
        """A picture for every row."""
        settings, made = request.study.settings, list[Block]()
        for row in request.rows:
            task: Any = make_task(row.task, request.convention)
            episode = _episode(task, request.root, settings.get("values"), request.study.id)
            show = settings.get("show", "stimuli")
            made += (
                _stimuli(request, task, episode)
                if show == "stimuli"
                else _messages(request, task, episode)
            )
        for values in settings.get("representations", []):
            made += _representations(request, list(values))
        return Made(made)


def _episode(task: Any, root: int, values: Any, study: str) -> Any:
    """The first episode of a root seed with given values, as arrays of one episode."""
    wanted = np.array(values) if values else None
    key = Streams(root, task.id, 0).jax("data")
    for first in range(0, 4096, 256):
        drawn = task.episodes(key, first, 256)
        fits = (
            np.arange(256)
            if wanted is None
            else np.flatnonzero((drawn.values == wanted).all(axis=1))
        )
        if len(fits):
            return drawn.alone(fits[0])
    raise UsageError(f"{study}: settings: no episode of {task.id} has the values {values}")


def _stimuli(request: Request, task: Any, episode: Any) -> list[Block]:
    games, support = int(episode.count), int(episode.support)
    panels = []
    for dimension, count in enumerate(episode.values.tolist()):
        series = []
        for value in range(count):
            own = np.flatnonzero(episode.target[:games, dimension] == value)
            shown = episode.speaker[own, 0, dimension]
            series.append(
                Plotted(
                    f"value {value}", Mark(number=value), own.tolist(), shown.tolist(), kind=POINTS
                )
            )
        edges = [Guide(y=-1 + 2 * value / count) for value in range(1, count)]
        guides = [Guide(x=support - 0.5, label="query", strong=True), *edges]
        panels.append(Panel(series, f"dimension {dimension}, {count} values", guides))
    caption = (
        f"What the speaker saw in {games} games, {support} of them of the support phase: one number"
        " for every dimension, coloured by the value that it represents. Lines: the sections of"
        " the values."
    )
    label = f"Stimuli of one episode with {' x '.join(map(str, episode.values.tolist()))} values."
    name = f"{request.name}-stimuli"
    return [
        Plot(
            name,
            caption,
            label,
            Axis("game"),
            Axis("stimulus", range=(-1.0, 1.0)),
            panels,
            direct=False,
        )
    ]


def _messages(request: Request, task: Any, episode: Any) -> list[Block]:
    games = int(episode.count)
    said = episode.message[:games, : task.length]
    heard = episode.renamed[np.arange(task.length), said]
    made: list[Block] = []
    for name, tokens, what in (
        ("said", said, "message"),
        ("heard", heard, "so reaches the listener"),
    ):
        made.append(
            HeatMap(
                name=f"{request.name}-{name}",
                caption=(
                    f"What {what}: tokens by position, game by game; {int(episode.support)} support"
                    " games come first."
                ),
                label=f"Tokens that are {name} in {games} games.",
                rows=[f"token {place + 1}" for place in range(task.length)],
                columns=[str(game) for game in range(games)],
                values=tokens.T.astype(float).tolist(),
                low="least",
                high="greatest",
            )
        )
    return made


def _representations(request: Request, values: list[int]) -> list[Block]:
    """Stimuli of one space as blocks of zeros with a one, and as numbers: only the first change
    their length.
    """
    from quickstudy.tasks.games.spaces import draw_stimuli, stimulus_shape

    rng = Streams(request.root, request.study.id, 0).numpy("representations")
    most, count = max(values), 8
    uniform = rng.random(stimulus_shape(len(values), most, 1), np.float32)
    numbers = np.asarray(draw_stimuli(uniform, np.array(values), 0.0, 0.0))[..., 0]
    latents = np.stack([rng.integers(value, size=count) for value in values], axis=1)
    hot: NDArray[np.float64] = np.concatenate(
        [np.eye(value)[latents[:, i]] for i, value in enumerate(values)], axis=1
    )
    real = numbers[np.arange(len(values)), latents]
    title, columns = (
        " x ".join(map(str, values)),
        ["".join(map(str, row)) for row in latents.tolist()],
    )
    made: list[Block] = []
    for kind, table in (("one-hot", hot), ("numbers", real)):
        made.append(
            HeatMap(
                name=f"{request.name}-{kind}-{'-'.join(map(str, values))}",
                caption=(
                    f"Stimuli of a space with {title} values, as {kind}: {table.shape[1]} entries"
                    " each."
                ),
                label=f"Stimuli as {kind} in a space of {title} values.",
                rows=[str(place) for place in range(table.shape[1])],
                columns=columns,
                values=table.T.tolist(),
                low="least",
                high="greatest",
            )
        )
    return made

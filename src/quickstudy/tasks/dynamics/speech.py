"""Spoken digits: what an ear makes of them, as numbers or as spikes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import task
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.spaces import Reals
from quickstudy.compiled import njit
from quickstudy.data.finding import DataSet
from quickstudy.data.measured import SPOKEN, archive
from quickstudy.data.speech import TI46, ti46
from quickstudy.tasks.dynamics.recordings import ALIKE, Recordings
from quickstudy.tasks.dynamics.series import Floats, taxonomy

BANDS = 40
SPIKE_TAPS, SPIKE_THRESHOLD = 8, 0.9
"""Of spikes: steps over which one is smeared out, and how much of it must be there."""


@dataclass(frozen=True)
class Speech(Recordings):
    """Recordings of words. front: what is seen of them, 40 bands each: `log-mel`, log energies of
    frames of 25 ms in triangular mel bands, pre-emphasis 0.97, each band less its mean; `mfcc`, the
    first 13 cosines of these; `cochlea`, gammatone filters from 100 Hz to 0.45 of the rate,
    rectified, averaged and compressed (power 0.3), over the largest. code: `values`, one frame
    every 10 ms; `spikes`: one every 4 ms, and each band as spikes, 0 or 1, by Ben's spiker
    algorithm (Schrauwen and Van Campenhout 2003), which looks 8 frames ahead. snr: white noise is
    added to all recordings, at so many dB, always the same.
    """

    snr: float | None = None
    front: str = parameter("log-mel", choices=("log-mel", "mfcc", "cochlea"), added=True)
    code: str = parameter("values", choices=("values", "spikes"), added=True)

    def __post_init__(self) -> None:
        if self.code == "spikes" and self.front == "mfcc":
            raise ValueError("spikes are of bands; give front=log-mel or front=cochlea")

    @property
    def inputs(self) -> Reals:
        """The bands."""
        return Reals(13 if self.front == "mfcc" else BANDS)

    def heard(self, sounds: list[Floats], rate: int) -> list[Floats]:
        """(frame, band) of every recording."""
        rng = np.random.default_rng(0)
        found = []
        for sound in sounds:
            if self.snr is not None:
                sound = sound + np.sqrt(sound.var() / 10 ** (self.snr / 10)) * rng.standard_normal(
                    len(sound)
                )
            found.append(self._front(sound, rate))
        return found

    def _front(self, sound: Floats, rate: int) -> Floats:
        often = 250 if self.code == "spikes" else 100
        seen = (
            cochlea(sound, rate, often)
            if self.front == "cochlea"
            else log_mel(sound, rate, often=often)
        )
        if self.front == "mfcc":
            angles = np.pi / BANDS * np.arange(13) * (np.arange(BANDS)[:, None] + 0.5)
            return np.asarray(seen @ np.cos(angles) * np.sqrt(2 / BANDS))
        if self.code == "values":
            return seen
        low, high = (0.0, 1.0) if self.front == "cochlea" else (seen.min(), seen.max())
        return spikes((seen - low) / max(high - low, 1e-12))


@task("dynamics/spoken-digits", version=1, **ALIKE)
@dataclass(frozen=True)
class SpokenDigits(Speech):
    """Say which digit is spoken.

    Sees: log energies in 40 mel bands of frames of 25 ms, one every 10 ms, pre-emphasis 0.97, each
    band less its mean over the utterance; other fronts and codes as said below. Answers: the digit,
    1 at its place and 0 elsewhere. Scored: share of wrong answers (the word error rate), the
    largest mean over the frames taken for the answer. Chance 0.9, which is what a linear rule on
    frames has: bands less their mean, averaged, are 0. Ceiling: unknown. left_out: a speaker, 0 to
    5, whose recordings alone are tested on; none: recordings 0 to 4 of all. Data: Free Spoken Digit
    Dataset, recordings 0 to 19 of six speakers, in the place of TI-46, which is not free.
    Source: Wringe, Trefzer and Stepney, section 7.2, where the word error rate is written as its
    opposite.

    front: `mfcc`, 13 of them, or `cochlea`, 40 gammatone filters, rectified and compressed. code:
    `spikes`, one frame every 4 ms and each band as spikes by Ben's spiker algorithm, which looks 8
    frames ahead. snr: white noise is added to all recordings, at so many dB.
    """

    left_out: int | None = parameter(None, at_least=0, at_most=5)

    sets: ClassVar[tuple[DataSet, ...]] = (SPOKEN,)
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "classification", "unknown", stationary=False, output="one-hot", licence="CC BY-SA 4.0"
    )

    def sequences(self) -> tuple[list[Floats], NDArray[Any], NDArray[np.bool_]]:
        """In the order of the file."""
        audio, offsets, digit, speaker, index = archive(
            SPOKEN, "audio", "offsets", "digit", "speaker", "index"
        )
        sounds = [audio[first:last] / 32768.0 for first, last in itertools.pairwise(offsets)]
        tested = index < 5 if self.left_out is None else speaker == self.left_out
        return self.heard(sounds, 8000), digit.astype(np.int64), tested


task.variant(
    "dynamics/spoken-digits-spikes",
    version=1,
    of=SpokenDigits,
    summary="Say which digit is spoken, by the spikes of a cochlea.",
    front="cochlea",
    code="spikes",
)
task.variant(
    "dynamics/spoken-digits-noisy",
    version=1,
    of=SpokenDigits,
    summary="Say which digit is spoken, in noise of 10 dB.",
    snr=10.0,
)


@task("dynamics/ti-46", version=1, **ALIKE)
@dataclass(frozen=True)
class LicensedDigits(Speech):
    """Say which digit is spoken, in the TI-46 recordings.

    Sees, answers, scored: as in dynamics/spoken-digits. Chance 0.9. Ceiling: word error rates of 0
    to 0.005 are published. speakers: five women, as usual. Data: the user's own licensed copy, a
    folder `ti46` with files such as train/f1/00f1set0.wav; what lies below `test` is tested on.
    Source: Wringe, Trefzer and Stepney, section 7.2; the names of the files are from memory of the
    corpus.
    """

    speakers: tuple[str, ...] = ("f1", "f2", "f3", "f4", "f5")

    sets: ClassVar[tuple[DataSet, ...]] = (TI46,)
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "classification",
        "unknown",
        stationary=False,
        output="one-hot",
        licence="LDC, no copy may be passed on",
    )

    def sequences(self) -> tuple[list[Floats], NDArray[Any], NDArray[np.bool_]]:
        """In the order of their paths."""
        found = ti46(self.speakers)
        rates = {one.rate for one in found}
        if len(rates) > 1:
            raise UsageError(
                f"{TI46.title}: recordings of different rates, {', '.join(map(str, sorted(rates)))}"
            )
        tested = np.array([one.tested for one in found])
        return (
            self.heard([one.sound for one in found], rates.pop()),
            np.array([one.digit for one in found]),
            tested,
        )


def log_mel(sound: Floats, rate: int = 8000, bands: int = BANDS, often: int = 100) -> Floats:
    """(frame, band): log energies in triangular mel bands, less each band's mean; of 25 ms, `often`
    times a second.
    """
    size, hop = rate // 40, rate // often
    length = 1 << (size - 1).bit_length()
    pressed = np.append(sound[0], sound[1:] - 0.97 * sound[:-1])
    pressed = np.pad(pressed, (0, max(0, size - len(pressed))))
    frames = np.lib.stride_tricks.sliding_window_view(pressed, size)[::hop] * np.hamming(size)
    powers = np.abs(np.fft.rfft(frames, length)) ** 2
    energies = np.log(powers @ _mel_bands(rate, bands, length // 2 + 1) + 1e-10)
    return np.asarray((energies - energies.mean(axis=0)) / 4.0)


@lru_cache
def _mel_bands(rate: int, bands: int, bins: int) -> Floats:
    """(bin, band) weights: each band rises from the middle of the one before and falls to that of
    the next.
    """
    mels = np.linspace(0.0, 2595 * np.log10(1 + rate / 2 / 700), bands + 2)
    edges = 700 * (10 ** (mels / 2595) - 1)
    place = np.linspace(0, rate / 2, bins)[:, None]
    low, middle, high = edges[:-2], edges[1:-1], edges[2:]
    return np.clip(
        np.minimum((place - low) / (middle - low), (high - place) / (high - middle)), 0.0, None
    )


def cochlea(sound: Floats, rate: int, often: int = 100) -> Floats:
    """(frame, band), 0 to 1: rectified answers of gammatone filters, the lowest first, averaged
    over each frame, to the power of 0.3, over the largest of all.
    """
    from scipy.signal import lfilter

    hop = rate // often
    whole = np.pad(sound, (0, -len(sound) % hop))
    found = [
        np.maximum(lfilter(b, a, whole), 0.0).reshape(-1, hop).mean(axis=1)
        for b, a in _gammatones(rate)
    ]
    pressed = np.stack(found, axis=1) ** 0.3
    return np.asarray(pressed / max(pressed.max(), 1e-12))


@lru_cache
def _gammatones(rate: int) -> tuple[Any, ...]:
    """Filters at middles that are evenly apart on the scale of equivalent bandwidths (Glasberg and
    Moore 1990).
    """
    from scipy.signal import gammatone

    low, high = 21.4 * np.log10(1 + 0.00437 * np.array([100.0, 0.45 * rate]))
    middles = (10 ** (np.linspace(low, high, BANDS) / 21.4) - 1) / 0.00437
    return tuple(gammatone(middle, "iir", fs=rate) for middle in middles)


def spikes(bands: Floats) -> Floats:
    """(frame, band): 1 where a spike brings the sum of smeared spikes nearer to the band (0 .. 1),
    else 0.
    """
    smear = np.hanning(SPIKE_TAPS + 2)[1:-1]
    return _spikes(np.ascontiguousarray(bands.T), smear / smear.sum()).T


@njit
def _spikes(bands: Floats, smear: Floats) -> Floats:
    found, left = np.zeros_like(bands), bands.copy()
    for band in range(len(bands)):
        for frame in range(bands.shape[1]):
            with_it, without = 0.0, 0.0
            for tap in range(min(len(smear), bands.shape[1] - frame)):
                with_it += abs(left[band, frame + tap] - smear[tap])
                without += abs(left[band, frame + tap])
            if with_it <= without - SPIKE_THRESHOLD:
                found[band, frame] = 1.0
                for tap in range(min(len(smear), bands.shape[1] - frame)):
                    left[band, frame + tap] -= smear[tap]
    return found

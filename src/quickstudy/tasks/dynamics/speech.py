"""Spoken digits: what an ear makes of them, as numbers or as spikes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Reals
from quickstudy.data.locate import DataSet
from quickstudy.data.measured import SPOKEN, archive
from quickstudy.data.speech import TI46, ti46
from quickstudy.numba_gateway import njit
from quickstudy.tasks.dynamics.recordings import ALIKE, Recordings
from quickstudy.tasks.dynamics.series import Floats, taxonomy

BANDS = 40
SPIKE_TAPS, SPIKE_THRESHOLD = 8, 0.9
"""Of spikes: steps over which one is smeared out, and how much of it must be there."""


@dataclass(frozen=True)
class Speech(Recordings):
    """Recordings of words.

    Parameters
    ----------
    snr:
        Add white noise at this signal-to-noise ratio in dB to all recordings, always the same;
        none: no noise.
    front:
        `log-mel`: log energies in 40 triangular mel bands of frames of 25 ms, pre-emphasis 0.97,
        each band less its mean. `mfcc`: the first 13 cosine coefficients of these. `cochlea`: 40
        gammatone filters from 100 Hz to 0.45 of the sampling rate, rectified, averaged, compressed
        (power 0.3) and divided by the largest value.
    code:
        `values`: one frame every 10 ms. `spikes`: one frame every 4 ms, each band as spikes, 0 or
        1, by Ben's spiker algorithm (Schrauwen and Van Campenhout 2003), which looks 8 frames
        ahead.
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
    """Recognise a spoken digit.

    Sees: 40 log mel energies per frame, one frame every 10 ms.
    Answers: the digit, one-hot.
    Scored: share of wrong answers (the word error rate), by the largest mean over the frames.
    Chance: 0.9, which is also the error of a linear rule on frames: bands less their mean average
        to 0.
    Ceiling: unknown.
    Source: Free Spoken Digit Dataset, recordings 0 to 19 of six speakers, in place of TI-46, which
        is not free. Wringe, Trefzer and Stepney 2024, section 7.2, where the word error rate is
        defined as its opposite.

    Parameters
    ----------
    left_out:
        Test on the recordings of this speaker only, 0 to 5; none: on recordings 0 to 4 of all
        speakers.
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
    """Recognise a spoken digit in the TI-46 recordings.

    Sees: the same as in dynamics/spoken-digits.
    Answers: the digit, one-hot.
    Scored: share of wrong answers.
    Chance: 0.9.
    Ceiling: word error rates of 0 to 0.005 are published.
    Source: your licensed copy, a folder `ti46` with files such as train/f1/00f1set0.wav; what is
        under `test` is the test set. Wringe, Trefzer and Stepney 2024, section 7.2; the file names
        are from memory of the corpus.

    Parameters
    ----------
    speakers:
        Speakers to use; usually five women.
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

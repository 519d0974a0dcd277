from __future__ import annotations

import subprocess
import sys

import pytest

from quickstudy.base.errors import MissingExtra, UsageError
from quickstudy.data.encoded import WordPieces, library_version


@pytest.fixture
def tokenizers():
    return pytest.importorskip(
        "tokenizers", reason="the library tokenizers is not installed (extra lm)"
    )


def words(vocabulary, text):
    return [vocabulary.pieces[number] for number in vocabulary.encode([text])[0]]


@pytest.mark.usefixtures("tokenizers")
class TestPieces:
    def test_steps_by_hand(self):
        """Lower case, no accents, cut at blanks and punctuation, a run of punctuation in one."""
        vocabulary = WordPieces.learned(
            ["Café, NAÏVE... it's 10/10 <br />"] * 3, 200, special=False
        )
        assert words(vocabulary, "CAFE  naïve... It's\u00a010/10<br />") == [
            *("cafe", "naive", "...", "it", "'", "s", "10", "/", "10", "<", "br", "/>")
        ]

    def test_the_longest_piece_is_taken_first(self):
        # Every character, those that continue a word, and the one pair that occurs more than once.
        vocabulary = WordPieces.learned(["ab ab abc", "c"], 6, special=False)
        assert vocabulary.pieces == ("##b", "##c", "a", "ab", "b", "c")
        assert words(vocabulary, "abc ab c") == ["ab", "##c", "ab", "c"]

    def test_special_pieces_come_first(self):
        vocabulary = WordPieces.learned(["ab ab", "b"], 50, special=True)
        assert vocabulary.pieces[:2] == ("[PAD]", "[UNK]")
        assert words(vocabulary, "ab ¿ b") == ["ab", "[UNK]", "b"]

    def test_an_unseen_character_cannot_be_written_without_them(self):
        vocabulary = WordPieces.learned(["ab ab"], 50, special=False)
        with pytest.raises(
            UsageError, match="a word holds a character that the vocabulary has never seen"
        ):
            vocabulary.encode(["ab z"])

    def test_size_is_kept(self):
        texts = ["the cat sat on the mat and the other cat sat on another mat"] * 5
        assert [len(WordPieces.learned(texts, size, special=True).pieces) for size in (25, 30)] == [
            25,
            30,
        ]

    def test_the_same_in_every_process(self):
        """The library by itself breaks ties by the order of a hash table, which is another one in
        every process.
        """
        texts = [f"{a}{b}{c}" for a in "abcde" for b in "fghij" for c in "klmno"]
        program = (
            f"from quickstudy.data.encoded import WordPieces; print(WordPieces.learned({texts}, 60,"
            " False).pieces)"
        )
        runs = [
            subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
            for _ in range(3)
        ]
        assert len({run.stdout for run in runs}) == 1


def test_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(
        MissingExtra, match=r"tokenizers is not installed; type: pip install -e '\.\[lm\]'"
    ):
        library_version()

"""Recognition: languages and their samplers against enumeration, strings that are not of a
language, edit distances, the protocol, and what is refused."""

import collections
import itertools

import numpy as np
import pytest

from quickstudy.base.blocks import Mark, Traced
from quickstudy.base.errors import UsageError
from quickstudy.base.registries import typed_task
from quickstudy.base.seeds import Streams
from quickstudy.figures.recognition import recognition as pictures
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.measures.recognition import recognition as scores
from quickstudy.protocols.recognition import RecognitionProtocol
from quickstudy.tasks.grammar.finite_automaton import FiniteAutomaton, below
from quickstudy.tasks.grammar.length_sampling import CountingSampler, DerivationSampler
from quickstudy.tasks.grammar.non_members import as_published, lengths, same_length
from quickstudy.tasks.grammar.recognised import language, published
from quickstudy.tasks.grammar.strings import read_grammar

SMALL = RecognitionProtocol(sequences=200, upto=60, asked=120)
ODD = "even 1 -> odd; odd 1 -> even; even 0 -> even; odd 0 -> odd; accept: odd"


def rng(seed=0):
    return np.random.default_rng(seed)


def examined(name, learner, protocol=SMALL):
    task = typed_task(name)
    made = choose_learner(learner, "corrected", task).make(task)
    return protocol.examine(task, made, [Streams(0, task.id, 0)]).traces[0]


EXAMPLES = {
    "even-pairs": ("0110 1 00", "01 1100"),
    "repeat-01": ("01 010101", "0 10 0110"),
    "parity": ("1 0111", "0 11"),
    "cycle-navigation": (">>=<1 0 <4", ">2 >1> 1"),
    "modular-arithmetic": ("2+3*4=0 1-3=3 4=4", "2+3*4=4 1+=1 2=3"),
    "dyck-2-3": ("() ([()])[]", ")( (] (((()))) ("),
    "first": ("1 100", "0 011"),
    "majority": ("1 01011", "0 0011"),
    "marked-reversal": ("# 011#110", "01#01 0110"),
    "unmarked-reversal": ("00 0110", "01 010"),
    "marked-copy": ("# 011#011", "011#110 01#0"),
    "missing-duplicate": ("_1 10_0 0_01", "10_1 1010 _1_1 _0"),
    "odds-first": ("0#0 0101#0011", "0101#0101"),
    "binary-addition": ("1+1=01 01+11=101 0+0=000", "1+1=1 1+1= 1+1=11"),
    "binary-multiplication": ("11*01=011 0*1=0", "11*11=11 *1=1"),
    "compute-sqrt": ("001=01 11=1 0=00", "001=1 =1"),
    "bucket-sort": ("312#123 #", "312#132 31#1"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_membership_by_hand(name):
    known = language(name)
    for text, member in zip(EXAMPLES[name], (True, False), strict=True):
        for string in text.split():
            assert known.contains([known.symbols.index(one) for one in string]) == member, string


def test_stack_manipulation_by_hand():
    known = language("stack-manipulation")
    for text, member in (
        ("0 1 pop push 1 # 1 0", True),
        ("#", True),
        ("push 0 pop #", True),
        ("0 1 # 0 1", False),
        ("pop #", False),
        ("push # 1", False),
        ("0 pop 1 # 1", False),
        ("1 push 0 # 0 1 #", False),
    ):
        assert known.contains([known.symbols.index(one) for one in text.split()]) == member, text


def test_there_are_eighteen_languages_of_four_levels():
    levels = collections.Counter(known.level for known in published().values())
    assert levels == {"R": 7, "DCF": 3, "CF": 1, "CS": 7}


@pytest.mark.parametrize("name", [name for name, one in published().items() if one.automaton])
def test_automata_count_and_draw_what_enumeration_finds(name):
    automaton = language(name).automaton
    length = 4
    every = [
        string
        for string in itertools.product(range(len(automaton.symbols)), repeat=length)
        if automaton.contains(string)
    ]
    assert automaton.count(length) == len(every)
    if 1 < len(every) < 30:
        draws = 300 * len(every)
        generator = rng(1)
        found = collections.Counter(tuple(automaton.drawn(generator, length)) for _ in range(draws))
        assert set(found) == set(every)
        # Chi squared with k - 1 degrees of freedom: within six standard deviations of its mean.
        chi = sum((count - 300) ** 2 / 300 for count in found.values())
        assert chi < len(every) - 1 + 6 * (2 * (len(every) - 1)) ** 0.5


@pytest.mark.parametrize("name", [name for name, one in published().items() if not one.automaton])
def test_samplers_draw_members_of_the_length_and_reach_all_of_a_short_one(name):
    known, generator = language(name), rng()
    for length in (*range(1, 14), 40, 41):
        if known.possible(length):
            string = list(known.drawn(generator, length))
            assert len(string) == length
            assert known.contains(string)
    length = next(one for one in (5, 6) if known.possible(one))
    every = {
        string
        for string in itertools.product(range(len(known.symbols)), repeat=length)
        if known.contains(string)
    }
    drawn = {tuple(map(int, known.drawn(generator, length))) for _ in range(40 * len(every))}
    assert drawn <= every
    # Sampled arithmetic leaves strings out only where a number is too large for its answer.
    assert len(drawn) >= 0.9 * len(every)


def test_distances_are_those_of_a_search():
    """Breadth first over single edits, from each string to the language."""
    automaton = FiniteAutomaton.read("s 0 -> t; t 1 -> s; accept: s")

    def searched(string):
        seen, layer = {string}, [string]
        for distance in itertools.count():
            if any(automaton.contains(one) for one in layer):
                return distance
            further = []
            for one in layer:
                for place in range(len(one) + 1):
                    head, tail = one[:place], one[place:]
                    edits = [(*head, letter, *tail) for letter in (0, 1)]
                    edits += [head + tail[1:]] if tail else []
                    edits += [(*head, 1 - tail[0], *tail[1:])] if tail else []
                    further += [edit for edit in edits if edit not in seen]
                    seen.update(edits)
            layer = further

    strings = [one for size in range(6) for one in itertools.product((0, 1), repeat=size)]
    assert automaton.distances(strings).tolist() == [searched(one) for one in strings]


def test_grammars_are_counted_and_drawn_uniformly_whatever_their_probabilities():
    sampler = DerivationSampler(read_grammar("S -> ( S ) S [0.45] | [0.55]"))
    assert [sampler.count(length) for length in range(9)] == [1, 0, 1, 0, 2, 0, 5, 0, 14]
    generator = rng()
    found = collections.Counter(tuple(sampler.drawn(generator, 6)) for _ in range(5000))
    assert len(found) == 5
    assert all(abs(count - 1000) < 6 * 28.3 for count in found.values())
    left = DerivationSampler(read_grammar("S -> S a [0.3] | S b [0.3] | c [0.4]"))
    assert [left.count(length) for length in range(5)] == [0, 1, 2, 4, 8]
    assert left.count(300) == 2**299


def test_counter_languages_are_counted():
    sampler = CountingSampler(read_grammar("a^n b^m c^{n+m} [n 0.3] [m 0.3]"))
    assert [sampler.count(length) for length in range(11)] == [0] * 4 + [1, 0, 2, 0, 3, 0, 4]
    drawn = {tuple(sampler.drawn(rng(seed), 8)) for seed in range(40)}
    assert drawn == {(1, 2, 2, 2, 3, 3, 3, 3), (1, 1, 2, 2, 3, 3, 3, 3), (1, 1, 1, 2, 3, 3, 3, 3)}


def test_a_number_below_a_limit():
    generator = rng()
    found = collections.Counter(below(generator, 3) for _ in range(3000))
    assert all(abs(count - 1000) < 6 * 26 for count in found.values())
    assert 0 <= below(generator, 2**700) < 2**700
    assert below(generator, 1) == 0


@pytest.mark.parametrize("name", [*published(), ODD, "S -> a S b [0.5] | [0.5]", "a^n b^n [n 0.3]"])
def test_others_have_the_same_length_and_are_outside(name):
    known, generator = language(name), rng()
    possible = lengths(name, 40)
    for length in possible[:: max(1, len(possible) // 8)]:
        for _ in range(4):
            one = same_length(known, generator, length)
            assert len(one.string) == length
            assert not one.member
            assert one.edits >= 1
            assert not known.contains(one.string)


def test_half_of_them_are_near_misses_where_one_letter_suffices():
    generator = rng()
    made = [same_length(language("marked-copy"), generator, 21) for _ in range(400)]
    assert 0.4 < np.mean([one.edits == 1 for one in made]) < 0.6
    distances = language("dyck-2-3").automaton.distances(
        [same_length(language("dyck-2-3"), generator, 20).string for _ in range(200)]
    )
    assert (distances >= 1).all()
    assert 0.4 < (distances == 1).mean() < 0.7


def test_published_ones_have_other_lengths():
    generator = rng()
    made = [as_published(language("marked-copy"), generator, 21, 40) for _ in range(300)]
    assert {len(one.string) for one in made} > {20, 21, 22}
    assert not any(language("marked-copy").contains(one.string) for one in made)
    assert 0.2 < np.mean([one.edits < 0 for one in made]) < 0.8


def test_oracle_and_shallow_rules_through_the_protocol():
    best = scores(examined("grammar/recognition:language=dyck-2-3", "span-oracle"))
    assert best["beyond-accuracy"] == best["near-misses-rejected"] == 1
    for rule in ("by-last", "by-length", "by-length-parity", "rote"):
        found = scores(examined("grammar/recognition:language=marked-copy", rule))
        assert found["beyond-accuracy"] == pytest.approx(0.5, abs=0.05), rule


def test_length_gives_published_others_away_and_closed_ones_not():
    name = "grammar/recognition:language=marked-copy"
    closed = scores(examined(name, "by-length-parity"))["within-accuracy"]
    open_ = scores(examined(f"{name},negatives=published", "by-length-parity"))["within-accuracy"]
    assert closed == pytest.approx(0.5)
    assert open_ > 0.65


def test_traces_know_lengths_and_distances_and_are_drawn():
    trace = examined("grammar/recognition", "rote")
    arrays = trace.arrays
    assert (arrays["member"] == (arrays["distance"] == 0)).all()
    assert set(arrays["distance"].tolist()) == {0, 1}, "one letter always mends a parity"
    assert arrays["length"].max() == 60
    assert arrays["member"].mean() == 0.5
    assert trace.facts["exact_distances"]
    first, second = pictures("grammar/recognition", [Traced("rote", "control", Mark(), [trace])])
    assert max(first.panels[0].series[0].x) == 64
    assert second.panels[0].series[0].x == [1.0]


def test_the_item_has_the_lengths_that_are_possible():
    item = typed_task("span/recognition:language=binary-addition,longest=24")
    assert item.grid == (6, 8, 12, 16, 24)
    assert [size for level in range(5) for size in item.bin(level)] == list(range(5, 25))
    odd = typed_task("span/recognition:language=marked-copy,longest=12")
    assert odd.bin(len(odd.grid) - 1) == [9, 11]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nothing", "no language"),
        ("even 1 -> odd; even 1 -> even; accept: odd", "two ways"),
        ("even 1 odd; accept: odd", "not a transition"),
        ("even 1 -> odd; accept: up", "no transition"),
        ("s 0 -> s; accept: s", "not both strings"),
    ],
)
def test_what_is_refused(text, words):
    with pytest.raises(UsageError, match=words):
        typed_task("grammar/recognition").__class__(language=text)


def test_an_automaton_from_a_file(tmp_path):
    file = tmp_path / "odd.txt"
    file.write_text("# parity\n" + ODD.replace("; ", "\n") + "\n")
    task = typed_task("grammar/recognition").__class__(language=str(file))
    assert task.known.contains([1, 1, 1])
    assert task.language == ODD.replace("; ", "\n")

"""Languages against what is known of the released data, and against their own definitions."""

from __future__ import annotations

import itertools
import math
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quickstudy as qs
from quickstudy.base.errors import UsageError
from quickstudy.base.seeds import Streams
from quickstudy.protocols.grammar import GrammarProtocol
from quickstudy.runs.run_spec import make_task
from quickstudy.tasks.grammar import following, released
from quickstudy.tasks.grammar.derivation import Derivation
from quickstudy.tasks.grammar.languages import Written
from quickstudy.tasks.grammar.lists import TestList
from quickstudy.tasks.grammar.strings import read_grammar

SIZES = (100, 250, 500, 1000)
SIX = ("an-bn", "an-bn-cn", "an-bn-cn-dn", "an-bm-cnm", "dyck-1", "dyck-2")
TEXTS = [
    "a^n b^n [n 0.3]",
    "a^n b^m c^{n+2m+1} a^2 [n 0.5] [m 0.2]",
    "a^n b^m c^{n+m} [n 0.3 from 0] [m 0.4 from 0]",
    "a^n b^2n c^m d^{m+1} [n 0.3 from 0] [m 0.4]",
    "S -> a S b S [0.3] | [0.7]",
    "S -> a T [1/2] | b [1/2]; T -> S c [0.9] | T2 [0.1]; T2 -> d [1]",
    "S -> x S [0.5] | x y S [0.25] | [0.25]",
]
EQUAL = {100: 285.3589, 250: 750.7039, 500: 1483.9123, 1000: 2952.9020}

# Of every released training set: different strings, targets, longest, bits of the true grammar.
FACTS = {
    "an-bn": [
        (13, 826, 40, 309.0293),
        (16, 1998, 40, 755.3351),
        (19, 4078, 44, 1531.7676),
        (22, 7972, 48, 3016.1945),
    ],
    "an-bn-cn": [(13, 1051, 42, 0), (15, 2845, 60, 0), (17, 5588, 60, 0), (19, 11089, 66, 0)],
    "an-bn-cn-dn": [(13, 1368, 56, 0), (15, 3710, 80, 0), (17, 7284, 80, 0), (19, 14452, 88, 0)],
    "an-bm-cnm": [
        (44, 1540, 58, 614.9712),
        (76, 3828, 58, 1531.7676),
        (100, 7472, 58, 3016.1945),
        (127, 14660, 58, 5959.3196),
    ],
    "dyck-1": [
        (14, 252, 16, 222.5743),
        (29, 648, 18, 576.6995),
        (43, 1306, 32, 1164.6567),
        (68, 2708, 40, 2437.3873),
    ],
    "dyck-2": [
        (17, 252, 16, 298.5743),
        (39, 648, 18, 775.6995),
        (65, 1306, 32, 1567.6567),
        (114, 2708, 40, 3291.3873),
    ],
}


def language(name, **parameters):
    return make_task(
        f"grammar/{name}" + "".join(f":{n}={v}" for n, v in parameters.items()), "corrected"
    )


def shown(task, seed, count):
    return released.training_strings(read_grammar(task.released_rules), seed, count)


@pytest.mark.parametrize("name", SIX)
def test_released_training_sets_have_their_facts(name):
    task = language(name)
    for size, (different, targets, longest, bits) in zip(SIZES, FACTS[name], strict=True):
        strings = shown(task, 100, size)
        assert len({string.tobytes() for string in strings}) == different
        assert sum(len(string) - 1 for string in strings) == targets
        assert len(strings[-1]) - 2 == longest
        own = sum(-np.log2(task.grammar.likely(string)).sum() for string in strings)
        assert own == pytest.approx(bits or EQUAL[size], abs=1e-4)
        # Sizes are nested: the stream begins anew for each.
        larger = [string.tobytes() for string in shown(task, 100, 1000)]
        assert not {string.tobytes() for string in strings} - set(larger)


def test_both_bracket_languages_have_the_same_skeletons():
    one, two = (shown(language(name), 100, 500) for name in ("dyck-1", "dyck-2"))
    assert [(string % 2).tolist() for string in one] == [
        ((string + (string > 0)) % 2 ^ (string > 0)).tolist() for string in two
    ]


@pytest.mark.parametrize(
    ("name", "entropy", "per_target"),
    [
        ("an-bn", 2.937636, 0.38317),
        ("an-bn-cn", 2.937636, 0.26706),
        ("an-bn-cn-dn", 2.937636, 0.20495),
        ("an-bm-cnm", 5.875273, 0.40990),
        ("dyck-1", 2.203227, 0.88129),
        ("dyck-2", 2.953227, 1.18129),
    ],
)
def test_the_optimum_is_known(name, entropy, per_target):
    grammar = language(name).grammar
    assert grammar.entropy == pytest.approx(entropy, abs=1e-6)
    assert grammar.entropy / (grammar.mean_length + 1) == pytest.approx(per_target, abs=1e-5)


def test_released_lists_begin_and_end_where_they_do():
    addition = language("an-bm-cnm")
    tests = TestList.behind(addition, "released", shown(addition, 100, 100), 10_000)
    assert tests.start == 406
    assert addition.grammar.values(list(tests)[-1]) == (56, 94)
    assert [
        TestList.behind(
            language("dyck-1"), "released", shown(language("dyck-1"), 100, size), 10
        ).start
        for size in SIZES
    ] == [256, 370, 882, 3573]
    two = language("dyck-2")
    assert [
        TestList.behind(two, "released", shown(two, 100, size), 10).start for size in SIZES[:2]
    ] == [828, 1085]
    for size in SIZES[2:]:
        with pytest.raises(
            UsageError,
            match=r"0 strings longer than those shown, and 10 are asked for; use test=exh",
        ):
            TestList.behind(two, "released", shown(two, 100, size), 10)
    equal = language("an-bn")
    tests = TestList.behind(equal, "released", shown(equal, 100, 100), 10_000)
    assert [equal.grammar.size(string) for string in itertools.islice(tests, 2)] == [21, 22]
    assert tests.start + len(tests) == 10_020
    grid = TestList.behind(addition, "grid", shown(addition, 100, 100), 10_000)
    assert addition.grammar.values(list(grid)[-1]) == (120, 120)


def test_masks_are_as_released():
    two, equal = language("an-bn").grammar, language("dyck-1").grammar
    mask = released.deterministic_mask(two, [two.string([n]) for n in (1, 2)])
    assert mask.astype(int).tolist() == [[0, 0, 1, 0, 0], [0, 0, 0, 1, 1]]
    whole = released.valid_mask(equal, language("dyck-1").listed())
    assert whole.shape == (15000, 64, 3)
    assert not whole[:, -1].any()
    assert whole[0, :2].tolist() == [[True, True, False], [False] * 3]
    assert whole[1, :3].astype(int).tolist() == [[1, 1, 0], [0, 1, 1], [1, 1, 0]]  # ()
    both = language("an-bm-cnm")
    assert released.deterministic_mask(both.grammar, both.listed()[-1:]).shape[1] == len(
        both.listed()[-1]
    )


def test_files_go_there_and_back(tmp_path):
    task = language("dyck-2")
    strings, archive = shown(task, 100, 100), tmp_path / "train_100_p_0_3_seed_100.txt.zip"
    released.write_strings(archive, strings, task.vocabulary)
    with zipfile.ZipFile(archive) as entries:
        (entry,) = entries.infolist()
        assert (entry.filename, entry.flag_bits & 1) == ("train_100_p_0_3_seed_100.txt", 1)
        text = entries.read(entry, b"1234")
        with pytest.raises(RuntimeError):
            entries.read(entry, b"4321")
    assert text.decode().split("\n") == [task.text(string) for string in strings]
    assert [s.tolist() for s in released.read_strings(archive, task.vocabulary)] == [
        s.tolist() for s in strings
    ]
    mask = released.valid_mask(task.grammar, strings)
    released.write_mask(tmp_path / "test_valid_next_symbols.npz.zip", mask)
    assert np.array_equal(released.read_mask(tmp_path / "test_valid_next_symbols.npz.zip"), mask)
    (tmp_path / "bad.txt").write_text("#()#\n#(x#")
    with pytest.raises(UsageError, match="line 2"):
        released.read_strings(tmp_path / "bad.txt", task.vocabulary)


@given(st.sampled_from(TEXTS), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_strings_are_of_their_language(text, seed):
    """What is drawn is accepted, has the probability of its derivation, and nothing that cannot
    come comes.
    """
    grammar, rng = read_grammar(text), np.random.default_rng(seed)
    string = grammar.draws(rng, 1)[0]
    rows = grammar.conditionals(string[:-1])
    assert grammar.contains(string)
    assert rows.sum(axis=1) == pytest.approx(np.ones(len(rows)))
    assert rows[np.arange(len(rows)), string[1:]] == pytest.approx(grammar.likely(string))
    assert (grammar.likely(string) > 0).all()
    assert not grammar.contains(string[:-1])
    other = make_task("grammar/written", "corrected").corrupted(
        rng, np.array([0, 1, 2, 0], np.int8)
    )
    assert not read_grammar("S -> a S b S [0.3] | [0.7]").contains(other)


@pytest.mark.parametrize("text", TEXTS)
def test_probabilities_of_the_shortest_strings_are_those_of_many_draws(text):
    grammar = read_grammar(text)
    drawn = [string.tobytes() for string in grammar.draws(np.random.default_rng(0), 4000)]
    task = make_task("grammar/written", "corrected")
    object.__setattr__(task, "rules", text)
    first = list(TestList(task, "exhaustive", 0, 5))
    assert [len(string) for string in first] == sorted(len(string) for string in first)
    for string in first:
        chance = float(np.prod(grammar.likely(string)))
        assert drawn.count(string.tobytes()) / 4000 == pytest.approx(
            chance, abs=5 * math.sqrt(chance / 4000) + 1e-3
        )


def test_brackets_are_counted_and_put_in_order():
    for kinds, name in ((1, "dyck-1"), (2, "dyck-2")):
        follower = language(name).grammar.follower
        for pairs in range(20):
            catalan = math.comb(2 * pairs, pairs) // (pairs + 1)
            assert follower.count(follower.start, 2 * pairs) == catalan * kinds**pairs
    words = [
        language("dyck-2").text(string)
        for string in TestList(language("dyck-2"), "exhaustive", 0, 11)
    ]
    assert words[3:] == [
        "#(())#",
        "#()()#",
        "#()[]#",
        "#([])#",
        "#[()]#",
        "#[[]]#",
        "#[]()#",
        "#[][]#",
    ]
    deep = list(TestList(language("dyck-2"), "deep", 40, 30))
    assert min(map(len, deep)) > 42
    assert all(language("dyck-2").grammar.contains(string) for string in deep)


def test_an_ambiguous_grammar_lists_every_string_once():
    task = make_task("grammar/written", "corrected")
    object.__setattr__(task, "rules", TEXTS[-1])
    words = [task.text(string) for string in TestList(task, "exhaustive", 0, 12)]
    assert words[:5] == ["##", "#x#", "#xx#", "#xy#", "#xxx#"]
    assert len(set(words)) == 12


BAD = {
    "a^n b^m a^n [n 0.3] [m 0.3 from 0]": "a letter of its own",
    "S -> a S [0.5] | [0.4]": "the probabilities of S sum to 0.9, not to 1",
    "S -> a [1]\nT -> b [1]": "T cannot be reached",
    "S -> a S [1]": "S never ends",
    "S -> S [0.5] | a [0.5]": "S begins with itself .* is replaced by itself",
    "S -> E S a [0.3] | b [0.7]; E -> [0.5] | x [0.5]": "S begins with itself after parts that may",
    "S -> S a [1]": "S never ends",
    "S -> a S S [0.6] | [0.4]": "no finite mean length",
    "S -> ab a [1]": r'"ab" has no rule; letters stand between spaces \(a b\)',
    "S -> the NP [1]": '"NP" has no rule; a word goes in quotes: "NP"',
    "s -> np vp [1]": '"np" has no rule; a word goes in quotes',
    'S -> "a|b" [1]': "has neither # nor | in it",
    'S -> T "T" [1]; T -> x [1]': "is not a left side",
    "S -> a T [1]": '"T" has no rule, and no terminal is a capital letter among small ones',
    "S -> a": "does not end with its probability",
    "a^n b^n": "its chance to stop",
    "a^n b^{m+n} [n 0.3] [m 0.3]": "it must be alone there",
    "a^n a^n [n 0.3]": "cannot follow itself",
    "a^N [n 0.3]": "chance to stop",
    "no-such-file.txt": "neither rules nor a file",
}


@pytest.mark.parametrize("text", BAD)
def test_a_text_that_is_no_grammar_is_refused(text):
    with pytest.raises(UsageError, match=BAD[text]) as refused:
        qs.grammar("bad", text)
    assert "\n" not in str(refused.value).strip().replace(text, "")


WORDS = """S -> the N VP [1]
N -> cat [0.5]
N -> dog [0.3] | "Rex" [0.2]
VP -> sleeps [0.7] | sees the N [0.3]"""


def test_terminals_may_be_words_and_a_rule_may_have_several_lines():
    task = Written(rules=WORDS)
    assert task.vocabulary == ("#", "Rex", "cat", "dog", "sees", "sleeps", "the")
    words = [task.text(string) for string in TestList(task, "exhaustive", 0, 4)]
    assert words == [
        "# the Rex sleeps #",
        "# the cat sleeps #",
        "# the dog sleeps #",
        "# the Rex sees the Rex #",
    ]
    read = np.array([0, *(task.grammar.numbers[word] for word in ("the", "dog"))])
    assert dict(zip(task.vocabulary, task.grammar.conditionals(read)[-1], strict=True)) == {
        **dict.fromkeys(task.vocabulary, 0.0),
        "sees": 0.3,
        "sleeps": 0.7,
    }


def test_a_grammar_has_no_more_symbols_than_a_byte_holds():
    rules = " | ".join(f"word{number} [1/{{0}}]" for number in range(128))
    with pytest.raises(UsageError, match="128 different terminals are more than 127"):
        Written(rules=f"S -> {rules.format(128)}")


@pytest.mark.parametrize(
    "text",
    [
        "S -> S a [0.4] | S b a [0.2] | b [0.3] | [0.1]",
        "S -> N v N [1]; N -> n [0.7] | N p N [0.3]",
        "A -> B a [0.5] | c [0.5]; B -> A b [0.4] | d [0.6]",
        "S -> N V [1]; N -> d n [0.6] | N P [0.4]; P -> p N [1]; V -> v [0.8] | V P [0.2]",
    ],
)
def test_recursion_on_the_left_changes_no_probability(text):
    """Against the sum over all derivations by brute force, string by string."""
    task, grammar = Written(rules=text), Derivation(text)
    for word, chance in by_brute_force(text, 6).items():
        string = np.array([0, *(grammar.numbers[letter] for letter in word), 0])
        assert np.prod(grammar.likely(string)) == pytest.approx(float(chance), rel=1e-9)
    listed = list(TestList(task, "exhaustive", 0, 8))
    assert all(grammar.contains(string) for string in listed)
    drawn = grammar.draws(np.random.default_rng(0), 2000)
    assert np.mean([len(s) - 2 for s in drawn]) == pytest.approx(grammar.mean_length, rel=0.15)


def test_terminals_may_be_capitals_where_no_letter_is_small():
    assert read_grammar("S -> A S B [0.3] | ( [0.7]").symbols == ("#", "(", "A", "B")


def test_a_seed_that_the_released_generator_does_not_take_is_refused():
    for seed in (-1, 2**32):
        with pytest.raises(UsageError, match=f"a seed from 0 to 2.32 - 1, got {seed}"):
            make_task("grammar/dyck-2", "published").released(seed, 3)


def test_alternatives_need_no_spaces_between_them():
    assert (
        read_grammar("S -> a S b [0.3]|[0.7]").rules
        == read_grammar("S -> a S b [0.3] | [0.7]").rules
    )
    with pytest.raises(UsageError, match=r'"a S b" of .* does not end with its probability'):
        read_grammar("S -> a S b | [0.3]")


def test_a_grammar_of_ones_own_is_a_task_with_its_text_in_its_identity(tmp_path):
    (tmp_path / "mine.txt").write_text("S -> a S b S [0.3] | [0.7]\n")
    assert qs.grammar("mine", tmp_path / "mine.txt") == "grammar/mine"
    task = make_task("grammar/mine", "corrected")
    assert task.rules == "S -> a S b S [0.3] | [0.7]"
    assert pickle.loads(pickle.dumps(task)) == task
    assert (
        make_task(f"grammar/written:rules={tmp_path / 'mine.txt'}", "corrected").rules == task.rules
    )
    with pytest.raises(UsageError, match="already"):
        qs.grammar("an-bn", "a^n b^n [n 0.5]")


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("an-bn", "S -> a S b [0.7] | [0.3]"),
        ("an-bm-cnm", "S -> a S c [0.7] | Y [0.3]; Y -> b Y c [0.7] | [0.3]"),
    ],
)
def test_as_the_appendix_has_it_a_block_may_be_empty(name, rules):
    """The language with `least=0` is that of the rules, string by string and chance by chance."""
    task, derived = language(name, least=0), read_grammar(rules)
    some = list(TestList(task, "exhaustive", 0, 40))
    assert task.text(some[0]) == "##"
    lengths = [len(string) for string in some]
    assert lengths == sorted(lengths)
    assert len({string.tobytes() for string in some}) == 40
    for string in some:
        assert task.grammar.values(string) is not None
        assert derived.contains(string)
        assert task.grammar.likely(string) == pytest.approx(derived.likely(string))
        assert task.grammar.conditionals(string[:-1]) == pytest.approx(
            derived.conditionals(string[:-1])
        )
        values = np.array([task.grammar.values(string)])
        assert task.grammar.certain(values)[0] == (derived.likely(string)[1:] == 1).sum()
    assert task.grammar.mean_length == pytest.approx(derived.mean_length)
    assert task.grammar.entropy == pytest.approx(derived.entropy)
    with pytest.raises(UsageError, match="least=1"):
        task.listed()
    with pytest.raises(UsageError, match="least=1"):
        task.released(100, 100)


def test_a_folder_is_no_file_of_rules(tmp_path):
    with pytest.raises(UsageError, match=r"neither rules nor a file of them: .*: Is a directory"):
        language("written", rules=str(tmp_path))


def test_accept_or_reject_shows_both(tmp_path):
    task = language("an-bn-cn", setup="accept")
    examples = task.sample(np.random.default_rng(0), 200)
    answers = examples.targets[examples.lengths - 1, np.arange(200)]
    assert 60 < answers.sum() < 140
    for index in range(20):
        string = examples.inputs[: examples.lengths[index], index]
        assert task.grammar.contains(string) == answers[index]


AMBIGUOUS = (
    "S -> T T b [1/4] | b a b [1/4] | T a a [1/4] | b a S [1/4]\nT -> a b [1/3] | a S [1/3] | "
    " [1/3]"
)


def by_brute_force(text, longest):
    """Strings of up to so many symbols with their probabilities, from all derivations, the leftmost
    part first.
    """
    rules, found = Derivation(text).rules, {}
    open_ = [((), (next(iter(rules)),), 1)]
    while open_:
        word, rest, chance = open_.pop()
        if not rest:
            found[word] = found.get(word, 0) + chance
        elif len(word) + sum(() not in [r for _, r in rules.get(p, ())] for p in rest) > longest:
            continue  # every part that cannot be empty adds a symbol
        elif rest[0] in rules:
            open_ += [(word, (*right, *rest[1:]), chance * p) for p, right in rules[rest[0]]]
        elif len(word) < longest:
            open_.append(((*word, rest[0]), rest[1:], chance))
    return found


@pytest.mark.parametrize(
    "text",
    [
        AMBIGUOUS,
        "S -> A S [0.8] | [0.2]\nA -> a [0.5] | B [0.5]\nB -> a [1]",
        "E -> x [0.4] | ( E ) [0.2] | x + E [0.2] | ( E ) * E [0.2]",
        "S -> a S a [0.3] | b S b [0.3] | a [0.1] | b [0.1] | [0.2]",
    ],
)
def test_strings_are_listed_once_by_length_and_as_likely_as_all_their_derivations(text):
    task, longest = Written(rules=text), 7
    grammar, found = task.grammar, by_brute_force(text, longest)
    listed = [
        "".join(grammar.symbols[number] for number in string[1:-1])
        for string in TestList(task, "exhaustive", 0, len(found))
    ]
    assert listed == sorted(map("".join, found), key=lambda word: (len(word), word))
    for word, chance in found.items():
        string = np.array([0, *(grammar.numbers[letter] for letter in word), 0])
        assert np.prod(grammar.likely(string)) == pytest.approx(float(chance), rel=1e-9)
        assert grammar.contains(string)
    shown = np.array([0, *(grammar.numbers[letter] for letter in listed[2]), 0])
    assert [
        len(string) > len(shown) for string in TestList.behind(task, "exhaustive", [shown], 5)
    ] == [True] * 5


def test_what_is_almost_certain_is_not_certain():
    """Behind (ab)^40 a palindrome may go back from the middle or go on; the second has a chance of
    1e-21 and less.
    """
    grammar = Derivation("S -> a S a [0.3] | b S b [0.3] | a [0.1] | b [0.1] | [0.2]")
    string = np.array([0, *(grammar.numbers[letter] for letter in "ab" * 40 + "ba" * 40), 0])
    assert ((grammar.conditionals(string[:-1]) > 0).sum(axis=1) > 1).all()
    assert (grammar.likely(string) < 1).all()


def test_brackets_that_may_go_on_in_two_ways_take_no_longer_the_deeper_they_are():
    grammar = Derivation("E -> x [0.4] | ( E ) [0.2] | x + E [0.2] | ( E ) * E [0.2]")
    string = np.array([0, *(grammar.numbers[letter] for letter in "(" * 60 + "x" + ")" * 60), 0])
    assert grammar.contains(string)
    assert np.log(grammar.likely(string)).sum() == pytest.approx(np.log(0.4) + 60 * np.log(0.2))


def test_a_prefix_with_too_many_derivations_is_refused(monkeypatch):
    """With a limit that is soon reached: the 16,384 of the package take ten seconds."""
    monkeypatch.setattr(following, "MOST_STACKS", 256)
    grammar = Derivation(
        "S -> b U U T [1/3] | [2/5] | b [4/15]\nT -> a a b [1/2] | [1/2]\n"
        "U -> T b b b [4/11] | S T S [1/11] | a [4/11] | a S b S [2/11]"
    )
    string = np.array([0, *[grammar.numbers["b"]] * 12])
    with pytest.raises(UsageError, match="more than 256 ways"):
        grammar.conditionals(string)


def test_a_language_with_too_few_strings_says_so():
    task = Written(rules="S -> a [0.5] | b [0.5]")
    assert [string.tolist() for string in TestList(task, "exhaustive", 0, 2)] == [
        [0, 1, 0],
        [0, 2, 0],
    ]
    with pytest.raises(
        UsageError, match="this language has 2 strings, and the test needs 3 that are longer"
    ):
        TestList.behind(task, "exhaustive", [np.array([0, 1, 0])], 3)
    assert Written(rules="S -> a [0] | b [1]").grammar.entropy == 0
    with pytest.raises(UsageError, match=r"neither # nor \|"):
        Derivation("S -> a S [0.3] || b [0.7]")


def test_a_factor_whose_strings_are_too_long_to_be_put_in_order_is_left_out():
    task = Written(rules="S -> a S b [0.7] | [0.3]")
    record = GrammarProtocol(order=2, factors=(10.0, 1.0)).material
    streams = Streams(0, "test", 0)
    assert len(record(task, streams, 1.0)[1]) == 100
    with pytest.raises(
        UsageError, match="more than 400 symbols, the most for a language written as rules"
    ):
        record(task, streams, 10.0)


@pytest.mark.parametrize("factors", [(np.inf,), (np.nan,), (1e9,), (2.0, 2.0)])
def test_factors_that_are_none_are_refused(factors):
    with pytest.raises(ValueError, match="factors"):
        GrammarProtocol(factors=factors)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("S → a S b [0.5] | [0.5]", '"→" is not an arrow of rules'),
        ("S => a S b [0.5] | [0.5]", '"=>" is not an arrow of rules'),
        ("S -> a S [0.5] | [-0.5]", 'a probability is a number from 0 to 1, .*got "\\[-0.5\\]"'),
        ("S -> a S [50%] | [50%]", 'a probability is a number from 0 to 1, .*got "\\[50%\\]"'),
        ("S -> a S b [1]\nS -> c [1]", "the probabilities of S sum to 2, not to 1"),
        ("S -> a [0.5] | a [0.5]", 'S has the alternative "a" twice'),
        ("S -> a [0.5]\nS -> a [0.5]", 'S has the alternative "a" twice'),
        ("a^n b^n [n 1.5]", "the chance of n must be above 0 and at most 1, got 1.5"),
        ("a^n b^n [n 0]", "the chance of n must be above 0 and at most 1, got 0"),
        ("a^n b^n-1 [n 0.3]", r'"b\^n-1" takes something away'),
    ],
)
def test_slips_in_a_grammar_are_named(rules, said):
    with pytest.raises(UsageError, match=said):
        Written(rules=rules)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty; write rules into it"),
        ("# only a comment\n", "is empty; write rules into it"),
        ("aabb\nab\n", "has no rules; .* A file of strings"),
        ("#aabb#\n#ab#\n", "has strings between # and no rules"),
    ],
)
def test_a_file_without_rules_is_named(tmp_path, text, said):
    (tmp_path / "mine.txt").write_text(text)
    with pytest.raises(UsageError, match=said):
        Written(rules=str(tmp_path / "mine.txt"))


def test_a_grammar_file_may_have_comments(tmp_path):
    (tmp_path / "mine.txt").write_text(
        "# centre embedding\nS -> n S v [0.4] | n v [0.6]  # nouns, then verbs\n\n"
    )
    assert Written(rules=str(tmp_path / "mine.txt")).rules == "S -> n S v [0.4] | n v [0.6]"


def test_a_text_of_several_lines_may_have_comments_and_is_the_same_task():
    text = "\n# a sentence\nS -> the N [1]\nN -> cat [0.5] | dog [0.5] # nouns\n"
    assert Written(rules=text).rules == "S -> the N [1]\nN -> cat [0.5] | dog [0.5]"


def test_a_finite_language_is_refused_before_anything_is_run():
    task = Written(rules="S -> a [0.5] | b [0.5]")
    with pytest.raises(UsageError, match="this language has 2 strings, and the test needs 1,000"):
        GrammarProtocol().unfit(task)

"""score mdl and score grammar: networks in bits, and on the released lists."""

import json

import pytest

from quickstudy.base.errors import UsageError
from quickstudy.learners.mdl.network import Network


def scored(quickstudy, *arguments):
    done = quickstudy("score", *arguments, "--json")
    assert done.status == 0, done.err
    return json.loads(done.out)


def test_score_mdl(quickstudy, inside, tmp_path):
    Network.read("bliss-an-bn").write(tmp_path / "network.json")
    arguments = (
        "mdl",
        "network.json",
        "--language",
        "an-bn",
        "--size",
        "100",
        "--activations",
        "linear,relu,tanh",
    )
    found = scored(
        quickstudy, *arguments
    )  # as a user types it; everything else in this process, which is quicker
    assert found == {
        "h_bits": 178,
        "d_bits": pytest.approx(309.477, abs=6e-4),
        "mdl_bits": found["d_bits"] + 178,
    }
    assert "|H| 178  |D:H| 309.477  in all 487.477 bits" in inside("score", *arguments).out
    done = inside("score", "mdl", "bliss-an-bn-cn", "--language", "an-bn-cn", "--json")
    assert "units with sigmoid, which --activations does not name" in done.err
    assert json.loads(done.out)["h_bits"] == 256
    packed = scored(inside, *arguments, "--zlib")
    assert packed["d_bits"] == found["d_bits"]
    assert 20 < packed["h_bits"] < 178
    assert (
        scored(inside, *arguments, "--softmax")["d_bits"] > 400
    )  # made for shares, it says too little by softmax
    # A network for other strings holds some of these for impossible.
    found = scored(
        inside,
        "mdl",
        "bliss-an-bn-cn",
        "--language",
        "an-bm-cnm",
        "--activations",
        "linear/relu/sigmoid/tanh",
    )
    assert found == {"h_bits": 256, "d_bits": "inf", "mdl_bits": "inf"}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("bliss-an-bn", "an-bn", "--start", "20", "--count", "500"), (500, 500, 135250, 0, None)),
        (
            ("bliss-an-bn", "an-bn", "--start", "20", "--count", "9", "--precision", "exact"),
            (9, 9, 225, 0, None),
        ),
        (("bliss-an-bn-cn", "an-bn-cn", "--count", "500"), (500, 500, 250500, 0, None)),
        (
            ("bliss-an-bn-cn", "an-bn-cn", "--count", "500", "--precision", "float32"),
            (500, 206, 250500, 294, 16),
        ),
        (
            ("bliss-an-bn-cn", "an-bn-cn", "--count", "40", "--precision", "exact"),
            (40, 40, 1640, 0, None),
        ),
        (("bliss-an-bn-cn-2023", "an-bn-cn", "--count", "101"), (101, 101, 10302, 0, None)),
        (("bliss-an-bn-cn-2023", "an-bn-cn", "--start", "99", "--count", "3"), (3, 2, 606, 1, 101)),
        (
            (
                "bliss-an-bn-cn-2023",
                "an-bn-cn",
                "--start",
                "99",
                "--count",
                "3",
                "--margin",
                "0.01",
            ),
            (3, 3, 606, 1, None),
        ),
        (("bliss-dyck-1", "dyck-1", "--start", "256", "--count", "100"), (100, 100, None, 0, None)),
        (
            ("exact-dyck-1", "dyck-1", "--start", "256", "--count", "3000"),
            (3000, 3000, None, 0, None),
        ),
        (
            ("bliss-dyck-1", "dyck-1", "--count", "100", "--margin", "0.32"),
            (100, None, None, None, 0),
        ),
        (("built-dyck-2", "dyck-2", "--start", "828", "--count", "100"), (100, 100, None, 0, None)),
        (
            ("built-dyck-2", "dyck-2", "--count", "100", "--precision", "exact"),
            (100, 100, None, 0, None),
        ),
    ],
)
def test_score_grammar(inside, arguments, found):
    name, language, *options = arguments
    facts = scored(inside, "grammar", name, "--language", language, *options)
    names = ("strings", "strings_right", "steps", "wrong", "first_wrong")
    assert tuple(facts) == names
    for fact, wanted in zip(names, found, strict=True):
        assert facts[fact] == wanted or (wanted is None and fact != "first_wrong")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("grammar", "bliss-an-bn", "--language", "an-bm"),
            'no language "an-bm" with released strings; did you mean',
        ),
        (
            ("grammar", "bliss-an-bn", "--language", "dyck-2"),
            "is a network over 3 symbols, and grammar/dyck-2 has 5",
        ),
        (
            ("grammar", "bliss-an-bn", "--language", "an-bn", "--precision", "float16"),
            'no precision "float16"',
        ),
        (
            ("grammar", "bliss-an-bn", "--language", "an-bn", "--start", "14999", "--count", "2"),
            "has 15,000 strings",
        ),
        (("grammar", "none.json", "--language", "an-bn"), "no file none.json"),
        (
            ("mdl", "bliss-an-bn", "--language", "an-bn", "--size", "9" * 20),
            "less than or equal to 100000",
        ),
        (
            ("mdl", "bliss-an-bn", "--language", "an-bn", "--activations", "linear,rleu"),
            'no activation "rleu"; did you mean',
        ),
    ],
)
def test_bad_input_is_refused_in_a_line(inside, arguments, said):
    done = inside("score", *arguments)
    assert done.status == 2
    assert said in done.err
    assert done.err.count("\n") <= 2


def test_as_many_errors_as_the_margin_forgives(inside, tmp_path):
    # Counts b, and says # too early: of the 100 certain steps of a^100 b^100, 29 are wrong. In
    # doubles 0.29 * 100 is a little less than that.
    activations = ("linear", "linear", "linear", "relu", "linear", "linear", "linear")
    edges = {("forward", 2, 6): (1, 1), ("recurrent", 6, 6): (1, 1), ("forward", 6, 3): (1, 1)}
    Network(3, activations, (False,) * 7, {3: (-70, 1), 5: (1, 2)}, edges).write(
        tmp_path / "network.json"
    )
    given = (
        "grammar",
        str(tmp_path / "network.json"),
        "--language",
        "an-bn",
        "--start",
        "99",
        "--count",
        "1",
    )
    for margin, right in (("0.29", 1), ("0.289", 0)):
        facts = scored(inside, *given, "--margin", margin)
        assert (facts["steps"], facts["wrong"], facts["strings_right"]) == (100, 29, right)


def test_a_byte_order_mark_is_no_part_of_a_file(inside, tmp_path):
    text = json.dumps(Network.read("bliss-an-bn").as_facts())
    for name, encoding in (("plain.json", "utf-8"), ("marked.json", "utf-8-sig")):
        (tmp_path / name).write_text(text, encoding=encoding)
        assert scored(inside, "mdl", str(tmp_path / name), "--language", "an-bn")["h_bits"] == 178


def test_a_file_nested_too_deep_is_no_network(inside, tmp_path):
    (tmp_path / "deep.json").write_text("[" * 100_000)
    done = inside("score", "mdl", str(tmp_path / "deep.json"), "--language", "an-bn")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "is nested too deeply" in done.err
    done = inside("score", "language", str(tmp_path / "deep.json"))
    assert (done.status, done.err.count("\n")) == (2, 1)


def test_what_exact_arithmetic_cannot_say_is_wrong_input(inside, tmp_path):
    facts = Network.read("bliss-an-bn").as_facts()
    facts["activations"][3] = "gaussian"
    (tmp_path / "curved.json").write_text(json.dumps(facts))
    done = inside(
        "score",
        "grammar",
        str(tmp_path / "curved.json"),
        "--language",
        "an-bn",
        "--precision",
        "exact",
    )
    assert done.status == 2
    assert "exact arithmetic knows no gaussian; use --precision float64" in done.err


@pytest.mark.parametrize("text", ["x^n y^n [n 0.3]", "S -> a S b [0.7] | a b [0.3]"])
def test_a_language_of_the_user_by_its_text_and_by_its_file(inside, tmp_path, text):
    """The network of a^n b^n knows both: it never errs, and a string of n costs the bits of n."""
    (tmp_path / "own.txt").write_text(text)
    found = [
        scored(inside, *kind, "--language", named)
        for named in (text, str(tmp_path / "own.txt"))
        for kind in (("mdl", "bliss-an-bn"), ("grammar", "bliss-an-bn", "--count", "100"))
    ]
    assert found[:2] == found[2:]
    assert found[0]["h_bits"] == 178
    # A geometric number with chance 0.3 has 2.94 bits; 100 strings, within four deviations.
    assert found[0]["d_bits"] == pytest.approx(294, abs=70)
    assert found[1]["strings_right"] == found[1]["strings"] == 100


def test_a_language_that_the_network_does_not_know(inside):
    found = scored(
        inside, "grammar", "bliss-an-bn", "--language", "x^n y^2n [n 0.3]", "--count", "9"
    )
    assert found["first_wrong"] == 0
    done = inside("score", "grammar", "bliss-an-bn", "--language", "a^n b^n c^n [n 0.3]")
    assert done.status == 2
    assert "over 3 symbols" in done.err


def test_proofs_for_a_language_by_its_text():
    network = Network.read("bliss-an-bn")
    assert network.certificate("x^n y^n [n 0.3]").right
    assert network.certificate("x^n y^2n [n 0.3]").right is False
    with pytest.raises(UsageError, match="languages of counters"):
        network.certificate("S -> a S b [0.7] | a b [0.3]")
    with pytest.raises(UsageError, match="has 4"):
        network.certificate("a^n b^n c^n [n 0.3]")

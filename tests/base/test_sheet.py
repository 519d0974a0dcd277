from quickstudy.base.sheet import parse_sheet, sheet_of

TEXT = """Follow a sum
    of bits.

    Sees: bits,
        one a step.
    Answers: the sum.
    Source: ours.

    Bits are fair.

        >>> 1 + 1

    Parameters
    ----------
    size:
        Bits in a row;
        0 takes all.
    low, high:
        Range of the numbers.

    Raises UsageError for odd bits.
    """


def test_the_parts_of_a_docstring():
    sheet = parse_sheet(TEXT)
    assert sheet.summary == "Follow a sum of bits."
    assert sheet.fields == {"Sees": "bits, one a step.", "Answers": "the sum.", "Source": "ours."}
    assert sheet.paragraphs == (
        "Bits are fair.",
        "    >>> 1 + 1",
        "Raises UsageError for odd bits.",
    )
    assert sheet.parameters == {
        "size": "Bits in a row; 0 takes all.",
        "low": "Range of the numbers.",
        "high": "Range of the numbers.",
    }


def test_a_plain_docstring_is_a_summary_and_paragraphs():
    sheet = parse_sheet("Add. Then rest.\n\nMore.")
    assert (sheet.summary, sheet.fields, sheet.parameters) == ("Add. Then rest.", {}, {})
    assert sheet.paragraphs == ("More.",)
    assert parse_sheet("").summary == ""


def test_parameters_of_base_classes_are_inherited_and_may_be_described_again():
    class First:
        """One.

        Parameters
        ----------
        size:
            First size.
        kept:
            Kept.
        """

    class Second(First):
        """Two.

        Parameters
        ----------
        size:
            Second size.
        """

    assert sheet_of(Second).parameters == {"size": "Second size.", "kept": "Kept."}
    assert sheet_of(Second).summary == "Two."

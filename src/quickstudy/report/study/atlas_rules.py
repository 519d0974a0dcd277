"""Elementary rules that are each other's images.

In Wolfram's numbering bit 4 left + 2 centre + right of a rule is the new cell. Reading the ring backwards turns a rule
into its mirror image; calling zero one and one zero turns it into its complement. Both together give a third image.
"""

from __future__ import annotations

RULES = 256


def mirrored(rule: int) -> int:
    """The rule on the ring read backwards.

    >>> mirrored(110)
    124
    """
    return sum((rule >> (4 * (place & 1) + (place & 2) + (place >> 2)) & 1) << place for place in range(8))


def complemented(rule: int) -> int:
    """The rule with zeros and ones exchanged.

    >>> complemented(110)
    137
    """
    return sum((1 - (rule >> (7 - place) & 1)) << place for place in range(8))


def images(rule: int) -> tuple[int, int, int, int]:
    """The rule itself, its mirror image, its complement, and the mirror image of that.

    >>> images(110)
    (110, 124, 137, 193)
    """
    return rule, mirrored(rule), complemented(rule), mirrored(complemented(rule))


def families() -> list[tuple[int, int, int, int]]:
    """The images of the smallest rule of each of the 88 families, by that rule."""
    return [images(rule) for rule in range(RULES) if rule == min(images(rule))]

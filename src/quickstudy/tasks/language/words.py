"""The words of the question-answering tasks. Each task uses the first few of a list, the longer tasks more of them."""

from __future__ import annotations

NAMES = (
    *("PETER", "JOHN", "TOM", "JAMES", "PAUL"),
    *("MARC", "LUKE", "SIMON", "ANDREW", "BRUNO", "LISA"),
    *("HENRI", "LEO"),
)
VERBS = ("SEE", "HEAR", "CALL", "FEEL", "SMELL", "UNDERSTAND", "TOUCH")
GLUE = ("I", "DO", "NOT", "AND", "BUT", "?", ".", "YES", "NO")
YES, NO = "YES", "NO"
NUMBERS = (
    *("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX"),
    *("SEVEN", "EIGHT", "NINE", "TEN", "ELEVEN", "TWELVE", "THIRTEEN"),
)

OBJECTS = ("BANANA", "APPLE", "PEAR", "PEACH", "APRICOT", "CAR", "PLANE", "TRAIN")
OBJECT_VERBS = ("SEE", "HEAR", "CALL", "FEEL", "SMELL", "TOUCH")
COLOURS = ("RED", "GREEN", "BLUE", "YELLOW")
SIZES = ("SMALL", "BIG", "HUGE", "TINY", "NORMAL")
ADJECTIVES = {"COLOR": COLOURS, "SIZE": SIZES}
ADJECTIVE_WORDS = frozenset(COLOURS + SIZES)
THINGS = frozenset(NAMES + OBJECTS)
ARTICLES = ("A", "AN")
DESCRIBING = ("WHAT", *ARTICLES, *ADJECTIVES, "IS", "THE")

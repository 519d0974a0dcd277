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

"""Who and what the question-answering tasks talk about: the first names and verbs of the lists."""

from __future__ import annotations

from quickstudy.tasks.language.words import GLUE, NAMES, VERBS


class Cast:
    """For a task with parameters names, verbs, fewest, most and balanced: its words, and what its numbers must obey."""

    names: int
    verbs: int
    fewest: int
    most: int
    balanced: bool

    def __post_init__(self) -> None:
        if self.fewest > self.most:
            raise ValueError(f"fewest must be at most most ({self.most}), got {self.fewest}")
        if self.most > self.names:
            raise ValueError(f"most must be at most names ({self.names}), got {self.most}")
        if self.balanced and self.fewest < 2:
            raise ValueError(f"fewest must be at least 2 when balanced, got {self.fewest}; or give balanced=no")

    @property
    def people(self) -> tuple[str, ...]:
        """The names in use."""
        return NAMES[: self.names]

    @property
    def actions(self) -> tuple[str, ...]:
        """The verbs in use."""
        return VERBS[: self.verbs]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words; a token's id is its position."""
        return *self.people, *self.actions, *GLUE

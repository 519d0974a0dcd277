"""Pages that share a folder keep their files apart."""

from __future__ import annotations

from quickstudy.base.blocks import Column, Group, Line, Name, Page, Section, Table, with_file_names
from quickstudy.render.files import write_page


def card(learner):
    table = Table("card", "", [Column("learner")], [Group([Line([Name(learner)])])])
    name = f"card-{learner}"
    return Page(learner, with_file_names([Section("all", [table])], name)), name


def test_cards_of_one_folder_do_not_overwrite_each_other(tmp_path):
    for learner in ("esn", "copy-last"):
        page, name = card(learner)
        text = write_page(page, tmp_path, name).read_text()
        assert f"{name}-card.csv" in text
    for learner in ("esn", "copy-last"):
        assert learner in (tmp_path / f"card-{learner}-card.csv").read_text()

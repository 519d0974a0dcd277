from typing import Any
from quickstudy.base.blocks import Plot, HeatMap, Graph
from quickstudy.render.markup import Markup


def drawn(block: Plot | HeatMap | Graph) -> list[Markup]:
    return []


def live_data(plot: Plot) -> str:
    return "[]"


def svg_file(block: Plot | HeatMap | Graph) -> str:
    return "<svg/>"


def picture_rows(block: Plot | HeatMap | Graph) -> list[list[Any]]:
    return []

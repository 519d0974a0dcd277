"""A figure of learning curves: one panel per task."""

from quickstudy.report.study.table import page, stages

__all__ = ["page", "stages"]

from quickstudy.base.blocks import Page


def as_latex(page: Page) -> str:
    return ""

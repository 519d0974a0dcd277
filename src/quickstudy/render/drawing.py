from quickstudy.base.blocks import CONTROL, ORACLE, Mark


def mark_class(mark: Mark) -> str:
    if mark.role == ORACLE:
        return "oracle"
    if mark.role == CONTROL:
        return f"control d{mark.number % 5 + 1}"
    return f"c{mark.number % 6 + 1}" + (" again" if mark.number >= 6 else "")

"""Write the gallery of cards from a folder of profiles: `python docs/gallery.py results/profile-quick cards.md`."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

HEAD = """# Cards of built-in learners

{study} version {version}, ruleset “{ruleset}”, convention {convention}. Made by `make gallery` from the runs that were
there; nothing here was typed. A family's number is the mean over its tasks of `scaled`: 0 at the best control, 1 at the
oracle, with its 95 % interval over seeds.
{limits}

"""


def number(family: dict[str, Any]) -> str:
    """The number of a family, or why there is none."""
    if family["scaled"] is None:
        return "– " + "; ".join(dict.fromkeys(one["why"].partition(":")[0] for one in family["without_scale"]))
    interval = family["interval"]
    return f"{family['scaled']:.3f}" + (f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "")


def gallery(folder: pathlib.Path) -> str:
    """The page. Cards of another study or ruleset than the first are refused."""
    cards = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("card-*.json"))]
    if not cards:
        raise SystemExit(f"no cards in {folder}; type: quickstudy profile esn --quick --out {folder}")
    kinds = {(card["study"], card["version"], card["ruleset"]) for card in cards}
    if len(kinds) > 1:
        raise SystemExit(f"cards of several kinds do not stand side by side: {sorted(kinds)}")
    families = [family["family"] for family in cards[0]["families"]]
    rows = [f"| learner | seeds | {' | '.join(families)} |", "|---" * (len(families) + 2) + "|"]
    for card in cards:
        seeds = max(family["seeds"] for family in card["families"])
        rows.append(f"| `{card['learner']}` | {seeds} | {' | '.join(map(number, card['families']))} |")
    least = min(family["seeds"] for card in cards for family in card["families"] if family["seeds"])
    few = "With fewer than six seeds there is no verdict: these are means, and say whether a learner works at all."
    few = few if least < 6 else "Runs behind them: `published/profile-quick`, where they are stored."
    said = [f"- {card['words'][0]}" for card in cards]
    return "\n".join([HEAD.format(**cards[0], limits=few).rstrip(), "", *rows, "", *ends(cards), "", *said, ""])


def ends(cards: list[dict[str, Any]]) -> list[str]:
    """Between what every task is scaled: where the best rule is near the oracle, small differences are large there."""
    rows = ["| task | score | best control | oracle |", "|---|---|---|---|"]
    for number, family in enumerate(cards[0]["families"]):
        for place, _ in enumerate(family["tasks"]):
            known = (card["families"][number]["tasks"][place] for card in cards)
            task = next(one for one in known if one["control"] is not None)
            control, oracle = (f"{task[name]:.3f}" for name in ("control", "oracle"))
            rows.append(f"| `{task['task']}` | {task['score']} | {control} ({task['best_control']}) | {oracle} |")
    return rows


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_text(gallery(pathlib.Path(sys.argv[1])), encoding="utf-8")

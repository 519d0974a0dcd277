"""Score a learning curve that was measured elsewhere, under the published definitions of WADE and
under ours.
"""

import quickstudy as qs

steps = [8, 16, 24, 32, 40]
accuracy = [0.55, 0.6, 0.75, 0.9, 0.95]
tenths, hundredths = (qs.wade_preset("paper", thresholds=count) for count in (10, 100))
networks = qs.wade_preset("published-nets")

print(f"as the paper prints it, 10 thresholds:   {tenths.score(steps, accuracy):.4f}")
print(f"as the paper prints it, 100 thresholds:  {hundredths.score(steps, accuracy):.4f}")
print(f"as its networks were scored, by update:  {networks.score([1, 2, 3, 4, 5], accuracy):.4f}")
print(
    "above a constant answer that is right half of the time:"
    f" {qs.wade_above_chance(steps, accuracy, 0.5):.4f}"
)

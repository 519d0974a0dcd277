"""Score a learning curve that was measured elsewhere, under the published definitions of WADE and under ours."""

from quickstudy.measures.wade import paper, published_nets, wade_above_chance

steps = [8, 16, 24, 32, 40]
accuracy = [0.55, 0.6, 0.75, 0.9, 0.95]

print(f"as the paper prints it, 10 thresholds:   {paper(10).score(steps, accuracy):.4f}")
print(f"as the paper prints it, 100 thresholds:  {paper(100).score(steps, accuracy):.4f}")
print(f"as its networks were scored, by update:  {published_nets().score([1, 2, 3, 4, 5], accuracy):.4f}")
print(f"above a constant answer that is right half of the time: {wade_above_chance(steps, accuracy, 0.5):.4f}")

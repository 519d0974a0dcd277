"""A PyTorch network of your own, as a learner: quickstudy profile
examples/torch_model.py:Model:width=64
"""

from quickstudy.adapters.torch import SequenceModel


class Model(SequenceModel):
    """A GRU layer and a linear readout."""

    def build(self, brief, width=32):
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.memory = torch.nn.GRU(brief.inputs.width, width)
                self.readout = torch.nn.Linear(width, brief.outputs.width)

            def forward(self, inputs):
                return self.readout(self.memory(inputs)[0])

        return Net()


if __name__ == "__main__":
    print("quickstudy run language/qa --learner examples/torch_model.py:Model")

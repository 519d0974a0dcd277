"""`hf-config:gpt2`: a model of the library transformers, made from a configuration and trained from
random weights.

The model reads vectors (`inputs_embeds`), and gives its last hidden states; frame and contract are
those of `quickstudy.adapters.torch_layer`. Nothing is fetched, and no trained weights are read: for
a trained model in a folder there is `hf`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

from quickstudy.adapters.torch_layer import WIDTHS, LayerModel
from quickstudy.base.errors import MissingExtra, UsageError, nearest
from quickstudy.base.registries import learner

_NO_TOKENS = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"))
OWN_WIDTHS = ("n_embd", *WIDTHS)


@learner("hf-config", version=1)
class FromConfig(LayerModel):
    """A causal model of transformers with random weights, trained by gradient.

    layer: its model type, as in `hf-config:gpt2`. width, layers: as of `torch`; layers are whole
    models, one by default. Every other parameter is one of the model's configuration, such as
    num_hidden_layers (n_layer for gpt2) and num_attention_heads (n_head).
    """

    kind: ClassVar[str] = "hf-config"
    example: ClassVar[str] = "gpt2:width=64,n_layer=2,n_head=4"

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        return "imports transformers"

    @classmethod
    def source_of(cls, name: str) -> str:
        """The same for all."""
        return "transformers"

    @classmethod
    def layer_of(cls, name: str, width: int, given: Mapping[str, Any]) -> Any:
        """The model, as a layer of vectors."""
        import torch

        try:
            from transformers import AutoModel
            from transformers.models.auto.configuration_auto import CONFIG_MAPPING
        except ModuleNotFoundError as error:
            raise MissingExtra(error.name or "transformers", "lm") from error
        if name not in CONFIG_MAPPING:
            kinds = list(CONFIG_MAPPING.keys())
            raise UsageError(f'hf-config: no model type "{name}"; {nearest(name, kinds)}')
        kind = CONFIG_MAPPING[name]
        known = inspect.signature(kind.__init__).parameters
        settings = {one: width for one in OWN_WIDTHS if one in known} | dict(given)
        # Nothing of its own vocabulary is read.
        config = kind(**{"vocab_size": 2, "use_cache": False, **_NO_TOKENS, **settings})
        model = AutoModel.from_config(config)

        class Vectors(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, x: Any) -> Any:
                return self.model(inputs_embeds=x).last_hidden_state

        return Vectors()

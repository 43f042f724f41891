"""The classification heads that the families of models have of their own, and configurations that name their labels."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from typing import cast

from transformers import (
    AutoModelForSequenceClassification,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from babelscope.core.errors import InputError
from babelscope.encoders.anatomy import anatomy_of
from babelscope.encoders.load import Encoder

_DROPOUT = {"distilbert": "seq_classif_dropout", "deberta": "cls_dropout", "deberta-v2": "cls_dropout"}
"""Model type -> what its configuration calls the dropout of the head, where it is not `classifier_dropout`."""


def family_classifier(encoder: Encoder, labels: Sequence[str], dropout: float) -> PreTrainedModel:
    """The family's own `...ForSequenceClassification` around the encoder's backbone, which is not copied.

    Its head is drawn from torch's global generator by the family's initialiser; a pooler that the checkpoint has is
    kept. Without `labels` it has one output, for regression.

    Raises:
        InputError: the family has no such model.
    """
    config = labelled_config(encoder.backbone.config, labels, encoder.tokenizer)
    setattr(config, _DROPOUT.get(config.model_type, "classifier_dropout"), dropout)
    try:
        family: PreTrainedModel = AutoModelForSequenceClassification.from_config(config, dtype=encoder.backbone.dtype)
    except ValueError:
        raise InputError(
            f"head 'family': {encoder.name} is of type {config.model_type}, which has no classification model; "
            "use head 'first'"
        ) from None
    if pooler := getattr(family.base_model, "pooler", None):
        if encoder.pooler is not None:
            pooler.load_state_dict(encoder.pooler.state_dict())
        encoder.backbone.pooler = pooler
    setattr(family, family.base_model_prefix, encoder.backbone)
    return family.eval()


def over_backbone(family: PreTrainedModel, backbone: PreTrainedModel) -> PreTrainedModel:
    """The same head over another backbone of its family, which gets the pooler that belongs to the head."""
    if pooler := getattr(family.base_model, "pooler", None):
        backbone.pooler = pooler
    other = copy(family)
    other._modules = family._modules | {family.base_model_prefix: backbone}  # a copy shares what is in it
    return other


def labelled_config(
    config: PretrainedConfig, labels: Sequence[str], tokenizer: PreTrainedTokenizerBase
) -> PretrainedConfig:
    """A copy of a configuration that names labels; without any it is one of regression."""
    config = cast(PretrainedConfig, deepcopy(config))
    if not anatomy_of(config).head:
        config.pad_token_id = tokenizer.pad_token_id  # a decoder finds the end of a text by it
    config.id2label = dict(enumerate(labels or ("LABEL_0",)))
    config.label2id = {label: number for number, label in config.id2label.items()}
    config.problem_type = None if labels else "regression"
    return config

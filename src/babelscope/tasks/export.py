"""Trained models as Hugging Face folders, and read back from them.

A folder holds `config.json`, `model.safetensors`, the tokenizer's files, and `babelscope.json`, which says what the
model was made for; as an encoder's folder has them, tokenizers of languages that have one of their own are in
`languages/`. The weights are named as the family's own model names them, so that `transformers.pipeline` loads taggers
and classifiers. Where transformers has no such head, of parsers above all, it loads the encoder alone, and the head
beside it is for Babelscope. So is the whole folder of a BiLSTM, which has neither configuration nor tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn
from transformers import PretrainedConfig
from transformers.models.auto import modeling_auto

from babelscope.core.declaration import Declaration
from babelscope.core.errors import DataError, InputError
from babelscope.core.outside import read_text
from babelscope.core.version import __version__
from babelscope.encoders.anatomy import anatomy_of, reads_types
from babelscope.encoders.beside import save_config, save_tokenizer
from babelscope.encoders.folder import CONFIG, LANGUAGES, MODEL_FILE, OURS
from babelscope.encoders.load import load_encoder, save_encoder
from babelscope.encoders.written import check_finite, non_finite, write_tensors
from babelscope.tasks.bilstm.parse import BiLstmParser
from babelscope.tasks.bilstm.tag import BiLstmTagger
from babelscope.tasks.bilstm.words import Vocabulary
from babelscope.tasks.classify import Classifier
from babelscope.tasks.design import Design, Predictor, TaskModel, TrainingData
from babelscope.tasks.family import labelled_config
from babelscope.tasks.models import recurrent_model, task_model
from babelscope.tasks.parse import Parser
from babelscope.tasks.tag import Tagger
from babelscope.tasks.text_models import LanguageModel

WEIGHTS = "model.safetensors"

_LINEAR = {"classifier.": "classifier."}
_SCORE = {"classifier.": "score."}
TAGGERS = {
    "bert": _LINEAR, "distilbert": _LINEAR, "roberta": _LINEAR, "xlm-roberta": _LINEAR, "electra": _LINEAR,
    "deberta": _LINEAR, "deberta-v2": _LINEAR, "gpt2": _LINEAR, "llama": _SCORE, "qwen2": _SCORE, "qwen3": _SCORE,
}  # fmt: skip
"""Model type -> our and its name of the linear layer, where its `...ForTokenClassification` has nothing else."""
_DENSE = {"pooler.": "classifier.", "classifier.": "classifier.out_proj."}
_POOLING = {"bert": {"pooler.": "bert.pooler."} | _LINEAR, "roberta": _DENSE, "xlm-roberta": _DENSE}
"""The same of a pooler and a linear layer over it, where its `...ForSequenceClassification` is just that."""
_OURS = {"biaffine.": "biaffine.", "": OURS}
"""The same of a head that transformers does not have."""
_ARCHITECTURES: dict[type[nn.Module], Mapping[str, Any]] = {
    Tagger: modeling_auto.MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES,
    Classifier: modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
}
"""Our model -> model type -> the class of transformers for it."""


class Record(Declaration):
    """What `babelscope.json` says."""

    format: Literal[1] = 1
    babelscope: str
    design: Design
    training_data: TrainingData = TrainingData()
    vocabulary: Vocabulary | None = None
    """Of a model without an encoder."""


class Naming(NamedTuple):
    """How a folder names a model and its weights."""

    architecture: str = ""
    """The class of transformers that has weights of these names; empty if there is none."""
    prefixes: Mapping[str, str] = {"": ""}
    """What names begin with in our module -> in the file."""
    has_head: bool = False
    """Whether that class has the head, and its configuration the labels."""

    def name(self, ours: str) -> str:
        """The name in the file."""
        prefix = next(prefix for prefix in self.prefixes if ours.startswith(prefix))
        return self.prefixes[prefix] + ours.removeprefix(prefix)


def save_model(model: TaskModel, folder: Path) -> None:
    """Write a trained model to a folder, which is made.

    The output of a model of regression is a share of its task's scale; Babelscope spreads it, pipelines do not.
    A masked language model is written as the encoder that it is.

    Raises:
        InputError: a module of this class has no format.
        DivergedError: weights are NaN or infinite.
    """
    if isinstance(model, LanguageModel):
        return save_encoder(model.encoder, folder)
    module, vocabulary, naming = model.module, None, Naming()
    if isinstance(module, Tagger | Classifier | Parser):
        naming = _naming(model.design, module)
        folder.mkdir(parents=True)
        _save_config(module, naming, folder, model.languages)
        _save_tokenizer(module, folder, pretty=not model.languages)  # of several it may be a language's own
        for language in model.languages:
            _save_tokenizer(model.reading(language).module, folder / LANGUAGES / language, pretty=False)
    elif isinstance(module, BiLstmTagger | BiLstmParser):
        vocabulary = module.backbone.vocabulary
        folder.mkdir(parents=True)
    else:
        raise _no_export(module)
    weights = {naming.name(name): weight for name, weight in module.named_parameters()}
    check_finite(weights)
    write_tensors(folder / WEIGHTS, weights, {"format": "pt"})
    record = Record(
        babelscope=__version__, design=model.design, training_data=model.training_data, vocabulary=vocabulary
    )
    (folder / MODEL_FILE).write_text(record.model_dump_json(indent=1, exclude_none=True) + "\n", encoding="utf-8")


def load_model(folder: Path) -> TaskModel:
    """The model that `save_model` wrote, in evaluation mode.

    Raises:
        InputError: the folder holds no such model, or its files do not fit together.
    """
    record = _read_record(folder)
    with torch.random.fork_rng(devices=[]):
        if record.vocabulary is not None:
            model, naming = recurrent_model(record.design, record.vocabulary), Naming()
        else:
            model = task_model(load_encoder(folder), record.design)
            naming = _naming(record.design, model.module)
    model.training_data = record.training_data
    _set_weights(model.module, naming, folder / WEIGHTS)
    if naming.has_head:
        _check_labels(model.module, folder)
    model.module.eval()
    return model


def _naming(design: Design, module: nn.Module) -> Naming:
    if not isinstance(module, Tagger | Classifier | Parser):
        raise _no_export(module)
    config: PretrainedConfig = module.backbone.config
    backbone = {"backbone.": f"{anatomy_of(config).backbone}."}
    if (head := _head(design, module, config.model_type)) is None:
        return Naming(type(module.backbone).__name__, {**backbone, **_OURS})
    return Naming(_ARCHITECTURES[type(module)][config.model_type], {**backbone, **head}, has_head=True)


def _head(design: Design, module: Tagger | Classifier | Parser, model_type: str) -> Mapping[str, str] | None:
    """What names of a head begin with in our module -> in transformers' own; None where that has no such head."""
    if isinstance(module, Tagger):
        return TAGGERS.get(model_type)
    if design.head == "pooler":
        return _POOLING.get(model_type)
    return {"family.": ""} if design.head == "family" else None


def _no_export(module: nn.Module) -> InputError:
    use = "; babelscope predict can use the model from the store" if isinstance(module, Predictor) else ""
    return InputError(f"this model cannot be exported: there is no format for a {type(module).__name__}{use}")


def _save_config(module: Tagger | Classifier | Parser, naming: Naming, folder: Path, languages: Iterable[str]) -> None:
    config = deepcopy(module.backbone.config)
    config.num_labels, config.problem_type = 2, None  # an encoder's; it may be that of a model of another task
    if naming.has_head and not isinstance(module, Parser):
        config = labelled_config(config, module.labels, module.tokenizer)
    config.architectures = [naming.architecture]
    save_config(config, languages, folder)


def _save_tokenizer(module: Any, folder: Path, *, pretty: bool) -> None:
    """The tokenizer of a tagger, classifier or parser, set to what the model reads."""
    tokenizer = deepcopy(module.tokenizer)
    inputs = ["input_ids", "attention_mask"]
    if isinstance(module, Classifier) and reads_types(module.backbone.config):
        inputs.append("token_type_ids")
    tokenizer.model_input_names = tokenizer.init_kwargs["model_input_names"] = inputs
    tokenizer.model_max_length = module.max_length
    save_tokenizer(tokenizer, folder, pretty=pretty)


def _read_record(folder: Path) -> Record:
    path = folder / MODEL_FILE
    try:
        return Record.model_validate_json(read_text(path))
    except DataError as error:
        if (folder / CONFIG).is_file():
            problem = f"{folder}: an encoder without a task, since it has no {MODEL_FILE}"
            raise InputError(f"{problem}; give a folder of a tuned model that babelscope export wrote") from None
        raise InputError(f"{error}; give a folder that babelscope export wrote") from None
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise InputError(f"{path}: {where}: {fault['msg']}; export the model again") from None


def _check_labels(module: nn.Module, folder: Path) -> None:
    """Refuse a folder whose two files name labels differently, of which one has been written by something else."""
    if isinstance(module, Tagger | Classifier):
        config = module.backbone.config
        if config.id2label != labelled_config(config, module.labels, module.tokenizer).id2label:
            problem = f"id2label of config.json and labels of {MODEL_FILE} differ"
            raise InputError(f"{folder}: {problem}; export the model again")


@torch.no_grad()
def _set_weights(module: nn.Module, naming: Naming, path: Path) -> None:
    try:
        weights = load_file(path)
    except (OSError, SafetensorError) as error:
        raise InputError(f"{path}: {error}; export the model again") from None
    if problem := non_finite(weights):
        raise InputError(f"{path}: {problem}, so that no answer would mean anything; export the model again")
    parameters = {naming.name(name): parameter for name, parameter in module.named_parameters()}
    for name in sorted(weights.keys() | parameters.keys()):
        if name not in weights or name not in parameters or weights[name].shape != parameters[name].shape:
            raise InputError(f"{path}: weight {name} does not fit the model of {MODEL_FILE}; export the model again")
        parameters[name].copy_(weights[name])

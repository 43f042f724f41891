"""Encoders: configuration, weights and tokenizer, read from and written to Hugging Face folders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, cast

import torch
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMaskedLM,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from babelscope.core.errors import EncoderError
from babelscope.core.files import share
from babelscope.core.outside import given_path
from babelscope.corpora.codes import known_as
from babelscope.encoders.anatomy import anatomy_of, max_positions
from babelscope.encoders.beside import read_languages, save_config, save_tokenizer, taken_declaration, with_first
from babelscope.encoders.folder import LANGUAGES, check_folder
from babelscope.encoders.masks import reads_our_masks
from babelscope.encoders.places import Place, folder_of, installed_folder
from babelscope.encoders.pooler import Pooler, read_pooler
from babelscope.encoders.refusals import explained, quiet
from babelscope.encoders.trusted import check_trusted
from babelscope.encoders.written import check_finite, non_finite


@dataclass(frozen=True)
class Encoder:
    """An encoder is its configuration, its weights and its tokenizer."""

    model: PreTrainedModel
    """With its masked language model head where it has one; else the backbone alone."""
    tokenizer: PreTrainedTokenizerBase
    name: str
    pooler: Pooler | None = None
    """As trained with the model; None where the checkpoint has none."""
    languages: Mapping[str, PreTrainedTokenizerBase] = field(default_factory=dict, hash=False)
    """Tokenizers of languages that have one of their own. Their ids are rows of the same embeddings."""

    @property
    def backbone(self) -> PreTrainedModel:
        """The encoder proper, from pieces to hidden states."""
        return _backbone(self.model)

    @property
    def has_mlm_head(self) -> bool:
        """Whether the model can predict hidden pieces."""
        return self.model.base_model is not self.model

    @property
    def max_length(self) -> int:
        """The longest sequence, in pieces with the special ones."""
        return min(max_positions(self.model.config), self.tokenizer.model_max_length)

    def reading(self, language: str) -> Encoder:
        """The same model with the language's own tokenizer; the encoder itself where the language has none.

        Args:
            language: its code, or another of the same language and script: what came in as `de` reads `deu`.
        """
        own = known_as(language, self.languages)
        return replace(self, tokenizer=self.languages[own]) if own else self


def load_encoder(source: str | Path, *, revision: str | None = None, allow_pickle: bool = False) -> Encoder:
    """Load an encoder in float32: an installed one by its name, from a local folder, or by its name on the hub.

    A shipped name needs no network and comes before a folder of that name here; a `Path` is always a folder.
    Weights are read from safetensors files; pickled weights, which can run code, only with `allow_pickle`. Code that
    comes with a model is never run. The masked language model head is kept if the checkpoint has its weights. Of a
    decoder (GPT-2, Llama) the backbone is loaded; it reads from left to right as ever, and where its tokenizer has no
    padding piece the end-of-text piece pads, which the attention mask hides. Languages' own tokenizers are read, too.

    Raises:
        EncoderError: nothing is found there, its files cannot be used, the tokenizer of a language that config.json
            names is missing, or its family is not in the anatomy table.
    """
    source = _checked_source(source, allow_pickle)
    options: dict[str, Any] = {"revision": revision, "trust_remote_code": False}
    weights = {"dtype": torch.float32, "use_safetensors": None if allow_pickle else True}
    with quiet(), explained(source):
        config = AutoConfig.from_pretrained(source, **options)
        check_trusted(source, config, revision, allow_pickle)
        config.output_attentions = config.output_hidden_states = False  # what is given besides states nothing reads
        config.return_dict = True
        declared, first = taken_declaration(config)
        if not anatomy_of(config).head:
            config.use_cache = False  # earlier states are kept for generating text, which no task does
        tokenizer = AutoTokenizer.from_pretrained(source, use_fast=True, **options)
        model, report = _auto_model(config).from_pretrained(
            source,
            config=config,
            ignore_mismatched_sizes=True,  # refused below, with their names
            output_loading_info=True,
            **weights,
            **options,
        )
        pooler = read_pooler(source, report["unexpected_keys"], _backbone(model), **weights, **options)
        languages = read_languages(source, declared, config.vocab_size, options)
    if getattr(model, "_hf_peft_config_loaded", False):
        raise EncoderError(f"{source}: an adapter. Merge it into its encoder's weights with peft, and save these")
    if misfits := sorted(name for name, *_ in report["mismatched_keys"]):
        raise EncoderError(f"{source}: {len(misfits)} weights do not fit the sizes in config.json, first {misfits[0]}")
    if problem := non_finite(model.state_dict()):
        raise EncoderError(f"{source}: {problem}; nothing that is measured with them would mean anything")
    _check_layers(source, config, report["unexpected_keys"])
    own, languages = with_first(tokenizer, languages, first)
    encoder = _assembled(source, reads_our_masks(model), own, set(report["missing_keys"]))
    _check_reads(source, encoder)
    return replace(encoder, pooler=pooler, languages=languages)


def load_located(place: Place) -> Encoder:
    """Load the encoder that `locate` found, under the name that rows have for it.

    Raises:
        EncoderError: as of `load_encoder`; or the folder no longer holds what `locate` found in it.
    """
    folder = folder_of(place)
    encoder = load_encoder(folder) if folder else load_encoder(place.path, revision=place.content)
    return replace(encoder, name=place.name)


def save_encoder(encoder: Encoder, folder: Path) -> None:
    """Write the encoder as a Hugging Face folder: config.json, model.safetensors and the tokenizer's files.

    A language's own tokenizer has a folder `languages/LANGUAGE` in it.

    Raises:
        DivergedError: weights are NaN or infinite; nothing is written.
    """
    with quiet(), _pooler_in_place(encoder):
        check_finite(encoder.model.state_dict())
        folder.mkdir(parents=True, exist_ok=True)  # where there is a file, the library writes nothing and goes on
        encoder.model.save_pretrained(folder)
        save_tokenizer(encoder.tokenizer, folder)
        for language, tokenizer in encoder.languages.items():
            save_tokenizer(tokenizer, folder / LANGUAGES / language, pretty=False)
        save_config(encoder.model.config, encoder.languages, folder)
    share(*folder.glob("*.safetensors"))


def untrained_model(config: PretrainedConfig, *, mlm_head: bool = True) -> PreTrainedModel:
    """A model with weights drawn by its own initialiser from torch's global generator."""
    model = reads_our_masks(_auto_model(config).from_config(config, dtype=torch.float32))
    return (model if mlm_head else _backbone(model)).eval()


def with_mlm_head(encoder: Encoder, seed: int) -> Encoder:
    """The encoder itself if it can predict hidden pieces; else with a head drawn by its family's own initialiser.

    The decoder is tied to the word embeddings where the configuration says so.

    Raises:
        EncoderError: its family reads from left to right, and has no such head.
    """
    if encoder.has_mlm_head:
        return encoder
    config = encoder.model.config
    if not anatomy_of(config).head:
        raise EncoderError(
            f"{encoder.name}: {config.model_type} reads from left to right and predicts no hidden pieces"
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = untrained_model(config)
    _backbone(model).load_state_dict(encoder.backbone.state_dict())
    return replace(encoder, model=model)


def _auto_model(config: PretrainedConfig) -> type[AutoModel | AutoModelForMaskedLM]:
    """The library's way to make a family's model, with a masked language model head if the family has one."""
    return AutoModelForMaskedLM if anatomy_of(config).head else AutoModel


def _backbone(model: PreTrainedModel) -> PreTrainedModel:
    return cast(PreTrainedModel, model.base_model)


@contextmanager
def _pooler_in_place(encoder: Encoder) -> Iterator[None]:
    """The pooler as a part of the backbone, so that it is saved with it."""
    if encoder.pooler is None:
        yield
        return
    encoder.backbone.pooler = encoder.pooler
    try:
        yield
    finally:
        encoder.backbone.register_module("pooler", None)


def _checked_source(source: str | Path, allow_pickle: bool) -> str:
    """The source as text; what can be seen to be wrong without the network is refused here."""
    installed = installed_folder(source) if isinstance(source, str) else None
    folder = installed or given_path(source)
    if not folder.is_dir():
        if isinstance(source, Path) or str(source).startswith((".", "/", "~")) or str(source).count("/") > 1:
            raise EncoderError(f"{source}: no such folder. Give an encoder's folder, or its name on the hub")
        return str(source)
    check_folder(folder, allow_pickle)
    return str(folder)


def _check_layers(source: str, config: PretrainedConfig, unread: Iterable[str]) -> None:
    """Refuse weights of more layers than are read; weights of heads may be left."""
    names = re.compile(rf"(?:.*\.)?{re.escape(anatomy_of(config).layers)}\.(\d+)\.")
    over = [int(match[1]) for name in unread if (match := names.match(name))]
    if over and max(over) >= config.num_hidden_layers:
        raise EncoderError(
            f"{source}: weights of {max(over) + 1} layers, but config.json says num_hidden_layers "
            f"{config.num_hidden_layers}. Give their number; babelscope operate --op drop:last=1 makes an encoder with "
            "fewer"
        )


def _check_reads(source: str, encoder: Encoder) -> None:
    """Let the tokenizer read words: it shows odd settings when it is used, some only by letters of several bytes."""
    tokenizer, rows = encoder.tokenizer, encoder.model.config.vocab_size
    with quiet(), explained(source):
        read = tokenizer(["a", "a щ"], padding=True)["input_ids"]
        room = encoder.max_length - tokenizer.num_special_tokens_to_add()
        pieces = tokenizer.backend_tokenizer.get_vocab(with_added_tokens=False).values()
        last = max(*pieces, *tokenizer.all_special_ids, *chain.from_iterable(read))
        letter = tokenizer("a", return_special_tokens_mask=True)["special_tokens_mask"]
    if 0 not in letter:
        raise EncoderError(f"{source}: its tokenizer makes nothing of a letter; see normalizer in tokenizer.json")
    if room < 1:
        raise EncoderError(f"{source}: sequences have no room for text; see model_max_length in tokenizer_config.json")
    if last >= rows:
        raise EncoderError(
            f"{source}: its tokenizer gives the id {last}, but there are {rows} embeddings. Copy its files again"
        )


def _assembled(source: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, missing: set[str]) -> Encoder:
    if not tokenizer.is_fast:
        raise EncoderError(f"{source}: its tokenizer has no fast version (tokenizer.json), which is needed")
    _check_vocabulary(source, tokenizer)
    backbone = "" if model.base_model is model else f"{anatomy_of(model.config).backbone}."
    lost = sorted(key for key in missing if key.startswith(backbone))
    if lost:
        raise EncoderError(f"{source}: {len(lost)} weights are missing from its files, first {lost[0]}")
    _ensure_padding(source, tokenizer)
    return Encoder(model=(_backbone(model) if missing else model).eval(), tokenizer=tokenizer, name=Path(source).name)


def _check_vocabulary(source: str, tokenizer: PreTrainedTokenizerBase) -> None:
    """Where there are no files of a tokenizer, transformers makes one of the family's special pieces alone."""
    with explained(source):
        has_pieces = not set(tokenizer.get_vocab().values()) <= set(tokenizer.all_special_ids)
    if not has_pieces:
        raise EncoderError(
            f"{source}: its tokenizer has no pieces but special ones, so every word would be unknown. Add the "
            "tokenizer's files, such as tokenizer.json, or vocab.txt of a BERT"
        )


def _ensure_padding(source: str, tokenizer: PreTrainedTokenizerBase) -> None:
    """Let the end-of-text piece pad where there is no padding piece, as in most decoders."""
    if tokenizer.pad_token is None:
        if tokenizer.eos_token is None:
            raise EncoderError(
                f"{source}: its tokenizer has neither a padding nor an end-of-text piece. Set one (pad_token) in "
                "tokenizer_config.json"
            )
        tokenizer.pad_token = tokenizer.eos_token

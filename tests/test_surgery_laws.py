"""The laws of surgery, for every operation and every family.

What an operation may change is named here by patterns of weight names of our own, not by the anatomy table.
"""

import copy
import re
from dataclasses import replace

import pytest
import torch

from babelscope.encoders.load import Encoder, load_encoder, save_encoder
from babelscope.encoders.pieces import Batch
from babelscope.encoders.pooler import Pooler
from babelscope.encoders.tap import hidden_states
from babelscope.surgery import Operation, apply, parse_operation
from families import DECODERS, FAMILIES, byte_level_tokenizer, family_model

WORDS = r"(word_embeddings|tok_embeddings|wte|embed_tokens)\.weight$"
LAYER = r"\.(layer|layers|h)\.\d+\."
NORM = r"(LayerNorm|layer_norm|layernorm|norm|ln_\w)\.(weight|bias)$"
HEAD = r"^(cls|lm_head|vocab_\w+|generator_\w+|head|decoder|pooler)\."
ATTENTION = r"(attention|attn|self_attn)\."
POSITIONS = r"(position_embeddings|rel_embeddings|wpe)\.weight$"

CHANGED = {
    "reinit": ".",
    "reinit:part=word-embeddings": WORDS,
    "reinit:layers=1+2": r"\.(layer|layers|h)\.[12]\.",
    "reinit:part=layers": LAYER,
    "reinit:part=attention": rf"{LAYER}(?!.*{NORM}){ATTENTION}",
    "reinit:part=attention,layers=2": rf"\.(layer|layers|h)\.2\.(?!.*{NORM}){ATTENTION}",
    "reinit:part=feed-forward": rf"{LAYER}(?!.*{NORM})(?!{ATTENTION})",
    "reinit:part=norms": rf"^(?!{HEAD[1:]}).*{NORM}",
    "reinit:part=positions": POSITIONS,
    "reinit:part=head": HEAD,
    "rescale": ".",
    "rescale:part=layers,match=variance": LAYER,
    "oracle": ".",
    "oracle:part=word-embeddings": WORDS,
    "shuffle": WORDS,
    "noise:share=0.5": ".",
    "noise:part=attention": rf"{LAYER}(?!.*{NORM}){ATTENTION}",
    "quantise:bits=3": ".",
    "quantise:layers=0": r"\.(layer|layers|h)\.0\.",
    "transplant:donor=other": rf"{WORDS}|^(cls\.predictions|lm_head|vocab_projector|generator_lm_head|decoder)\.bias$",
    "graft:layers=1+3,donor=same": r"\.(layer|layers|h)\.[13]\.",
    "graft:part=feed-forward,donor=same": rf"{LAYER}(?!.*{NORM})(?!{ATTENTION})",
}
"""For each operation on places that stay, a pattern of what changes: all of it, and nothing else."""
MOVING = {
    "reverse": [3, 2, 1, 0],
    "drop:last=2": [0, 1],
    "drop:every=2": [0, 2],
    "drop:layers=0+2": [1, 3],
    "permute:order=1+2+3+0": [1, 2, 3, 0],
    "repeat": [0, 0, 1, 1, 2, 2, 3, 3],
    "repeat:layers=1,times=3": [0, 1, 1, 1, 2, 3],
}
"""For each operation on the order of four layers, where each layer comes from."""
ALL = [*CHANGED, *MOVING, "permute"]
CASES = [(family, text) for family in FAMILIES for text in ALL]


def has_part(family, text):
    absent = {"positions": ("modernbert", "llama", "qwen2", "qwen3"), "head": DECODERS}
    return not any(f"part={part}" in text and family in families for part, families in absent.items())


CASES = [case for case in CASES if has_part(*case)]


ONCE = {text.partition(":")[0]: text for text in reversed(ALL)} | {"permute": "permute"}
"""Each operation once."""


def of_family(family, tokenizer):
    return Encoder(family_model(family, layers=4, vocabulary=len(tokenizer)), tokenizer, family)


@pytest.fixture(scope="module")
def encoders(tokenizer, sentences):
    """An encoder of four layers of each family; BERT's has a pooler."""
    bytes_ = byte_level_tokenizer(sentences, 300)
    made = {family: of_family(family, bytes_ if family in DECODERS else tokenizer) for family in FAMILIES}
    pooler = Pooler(made["bert"].model.config)
    torch.nn.init.normal_(pooler.dense.bias, generator=torch.Generator().manual_seed(1))
    return made | {"bert": replace(made["bert"], pooler=pooler)}


@pytest.fixture(scope="module")
def donors(encoders, other_tokenizer, sentences):
    """For each family, one of the same shape and one with another tokenizer."""
    bytes_ = byte_level_tokenizer(sentences[:5], 290)
    others = {family: of_family(family, bytes_ if family in DECODERS else other_tokenizer) for family in FAMILIES}
    return {
        family: {"same": apply(encoders[family], "noise:share=1", 5), "other": apply(others[family], "noise", 6)}
        for family in FAMILIES
    }


def weights(encoder):
    """All weights by all of their names."""
    named = dict(encoder.model.named_parameters(remove_duplicate=False))
    if encoder.pooler:
        named |= {f"pooler.{name}": weight for name, weight in encoder.pooler.named_parameters()}
    return {name: weight.detach().clone() for name, weight in named.items()}


def first_names(encoder):
    """The names of weights, tied ones in the backbone; without a head they begin with a dot, as inside a model."""
    prefix = "" if encoder.has_mlm_head else "."
    tied = {"decoder.weight", "vocab_projector.weight", "generator_lm_head.weight"}
    tied |= {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias", "lm_head.decoder.weight"}
    tied |= {"lm_head.decoder.bias"}
    names = {prefix + name: name for name in weights(encoder) if name not in tied}
    return names


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def states(encoder):
    ids = torch.randint(5, 60, (3, 9), generator=torch.Generator().manual_seed(1))
    real = torch.arange(9) < torch.tensor([[9], [6], [4]])
    return hidden_states(encoder, Batch(ids.masked_fill(~real, 0), real)).movedim(0, -1)[real]


@pytest.mark.parametrize(("family", "text"), [case for case in CASES if case[1] in CHANGED])
def test_only_what_is_named_changes(family, text, encoders, donors):
    encoder = encoders[family]
    after = weights(apply(encoder, text, seed=1, donors=donors[family]))
    before = weights(encoder)
    changed = {
        shown
        for shown, name in first_names(encoder).items()
        if before[name].shape != after[name].shape or not torch.equal(before[name], after[name])
    }
    expected = {shown for shown in first_names(encoder) if re.search(CHANGED[text], shown)}
    assert changed == expected
    assert expected


@pytest.mark.parametrize(("family", "text"), [case for case in CASES if case[1] in MOVING])
def test_layers_move_whole_and_all_else_stays(family, text, encoders):
    encoder, order = encoders[family], MOVING[text]
    operated = apply(encoder, text, seed=1)
    before, after = weights(encoder), weights(operated)
    assert operated.model.config.num_hidden_layers == len(order)
    for name, weight in after.items():
        layer = re.search(r"(^|.*\.)(?:layer|layers|h)\.(\d+)\.(.*)", name)
        if layer is None:
            assert torch.equal(weight, before[name]), name
        elif "attn_norm" not in name:  # ModernBERT's first layer has none; a test of its own
            source = re.sub(r"\.(\d+)\.", f".{order[int(layer[2])]}.", f".{name}", count=1)[1:]
            assert torch.equal(weight, before[source]), name


@pytest.mark.parametrize(("family", "text"), [case for case in CASES if case[1] in ONCE.values()])
def test_an_operation_is_a_function_of_its_seed_and_leaves_its_input(family, text, encoders, donors):
    encoder, operation = encoders[family], parse_operation(text)
    before, config = weights(encoder), copy.deepcopy(encoder.model.config.to_dict())
    torch.manual_seed(5)
    state = torch.get_rng_state()
    first, again = (apply(encoder, operation, seed=1, donors=donors[family]) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), state)
    assert same(weights(first), weights(again))
    with torch.no_grad():
        for weight in first.model.parameters():
            weight.fill_(7)
        for weight in first.pooler.parameters() if first.pooler else ():
            weight.fill_(7)
    assert same(weights(encoder), before)
    assert encoder.model.config.to_dict() == config
    other = apply(encoder, operation, seed=2, donors=donors[family])
    assert same(weights(again), weights(other)) is not operation.seeded


@pytest.mark.parametrize(
    ("text", "seeded"),
    [
        ("transplant:donor=other,rows=overlap", True), ("transplant:donor=other,bridge=random", True),
        ("transplant:donor=other,bridge=least-squares", False), ("transplant:donor=bare", False),
        ("permute:order=1+2+3+0", False),
    ],
)  # fmt: skip
def test_seeded_is_what_draws_with_its_arguments(text, seeded, encoders, donors):
    given = donors["bert"] | {"bare": replace(donors["bert"]["other"], model=donors["bert"]["other"].backbone)}
    first, second = (apply(encoders["bert"], text, seed, given) for seed in (1, 2))
    assert parse_operation(text).seeded is not same(weights(first), weights(second))
    assert parse_operation(text).seeded is seeded


@pytest.mark.parametrize(("family", "text"), [case for case in CASES if case[1] in ONCE.values()])
def test_an_operated_encoder_is_tied_saved_and_loaded(family, text, encoders, donors, tmp_path):
    operated = apply(encoders[family], text, seed=1, donors=donors[family])
    if operated.has_mlm_head:
        assert operated.model.get_output_embeddings().weight is operated.model.get_input_embeddings().weight
    save_encoder(operated, tmp_path)
    loaded = load_encoder(tmp_path)
    assert same(weights(loaded), weights(operated))
    assert loaded.tokenizer.get_vocab() == operated.tokenizer.get_vocab()
    assert torch.equal(states(loaded), states(operated))
    assert states(operated).isfinite().all()


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_done_and_undone_is_nothing(family, encoders):
    encoder = encoders[family]
    for texts in (["reverse", "reverse"], ["permute:order=1+2+3+0", "permute:order=3+0+1+2"]):
        twice = apply(encoder, texts)
        assert same(weights(twice), weights(encoder))
        assert twice.model.config.to_dict() == encoder.model.config.to_dict()
        assert torch.equal(states(twice), states(encoder))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_backbone_alone_is_operated_on(family, encoders):
    bare = Encoder(encoders[family].backbone, encoders[family].tokenizer, "bare")
    whole = apply(encoders[family], ["reverse", "drop:last=1"])
    part = apply(bare, ["reverse", "drop:last=1"])
    assert not part.has_mlm_head
    assert torch.equal(states(part), states(whole))


def test_every_operation_that_is_shipped_is_tested():
    shipped = {name for name, kind in Operation.all_kinds().items() if kind.__module__.startswith("babelscope.")}
    assert shipped == {text.partition(":")[0] for text in ALL}

import re
import subprocess
import sys
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from babelscope.core.errors import InputError
from babelscope.encoders.load import Encoder
from babelscope.encoders.state import weights_of
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.study.declare import Study
from babelscope.surgery import AnyOperation, Operation, apply, describe, donors_of, parse_operation
from babelscope.surgery.fields import IN_LAYERS, Part
from babelscope.surgery.operations.drop import Drop
from babelscope.surgery.operations.noise import Noise
from babelscope.surgery.operations.permute import Permute
from babelscope.surgery.operations.quantise import Quantise
from babelscope.surgery.operations.reinit import Reinit
from babelscope.surgery.operations.repeat import Repeat
from babelscope.surgery.operations.rescale import Rescale
from babelscope.surgery.operations.shuffle import Shuffle
from babelscope.surgery.operations.transplant import Transplant
from babelscope.surgery.sequence import check_operations
from command_line import within
from families import family_model

LAYERS = st.none() | st.lists(st.integers(0, 30), min_size=1, max_size=5, unique=True).map(tuple)
PLACES = st.one_of(
    st.builds(lambda part: {"part": part}, st.sampled_from(get_args(Part))),
    st.builds(lambda part, layers: {"part": part, "layers": layers}, st.sampled_from(IN_LAYERS), LAYERS),
)
DECLARED = st.one_of(
    PLACES.map(lambda place: Reinit(**place)),
    st.builds(lambda place, match: Rescale(**place, match=match), PLACES, st.sampled_from(["magnitude", "variance"])),
    st.builds(lambda place, share: Noise(**place, share=share), PLACES, st.floats(1e-6, 1e6)),
    st.builds(lambda place, bits: Quantise(**place, bits=bits), PLACES, st.integers(2, 16)),
    st.lists(st.sampled_from(["(##)?[A-Za-z]+", "[0-9]{1,2}", "a=b", "##.*", ".*[0-9].*"]), max_size=3).map(
        lambda patterns: Shuffle(classes=tuple(patterns))
    ),
    st.builds(Drop, last=st.integers(1, 99)),
    st.builds(Drop, every=st.integers(2, 9)),
    st.builds(Repeat, layers=LAYERS, times=st.integers(2, 5)),
    st.builds(Permute, order=LAYERS),
    st.builds(
        Transplant, donor=st.sampled_from(["a/b", "./x=y", "C:here"]), rows=st.sampled_from(["donor", "overlap"])
    ),
)


NO_LAYERS = ("-1", "", "0-3", "0,1", "1_0", "0 1", "0+", "+1", "0++1", "\u0663")
"""Some of these Python would read as numbers."""


@given(DECLARED)
def test_text_and_fields_say_the_same(operation):
    assert parse_operation(str(operation)) == operation
    field = TypeAdapter(AnyOperation)
    assert field.validate_python(operation.model_dump(mode="json")) == operation
    assert field.validate_python(str(operation)) == operation


def test_values_can_hold_commas():
    assert parse_operation("shuffle:classes=a,b [0-9]{1,2}").classes == ("a,b", "[0-9]{1,2}")
    graft = parse_operation("graft:donor=./a,b/c,d, part = attention")
    assert (graft.donor, graft.part) == ("./a,b/c,d", "attention")


def test_text_is_as_short_as_can_be():
    given_ = ["reinit", "drop:last=6", "reinit:part=attention,layers=0+1", "noise:share=0.5", "shuffle", "reverse"]
    assert [str(parse_operation(text)) for text in given_] == given_
    assert str(parse_operation("reinit:part=all")) == "reinit"
    assert describe(map(parse_operation, given_[:2])) == "reinit; drop:last=6"
    assert donors_of([parse_operation(text) for text in ("graft:donor=b", "transplant:donor=a", "graft:donor=b")]) == [
        "b", "a",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no such operation\nOperations are drop, .*transplant.*; babelscope list surgeries says what they do"),
        (
            "revers",
            r"no such operation \(did you mean reverse\?\)\nOperations are drop, .*transplant.*; babelscope list "
            "surgeries says what they do",
        ),
        ("reverse:now=1", "no argument 'now'\nArguments of reverse: none"),
        ("drop", "give one of last, every and layers"),
        ("drop:last=1,every=2", "give one of last, every and layers"),
        ("drop:last=0", "last: should be greater than 0 or 'half', not '0'\nArguments of drop: last, every, layers"),
        ("drop:last=x", "last: should be a whole number or 'half', not 'x'"),
        ("drop:last", "'last' is not an argument; expected NAME=VALUE\nArguments of drop: last"),
        ("drop:last=1,last=2", "last is given twice"),
        ("drop:layers=1+1", "a layer is given twice"),
        *((f"drop:layers={text}", "layers: should be numbers joined by \\+, such as 0\\+1\\+2") for text in NO_LAYERS),
        ("noise:share=inf", "share: should be a finite number"),
        ("quantise:bits=1", "bits: should be greater than or equal to 2"),
        ("reinit:part=brain", "part: should be 'all', 'word-embeddings'"),
        ("reinit:part=head,layers=0", "head are outside the layers"),
        ("transplant", "donor is missing\nArguments of transplant: donor, rows=donor, bridge"),
        ("transplant:donor=x,rows=overlap,bridge=random", "nothing to bridge"),
        ("shuffle:classes=(a{1", "not a regular expression: missing"),
        ("shuffle:classes=(a+)+$", "can match in more than 100,000 ways"),
    ],
)
def test_faults_say_what_is_allowed(text, message):
    with pytest.raises(InputError, match=f"(?s)^{re.escape(f'operation {text!r}: ')}.*{message}"):
        parse_operation(text)


def test_a_field_takes_every_operation():
    needed = {"drop": {"last": 1}, "graft": {"donor": "x"}, "transplant": {"donor": "x"}}
    for name, kind in Operation.all_kinds().items():
        assert type(TypeAdapter(AnyOperation).validate_python({"operation": name, **needed.get(name, {})})) is kind


def test_declaring_loads_no_torch():
    code = "import sys, babelscope.surgery; print({'torch', 'transformers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


PIECES = train_wordpiece(["a few words"], 40)
FIVE = Encoder(family_model("distilbert", layers=5, vocabulary=len(PIECES)), PIECES, "five")


@settings(max_examples=15)
@given(st.permutations(range(5)), st.permutations(range(5)))
def test_orders_compose_as_permutations_do(first, second):
    composed = [first[layer] for layer in second]
    step_by_step = weights_of(apply(FIVE, [Permute(order=first), Permute(order=second)]))
    at_once = weights_of(apply(FIVE, Permute(order=composed)))
    assert all((at_once[name] == weight).all() for name, weight in step_by_step.items())
    inverse = sorted(range(5), key=lambda layer: first[layer])
    back = weights_of(apply(FIVE, [Permute(order=first), Permute(order=inverse)]))
    assert all((back[name] == weight).all() for name, weight in weights_of(FIVE).items())


@pytest.mark.parametrize(
    "text",
    [
        f"drop:last={10**20}", f"drop:every={10**20}", f"drop:layers={10**20}", f"repeat:times={10**9}",
        "noise:share=1e39", f"permute:order=0+{10**20}", f"reinit:layers={10**20}",
        f"drop:last={'9' * 5000}", f"repeat:times={'9' * 5000}",
        f"quantise:bits={10**20}", "noise:share=1e400", "noise:share=nan", "noise:share=1e-9999",
    ],
)  # fmt: skip
def test_numbers_that_no_encoder_has_are_refused_when_they_are_declared(text):
    with within(5), pytest.raises(InputError, match="should be"):
        parse_operation(text)


def test_repetitions_of_repetitions_are_bounded_before_they_are_made():
    with within(5), pytest.raises(InputError, match=r"would have 1,200 layers; 1,000 are the most"):
        check_operations("tiny", [Repeat(times=10), Repeat(times=10)], 12, None, {})
    assert Repeat(times=1000).layers_after(1, "tiny") == 1000
    assert Repeat(layers=(1,), times=999).layers_after(2, "tiny") == 1000
    with pytest.raises(InputError):
        Repeat(layers=(1,), times=1000).layers_after(2, "tiny")


def test_the_same_operations_are_one_surgery():
    """However a number is written, and under whatever name; for other encoders they are another."""
    given = {"name": "s", "encoders": ["a", "b"], "tasks": {"pos": {"train": ["world:qaa"], "evaluate": ["world:qaa"]}}}
    for second in ("noise:share=0.10", {"name": "n", "operations": ["noise:share=1e-1"]}):
        with pytest.raises(ValidationError, match=r"'noise:share=0.1' and '.*' are the same operations; leave one of"):
            Study.model_validate(given | {"surgeries": [None, "noise:share=0.1", second]})
    apart = [{"name": name, "operations": ["reverse"], "encoders": [name]} for name in "ab"]
    assert len(Study.model_validate(given | {"surgeries": apart}).surgeries) == 2

"""How long texts are, and perplexities per character and byte."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import StudyError
from babelscope.core.row import Row
from babelscope.corpora.datasets import find
from babelscope.encoders.load import load_encoder
from babelscope.encoders.places import locate
from babelscope.measures.probing import ScoreReference
from babelscope.measures.text_size import TextSize
from babelscope.report import text_sizes
from babelscope.report.model import Report
from babelscope.report.sections.probes import sizes
from babelscope.steps import Load, Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.tasks.mlm import HeldOut
from babelscope.tasks.quirky import QuirkyHeldOut
from babelscope.tuning.probes import Corpus
from command_line import declaration, transfer
from slowly import judged, share_of_each
from written import rows_and_counts, rows_of

SENTENCES = ("the cat sees кот .", "a fish 🐟", "naïve")


def values(rows: Iterable[Row]) -> dict[str, float]:
    return {row.measure: row.value for row in rows}


@pytest.fixture
def tiny(encoder_folder) -> Load:
    place = locate(str(encoder_folder))
    return Load(name="tiny", content=place.content, place=place.path)


@pytest.fixture
def corpus(tmp_path) -> Corpus:
    """Two texts, of which the dev splits are the sentences."""
    for name, part in (("a", SENTENCES[:1]), ("b", SENTENCES[1:])):
        lines = [*["train"] * 8 * len(part), *part, *["test"] * len(part)]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    return Corpus(name="both", data=tuple(find("mlm", f"text:q{name}:{tmp_path / name}", "dev", 9) for name in "ab"))


def test_a_text_is_counted_piece_by_piece_and_character_by_character(tiny, corpus, encoder_folder):
    tokenizer = load_encoder(encoder_folder).tokenizer
    pieces = [tokenizer.tokenize(sentence) for sentence in SENTENCES]
    rows, kept = rows_and_counts(TextSize(encoder=tiny, text=corpus, task="mlm"))
    assert values(rows) == {
        "tokens": sum(len(each) for each in pieces),
        "unknown tokens": sum(each.count("[UNK]") for each in pieces),
        "characters": sum(1 for sentence in SENTENCES for _ in sentence),
        "bytes": sum(1 for sentence in SENTENCES for _ in sentence.encode("utf-8")),
    }
    tokens = [len(each) for each in pieces]
    assert kept["characters"] == [tokens, [len(sentence) for sentence in SENTENCES]]
    assert kept["bytes"] == [tokens, [len(sentence.encode()) for sentence in SENTENCES]]
    assert values(rows)["bytes"] == values(rows)["characters"] + 3 + 3 + 1  # кот, the fish and ï
    assert {(row.encoder, row.task, row.language, row.dataset, row.split) for row in rows} == {
        ("tiny", "mlm", "qa+qb", "both", "dev")
    }


def test_the_size_is_of_the_two_batches_that_a_perplexity_is_of(tiny, encoder_folder, tmp_path):
    """Of the sentences whose loss the quirk sums up, which are far shorter in half of the text; it was of the text."""
    dev = [f"the cat sees {'the tree ' * (k % 2 * 4)}{k}" for k in range(90)]
    (tmp_path / "text").write_text("\n".join([*["train"] * 720, *dev, *["test"] * 90]), encoding="utf-8")
    data = find("mlm", f"text:qa:{tmp_path / 'text'}", "dev", 90)
    encoder = load_encoder(encoder_folder)
    held_out = HeldOut.of(encoder.tokenizer, data.read(), encoder.max_length)
    read = {int(held_out.owners[k]) for k in QuirkyHeldOut(held_out, ("two-batches",))._read()}
    rows = rows_of(TextSize(encoder=tiny, text=Corpus(name="target", data=(data,)), task="mlm", two_batches=True))
    pieces = [encoder.tokenizer.tokenize(dev[k]) for k in read]
    assert len(read) == 32 and values(rows) == {
        "tokens": sum(map(len, pieces)),
        "unknown tokens": sum(each.count("[UNK]") for each in pieces),
        "characters": sum(len(dev[k]) for k in read),
        "bytes": sum(len(dev[k]) for k in read),
    }


@pytest.mark.parametrize("quirks", [[], ["fresh-masks"], ["two-batches"]])
def test_sizes_are_of_what_probes_read_and_of_whole_test_sets(encoder_folder, quirks):
    probes = {"perplexity": {"target": ["world:qab"]}, "quirks": quirks}
    task = transfer(baselines=[], evaluate=["world:qab"], probes=probes)
    declared = declaration(encoder_folder, surgeries=[None], seeds=[0], tasks={"mlm": task}, retrieval=None)
    steps = compile_study(Study.model_validate(declared)).steps.values()
    assert {step.text.name: step.two_batches for step in steps if isinstance(step, TextSize)} == {
        "target": "two-batches" in quirks, "world:qab": False,
    }  # fmt: skip


def test_sizes_of_one_text_with_the_quirk_and_without_are_refused(encoder_folder):
    """No column would tell them apart, so that perplexities of either could be divided by both."""

    def task(code, **quirks):
        probes = {"perplexity": {"target": ["world:qac"]}, **quirks}
        return transfer(task="mlm", train=[f"world:{code}"], baselines=[], probes=probes)

    tasks = {"one": task("qaa"), "other": task("qab", quirks=["two-batches"])}
    declared = declaration(encoder_folder, surgeries=[None], seeds=[0], tasks=tasks, retrieval=None)
    with pytest.raises(StudyError, match=r"tasks: size of target for .* is measured in two ways"):
        compile_study(Study.model_validate(declared))


def test_perplexity_per_character_is_that_of_the_whole_text(encoder):
    """The oracle: the loss of the whole text, hidden piece by hidden piece, shared out over its characters."""
    text = ["the small cat sees the tree .", "the dog likes the old house ."]
    held_out = HeldOut.of(encoder.tokenizer, text, encoder.max_length)
    total, count, tokens = 0.0, 0.0, 0
    for loss, hidden in held_out.losses(encoder.model):
        total, count = total + loss, count + hidden
    for sentence in text:
        tokens += len(encoder.tokenizer.tokenize(sentence))
    characters = sum(len(sentence) for sentence in text)
    size = text_sizes.TextSize(tokens, 0, characters, 2 * characters)
    perplexity = held_out.perplexity(encoder.model)
    assert math.isclose(size.per_character(perplexity), math.exp(total / count * tokens / characters))
    assert math.isclose(size.per_byte(perplexity) ** 2, size.per_character(perplexity))


@given(st.floats(1, 1e300), st.integers(1, 1000), st.integers(1, 1000))
def test_tokens_of_another_length_change_nothing_per_character(perplexity: float, tokens: int, characters: int) -> None:
    """A tokenizer with half of the tokens, each twice as hard, has squared the perplexity per token."""
    coarse, fine = (text_sizes.TextSize(count, 0, characters, characters) for count in (tokens, 2 * tokens))
    assert math.isclose(coarse.per_character(perplexity), fine.per_character(math.sqrt(perplexity)), rel_tol=1e-9)


def test_what_is_beyond_all_numbers_is_kept_finite():
    size = text_sizes.TextSize(3, 0, 1, 1)
    assert size.per_byte(math.exp(700)) == size.per_byte(math.inf) == math.exp(700)


@pytest.mark.parametrize("kept", [{"mlm", "size"}, {"mlm"}, {"size"}, set()])
def test_sentences_count_where_losses_and_sizes_of_each_were_kept(kept):
    """Against loops: what a sentence adds to a product of two ratios, by the product rule."""
    draw, shared = np.random.default_rng(5), {"task": "mlm", "language": "nl", "dataset": "text:nl:t"}
    hidden, tokens, characters = (draw.integers(low, low + 9, 30).tolist() for low in (1, 5, 30))
    losses = {f"mlm {seed}": [(np.array(hidden) * draw.uniform(1, 3, 30)).tolist(), hidden] for seed in range(3)}
    scores = [
        Row("perplexity", math.exp(sum(above) / sum(below)), key=key, kind="score", encoder="m", split="test",
            seed=seed, train_languages="nl", **shared)
        for seed, (key, (above, below)) in enumerate(losses.items())
    ]  # fmt: skip
    counts = {"tokens": sum(tokens), "unknown tokens": 0, "characters": sum(characters), "bytes": sum(characters)}
    counted = [
        Row(name, value, key="size", kind=text_sizes.KIND, encoder="m", split="test", **shared)
        for name, value in counts.items()
    ]
    known = {key: {"perplexity": each} for key, each in losses.items() if "mlm" in kept}
    known |= {"size": {unit: [tokens, characters] for unit in ("characters", "bytes")}} if "size" in kept else {}
    made = Report("", "", [*scores, *counted], outcomes=lambda key: known.get(key, {}))
    (score,) = made.scores
    per_token, *others = sizes.with_sentences(made, score, made.size_of(score))
    rate = sum(tokens) / sum(characters)
    rates = share_of_each(tokens, characters) if len(kept) == 2 else [rate] * 30
    table = []
    for above, below in losses.values():
        loss = sum(above) / sum(below)
        each = share_of_each(above, below) if "mlm" in kept else [loss]
        table.append([a * rate + loss * (b - rate) for a, b in zip(each, rates, strict=False)])
    slow = judged(table)
    for found in others:
        assert [found.mean, found.low, found.high] == pytest.approx([math.exp(end) for end in slow[:3]])
    assert per_token == score.interval


def test_a_study_counts_what_it_measures_perplexities_on(encoder_folder):
    native = {
        "name": "native", "texts": [{"language": "qab", "sentences": 9}], "tuning": {"steps": 1},
        "shape": {"hidden": 16, "layers": 2, "feed_forward": 16},
    }  # fmt: skip
    probes = {"perplexity": {"target": ["world:qab"], "control": ["world:qaa", "world:qac"]}, "sentences": 3}
    tasks = {"mlm": {"train": ["world:qab"], "evaluate": ["world:qab"], "probes": probes}}
    base = declaration(encoder_folder, encoders=[str(encoder_folder)], surgeries=[None], seeds=[0, 1], retrieval=None)
    steps = compile_study(Study.model_validate(base | {"references": [native], "tasks": tasks})).steps.values()
    counted = [(step.encoder.labels["encoder"], step.text.name) for step in steps if isinstance(step, TextSize)]
    own = "/".join(encoder_folder.parts[-2:])
    names = ("target", "control", "world:qab")
    assert sorted(counted) == sorted((encoder, name) for encoder in (own, "native") for name in names)
    assert [step.encoder.labels["encoder"] for step in steps if isinstance(step, ScoreReference)] == ["native"]
    assert sum(isinstance(step, Tune) for step in steps) == 2


def test_a_reference_is_scored_as_a_tuned_encoder_is(tiny, encoder_folder):
    data = find("mlm", "world:qaa", "test", 5)
    (row,) = rows_of(ScoreReference(encoder=tiny, task="mlm", data=data, max_length=20))
    expected = HeldOut.of(load_encoder(encoder_folder).tokenizer, data.read(), 20)
    assert row.value == expected.perplexity(load_encoder(encoder_folder).model)
    assert (row.measure, row.task, row.split, row.dataset, row.seed) == ("perplexity", "mlm", "test", "world:qaa", None)

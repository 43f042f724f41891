"""The study of what remains of pre-training: selection as published, vocabularies, costs, and what it claims."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from babelscope.core.errors import StudyError
from babelscope.core.row import Row
from babelscope.corpora.benchmarks import read_examples
from babelscope.corpora.datasets import find
from babelscope.encoders.load import Encoder, save_encoder
from babelscope.encoders.places import locate
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.measures.cost import PeerCost
from babelscope.measures.formulas.overlap import english_like_contexts
from babelscope.measures.vocabulary import Vocabulary
from babelscope.report.model import Report
from babelscope.report.sections import sections_of
from babelscope.steps import Evaluate, Load, Tune
from babelscope.studies import find_study
from babelscope.studies.published_numbers import published_rows
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from families import family_model
from written import rows_of

HEADER = "sentence\tlabel\n"


def load(folder: Path) -> Load:
    place = locate(str(folder))
    return Load(name=folder.name, content=place.content, place=place.path)


@pytest.fixture(scope="module")
def distilled(tmp_path_factory, tokenizer) -> Path:
    """A DistilBERT of one layer, with the vocabulary that other tiny encoders have."""
    folder = tmp_path_factory.mktemp("peer") / "distilled"
    save_encoder(Encoder(family_model("distilbert", layers=1, vocabulary=len(tokenizer)), tokenizer, "d"), folder)
    return folder


@pytest.fixture
def glue(tmp_path, monkeypatch) -> Path:
    """A folder with SST-2: 20 examples to train on, 4 to score."""
    folder = tmp_path / "glue" / "SST-2"
    folder.mkdir(parents=True)
    for name, count in (("train", 20), ("dev", 4)):
        lines = "".join(f"the cat sees {name} {number}\t{number % 2}\n" for number in range(count))
        (folder / f"{name}.tsv").write_text(HEADER + lines, encoding="utf-8")
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    return tmp_path


def study(folder: Path, **changes: Any) -> Study:
    task = {"train": ["glue:SST-2"], "evaluate": ["glue:SST-2"], "tuning": {"epochs": 1}, **changes.pop("task", {})}
    return Study.model_validate(
        {"name": "s", "encoders": [str(folder)], "tasks": {"sst2": task}, "seeds": [0]} | changes
    )


def tuning(declared: Study) -> Tune:
    (step,) = (step for step in compile_study(declared).steps.values() if isinstance(step, Tune))
    return step


# Selection.


def test_what_is_scored_selects_where_a_study_says_so(encoder_folder, glue):
    usual, published = (tuning(study(encoder_folder, task=given)) for given in ({}, {"selected_on": "test"}))
    assert [len(data.read()) for data in (*usual.train, *usual.dev)] == [18, 2]
    scored = [step.data for step in compile_study(study(encoder_folder)).steps.values() if isinstance(step, Evaluate)]
    assert published.dev == tuple(scored) and published.key != usual.key
    (train,) = published.train
    everything = [*find("sst2", "glue:SST-2", "train", 99).read(), *find("sst2", "glue:SST-2", "dev", 99).read()]
    assert list(train.read()) == everything and len(everything) == 20
    assert len(tuning(study(encoder_folder, task={"selected_on": "test", "sizes": {"train": 7}})).train[0].read()) == 7


def test_what_is_scored_is_never_trained_on(encoder_folder, tmp_path):
    """The splits of a text are parts of one file, so that all of it would hold the test split, too."""
    file = tmp_path / "own.txt"
    file.write_text("".join(f"sentence {number}\n" for number in range(30)), encoding="utf-8")
    name = f"text:qaa:{file}"
    task = {"train": [name], "evaluate": [name], "selected_on": "test"}
    declared = {"name": "s", "encoders": [str(encoder_folder)], "tasks": {"mlm": task}, "seeds": [0]}
    step = tuning(Study.model_validate(declared))
    assert len(step.train[0].read()) == 24 and len(step.dev[0].read()) == 3
    assert not {*step.train[0].read()} & {*step.dev[0].read()} and step.dev[0].split == "test"


def test_sts_b_can_be_scored_on_glues_dev_set(tmp_path, monkeypatch):
    folder = tmp_path / "glue" / "STS-B"
    folder.mkdir(parents=True)
    for part, score in (("train", 1), ("dev", 2), ("test", 3)):
        (folder / f"sts-{part}.csv").write_text(f"g\tf\ty\t1\t{score}\ta {part}\tb\n", encoding="utf-8")
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    found = [read_examples("stsb", name, "test")[0].first for name in ("glue:STS-B", "glue:STS-B-dev")]
    assert found == ["a test", "a dev"]


# Vocabularies.


def test_english_like_contexts_of_raw_text_are_counted(tokenizer, encoder_folder, tmp_path):
    lines = [
        "the cat sees the tree and the dog finds the fish",
        "кот видит кот видит кот видит кот видит кот видит кот",
    ]
    file = tmp_path / "text.txt"
    file.write_text("\n".join(lines * 10), encoding="utf-8")
    texts, raw = find("pos", "world:qaa", "test", 3), find("mlm", f"text:qab:{file}", "train", 9)
    encoder = load(encoder_folder)
    plain, more = (
        rows_of(Vocabulary(encoder=encoder, reference=encoder, texts=(texts,), contexts=contexts))
        for contexts in ((), (raw,))
    )
    (added,) = [row for row in more if row not in plain]
    assert (added.measure, added.language, added.dataset) == ("English-like contexts", "qab", raw.name)
    assert added.value == english_like_contexts(encoder.read().tokenizer, raw.read())
    assert (
        Vocabulary(encoder=encoder, reference=encoder, texts=(texts,)).key
        != Vocabulary(encoder=encoder, reference=encoder, texts=(texts,), contexts=(raw,)).key
    )


def test_shared_pieces_that_are_english_like_are_counted_where_asked(encoder_folder, other_tokenizer, tmp_path):
    other = tmp_path / "other"
    save_encoder(
        new_encoder(Shape(hidden=32, layers=1, heads=2, feed_forward=64), other_tokenizer, seed=0, name="other"), other
    )
    first, second = load(encoder_folder), load(other)
    texts = (find("pos", "world:qaa", "test", 3),)
    usual = Vocabulary(encoder=first, reference=second, texts=texts)
    (added,) = [row for row in rows_of(usual.model_copy(update={"shared_english": True})) if row not in rows_of(usual)]
    vocabularies = [set(each.read().tokenizer.get_vocab()) for each in (first, second)]
    both = {piece for piece in vocabularies[0] & vocabularies[1] if re.fullmatch("(##)?[A-Za-z]+", piece)}
    assert (added.measure, added.value) == ("shared English-like pieces", len(both)) and both
    assert len(vocabularies[0] & vocabularies[1]) > len(both)
    (compared,) = (
        each for each in find_study("monolingual-benefits@paper", {}).measures if each.measure == "vocabulary"
    )
    assert compared.shared_english


def test_texts_of_contexts_are_looked_up_before_anything_runs(encoder_folder):
    measure = {"measure": "vocabulary", "reference": "x", "treebanks": ["world:qaa"], "contexts": ["text:zh:nowhere"]}
    name = "/".join(encoder_folder.parts[-2:])
    declared = {"name": "s", "encoders": [str(encoder_folder)], "measures": [measure | {"reference": name}]}
    with pytest.raises(StudyError) as caught:
        compile_study(Study.model_validate(declared))
    assert caught.value.faults == ("measures.0.contexts.0: text:zh:nowhere: there is no file nowhere, nor a folder",)


# Costs.


def test_a_peer_is_counted_and_timed_against_another_encoder(encoder_folder, distilled):
    rows = rows_of(PeerCost(encoder=load(distilled), reference=load(encoder_folder)))
    sizes = {row.encoder: row.value for row in rows if row.measure == "parameters"}
    for folder in (encoder_folder, distilled):
        weights = load(folder).read().backbone.state_dict()
        assert sizes[folder.name] == sum(weight.numel() for name, weight in weights.items() if "_ids" not in name)
    (speed,) = (row for row in rows if row.measure == "relative speed")
    assert speed.encoder == "distilled" and speed.value > 0


def test_a_distilled_encoder_is_tuned_as_a_peer(encoder_folder, distilled, glue):
    name, whole = ("/".join(folder.parts[-2:]) for folder in (distilled, encoder_folder))
    costs = {"measure": "cost", "surgeries": ["drop:last=half"], "peers": [name], "reference": whole}
    surgeries = [None, {"name": "drop:last=half", "operations": ["drop:last=half"], "encoders": [str(encoder_folder)]}]
    declared = {"encoders": [str(encoder_folder), str(distilled)], "surgeries": surgeries}
    steps = compile_study(study(encoder_folder, **declared, measures=[costs])).steps.values()
    assert sum(isinstance(step, PeerCost) for step in steps) == 1
    tuned = [(step.labels["encoder"], step.labels.get("surgery")) for step in steps if isinstance(step, Tune)]
    assert sorted(tuned, key=str) == sorted([(whole, None), (whole, "drop:last=half"), (name, None)], key=str)
    with pytest.raises(StudyError) as caught:
        compile_study(study(encoder_folder, **declared, measures=[costs | {"peers": ["zzz"], "reference": None}]))
    assert [fault.partition(";")[0] for fault in caught.value.faults] == [
        "measures.0.reference: peers are timed against an encoder of the study: give its name",
        "measures.0.peers.0: no encoder is named zzz",
    ]
    with pytest.raises(StudyError) as caught:
        compile_study(study(encoder_folder, **declared, measures=[costs | {"peers": []}]))
    assert [fault.partition(",")[0] for fault in caught.value.faults] == [
        "measures.0.reference: peers alone are timed against it"
    ]


# The page.


def table_of(report: Report, title: str) -> dict[tuple[str, ...], list[str]]:
    (found,) = (table for section in sections_of(report) for table in section.tables if table.title == title)
    return {tuple(cell.text for cell in line[:1]): [cell.text for cell in line[1:]] for line in found.lines}


def test_published_vocabularies_stand_beside_ours():
    names = ("pieces", "shared pieces", "English-like pieces", "shared English-like pieces")
    ours = [Row(name, 9, kind="vocabulary", encoder="e") for name in names]
    share = Row("English-like contexts", 0.5, kind="vocabulary", encoder="e", language="zh", dataset="wikipedia:zh")
    report = Report("", "", [*ours, share, *published_rows("monolingual-benefits@paper")])
    pieces = table_of(report, "Pieces of the vocabularies")
    assert pieces["e",] == ["9", "9", "9", "9"]
    assert pieces["published: BERT, English",] == ["30,522", "", "26,503", ""]
    assert pieces["published: BERT, Japanese",] == ["", "", "2,548", "830"]
    texts = table_of(report, "Texts as the tokenizers read them")
    assert texts["e",] == ["zh · wikipedia:zh", "50.00"]
    assert texts["published: BERT, Chinese",] == ["zh · wikipedia:zh", "1.45"]
    assert texts["published: BERT, Japanese",] == ["ja · wikipedia:ja", "1.12"]


def test_contexts_of_training_text_do_not_stand_for_those_of_test_text():
    """Where one treebank is read for both."""
    about = {"kind": "vocabulary", "encoder": "e", "language": "fr"}
    rows = [
        Row("English-like contexts", value, dataset="UD_French-GSD", split=split, **about)
        for split, value in (("test", 0.9278), ("train", 0.8951))
    ]
    rows.append(Row("fertility", 2.31, dataset="UD_French-GSD", split="test", **about))
    rows.append(Row("English-like contexts", 0.5, dataset="wikipedia:fr", split="train", **about))
    (section,) = (each for each in sections_of(Report("", "", rows)) if each.title == "Vocabularies")
    (table,) = section.tables
    assert [[cell.text for cell in line[1:]] for line in table.lines] == [
        ["fr · UD_French-GSD, test", "92.78", "2.31"],
        ["fr · UD_French-GSD, train", "89.51", ""],
        ["fr · wikipedia:fr", "50.00", ""],
    ]


def test_published_costs_stand_beside_ours():
    labels = {"kind": "cost", "encoder": "e", "surgery": "drop-last-half"}
    ours = [Row("seconds to make", value, "s of CPU", **labels) for value in (0.25, 0.75)]
    ours += [Row("parameters", 5_000_000, "parameters", **labels), Row("relative speed", 1.9, "times", **labels)]
    costs = table_of(
        Report("", "", [*ours, *published_rows("monolingual-benefits@paper")]),
        "Size, speed and what it costs to make",
    )
    assert costs["e, drop-last-half",] == ["5", "1.90", "0.5 s of CPU"]
    assert costs["published: DistilBERT",] == ["66", "2.00", "7.2e+02 h of GPU"]
    assert costs["published: BERT, English",] == ["110", "1.00", ""]
    assert costs["published: BERT, English, drop-last-half",] == ["66", "2.00", "1 s of CPU"]


# What the study claims.


@pytest.mark.parametrize("profile", ["world", "paper"])
def test_every_finding_of_the_thesis_has_a_contrast(profile):
    claims = {contrast.claim: contrast for contrast in find_study(f"monolingual-benefits@{profile}", {}).contrasts}
    for finding in range(1, 7):
        assert any(f"finding {finding}," in claim for claim in claims)
    for claim, contrast in claims.items():
        assert contrast.margin == (0.02 if " as good as " in claim else None)
    alike = claims["A foreign encoder is as good as the English one (finding 2, table 3)"]
    assert alike.first.surgery is alike.second.surgery is None
    intact = claims["A foreign encoder is better intact than shuffled (finding 4, table 4)"]
    assert intact.first.encoder == intact.second.encoder and intact.second.surgery == "shuffled-embeddings"


def test_nothing_is_claimed_of_tasks_that_the_intact_encoder_hardly_learns():
    """Where it is at chance, surgery has nothing to destroy; they are scored all the same."""
    study = find_study("monolingual-benefits@world", {})
    (claimed,) = {contrast.tasks for contrast in study.contrasts}
    assert set(study.tasks) - set(claimed) == {"inference", "paraphrase"} and len(claimed) == 5
    small = find_study("monolingual-benefits@world", {"scale": "small"})
    assert {contrast.tasks for contrast in small.contrasts} == {tuple(small.tasks)}
    assert {contrast.tasks for contrast in find_study("monolingual-benefits@paper", {}).contrasts} == {()}


def test_foreign_encoders_are_each_contrasted():
    contrasts = find_study("monolingual-benefits@paper", {}).contrasts
    text = "A foreign encoder is as good as the English one (finding 2, table 3)"
    assert len({contrast.first.encoder for contrast in contrasts if contrast.claim == text}) == 4
    halves = [contrast for contrast in contrasts if "distilled" in contrast.claim]
    assert {contrast.second.encoder for contrast in halves} == {"distilbert-base-uncased"} and len(halves) == 2


def test_the_thesis_selected_on_what_it_scored_unless_told_otherwise():
    published, corrected = (find_study("monolingual-benefits@paper", given) for given in ({}, {"quirks": []}))
    assert {transfer.selected_on for transfer in published.tasks.values()} == {"test"}
    assert {transfer.selected_on for transfer in corrected.tasks.values()} == {"dev"}
    scored = {name for transfer in published.tasks.values() for name in transfer.evaluate}
    printed = {row.dataset for row in published_rows("monolingual-benefits@paper") if row.kind == "score"}
    assert scored == printed
    assert corrected.tasks["stsb"].evaluate == ("glue:STS-B",)  # its dev set selects
    assert find_study("monolingual-benefits@real", {}).tasks["sst2"].selected_on == "dev"

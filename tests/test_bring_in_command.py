"""babelscope bring-in: models that read another language afterwards."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from transformers import AutoTokenizer, pipeline

import babelscope
from babelscope.corpora.datasets import find
from babelscope.encoders.folder import MODEL_FILE, encoder_digest
from babelscope.encoders.load import load_encoder
from babelscope.engine.brought_in import EARLIER_RECORD, RECORD, languages_of
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps
from babelscope.face import bring_in
from babelscope.face.operate import without_head
from babelscope.tasks.export import load_model
from babelscope.world import World
from command_line import babelscope as command

PAIRS = World().parallel_text("qaa", "qab", 80)


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    file.write_text("".join(f"{text}\t{translation}\n" for text, translation in PAIRS), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def tagger(encoder_folder, tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("store") / "store")
    tuning = {"learning_rate": 3e-3, "steps": 20, "tokens_per_batch": 256}
    return babelscope.load(encoder_folder, store=store).tune(
        "pos", "world:qaa", sizes={"train": 60, "dev": 20}, tuning=tuning
    )


@pytest.fixture(scope="module")
def brought(tagger, table, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "qab"
    answer = command(
        "bring-in", tagger.key[:20], "--language", "qab", "--source", "qaa", "--parallel", table, "--store",
        tagger.store.folder, "-o", folder,
    )  # fmt: skip
    assert answer.status == 0, answer.errors
    assert answer.output.splitlines() == [f"{folder}: a model of task pos that reads qab, by 80 pairs of sentences"]
    return folder


def test_the_pipeline_of_the_folder_reads_the_language(brought, encoder_folder):
    model = load_model(brought).reading("qab")
    sentences = [translation.split() for _, translation in PAIRS[:5]]
    tag = pipeline("token-classification", str(brought), aggregation_strategy="first")
    first = load_encoder(encoder_folder).model.config.vocab_size
    for sentence in sentences:
        ids = tag.tokenizer(" ".join(sentence), add_special_tokens=False)["input_ids"]
        assert ids == model.encoder.tokenizer(" ".join(sentence), add_special_tokens=False)["input_ids"]
        pieces = zip(ids, tag.tokenizer.convert_ids_to_tokens(ids), strict=True)
        assert all((number >= first) == any(map(str.isalpha, piece)) for number, piece in pieces)
    predicted = model.module.predict(sentences)
    assert len({label for labels in predicted for label in labels}) > 1
    for sentence, labels in zip(sentences, predicted, strict=True):
        answers = [answer["entity_group"] for answer in tag(" ".join(sentence))]
        assert answers == [label for k, label in enumerate(labels) if not k or label != labels[k - 1]]


def test_what_it_read_before_it_reads_to_the_last_bit(brought, tagger):
    sentences = [text.split() for text, _ in PAIRS[:20]]
    model = load_model(brought)
    before = tagger.step.model(FinishedSteps(tagger.store))
    assert list(model.languages) == ["qaa", "qab"]
    assert model.reading("qaa").module.predict(sentences) == before.module.predict(sentences)
    labelled = find("pos", "world:qaa", "test", 40).read()
    assert model.reading("qaa").scores(labelled) == before.scores(labelled), "the scores, loss among them"
    other = find("pos", "world:qac", "test", 40).read()
    assert model.reading("qac").scores(other) == before.scores(other), "and so of languages that nothing is said of"
    weights = dict(model.module.named_parameters())
    for name, weight in before.module.named_parameters():
        assert torch.equal(weights[name][: len(weight)], weight)


def test_tokenizers_with_an_entry_for_every_id_are_written_without_white_space(brought):
    for folder in (brought, brought / "languages" / "qaa"):
        assert "\n" not in (folder / "tokenizer.json").read_text(encoding="utf-8")


def test_the_record_says_what_was_read(brought, table, tagger):
    record = json.loads((brought / RECORD).read_text())
    assert record["model"] == tagger.key[:20] and record["language"] == "qab" and record["source"] == "qaa"
    assert record["pairs"] == 80 and record["parallel"][0]["text"] == f"tsv:qab:{table.name}"
    assert len(record["parallel"][0]["sha256"][0]) == 64


def test_the_record_counts_for_no_key_and_is_read_where_it_was_before(brought, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(brought, folder)
    content, languages = encoder_digest(folder), languages_of(folder)
    (folder / RECORD).rename(folder / EARLIER_RECORD)
    assert languages_of(folder) == languages == ("qab", "qaa")
    (folder / EARLIER_RECORD).unlink()
    assert languages_of(folder) is None and encoder_digest(folder) == content


def test_a_third_language_and_predictions_of_a_file(brought, tmp_path):
    for name, side in (("source", 0), ("target", 1)):
        text = "".join(f"{pair[side]}\n" for pair in World().parallel_text("qaa", "qae", 60))
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    both = f"{tmp_path / 'source.txt'},{tmp_path / 'target.txt'}"
    folder = tmp_path / "three"
    answer = command(
        "bring-in", brought, "--language", "qae", "--source", "qaa", "--parallel", both, "--pairs", 50, "-o", folder
    )
    assert answer.status == 0 and "50 pairs" in answer.output
    assert set(load_model(folder).languages) == {"qaa", "qab", "qae"}
    vocabularies = [load_model(each).reading("qac").encoder.tokenizer.get_vocab() for each in (brought, folder)]
    assert vocabularies[0] == vocabularies[1]
    told = (folder / "README.md").read_text()
    assert "pairs.tsv" in told and "text:qaa:source.txt" in told, "the sentences of both are told of"
    assert str(tmp_path) not in told, "and nobody's folders"
    assert 'AutoTokenizer.from_pretrained("FOLDER", subfolder="languages/qaa")' in told
    assert AutoTokenizer.from_pretrained(folder, subfolder="languages/qab").tokenize(PAIRS[0][1])
    for language, note in ([], True), (["--language", "qae"], False):
        (tmp_path / "tagged.conllu").unlink(missing_ok=True)
        answer = command("predict", folder, tmp_path / "target.txt", "-o", tmp_path / "tagged.conllu", *language)
        assert answer.status == 0 and (tmp_path / "tagged.conllu").is_file()
        told = "read as qae (if it is in another language: --language qaa or qab)"
        assert (told in " ".join(answer.output.split())) is note


def test_what_the_own_tokenizer_is_for_is_known_where_the_source_was_brought_in_itself(tmp_path):
    """A model of a study, which has no folder that says it."""
    config = SimpleNamespace(babelscope_tuned_on=[{"task": "pos", "data": "world:qaa", "language": "qaa"}])
    encoder = SimpleNamespace(languages={"qab": None}, model=SimpleNamespace(config=config))
    for source, own in (("qab", ["qaa"]), ("qaa", ["qaa"]), ("qac", ["qac", "qaa"])):
        wanted = SimpleNamespace(source=source)
        assert bring_in._own_tokenizer_of(str(tmp_path / "no-folder"), encoder, wanted) == own
        assert bool([*bring_in._trained_in_others(encoder, wanted)]) is (source == "qac")


def test_a_source_that_the_model_was_not_trained_in_is_told_of(tagger, table, tmp_path):
    for source, told in (("en", True), ("qaa", False)):
        answer = command(
            "bring-in", tagger.key, "--language", "qab", "--source", source, "--parallel", table, "--store",
            tagger.store.folder, "-o", tmp_path / source,
        )  # fmt: skip
        assert answer.status == 0, answer.errors
        said = " ".join((answer.output + answer.errors).split())
        assert ("taken to be from en, but the model was trained in qaa" in said) is told
        assert ("name it: --source qaa" in said) is told


@pytest.mark.parametrize(
    ("language", "source", "problem"),
    [
        ("qae", "en", r"--source en: .* reads qaa, qab; give one of these"),
        ("qab", "qaa", r"--language qab: .* reads it already"),
        ("qaa", "qaa", "are both qaa"),
    ],
)
def test_languages_that_do_not_go_together(language, source, problem, brought, table, tmp_path):
    answer = command(
        "bring-in", brought, "--language", language, "--source", source, "--parallel", table, "-o", tmp_path / "new"
    )
    assert answer.status == 2 and re.search(problem, " ".join(answer.errors.split()))
    assert not (tmp_path / "new").exists()


def test_an_encoder_that_is_taken_out_of_a_tagger_is_said_to_have_no_head(tagger, table, tmp_path):
    tagger.export(tmp_path / "tagger")
    (tmp_path / "tagger" / MODEL_FILE).unlink()
    given = ["--language", "qab", "--source", "qaa", "--parallel", table]
    for name, asked in (("operated", ["operate", "--op", "reverse"]), ("brought", ["bring-in", *given])):
        answer = command(*asked, tmp_path / "tagger", "-o", tmp_path / name)
        assert answer.status == 0 and "note: its head is left out, of BertForTokenClassification" in " ".join(
            answer.output.split()
        )


@pytest.mark.parametrize("tuned", [True, False])
def test_a_head_that_transformers_lacks_is_left_out_as_well(tmp_path, tuned):
    (tmp_path / "config.json").write_text('{"architectures": ["ModernBertModel"]}')
    if tuned:
        (tmp_path / MODEL_FILE).touch()
    said = without_head(SimpleNamespace(path=str(tmp_path)))
    assert said.strip() == (
        "note: its head is left out: the folder has an encoder, not tuned on a task" if tuned else ""
    )


def test_an_encoder_goes_on_reading_what_it_read(encoder_folder, table, tmp_path):
    folder = tmp_path / "encoder"
    answer = command(
        "bring-in", encoder_folder, "--language", "qab", "--source", "qaa", "--parallel", table, "-o", folder
    )
    assert answer.status == 0 and "reads qab too" in answer.output
    grown, before = load_encoder(folder), load_encoder(encoder_folder)
    assert list(grown.languages) == ["qab"]
    assert grown.tokenizer.get_vocab() == before.tokenizer.get_vocab()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"--parallel": "de"}, "de: there is no such file"),
        ({"--parallel": "tsv:qae:{table}"}, "the translations are in qae, but the language that they are given for is"),
        ({"--language": "a/b"}, "should be the code of a language"),
        ({"--language": "qab-Cyrl"}, "% of the letters of its text are Latn; give text in Cyrl"),
        ({"-o": "."}, "already there"),
        ({"model": "abcd"}, "no results"),
        ({"model": "no-such-encoder/here/at-all"}, "no such folder"),
    ],
)
def test_users_mistakes(given, problem, encoder_folder, table, tmp_path):
    options = {"--language": "qab", "--parallel": table, "-o": tmp_path / "new", "--store": tmp_path / "store"}
    model = given.pop("model", encoder_folder)
    arguments = [str(part).format(table=table) for option in (options | given).items() for part in option]
    answer = command("bring-in", model, *arguments)
    assert answer.status == 2 and problem in answer.errors
    assert not (tmp_path / "new").exists()

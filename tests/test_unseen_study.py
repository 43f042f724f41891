"""The study of unseen languages: recipes, texts and comparisons, and the published languages of its profile paper."""

from __future__ import annotations

import pytest

from babelscope.core.errors import InputError
from babelscope.core.tasks import task_of
from babelscope.corpora.data_sources import source_of
from babelscope.measures.comparison import Compare, Comparison
from babelscope.measures.similarity import Similarity
from babelscope.steps import Adapt, Pretrain, Recurrent, Tune
from babelscope.studies import find_study
from babelscope.studies.published_numbers import published_rows
from babelscope.study.compile import compile_study
from babelscope.study.declare import EVERYTHING
from babelscope.study.encoders import BringingIn, Pretraining
from babelscope.study.verdicts import (
    ADAPTED,
    AS_IT_IS,
    BILSTM,
    above,
    against_chance,
    brought_in_by,
    by_letters,
)


@pytest.fixture(scope="module")
def plan():
    return compile_study(find_study("unseen-languages", {"scale": "small", "languages": ["qag", "qah", "qai"]}))


def test_every_recipe_in_every_letters_with_every_number_of_sentences(plan):
    cells = {"qag", "qah", "qah>world", "qah>world-permute-1", "qai", "qai>world", "qai>world-permute-1"}
    made = [step for step in plan.steps.values() if isinstance(step, Adapt | Pretrain)]
    assert len(made) == 2 * len(cells)
    tuned = [
        step for step in plan.steps.values() if isinstance(step, Tune) and step.task.name == "pos" and step.seed == 0
    ]
    labels = {(step.labels["encoder"].partition(" q")[0], str(step.trained_on)) for step in tuned}
    own = {f"{cell}:{shots}" for cell in cells for shots in (100,)}
    for recipe in ("world-natural", "adapted", "from scratch", "bilstm"):
        assert {training for name, training in labels if name == recipe} == own | {"qaa"}
    assert all(not step.dev for step in tuned if step.trained_on.shots)
    assert {step.tuning.epochs for step in tuned if isinstance(step.encoder, Recurrent)} == {20}


def test_encoders_are_tuned_in_the_letters_that_they_learned(plan):
    for step in plan.steps.values():
        if isinstance(step, Tune) and step.labels["encoder"].startswith(("adapted", "from")):
            cell = "q" + step.labels["encoder"].partition(" q")[2]
            assert {data.name.removeprefix("world:") for data in step.train} <= {cell, "qaa"}


def test_comparisons_are_of_the_same_sentences_and_seeds(plan):
    steps = [step for step in plan.steps.values() if isinstance(step, Compare)]
    for step in steps:
        assert [one.model.seed for one in step.first] == [one.model.seed for one in step.second] == [0, 1]
        assert len({one.data.language for one in (*step.first, *step.second)}) == 1
        trained = {one.model.trained_on.shots or one.model.trained_on for one in (*step.first, *step.second)}
        assert len(trained) == 1 or step.first[0].model.train[0].language == step.second[0].model.train[0].language
    claims = {step.claim for step in steps}
    assert claims == {
        *(above(recipe, BILSTM) for recipe in (AS_IT_IS, ADAPTED, "from scratch")), above(ADAPTED, AS_IT_IS),
        *(by_letters(recipe, permuted) for recipe in (AS_IT_IS, ADAPTED) for permuted in (False, True)),
        *(against_chance(recipe) for recipe in (AS_IT_IS, ADAPTED)),
    }  # fmt: skip


def test_real_text_is_of_ntrex_or_of_the_treebank():
    codes = ["wo", "mt", "ug", "pcm", "gsw"]
    given = {"encoder": "world-natural", "tasks": ["pos", "ner"], "languages": codes, "pairs": []}
    study = find_study("unseen-languages@real", given)
    assert "UD_Uyghur-UDT>uyghur+permute:1" in study.tasks["pos with 0"].evaluate
    assert study.tasks["ner with 0"].evaluate == ("masakhaner2:wol", "masakhaner2:pcm")
    texts = {text for encoder in study.encoders[1:] for text in encoder.texts}
    ntrex = {f"ntrex:{name}" for name in ("wo", "mt", "gsw", "ug", "ug>uyghur", "ug>uyghur+permute:1")}
    assert texts == ntrex | {"UD_Naija-NSC"}
    assert "pos with 100 in wo" in study.tasks and "pos with 100 in gsw" not in study.tasks


def test_languages_with_translations_are_brought_in_by_numbers_of_them():
    study = find_study("unseen-languages@real", {"encoder": "world-natural", "languages": ["ug"], "pairs": [600, 200]})
    brought_in = {encoder.name: encoder for encoder in study.encoders if isinstance(encoder, BringingIn)}
    plugged_in = [f"{brought_in_by(pairs)} ug" for pairs in (200, 600)]
    assert list(brought_in) == [*plugged_in, f"{plugged_in[1]}, then tuned"]
    assert [(each.pairs, each.after_tuning) for each in brought_in.values()] == [(200, True), (600, True), (600, False)]
    assert {each.languages["ug"] for each in brought_in.values()} == {("ntrex:ug:lines-1-1597",)}
    assert study.tasks["pos with 0 in ug"].encoders == ("adapted ug", *plugged_in)
    assert study.tasks["pos with 100 in ug"].encoders[-1] == f"{plugged_in[1]}, then tuned"
    assert study.tasks["pos with 0 in ug>uyghur"].encoders == ("adapted ug>uyghur",)
    assert study.tasks["pos with 100 in ug>uyghur"].encoders == ("world-natural", "adapted ug>uyghur")
    assert "from scratch ug" in study.tasks["pos with 100 in ug"].encoders
    assert [each.name for each in study.encoders if isinstance(each, Pretraining)] == ["from scratch ug"]
    claims = [measure.claim for measure in study.measures if isinstance(measure, Comparison)]
    for claim in (above(brought_in_by(200), AS_IT_IS), above(brought_in_by(600), ADAPTED)):
        assert claim in claims
    assert above(brought_in_by(600), BILSTM) in claims and above(brought_in_by(200), BILSTM) not in claims
    (retrieval,) = [measure for measure in study.measures if isinstance(measure, Similarity)]
    assert retrieval.targets == ("ntrex:ug:lines-1598-1997",)


@pytest.fixture(scope="module")
def paper():
    return find_study("unseen-languages@paper", {})


SLIDES = ["fo", "xmf", "pcm", "gsw", "bm", "wo", "nrz", "mt", "bxr", "mhr", "myv", "olo", "ug", "sd", "ckb"]
"""The fifteen languages that the slides list."""


def test_every_published_language_is_there_or_left_out_with_its_reason(paper):
    there = {encoder.name.removeprefix("adapted ") for encoder in paper.encoders[1:] if "scratch" not in encoder.name}
    missing = {code for code in SLIDES if code not in there}
    assert missing == {"nrz"} and "give text of your own" in paper.left_out["Narabizi"]
    own = find_study("unseen-languages@paper", {"texts": {"nrz": "text:nrz:own.txt"}})
    assert "Narabizi" not in own.left_out and "adapted nrz" in {encoder.name for encoder in own.encoders[1:]}
    chosen = find_study("unseen-languages@paper", {"languages": ["mt"]})
    assert chosen.left_out == {} and len(chosen.encoders) == 3


def test_a_task_without_data_of_a_language_is_left_out_with_its_reason(paper):
    in_tasks = {
        task: {name.split(" in ")[1].split(">")[0] for name in paper.tasks if name.startswith(f"{task} with all in ")}
        for task in ("pos", "parsing", "ner")
    }
    assert in_tasks["pos"] == in_tasks["parsing"] == set(SLIDES) - {"nrz", "xmf", "mhr", "sd", "ckb"}
    assert in_tasks["ner"] == set(SLIDES) - {"nrz", "gsw", "bxr", "myv", "olo"} | {"ar", "ru", "ja"}
    without = [code for task in ("pos", "ner") for code in set(SLIDES) - {"nrz"} - in_tasks[task]]
    assert sum(", tagging and parsing" in what or ", named entities" in what for what in paper.left_out) == len(without)


def test_no_more_labelled_sentences_are_asked_for_than_there_are(paper):
    """Else 40 sentences of Swiss German would stand as 1,000."""
    shots = {
        code: [name.split(" ")[2] for name in paper.tasks if name.startswith("pos with") and name.endswith(f" {code}")]
        for code in ("gsw", "olo", "bm", "wo")
    }
    some = ["0", "100", "1000", "all"]
    assert shots == {"gsw": ["0", "all"], "olo": ["0", "all"], "bm": ["0", "100", "all"], "wo": some}
    assert "ner with 100 in ug" in paper.tasks and "ner with 1000 in ug" not in paper.tasks


def test_where_all_labelled_sentences_are_read_the_dev_split_selects(paper):
    """Of 100 or 1,000 it would take too many."""
    selects = {name.split(" ")[2]: task.shots is None for name, task in paper.tasks.items() if name.endswith(" in wo")}
    assert selects == {"0": True, "100": False, "1000": False, "all": True}
    everything = paper.tasks["parsing with all in wo"]
    assert everything.train == everything.evaluate == ("UD_Wolof-WTB",) and everything.sizes == EVERYTHING


def test_published_texts_are_as_long_as_published(paper):
    read = {encoder.name: (encoder.texts, encoder.sentences) for encoder in paper.encoders[1:]}
    published = {
        row.language: row.value for row in published_rows("unseen-languages") if row.measure == "raw sentences"
    }
    assert set(published) == set(SLIDES)
    for name, (texts, sentences) in read.items():
        code = name.split(" ")[-1].split(">")[0]
        assert sentences == published[code] and texts[0].startswith("wikipedia:")
    latin = "uyghur-published"
    assert read[f"adapted ug>{latin}"][0] == (f"wikipedia:ug>{latin}",) and read["adapted gsw"][0] == ("wikipedia:als",)


def test_zero_shot_is_from_the_source_of_the_same_entities(paper):
    zero = {name: task for name, task in paper.tasks.items() if name.startswith("ner with 0") and " in " not in name}
    assert {task.train: {name.split(":")[0] for name in task.evaluate} for task in zero.values()} == {
        ("wikiann:en",): {"wikiann"}, ("masakhaner2:hau",): {"masakhaner2"},
    }  # fmt: skip
    first = [compared.first for compared in paper.measures if compared.first.evaluate == "wikiann:mt"]
    assert {scored.task for scored in first if "with 0" in scored.task} == {"ner with 0 in mt"}
    assert all(
        compared.first.task in paper.tasks and compared.second.task in paper.tasks for compared in paper.measures
    )


def test_controls_of_transliteration_are_tuned_as_they_are_alone(paper):
    for code, letters in (("ar", "buckwalter"), ("ru", "cyrillic-published"), ("ja", "kana")):
        name = f"wikiann:{code}>{letters}"
        claims = {compared.claim for compared in paper.measures if compared.first.evaluate == name}
        assert claims == {above(AS_IT_IS, BILSTM), by_letters(AS_IT_IS), against_chance(AS_IT_IS)}
        assert paper.tasks[f"ner with 1000 in {code}>{letters}"].encoders == ("bert-base-multilingual-cased",)


def test_published_verdicts_are_those_of_the_slides_and_ours_stand_beside_them(paper):
    verdicts = {row.language: row.claim for row in published_rows("unseen-languages") if row.kind == "verdict"}
    assert verdicts == {"gsw": "Easy", "wo": "Intermediate", "ug": "Hard"}
    for code in verdicts:
        for recipe in (AS_IT_IS, ADAPTED):
            compared = [one.first.evaluate for one in paper.measures if one.claim == above(recipe, BILSTM)]
            assert any(name.startswith("UD_") and find_language(name) == code for name in compared)


def find_language(name):
    return source_of(task_of("pos"), name.split(">")[0]).language(name.split(">")[0])


@pytest.mark.parametrize("asked", [{"tasks": ["mnli"]}, {"tasks": ["ner"], "languages": ["mt"]}])
def test_tasks_without_data_are_refused_in_words(asked):
    with pytest.raises(InputError, match="there are for pos, parsing"):
        find_study("unseen-languages@real", {"encoder": "world-natural"} | asked)


def test_no_labelled_sentences_of_its_own_is_zero_shot_alone():
    study = find_study("unseen-languages", {"shots": [], "languages": ["qag"], "tasks": ["pos"]})
    assert {transfer.train for transfer in study.tasks.values()} == {("world:qaa",)}


def test_a_language_without_text_takes_ones_own():
    given = {"encoder": "world-natural", "languages": ["bm"]}
    with pytest.raises(InputError, match=r"bm: NTREX lacks it .* --with 'texts=\{bm: text:bm:FILE\}'"):
        find_study("unseen-languages@real", given)
    (adapted, _) = find_study("unseen-languages@real", given | {"texts": {"bm": "text:bm:own.txt"}}).encoders[1:]
    assert adapted.texts == ("text:bm:own.txt",)


def test_a_language_of_wikiann_alone_is_of_the_profile_paper():
    with pytest.raises(InputError, match=r"xmf: no treebank and no entities of it are known here; it is in @paper"):
        find_study("unseen-languages@real", {"languages": ["xmf"], "texts": {"xmf": "text:xmf:own.txt"}})


def test_the_world_has_entities_too():
    study = find_study("unseen-languages", {"tasks": ["ner"], "languages": ["qag"]})
    assert study.tasks["ner with 0"].evaluate == ("world:qag",)


def test_text_of_ones_own():
    given = {"encoder": "world-natural", "languages": ["mt"], "texts": {"mt": "text:mt:wiki.txt"}, "pairs": []}
    (adapted, scratch) = find_study("unseen-languages@real", given).encoders[1:]
    assert adapted.texts == scratch.texts == ("text:mt:wiki.txt",)

"""What the study bring-in consists of: its models, its scores and what it claims."""

from __future__ import annotations

from collections import defaultdict

import pytest

from babelscope.core.errors import InputError, StudyError
from babelscope.core.tasks import task_of
from babelscope.corpora.data_sources import source_of
from babelscope.steps import Align, Distil, Evaluate, Tune
from babelscope.steps.bring_in import names_by_alignment
from babelscope.studies import find_study
from babelscope.study.compile import compile_study
from babelscope.study.encoders import BringingIn


@pytest.fixture(scope="module")
def plan():
    return compile_study(find_study("bring-in", {"scale": "small"}))


def test_one_tuning_a_seed_serves_all_that_is_not_distilled(plan):
    tuned = [step for step in plan.steps.values() if isinstance(step, Tune)]
    assert sorted(str(step.labels["encoder"]) for step in tuned) == sorted(
        ["world-natural", "world-natural with 400 pairs, distilled"] * 2
    )
    assert len([step for step in plan.steps.values() if isinstance(step, Distil)]) == 1


def test_every_recipe_is_scored_in_every_language_with_every_seed(plan):
    scored = defaultdict(set)
    for step in plan.steps.values():
        if isinstance(step, Evaluate):
            scored[step.labels["encoder"]].add((step.data.code, step.model.seed))
    recipes = ("by spelling", "by chance", "known links", "no shrinkage", "100 pieces", "200 pieces", "distilled")
    named = {
        "world-natural",
        "world-natural with 100 pairs",
        "world-natural with 400 pairs",
        *(f"world-natural with 400 pairs, {how}" for how in recipes),
    }
    assert set(scored) == named
    assert all(places == {(code, seed) for code in ("qag", "qah") for seed in (0, 1)} for places in scored.values())


def test_recipes_that_differ_in_embeddings_alone_share_an_alignment(plan):
    aligned = {step.key: step for step in plan.steps.values() if isinstance(step, Align)}
    made = names_by_alignment(plan.steps.values())
    assert made.keys() == aligned.keys()
    start = "world-natural with 400 pairs"
    shared = {start, *(f"{start}, {how}" for how in ("by spelling", "by chance", "no shrinkage", "distilled"))}
    told = {frozenset(names): [] for names in made.values()}
    for key, names in made.items():
        told[frozenset(names)].append(aligned[key])
    alone = {f"{start}, {how}" for how in ("known links", "100 pieces", "200 pieces")} | {
        "world-natural with 100 pairs"
    }
    assert set(told) == {frozenset(shared), *(frozenset({name}) for name in alone)}
    assert all([step.language for step in steps] == ["qag", "qah"] for steps in told.values())
    assert {step.pairs for step in told[frozenset(shared)]} == {400}


def test_claims_are_of_encoders_that_are_scored_and_of_each_language(plan):
    study = find_study("bring-in", {})
    made = (
        "translated sentences help", "links are better than spelling", "more sentences help more",
        "links that are learnt are better than known ones", "shrinkage helps",
        "a larger vocabulary is better than a smaller one", "distillation helps",
    )  # fmt: skip
    roles = {"qag": "unseen, near", "qah": "unseen, near, other script", "qai": "unseen, isolate"}
    assert [(contrast.claim, contrast.languages) for contrast in study.contrasts] == [
        (f"{claim}: {role} ({code})", (code,)) for claim in made for code, role in roles.items()
    ]
    one = find_study("bring-in", {"pairs": [300]})
    assert not [contrast.claim for contrast in one.contrasts if "more" in contrast.claim]


def test_real_languages_are_brought_in_by_news_and_by_all_there_is():
    study = find_study("bring-in@real", {"encoder": "world-natural"})
    *counted, unshrunk, whole = (encoder for encoder in study.encoders if isinstance(encoder, BringingIn))
    news = {code: (f"ntrex:{code}:lines-1-1597",) for code in ("it", "pt", "sv")}
    assert [(made.pairs, made.after_tuning) for made in counted] == [(200, True), (600, True), (1597, True)]
    assert (unshrunk.pairs, unshrunk.shrinkage) == (1597, 0)
    assert {**counted[0].languages, "de": news["it"]} == {**news, "de": news["it"]}
    assert counted[0].languages["de"] == whole.languages["de"]
    assert whole.languages["de"] == ("ntrex:de:lines-1-1597", "flores:de", "tatoeba:de")
    assert whole.languages["zh"] == (
        "ntrex:zho-CN:lines-1-1597", "flores:cmn_Hans", "flores:cmn_Hant", "tatoeba:zh", "tico:zh",
    )  # fmt: skip
    assert list(whole.languages) == ["de", "fr", "es", "ru", "cs", "tr", "hi", "ar", "zh"] and whole.pairs is None
    assert study.tasks["pos"].evaluate == tuple(
        f"UD_{name}-PUD" for name in ("Italian", "Portuguese", "Swedish", "German")
    )
    assert study.tasks["pos by all pairs"].encoders == ("world-natural", whole.name)
    for transfer, codes in zip(study.tasks.values(), (counted[0].languages, whole.languages), strict=True):
        names = transfer.evaluate
        assert [source_of(task_of("pos"), name).language(name) for name in names] == list(codes)


def test_languages_of_ones_own():
    own = {"encoder": "world-natural", "languages": ["ga"], "treebanks": {"ga": "UD_Irish-IDT"}}
    study = find_study("bring-in@real", own | {"texts": {"ga": ["tatoeba:ga", "tsv:ga:own.tsv"]}, "pairs": [50]})
    counted, unshrunk, whole = study.encoders[1:]
    assert counted.languages == unshrunk.languages == whole.languages == {"ga": ("tatoeba:ga", "tsv:ga:own.tsv")}
    assert {transfer.evaluate for transfer in study.tasks.values()} == {("UD_Irish-IDT",)}
    alone, _ = find_study("bring-in@real", own | {"texts": {"ga": ["tatoeba:ga"]}, "pairs": [50]}).encoders[1:]
    assert alone.name == "world-natural with 50 pairs"
    texts = {"ga": ["tatoeba:ga"]}
    added, *_ = find_study("bring-in@real", own | {"languages": None, "texts": texts, "pairs": [50]}).encoders[1:]
    assert {*added.languages} == {"it", "pt", "sv", "de", "ga"}, "the texts were not read"
    texts |= {"fr": ["tatoeba:fr"], "es": ["tatoeba:es", "ntrex:es"]}
    treebanks = own["treebanks"] | {"en": "UD_English-PUD"}
    given = own | {"languages": None, "texts": texts, "treebanks": treebanks, "pairs": [50]}
    added, *_, whole = find_study("bring-in@real", given).encoders[1:]
    assert {*added.languages} == {"it", "pt", "sv", "de", "ga", "fr"}, "English is the source, and Spanish has several"
    assert "es" in whole.languages and "fr" not in whole.languages
    with pytest.raises(InputError, match=r"ga: no treebank of it .* 'treebanks=\{ga: treebank:ga:FILE\}'"):
        find_study("bring-in@real", {"encoder": "world-natural", "languages": ["ga"]})
    with pytest.raises(StudyError, match="texts: bring-in@world has no use for it here"):
        find_study("bring-in", {"texts": {"qag": ["tsv:qag:own.tsv"]}})


def test_paper_has_two_encoders_on_languages_that_they_have_not_seen():
    study = find_study("bring-in@paper", {})
    assert study.encoders[:2] == ("bert-base-multilingual-cased", "xlm-roberta-base")
    made = study.encoders[2:]
    assert {encoder.encoder for encoder in made} == {"bert-base-multilingual-cased", "xlm-roberta-base"}
    assert {tuple(encoder.languages) for encoder in made} == {("fo", "mt", "ug", "wo")}
    assert made[-1].languages["wo"] == ("ntrex:wo:lines-1-1597", "flores:wo")
    assert study.tasks["parsing"].evaluate == (
        "UD_Faroese-OFT", "UD_Maltese-MUDT", "UD_Uyghur-UDT", "UD_Wolof-WTB",
    )  # fmt: skip
    scored = {name for transfer in study.tasks.values() for name in transfer.encoders}
    assert scored == {"bert-base-multilingual-cased", "xlm-roberta-base", *(encoder.name for encoder in made)}

"""Languages brought into a study's encoders: before and after they are tuned."""

from __future__ import annotations

import pytest
import torch

from babelscope.core.errors import InputError
from babelscope.corpora.parallel import WorldPairs, joined
from babelscope.encoders.aligned_text import AlignedLanguage
from babelscope.encoders.bring_in import bring_in, own_pieces, random_rows
from babelscope.encoders.footprint import MOST_PIECES
from babelscope.encoders.load import load_encoder
from babelscope.encoders.own_vocabulary import own_vocabulary, renumbered
from babelscope.encoders.state import weights_of, word_embeddings_name
from babelscope.encoders.vocabulary import foreign_to
from babelscope.engine.progress import sentence_outcomes, study_rows
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps, export
from babelscope.face.bring_in import Wanted, with_language
from babelscope.measures.comparison import Compare
from babelscope.measures.surface import Surface
from babelscope.report.declared import report_of
from babelscope.report.sections import sections_of
from babelscope.steps import Align, BringIn, Distil, Evaluate, Tune, align
from babelscope.steps.duration import duration_of
from babelscope.steps.memory import shape_of
from babelscope.steps.plan import Plan
from babelscope.study.compile import compile_study
from babelscope.tuning.checkpoint import module_weights, read_weights
from babelscope.world import World
from bring_in_studies import BEFORE, DISTILLED, KNOWN, LATER, TEXTS, TRAINED, declared, pairs_with
from command_line import transfer
from languages_brought_in import GEORGIAN, cut, states
from test_own_vocabulary import GERMAN, PUNCTUATION, kind_with_marks
from tokenizer_kinds import LATIN, kinds

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def ran(encoder_folder, tmp_path_factory):
    plan = compile_study(declared(encoder_folder, LATER, BEFORE, KNOWN, DISTILLED))
    store = Store(tmp_path_factory.mktemp("store") / "store")
    assert not run_plan(plan, store, jobs=1).failed
    return store, list(plan.steps.values())


def test_models_tuned_before_are_shared_and_rows_name_what_was_brought_in(ran):
    store, steps = ran
    assert len([step for step in steps if isinstance(step, Tune)]) == 3  # as it is, `before` and `distilled`
    scored = {row.encoder for step in steps if isinstance(step, Evaluate) for row in store.rows(step.key)}
    assert scored == {"encoders0/tiny", "later", "before", "known", "distilled"}


def test_translations_are_aligned_by_the_sources_own_vocabulary(ran):
    """Of an encoder that reads the source by one: its rows then are of pieces that it learnt, and of no fragments."""
    store, steps = ran
    step = next(step for step in steps if isinstance(step, Evaluate) and step.brought_in)
    encoder, results = step.brought_in, FinishedSteps(store)
    first = encoder.encoder.build(results).model.config.vocab_size
    text = WorldPairs(languages=("qab", "qad"), sentences=40)
    aligned = Align(encoder=encoder, language="qad", parallel=(text,), pieces=90)
    assert not run_plan(Plan.of([aligned]), store, jobs=1).failed
    pieces = [piece for sentence in aligned.read(results).text.sources for piece in sentence]
    assert sum(piece >= first for piece in pieces) > len(pieces) / 2


def test_links_between_full_stops_are_no_errors(ran):
    """Nothing is known of them; in the first edition each of them was one."""
    store, steps = ran
    made_of = next(step for step in steps if isinstance(step, Align)).encoder
    text, encoder = WorldPairs(languages=("qaa", "qab"), sentences=40), made_of.build(FinishedSteps(store))
    pairs, known = text.read(), text.alignments()
    stops = [tuple(len(side.split()) - 1 for side in pair) for pair in pairs]
    right = [[*links.sure, stop] for links, stop in zip(known, stops, strict=True)]
    language = AlignedLanguage.learned(encoder, pairs, 90, links=right)
    rates = []
    for edition in (1, 2):
        aligned = Align(encoder=made_of, language="qab", parallel=(text,), edition=edition)
        rows = {row.measure: row.value for row in aligned._quality(encoder, language, pairs, known)}
        rates.append(rows["alignment error rate"])
    assert rates[0] > 0.02 and rates[1] == 0


def test_lines_between_seeds_meet_a_model_once(encoder_folder):
    """Also where another encoder shares its tuning."""
    line = {"measure": "interpolation", "tasks": ["pos"], "evaluate": ["world:qaa"], "sentences": 5, "alphas": [0, 1]}
    plan = compile_study(declared(encoder_folder, LATER, seeds=[0, 1, 2], measures=[line]))
    seeds = [[model.seed for model in step.models] for step in plan.steps.values() if isinstance(step, Surface)]
    assert sorted(seeds) == [[0, 1], [0, 1, 2], [1, 2]]


def test_a_tuned_model_keeps_its_weights_and_reads_the_language(ran):
    store, steps = ran
    step = next(step for step in steps if isinstance(step, Evaluate) and step.brought_in)
    results = FinishedSteps(store)
    tuned = step.model.model(results)
    brought = step.brought_in.into(tuned, results)
    assert not brought.module.training
    weights = dict(brought.module.named_parameters())
    for name, weight in tuned.module.named_parameters():
        assert torch.equal(weights[name][: len(weight)], weight), name
        assert name.startswith("backbone.") or weights[name] is weight
    grown = brought.encoder
    assert list(grown.languages) == ["qab", "qae"]
    sentences = [example.forms for example in step.data.read()]
    assert tuned.module.predict(sentences) == brought.module.predict(sentences)


def test_what_comes_after_tuning_can_come_one_after_the_other(ran, encoder_folder):
    store, steps = ran
    results, codes, names = FinishedSteps(store), ("qab", "qae", "qag"), ("first", "second", "third")
    made_of = (str(encoder_folder), *names)
    chain = [
        {"name": name, "encoder": encoder, "after_tuning": True, "languages": {code: [pairs_with(code)]}, "pieces": 90}
        for name, encoder, code in zip(names, made_of, codes, strict=False)
    ]
    plan = list(compile_study(declared(encoder_folder, *chain)).steps.values())
    (tuned,) = (step for step in plan if isinstance(step, Tune))
    assert tuned in steps
    assert not run_plan(Plan.of(step for step in plan if isinstance(step, Align)), store, jobs=1).failed
    evaluated = {step.brought_in.name: step for step in plan if isinstance(step, Evaluate) and step.brought_in}
    before, source = tuned.model(results), [line.split() for line in World().text("qaa", 9)]
    for number, name in enumerate(names, start=1):
        model = evaluated[name].built(results)
        assert tuple(model.languages) == codes[:number]
        assert model.module.predict(source) == before.module.predict(source)
        for code, earlier in zip(codes[:number], names, strict=False):
            own = evaluated[earlier].brought_in.languages[0].read(results).tokenizer
            (line,) = World().text(code, 1)
            assert model.reading(code).encoder.tokenizer.tokenize(line) == own.tokenize(line)


def test_a_study_makes_the_encoder_that_python_makes(ran, encoder_folder):
    store, steps = ran
    step = next(step for step in steps if isinstance(step, Evaluate) and step.brought_in).brought_in
    made, grown = step.build(FinishedSteps(store)), load_encoder(encoder_folder)
    for aligned in step.languages:
        grown = with_language(
            grown, Wanted(language=aligned.language, parallel=(), source="qaa"), joined(aligned.parallel).pairs
        )
    for name, weight in weights_of(made).items():
        torch.testing.assert_close(weights_of(grown)[name], weight)
    for code, tokenizer in made.languages.items():
        assert grown.languages[code].get_vocab() == tokenizer.get_vocab()


def test_the_memory_of_a_training_counts_the_rows_of_languages_brought_in(ran):
    store, steps = ran
    brought = {step.encoder for step in steps if isinstance(step, Tune) and step.encoder.brought_in}
    assert {type(encoder) for encoder in brought} == {BringIn, Distil}
    for encoder in brought:
        start = encoder.encoder if isinstance(encoder, Distil) else encoder
        had, has = (each.build(FinishedSteps(store)).model.config.vocab_size for each in (start.encoder, encoder))
        learned = sum(aligned.pieces or MOST_PIECES for aligned in start.languages)
        assert had < has <= had + learned == shape_of(encoder).vocabulary


def test_languages_are_read_once_for_all_encoders_that_they_are_brought_into(ran, monkeypatch):
    store, steps = ran
    step = next(step for step in steps if isinstance(step, Evaluate) and step.brought_in).brought_in
    results, read, read_one = FinishedSteps(store), [], Align.read
    monkeypatch.setattr(align, "_latest", {})
    monkeypatch.setattr(Align, "read", lambda self, results: read.append(self.key) or read_one(self, results))
    as_it_is, tuned = (step.encoder.build(results) for _ in range(2))
    with torch.no_grad():
        tuned.model.get_input_embeddings().weight.mul_(2)
    after = [step.applied(encoder, results) for encoder in (as_it_is, tuned)]
    assert read == [aligned.key for aligned in step.languages]
    align._latest.clear()
    again = step.applied(tuned, results)
    assert all(torch.equal(weight, weights_of(again)[name]) for name, weight in weights_of(after[1]).items())
    name = word_embeddings_name(again)
    torch.testing.assert_close(weights_of(after[0])[name] * 2, weights_of(again)[name])


def test_what_is_measured_of_alignments(ran):
    store, steps = ran
    learnt, known = {}, {}
    for step in steps:
        if isinstance(step, Align):
            rows = {row.measure: row for row in store.rows(step.key)}
            assert {row.language for row in rows.values()} == {step.language}
            (known if step.known else learnt)[step.language] = {name: row.value for name, row in rows.items()}
    for code in ("qab", "qae"):
        assert known[code]["alignment error rate"] == 0
        assert 0 < learnt[code]["alignment error rate"] < 0.5
        assert learnt[code]["pairs"] == known[code]["pairs"] <= 60
        assert 0 < learnt[code]["linked pieces"] <= 1 <= learnt[code]["fertility"]


def test_what_an_alignment_keeps_has_no_white_space(ran):
    store, steps = ran
    for step in (step for step in steps if isinstance(step, Align)):
        (file,) = store.result(step.key).rglob("tokenizer.json")
        assert "\n" not in file.read_text(encoding="utf-8")


def test_alignments_go_by_the_encoders_that_they_make_in_the_rows_of_a_study(ran):
    store, steps = ran
    found = [row for row in study_rows("s", Plan.of(steps), store) if row.kind == "alignment"]
    pairs = {(row.encoder, row.language) for row in found if row.measure == "pairs"}
    assert pairs == {(name, code) for name in ("later", "before", "known", "distilled") for code in ("qab", "qae")}
    by_encoder = {name: {row.key for row in found if row.encoder == name} for name, _ in pairs}
    assert by_encoder["later"] == by_encoder["distilled"] and by_encoder["known"].isdisjoint(by_encoder["later"])
    (own,) = {row.value for row in found if (row.encoder, row.language, row.measure) == ("before", "qab", "own pieces")}
    assert own <= 100


def test_the_report_of_a_stored_run_says_what_was_brought_in(ran, encoder_folder):
    store, steps = ran
    study = declared(encoder_folder, LATER, BEFORE, KNOWN, DISTILLED)
    told = report_of(study, study_rows("s", Plan.of(steps), store), outcomes=sentence_outcomes(store))
    (section,) = (each for each in sections_of(told) if each.title == "Languages brought in")
    lines, alignments = section.tables
    assert {line[1].text for line in lines.lines} == {"later", "before", "known", "distilled"}
    assert {line[1].text for line in alignments.lines} == {"later and 1 more", "before", "known"}
    assert section.figures == []


def test_a_comparison_is_of_the_model_with_what_is_brought_in(encoder_folder):
    sides = [{"task": "pos", "encoder": name, "evaluate": "world:qab"} for name in ("later", str(encoder_folder))]
    compared = {"measure": "comparison", "claim": "it helps", "first": sides[0], "second": sides[1]}
    plan = compile_study(declared(encoder_folder, LATER, measures=[compared]))
    (step,) = (step for step in plan.steps.values() if isinstance(step, Compare))
    assert [each.brought_in.name for each in step.first] == ["later"]
    assert [each.brought_in for each in step.second] == [None]
    assert {each.key for each in (*step.first, *step.second)} <= plan.steps.keys()


def test_distillation_goes_on_from_what_was_brought_in(ran):
    store, steps = ran
    (step,) = (step for step in steps if isinstance(step, Distil))
    results = FinishedSteps(store)
    start, end = step.encoder.build(results), step.build(results)
    assert list(end.languages) == ["qab", "qae"] and end.name == "distilled"
    for code in end.languages:
        assert end.reading(code).tokenizer.get_vocab() == start.reading(code).tokenizer.get_vocab()
    teacher = step.encoder.encoder.build(results)
    texts = {text.language: text for text in step.encoder.texts(teacher, results)}
    for code, text in texts.items():
        pairs = [pair for each in TEXTS[code] for pair in World().parallel_text(*each["languages"], each["sentences"])]
        targets = end.reading(code).tokenizer([b for _, b in dict.fromkeys(pairs)], add_special_tokens=False)
        assert text.targets == targets["input_ids"]
    losses = [row.value for row in store.rows(step.key) if row.measure == "loss"]
    assert losses and step.read_texts and duration_of(step).steps == 30


def test_the_card_of_a_tuned_model_says_whether_its_encoder_was_distilled(ran, tmp_path):
    store, steps = ran
    for step in (step for step in steps if isinstance(step, Tune) and step.encoder.brought_in):
        export(store, step.key, tmp_path / step.key)
        told = (tmp_path / step.key / "README.md").read_text()
        assert told.count("qab of the artificial world") == told.count("qae of the artificial world") == 1
        assert ("then trained to read the translations" in told) == isinstance(step.encoder, Distil)
        assert ("without any training" in told) == (not isinstance(step.encoder, Distil))


def test_distillation_leaves_languages_that_came_before_as_they_are(encoder_folder, tmp_path):
    tuning = TRAINED | {"steps": 3, "weight_decay": 0.5}
    before = {"name": "before", "languages": {"qab": TEXTS["qab"]}, "pieces": 90}
    after = {"name": "after", "encoder": "before", "languages": {"qae": TEXTS["qae"]}, "distil": {"tuning": tuning}}
    steps = compile_study(declared(encoder_folder, before, after)).steps.values()
    store, results = Store(tmp_path / "store"), FinishedSteps(Store(tmp_path / "store"))
    (step,) = (step for step in steps if isinstance(step, Distil))
    assert not run_plan(Plan.of([*(each for each in steps if isinstance(each, Align)), step]), store, jobs=1).failed
    start, end = step.encoder.build(results), step.build(results)
    moved = (weights_of(end)[word_embeddings_name(end)] != weights_of(start)[word_embeddings_name(start)]).any(dim=1)
    foreign = foreign_to(start, ["qaa", "qae"])
    assert foreign.any() and not moved[foreign].any() and moved[~foreign][1:].all()  # all but padding


def test_a_training_keeps_the_embeddings_that_its_text_has(ran):
    store, steps = ran
    results = FinishedSteps(store)
    for step in (step for step in steps if isinstance(step, Tune) and step.encoder.brought_in):
        before, after = step.encoder.build(results), step.tuned_encoder(results)
        start = step.encoder.encoder if isinstance(step.encoder, Distil) else step.encoder
        first = start.encoder.build(results).model.config.vocab_size
        saved = read_weights(results.result(step) / "best.safetensors")
        assert first in {len(weight) for weight in saved.values()}
        assert list(after.languages) == list(before.languages)
        old, new = (weights_of(each)[word_embeddings_name(each)] for each in (before, after))
        assert torch.equal(new[first:], old[first:]) and not torch.equal(new[:first], old[:first])
        assert {name: len(weight) for name, weight in step.weights(results).items()} == {
            name: len(weight) for name, weight in module_weights(step.model(results).module).items()
        }


def test_embeddings_of_a_language_are_trained_on_its_text(encoder_folder, tmp_path):
    tasks = {"pos": transfer(baselines=[], train=["world:qab"], evaluate=["world:qab", "world:qae"])}
    brought = {"name": "before", "languages": TEXTS, "pieces": 100}
    steps = list(compile_study(declared(encoder_folder, brought, tasks=tasks)).steps.values())
    store = Store(tmp_path / "store")
    assert not run_plan(Plan.of(step for step in steps if not isinstance(step, Evaluate)), store, jobs=1).failed
    step = next(step for step in steps if isinstance(step, Tune) and step.encoder.brought_in)
    before, after = step.encoder.build(FinishedSteps(store)), step.tuned_encoder(FinishedSteps(store))
    old, new = (weights_of(each)[word_embeddings_name(each)] for each in (before, after))
    used = {code: [k for k in each.get_vocab().values() if k >= 400] for code, each in before.languages.items()}
    assert not torch.equal(new[used["qab"]], old[used["qab"]])
    assert torch.equal(new[max(used["qab"]) + 1 :], old[max(used["qab"]) + 1 :])


def test_a_text_is_aligned_once_for_all_that_is_brought_in_by_it(encoder_folder):
    by_chance = LATER | {"name": "chance", "rows": "chance"}
    steps = compile_study(declared(encoder_folder, LATER, by_chance)).steps.values()
    assert len([step for step in steps if isinstance(step, Align)]) == 2


@kinds
def test_an_own_vocabulary_moves_behind_languages_that_were_brought_in_before(kind):
    encoder = kind_with_marks(kind)
    first = len(weights_of(encoder)[word_embeddings_name(encoder)])
    made = {code: own_vocabulary(encoder, lines, 60) for code, lines in (("de", GERMAN), ("ka", GEORGIAN))}
    rows = {code: random_rows(encoder, len(own_pieces(encoder, each)), 3, code) for code, each in made.items()}
    alone = {code: bring_in(encoder, {code: made[code]}, rows[code]) for code in made}
    german = alone["de"]
    both = bring_in(german, {"ka": renumbered(made["ka"], first, german.model.config.vocab_size)}, rows["ka"])
    for code in made:
        for line in [*GERMAN, *GEORGIAN, *LATIN, *PUNCTUATION]:
            assert cut(both, code, line) == cut(alone[code], code, line)
            assert torch.equal(states(both.reading(code), line), states(alone[code].reading(code), line))
    tokenizers = {code: both.languages[code] for code in made}
    at_once = bring_in(
        encoder, tokenizers, {name: torch.cat([rows["de"][name], rows["ka"][name]]) for name in rows["de"]}
    )
    assert at_once.model.config.vocab_size == both.model.config.vocab_size
    assert all(torch.equal(weight, weights_of(both)[name]) for name, weight in weights_of(at_once).items())
    with pytest.raises(InputError, match="reads de already"):
        bring_in(encoder, tokenizers | {"deu": tokenizers["ka"]}, rows["de"])

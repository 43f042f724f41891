"""What of the data casts doubt on scores besides leaks: labels that are all the same or never trained on, repeats."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.examples import SentencePair, Tagged, gold_labels, never_trained_on, read_twice, repeated
from babelscope.corpora.conllu import write_conllu
from babelscope.face.doubts import doubts
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.world import World
from command_line import declaration, transfer

SENTENCES = {split: World().treebank("qaa", split, 20) for split in ("train", "dev", "test")}


def told(tmp_path, encoder_folder, **splits):
    """Of a treebank of the world with some splits of one's own."""
    for split, sentences in (SENTENCES | splits).items():
        write_conllu(tmp_path / f"qaa-{split}.conllu", sentences)
    name = f"treebank:qaa:{tmp_path}"
    tasks = {"pos": transfer(train=[name], evaluate=[name], baselines=[], sizes={"train": 20, "dev": 20, "test": 20})}
    declared = declaration(encoder_folder, surgeries=[None], retrieval=None, seeds=[0], tasks=tasks)
    steps = compile_study(Study.model_validate(declared)).steps.values()
    return [line.removeprefix(f"{name}: ") for line in doubts(steps)]


def labelled(sentence, upos):
    return replace(sentence, words=tuple(word._replace(upos=upos) for word in sentence.words))


def test_data_as_they_should_be_need_no_warning(tmp_path, encoder_folder):
    assert told(tmp_path, encoder_folder) == []


@pytest.mark.parametrize(("split", "what"), [("train", "learn"), ("dev", "tell apart"), ("test", "tell apart")])
def test_words_that_all_have_one_label_are_told(tmp_path, encoder_folder, split, what):
    said = told(tmp_path, encoder_folder, **{split: [labelled(each, "NOUN") for each in SENTENCES[split]]})
    assert said[0] == f"all that is labelled in the {split} split is 'NOUN', so that there is nothing to {what}"
    assert len(said) == 1 + (split == "train")  # of which other labels are tested


def test_test_sets_that_select_the_best_step_are_told(encoder_folder):
    found = {}
    for selected in ("dev", "test"):
        tasks = {"pos": transfer(train=["world:qaa"], evaluate=["world:qaa", "world:qab"], selected_on=selected)}
        declared = declaration(encoder_folder, surgeries=[None], retrieval=None, seeds=[0], tasks=tasks)
        found[selected] = doubts(compile_study(Study.model_validate(declared)).steps.values())
    assert found["dev"] == []
    assert found["test"] == [
        "world:qaa and world:qab: the best step is selected on the test set itself, so that its scores are better than "
        "on new ones"
    ]


@pytest.mark.parametrize(("shots", "said"), [(20, []), (30, ["has 20 examples to train on"]), (10**6, [])])
def test_fewer_examples_than_shots_are_told(tmp_path, encoder_folder, shots, said):
    """But not where all that there are were asked for."""
    for split, sentences in SENTENCES.items():
        write_conllu(tmp_path / f"qaa-{split}.conllu", sentences)
    name = f"treebank:qaa:{tmp_path}"
    given = {"train": [name], "evaluate": [name], "baselines": [], "shots": shots, "sizes": {"dev": 20, "test": 20}}
    declared = declaration(
        encoder_folder, surgeries=[None], retrieval=None, seeds=[0], tasks={"pos": transfer(**given)}
    )
    found = doubts(compile_study(Study.model_validate(declared)).steps.values())
    assert [line.removeprefix(f"{name}: ").split(";")[0] for line in found] == said
    assert all(f"rows with `shots` {shots}" in line for line in found)


def test_labels_that_look_alike_are_told(tmp_path, encoder_folder):
    """Of words; what looks otherwise is another label: m2 and m², a Persian word with a joiner and without."""

    def tagged(sentence, *tags):
        words = (word._replace(xpos=tags[k % len(tags)]) for k, word in enumerate(sentence.words))
        return replace(sentence, words=tuple(words))

    seen = ("NN", "Nn", "m2", "m²", "می\u200cشود", "میشود", "ä")
    tags = {"train": (*seen, "NN\u200b", "a\u0308"), "dev": seen, "test": seen}
    for split, sentences in SENTENCES.items():
        write_conllu(tmp_path / f"qaa-{split}.conllu", [tagged(each, *tags[split]) for each in sentences])
    name = f"treebank:qaa:{tmp_path}"
    given = {"task": "tagging", "label": "xpos", "train": [name], "evaluate": [name], "baselines": []}
    declared = declaration(
        encoder_folder, surgeries=[None], retrieval=None, seeds=[0], tasks={"mine": transfer(**given)}
    )
    found = doubts(compile_study(Study.model_validate(declared)).steps.values())
    alike = r"'NN' and 'NN\u200b' and 'a\u0308' and '\xe4'"
    assert found == [f"{name}: labels of the train split look alike, and count as different ones: {alike}"]


def test_labels_that_are_never_trained_on_are_told(tmp_path, encoder_folder):
    strange = [labelled(each, "SYM") for each in SENTENCES["test"][:10]]
    tested = [*strange, *SENTENCES["test"][10:]]
    (said,) = told(tmp_path, encoder_folder, test=tested)
    missed, whole = (sum(len(each.words) for each in some) for some in (strange, tested))
    assert said == (
        f"{missed} of {whole} labels of the test split are never trained on in treebank:qaa:{tmp_path} (SYM), so that "
        "models of it get none of them right"
    )


def test_of_several_trainings_those_are_named_that_lack_a_label(tmp_path, encoder_folder):
    """It said that no model gets a label right that another one was trained on, and said it once for each training."""
    names = []
    for code, upos in (("qaa", "NOUN"), ("qab", "SYM")):
        for split, sentences in SENTENCES.items():
            half = [labelled(each, upos) for each in sentences[:10]]
            (tmp_path / code).mkdir(exist_ok=True)
            write_conllu(tmp_path / code / f"{code}-{split}.conllu", [*half, *sentences[10:]])
        names.append(f"treebank:{code}:{tmp_path / code}")
    a, b = names
    sizes = {"train": 20, "dev": 20, "test": 20}
    tasks = {
        name: transfer(task="pos", train=train, evaluate=[b], baselines=[], sizes=sizes, selected_on="test")
        for name, train in (("one", [a]), ("both", [a, b]))
    }
    declared = declaration(encoder_folder, surgeries=[None], retrieval=None, seeds=[0, 1], tasks=tasks)
    found = list(doubts(compile_study(Study.model_validate(declared)).steps.values()))
    (said,) = [line for line in found if "never trained on" in line]
    assert f"are never trained on in {a} (SYM), so that models of it" in said
    assert len(found) == len(set(found))


@pytest.mark.parametrize(("count", "said"), [(2, False), (3, True)])
def test_test_sentences_that_come_again_are_told(tmp_path, encoder_folder, count, said):
    again = [replace(each, id=f"again{k}") for k, each in enumerate(SENTENCES["test"][:count])]
    found = told(tmp_path, encoder_folder, test=[*again, *SENTENCES["test"][: 20 - count]])
    assert len(found) == said
    assert all(line.startswith(f"{count} of 20 examples of the test split repeat earlier ones") for line in found)


@given(st.lists(st.sampled_from("abcdefgh"), max_size=12), st.lists(st.sampled_from("abcdefgh"), max_size=12))
def test_labels_and_repeats_are_counted(tested, trained):
    slow = [label for label in tested if label not in trained]
    assert never_trained_on(tested, trained) == (slow if 10 * len(slow) > len(tested) else [])
    earlier = sum(label in tested[:k] for k, label in enumerate(tested))
    assert repeated(tested) == (earlier if 10 * earlier > len(tested) else 0)


def test_exchanged_pairs_are_read_twice():
    pairs = [SentencePair(f"a{k}", f"b{k}", "yes") for k in range(9)]
    assert read_twice([SentencePair(p.second, p.first, "no") for p in pairs], pairs) == 9
    assert read_twice([SentencePair("a0", "b1", "yes")], pairs) == 0
    assert read_twice([SentencePair("Zoo", "apple", "yes")], [SentencePair("zoo", "apple", "yes")]) == 1


@pytest.mark.parametrize(
    ("train", "evaluate", "said"),
    [
        (["world:qag"], ["world:qah>world"], ["to the letter"]),
        (["world:qaa"], ["world:qag", "world:qah>world"], ["not of two languages"]),
        (["world:qaa"], ["world:qag", "world:qah", "world:qab>world"], []),
    ],
)
def test_a_language_in_the_letters_of_another_one_that_is_the_same_is_told(encoder_folder, train, evaluate, said):
    tasks = {"pos": transfer(train=train, evaluate=evaluate, baselines=[], sizes={"train": 40, "dev": 20, "test": 20})}
    declared = declaration(encoder_folder, surgeries=[None], retrieval=None, seeds=[0], tasks=tasks)
    found = list(doubts(compile_study(Study.model_validate(declared)).steps.values()))
    assert [words in line for words, line in zip(said, found, strict=True)] == [True] * len(said)


def test_text_that_an_encoder_was_adapted_to_and_that_is_scored_is_told(tmp_path, encoder_folder):
    lines = [f"a line of text , number {k}\n" for k in range(60)]
    (tmp_path / "one.txt").write_text("".join(lines))
    (tmp_path / "two.txt").write_text("".join(lines[6:] + lines[:6]))  # whose last tenth is tested
    one, two = (f"text:qaa:{tmp_path}/{name}.txt" for name in ("one", "two"))
    adapted = {
        "name": "adapted", "encoder": str(encoder_folder), "texts": [one], "tuning": {"learning_rate": 1e-3},
    }  # fmt: skip
    tasks = {"mlm": transfer(train=["world:qaa"], evaluate=[two], baselines=[])}
    declared = declaration(encoder_folder, encoders=[adapted], surgeries=[None], retrieval=None, seeds=[0], tasks=tasks)
    (found,) = doubts(compile_study(Study.model_validate(declared)).steps.values())
    assert "6 of 6 examples of the test split are also among those of" in found


@pytest.fixture
def alike(tmp_path, encoder_folder, monkeypatch):
    """A function from lines of NTREX to the steps that measure how alike these are in an encoder made by the first 20.

    It is scored on a treebank of the same folder, too.
    """
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    for folder in ("ntrex", "ud/UD_German-XYZ"):
        (tmp_path / folder).mkdir(parents=True)
    write_conllu(tmp_path / "ud/UD_German-XYZ/de_xyz-ud-test.conllu", SENTENCES["test"])
    for code in ("eng", "deu"):
        text = "".join(f"{code} sentence {k} .\n" for k in range(40))
        (tmp_path / "ntrex" / f"newstest2019-{'src' if code == 'eng' else 'ref'}.{code}.txt").write_text(text)
    made = {"name": "made", "encoder": str(encoder_folder), "languages": {"de": ["ntrex:de:lines-1-20"]}}

    def steps(lines):
        similarity = {
            "measure": "similarity",
            "source": "ntrex:en",
            "targets": [f"ntrex:de:lines-{lines}"],
            "sentences": 20,
        }
        tasks = {"pos": transfer(evaluate=["UD_German-XYZ"], baselines=[])}
        declared = declaration(encoder_folder, encoders=[str(encoder_folder), made], surgeries=[None], retrieval=None,
                               seeds=[0], tasks=tasks, measures=[similarity])  # fmt: skip
        return compile_study(Study.model_validate(declared)).steps.values()

    return steps


def test_likeness_of_what_an_encoder_was_made_by_is_told(alike):
    """And not of other lines of the same collection."""
    (found,) = doubts(alike("1-20"))
    assert "20 of 20 sentences whose likeness is measured are among the translations by which made" in found
    assert doubts(alike("21-40")) == []


def test_nothing_is_fetched_for_doubts(alike, monkeypatch):
    """Where results are, data need not be."""
    steps = alike("1-20")
    monkeypatch.delenv("BABELSCOPE_DATA")
    for call in ("pooch.retrieve", "huggingface_hub.dataset_info"):
        monkeypatch.setattr(call, lambda *_, **__: pytest.fail("the network is asked"))
    assert doubts(steps) == []


def test_labels_are_those_of_words_and_classes():
    examples = [Tagged(["a", "b"], ["X", "Y"]), SentencePair("a", None, "yes"), SentencePair("a", None, 0.5), "a"]
    assert gold_labels(examples) == ["X", "Y", "yes"]
    assert repeated([Tagged(["a"], ["X"]), Tagged(["a"], ["Y"])]) == 0
    assert repeated([Tagged(["a"], ["X"]), Tagged(("a",), ("X",))]) == 1


def test_encoders_that_are_trained_or_scored_on_other_numbers_of_examples_are_told(encoder_folder):
    """Rows do not say it, and contrasts would take it for what encoders are worth."""
    own = str(encoder_folder)
    made = {"name": "made", "texts": [{"language": "qab", "sentences": 9}], "tuning": {"steps": 1},
            "shape": {"layers": 1}, "vocabulary_size": 90}  # fmt: skip

    def found(**other):
        sizes = {"train": 20, "dev": 5, "test": 10}
        tasks = {
            "one": transfer(task="pos", encoders=[own], baselines=[], evaluate=["world:qab"], sizes=sizes),
            "two": transfer(task="pos", encoders=["made"], baselines=[], evaluate=["world:qab"], sizes=sizes | other),
        }
        declared = declaration(encoder_folder, encoders=[own, made], surgeries=[None], retrieval=None, seeds=[0],
                               tasks=tasks)  # fmt: skip
        return doubts(compile_study(Study.model_validate(declared)).steps.values())

    assert found() == []
    (scored,) = found(test=6)
    assert scored == "pos, scored on world:qab: on 10 and 6 examples, so that scores are not of the same sentences"
    (trained,) = found(train=8)
    assert trained.startswith("pos, trained on qaa (world:qaa): models of ")
    assert trained.endswith(
        " on 20 examples and of made on 8 examples, so that differences are not of the encoders alone"
    )

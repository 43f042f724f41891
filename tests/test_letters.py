"""Data sets in other letters: the same examples, the same annotation, other words."""

import pytest

from babelscope.core.errors import InputError
from babelscope.core.examples import Multiword, Sentence, SentencePair, Tagged, Word
from babelscope.core.hashing import digest
from babelscope.corpora.datasets import find
from babelscope.corpora.letters import relettered, split_name
from babelscope.corpora.transliteration import rules_digest, transliteration
from babelscope.corpora.world_text import WorldText
from babelscope.engine.progress import language_labels
from babelscope.steps import Baseline


def _words(examples):
    """All but the identifiers of sentences."""
    return [one.words if isinstance(one, Sentence) else one for one in examples]


@pytest.mark.parametrize("task", ["pos", "parsing", "ner", "inference", "sentiment", "mlm"])
def test_a_relative_in_its_own_letters_reads_as_the_same_one_in_the_sources(task):
    """qah has the words of qag in another script, so that its transliteration is qag, whatever the task."""
    names = ("world:qah>world", "world:qag", "world:qah")
    transliterated, latin, written = (_words(find(task, name, "test", 20).read()) for name in names)
    assert transliterated == latin
    assert written != latin


def test_a_treebank_keeps_its_annotation(tmp_path, monkeypatch):
    folder = tmp_path / "ud" / "UD_Uyghur-UDT"
    folder.mkdir(parents=True)
    line = "1\tئات\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"
    (folder / "ug_udt-ud-test.conllu").write_text(f"# sent_id = 1\n{line}\n", encoding="utf-8")
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    data = find("pos", "UD_Uyghur-UDT>uyghur", "test", 5)
    assert data.read() == (Sentence("1", (Word("at", "NOUN", 0, "root"),)),)
    assert (data.source, data.language, data.code) == ("UD_Uyghur-UDT", "ug", "ug>uyghur")
    assert find("mlm", "UD_Uyghur-UDT>uyghur", "test", 5).read() == ("at",)


def test_every_kind_of_example():
    examples = (
        Sentence("1", (Word("ab", "NOUN", 0, "root"), Word("-", "PUNCT", 1, "punct")), (Multiword(1, 2, "ab-"),)),
        Tagged(["ab", "c"], ["O", "B-PER"]),
        SentencePair("ab c", None, "yes"),
        SentencePair("ab", "c", 1.0),
        "ab c",
    )
    changed = relettered(examples, lambda text: text.replace("-", "").upper())
    assert changed == (
        Sentence("1", (Word("AB", "NOUN", 0, "root"), Word("-", "PUNCT", 1, "punct")), (Multiword(1, 2, "AB"),)),
        Tagged(["AB", "C"], ["O", "B-PER"]),
        SentencePair("AB C", None, "yes"),
        SentencePair("AB", "C", 1.0),
        "AB C",
    )


def test_letters_are_in_the_key_and_their_absence_is_not():
    def key(name):
        data = find("pos", name, "test", 5)
        return Baseline(baseline="word-majority", task="pos", train=(data,), data=data).key

    names = ["world:qah", "world:qah>world", "world:qah>world+permute:1", "world:qah>world+permute:2"]
    assert len({key(name) for name in names}) == 4
    plain = find("pos", "world:qah", "test", 5).model_dump()
    assert "letters" not in plain
    assert "rules" not in plain


def test_letters_that_are_not_named_are_refused():
    with pytest.raises(InputError, match="'world:qaa>': says no transliteration after >"):
        find("pos", "world:qaa>", "test", 5)


def test_rules_that_change_are_noticed(tmp_path):
    table = tmp_path / "table.tsv"
    table.write_text("a\tb\n", encoding="utf-8")
    data = find("pos", f"world:qaa>table:{table}", "test", 5)
    assert data.rules == rules_digest(f"table:{table}")
    table.write_text("a\tc\n", encoding="utf-8")
    with pytest.raises(InputError, match="have changed since the study was planned"):
        data.read()


@pytest.mark.parametrize("name", ["world:qah>klingon", "world:qah>world+shuffle:1", "world:qah>icu:"])
def test_unknown_letters_are_refused_when_the_data_are_looked_up(name):
    with pytest.raises(InputError, match="Transliterate by a table"):
        find("pos", name, "test", 5)


def test_digests_tell_tables_apart():
    assert rules_digest("uyghur") != rules_digest("sorani")
    assert rules_digest("world") == digest({"world": 2})
    permuted = {rules_digest(f"uyghur+permute:{seed}") for seed in (1, 2)}  # the name says the seed
    assert len(permuted) == 1 and rules_digest("uyghur") not in permuted


def test_text_to_pretrain_on_has_the_same_letters():
    lines = WorldText(language="qah", sentences=10, pairs=5).read()
    change = transliteration("world")
    assert WorldText(language="qah", sentences=10, pairs=5, letters="world").read() == list(map(change, lines))
    exchanged = WorldText(language="qah", sentences=1, pairs=5, letters="world+permute:1").read()
    assert sum("[SEP]" in line for line in exchanged) == 5


def test_names():
    assert split_name("UD_Uyghur-UDT>uyghur+permute:1") == ("UD_Uyghur-UDT", "uyghur+permute:1")
    assert split_name("world:qaa") == ("world:qaa", None)
    labels = language_labels(["ug>uyghur", "qah>world", "qah", "qaa", "ug>uyghur-permute-1"])
    assert labels == {
        "qaa": "qaa source (Latn)",
        "qah": "qah unseen, near, other script (Grek)",
        "qah>world": "qah unseen, near, other script (Grek), by world",
        "ug>uyghur": "Uyghur (Arab), by uyghur",
        "ug>uyghur-permute-1": "Uyghur (Arab), by uyghur, permuted",
    }

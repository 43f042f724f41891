"""Files in other letters: annotation is kept, forms can be put back, and faults have their line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import DataError, InputError
from babelscope.corpora.conllu import read_conllu
from babelscope.corpora.rewriting import restore, rewrite
from babelscope.corpora.transliteration import transliteration
from command_line import babelscope

CONLLU = """# sent_id = 1
# text = Щука|Юля не.
1-2\tЩука|Юля\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tЩука\tщука\tNOUN\t_\tCase=Nom\t0\troot\t_\t_
2\tЮля|\tЮля\tPROPN\t_\t_\t1\tflat\t_\tA=B
3\tне\tне\tPART\t_\t_\t1\tadvmod\t_\t_
3.1\tъ\t_\t_\t_\t_\t_\t_\t_\t_
4\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

"""


def test_conllu_keeps_its_annotation_and_can_be_put_back(tmp_path):
    source, latin, back = (tmp_path / name for name in ("a.conllu", "b.conllu", "c.conllu"))
    source.write_text(CONLLU, encoding="utf-8")
    assert rewrite(source, latin, transliteration("cyrillic")) == (3, 4, "word")
    before, after = read_conllu(source), read_conllu(latin)
    assert after[0].forms == ["Shchuka", "Yulya|", "ne", "."] and after[0].multiwords[0].form == "Shchuka|Yulya"
    for one, other in zip(CONLLU.splitlines()[2:-1], latin.read_text().splitlines()[2:-1], strict=True):
        own, changed = one.split("\t"), other.split("\t")
        assert own[0] == changed[0] and own[2:9] == changed[2:9] and changed[9].startswith(own[9].strip("_"))
    assert restore(latin, back).number == 3
    assert back.read_text(encoding="utf-8") == CONLLU and read_conllu(back) == before
    with pytest.raises(DataError, match=r"orig_text is kept for text that was changed: .* restore it first"):
        rewrite(latin, tmp_path / "d.conllu", transliteration("cyrillic"))
    lines = latin.read_text(encoding="utf-8").splitlines(keepends=True)
    latin.write_text("".join(line for line in lines if not line.startswith("# orig_text")), encoding="utf-8")
    with pytest.raises(DataError, match=r"OrigForm already: .* restore it first"):
        rewrite(latin, tmp_path / "d.conllu", transliteration("cyrillic"))
    assert not (tmp_path / "d.conllu").exists()


def test_what_a_sentence_and_its_words_become_by_rules_with_contexts_may_differ(tmp_path):
    text = "# text = газета «Ъ»\n1\tгазета\t_\tX\t_\t_\t0\troot\t_\t_\n" + "".join(
        f"{number}\t{form}\t_\tX\t_\t_\t1\tdep\t_\tSpaceAfter=No\n" for number, form in ((2, "«"), (3, "Ъ"), (4, "»"))
    )
    (tmp_path / "a.conllu").write_text(text + "\n", encoding="utf-8")
    rewrite(tmp_path / "a.conllu", tmp_path / "b.conllu", transliteration("cyrillic"))
    assert read_conllu(tmp_path / "b.conllu")[0].forms == ["gazeta", "«", "Ъ", "»"]
    restore(tmp_path / "b.conllu", tmp_path / "c.conllu")
    (tmp_path / "b.txt").write_text("two words\n")
    with pytest.raises(InputError, match=r"b.txt: only CoNLL-U, in a file named .conllu, keeps what was there before"):
        restore(tmp_path / "b.txt", tmp_path / "d.txt")
    assert (tmp_path / "c.conllu").read_text(encoding="utf-8") == text + "\n"


@pytest.mark.parametrize("comment", ["# text=и", "#text = и", "#\ttext\t=и"])
def test_the_text_is_known_as_the_reader_knows_it(tmp_path, comment):
    content = f"{comment}\n# text_en = text = a\n1\tи\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    a, b, c = (tmp_path / f"{name}.conllu" for name in "abc")
    a.write_text(content, encoding="utf-8")
    rewrite(a, b, transliteration("cyrillic"))
    assert (read_conllu(a)[0].text, read_conllu(b)[0].text, read_conllu(b)[0].forms) == ("и", None, ["i"])
    with pytest.raises(DataError, match="orig_text is kept for text that was changed"):
        rewrite(b, tmp_path / "d.conllu", transliteration("cyrillic"))
    restore(b, c)
    assert c.read_text(encoding="utf-8") == content


@given(
    form=st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1),
    misc=st.sampled_from(["_", "A=B", "SpaceAfter=No|C=D"]),
)
def test_any_form_is_put_back(tmp_path_factory, form, misc):
    folder = tmp_path_factory.mktemp("forms")
    line = f"1\t{form}\t_\tX\t_\t_\t0\troot\t_\t{misc}\n\n"
    (folder / "a.conllu").write_bytes(line.encode())
    rewrite(folder / "a.conllu", folder / "b.conllu", lambda text: f"{text}|x\\")
    restore(folder / "b.conllu", folder / "c.conllu")
    assert (folder / "c.conllu").read_bytes() == line.encode()


def test_plain_text_is_changed_line_by_line(tmp_path):
    (tmp_path / "a.txt").write_text("Щука\n\n# text = и\nplain\n", encoding="utf-8")
    changed = rewrite(tmp_path / "a.txt", tmp_path / "b.txt", transliteration("cyrillic"))
    assert changed == (2, 3, "line"), "a line that begins with # is a line of text"
    assert (tmp_path / "b.txt").read_text() == "Shchuka\n\n# text = i\nplain\n"


def test_nothing_is_overwritten_and_faults_have_their_line(tmp_path):
    (tmp_path / "a.conllu").write_text("1\tx\n", encoding="utf-8")
    with pytest.raises(DataError, match="2 columns") as caught:
        rewrite(tmp_path / "a.conllu", tmp_path / "b.conllu", str.upper)
    assert caught.value.line == 1 and not (tmp_path / "b.conllu").exists()
    with pytest.raises(InputError, match="already there"):
        rewrite(tmp_path / "a.conllu", tmp_path / "a.conllu", str.upper)
    with pytest.raises(InputError, match="cannot be written"):
        rewrite(Path(__file__), tmp_path / "a.conllu" / "b.txt", str.upper)


@pytest.mark.parametrize(
    ("arguments", "said", "hint"),
    [
        (
            ["--by", "cyrillic"],
            "0 of 3 words changed",
            "nothing was changed: the text has no letter that cyrillic changes",
        ),
        (["--restore"], "0 of 3 words changed", "the file keeps nothing of what was there before"),
        (["--by", "greek"], "1 of 3 words changed", ""),
    ],
)
def test_a_text_of_which_nothing_is_changed_gets_a_hint(tmp_path, arguments, said, hint):
    lines = [f"{k}\t{form}\t" + "\t".join("_" * 8) for k, form in enumerate(("een", "και", "."), start=1)]
    (tmp_path / "a.conllu").write_text("\n".join(["# x", *lines, "", ""]), encoding="utf-8")
    answer = babelscope("transliterate", tmp_path / "a.conllu", *arguments, "-o", tmp_path / "b.conllu")
    assert answer.status == 0 and answer.output == f"{said}: {tmp_path / 'b.conllu'}\n"
    assert hint in answer.errors and bool(hint) == bool(answer.errors)

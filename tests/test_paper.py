"""The folder for a paper: the document compiles, numbers are those of the rows, and what is used is cited."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from babelscope.core.errors import InputError
from babelscope.corpora.bio import write_bio
from babelscope.corpora.conllu import write_conllu
from babelscope.corpora.sources import SPLITS
from babelscope.report import Report, report_of, write_report
from babelscope.report.paper.latex import LONG, escaped, table_float
from babelscope.report.sections import sections_of
from babelscope.report.tables import Cell, Table, number_cell
from babelscope.report.used import Used
from babelscope.studies import STUDIES, find_study
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.world import World
from read_latex import NASTY, SIGNS, WORDS, shown
from rows_file import read_rows
from synthetic_report import LABELS, synthetic_report

pytestmark = pytest.mark.usefixtures("in_process")


MACROS = set(
    re.findall(
        r"\w+",
        """documentclass input title author begin end maketitle nocite section item clearpage includegraphics caption
        label centering small resizebox ifdim width linewidth else fi tabular toprule midrule bottomrule endfirsthead
        endhead endlastfoot footnotesize bibliographystyle bibliography emph cite usepackage DeclareRobustCommand
        otherletter ifdefined XeTeXversion char relax directlua pdfminorversion
        UseLegacyTextSymbols""",
    )
)
"""Commands of LaTeX's kernel, of booktabs, graphicx and longtable, and the one that the preamble defines."""


@pytest.fixture(scope="module")
def report() -> Report:
    return synthetic_report()


@pytest.fixture(scope="module")
def folder(report, tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("paper") / "paper"
    written = write_report(report, target)
    assert sorted(written) == sorted(path for path in target.rglob("*") if path.is_file())
    return target


def test_all_that_the_document_takes_in_is_there(folder):
    text = (folder / "paper.tex").read_text()
    taken = re.findall(r"\\input\{([^}]*)\}", text)
    assert taken[0] == "preamble" and len(taken) > 5 and all((folder / f"{name}.tex").is_file() for name in taken)
    assert {f"tables/{path.stem}" for path in folder.glob("tables/*")} == set(taken[1:])
    pictures = re.findall(r"\\includegraphics\{([^}]*)\}", text)
    assert len(set(pictures)) == len(pictures) == 5
    assert {f"figures/{path.name}" for path in folder.glob("figures/*")} == {
        f"{name}{suffix}" for name in pictures for suffix in (".pdf", ".svg")
    }


def test_figures_are_vectors_as_wide_as_a_column(folder):
    for path in folder.glob("figures/*.pdf"):
        content = path.read_bytes()
        assert re.search(rb"MediaBox \[0 0 218 ", content) and not re.search(rb"/Subtype */Image", content)
        assert 'width="218.00pt"' in path.with_suffix(".svg").read_text()


def test_a_wide_chart_takes_both_columns(report, monkeypatch, tmp_path):
    monkeypatch.setattr("babelscope.report.paper.DRAWN", 900)
    write_report(report, tmp_path / "paper")
    assert re.search(rb"MediaBox \[0 0 453 ", (tmp_path / "paper" / "figures" / "01-01-by-language.pdf").read_bytes())
    assert r"\begin{figure*}" in (tmp_path / "paper" / "paper.tex").read_text()


def lines_of(path: Path) -> list[list[str]]:
    """The cells of a table's file, header first, as LaTeX shows them."""
    lines = [line.removesuffix(r" \\") for line in path.read_text().splitlines() if line.endswith(r" \\")]
    return [[shown(cell).strip() for cell in re.split(r"(?<!\\)&", line)] for line in lines]


def test_numbers_in_tables_are_those_of_the_rows(folder):
    rows = read_rows(folder / "rows.csv")
    kept = pd.read_parquet(folder / "rows.parquet")
    assert list(kept.columns) == list(rows.columns) and kept["value"].tolist() == rows["value"].tolist()
    header, *lines = lines_of(folder / "tables" / "01-01-at-a-glance.tex")
    scores = rows[(rows.kind == "score") & (rows.measure == "accuracy") & (rows.split == "test")].fillna(
        {"surgery": ""}
    )
    means = scores.groupby(["language", "encoder", "surgery"]).value.mean()
    compared = 0
    for place, *texts in lines:
        for condition, text in zip(header[1:], texts, strict=True):
            encoder, _, surgery = condition.partition(", untrained")
            code = next(code for code, label in LABELS.items() if label == place)
            mean = means[code, encoder, "reinit" if condition.endswith("untrained") else surgery]
            assert text.split("%")[0] == f"{100 * mean:.1f}"
            compared += 1
    assert compared == 4 * len(LABELS)


def test_tables_have_the_cells_of_the_report(report, folder):
    for number, part in enumerate(sections_of(report), 1):
        for k, table in enumerate(part.tables, 1):
            (path,) = folder.glob(f"tables/{number:02}-{k:02}-*.tex")
            assert lines_of(path) == [list(table.headers), *([cell.text for cell in line] for line in table.lines)]


def macros(text: str) -> set[str]:
    """Names of commands, but for accents of one letter, which stand inside of braces."""
    return set(re.findall(r"\\([A-Za-z]+)", re.sub(r"\{\\[urHvc]\{[A-Za-z]\}\}", "", text)))


def test_only_commands_that_the_preamble_loads_are_used(folder, sourced_folder):
    letters = {re.sub(r"\d", "", word) for word in WORDS} | {sign.strip("\\^") for sign in SIGNS}
    for path in (*folder.rglob("*.tex"), *sourced_folder.rglob("*.tex")):
        content = re.sub(r"(?m)^%.*", "", path.read_text())
        assert content.isascii() and macros(content) <= MACROS | letters
        for begun in re.findall(r"\\begin\{([^}]*)\}", content):
            assert content.count(f"\\begin{{{begun}}}") == content.count(f"\\end{{{begun}}}")


def test_nothing_to_show_makes_no_folder(tmp_path):
    with pytest.raises(InputError, match="nothing to show yet"):
        write_report(Report("Empty", "", []), tmp_path / "paper")
    assert not (tmp_path / "paper").exists()
    with pytest.raises(InputError, match=r"or a folder for a paper"):
        write_report(Report("Empty", "", []), tmp_path / "paper.tex")


@pytest.fixture(scope="module")
def sourced(tmp_path_factory, encoder_folder) -> Iterator[Study]:
    """A study with data of four sources, one of them text that an encoder is adapted to."""
    folder = tmp_path_factory.mktemp("data")
    world = World()
    for path in ("ud/UD_Wolof-WTB", "masakhaner2/wol", "glue/RTE", "ntrex"):
        (folder / path).mkdir(parents=True)
    for split in SPLITS:
        write_conllu(folder / f"ud/UD_Wolof-WTB/wo_wtb-ud-{split}.conllu", world.treebank("qaa", split, 20))
        write_bio(folder / f"masakhaner2/wol/{split}.txt", world.entities("qaa", split, 20))
    labels = ("entailment", "not_entailment")
    for name in ("train", "dev"):
        lines = "".join(f"{k}\tPremise {k} of {name}.\tIt is {k}.\t{labels[k % 2]}\n" for k in range(40))
        (folder / f"glue/RTE/{name}.tsv").write_text(f"index\tsentence1\tsentence2\tlabel\n{lines}")
    for name in ("src.eng", "ref.wol"):
        (folder / f"ntrex/newstest2019-{name}.txt").write_text("".join(f"{name} line {k}\n" for k in range(30)))
    shared = {"sizes": {"train": 10, "dev": 5, "test": 5}, "tuning": {"learning_rate": 3e-4, "epochs": 2}}
    adapted = {"name": "adapted", "encoder": str(encoder_folder), "parallel": ["ntrex:wol"], "tuning": {"steps": 5}}
    tasks = {
        "pos": {"train": ["UD_Wolof-WTB"], "evaluate": ["UD_Wolof-WTB", "world:qaa"], **shared},
        "ner": {"train": ["masakhaner2:wol"], "evaluate": ["masakhaner2:wol"], **shared},
        "rte": {"train": ["glue:RTE"], "evaluate": ["glue:RTE"], **shared},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BABELSCOPE_DATA", str(folder))
        yield Study.model_validate(
            {"name": "wolof", "encoders": [str(encoder_folder), adapted], "tasks": tasks, "seeds": [3, 5, 8]}
        )


@pytest.fixture(scope="module")
def sourced_report(sourced, report) -> Report:
    provenance = {"versions": "babelscope 0.1.0, torch 2.13.0", "machines": "Linux", "steps": "3 Tune"}
    own = report_of(sourced, report.rows, provenance=provenance, plan=compile_study(sourced))
    return dataclasses.replace(own, title=f"Wolof {NASTY}", question=NASTY)


@pytest.fixture(scope="module")
def sourced_folder(sourced_report, tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("sourced") / "paper"
    write_report(sourced_report, target)
    return target


def test_methods_say_what_was_done_with_what(sourced_folder, encoder_folder):
    text = (sourced_folder / "methods.tex").read_text()
    for said in (
        r"Universal Dependencies~\cite{nivre2020universal} (UD\_Wolof-WTB; CC BY-SA 4.0)",
        r"MasakhaNER 2.0~\cite{adelani2022masakhaner} (masakhaner2:wol; CC BY-NC 4.0, as its repository says)",
        r"GLUE~\cite{wang2019glue} (glue:RTE; that of each of its tasks)",
        r"NTREX-128~\cite{federmann2022ntrex} (ntrex:wol; CC BY-SA 4.0)",
        "texts of Babelscope's artificial world",
        "with the seeds 3, 5 and 8.",
        r"The task \emph{pos} was trained on UD\_Wolof-WTB (at most 10 examples), selected on at most 5 examples of "
        r"each dev split and tested on at most 5 examples of each of UD\_Wolof-WTB and world:qaa.",
        "95\\% Student's t intervals",
        "Training of tasks.pos, tasks.ner and tasks.rte: batch 512 tokens, length 2 epochs, learning rate 0.0003, ",
        "Training of encoders.adapted: batch 512 tokens, length 5 steps, learning rate 0.0005, ",
        "computed with babelscope 0.1.0, torch 2.13.0 on Linux (device: cpu).",
        f"{escaped('/'.join(encoder_folder.parts[-2:]))} (SHA-256 ",
        "adapted (adapted)",
    ):
        assert said in text
    header, *lines = lines_of(sourced_folder / "tables" / "data.tex")
    assert header == ["data set", "collection", "licence", "SHA-256"] and [line[0] for line in lines] == [
        "UD_Wolof-WTB", "glue:RTE", "masakhaner2:wol", "ntrex:wol",
    ]  # fmt: skip
    assert all(re.fullmatch(r"([0-9a-f]{12} ?)+", line[3]) for line in lines)
    settings = dict(
        (line[0], line[1:]) for line in lines_of(sourced_folder / "tables" / "settings-of-the-trainings.tex")
    )
    assert settings["setting"] == ["tasks.pos, tasks.ner", "tasks.rte", "encoders.adapted"]
    assert settings["seeds"] == ["3", "3", "1"] and settings["head"] == ["", "from the first state", ""]
    assert settings["epsilon"] == ["1e-08"] * 3 and settings["threads"] == ["1"] * 3


def test_digests_are_those_of_the_files(sourced):
    used = Used(sourced, compile_study(sourced))
    from babelscope.corpora.lines import content_digest
    from babelscope.corpora.sources import find_treebank

    treebank = next(data for data in used.data if data.name == "UD_Wolof-WTB")
    assert set(treebank.sha256) == {content_digest(find_treebank("UD_Wolof-WTB", split)) for split in SPLITS}
    assert used.has_world and [encoder.on_hub for encoder in used.encoders] == [False]


def test_what_is_cited_is_in_the_bibliography_and_nothing_else(sourced_folder):
    keys = re.findall(r"(?m)^@\w+\{([^,]+),", (sourced_folder / "references.bib").read_text())
    text = (sourced_folder / "methods.tex").read_text()
    cited = {key for group in re.findall(r"\\cite\{([^}]*)\}", text) for key in group.split(",")}
    assert len(keys) == len(set(keys)) and set(keys) == cited
    assert cited == {"babelscope", "nivre2020universal", "adelani2022masakhaner", "wang2019glue", "federmann2022ntrex"}


@pytest.mark.parametrize("name", [name for name in STUDIES if "world" in STUDIES[name].profiles])
def test_every_built_in_study_has_methods(name):
    study = find_study(f"{name}@world", {"scale": "small"} if "scale" in STUDIES[name].parameters else {})
    used = Used(study, compile_study(study))
    assert used.has_world and not used.data and (used.trainings or not study.tasks)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex (Debian: texlive-latex-recommended) is absent")
@pytest.mark.parametrize("which", ["folder", "sourced_folder"])
def test_the_document_compiles(which, request, tmp_path):
    place = tmp_path / "paper"
    shutil.copytree(request.getfixturevalue(which), place)
    long = Table(NASTY, [NASTY, "n"], [[Cell(NASTY), number_cell(float(k), ".1f")] for k in range(LONG + 1)], NASTY)
    (place / "long.tex").write_text(table_float(long, "tab:long"))
    text = (place / "paper.tex").read_text()
    (place / "paper.tex").write_text(text.replace(r"\bibliographystyle", "\\input{long}\n\\bibliographystyle"))
    for command in (["pdflatex"], ["bibtex"], ["pdflatex"], ["pdflatex"]):
        options = ["-interaction=nonstopmode", "-halt-on-error"] if command == ["pdflatex"] else []
        answer = subprocess.run([*command, *options, "paper"], cwd=place, capture_output=True, check=False)
        assert answer.returncode == 0, answer.stdout.decode(errors="replace")[-3000:]
    log = (place / "paper.log").read_text(errors="replace")
    assert not re.search(r"(Citation|Reference) .*undefined", log) and (place / "paper.pdf").read_bytes().startswith(
        b"%PDF"
    )


@pytest.mark.parametrize("name", ["references.bib", "preamble.tex", "rows.csv"])
def test_an_authors_own_files_are_not_replaced(tmp_path, name):
    report, own = synthetic_report(), tmp_path / "paper" / name
    own.parent.mkdir()
    own.write_text("\nof an author")
    with pytest.raises(InputError, match=f"paper: has {name}, which no report has written"):
        write_report(report, own.parent)
    assert [path.name for path in own.parent.iterdir()] == [name] and own.read_text() == "\nof an author"
    own.rename(own.with_name("main.tex"))
    written = write_report(report, own.parent)
    assert written and all(path.is_file() for path in written)
    assert write_report(report, own.parent) == written
    assert own.with_name("main.tex").read_text() == "\nof an author"

"""Sentences that a parser is neither trained nor scored on: other relations than universal ones, and too many words."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from babelscope.core.errors import InputError, StudyError
from babelscope.core.examples import Sentence, Word
from babelscope.corpora.conllu import write_conllu
from babelscope.encoders.load import Encoder
from babelscope.steps.plan import check_data
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.tasks.bilstm.backbone import BiLstmBackbone, BiLstmShape
from babelscope.tasks.bilstm.parse import BiLstmParser, BiLstmParsing
from babelscope.tasks.bilstm.words import Vocabulary
from babelscope.tasks.measured import measured_trees
from babelscope.tasks.parsable import MOST_WORDS
from babelscope.tasks.parse import Parser, Parsing, evaluate_parser
from command_line import declaration, transfer


def chain(name: str, words: int, deprel: str = "obj") -> Sentence:
    return Sentence(name, tuple(Word("cat", "NOUN", k, deprel if k else "root") for k in range(words)))


@pytest.fixture(params=["encoder", "bilstm"])
def parser(request: pytest.FixtureRequest, encoder: Encoder) -> Parser | BiLstmParser:
    torch.manual_seed(0)
    if request.param == "encoder":
        return Parser(encoder)
    shape = BiLstmShape(word=4, character=4, spelling=4, hidden=4)
    return BiLstmParser(BiLstmBackbone(Vocabulary.of([["cat"]]), shape))


GOOD = chain("good", 3, "obj:x")
STRANGE = (chain("odd", 3, "NOTAREL"), r"sentence 'odd': relation 'NOTAREL' of word 2; the universal ones are acl, .*")
LONG = (chain("long", MOST_WORDS + 1), r"sentence 'long' has 2,001 words, and a parser reads 2,000 at most; cut it")


@pytest.mark.parametrize(("sentence", "problem"), [STRANGE, LONG], ids=["strange", "long"])
def test_a_sentence_that_cannot_be_parsed_is_named_before_anything_is_computed(
    parser: Parser | BiLstmParser, sentence: Sentence, problem: str, monkeypatch: pytest.MonkeyPatch
):
    task = BiLstmParsing if isinstance(parser, BiLstmParser) else Parsing
    for train, dev in (([GOOD, sentence], [GOOD]), ([GOOD], [GOOD, sentence])):
        with pytest.raises(InputError, match=problem):
            task(parser, train, {"dev": dev})
    assert evaluate_parser(parser, [GOOD])
    monkeypatch.setattr(parser, "forward", None)
    with pytest.raises(InputError, match=problem):
        evaluate_parser(parser, [GOOD, sentence])
    if isinstance(parser, Parser):
        with pytest.raises(InputError, match=problem):
            measured_trees(parser, [GOOD, sentence], ["las"])


@pytest.mark.parametrize(("sentence", "problem"), [STRANGE, LONG], ids=["strange", "long"])
def test_a_test_sentence_that_cannot_be_parsed_is_refused_before_anything_is_trained(
    encoder_folder: Path, tmp_path: Path, sentence: Sentence, problem: str
):
    folder = tmp_path / "own"
    folder.mkdir()
    for split in ("train", "dev", "test"):
        write_conllu(folder / f"{split}.conllu", [GOOD, *([sentence] if split == "test" else [])])
    plans = {}
    for task in ("parsing", "pos"):
        tasks = {task: transfer(evaluate=[f"treebank:qab:{folder}"], baselines=[])}
        study = Study.model_validate(declaration(encoder_folder, tasks=tasks))
        plans[task] = compile_study(study).steps.values()
    check_data(plans["pos"])
    with pytest.raises(StudyError, match=rf"treebank:qab:.*, test: {problem}"):
        check_data(plans["parsing"])


def test_words_that_are_too_many_to_be_parsed_are_named(parser: Parser | BiLstmParser):
    assert len(parser.predict([["cat"] * 9])[0].heads) == 9
    with pytest.raises(InputError, match=r"sentence 2, which begins with 'a cat a', has 2,001 words, and a"):
        parser.predict([["cat"], ["a", "cat", "a", *["cat"] * (MOST_WORDS - 2)]])

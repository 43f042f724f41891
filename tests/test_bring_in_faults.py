"""What a study cannot bring into its encoders is refused before anything is computed."""

from __future__ import annotations

import pytest

from babelscope.core.errors import StudyError
from babelscope.study.compile import compile_study
from babelscope.study.encoders import Distillation
from bring_in_studies import BEFORE, DISTILLED, LATER, TEXTS, TRAINED, declared
from command_line import transfer

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.mark.parametrize("key", ["perplexity", "distance"])
def test_a_corpus_of_several_tokenizers_is_refused_before_anything_runs(encoder_folder, key):
    """A language that was brought in is read with its own tokenizer: tokens of two of them have no mean."""
    corpora = {"both": ["world:qaa", "world:qab"]}
    probed = {"pos": transfer(baselines=[], probes={key: corpora, "every": 1, "sentences": 5})}
    compile_study(declared(encoder_folder, tasks=probed))  # the encoder as it is reads all with one
    for brought_in in ([BEFORE], [BEFORE, DISTILLED]):
        with pytest.raises(StudyError, match=f"tasks.pos.probes.{key}.both: .* reads qab with a tokenizer of its own"):
            compile_study(declared(encoder_folder, *brought_in, tasks=probed))
    corpora = {"first": ["world:qaa"], "second": ["world:qab"]}
    probed = {"pos": transfer(baselines=[], probes={key: corpora, "every": 1, "sentences": 5})}
    compile_study(declared(encoder_folder, BEFORE, tasks=probed))


def test_batches_of_several_tokenizers_are_refused_before_anything_runs(encoder_folder):
    both = transfer(baselines=[], train=["world:qaa", "world:qab"])
    compile_study(declared(encoder_folder, LATER, tasks={"pos": both}))  # tuned before there are several
    compile_study(declared(encoder_folder, BEFORE, tasks={"pos": both | {"encoders": [str(encoder_folder)]}}))
    apart = both["tuning"] | {"batches": "one-language"}
    compile_study(declared(encoder_folder, BEFORE, tasks={"pos": both | {"tuning": apart}}))
    with pytest.raises(StudyError, match=r"`batches: one-language`") as caught:
        compile_study(declared(encoder_folder, BEFORE, DISTILLED, tasks={"pos": both}))
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["tasks.pos.tuning"] * 2


def test_pairs_in_one_sequence_are_refused_before_anything_runs(encoder_folder):
    pair = {"languages": ["qaa", "qac"], "sentences": 5}
    adapted = {"name": "adapted", "encoder": "before", "parallel": [pair], "tuning": TRAINED}
    compile_study(declared(encoder_folder, BEFORE, adapted | {"encoder": str(encoder_folder)}))
    with pytest.raises(
        StudyError, match=r"encoders.2.parallel: adapted: pairs of sentences, but before reads qab, qae"
    ):
        compile_study(declared(encoder_folder, BEFORE, adapted))


@pytest.mark.parametrize("key", ["encoders", "references"])
def test_layers_that_are_not_there_to_distil_are_refused_before_anything_runs(encoder_folder, key):
    encoder, distil = str(encoder_folder), {"tuning": TRAINED, "compared_layers": [0, 3]}
    probed = {"pos": transfer(baselines=[], probes={"distance": {"first": ["world:qaa"]}, "sentences": 5})}
    given = {"encoders": [encoder], "tasks": probed, key: [DISTILLED | {"encoder": encoder, "distil": distil}]}
    with pytest.raises(StudyError) as caught:
        compile_study(declared(encoder_folder, **given))
    assert caught.value.faults == (
        f"{key}.0.distil.compared_layers: layers 0, 3: give one or more of 0 to 2, where 0 stands for the embeddings",
    )
    distil["compared_layers"] = [0, 2]
    compile_study(declared(encoder_folder, **given))


@pytest.mark.parametrize("portions", [200, "auto"])
def test_a_distillation_in_portions_is_refused_as_it_is_declared(portions):
    tuning = {"tuning": {"steps": 1, "micro_tokens": portions}}
    with pytest.raises(ValueError, match=f"micro_tokens={portions}: Distillation is trained on whole batches"):
        Distillation.model_validate(tuning)


def test_a_distillation_is_not_compiled():
    tuning = {"steps": 1, "compile": True, "device": "cuda", "precision": "bfloat16"}
    with pytest.raises(ValueError, match="compile=true: Distillation is not compiled; leave it out"):
        Distillation.model_validate({"tuning": tuning})


def test_faults_of_a_declaration(encoder_folder, tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("a cat\teine Katze\n", encoding="utf-8")
    own = {"de": [f"tsv:de:{file}"]}
    with pytest.raises(ValueError, match="known: true is for text of the world"):
        declared(encoder_folder, LATER | {"known": True, "languages": own})
    with pytest.raises(ValueError, match="shrinkage is about links, and rows: spelling reads none"):
        declared(encoder_folder, LATER | {"rows": "spelling", "shrinkage": 2})
    distilled = BEFORE | {"known": True, "distil": {"tuning": TRAINED}}
    declared(encoder_folder, distilled)  # which learns by links, whatever the rows are made of
    with pytest.raises(ValueError, match="cannot come after_tuning"):
        declared(encoder_folder, LATER | {"distil": {"tuning": TRAINED}})
    turned = {"qab": [{"languages": ["qab", "qaa"], "sentences": 60}]}
    with pytest.raises(StudyError, match=r"encoders.1.languages.qab.0: the translations are in qaa"):
        compile_study(declared(encoder_folder, LATER | {"languages": turned}))
    with pytest.raises(ValueError, match="de and deu are one language"):
        declared(encoder_folder, LATER | {"languages": own | {"deu": own["de"]}})
    named = LATER | {"languages": {"it": own["de"], "deu": own["de"]}}
    with pytest.raises(StudyError) as caught:
        compile_study(declared(encoder_folder, named))
    (fault,) = caught.value.faults  # deu is de
    assert fault.startswith("encoders.1.languages.it.0: the translations are in de, but the language")
    lines = [f"text:{code}:{tmp_path / code}.txt" for code in ("en", "de")]
    for code, line in (("en", "a cat\n"), ("de", "eine Katze\n")):
        (tmp_path / f"{code}.txt").write_text(line, encoding="utf-8")
    with pytest.raises(StudyError, match=r"encoders.1.languages.it.0: the translations are in de, but"):
        compile_study(declared(encoder_folder, LATER | {"languages": {"it": [lines]}}))
    with pytest.raises(StudyError, match=r"surgeries.1: languages are brought into later after tuning"):
        compile_study(declared(encoder_folder, LATER, surgeries=[None, "reverse"]))
    with pytest.raises(StudyError, match=r"encoders.1.languages.de.0.*no text in two languages"):
        compile_study(declared(encoder_folder, LATER | {"languages": {"de": ["de"]}}))
    with pytest.raises(StudyError, match="another is not made before this one"):
        compile_study(declared(encoder_folder, LATER | {"encoder": "another"}, {"name": "another", "languages": TEXTS}))

"""Distances of probes are from one layer to the same one, so references are as deep as what is compared with them."""

from babelscope.study.compile import compile_study
from command_line import transfer
from test_compiler import NATIVE, PROBES, faults, study


def test_references_are_as_deep_as_encoders_after_surgery(encoder_folder):
    whole, cut = str(encoder_folder), [{"name": "less", "operations": ["drop:last=1"]}]
    (fault,) = faults(encoder_folder, references=[whole], surgeries=[None, *cut])
    assert fault == (
        "references.0: encoders0/tiny has 2 layers, but encoders0/tiny after surgery less has 1; distances are from "
        "one layer to the same one"
    )
    shallow = NATIVE | {"shape": NATIVE["shape"] | {"layers": 1}}
    compile_study(study(encoder_folder, references=[shallow], surgeries=cut))
    tasks = {"pos": transfer(baselines=[], probes={"perplexity": PROBES["perplexity"]})}
    compile_study(study(encoder_folder, references=[whole], surgeries=cut, tasks=tasks))


def test_references_are_compared_with_the_encoders_of_tasks_with_distances_alone(encoder_folder):
    deep = {"name": "deep", "texts": NATIVE["texts"], "tuning": {"steps": 1}, "shape": NATIVE["shape"] | {"layers": 5}}
    tasks = {
        "pos": transfer(baselines=[], probes=PROBES, encoders=[str(encoder_folder)]),
        "mlm": transfer(baselines=[], encoders=["deep"]),
    }
    encoders = [str(encoder_folder), deep]
    compile_study(study(encoder_folder, encoders=encoders, references=[NATIVE], tasks=tasks))
    (fault,) = faults(encoder_folder, encoders=encoders, references=["deep"], tasks=tasks)
    assert fault.startswith("references.0: ")

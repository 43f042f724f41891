"""A study with a model of every task, and what is predicted with them."""

from functools import cache

from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.steps import Evaluate, Recurrent, Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from command_line import babelscope, declaration, transfer

QUICK = {"train": ["world:qaa"], "evaluate": ["world:qaa"], "baselines": []}
SENTENCES = {
    "inference": transfer(**QUICK, head="family"),
    "similarity": transfer(**QUICK, head="pooler"),
    "sentiment": transfer(**QUICK, head="first"),
}
WORDS = {
    "pos": transfer(**QUICK | {"baselines": ["most-frequent-tag"], "evaluate": ["world:qaa", "world:qah>world"]}),
    "ner": transfer(**QUICK),
    "parsing": transfer(**QUICK | {"baselines": ["bilstm"]}),
    "mlm": transfer(**QUICK),
}
GROWN = {
    "name": "grown", "texts": [{"language": "qaa", "sentences": 60}], "vocabulary_size": 300,
    "shape": {"hidden": 16, "layers": 1, "heads": 1, "feed_forward": 16},
    "tuning": {"learning_rate": 1e-3, "epochs": 1},
}  # fmt: skip


class Ran:
    """A study that has run."""

    def __init__(self, folder, encoder):
        declared = declaration(
            encoder, encoders=[GROWN], seeds=[0], surgeries=[None], tasks=WORDS | SENTENCES, retrieval=None
        )
        plan = compile_study(Study.model_validate(declared))
        self.store, self.steps = folder / "store", plan.steps
        assert not run_plan(plan, Store(self.store)).failed

    def tuning(self, task, recurrent=False):
        """The key of the tuning of a task."""
        return next(
            key
            for key, step in self.steps.items()
            if isinstance(step, Tune) and step.task.name == task and isinstance(step.encoder, Recurrent) == recurrent
        )

    def data(self, task):
        """The test data, and the key of the evaluation on it."""
        return next(
            (step.data, key)
            for key, step in self.steps.items()
            if isinstance(step, Evaluate) and step.model.key == self.tuning(task)
        )


@cache
def ran_once(encoder_folder):
    """In a folder beside the encoder's: the same for all files of tests in a process, none of which changes it."""
    return Ran(encoder_folder.parents[1] / "ran-once", encoder_folder)


def exporting(ran, tmp_path):
    """A function that exports the tuning of a task."""

    def export(task, recurrent=False):
        folder = tmp_path / f"exported-{task}"
        answer = babelscope("export", ran.tuning(task, recurrent), "-o", folder, "--store", ran.store)
        assert (answer.status, answer.errors) == (0, ""), answer.errors
        return folder

    return export

"""How many examples the papers' trainings had, and how many steps these make in the profile `paper` of each study.

`studies/published/training_examples.csv` has the numbers, by study, training (`tasks.NAME`, `encoders.NAME`; `*`
stands for anything) and data set; without a data set, the number is of all of them together. Those of divided treebanks
and of small sets of entities are in `unseen_data`.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple

from published_settings import is_about, paper_study

from babelscope.corpora.letters import split_name
from babelscope.studies.published_numbers import read_table
from babelscope.studies.unseen_data import labelled_sizes
from babelscope.study.declare import Study
from babelscope.study.trainings import made_encoders
from babelscope.tuning.settings import Tuning

IN_CODE = "not published: the sets' present sizes, in the code's table (`unseen_data.py`)"


class Size(NamedTuple):
    """The training examples of a task or of an encoder that is made, and the steps that they make."""

    training: str
    """`tasks.NAME` or `encoders.NAME`."""
    examples: tuple[int, ...]
    """Of each training set."""
    where: str
    tuning: Tuning

    @property
    def steps(self) -> int:
        """Of the optimizer, in the whole training."""
        return self.tuning.steps_of(self.examples) or 0

    @property
    def steps_an_epoch(self) -> int:
        """Batches in an epoch."""
        return self.tuning.batches_of(self.examples) or 0


class Read(NamedTuple):
    """What a training reads: data sets, and of each so many examples at most."""

    data: tuple[str, ...]
    most: int | None
    tuning: Tuning


def sizes(name: str) -> tuple[list[Size], list[str]]:
    """Of what a study's profile `paper` trains the number of examples, as published or in the code's table.

    BiLSTMs read what their tasks read.

    Returns:
        The sizes, and the trainings without one.
    """
    known, unknown = [], []
    for training, read in reads(paper_study(name)).items():
        counts = [_examples(name, training, data) for data in read.data]
        found = [count for count in counts if count is not None]
        whole = _examples(name, training, "")  # of all training sets of a task together
        if whole is not None:
            known.append(Size(training, (whole[0],), whole[1], read.tuning))
        elif len(found) == len(counts):
            numbers = tuple(min(number, read.most or number) for number, _ in found)
            known.append(Size(training, numbers, "; ".join(dict.fromkeys(where for _, where in found)), read.tuning))
        else:
            unknown.append(training)
    return known, unknown


def reads(study: Study) -> dict[str, Read]:
    """What each training of a study reads."""
    tasks = {f"tasks.{name}": Read(each.train, each.shots, each.tuning) for name, each in study.tasks.items()}
    made = {
        f"encoders.{each.name}": Read(tuple(str(text) for text in each.texts), each.sentences, each.tuning)
        for each in made_encoders(study)
    }
    return tasks | made


def _examples(study: str, training: str, data: str) -> tuple[int, str] | None:
    data = split_name(data)[0] if data else data  # other letters, as many sentences
    for line in read_table("training_examples"):
        if is_about(line, study) and fnmatchcase(training, line["training"]) and line["data"] == data:
            return int(line["examples"]), line["where"]
    return (size, IN_CODE) if (size := labelled_sizes().get(data)) else None

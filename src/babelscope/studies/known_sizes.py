"""How many examples public data sets have, for plans that are made where the data are not.

Those to train on are in `published/training_examples.csv` and in `unseen_data`, those to select on and to score in
`published/held_out_examples.csv`, whose lines name one data set or several with a space between; `*` stands for
anything.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache

from babelscope.corpora.sources import Split
from babelscope.studies.published_numbers import read_table
from babelscope.studies.unseen_data import labelled_sizes


@cache
def known_size(name: str, split: Split) -> int | None:
    """The examples of a split; None where they are not known."""
    if split == "train":
        published = (int(line["examples"]) for line in read_table("training_examples") if line["data"] == name)
        return next(published, labelled_sizes().get(name))
    for line in read_table("held_out_examples"):
        if any(fnmatchcase(name, pattern) for pattern in line["data"].split()) and line[split]:
            return int(line[split])
    return None

"""The steps that compare parallel sentences in two languages, by encoders as they are and by tuned ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from babelscope.core.step import Step
from babelscope.corpora.parallel_sentences import Parallel, WorldParallel, find_parallel
from babelscope.measure_steps import SentenceSimilarity
from babelscope.study.compile.faults import Faults
from babelscope.study.compile.surfaces import Conditions
from babelscope.study.compile.transfers import ResolvedTransfer
from babelscope.study.declare import Study
from babelscope.study_measures import Similarity

Transfers = Mapping[str, ResolvedTransfer]


def find_all_parallel(study: Study, transfers: Transfers, faults: Faults) -> list[Parallel | None]:
    """The sentences of every similarity; the tasks whose models are measured are checked too."""
    found: list[Parallel | None] = []
    for k, one in enumerate(study.similarities):
        path, given = f"similarities.{k}", (one.source, one.targets, one.sentences, study.world_seed)
        found.append(faults.resolve(path, find_parallel, *given))
        for name in one.tuned:
            _check_tuned(f"{path}.tuned", name, found[-1], transfers, faults)
    return found


def similarities(
    study: Study, texts: Sequence[Parallel | None], transfers: Transfers, conditions: Conditions
) -> Iterator[Step]:
    """One step for every encoder under every surgery, untuned; and for each of its tunings that is to be measured."""
    for declared, found in zip(study.similarities, texts, strict=True):
        if found is None:
            continue
        for encoder, seed in conditions:
            yield _compare(declared, found, encoder, declared.device, 1)
            for task in (transfers[name] for name in declared.tuned):
                for schedule in study.schedules if task.is_for(encoder) else ():
                    tuned = task.tuned(encoder, schedule, seed)
                    yield _compare(declared, found, tuned, tuned.tuning.device, tuned.tuning.threads)


def _compare(declared: Similarity, texts: Parallel, model: object, device: str, threads: int) -> SentenceSimilarity:
    return SentenceSimilarity.model_validate(
        {
            "model": model, "texts": texts, "pooling": declared.pooling, "measures": declared.measures,
            "device": device, "threads": threads,
        }
    )  # fmt: skip


def _check_tuned(path: str, name: str, texts: Parallel | None, transfers: Transfers, faults: Faults) -> None:
    """Models are compared where the source is a language that they know the task in."""
    if name not in transfers:
        faults.add(path, f"{name!r} is no task of the study; there are {', '.join(transfers)}")
    elif texts is not None:
        source = texts.languages[0] if isinstance(texts, WorldParallel) else texts.treebanks[0].language
        trained = dict.fromkeys(data.language for data in transfers[name].train)
        if trained and source not in trained:
            problem = f"{name} is trained on {', '.join(trained)}, but the sentences are compared with {source}"
            faults.add(path, f"{problem}; give the source in a language of the training")

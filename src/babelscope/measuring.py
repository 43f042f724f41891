"""What the steps compute that measure encoders, as they are or tuned. Only running steps import this module."""

from __future__ import annotations

import math
import time

import torch
from torch.nn import Module

from babelscope.core.row import Row
from babelscope.core.step import Workspace
from babelscope.corpora.datasets import data_labels
from babelscope.encoders.tap import sentence_states, word_states
from babelscope.measure_steps import Cost, Probe, Project, Retrieve, SentenceSimilarity, Vocabulary
from babelscope.measures import cost, overlap
from babelscope.measures.projection import aligned_words, translation_share
from babelscope.measures.projection import project as project_states
from babelscope.measures.retrieval import retrieval_accuracy
from babelscope.measures.similarity import LanguageStates, similarity
from babelscope.steps import Tune
from babelscope.tasks.models import Design, task_model
from babelscope.tuning.observer import Observer
from babelscope.world import World


def probe(step: Probe, workspace: Workspace) -> None:
    """Write the probes of an encoder as it is: perplexities alone."""
    torch.set_num_threads(1)
    encoder = step.encoder.build(workspace)
    observer = Observer(
        step.probes,
        task_model(encoder, Design("mlm", max_length=step.max_length)),
        encoder,
        {},
        workspace,
        step.encoder.labels,
    )
    observer.observe(0, encoder.model)


def retrieve(step: Retrieve, workspace: Workspace) -> None:
    """Write the share of sentences whose translation is found, for every layer (0: the embeddings)."""
    torch.set_num_threads(1)
    encoder = step.encoder.build(workspace)
    parallel = World(step.world_seed).parallel([step.source, step.target], step.sentences)
    source, target = (
        sentence_states(encoder, [" ".join(one.sentences[code].forms) for one in parallel])
        for code in (step.source, step.target)
    )
    pair = f"world:{step.source}-{step.target}"
    labels = step.encoder.labels | {"task": "retrieval", "language": step.target, "dataset": pair}
    workspace.write_rows(
        Row("retrieval", float(share), "share", layer=layer, **labels)
        for layer, share in enumerate(retrieval_accuracy(source, target))
    )


def measure_similarity(step: SentenceSimilarity, workspace: Workspace) -> None:
    """Write how alike the source's sentences are to those of every other language, for every layer (0: the embeddings).

    Of first pieces the embeddings are left out: they are the same in all sentences.
    """
    torch.set_num_threads(step.threads)
    model = step.model
    encoder = model.tuned_encoder(workspace) if isinstance(model, Tune) else model.build(workspace)
    Module.to(encoder.model, step.device)
    lowest = 1 if step.pooling == "first" else 0

    def states(language: str, sentences: list[str]) -> LanguageStates:
        return LanguageStates(language, sentence_states(encoder, sentences, pooling=step.pooling)[lowest:])

    source, *targets = step.texts.read()
    of_source, rows = states("the source", source), []
    for (language, pair), sentences in zip(step.texts.pairs, targets, strict=True):
        of_target = states(language, sentences)
        for measure in step.measures:
            unit = "share" if "retrieval" in measure else ""
            values = similarity(measure, of_source, of_target).tolist()
            labels = step.labels | {"language": language, "dataset": pair}
            rows += [Row(measure, value, unit, layer=layer, **labels) for layer, value in enumerate(values, lowest)]
    workspace.write_rows(rows)


def compare_vocabulary(step: Vocabulary, workspace: Workspace) -> None:
    """Write what the two vocabularies share, and how this one covers each language."""
    tokenizer, reference = (one.build(workspace).tokenizer for one in (step.encoder, step.reference))
    labels = step.encoder.labels
    rows = [
        Row("pieces", len(tokenizer), "pieces"),
        Row("shared pieces", len(overlap.shared_pieces(tokenizer, reference)), "pieces"),
        Row("English-like pieces", len(overlap.english_like_pieces(tokenizer)), "pieces"),
    ]
    for data in step.texts:
        sentences = [sentence.forms for sentence in data.read()]
        covered = overlap.coverage(tokenizer, sentences)
        contexts = overlap.english_like_contexts(tokenizer, [" ".join(words) for words in sentences])
        shares = {"unknown words": covered.unknown, "characters covered": covered.characters}
        rows += [Row(name, share, "share").labelled(**data_labels(data)) for name, share in shares.items()]
        rows.append(Row("fertility", covered.fertility, "pieces a word").labelled(**data_labels(data)))
        if not math.isnan(contexts):
            rows.append(Row("English-like contexts", contexts, "share").labelled(**data_labels(data)))
    workspace.write_rows(row.labelled(**labels) for row in rows)


def measure_cost(step: Cost, workspace: Workspace) -> None:
    """Write parameters, seconds that the operations take, and how many times as fast the result is."""
    torch.set_num_threads(1)
    whole = step.encoder.encoder.build(workspace)
    began = time.process_time()
    operated = step.encoder.applied(whole, workspace)
    seconds = time.process_time() - began
    workspace.write_rows(
        row.labelled(**step.encoder.labels)
        for row in (
            Row("parameters", sum(weight.numel() for weight in operated.backbone.parameters()), "parameters"),
            Row("relative speed", cost.relative_speed(operated, whole), "times"),
            Row("seconds to make", seconds, "s of CPU"),
        )
    )


def project(step: Project, workspace: Workspace) -> None:
    """Write where t-SNE puts aligned words, and what share of all words is nearest to a translation, by layer."""
    torch.set_num_threads(1)
    encoder = step.encoder.build(workspace)
    parallel = World(step.world_seed).parallel([step.source, step.target], step.sentences)
    first, second = (
        word_states(encoder, [one.sentences[code].forms for one in parallel]) for code in (step.source, step.target)
    )
    aligned = aligned_words(parallel, step.source, step.target)
    pair = f"world:{step.source}-{step.target}"
    labels = step.encoder.labels | {"task": "projection"}
    shares = translation_share(first, second, aligned)
    rows = [
        Row("translation share", float(share), "share", layer=layer, language=step.target, dataset=pair, **labels)
        for layer, share in enumerate(shares)
    ]
    shown = aligned[: step.pairs]
    points = torch.cat([first[:, shown[:, 0]], second[:, shown[:, 1]]], dim=1)
    found = project_states(points, step.seed, library=step.library)
    for layer, places in enumerate(found.coordinates):
        for k, place in enumerate(places):
            language, word = (step.source, step.target)[k // len(shown)], k % len(shown)
            where = labels | {"layer": layer, "language": language, "dataset": f"{pair} {word}"}
            rows += [Row(f"t-SNE {axis}", float(value), **where) for axis, value in zip("xy", place, strict=True)]
    workspace.write_rows(rows)

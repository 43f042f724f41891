"""What a race has shown: which recipe is best, by how much and how sure, and what to do with it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from babelscope import trained
from babelscope.advise.race import Runner, best_direct, gain, leader, mean, score
from babelscope.advise.recipes import Recipe
from babelscope.advise.request import Request
from babelscope.report.findings import in_points, in_words
from babelscope.statistics import Interval
from babelscope.steps import Evaluate
from babelscope.store import Store
from babelscope.task_table import TASKS
from babelscope.verdicts import ADAPTED, AS_IT_IS, BILSTM, verdict


class Placed(NamedTuple):
    """A recipe at the end of the race."""

    recipe: Recipe
    rounds: int
    dev: Interval | None
    """None where it has failed at once."""
    test: Interval | None
    """None of one that was given up, unless it is the best that loads directly."""
    behind: Interval | None
    """How much better the best one is on the test set, over sentences and rounds; None of the best itself."""
    lost: str


class Outcome(NamedTuple):
    """The recipes from the best to the worst on the dev set, and what follows."""

    placed: list[Placed]
    verdicts: dict[str, str]
    """Encoder, as rows name it -> Easy, Intermediate or Hard."""
    direct: Placed
    """The best of those whose models transformers loads and that read the language as it is written."""
    key: str
    """Of the best round's model of it."""
    best_key: str
    """Of the best recipe of all."""
    store: Path
    """Where both are."""

    @property
    def best(self) -> Placed:
        """The best of all."""
        return self.placed[0]


def outcome_of(runners: Sequence[Runner], request: Request, store: Store) -> Outcome:
    """What the race has shown. The dev set has chosen; the test set says how good the choice is."""
    best = leader(runners, request, store)
    ran = [runner for runner in runners if runner.dev]
    by_dev = sorted(ran, key=lambda one: (bool(one.lost), -mean(one.dev, request, store)))
    by_dev += [runner for runner in runners if not runner.dev]
    placed = [_placed(one, best, request, store) for one in by_dev]
    direct = best_direct(runners, request, store)
    return Outcome(
        placed, _verdicts(runners, request, store), placed[by_dev.index(direct)],
        _best_round(direct, request, store).model.key, _best_round(best, request, store).model.key,
        store.folder,
    )  # fmt: skip


def export(outcome: Outcome, request: Request, store: Store, folder: Path) -> None:
    """Write the best model that loads directly as a Hugging Face folder with a model card."""
    trained.export(store, outcome.key, folder)
    (folder / "README.md").write_text(card(outcome, request), encoding="utf-8")


def card(outcome: Outcome, request: Request) -> str:
    """The model card: what it is, how good, how to use it, and what is better than it if anything is."""
    chosen, task = outcome.direct, TASKS[request.task]
    lines = [
        "---",
        f'language: "{request.language}"',  # unquoted, no is false
        *(["library_name: transformers", "pipeline_tag: token-classification"] if request.task == "pos" else []),
        "---",
        f"# {task.title} for `{request.language}`",
        "",
        f"{chosen.recipe.name}, tuned on the training sentences of `{request.treebank}`.",
        f"{task.measures[0]} on its test sentences: {scored_in_words(chosen)}, the mean over {chosen.rounds} "
        f"run{'s' if chosen.rounds > 1 else ''}.",
        "",
        *_warnings(outcome),
        "## Use",
        "",
        *_usage(request),
        "",
        "Chosen by Babelscope, which compared: " + "; ".join(one.recipe.name for one in outcome.placed) + ".",
    ]
    return "\n".join(lines) + "\n"


def scored_in_words(one: Placed) -> str:
    """The score on the test set, with its interval."""
    return in_words(one.test, "share") if one.test else "not known"


def better_one(outcome: Outcome) -> str:
    """What is better than the model that is exported, and how to use that; empty if nothing is."""
    best, direct = outcome.best, outcome.direct
    if best is direct:
        return ""
    how = "reads the language in other letters" if best.recipe.letters else "loads in Babelscope alone"
    store = shlex.quote(str(outcome.store))
    steps = [f"babelscope export {outcome.best_key[:12]} --store {store} -o better-model"]
    file = "FILE.conllu"
    if best.recipe.letters:
        file = "transliterated.conllu"
        steps.append(f"babelscope transliterate FILE.conllu --by {best.recipe.letters} -o {file}")
    steps.append(f"babelscope predict better-model {file} -o predicted.conllu")
    if best.recipe.letters:
        steps.append("babelscope transliterate predicted.conllu --restore -o restored.conllu")
    return f"{_better(best, direct)}, but {how}. To use it: " + "; ".join(f"`{step}`" for step in steps) + "."


def _better(best: Placed, direct: Placed) -> str:
    """The best recipe was chosen on the dev set; what the test set says of that."""
    if direct.behind is None or direct.behind.sign > 0:
        by = f" by {in_points(direct.behind)} on the test set" if direct.behind else ""
        return f"{best.recipe.name} is better{by}"
    said = "does not show" if direct.behind.sign == 0 else "is the reverse"
    return f"{best.recipe.name} was better on the dev set (on the test set that {said}: {in_points(direct.behind)})"


def _warnings(outcome: Outcome) -> list[str]:
    return [better_one(outcome), ""] if better_one(outcome) else []


def _usage(request: Request) -> list[str]:
    if request.task != "pos":
        return ["```sh", "babelscope predict . FILE.conllu -o PREDICTED.conllu", "```"]
    return [
        "```python", "from transformers import pipeline", "",
        'tag = pipeline("token-classification", model=".", aggregation_strategy="first")', "```",
    ]  # fmt: skip


def _placed(runner: Runner, best: Runner, request: Request, store: Store) -> Placed:
    test = score(runner.test, request, store) if runner.tested else None
    compared = runner is not best and runner.tested
    return Placed(
        runner.recipe, len(runner.dev), score(runner.dev, request, store) if runner.dev else None, test,
        gain(best.test, runner.test, request, store) if compared else None, runner.lost,
    )  # fmt: skip


def _verdicts(runners: Sequence[Runner], request: Request, store: Store) -> dict[str, str]:
    """Of each encoder in the language's own letters, on the dev sentences, since what is given up has no test score."""
    by_recipe = {runner.recipe: runner.dev for runner in runners}
    recurrent, found = by_recipe[Recipe(BILSTM, AS_IT_IS)], {}
    for encoder in request.encoders:
        plain, adapted = (by_recipe[Recipe(encoder, kind)] for kind in (AS_IT_IS, ADAPTED))
        if plain and adapted:
            decided = verdict(*(gain(side, recurrent, request, store) for side in (plain, adapted)))
            rounds = " and ".join(dict.fromkeys(str(len(side)) for side in (plain, adapted)))
            found[Recipe(encoder, AS_IT_IS).row_name] = f"{decided} (on dev sentences, rounds: {rounds})"
    return found


def _best_round(runner: Runner, request: Request, store: Store) -> Evaluate:
    return max(runner.dev, key=lambda one: mean([one], request, store))

"""Any graph of steps is run in order, each step once, whatever fails."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from babelscope.engine.agenda import Agenda
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan
from toy_steps import Toy, journal, value

Shape = list[tuple[int | None, int | None]]


@st.composite
def shapes(draw: st.DrawFn, largest: int) -> Shape:
    """For every step, which earlier steps are its inputs."""
    size = draw(st.integers(1, largest))
    return [tuple(draw(st.none() | st.integers(0, i - 1)) if i else None for _ in range(2)) for i in range(size)]


def graph(shape: Shape, outside: str) -> list[Toy]:
    steps: list[Toy] = []
    for i, (left, right) in enumerate(shape):
        steps.append(
            Toy(
                name=f"s{i}",
                outside=outside,
                left=None if left is None else steps[left],
                right=None if right is None else steps[right],
            )
        )
    return steps


def needed_by(step: Toy, has: set[str]) -> set[str]:
    """The slow and obvious rule: a missing result is needed, and so is what its inputs need."""
    if step.key in has:
        return set()
    return {step.key}.union(*(needed_by(i, has) for i in step.inputs if isinstance(i, Toy)))


@settings(max_examples=200, deadline=None)
@given(shapes(9), st.data())
def test_agenda_laws(shape: Shape, data: st.DataObject) -> None:
    steps = graph(shape, "")
    targets = data.draw(st.lists(st.sampled_from(steps), min_size=1, unique=True))
    has = {step.key for step in data.draw(st.sets(st.sampled_from(steps)))}
    plan = Plan.of(targets)
    last = [step for step in steps if step.key in plan.steps and not any(step in s.inputs for s in plan.steps.values())]
    needed = set().union(*(needed_by(step, has) for step in last))
    agenda = Agenda(plan, lambda key: key in has)
    assert agenda.unfinished == needed
    running: list[str] = []
    done, failed, blocked = set(has), set(), set()
    while agenda.unfinished:
        while agenda.has_ready and (not running or data.draw(st.booleans())):
            running.append(agenda.take())
            assert {i.key for i in plan.steps[running[-1]].inputs} <= done
        key = running.pop(data.draw(st.integers(0, len(running) - 1)))
        assert key not in done | failed | blocked
        if data.draw(st.integers(0, 4)):
            agenda.finish(key)
            done.add(key)
        else:
            failed.add(key)
            taken_off = agenda.fail(key)
            assert not blocked & set(taken_off) and len(set(taken_off)) == len(taken_off)
            blocked |= set(taken_off)
    assert not running and not agenda.has_ready
    assert needed == (done - has) | failed | blocked
    downstream = {key for key in needed if any(i.key in failed | blocked for i in plan.steps[key].inputs)}
    assert downstream == blocked


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shape=shapes(8))
def test_any_graph_runs_in_order_each_step_once(tmp_path_factory: pytest.TempPathFactory, shape: Shape) -> None:
    folder = tmp_path_factory.mktemp("graph")
    steps = graph(shape, str(folder))
    store = Store(folder / "store")
    outcome = run_plan(Plan.of(steps), store, jobs=2)
    order = [line.split()[0] for line in journal(folder)]
    assert sorted(order) == sorted(step.name for step in steps) and len(outcome.computed) == len(steps)
    for step in steps:
        assert all(order.index(needed.name) < order.index(step.name) for needed in step.inputs)
        assert store.rows(step.key)[0].value == value(step)

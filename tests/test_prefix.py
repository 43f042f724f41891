import numpy as np
import pytest
import torch

from babelscope.core.examples import SentencePair
from babelscope.tasks.classify import Classification, Classifier
from babelscope.tasks.tag import Tagging
from babelscope.tuning.bypass import Bypass
from babelscope.tuning.checkpoint import module_weights
from babelscope.tuning.freezing import layers_of, trained_part
from babelscope.tuning.loop import tune
from babelscope.tuning.memo import StateMemo
from babelscope.tuning.prefix import Recall, layer_digests, recalling
from babelscope.tuning.schedule import parse_schedule
from families import family_model
from taggers import FAMILIES, LAYERS, QUICK, Notes, StoppedError, a_tagger, family_encoder, stop_at


def trained(tokenizer, tagged, folder, text="freeze:2", memo=None, family="bert", **options):
    tagger = a_tagger(family_encoder(family, tokenizer))
    task = Tagging(tagger, tagged[:40], {"qaa": tagged[40:]})
    history = tune(tagger, task, QUICK, 0, folder, schedule=parse_schedule(text), memo=memo, **options)
    return module_weights(tagger), history


def equal(first, second):
    return all(torch.equal(first[name], tensor) for name, tensor in second.items())


@pytest.fixture
def computed(monkeypatch):
    """How often a layer was computed for the memo: (first layer, last layer), one entry a sequence."""
    ranges, between = [], Bypass.between

    def counted(self, start, end, states, inputs):
        ranges.extend([(start, end)] * len(inputs["input_ids"]))
        return between(self, start, end, states, inputs)

    monkeypatch.setattr(Bypass, "between", counted)
    return ranges


# --- the same results


@pytest.mark.parametrize("family", FAMILIES)
def test_recalled_layers_give_what_computed_ones_give(family, tokenizer, tagged, tmp_path):
    tagger = a_tagger(family_encoder(family, tokenizer))
    task, schedule = Tagging(tagger, tagged[:20]), parse_schedule("freeze:2")
    batch = task.batch(np.arange(20), torch.Generator())
    with trained_part(tagger, schedule, [1], 0):
        tagger.eval()
        plain = tagger(batch.batch, batch.firsts)
        with recalling(tagger, schedule, StateMemo(), task.lengths, tmp_path) as paused:
            for _ in range(2):  # what is new, then what is known
                torch.testing.assert_close(tagger(batch.batch, batch.firsts), plain, atol=1e-4, rtol=1e-4)
            with paused():
                assert torch.equal(tagger(batch.batch, batch.firsts), plain)
            spoiled = layers_of(tagger.backbone)[1]
            for parameter in spoiled.parameters():
                parameter.data.fill_(float("nan"))  # is not computed any more
            torch.testing.assert_close(tagger(batch.batch, batch.firsts), plain, atol=1e-4, rtol=1e-4)
        assert tagger(batch.batch, batch.firsts).isnan().all()


@pytest.mark.parametrize("family", ["bert", "modernbert", "gpt2"])
def test_scores_are_equal_with_and_without(family, tokenizer, tagged, tmp_path):
    with_memo, without = (
        trained(tokenizer, tagged, tmp_path / str(number), memo=memo, family=family)
        for number, memo in enumerate([StateMemo(), None])
    )
    for one, other in zip(with_memo[1].points, without[1].points, strict=True):
        assert one[:3] == other[:3]
        assert one.value == pytest.approx(other.value, abs=1e-3)
    scores = [[point.value for point in run[1].points if point.split == "dev qaa"] for run in (with_memo, without)]
    assert scores[0] == scores[1]


def test_the_batch_in_which_a_sequence_is_met_has_no_part_in_its_states(tokenizer, tagged):
    tagger = a_tagger(family_encoder("bert", tokenizer)).eval()
    task = Tagging(tagger, tagged[:12])

    def states_of_batches(*batches):
        """[sequences]: what is kept of each, after all of them were read in one order."""
        recall, found = Recall(tagger.backbone, StateMemo(), 2), {}
        with recall.learning():
            task.loss(tagger, task.batch(np.arange(12), torch.Generator()))
        for batch in batches:
            one = task.batch(np.array(batch), torch.Generator()).batch
            states = recall.states(one.ids, one.attention_mask, None)
            found |= {index: row[: task.lengths[index]] for index, row in zip(batch, states, strict=True)}
        recall.remove()
        return [found[index] for index in range(12)]

    together = states_of_batches(range(12))
    apart = states_of_batches([3], [11, 4, 5], [0, 1, 2, 6, 7], [9, 8, 10])
    assert all(torch.equal(one, other) for one, other in zip(together, apart, strict=True))


def test_types_are_a_part_of_a_sequence(tokenizer, tmp_path):
    """Two texts of the same pieces, which the types alone tell apart."""
    encoder = family_encoder("bert", tokenizer)
    classifier = Classifier(encoder, ("yes", "no"), dropout=0.0)
    schedule, memo = parse_schedule("freeze:2"), StateMemo()
    pairs = [("the cat", "the dog sees"), ("the cat the", "dog sees")]
    pieces = classifier.encode([*pairs, *pairs])
    batch = pieces.batch(np.arange(4))
    assert not torch.equal(batch.types[0], batch.types[1])
    same = batch._replace(ids=batch.ids[:1].expand_as(batch.ids), real=batch.real[:1].expand_as(batch.real))
    with trained_part(classifier, schedule, [1], 0):
        classifier.eval()
        plain = classifier(same)
        with recalling(classifier, schedule, memo, pieces.lengths, tmp_path):
            torch.testing.assert_close(classifier(same), plain, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(plain[0], plain[1], atol=1e-5)


def test_the_familys_own_head_recalls_too(tokenizer, tmp_path):
    examples = [SentencePair(f"the {noun} sees", "the dog", "yes" if "c" in noun else "no") for noun in ("cat", "bird")]
    histories = []
    for number, memo in enumerate([StateMemo(), None]):
        torch.manual_seed(0)
        classifier = Classifier(family_encoder("bert", tokenizer), ("yes", "no"), head="family")
        task, schedule = Classification(classifier, examples * 4, {"qaa": examples}), parse_schedule("freeze:2")
        histories.append(tune(classifier, task, QUICK, 0, tmp_path / str(number), schedule=schedule, memo=memo))
    for one, other in zip(histories[0].points, histories[1].points, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-3)


# --- computed once


def test_a_sweep_computes_each_layer_once_a_sequence(tokenizer, tagged, tmp_path, computed):
    memo = StateMemo()
    sequences = len({tuple(one.words) for one in tagged})
    alone = trained(tokenizer, tagged, tmp_path / "alone", "freeze:2", StateMemo())
    assert computed == [(0, 2)] * sequences
    computed.clear()
    trained(tokenizer, tagged, tmp_path / "0", "freeze:0", memo)
    assert computed == []
    trained(tokenizer, tagged, tmp_path / "1", "freeze:1", memo)
    assert computed == [(0, 1)] * sequences
    after_another = trained(tokenizer, tagged, tmp_path / "2", "freeze:2", memo)
    assert computed[sequences:] == [(1, 2)] * sequences
    trained(tokenizer, tagged, tmp_path / "3", f"freeze:{LAYERS}", memo)  # the last layer is always computed
    assert len(computed) == 2 * sequences
    # What other runs have left in the memo has no part in the result.
    assert equal(alone[0], after_another[0])
    assert alone[1] == after_another[1]


def test_fewer_layers_and_other_weights_begin_anew(tokenizer, tagged, tmp_path, computed):
    memo = StateMemo()
    sequences = len({tuple(one.words) for one in tagged})
    trained(tokenizer, tagged, tmp_path / "2", "freeze:2", memo)
    trained(tokenizer, tagged, tmp_path / "1", "freeze:1", memo)
    assert computed == [(0, 2)] * sequences + [(0, 1)] * sequences
    computed.clear()
    trained(tokenizer, tagged, tmp_path / "other", "freeze:2", memo, "roberta")
    assert computed == [(0, 2)] * sequences


def test_digests_follow_the_weights_below():
    model = family_model("bert", layers=LAYERS).base_model
    before = layer_digests(model, 3)
    assert len(set(before)) == 4
    assert layer_digests(model, 2) == before[:3]
    next(layers_of(model)[1].parameters()).data[0] += 1
    after = layer_digests(model, 3)
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, True, False, False]
    model.get_input_embeddings().weight.data[0] += 1
    assert not set(layer_digests(model, 3)) & set(after)


def test_digests_follow_the_threads_which_change_last_digits():
    model, threads = family_model("bert", layers=LAYERS).base_model, torch.get_num_threads()
    before = layer_digests(model, 3)
    torch.set_num_threads(threads + 1)
    try:
        assert not set(layer_digests(model, 3)) & set(before)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("text", ["freeze:-1", "freeze:0", "gradual:groups=3,every=3", "freeze:2,frozen_dropout=true"])
def test_nothing_is_kept_of_what_changes(text, tokenizer, tagged, tmp_path, computed):
    kept = trained(tokenizer, tagged, tmp_path / "kept", text, StateMemo())
    assert computed == []
    assert equal(kept[0], trained(tokenizer, tagged, tmp_path / "plain", text)[0])


def test_a_resumed_run_has_the_same_bits(tokenizer, tagged, tmp_path):
    whole = trained(tokenizer, tagged, tmp_path / "whole", memo=StateMemo())
    with pytest.raises(StoppedError):
        trained(tokenizer, tagged, tmp_path / "stopped", memo=StateMemo(), progress=stop_at(4), checkpoint_seconds=0.0)
    resumed = trained(tokenizer, tagged, tmp_path / "stopped", memo=StateMemo(), checkpoint_seconds=0.0)
    assert equal(whole[0], resumed[0])
    assert whole[1] == resumed[1]


def test_a_watch_sees_all_layers(tokenizer, tagged, tmp_path):
    class Layers(Notes):
        def observe(self, step, model):
            ids = torch.tensor([[2, 5, 6, 3]])
            states = model.backbone(input_ids=ids, output_hidden_states=True).hidden_states
            self.seen.append((step, torch.stack(states)))

    notes = Layers(3)
    watched = trained(tokenizer, tagged, tmp_path / "watched", memo=StateMemo(), watch=notes)
    assert equal(watched[0], trained(tokenizer, tagged, tmp_path / "alone", memo=StateMemo())[0])
    start, end = notes.seen[0][1], notes.seen[-1][1]
    assert [torch.equal(one, other) for one, other in zip(start, end, strict=True)] == [True, True, True, False]
    assert all(not torch.equal(start[layer], start[layer + 1]) for layer in range(LAYERS))


def test_the_model_is_left_as_it_was(tokenizer, tagged, tmp_path):
    tagger = a_tagger(family_encoder("bert", tokenizer))
    task = Tagging(tagger, tagged)
    tune(tagger, task, QUICK, 0, tmp_path, schedule=parse_schedule("freeze:2"), memo=StateMemo())
    assert not any("forward" in vars(module) for module in tagger.modules())
    assert not tagger.backbone._forward_pre_hooks
    assert [path.name for path in tmp_path.iterdir()] == ["best.safetensors"]


# --- budgets


def states_of(length, value):
    return torch.full((length, 4), float(value))


def test_memory_then_file_then_no_more(tmp_path):
    size = states_of(3, 0).nbytes
    memo = StateMemo(memory=2 * size, file=2 * size)
    assert memo.open(["a", "b", "c"], 4 * size, tmp_path)
    for number in range(5):
        memo.put(bytes([number]), 1, states_of(3, number))
    for number in range(4):
        known = memo.get(bytes([number]))
        assert known.depth == 1
        assert torch.equal(known.states, states_of(3, number))
    assert memo.get(bytes([4])) is None
    for number in range(4):  # replaced where they are
        memo.put(bytes([number]), 2, states_of(3, number + 10))
    assert [memo.get(bytes([number])).states[0, 0].item() for number in range(4)] == [10, 11, 12, 13]
    assert {memo.get(bytes([number])).depth for number in range(4)} == {2}
    assert list(tmp_path.iterdir()) == []  # the file has no name


def test_other_runs_states_make_room(tmp_path):
    size = states_of(3, 0).nbytes
    memo = StateMemo(memory=size, file=size)
    for first in (0, 2):
        assert memo.open(["a", "b"], 2 * size, tmp_path)
        for number in (first, first + 1):
            memo.put(bytes([number]), 1, states_of(3, number))
        assert all(torch.equal(memo.get(bytes([n])).states, states_of(3, n)) for n in (first, first + 1))
    assert memo.get(bytes([0])) is None


def test_data_beyond_the_budgets_are_not_begun_with(tokenizer, tagged, tmp_path, computed):
    small = trained(tokenizer, tagged, tmp_path / "small", memo=StateMemo(memory=1000, file=1000))
    assert computed == []
    assert equal(small[0], trained(tokenizer, tagged, tmp_path / "plain")[0])


def test_a_full_disk_is_no_failure(tmp_path, monkeypatch):
    def full(*_):
        raise OSError("No space left on device")

    memo = StateMemo(memory=0)
    memo.open(["a", "b"], 0, tmp_path)
    memo.put(b"0", 1, states_of(3, 0))
    monkeypatch.setattr("os.pwrite", full)
    memo.put(b"1", 1, states_of(3, 1))
    memo.put(b"0", 2, states_of(3, 2))
    assert memo.get(b"0") is memo.get(b"1") is None


def test_a_file_serves_as_well_as_memory(tokenizer, tagged, tmp_path):
    in_file = trained(tokenizer, tagged, tmp_path / "file", memo=StateMemo(memory=0))
    in_memory = trained(tokenizer, tagged, tmp_path / "memory", memo=StateMemo())
    assert equal(in_file[0], in_memory[0])

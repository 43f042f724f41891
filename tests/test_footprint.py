"""How much memory a training is expected to take, against what torch keeps of one."""

import json

import pytest
import torch

from babelscope.core.errors import InputError
from babelscope.encoders.footprint import CONTEXT, MARGIN, STATES, Footprint, footprint
from babelscope.encoders.load import load_encoder, save_encoder
from babelscope.encoders.pieces import Batch
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.measures.models import OfModel
from babelscope.steps.encoder import Load, Operate
from babelscope.steps.evaluate import Evaluate
from babelscope.steps.memory import ROOM, in_portions, memory_of
from babelscope.steps.pretrain import Adapt
from babelscope.steps.tune import Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.study.transfer import Transfer
from babelscope.tuning.settings import Tuning
from families import FAMILIES
from taggers import family_encoder

ROWS, LENGTH = 8, 24


@pytest.fixture
def wide(tokenizer):
    """Wide and deep enough that layers are most of it."""
    shape = Shape(hidden=128, layers=4, heads=4, feed_forward=512, positions=LENGTH, dropout=0.1)
    return new_encoder(shape, tokenizer, 0, "wide")


def kept_bytes(encoder):
    """Of all that torch keeps for the gradient of a forward pass, weights left out."""
    weights = {weight.data_ptr() for weight in encoder.model.parameters()}
    sizes: dict[int, int] = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if tensor.data_ptr() not in weights:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    real = torch.ones(ROWS, LENGTH, dtype=torch.bool)
    batch = Batch(torch.randint(5, 60, (ROWS, LENGTH)), real, padded=False)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        states = encoder.backbone.train()(input_ids=batch.ids).last_hidden_state
    assert states.requires_grad
    return sum(sizes.values())


def test_a_layer_keeps_about_what_is_expected(wide, tmp_path):
    save_encoder(wide, tmp_path / "wide")
    shape = footprint(str(tmp_path / "wide"))
    expected = 4 * shape.layers * shape.kept(ROWS * LENGTH, LENGTH)
    assert 0.6 * expected < kept_bytes(wide) < 1.1 * expected


def test_weights_are_those_of_the_matrices(wide, tmp_path):
    save_encoder(wide, tmp_path / "wide")
    shape = footprint(str(tmp_path / "wide"))
    assert shape == Footprint(4, 128, 4, 512, len(wide.tokenizer))
    counted = sum(weight.numel() for weight in load_encoder(tmp_path / "wide").backbone.parameters())
    assert shape.weights == pytest.approx(counted, rel=0.03)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_shape_of_every_family_is_seen(family, tokenizer, tmp_path):
    save_encoder(family_encoder(family, tokenizer), tmp_path / family)
    shape = footprint(str(tmp_path / family))
    assert (shape.layers, shape.width, shape.heads, shape.vocabulary) == (3, 32, 2, len(tokenizer))


def test_a_width_that_gpt2_leaves_null_is_what_its_layers_have(tokenizer, tmp_path):
    encoder = family_encoder("gpt2", tokenizer)
    save_encoder(encoder, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["n_inner"] is None
    assert footprint(str(tmp_path)).feed_forward == encoder.model.h[0].mlp.c_fc.weight.shape[1]


@pytest.mark.parametrize("config", [{}, {"n_layer": 2, "n_embd": None, "n_head": 2, "n_inner": None, "vocab_size": 9}])
def test_what_cannot_be_seen_is_not_known(tmp_path, config):
    assert footprint(str(tmp_path / "none")) is None
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert footprint(str(tmp_path)) is None


BASE = Footprint(12, 768, 12, 3072, 30_522)


def test_bert_of_base_size_fits_where_people_train_it():
    """Batches of 32 times 128 in float32 on 16 GB, as is usual; with layers computed again on 8 GB."""
    whole = BASE.training(32 * 128, 128, "float32", recompute=False)
    assert 6e9 < whole < 16e9
    assert BASE.training(32 * 128, 128, "float32", recompute=True) < 8e9
    assert BASE.training(32 * 128, 128, "bfloat16", recompute=False) < whole
    assert BASE.training(1, 1, "float32", recompute=False) == pytest.approx(
        MARGIN * STATES * BASE.weights + CONTEXT, rel=0.01
    )


def test_a_tuning_needs_what_its_portions_take(wide, tmp_path):
    save_encoder(wide, tmp_path / "wide")
    load = Load(name="wide", content="0", place=str(tmp_path / "wide"))
    operated = Operate(encoder=load, surgery="none", operations=(), seed=0)
    shape = footprint(load.place)

    def memory(**settings):
        return memory_of(operated, Tuning(steps=1, **settings))

    assert memory(tokens_per_batch=4096, max_length=64) == shape.training(4096, 64, "float32", False)
    assert memory(examples_per_batch=32, max_length=64) == shape.training(32 * 64, 64, "float32", False)
    assert memory(examples_per_batch=32, max_length=64, micro_tokens=256) == shape.training(256, 64, "float32", False)
    assert memory(tokens_per_batch=16, max_length=64) == shape.training(64, 64, "float32", False)
    assert memory_of(Load(name="x", content="0", place="no/such"), Tuning(steps=1)) == 0
    tune = Tune(encoder=load, task="pos", train=(), dev=(), tuning=Tuning(steps=1), seed=0)
    assert (tune.needs.gpus, tune.needs.gpu_memory) == (0, 0)
    on_gpu = tune.model_copy(update={"tuning": Tuning.model_construct(**{**dict(Tuning(steps=1)), "device": "cuda"})})
    assert (on_gpu.needs.gpus, on_gpu.needs.gpu_memory) == (1, memory_of(load, Tuning(steps=1)))


def test_logits_of_a_large_vocabulary_count_where_words_are_predicted():
    """As those of XLM-R do: 15% of the tokens are predicted, each among 250,002."""
    shape = footprint("shape:xlm-r")
    more = shape.training(16_384, 128, "bfloat16", False, 0.15) - shape.training(16_384, 128, "bfloat16", False)
    assert more == pytest.approx(MARGIN * 12 * 0.15 * 16_384 * 250_002)
    load, tuning = (
        Load(name="x", content="0", place="shape:xlm-r"),
        on_cuda(micro_tokens="auto", tokens_per_batch=8192, max_length=256, precision="bfloat16"),
    )
    assert (in_portions(tuning, load, 0.15).micro_tokens, in_portions(tuning, load).micro_tokens) == (4096, None)


def test_what_is_made_on_a_gpu_needs_what_its_training_takes_and_what_reads_with_it_a_usual_batch():
    """So that small ones share one, and so do evaluations of what was trained on large batches."""
    load, tuning = Load(name="x", content="0", place="shape:minilm"), on_cuda()
    adapt = Adapt(name="a", encoder=load, texts=(), masking=0.3, tuning=tuning, seed=0)
    assert adapt.needs.gpu_memory == memory_of(load, tuning, 0.3) > memory_of(load, tuning) > 0
    tune = Tune(encoder=load, task="mlm", train=(), dev=(), tuning=tuning, seed=0)
    assert tune.needs.gpu_memory == memory_of(load, tuning, 0.15)
    extended = adapt.model_copy(update={"new_pieces": 1000})
    assert extended.needs.gpu_memory == memory_of(extended, tuning, 0.3) > adapt.needs.gpu_memory
    measured = [OfModel.model_construct(model=model, device="cuda", threads=1).needs for model in (load, adapt, tune)]
    assert [needs.gpu_memory for needs in measured] == [memory_of(load, tuning)] * 2 + [tune.needs.gpu_memory]
    large = tune.model_copy(update={"tuning": on_cuda(examples_per_batch=32, max_length=500)})
    read = Evaluate.model_construct(model=large)
    assert read.needs == OfModel.model_construct(model=large).needs == tune.needs != large.needs
    assert Adapt(name="a", encoder=load, texts=(), masking=0.3, tuning=Tuning(steps=1), seed=0).needs.gpu_memory == 0


def on_cuda(**settings):
    """Settings of an accelerator that need not be there."""
    tuning = Tuning(steps=1, **settings)
    return tuning.model_construct(**{**dict(tuning), "device": "cuda"})


@pytest.mark.parametrize(
    ("layers", "width", "settings", "at_once"),
    [
        (2, 64, {"examples_per_batch": 32, "max_length": 128}, None),
        (24, 1024, {"examples_per_batch": 32, "max_length": 128}, 2048),
        (24, 1024, {"examples_per_batch": 32, "max_length": 128, "recompute": True}, None),
        (24, 1024, {"tokens_per_batch": 10_000, "max_length": 500}, 1250),
        (80, 8192, {"examples_per_batch": 4, "max_length": 200}, 200),
    ],
)
def test_auto_is_the_largest_portion_that_sixteen_gigabytes_hold(tmp_path, layers, width, settings, at_once):
    """A batch, halved as often as it takes; of what never fits, a sequence."""
    sizes = {"num_hidden_layers": layers, "hidden_size": width, "num_attention_heads": width // 64}
    config = {**sizes, "intermediate_size": 4 * width, "vocab_size": 30_000}
    (tmp_path / "config.json").write_text(json.dumps(config))
    load = Load(name="made up", content=str(tmp_path), place=str(tmp_path))
    tuning = on_cuda(micro_tokens="auto", **settings)
    resolved = in_portions(tuning, Operate(encoder=load, surgery="none", operations=(), seed=0))
    assert resolved == tuning.model_copy(update={"micro_tokens": at_once})
    shape, length = footprint(str(tmp_path)), settings["max_length"]
    whole = settings.get("tokens_per_batch") or length * settings["examples_per_batch"]

    def fits(tokens):
        return shape.training(tokens, length, "float32", tuning.recompute) <= ROOM

    halves = [whole // 2**n for n in range(20) if whole // 2**n >= length]
    assert (at_once or whole) == max(filter(fits, halves), default=length)


def test_auto_is_a_batch_on_a_processor_and_where_no_shape_is_seen():
    load = Load(name="x", content="0", place="no/such")
    for tuning in (Tuning(steps=1, micro_tokens="auto"), on_cuda(micro_tokens="auto")):
        assert in_portions(tuning, load).micro_tokens is None
    assert in_portions(Tuning(steps=1, micro_tokens=300), load).micro_tokens == 300
    with pytest.raises(InputError, match="give a number"):
        Tuning(steps=1, micro_tokens="auto").at_once  # noqa: B018


def test_auto_is_resolved_in_plans_and_refused_where_nothing_estimates_the_memory():
    declared = {"task": "pos", "train": ["world:qaa"], "evaluate": ["world:qab"], "tuning": {"micro_tokens": "auto"}}
    study = {"name": "s", "question": "?", "encoders": ["world-natural"], "tasks": {"pos": declared}, "seeds": [0]}
    tunings = [step.tuning for step in compile_study(Study.model_validate(study)).steps.values() if type(step) is Tune]
    assert [tuning.micro_tokens for tuning in tunings] == [None]
    pretrained = {"name": "p", "texts": ["ntrex:nl"], "tuning": {"micro_tokens": "auto"}}
    with pytest.raises(ValueError, match="micro_tokens: auto is for encoders that are tuned"):
        Study.model_validate(study | {"encoders": [pretrained]})


@pytest.mark.parametrize(
    ("task", "given", "compiled"),
    [
        ("pos", {}, [True]),
        ("pos", {"schedules": ["freeze:2"]}, [False]),
        ("acceptability", {"head": "pooler"}, [True]),
        ("acceptability", {"head": "family"}, [False]),
    ],
)
def test_what_cannot_be_compiled_is_not_taken_for_another_training(task, given, compiled):
    tuning = {"compile": True, "device": "cuda", "precision": "bfloat16"}
    head = {"head": given["head"]} if "head" in given else {}
    tasks = {task: {"train": ["world:qaa"], "evaluate": ["world:qab"], "tuning": tuning, **head}}
    schedules = {"schedules": given["schedules"]} if "schedules" in given else {}
    study = {"name": "s", "encoders": ["world-natural"], "tasks": tasks, "seeds": [0], **schedules}
    tunings = [step.tuning for step in compile_study(Study.model_validate(study)).steps.values() if type(step) is Tune]
    assert [tuning.compile for tuning in tunings] == compiled


@pytest.mark.parametrize("given", [{"micro_tokens": "auto"}, {"micro_tokens": 300}, {"recompute": True}], ids=str)
def test_a_bilstm_that_saves_memory_is_refused_as_it_is_declared(given):
    """Which it cannot; it was refused in the run."""
    with pytest.raises(ValueError, match="a BiLSTM is trained on whole batches"):
        Transfer(train=("world:qaa",), evaluate=("world:qab",), recurrent={"steps": 1, **given})

"""Fixtures: a language small enough to look through, a tokenizer for it, and an encoder of two layers."""

from __future__ import annotations

import gc
import os
import random
import shutil
import tempfile
from importlib.util import find_spec

# Set before torch is imported anywhere: one thread, unless another number is asked for; no network, no chatter.
os.environ["OMP_NUM_THREADS"] = os.environ.get("TEST_THREADS", "1")
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"
# Nothing that earlier runs have kept; those that pytest starts share the folder, which goes when it ends.
if "BABELSCOPE_CACHE" not in os.environ:
    CACHES = tempfile.TemporaryDirectory(prefix="babelscope-tests-")
    os.environ["BABELSCOPE_CACHE"] = CACHES.name

import hypothesis
import pytest

# Tests end processes, never the machine: what they write need not reach the disk, for which each file would wait.
os.fsync = lambda descriptor: None
# Few tests leave garbage, and looking for it among the objects of all libraries takes a tenth of their time.
gc.set_threshold(50_000, 20, 100)
# Studies that tests run compute in one process, whose imports take longer than most of their steps.
os.sched_getaffinity = lambda process: {0}

# Busy machines are no failure; in continuous integration the same commit draws the same cases.
hypothesis.settings.register_profile("project", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("project")

NOUNS = ["cat", "dog", "bird", "fish", "tree", "house", "кот"]
VERBS = ["sees", "likes", "finds", "carries", "видит"]
ADJECTIVES = ["small", "big", "old", "green"]


def tagged_sentence(chance: random.Random) -> tuple[list[str], list[str]]:
    """A sentence such as "the small cat sees the tree ." with its parts of speech."""
    words, labels = [], []
    for _ in range(2):
        pairs = [("the", "DET")] + [(chance.choice(ADJECTIVES), "ADJ")] * chance.randint(0, 2)
        pairs += [(chance.choice(NOUNS), "NOUN"), (chance.choice(VERBS), "VERB")]
        words += [word for word, _ in pairs]
        labels += [label for _, label in pairs]
    return [*words[:-1], "."], [*labels[:-1], "PUNCT"]


@pytest.fixture(scope="session")
def tagged():
    """Sixty tagged sentences of 6 to 10 words."""
    from babelscope.core.examples import Tagged

    chance = random.Random(0)
    return [Tagged(*tagged_sentence(chance)) for _ in range(60)]


@pytest.fixture(scope="session")
def sentences(tagged):
    return [" ".join(sentence.words) for sentence in tagged]


@pytest.fixture(scope="session")
def tokenizer(sentences):
    """A vocabulary of about a hundred pieces, so that long words are cut into several."""
    from babelscope.encoders.tokenizer import train_wordpiece

    return train_wordpiece(sentences, 90)


@pytest.fixture(scope="session")
def other_tokenizer(sentences):
    """A vocabulary that shares characters and some words with `tokenizer`."""
    from babelscope.encoders.tokenizer import train_wordpiece

    return train_wordpiece([sentence.replace("s", "z").upper() + " the cat" for sentence in sentences], 80)


@pytest.fixture(scope="session")
def encoder(tokenizer):
    """An untrained BERT of 2 layers of 32 with 24 positions. Shared: tests must not change it."""
    from babelscope.encoders.shape import Shape, new_encoder

    shape = Shape(hidden=32, layers=2, heads=2, feed_forward=64, positions=24)
    return new_encoder(shape, tokenizer, seed=0, name="tiny")


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory):
    """The folder of an untrained BERT of 2 layers of 32 that knows the scripts of the world's languages."""
    from babelscope.encoders.load import save_encoder
    from babelscope.encoders.shape import Shape, new_encoder
    from babelscope.encoders.tokenizer import train_wordpiece
    from babelscope.world import FAMILY, World

    world = World()
    pieces = train_wordpiece((line for code in FAMILY for line in world.text(code, 20)), 400)
    shape = Shape(hidden=32, layers=2, heads=2, feed_forward=64, positions=32)
    folder = tmp_path_factory.mktemp("encoders") / "tiny"
    save_encoder(new_encoder(shape, pieces, seed=0, name="tiny"), folder)
    return folder


@pytest.fixture
def store(tmp_path):
    """A store that nothing was written to yet."""
    from babelscope.engine.store import Store

    return Store(tmp_path / "store")


@pytest.fixture
def outside(tmp_path):
    """A folder beside the store, where toy steps leave traces of their runs."""
    (tmp_path / "outside").mkdir()
    return tmp_path / "outside"


@pytest.fixture
def gate(outside):
    """What lets gated toy steps go on, and says that one has begun."""
    from toy_steps import Gate

    opened = Gate(outside)
    yield opened
    os.close(opened.started)
    os.close(opened.gate)


@pytest.fixture(scope="session")
def bucket():
    """The port of a server with a bucket of S3, on this machine."""
    import bucket_server

    if not (find_spec("moto") and find_spec("obstore")):
        pytest.skip("needs obstore, and moto with its server")
    with bucket_server.bucket() as port:
        yield port


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium, driven by playwright. No longer than a module, since its event loop runs meanwhile."""
    if not (chromium := shutil.which("chromium")):
        pytest.skip("no chromium on this machine; install Debian's package chromium to test pages")
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=chromium, args=flags) as opened:
        yield opened


@pytest.fixture(params=["folder", "bucket"])
def address(request, tmp_path, monkeypatch):
    """Of a store that machines share without locks; who opens it by this alone has a folder here, too."""
    import bucket_server

    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path / "cache"))
    if request.param == "folder":
        return f"file://{tmp_path / 'shared'}"
    for name, setting in bucket_server.environment(request.getfixturevalue("bucket")).items():
        monkeypatch.setenv(name, setting)
    return f"s3://{bucket_server.BUCKET}/{tmp_path.name}"


@pytest.fixture
def machine(address, tmp_path):
    """Gives what a machine, by its name, sees of that store; each has a folder of its own."""
    from babelscope.engine.sharing.cache import Cache
    from babelscope.engine.sharing.remote import RemoteStore

    return lambda name: RemoteStore(address, cache=Cache(tmp_path / name / "store"))


@pytest.fixture(scope="module")
def in_process():
    """Lets studies compute their steps in this process; for tests of what they find."""
    from babelscope.engine import local, run
    from in_process import InProcess

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(local, "LocalCrew", InProcess)
        patched.setattr(run, "LocalCrew", InProcess)
        yield


@pytest.fixture(scope="module")
def short():
    """Recipes of advice read few sentences no more often than many; for tests of something else."""
    from babelscope.advise import steps

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(steps, "LEAST_READ", 1)
        yield


@pytest.fixture(scope="module")
def language_folder(tmp_path_factory):
    """What there is of a language for advice: text, trees, entities."""
    from language_files import written_to

    return written_to(tmp_path_factory.mktemp("language"))


@pytest.fixture
def request_(language_folder, encoder_folder):
    """A request for advice on it, with a tiny encoder."""
    from language_files import request_on

    return request_on(language_folder, encoder_folder)

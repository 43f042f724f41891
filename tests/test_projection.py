"""Projections, the share of words nearest to their translation, and the pictures of both."""

import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from sklearn.neighbors import NearestNeighbors

from babelscope.core.errors import InputError
from babelscope.measures.formulas.projection import aligned_words, project, translation_share
from babelscope.report.sections.projection.pictures import draw_projection
from babelscope.world import World

LIBRARIES = ["openTSNE", "scikit-learn"]
NO_PAIRS = np.zeros((0, 2), dtype=np.int64)


def random_states(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def two_clusters() -> torch.Tensor:
    """[2, 24, 8]: twelve states around each of two directions, in every layer."""
    centres = torch.eye(8)[:2].repeat_interleave(12, dim=0)
    return centres + 0.05 * random_states(0, 2, 24, 8)


# --- the projection


@pytest.mark.parametrize("library", LIBRARIES)
def test_near_states_are_near_in_the_plane(library):
    found = project(two_clusters(), 0, library=library)
    assert found.coordinates.shape == (2, 24, 2)
    assert found.library == library
    for layer in found.coordinates:
        neighbours = NearestNeighbors(n_neighbors=2).fit(layer).kneighbors(layer, return_distance=False)[:, 1]
        assert ((neighbours < 12) == (np.arange(24) < 12)).all()


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_same_seed_gives_the_same_points_whatever_the_length_of_states(library):
    states = random_states(1, 2, 12, 6).double()
    first, again, longer = (project(one, 3, library=library).coordinates for one in (states, states, 4 * states))
    assert first.tolist() == again.tolist() == longer.tolist()


def test_layers_have_one_place_and_one_size_and_are_turned_to_the_one_before():
    states = random_states(2, 1, 20, 6)
    first, second = project(torch.cat([states, states.flip(-1)]), 0, library="scikit-learn").coordinates
    for layer in (first, second):
        np.testing.assert_allclose(layer.mean(axis=0), 0, atol=1e-9)
        assert np.square(layer).sum(axis=1).mean() == pytest.approx(1)
    angles = np.linspace(0, 2 * np.pi, 360)
    turns = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]).transpose(2, 0, 1)
    turns = np.concatenate([turns, np.diag([1, -1]) @ turns])
    moved = np.square(second @ turns - first).sum(axis=(1, 2))
    assert np.square(second - first).sum() <= moved.min() + 1e-9


@pytest.mark.parametrize(("points", "perplexity"), [(4, 1.0), (16, 5.0), (100, 30.0)])
def test_perplexity_is_lowered_for_few_points(points, perplexity):
    assert project(random_states(0, 1, points, 4), 0, library="scikit-learn").perplexity == perplexity


def test_without_a_name_the_installed_library_is_taken():
    assert project(two_clusters(), 0).library == "openTSNE"


@pytest.mark.parametrize(
    ("states", "options", "message"),
    [
        (torch.ones(2, 3, 8), {}, "4 points or more"),
        (torch.ones(8, 8), {}, "4 points or more"),
        (torch.ones(2, 10, 1), {}, "2 dimensions or more"),
        (torch.ones(2, 10, 8), {}, "layer 0: all states point the same way"),
        (torch.full((2, 10, 8), float("nan")), {}, "layer 0 has states that are not finite"),
        (torch.ones(2, 10, 8), {"perplexity": 0.5}, "perplexity=0.5"),
        (torch.ones(2, 10, 8), {"library": "umap"}, "no library 'umap'.*openTSNE, scikit-learn"),
    ],
)
def test_what_cannot_be_projected(states, options, message):
    with pytest.raises(InputError, match=message):
        project(states, 0, **{"library": "scikit-learn"} | options)


def test_a_library_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "openTSNE", None)  # as an import that fails
    with pytest.raises(InputError, match=r"babelscope\[tsne\]"):
        project(two_clusters(), 0, library="openTSNE")


# --- the share of translations


def share_one_by_one(first, second, pairs) -> float:
    """By a search for the nearest neighbour of each word that has a translation."""
    index = NearestNeighbors(n_neighbors=1, metric="cosine").fit(second)
    translations = {word: {other for one, other in pairs if one == word} for word, _ in pairs}
    found = {word: index.kneighbors([first[word]], return_distance=False)[0, 0] for word in translations}
    return sum(found[word] in translations[word] for word in translations) / len(translations)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 8), st.data())
def test_the_share_equals_a_search_word_by_word(seed, words, others, data):
    pair = st.tuples(st.integers(0, words - 1), st.integers(0, others - 1))
    pairs = data.draw(st.lists(pair, min_size=1, max_size=20))
    first, second = random_states(seed, 3, words, 5).double(), random_states(seed + 1, 3, others, 5).double()
    layers = zip(first.numpy(), second.numpy(), strict=True)
    expected = [share_one_by_one(*layer, pairs) for layer in layers]
    np.testing.assert_allclose(translation_share(first, second, np.array(pairs)), expected)


def test_known_shares():
    """Word 0 finds its second translation, word 1 a word without alignment; word 2 has none and is not counted."""
    first = torch.tensor([[[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]])
    second = torch.tensor([[[3.0, 0.1], [-1.0, 0.0], [0.0, 1.0], [9.0, 9.0]]])
    assert translation_share(first, second, np.array([[0, 1], [0, 0], [1, 1]])).tolist() == [0.5]


def test_every_word_finds_itself_whatever_its_length():
    states = random_states(0, 2, 9, 4)
    assert translation_share(states, 3 * states, np.arange(9)[:, None].repeat(2, axis=1)).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("other", "pairs", "message"),
    [
        ((2, 9, 5), [[0, 0]], "equal in layers and hidden"),
        ((3, 9, 4), [[0, 0]], "equal in layers and hidden"),
        ((2, 9, 4), NO_PAIRS, "one aligned pair"),
        ((2, 9, 4), [[0, 0], [8, 9]], r"from 0 to \(8, 9\); there are 9 and 9 words"),
        ((2, 9, 4), [[0, -1]], "from -1"),
    ],
)
def test_pairs_that_do_not_fit(other, pairs, message):
    with pytest.raises(InputError, match=message):
        translation_share(random_states(0, 2, 9, 4), random_states(1, *other), np.asarray(pairs))


def test_aligned_words_express_one_meaning():
    """Counted through all sentences: the words at each pair have one concept, in the same sentence."""
    parallel = World().parallel(["qaa", "qae"], 6)
    flat = {
        code: [(k, concept) for k, one in enumerate(parallel) for concept in one.concepts[code]]
        for code in ("qaa", "qae")
    }
    pairs = aligned_words(parallel, "qaa", "qae")
    assert len(pairs) == sum(len(one.alignment("qaa", "qae")) for one in parallel)
    assert all(flat["qaa"][i] == flat["qae"][j] for i, j in pairs)
    assert aligned_words([], "qaa", "qae").shape == (0, 2)


# --- the pictures


def drawn(folder, suffix=".png", layers=3):
    coordinates = np.random.default_rng(0).normal(size=(layers, 8, 2))
    pairs = np.array([[0, 4], [1, 5], [2, 6]])
    return draw_projection(folder, coordinates, ["qaa"] * 4 + ["qae"] * 4, pairs, [0.25, 0.5, 1.0][:layers], suffix)


def test_a_picture_a_layer_and_an_animation_over_all(tmp_path):
    paths = drawn(tmp_path / "new" / "pictures")
    assert [path.name for path in paths] == ["layer-00.png", "layer-01.png", "layer-02.png", "layers.gif"]
    pictures = [np.asarray(Image.open(path).convert("RGB")) for path in paths[:-1]]
    assert all((one != pictures[0]).any() for one in pictures[1:])
    with Image.open(paths[-1]) as animation:
        assert animation.n_frames == 3
        assert animation.info["duration"] == 1000


def test_pictures_show_both_languages_in_colours_of_their_own(tmp_path):
    picture = np.asarray(Image.open(drawn(tmp_path)[0]).convert("RGB")).reshape(-1, 3).tolist()
    for colour in ([0x00, 0x72, 0xB2], [0xD5, 0x5E, 0x00]):
        assert picture.count(colour) > 20


def test_vector_pictures_say_the_same_each_time(tmp_path):
    first, again = (drawn(tmp_path / name, ".svg", layers=1)[0].read_bytes() for name in ("one", "two"))
    assert first == again
    assert b"<svg" in first


@pytest.mark.parametrize(
    ("languages", "pairs", "shares", "suffix", "message"),
    [
        (["a", "b"], NO_PAIRS, [0.5], ".bmp", r"suffix '.bmp'.*\.svg and \.png"),
        (["a", "a"], NO_PAIRS, [0.5], ".png", "two languages; given a"),
        (["a", "b", "b"], NO_PAIRS, [0.5], ".png", "a language for every point"),
        (["a", "b"], NO_PAIRS, [0.5, 0.5], ".png", "a share for every layer"),
        (["a", "b"], np.array([[0, 2]]), [0.5], ".png", "from 0 to 1"),
    ],
)
def test_what_cannot_be_drawn(tmp_path, languages, pairs, shares, suffix, message):
    with pytest.raises(InputError, match=message):
        draw_projection(tmp_path, np.zeros((1, 2, 2)), languages, pairs, shares, suffix)


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        drawn(tmp_path / "file")

"""Uploading a model folder, to a hub that is made up."""

from types import SimpleNamespace

import huggingface_hub
import pytest
from huggingface_hub.errors import HfHubHTTPError

from babelscope.core.errors import InputError
from babelscope.face.hub import push
from command_line import babelscope


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "README.md").write_text("---\nlanguage: mt\n---\n# A tagger\n", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


class Hub:
    """Takes what is uploaded, unless it is to refuse."""

    refuses = None

    def __init__(self):
        self.calls = Hub.calls

    def create_repo(self, name, private, exist_ok):
        self.calls.append((name, private, exist_ok))
        if self.refuses:
            raise self.refuses
        return f"https://huggingface.co/{name}"

    def upload_folder(self, repo_id, folder_path, commit_message):
        self.calls.append((repo_id, sorted(path.name for path in folder_path.iterdir())))


@pytest.fixture
def hub(monkeypatch):
    monkeypatch.setattr(Hub, "calls", [], raising=False)
    monkeypatch.setattr(huggingface_hub, "HfApi", Hub)
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: "hf_token")
    return Hub


def test_a_model_is_uploaded_with_its_card(model, hub):
    ended = babelscope("push", model, "ann/maltese-tagger")
    assert ended.status == 0, ended.errors
    assert ended.output.strip() == "https://huggingface.co/ann/maltese-tagger"
    assert hub.calls == [("ann/maltese-tagger", True, True), ("ann/maltese-tagger", ["README.md", "model.safetensors"])]


def test_a_model_is_private_unless_it_is_said_to_be_public(model, hub):
    push(model, "ann/maltese-tagger", public=True)
    assert hub.calls[0] == ("ann/maltese-tagger", False, True)


def test_nothing_is_asked_of_the_hub_before_all_is_there(model, hub, monkeypatch, tmp_path):
    with pytest.raises(InputError, match="there is no such folder"):
        push(tmp_path / "none", "ann/tagger")
    with pytest.raises(InputError, match="give NAMESPACE/NAME"):
        push(model, "tagger")
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: None)
    with pytest.raises(InputError, match=r"nobody is logged in"):
        push(model, "ann/tagger")
    (model / "README.md").unlink()
    with pytest.raises(InputError, match=r"has no README\.md"):
        push(model, "ann/tagger")
    assert hub.calls == []


ANSWER = SimpleNamespace(headers={}, request=None)


@pytest.mark.parametrize("refusal", [ConnectionError("no network"), HfHubHTTPError("403\nlong", response=ANSWER)])
def test_what_the_hub_says_is_told_in_a_line(model, hub, monkeypatch, refusal):
    monkeypatch.setattr(hub, "refuses", refusal)
    ended = babelscope("push", model, "ann/maltese-tagger")
    assert ended.status == 2 and "Traceback" not in ended.errors
    assert "the Hugging Face hub has not taken it (" in ended.errors.replace("\n", " ")
    assert "hf auth login" in ended.errors.replace("\n", " ") and "long" not in ended.errors

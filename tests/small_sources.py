"""A sentence whose words are written as one, and a source that must not be asked."""

from babelscope.core.examples import Multiword, Sentence, Word


def sentence(name: str) -> Sentence:
    return Sentence(
        name,
        (Word("vamos", "VERB", 0, "root"), Word("nos", "PRON", 1, "obj")),
        (Multiword(1, 2, "vámonos"),),
        "vámonos",
    )


def refused(name: str) -> None:
    raise AssertionError(f"a later source was asked for {name}")

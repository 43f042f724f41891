"""Commands about models and files outside of studies: export, predict, score, operate, transliterate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from babelscope.core.outside import given_path
from babelscope.face.cli.options import DEFAULT_STORE, PARALLEL, OutputFile, OutputFolder, StoreFolder, err, out


def export(
    key: Annotated[str, typer.Argument(help="the key of a result, as rows have it, or its first digits")],
    output: OutputFolder,
    store: StoreFolder = DEFAULT_STORE,
) -> None:
    """Write a trained model, or a pre-trained encoder, as a Hugging Face folder."""
    from babelscope.engine import trained
    from babelscope.face.session import open_store, with_weights

    place = open_store(store)
    out.print(with_weights(lambda: trained.export(place, key, output), place), highlight=False)


def predict(
    model: Annotated[str, typer.Argument(help="a folder that export wrote, or the key of a result")],
    file: Annotated[
        Path,
        typer.Argument(
            parser=given_path,
            help="CoNLL-U, BIO or TSV; or plain text, one sentence a line. For taggers and parsers its words must be "
            "separated by spaces as in their treebank, the full stop too",
        ),
    ],
    output: OutputFile,
    language: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="of the file, if the model has a tokenizer of its own for its language"),
    ] = None,
    store: StoreFolder = DEFAULT_STORE,
) -> None:
    """Tag, parse or classify text with a trained model: writes the file again, with its labels in it."""
    from babelscope.engine import trained
    from babelscope.face.session import open_store, with_weights

    place = open_store(store)
    told = with_weights(lambda: trained.predict(place, model, file, output, language), place)
    said, *notes = told.split("\nnote: ")
    out.print(said, highlight=False)
    for note in notes:
        err.print(f"note: {note}", highlight=False, markup=False)


def score(
    model: Annotated[str, typer.Argument(help="a folder that export wrote, or the key of a result")],
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="labelled data, named as in studies, of which the test split is scored: UD_Faroese-OFT, world:qag, "
            "treebank:fo:FOLDER; or treebank:fo:FILE, the last tenth of a file of your own",
        ),
    ],
    examples: Annotated[
        int | None, typer.Option(min=1, help="the first so many; default: all, of the artificial world 500")
    ] = None,
    store: StoreFolder = DEFAULT_STORE,
) -> None:
    """Score a trained model on labelled data, as a study does. Brackets are 95% intervals over sentences."""
    from babelscope.face import scored
    from babelscope.face.session import open_store, with_weights

    place = open_store(store)
    found = with_weights(lambda: scored.score(place, model, data, examples), place)
    out.print(found.title, highlight=False)
    width = max(map(len, found.in_words))
    for said, value in found.in_words.items():
        out.print(f"{said:<{width}}  {value}", highlight=False)
    for note in found.notes:
        err.print(f"note: {note}", markup=False, highlight=False)


def operate(
    encoder: Annotated[str, typer.Argument(help="a shipped encoder, a folder, or a name on the Hugging Face hub")],
    output: OutputFolder,
    op: Annotated[
        list[str],
        typer.Option(metavar="OPERATION", help="such as reverse or drop:last=6; repeatable, done in this order"),
    ],
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="of operations that draw at random")] = 0,
) -> None:
    """Operate on an encoder's weights and write the result as a Hugging Face folder."""
    from babelscope.face.operate import write_operated

    out.print(write_operated(encoder, op, output, seed), highlight=False)


def bring_in(
    model: Annotated[
        str, typer.Argument(help="a tuned model: a folder that export wrote, or the key of a result; or an encoder")
    ],
    language: Annotated[str, typer.Option(metavar="CODE", help="the language to bring in, such as it")],
    parallel: Annotated[list[str], PARALLEL],
    output: OutputFolder,
    source: Annotated[str, typer.Option(metavar="CODE", help="what the translations are from")] = "en",
    pairs: Annotated[int | None, typer.Option(min=1, help="read at most so many pairs of sentences")] = None,
    pieces: Annotated[
        int | None, typer.Option(min=1, help="learn at most so many subwords; by default as the amount of text allows")
    ] = None,
    strip_accents: Annotated[
        bool, typer.Option("--strip-accents", help="strip accents where the encoder does, as uncased ones do")
    ] = False,
    store: StoreFolder = DEFAULT_STORE,
) -> None:
    """Bring a language into a model by translated sentences, without training, and write it as a folder."""
    from babelscope.core.validation import validate
    from babelscope.face.bring_in import Wanted, write_with_language
    from babelscope.face.session import open_store, with_weights

    given = {
        "language": language, "parallel": parallel, "source": source, "pairs": pairs, "pieces": pieces,
        "keep_accents": not strip_accents,
    }  # fmt: skip
    wanted = validate(Wanted, given, "bring-in")
    place = open_store(store)
    told = with_weights(lambda: write_with_language(model, wanted, output, place), place)
    out.print(told, highlight=False)


def pack(
    model: Annotated[str, typer.Argument(help="a model's folder, as export writes it")],
    output: OutputFile,
) -> None:
    """Write a model's folder as one small file, to hand it on; what it predicts changes a little, so score it again."""
    from babelscope.face.packed import write_packed

    out.print(write_packed(model, output), highlight=False)


def unpack(
    file: Annotated[Path, typer.Argument(parser=given_path, help="a file that pack wrote")],
    output: OutputFolder,
) -> None:
    """Write a packed model as a Hugging Face folder."""
    from babelscope.face.packed import write_unpacked

    out.print(write_unpacked(file, output), highlight=False)


def push(
    folder: Annotated[Path, typer.Argument(parser=given_path, help="a model's folder, as export and advise write it")],
    name: Annotated[str, typer.Argument(metavar="NAMESPACE/NAME", help="on the Hugging Face hub")],
    public: Annotated[bool, typer.Option("--public", help="for all to see; else for you alone, if it is new")] = False,
) -> None:
    """Upload a model's folder with its card to the Hugging Face hub."""
    from babelscope.face.hub import push as upload

    out.print(upload(folder, name, public), highlight=False)


def transliterate(
    file: Annotated[
        Path,
        typer.Argument(parser=given_path, help="CoNLL-U (named .conllu or .conllu.gz) or plain text"),
    ],
    output: OutputFile,
    by: Annotated[
        str, typer.Option("--by", help="uyghur, cyrillic, uroman, table:FILE ...; +permute:SEED after it")
    ] = "",
    restore: Annotated[bool, typer.Option("--restore", help="put back what was there before")] = False,
) -> None:
    """Write a file in another script. In CoNLL-U forms change, the annotation stays, and MISC keeps the old forms."""
    from babelscope.core.errors import InputError
    from babelscope.corpora import rewriting
    from babelscope.corpora.transliteration import USAGE, transliteration

    if bool(by) == restore:
        raise InputError("give either --by or --restore", USAGE)
    if restore:
        done, nothing = rewriting.restore(file, output), "the file keeps nothing of what was there before"
    else:
        done = rewriting.rewrite(file, output, transliteration(by))
        nothing = f"nothing was changed: the text has no letter that {by} changes"
    out.print(f"{done.in_words} changed: {output}", highlight=False)
    if done.total and not done.number:
        err.print(f"note: {nothing}", highlight=False, markup=False)

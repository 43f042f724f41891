"""Input of every kind that is right, small, and quickly read: what faulty input is made of."""

from __future__ import annotations

import json
import re
from pathlib import Path

from babelscope.encoders.load import Encoder, save_encoder
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.tasks.design import Design
from babelscope.tasks.export import save_model
from babelscope.tasks.models import task_model

_WORDS = (
    "1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_",
    "2\tcats\tcat\tNOUN\t_\tNumber=Plur\t5\tnsubj\t_\t_",
    "3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_",
    "3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_",
    "4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_",
    "5\tsleep\tsleep\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No",
    "5.1\tx\tx\tX\t_\t_\t_\t_\t_\t_",
    "6\t.\t.\tPUNCT\t_\t_\t5\tpunct\t_\t_",
)
CONLLU = "".join("\n".join([f"# sent_id = {k}", "# text = The cats du sleep.", *_WORDS, "", ""]) for k in range(12))
BIO = "-DOCSTART- O\n\nAda B-PER\nlives O\nin O\nNew B-LOC\nYork I-LOC\n\n" * 12
TSV = "first\tsecond\tlabel\n" + "".join(
    f"It is {k}.\tSo it is.\tentailment\nIt is {k}.\tIs it?\tneutral\n" for k in range(10)
)
_PAIRS = "1\tIt is so.\tSo it is.\tentailment\n2\tIt is.\tIs it?\tneutral\n"
MNLI = "index\tsentence1\tsentence2\tgold_label\n" + _PAIRS * 9
XNLI = re.sub("^[12]", "de", MNLI.replace("index", "language"), flags=re.MULTILINE)
SST = "sentence\tlabel\n" + "So good.\t1\nSo bad.\t0\n" * 9
STS = "main-news\tMSRvid\t2012test\t0001\t2.5\tOne.\tAnother.\n" * 9
_UNIT = """\
<tu><tuv xml:lang="en"><seg>A <hi>good</hi> <bpt>x</bpt>day &a;</seg></tuv>
<tuv xml:lang="de"><seg>Ein guter Tag</seg></tuv></tu>
"""
TMX = f"""\
<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE tmx [<!ENTITY a "b">]>
<tmx version="1.4"><header srclang="en"/><body>
{_UNIT * 9}</body></tmx>
"""
STUDY = """\
name: tiny
question: Does anything carry over?
encoders: [world-natural]
surgeries: [null, "drop:last=1", {name: x, operations: [reverse, "noise:share=0.1"]}]
schedules: [null, "freeze:1"]
tasks:
  pos:
    train: [world:qaa]
    evaluate: [world:qaa, world:qab]
    sizes: {train: 30, dev: 10, test: 10}
    tuning: {epochs: 1, learning_rate: 1e-3}
  own:
    task: inference
    train: [world:qaa]
    evaluate: [world:qab]
    sizes: {train: 30, dev: 10, test: 10}
    head: pooler
seeds: [0, 1]
world_seed: 0
measures: [{measure: retrieval, source: qaa, targets: [qab], sentences: 10}]
contrasts: [{claim: it, first: {encoder: world-natural}, second: {encoder: world-natural, surgery: x}, margin: 0.1}]
left_out: {x: y}
"""
TABLE = "# letters\nщ\tshch\nё\tyo\t(?<!\\w)\nа\ta\t[бв]\t[^г]\nb\tß\n"


def write_folders(folder: Path) -> tuple[Path, Path]:
    """An encoder and a tagger."""
    save_encoder(_tiny(), folder / "encoder")
    save_model(task_model(_tiny(), Design("pos")), folder / "tagger")
    record = {"model": "tiny", "language": "nl", "source": "en", "parallel": [], "pairs": 9, "earlier": []}
    (folder / "tagger" / "bring-in.json").write_text(json.dumps(record))
    return folder / "encoder", folder / "tagger"


def _tiny() -> Encoder:
    pieces = train_wordpiece(["the cat sees a small dog", "de kat ziet een hond", "Щука и ёж"] * 5, 120)
    return new_encoder(Shape(hidden=16, layers=2, heads=2, feed_forward=32, positions=24), pieces, seed=0, name="tiny")


def commands(encoder: Path, tagger: Path) -> dict[str, list[str]]:
    """Every command that takes seconds, in a folder that has `text.txt`, `pairs.tsv` and `study.yaml`."""
    written = {
        "list": "list tasks",
        "plan": "plan first-look --with seeds=1 --with scale=small --store store",
        "plan of a file": "plan study.yaml --with tasks.pos.sizes.train=9 --with surgeries.1=reverse",
        "status": "status study.yaml --store store",
        "rows": "rows study.yaml -o rows.csv",
        "report": "report study.yaml -o page.html",
        "run": "run study.yaml --with encoders.0=./nowhere --jobs 1",
        "export": "export feedfeed -o model --store store",
        "predict": f"predict {tagger} text.txt -o out.conllu --language nl",
        "operate": f"operate {encoder} --op reverse --op noise:share=0.1 --seed 3 -o operated",
        "bring-in": f"bring-in {encoder} --language de --parallel pairs.tsv --pairs 9 --pieces 60 -o grown",
        "transliterate": "transliterate text.txt --by cyrillic+permute:3 -o latin.txt",
        "advise": f"advise --language mt --text no.txt --encoder {encoder} --seeds 2 --steps 9 --margin 0.1 -o a.html",
    }
    return {name: line.split() for name, line in written.items()}

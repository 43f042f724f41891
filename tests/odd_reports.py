"""Reports that are hard on a page: hostile names, more schedules than colours, a key for every row."""

import dataclasses

from babelscope.core.row import Row
from babelscope.report import Report
from synthetic_report import LABELS

HOSTILE = ["</script><script>window.hacked = 1</script>", "<img src=x onerror='window.hacked=1'>"]


def hostile(report: Report, text: str) -> Report:
    rows = [dataclasses.replace(row, encoder=f"{row.encoder} {text}") for row in report.rows]
    rows += [Row(text, 1.0, text, language=text)]
    labels = {code: f"{label} {text}" for code, label in LABELS.items()}
    return Report(text, text, rows, text, labels, {text: {text: [text]}})


def watched_rows() -> list[Row]:
    """More schedules than there are colours, with all kinds of probes; one of them is not tested yet."""
    alike = {"kind": "retrieval", "encoder": "e", "language": "qab"}
    rows = [Row("retrieval", 0.1 * layer, "share", layer=layer, **alike) for layer in range(8)]
    for frozen in range(-1, 8):
        for seed in range(2):
            run = {
                "encoder": "e",
                "task": "pos",
                "train_languages": "qaa",
                "schedule": f"freeze:{frozen}",
                "seed": seed,
            }
            if frozen < 7:
                value = 0.5 + 0.01 * frozen * seed
                test = run | {"kind": "score", "language": "qab", "dataset": "world:qab", "split": "test"}
                rows.append(Row("accuracy", value, "share", **test))
            for step in (0, 10):
                point = run | {"kind": "probe", "split": "probe", "step": step}
                rows.append(Row("loss", 1.0 + step, **run, kind="curve", split="train", step=step))
                rows.append(Row("accuracy", 0.1 * seed + step / 20, "share", dataset="world:qab", **point))
                rows += [Row("CKA with start", 1 - step / 90, dataset="target", layer=k, **point) for k in range(13)]
                for corpus, level in (("target", 90 - 5 * step), ("control", 20 + step + frozen), ("third", 5)):
                    rows.append(Row("perplexity", level + seed, dataset=corpus, **point))
    return rows


def keyed(report: Report) -> Report:
    """The report with a key for every row."""
    rows = [row.labelled(key=f"{place:012x}".ljust(64, "0")) for place, row in enumerate(report.rows)]
    return dataclasses.replace(report, rows=rows, command="babelscope run first-look@world")

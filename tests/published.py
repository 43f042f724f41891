"""A result as it is published: its key, its rows and its files."""

from pathlib import Path

from babelscope.core.row import Row
from babelscope.engine.store import Store

KEY, OTHER = "ab" * 32, "cd" * 32
ROWS = [Row("accuracy", 0.1 + 0.2, "share", language="qab", seed=3), Row("loss", 1e-300, step=7)]


def publish(store: Store, key: str = KEY) -> Path:
    draft = store.draft(key)
    (draft / "encoder").mkdir()
    (draft / "encoder" / "weights").write_bytes(bytes(range(256)))
    (draft / "notes").write_text("zażółć")
    store.write_rows(key, ROWS)
    return store.publish(key, {"step": "Toy", "seconds": 1.5})


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

"""Files of translations as people have them."""

from __future__ import annotations

import gzip
from pathlib import Path

TMX = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en-US" adminlang="en" datatype="plaintext" segtype="sentence"/><body>
<tu><prop type="x">1</prop><tuv xml:lang="en-US"><seg>The <bpt i="1">&lt;b&gt;</bpt>cat<ept i="1">&lt;/b&gt;</ept> &amp;
   a <hi type="x">dog</hi>.</seg></tuv><tuv xml:lang="DE"><seg>Die Katze.</seg></tuv></tu>
<tu><tuv xml:lang="en-US"><seg>Only English.</seg></tuv></tu>
<tu><tuv lang="de-AT"><seg>Ja.</seg></tuv><tuv lang="fr"><seg>Oui.</seg></tuv><tuv lang="en"><seg>Yes.</seg></tuv></tu>
</body></tmx>
"""


def write(path: Path, text: str, packed: bool = True) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


def own(folder: Path, kind: str, text: str) -> str:
    return f"{kind}:de:{write(folder / f'own.{kind}', text, packed=False)}"

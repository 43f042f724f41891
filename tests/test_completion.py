"""What a shell completes."""

from __future__ import annotations

import os
import subprocess
import sys

from babelscope.face.cli.completion import study_names
from babelscope.studies import STUDIES


def test_the_built_in_studies_and_their_profiles_are_completed():
    """Against the studies as they are found by importing them."""
    profiles = [f"{name}@{profile}" for name in STUDIES for profile in STUDIES[name].profiles]
    assert study_names("") == sorted([*STUDIES, *profiles])
    assert study_names("first") == ["first-look", "first-look@real", "first-look@world"]
    assert study_names("no-such") == []


def test_a_shell_is_answered_without_importing_what_computes():
    asked = {"_BABELSCOPE_COMPLETE": "complete_bash", "COMP_WORDS": "babelscope run first", "COMP_CWORD": "2"}
    command = "import sys, atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    command += "sys.argv[0] = 'babelscope'\nfrom babelscope.face.cli import app\napp(prog_name='babelscope')"
    done = subprocess.run(
        [sys.executable, "-c", command], env=os.environ | asked, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.stdout.split() == ["first-look", "first-look@real", "first-look@world"]
    assert not {"torch", "transformers", "numpy", "babelscope.study", "babelscope.studies"} & {*done.stderr.split()}

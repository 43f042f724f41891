#!/usr/bin/env bash
# Install a wheel into an empty environment, outside of the clone, and use it: tools/try_package.sh FOLDER-WITH-WHEEL
set -euo pipefail
wheel=$(realpath "$1"/*.whl)
pins=$(realpath "$(dirname "$0")/../constraints.txt")
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
cd "$there"
"${PYTHON:-python3}" -m venv env
# torch first and pinned: with it in place no other package asks for another build.
env/bin/pip install --quiet --disable-pip-version-check --constraint "$pins" torch
env/bin/pip install --quiet --disable-pip-version-check --constraint "$pins" "$wheel"
unset PYTHONPATH BABELSCOPE_STORE
env/bin/babelscope list
env/bin/babelscope run first-look --with scale=small 2> run.log || { cat run.log; exit 1; }
env/bin/babelscope report first-look --with scale=small -o first-look.html
env/bin/python -c 'from importlib.resources import files; assert (files("babelscope") / "py.typed").is_file()'
env/bin/python -c 'import babelscope as bs; print(bs.load("world-natural").anatomy)'
test -s first-look.html

"""`python -m babelscope`."""

from babelscope.face.cli import main

main()

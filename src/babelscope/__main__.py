"""`python -m babelscope`."""

from babelscope.cli import main

main()

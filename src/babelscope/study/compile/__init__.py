"""From a study to the plan of its steps: names are looked up, and what is missing is reported all at once."""

from babelscope.study.compile.study import compile_study

__all__ = ["compile_study"]

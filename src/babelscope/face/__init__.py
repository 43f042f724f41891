"""How people meet the laboratory: the command line (`cli`), and what `import babelscope` offers.

Both make studies, plans and results in the same way: `job` leads from a study to its plan and its store, `session` runs
a plan. A new command is a function in a module of `cli`, listed in `cli/__init__`; a new name for Python stands in
`babelscope/__init__`. What is heavy is imported inside functions.
"""

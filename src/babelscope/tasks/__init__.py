"""Tasks: models of them, from examples through a head to a loss and scores; baselines; export of trained models.

What a kind of task is, and what its models are, is said by a file in `kinds/`; a baseline is a file in `baselines/`.
Neither imports torch at the top. The tasks themselves are values, in `core.tasks` or declared by a study.
"""

"""The study: its declaration, from YAML or Python, and what compiles it to a plan of steps; names of verdicts.

What a study can hold (operations, tasks, measures, schedules) is declared in the rooms below; here they come together.
"""

"""What everything speaks in: errors, declarations, keys, rows, seeds, intervals, languages, examples, tasks, steps.

Imports nothing of ours from outside this folder, and no torch.
"""

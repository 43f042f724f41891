"""Formulas that measures, reports and advice share, and those too long for a measure's own file.

They import numpy and torch at the top, so measures import them where they compute.
"""

"""Run a plan: what is not in the store yet is computed by local worker processes, each step once.

The store is here, with what reads it: rows (of older stores too), steps made again from their keys, how far a study is,
what a plan will cost, and trained models outside of studies. No torch but in workers.
"""

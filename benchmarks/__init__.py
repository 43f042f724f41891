"""Speed, against usual ways to do the same: `python -m benchmarks`, on a machine that does nothing else."""

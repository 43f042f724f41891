"""Tuning: settings, batches, the training loop and its checkpoints."""

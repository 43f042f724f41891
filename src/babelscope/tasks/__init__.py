"""Tasks: each goes from examples through a head to a loss and a metric."""

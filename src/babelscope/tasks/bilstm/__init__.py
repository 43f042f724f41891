"""Models without a pre-trained encoder: BiLSTMs over words and characters, trained on the task's own data alone."""

"""Encoders: where they are found, loading and saving, where each family keeps its parts, tokenizers, hidden states,
languages brought in.

A new family is a line in `anatomy`. Formulas on hidden states that probes of a training need are here as well (`cka`,
`distance`). `shipped/` has the small encoders that come with the package. Nothing here knows of tasks.
"""

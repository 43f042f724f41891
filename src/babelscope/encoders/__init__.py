"""Encoders: loading, anatomy, tokenizers and hidden states."""

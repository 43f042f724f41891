"""Babelscope: a laboratory for cross-lingual transfer of pretrained Transformer encoders."""

__version__ = "0.1.0"

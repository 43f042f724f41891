"""Which words, or word pieces, of parallel sentences translate each other: learnt from the sentences alone.

`align.py` is what callers use, `links.py` what they get, `error_rate.py` how good it is. `layout.py` lays sentence
pairs out as arrays, `posteriors.py` is the model of one pair, `learning.py` learns it from all. What enters here reads
no file and knows of no encoder, so that no layer of one is favoured.
"""

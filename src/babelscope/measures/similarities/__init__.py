"""How alike two languages' states of parallel sentences are: functions, one file each or a few of one family.

    @similarity("RSA")
    def rsa(source, target):
        ...

Each takes two `LanguageStates`, whose `states` are [layers, sentences, width]; sentence i of the one translates
sentence i of the other. It returns [layers]. Files here are imported when the package is, so they import torch in
functions only.
"""

from babelscope.core.registry import import_modules
from babelscope.measures.similarities.table import SIMILARITIES, check_similarity, similarity

import_modules(__name__, __path__)

__all__ = ["SIMILARITIES", "check_similarity", "similarity"]

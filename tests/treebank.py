"""A small treebank: as it is written, and as it is read."""

from babelscope.core.examples import Multiword, Sentence, Word

SAMPLE = """\
# newdoc id = harbour
# sent_id = h-1
# text = Je vais au marché.
1\tJe\tje\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tvais\taller\tVERB\t_\tTense=Pres\t0\troot\t_\t_
3-4\tau\t_\t_\t_\t_\t_\t_\t_\t_
3\tà\tà\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_
5\tmarché\tmarché\tNOUN\t_\t_\t2\tobl\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

# sent_id = h-2
# text = Sam drinks 10 000 teas and Kim milk
1\tSam\tSam\tPROPN\t_\t_\t2\tnsubj\t2:nsubj\t_
2\tdrinks\tdrink\tVERB\t_\t_\t0\troot\t0:root\t_
3\t10 000\t10 000\tNUM\t_\t_\t4\tnummod\t4:nummod\t_
4\tteas\ttea\tNOUN\t_\t_\t2\tobj\t2:obj\t_
5\tand\tand\tCCONJ\t_\t_\t6\tcc\t6.1:cc\t_
6\tKim\tKim\tPROPN\t_\t_\t2\tconj\t6.1:nsubj\t_
6.1\tdrinks\tdrink\tVERB\t_\t_\t_\t_\t2:conj\t_
7\tmilk\tmilk\tNOUN\t_\t_\t6\torphan\t6.1:obj\t_

"""

EXPECTED = [
    Sentence(
        "h-1",
        (
            Word("Je", "PRON", 2, "nsubj", "je"),
            Word("vais", "VERB", 0, "root", "aller", feats="Tense=Pres"),
            Word("à", "ADP", 5, "case", "à"),
            Word("le", "DET", 5, "det", "le"),
            Word("marché", "NOUN", 2, "obl", "marché", misc="SpaceAfter=No"),
            Word(".", "PUNCT", 2, "punct", "."),
        ),
        (Multiword(3, 4, "au"),),
        "Je vais au marché.",
    ),
    Sentence(
        "h-2",
        (
            Word("Sam", "PROPN", 2, "nsubj", "Sam", deps="2:nsubj"),
            Word("drinks", "VERB", 0, "root", "drink", deps="0:root"),
            Word("10 000", "NUM", 4, "nummod", "10 000", deps="4:nummod"),
            Word("teas", "NOUN", 2, "obj", "tea", deps="2:obj"),
            Word("and", "CCONJ", 6, "cc", "and", deps="6.1:cc"),
            Word("Kim", "PROPN", 2, "conj", "Kim", deps="6.1:nsubj"),
            Word("milk", "NOUN", 6, "orphan", "milk", deps="6.1:obj"),
        ),
        text="Sam drinks 10 000 teas and Kim milk",
    ),
]


def chain(words):
    """Each word hangs on the one after it, the last on the root."""
    form = ("cat", "carries", "bigoldtree")
    return Sentence(
        str(words),
        tuple(
            Word(
                form[k % 3],
                "NOUN",
                (k + 1) % words and k + 2 if k + 1 < words else 0,
                "root" if k + 1 == words else "dep",
            )
            for k in range(words)
        ),
    )

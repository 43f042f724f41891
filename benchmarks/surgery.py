"""Cost of an operation on a full-size BERT (random weights): CPU seconds, and peak memory in sizes of the model.

    python benchmarks/surgery.py drop:last=6

Peak memory is that of the whole process, without what it needs before there is a model (Python and its libraries).
"""

from __future__ import annotations

import resource
import sys
import time

import psutil
import torch
from transformers import BertConfig

from babelscope.encoders.load import Encoder, untrained_model
from babelscope.encoders.state import weights_of
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.surgery import apply, parse_operation

MIB = 2**20


def main(text: str) -> None:
    """Operate once, and print what it cost."""
    torch.set_num_threads(1)
    operation, tokenizer = parse_operation(text), train_wordpiece(["any text"], 40)
    without = psutil.Process().memory_info().rss / MIB
    encoder = Encoder(untrained_model(BertConfig()), tokenizer, "bert")
    began = time.process_time()
    operated = apply(encoder, operation)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    before, after = (sum(weight.numel() for weight in weights_of(one).values()) for one in (encoder, operated))
    size = 4 * before / MIB
    print(f"{text}: {before / 1e6:.1f} M parameters before, {after / 1e6:.1f} M after; {seconds:.2f} s of CPU;")
    print(f"model {size:.0f} MiB, peak {peak - without:.0f} MiB = {(peak - without) / size:.2f} models")


if __name__ == "__main__":
    main(sys.argv[1])

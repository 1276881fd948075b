"""Where a reader errs, on passages as the program cuts them: python3 -m train.errors reader.gguf [ITEMS]

One-part questions, teacher-forced: whether each token of the value is the likeliest. Counted separately: names of training's
part of the name space and of the evaluation's; values that have the same tokens in the context as in the answer, and values
that have others (where a line begins, say); facts alone in their passage, and facts among others.
"""
import sys

import torch

from . import kernels
from .data import Batch, Row
from .evaluate import make_cuts
from .examples import VALUE, indented
from .greedy import Reader
from .model import logits


def stands(part, whole):
    return any(whole[i:i + len(part)] == part for i in range(len(whole) - len(part) + 1))


@torch.no_grad()
def right(reader, items, size=24):
    """Yields each item with whether its value is predicted."""
    for i in range(0, len(items), size):
        part = items[i:i + size]
        b = Batch([Row(reader.tokenizer, "Context: " + x.context, [x.branch]) for x in part])
        selected = (b.kinds == VALUE).nonzero()[:, 0]
        out = logits(reader.config, reader.weights, b.ids, b.positions, b.segments, selected)
        out[:, reader.tokenizer.none] = -float("inf")
        ok, row = out.argmax(-1) == b.targets[selected], selected // b.ids.shape[1]
        for k, x in enumerate(part):
            yield x, bool(ok[row == k].all())


def groups(tokenizer, x, held_out):
    """The groups in which an item counts."""
    if not held_out:
        return ["training's names"]
    value = next(text for text, kind in x.branch.pieces if kind == VALUE)
    same = stands(tokenizer.encode(value), tokenizer.encode(indented("Context: " + x.context)))
    return ["evaluation's names", "value in the same tokens" if same else "value in other tokens", "fact alone" if len(x.facts) == 1 else "among others"]


def table(reader, n, seed="errors"):
    """-> {group: [right, of]}"""
    out = {}
    for held_out in (False, True):
        for x, ok in right(reader, make_cuts(n, seed, held_out)):
            for g in groups(reader.tokenizer, x, held_out):
                count = out.setdefault(g, [0, 0])
                count[0] += ok
                count[1] += 1
    return out


if __name__ == "__main__":
    torch.set_num_threads(2)
    kernels.keep_memory()
    for g, (ok, n) in table(Reader(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2000).items():
        print("%-26s %.3f  (%d of %d)" % (g, ok / n, ok, n))

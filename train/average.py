"""The mean of several readers: python3 -m train.average OUT.gguf TOKENIZER.json READER[=WEIGHT]...

Runs that continue from the same weights with different data or rates err in different places, and the mean of their weights errs less than any
of them. The mean of several checkpoints from the end of one run does not. A READER is a checkpoint.pt or a reader.gguf; all must have one
shape. Without weights all count alike.
"""
import sys

from . import export, loop
from .tokenizer import Tokenizer


def mean(readers):
    """readers: [(Config, weights by name, how much it counts)] -> (Config, their mean)."""
    c, first, _ = readers[0]
    total = sum(share for _, _, share in readers)
    if total <= 0:
        raise ValueError("the weights of the readers add up to %g" % total)
    for other, p, _ in readers[1:]:
        if other.__dict__ != c.__dict__ or p.keys() != first.keys():
            raise ValueError("the readers have different shapes: %s and %s" % (c.__dict__, other.__dict__))
    return c, {k: sum(share / total * p[k].float() for _, p, share in readers) for k in first}


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    out, tokenizer, *checkpoints = sys.argv[1:]
    readers = []
    for x in checkpoints:
        path, _, share = x.partition("=")
        c, p, *_ = export.load(path) if path.endswith(".gguf") else loop.load(path)
        readers.append((c, p, float(share or 1)))
    export.export(out, *mean(readers), Tokenizer.load(tokenizer))


if __name__ == "__main__":
    main()

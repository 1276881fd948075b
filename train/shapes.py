"""Compare shapes of one size: python3 -m train.shapes --out build/shapes --minutes 15 [--threads N] [NAME...]

Trains a few shapes of nearly the same size from nothing, each for the same time and by the recipe, and prints how much each then gets right:
values of one-part questions on held-out names, teacher-forced, on passages as the program cuts them. A vocabulary, width or
depth that is too small shows long before a full run ends; how good the shape gets does not.
"""
import argparse
import csv
import os
import subprocess
import sys

#: name: vocabulary, width, KV heads, feed-forward width, layers; 3.8 million parameters each
SHAPES = {
    "vocab 2048, width 256": (2048, 256, 2, 448, 6),
    "vocab 1024, width 256": (1024, 256, 2, 512, 6),
    "vocab 4096, width 256": (4096, 256, 2, 448, 5),
    "vocab 2048, width 192": (2048, 192, 1, 352, 11),
    "vocab 2048, width 384": (2048, 384, 2, 512, 3),
}


def folder(out, name):
    return os.path.join(out, name.replace(",", "").replace(" ", "-"))


def train(out, name, minutes, threads):
    vocab, width, kv_heads, ff, layers = SHAPES[name]
    subprocess.run([sys.executable, "-m", "train", "--out", folder(out, name), "--minutes", str(minutes), "--threads", str(threads), "--vocab", str(vocab),
                    "--width", str(width), "--kv-heads", str(kv_heads), "--ff", str(ff), "--layers", str(layers)], check=True, stdout=sys.stderr)


def row(out, name, items):
    from . import errors
    from .greedy import Reader
    path = os.path.join(folder(out, name), "reader.gguf")
    with open(os.path.join(folder(out, name), "log.csv")) as f:
        tokens = list(csv.DictReader(f))[-1]["tokens"]
    ok, n = errors.table(Reader(path), items)["evaluation's names"]
    size = os.path.getsize(path) / 1e6
    return "| %s, %d layers | %.2f | %.1f | %.3f | %.3f |" % (name, SHAPES[name][4], size, int(tokens) / 1e6, ok / n, ok / n / size)


def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    a.add_argument("--out", default="build/shapes")
    a.add_argument("--minutes", type=float, default=15, help="computing time for each shape")
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--items", type=int, default=1000, help="questions")
    a.add_argument("names", nargs="*", default=list(SHAPES), metavar="NAME", help="some of: " + "; ".join(SHAPES))
    args = a.parse_args()
    for name in args.names:
        if name not in SHAPES:
            a.error("no shape %r; there are: %s" % (name, "; ".join(SHAPES)))
    for name in args.names:
        train(args.out, name, args.minutes, args.threads)
    print("| shape | MB | million tokens | right | right per MB |\n|---|---|---|---|---|")
    for name in args.names:
        print(row(args.out, name, args.items))


if __name__ == "__main__":
    main()

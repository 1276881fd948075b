"""python3 -m train --out DIR --minutes N: from nothing, or from --start, to DIR/reader.gguf. Run again to resume."""
import argparse
import os

os.environ.setdefault("GOMP_SPINCOUNT", "2000")  # before torch loads OpenMP: threads that wait long should sleep

from . import loop
from .data import Row
from .examples import example
from .export import load
from .model import Config
from .names import Source
from .tokenizer import Tokenizer, learn

VOCAB = 2048


def tokenizer_texts(n=14000, seed="tokenizer"):
    s = Source(seed)
    for _ in range(n):
        context, branches = example(s, 1, 6, 3)
        yield context
        for b in branches:
            yield b.prompt + "".join(t for t, _ in b.pieces)


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--out", default="build/reader", help="folder for tokenizer, checkpoint, log, curve and reader.gguf")
    a.add_argument("--minutes", type=float, default=97, help="computing time; over it the learning rate falls linearly to 0")
    a.add_argument("--layers", type=int, default=12, help="depth; a run resumed with more layers than before grows")
    a.add_argument("--vocab", type=int, default=VOCAB, help="size of the vocabulary to learn")
    a.add_argument("--width", type=int, default=256, help="width of the model, a multiple of 64: one head for each 64")
    a.add_argument("--kv-heads", type=int, default=2)
    a.add_argument("--ff", type=int, default=448, help="width of the feed-forward part, a multiple of 32")
    a.add_argument("--start", metavar="GGUF", help="begin with the weights of a reader.gguf, and keep its tokenizer and shape")
    a.add_argument("--device", default="cpu", help="cpu or cuda")
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--tokens", type=int, default=6144, help="padded positions per step")
    a.add_argument("--rate", type=float, default=0.006)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--facts", type=int, default=0, help="train on nothing but plain questions about passages of at most this many facts (examples.plain)")
    args = a.parse_args()
    if args.width % 64 or args.width <= 0 or args.kv_heads <= 0 or args.width // 64 % args.kv_heads or args.ff % 32:
        a.error("--width %d, --kv-heads %d, --ff %d: the width must be a multiple of 64 with a head for each, the KV heads divide the heads, "
                "--ff be a multiple of 32" % (args.width, args.kv_heads, args.ff))
    os.makedirs(args.out, exist_ok=True)
    path, start = os.path.join(args.out, "tokenizer.json"), None
    if args.start and not os.path.exists(path):
        c, start, tokenizer = load(args.start)
        tokenizer.save(path)
    if not os.path.exists(path):
        learn(tokenizer_texts(), args.vocab).save(path)
    tokenizer = Tokenizer.load(path)
    if start is None:
        c = Config(vocab=len(tokenizer.tokens), layers=args.layers, width=args.width, heads=args.width // 64, kv_heads=args.kv_heads, ff=args.ff)
    loop.train(args.out, tokenizer, args.minutes, c, args.device, args.threads, args.tokens, args.rate, args.seed, facts=args.facts,
               log=lambda line: print(line, flush=True), start=start)


if __name__ == "__main__":
    main()

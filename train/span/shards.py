"""python3 -m train.span.shards WORK TEXT ...: texts as numbers, for pretrain.py.

A TEXT is a file of documents divided by lines <|endoftext|>, plain or .xz; TEXT@MILLIONS takes that many million words of it. Documents that
share 13 words in a row with a passage to judge by, of --data DIR or --without FILE (SQuAD's form), are left out. Written are WORK/types.npz
(what the lower-case words are made of: their rows and parts) and WORK/shard-0.xz, …, each of --words million words: their types in 16 bits,
most frequent first, then their flags."""
import argparse
import collections
import lzma
import os
import pickle
import random
import subprocess

import numpy as np

from . import reference
from .prepare import passages
from .words import STOP, WORD, Vocabulary, kind, parts

TYPES = 1 << 16
CAPITAL, CAPITALS, SENTENCE, LINE = 1, 2, 4, 8  # flags: a capital, all capitals, the first word of a sentence, of a line
RUN = 13
_multipliers = np.random.RandomState(7).randint(1, 1 << 62, RUN).astype(np.uint64) * np.uint64(2) + np.uint64(1)


def runs(ids):
    """A hash of each RUN numbers in a row."""
    ids = ids.astype(np.uint64)
    n = len(ids) - RUN + 1
    return sum(ids[k:k + n] * _multipliers[k] for k in range(RUN)) if n > 0 else np.zeros(0, np.uint64)


class Numbers:
    """Lower-case words to numbers in the order in which they come."""

    def __init__(self):
        self.of, self.flags = {}, {}

    def __call__(self, text):
        """-> (numbers, flags) of a document's words."""
        ids, flags = [], []
        of, known = self.of, self.flags
        for line in text.split("\n"):
            before = None
            for w in WORD.findall(line):
                k = known.get(w)
                if k is None:
                    low, _, _, f = kind(w)
                    k = known[w] = of.setdefault(low, len(of)), CAPITAL * bool(f[0]) + CAPITALS * bool(f[1])
                first = SENTENCE | LINE if before is None else SENTENCE if before in ".!?" and k[1] else 0
                ids.append(k[0])
                flags.append(k[1] | first)
                before = w
        return np.array(ids, np.int32), np.array(flags, np.uint8)


def documents(path):
    opened = lzma.open(path, "rt") if path.endswith(".xz") else open(path, encoding="utf-8")
    with opened as f:
        doc = []
        for line in f:
            if line.startswith("<|endoftext|>"):
                yield "".join(doc).strip()
                doc = []
            else:
                doc.append(line)
        yield "".join(doc).strip()


def shape(word):
    """What stands for a word that is too rare to have a number: others of the same end, or numbers of the same form."""
    return "".join("0" if c.isdecimal() else c for c in word) if word[0].isdecimal() else word[-3:]


def chosen(v, numbers, count):
    """-> (lower-case words that have a type, the type of each number)."""
    low = list(numbers.of)
    known = [w for w in v.words]
    rest = [low[i] for i in np.argsort(-count, kind="stable") if low[i] not in v.id][:TYPES - len(known)]
    kept = sorted(known + rest, key=lambda w: -(count[numbers.of[w]] if w in numbers.of else 0))
    type_of = {w: i for i, w in enumerate(kept)}
    alike = collections.defaultdict(list)
    for w in rest:
        alike[shape(w)].append(type_of[w])
    others = [type_of[w] for w in rest if not w[0].isdecimal()]
    rng = random.Random(2)
    return kept, np.array([type_of[w] if w in type_of else rng.choice(alike.get(shape(w), others)) for w in low], np.uint16)


def vocabulary(path, work):
    """The words of an exported file, or those that prepare.py left in WORK."""
    return reference.Reader(path).v if path else Vocabulary(*pickle.load(open(work + "/vocabulary.pkl", "rb")))


def main():
    a = argparse.ArgumentParser(prog="python3 -m train.span.shards")
    a.add_argument("work")
    a.add_argument("texts", nargs="+")
    a.add_argument("--vocabulary", default="", help="an exported file whose words are known; default: WORK's words")
    a.add_argument("--data", required=True)
    a.add_argument("--without", action="append", default=[])
    a.add_argument("--words", type=float, default=40, help="millions of a shard")
    o = a.parse_args()
    v, numbers = vocabulary(o.vocabulary, o.work), Numbers()
    apart = np.unique(np.concatenate([runs(numbers(p)[0]) for p in passages(o.data, o.without)]))
    ids, flags, left = [], [], 0
    for text in o.texts:
        path, _, most = text.partition("@")
        n = 0
        for d in documents(path):
            i, f = numbers(d)
            h = runs(i)
            if len(h) and (apart[np.minimum(np.searchsorted(apart, h), len(apart) - 1)] == h).any():
                left += 1
                continue
            ids.append(i)
            flags.append(f)
            n += len(i)
            if most and n > 1e6 * float(most):
                break
        print(path, "%.1f million words" % (n / 1e6), left, "documents left out so far", flush=True)
    order = np.random.RandomState(0).permutation(len(ids))
    ids, flags = np.concatenate([ids[k] for k in order]), np.concatenate([flags[k] for k in order])
    count = np.bincount(ids, minlength=len(numbers.of))
    kept, type_of = chosen(v, numbers, count)
    print("%.1f million words, %.2f %% of them have a type" % (len(ids) / 1e6, 100 * count[[numbers.of[w] for w in kept if w in numbers.of]].sum() / len(ids)), flush=True)
    kinds = np.array([[k[3][2], k[3][3], w in STOP, k[3][5]] for w, k in ((w, kind(w)) for w in kept)], np.uint8)
    np.savez_compressed(o.work + "/types.npz", rows=np.array([v.id.get(w, 0) for w in kept], np.int32), kinds=kinds,
                        parts=np.array([parts(w) for w in kept], np.int16), idf=np.array([v.idf(w) for w in kept], np.float32))
    ids = type_of[ids]
    n = int(1e6 * o.words)
    for k in range((len(ids) + n - 1) // n):
        path = f"{o.work}/shard-{k}"
        with open(path, "wb") as f:
            f.write(ids[k * n:(k + 1) * n].tobytes() + flags[k * n:(k + 1) * n].tobytes())
        subprocess.run(["xz", "-f", "--lzma2=preset=6,dict=64MiB,lc=3,lp=1,pb=1", path], check=True)
        print(path, os.path.getsize(path + ".xz") / 2 ** 20, "MiB", flush=True)


if __name__ == "__main__":
    main()

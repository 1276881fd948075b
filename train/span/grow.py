"""python3 -m train.span.grow OLD.pt OLDWORK WORK OUT.pt: a trained reader with the words and word vectors of another folder.

The words that both know tell how the new vectors turn into the trained ones (least squares); a new word begins where that puts it."""
import pickle
import sys

import numpy as np
import torch

from .words import BUCKETS, Vocabulary


def sums(v, rows, parts, low):
    """The vectors of words: their rows and those of their parts."""
    t = [v.type(w) for w in low]
    r = np.array([v.rows[x] for x in t])
    p = np.array([v.parts[x] for x in t])
    return rows[r], parts[p].sum(1)


def grow(checkpoint, old, new, vectors):
    m = checkpoint["model"]
    rows, parts = m["words.weight"].numpy(), m["parts.weight"].numpy()
    raw = vectors.reshape(-1, rows.shape[1])
    n = len(new.words) + 1
    fresh, pieces = raw[:n], raw[n:n + BUCKETS]
    both = [w for w in old.words[:20000] if w in new.id]
    a, b = sums(new, fresh, pieces, both)
    c, d = sums(old, rows, parts, both)
    x, y = a + b, c + d
    x1 = np.concatenate([x, np.ones((len(x), 1), np.float32)], 1)
    turn = np.linalg.lstsq(x1[:18000], y[:18000], rcond=None)[0]
    rest = y[18000:] - x1[18000:] @ turn
    print("explained", 1 - (rest ** 2).sum() / ((y[18000:] - y[18000:].mean(0)) ** 2).sum())
    out = np.zeros((n, rows.shape[1]), np.float32)
    out[0] = rows[0]
    a, b = sums(new, fresh, pieces, new.words)
    _, d = sums(old, rows, parts, new.words)
    out[1:] = np.concatenate([a + b, np.ones((n - 1, 1), np.float32)], 1) @ turn - d
    for w, i in old.id.items():
        if w in new.id:
            out[new.id[w]] = rows[i]
    return dict(model=dict(m, **{"words.weight": torch.from_numpy(out)}), shape=checkpoint["shape"], related=checkpoint.get("related", False),
                vocabulary=(new.words, new.idfs, checkpoint["vocabulary"][2] if "vocabulary" in checkpoint else {}))


if __name__ == "__main__":
    checkpoint, before, work, path = sys.argv[1:5]
    old, new = (Vocabulary(*pickle.load(open(w + "/vocabulary.pkl", "rb"))) for w in (before, work))
    torch.save(grow(torch.load(checkpoint, map_location="cpu"), old, new, np.fromfile(work + "/vec.bin", np.float32)), path)

"""python3 -m train.span.blend OLD.pt WORK OUT.pt KAPPA: a trained reader whose seldom words begin again from what a larger text says.

WORK has the vectors of a larger text (prepare.py --more, vectors … alone) for the same vocabulary. The words that training saw
often tell how these vectors turn into the reader's (ridge regression). A word that the questions and their prose hold n times
keeps its own vector with a weight of (n + 1) / (n + 1 + KAPPA min(1, N / 150)), N its number in the larger text."""
import collections
import pickle
import sys

import numpy as np
import torch

from .grow import sums
from .words import BUCKETS, Vocabulary, lower, words

OFTEN, KNOWN_OFTEN, RIDGE = 60, 200, .5  # times in training and in the larger text that make a word one to learn the turn from


def seen(work):
    """How often training has each word: its prose, passages and questions."""
    n = collections.Counter()
    passages, questions = pickle.load(open(work + "/train.pkl", "rb"))
    prose = (d for _, d in pickle.load(open(work + "/docs.pkl", "rb")))
    for text in (*prose, *passages, *(q["q"] for q in questions)):
        n.update(lower(x) for x in words(text))
    return n


def turned(x, y, often, large):
    """The larger text's vectors x, turned to the reader's y."""
    x = np.concatenate([x, np.ones((len(x), 1), np.float32)], 1)
    good = np.flatnonzero((often >= OFTEN) & (large >= KNOWN_OFTEN))
    np.random.RandomState(0).shuffle(good)
    learn, held = good[:-len(good) // 10], good[-len(good) // 10:]
    w = np.sqrt(np.minimum(often[learn], 3000) / 3000)[:, None]
    a = x[learn] * w
    turn = np.linalg.solve(a.T @ a + RIDGE * np.eye(x.shape[1]), a.T @ (y[learn] * w))
    rest = y[held] - x[held] @ turn
    print("explained", 1 - (rest ** 2).sum() / ((y[held] - y[held].mean(0)) ** 2).sum(), "of", len(held), "words")
    return x @ turn


def blend(checkpoint, v, often, large, vectors, kappa):
    m = checkpoint["model"]
    n = len(v.words) + 1
    rows, parts = sums(v, m["words.weight"].float().numpy(), m["parts.weight"].float().numpy(), v.words)
    new = turned(vectors.reshape(-1, rows.shape[1])[1:n], rows + parts, often, large)
    keep = ((often + 1) / (often + 1 + kappa * np.minimum(1, large / 150)))[:, None]
    out = m["words.weight"].float().numpy().copy()
    out[1:n] = keep * (rows + parts) + (1 - keep) * new - parts
    return dict(model=dict(m, **{"words.weight": torch.from_numpy(out.astype(np.float32))}), shape=checkpoint["shape"], related=checkpoint.get("related", False),
                vocabulary=checkpoint.get("vocabulary", (v.words, v.idfs, v.relations)))


if __name__ == "__main__":
    checkpoint, work, path, kappa = sys.argv[1:5]
    v = Vocabulary(*pickle.load(open(work + "/vocabulary.pkl", "rb")))
    often, counts = seen(work), pickle.load(open(work + "/counts.pkl", "rb"))
    vectors = np.fromfile(work + "/vec.bin", np.float32)
    assert len(vectors) % (len(v.words) + 1 + BUCKETS) == 0, "the vectors are of another vocabulary"
    torch.save(blend(torch.load(checkpoint, map_location="cpu"), v, *(np.array([c[w] for w in v.words]) for c in (often, collections.Counter(counts))),
                     vectors, float(kappa)), path)

"""BM25 over lists of stems."""
import collections
import math

import numpy as np

from .words import STOP, lower, stem, words

_stop = set(STOP)


def stems(text):
    return [stem(w) for w in map(lower, words(text)) if w not in _stop]


class BM25:
    def __init__(self, documents, k=1.2, b=.4):
        self.n, self.posts, found = len(documents), {}, {}
        length = np.array([len(d) for d in documents], np.float32)
        for i, d in enumerate(documents):
            for w, c in collections.Counter(d).items():
                found.setdefault(w, []).append((i, c))
        weight = k * (1 - b + b * length / max(length.mean(), 1))
        for w, x in found.items():
            i, c = np.array([a for a, _ in x]), np.array([a for _, a in x], np.float32)
            self.posts[w] = i, math.log(1 + (self.n - len(x) + .5) / (len(x) + .5)) * c * (k + 1) / (c + weight[i])

    def scores(self, query):
        out = np.zeros(self.n, np.float32)
        for w in set(query):
            if w in self.posts:
                i, x = self.posts[w]
                out[i] += x
        return out

    def best(self, query, n):
        s = self.scores(query)
        n = min(n, self.n)
        top = np.argpartition(-s, n - 1)[:n]
        return [int(i) for i in top[np.argsort(-s[top], kind="stable")]]

"""Exact match, F1 and whether a sentence holds the answer, as SQuAD counts them; 95 % intervals."""
import collections
import math
import re
import string

import numpy as np

_gone = str.maketrans("", "", string.punctuation)


def norm(s):
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", s.lower().translate(_gone)).split())


def exact(a, right):
    return float(any(norm(a) == norm(g) for g in right))


def f1(a, right):
    best = 0.0
    for g in right:
        x, y = norm(a).split(), norm(g).split()
        c = sum((collections.Counter(x) & collections.Counter(y)).values())
        if c:
            best = max(best, 2 * c / (len(x) + len(y)))
    return best


def holds(text, right):
    t = " " + norm(text) + " "
    return any(norm(g) and " " + norm(g) + " " in t for g in right)


def interval(values):
    """Mean and half the 95 % interval, in percent (Wilson's width for shares)."""
    n = len(values)
    if not n:
        return 0.0, 0.0
    p, z = sum(values) / n, 1.96
    if all(x in (0, 1) for x in values):
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    else:
        half = z * math.sqrt(sum((x - p) ** 2 for x in values) / max(1, n - 1) / n)
    return 100 * p, 100 * half


def auroc(positive, negative):
    """The share of pairs in which the positive one scores higher."""
    x = np.concatenate([positive, negative])
    order = np.argsort(np.argsort(x, kind="stable"), kind="stable") + 1.0
    for value in np.unique(x):
        same = x == value
        order[same] = order[same].mean()
    return float((order[:len(positive)].sum() - len(positive) * (len(positive) + 1) / 2) / (len(positive) * len(negative)))

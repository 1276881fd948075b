"""What a passage's words share with a question's: the features that carry a small reader. SPEC.md specifies them."""
import numpy as np

from .relations import STEPS, lemma
from .words import MATCH

FUZZY = .7  # what a match by prefix, by a letter or two, or across a hyphen counts
FIRST = 21  # features of related words: passage 21 to 31, question 6 to 8
_memo = {}
_table, _lemmas = {}, {}


def relate(table):
    """Use a table of related words (relations.py) from now on; without one the features from FIRST on are 0."""
    _table.clear()
    _table.update(table)
    _lemmas.clear()


def _lemma(low):
    w = _lemmas.get(low)
    if w is None:
        w = _lemmas[low] = lemma(low, _table)
    return w


def distance(a, b, most):
    """Letters inserted, removed, replaced or swapped with the next, up to most + 1."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    two, one = None, list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            x = min(one[j] + 1, row[j - 1] + 1, one[j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                x = min(x, two[j - 2] + 1)
            row.append(x)
        if min(row) > most:
            return most + 1
        two, one = one, row
    return one[-1]


def alike(a, b):
    """Whether two different lower-case words may be the same one: by their first five letters or a slip of the keyboard."""
    if len(a) < 4 or len(b) < 4 or not (a[0] == b[0] or (a[0] == b[1] and a[1] == b[0])):
        return False
    if len(a) > 5 and len(b) > 5 and a[:5] == b[:5]:
        return True
    most = 2 if max(len(a), len(b)) >= 8 else 1
    if abs(len(a) - len(b)) > most:
        return False
    key = (a, b)
    r = _memo.get(key)
    if r is None:
        if len(_memo) > 500000:
            _memo.clear()
        r = _memo[key] = distance(a, b, most) <= most
    return r


def _joined(t):
    """Words that two neighbours, with or without a hyphen between, make together: {joined: [first words]}."""
    out = {}
    for i in range(len(t) - 1):
        if t.low[i].isalpha() and len(t.low[i]) < 12:
            j = i + 2 if t.low[i + 1] == "-" and i + 2 < len(t) else i + 1
            if t.low[j].isalpha():
                out.setdefault(t.low[i] + t.low[j], []).append((i, j))
    return out


def matches(q, p):
    """-> (questions' content words, weights that sum to 1, matrix (words of the question, words of the passage) from 0 to 1)."""
    js, seen = [], set()
    for j in range(len(q)):
        if q.content[j] and q.stems[j] not in seen:
            seen.add(q.stems[j])
            js.append(j)
    if not js:
        return js, np.zeros(0, np.float32), np.zeros((0, len(p)), np.float32)
    w = q.idf[js]
    w = w / (w.sum() + np.float32(1e-6))
    m = (q.stems[js][:, None] == p.stems[None]).astype(np.float32)
    missing = np.flatnonzero(~m.any(1))
    if len(missing):
        two, own, low = _joined(p), _joined(q), None
        for k in missing:
            a = q.low[js[k]]
            if not a.isalpha():
                continue
            for i, j in two.get(a, ()):
                m[k, i] = m[k, j] = FUZZY
            for x, places in own.items():
                if any(js[k] in y for y in places):
                    for i in range(len(p)):
                        if p.low[i] == x:
                            m[k, i] = FUZZY
            if m[k].any():
                continue
            if low is None:
                low = {}
                for i in range(len(p)):
                    if p.content[i] and p.low[i].isalpha():
                        low.setdefault(p.low[i], []).append(i)
            for b, places in low.items():
                if alike(a, b):
                    m[k, places] = FUZZY
    return js, w, m


def _density(w, m, segment, count):
    """The weight of the question that each segment holds; segment: a number below count for each word."""
    if not len(w) or not count:
        return np.zeros(count, np.float32)
    best = np.zeros((count, len(w)), np.float32)
    k, i = np.nonzero(m)
    np.maximum.at(best, (segment[i], k), m[k, i])
    return best


def features(q, p):
    """Match features of the passage's words (n, MATCH) and of the question's (m, MATCH)."""
    n, f, g = len(p), np.zeros((len(p), MATCH), np.float32), np.zeros((len(q), MATCH), np.float32)
    js, w, m = matches(q, p)
    f[:, 0] = np.isin(p.types, q.types)
    f[:, 1] = np.isin(p.stems, q.stems)
    if not js:
        return f, g
    hit = m.max(0)
    weight = (m * w[:, None]).max(0)
    f[:, 2] = np.minimum(weight * 3, 1)
    f[:, 3] = (hit > 0) & (hit < 1)
    pairs = set(zip(q.stems[:-1].tolist(), q.stems[1:].tolist()))
    own = list(zip(p.stems[:-1].tolist(), p.stems[1:].tolist()))
    two = np.array([x in pairs for x in own], bool)
    f[:-1, 4] += two
    f[1:, 4] = np.maximum(f[1:, 4], two)
    _places(f, p, w, m)
    c = np.concatenate([[0], np.cumsum(weight, dtype=np.float32)]).astype(np.float32)
    i = np.arange(n)
    f[:, 13] = c[np.minimum(i + 4, n)] - c[np.maximum(i - 3, 0)]
    f[:, 14] = c[np.minimum(i + 11, n)] - c[np.maximum(i - 10, 0)]
    f[:, 18] = (m.max(1) * w).sum()
    found = m.max(1)
    g[js, 0], g[js, 1], g[js, 2] = found, np.minimum(found * w * 3, 1), w
    g[:, 3] = np.isin(q.stems, p.stems)
    for place, k in ((f[:, 5], 4), (f[:, 7], 5)):  # whether the best sentence and the best line hold the question's word
        g[js, k] = m[:, place >= place.max() - 1e-6].max(1) if place.max() > 0 else 0
    if _table:
        _with_related(f, g, q, p, js, w, m)
    return f, g


def related(q, p, js):
    """How related each of the question's content words is to each of the passage's words: from 0 to STEPS/10, 0 for the same stem."""
    r = np.zeros((len(js), len(p)), np.float32)
    own = [_lemma(x) if c else "" for x, c in zip(p.low, p.content)]
    for k, j in enumerate(js):
        of = _table.get(_lemma(q.low[j]))
        if of:
            r[k] = [of.get(x, 0) for x in own]
    return r / 10


def _with_related(f, g, q, p, js, w, m):
    """The features of related words: 21 to 31, and 6 to 8 of the question; most are as those of matches, with related words counted, too."""
    r = related(q, p, js)
    both = np.maximum(m, r)
    f[:, 21], f[:, 22] = r.max(0), np.minimum((r * w[:, None]).max(0) * 3, 1)
    around = np.zeros((len(p), MATCH), np.float32)
    _places(around, p, w, both)
    for to, of in ((23, 5), (24, 6), (25, 7), (26, 8), (27, 10), (28, 11), (29, 15), (30, 20)):
        f[:, to] = around[:, of]
    c = np.concatenate([[0], np.cumsum((both * w[:, None]).max(0), dtype=np.float32)]).astype(np.float32)
    i = np.arange(len(p))
    f[:, 31] = c[np.minimum(i + 11, len(p))] - c[np.maximum(i - 10, 0)]
    g[js, 6] = r.max(1)
    for place, k in ((f[:, 23], 7), (f[:, 25], 8)):
        g[js, k] = both[:, place >= place.max() - 1e-6].max(1) if place.max() > 0 else 0


def _places(f, p, w, m):
    """Features 5 to 12, 15 to 17 and 19: what the sentence, the line, its heading, key and column hold of the question."""
    s = _density(w, m, p.sentence, int(p.sentence[-1]) + 1)
    l = _density(w, m, p.line, int(p.line[-1]) + 1)
    sd = (s @ w)[p.sentence]
    f[:, 5], f[:, 6] = sd, (sd >= sd.max() - 1e-6) & (sd > 0)
    pieces = np.zeros((len(p.pieces) + 1, len(w)), np.float32)
    for k, (a, b) in enumerate(p.pieces):
        pieces[k] = m[:, a:b].max(1)
    around = np.maximum(np.maximum(l[p.line], pieces[p.heading]), np.maximum(pieces[p.header], pieces[p.first]))
    ld = around @ w
    f[:, 7], f[:, 8] = ld, (ld >= ld.max() - 1e-6) & (ld > 0)
    f[:, 9] = pieces[p.heading] @ w
    f[:, 10] = pieces[p.keyed] @ w
    f[:, 11] = pieces[p.header] @ w
    f[:, 12] = l[p.line] @ w
    near = np.maximum(np.maximum(s[p.sentence], pieces[p.heading]), np.maximum(pieces[p.header], pieces[p.first])) @ w
    f[:, 15], f[:, 16], f[:, 17], f[:, 19] = near, sd.max(), ld.max(), (near >= near.max() - 1e-6) & (near > 0)
    before = np.concatenate([np.zeros((1, len(w)), np.float32), s[:-1]])
    f[:, 20] = (np.maximum(before, s) @ w)[p.sentence]  # the sentence and the one before it

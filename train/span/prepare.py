"""python3 -m train.span.prepare --data DIR --work DIR: vocabulary, corpus for vectors.c, questions with near passages that do not answer.
Where lexicon.py has written WORK/lexicon.pkl, its texts are read, too, and 20,000 everyday words follow the frequent ones.
--more FILE adds plain texts, divided by lines <|endoftext|>, for the word vectors alone; those that share 13 words in a row with a
passage to judge by, of DATA or of --without FILE (SQuAD's form), are left out.

Then: gcc -O3 -march=native -ffast-math -o WORK/vectors train/span/vectors.c -lm -lpthread; (cd WORK; ./vectors 48000 10000 6)"""
import argparse
import collections
import glob
import gzip
import json
import lzma
import os
import pickle
import random

import numpy as np

from .bm25 import BM25, stems
from .measure import norm
from .words import idf, lower, parts, words

TWICE = {"by-sa__wikipedia": 2, "cc0__factbook": 2, "lexicon": 2}
KNOWN, EVERYDAY, WINDOW = 28000, 20000, 150
ENDINGS = (("ies", "y"), ("es", ""), ("es", "e"), ("s", ""), ("ied", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"), ("er", ""), ("er", "e"), ("est", ""), ("ly", ""))
DEVELOPMENT = .02  # of the passages of training are kept to tune on


def rows(path):
    with (lzma.open(path, "rt") if path.endswith("xz") else gzip.open(path, "rt")) as f:
        yield from map(json.loads, f)


def of_a_dictionary(word, lemmas):
    """Whether a word, or what it is a form of, is among a dictionary's."""
    if word in lemmas:
        return True
    stems = [word[:-len(s)] + r for s, r in ENDINGS if word.endswith(s) and len(word) - len(s) > 2]
    return any(x in lemmas or (len(x) > 3 and x[-1] == x[-2] and x[:-1] in lemmas) for x in stems)


def everyday(known, count, lemmas):
    """Words of a dictionary or the scenes that prose has seldom; what the scenes have counts five times."""
    here = os.path.dirname(__file__)
    own = collections.Counter(lower(x) for f in glob.glob(here + "/scenes/*.txt") + [here + "/synonyms.txt"] for x in words(open(f, encoding="utf-8").read()))
    have = set(known)
    weight = {w: count[w] + 5 * own[w] for w in set(count) | set(own)
              if w not in have and w.isalpha() and len(w) > 2 and (own[w] > 1 or of_a_dictionary(w, lemmas))}
    return sorted(weight, key=lambda w: (-weight[w], w))[:EVERYDAY]


def passages(data, without):
    """What no text for the vectors may share 13 words in a row with."""
    for f in sorted(glob.glob(data + "/qa/judge/*")):
        yield from {x["passage"] for x in rows(f)}
    for f in without:
        for page in json.load(open(f))["data"]:
            yield from (p["context"] for p in page["paragraphs"])


def runs(low):
    return (" ".join(low[i:i + 13]) for i in range(len(low) - 12))


def more(files, kept_apart):
    """The words of further texts, each text a list."""
    apart = {g for p in kept_apart for g in runs([lower(x) for x in words(p)])}
    for f in files:
        for d in open(f, encoding="utf-8").read().split("<|endoftext|>"):
            low = [lower(x) for x in words(d)]
            if low and apart.isdisjoint(runs(low)):
                yield low


def corpus(data, work, further=()):
    count, df, windows, texts, documents, seen = collections.Counter(), collections.Counter(), 0, [], [], set()
    for f in sorted(glob.glob(data + "/prose/train/*.xz")):
        name = os.path.basename(f).split(".")[0]
        documents += [(name, d.strip()) for d in lzma.open(f, "rt").read().split("<|endoftext|>") if d.strip()]
    asked = [("qa", t) for f in sorted(glob.glob(data + "/qa/train/*.xz")) for x in rows(f) for t in (x["question"], x["passage"])]
    for name, d in documents + asked:
        if name == "qa" and d in seen:
            continue
        seen.add(d if name == "qa" else "")
        w = [lower(x) for x in words(d)]
        texts.append((name, w))
        count.update(w)
        for i in range(0, len(w), WINDOW):
            df.update(set(w[i:i + WINDOW]))
            windows += 1
    known = [w for w, _ in count.most_common(KNOWN)]
    if os.path.exists(work + "/lexicon.pkl"):
        lines, lemmas, _ = pickle.load(open(work + "/lexicon.pkl", "rb"))
        texts += [("lexicon", [lower(x) for x in words(d)]) for d in lines]
        for _, w in texts[-len(lines):]:
            count.update(w)
        known += everyday(known, count, lemmas)
    pickle.dump((known, [idf(df[w] if df[w] > 1 else 0, windows) for w in known]), open(work + "/vocabulary.pkl", "wb"))
    pickle.dump(documents, open(work + "/docs.pkl", "wb"))
    for low in further:
        texts.append(("more", low))
        count.update(low)
    row = {w: i + 1 for i, w in enumerate(known)}
    types = [w for w, c in count.most_common() if c >= (8 if further and w not in row else 3)]
    number = {w: i for i, w in enumerate(types)}
    pickle.dump({w: count[w] for w in known}, open(work + "/counts.pkl", "wb"))
    np.array([[row.get(w, 0)] + parts(w) for w in types], np.int32).tofile(work + "/types.bin")
    np.array([count[w] for w in types], np.int32).tofile(work + "/tcnt.bin")
    out = [np.array([number.get(x, -1) for x in w] + [-2], np.int32) for n, w in texts for _ in range(TWICE.get(n, 1))]
    np.concatenate([out[i] for i in np.random.RandomState(0).permutation(len(out))]).tofile(work + "/corpus.bin")


class Passages:
    def __init__(self):
        self.texts, self.number = [], {}

    def add(self, p):
        if p not in self.number:
            self.number[p] = len(self.texts)
            self.texts.append(p)
        return self.number[p]


def questions(data, part):
    """-> (passages, questions) of one part, with what does not answer each: other passages of its page, and the nearest by BM25."""
    P, Q = Passages(), []
    for f in sorted(glob.glob(f"{data}/qa/{part}/*")):
        source = os.path.basename(f).split(".")[0]
        for x in rows(f):
            none = bool(x.get("unanswerable"))
            answers = [] if none else [s for s in x["answers"] if part == "judge" or (s and s in x["passage"])]
            if answers or none:
                Q.append(dict(src=source, title=x.get("title", ""), pid=P.add(x["passage"]), q=x["question"], a=answers, sup=x.get("support"),
                              doc=x.get("doc") or x.get("title") or "", sent=bool(x.get("answer_is_sentence"))))
    index, flat = BM25([stems(p)[:WINDOW] for p in P.texts]), [" " + norm(p) + " " for p in P.texts]
    pages, rng = collections.defaultdict(set), random.Random(1)
    for q in Q:
        pages[q["src"], q["doc"]].add(q["pid"])
    for q in Q:
        right = [" " + norm(s) + " " for s in q["a"]]

        def wrong(i):
            return i != q["pid"] and not any(s in flat[i] for s in right)
        same = [i for i in sorted(pages[q["src"], q["doc"]]) if wrong(i)] if q["doc"] else []
        rng.shuffle(same)
        q["same"], q["near"] = same[:4], [i for i in index.best(stems(q["q"]), 12) if wrong(i)][:5]
    return P.texts, Q


def divide(passages, rows_):
    """Training's questions and those to tune on: by the passage's page, so that neither has seen the other's."""
    pages = sorted({(x["src"], x["doc"] or str(x["pid"])) for x in rows_})
    random.Random(3).shuffle(pages)
    kept = set(pages[:int(len(pages) * DEVELOPMENT)])
    return ([x for x in rows_ if (x["src"], x["doc"] or str(x["pid"])) not in kept],
            [x for x in rows_ if (x["src"], x["doc"] or str(x["pid"])) in kept])


if __name__ == "__main__":
    a = argparse.ArgumentParser(prog="python3 -m train.span.prepare")
    a.add_argument("--data", required=True)
    a.add_argument("--work", default="build/span")
    a.add_argument("--questions-only", action="store_true")
    a.add_argument("--more", action="append", default=[])
    a.add_argument("--without", action="append", default=[])
    o = a.parse_args()
    os.makedirs(o.work, exist_ok=True)
    if not o.questions_only:
        corpus(o.data, o.work, list(more(o.more, passages(o.data, o.without))))
    P, T = questions(o.data, "train")
    T, D = divide(P, T)
    pickle.dump((P, T), open(o.work + "/train.pkl", "wb"))
    pickle.dump((P, D), open(o.work + "/development.pkl", "wb"))
    pickle.dump(questions(o.data, "judge"), open(o.work + "/judge.pkl", "wb"))
    print(len(P), "passages", len(T), "questions,", len(D), "to tune on")

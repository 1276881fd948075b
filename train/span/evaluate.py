"""python3 -m train.span.evaluate FILE.gguf --work DIR --xquad FILE: what the exported reader gets right.

For each set: how many, exact match, F1, whether the sentence around the span holds the answer; 95 % intervals. For refusing: AUROC of
P(no answer), and what a threshold from the development questions (15 % of the answerable ones refused) does elsewhere."""
import argparse
import collections
import json
import pickle
import random

import numpy as np
import torch

from . import attributes, data, kernels, model as shape, pages, values
from .bm25 import BM25, stems
from .measure import auroc, exact, f1, holds, interval
from .reference import Reader as Reference
from .words import MAX_PASSAGE, MAX_QUESTION, analyse

REFUSED = .15  # of the answerable development questions, at the threshold


class Found:
    """The best span of a passage: its text, its sentence, P, P(no answer), log of its odds against no answer, of all spans' odds."""
    __slots__ = ("text", "sentence", "p", "none", "odds", "mass")


class Loaded:
    """An exported file, run by torch."""

    def __init__(self, path):
        r = Reference(path)
        self.v, self.meta = r.v, r.meta
        self.bias, self.temperature = r.number("none_bias"), r.number("temperature")
        self.m = shape.Reader(r.number("vocab_size"), r.number("embedding_length"), r.number("hidden_length"), r.encoders, r.layers)
        self.m.load_state_dict({k: torch.tensor(x) for k, x in r.t.items() if k != "idf"})
        self.m.eval()
        self.kept = {}

    def text(self, passage):
        if passage not in self.kept:
            if len(self.kept) > 20000:
                self.kept.clear()
            self.kept[passage] = analyse(self.v, passage, MAX_PASSAGE)
        return self.kept[passage]

    @torch.no_grad()
    def read(self, pairs, batch=40):
        """[(question, passage)] -> [Found]"""
        texts = [(analyse(self.v, q, MAX_QUESTION), self.text(p)) for q, p in pairs]
        out = [None] * len(pairs)
        good = [i for i, (q, p) in enumerate(texts) if len(q) and len(p)]
        order = sorted(good, key=lambda i: len(texts[i][1]))
        for k in range(0, len(order), batch):
            ix = order[k:k + batch]
            b = data.collate(self.v, [data.Item(texts[i][1], [(texts[i][0], [])]) for i in ix])
            s, none = self.m({n: torch.from_numpy(x) for n, x in b.items()})
            s, none = s.flatten(1) / self.temperature, (none + self.bias) / self.temperature
            mass = s.logsumexp(1)
            z = torch.logaddexp(mass, none)
            best, at = s.max(1)
            for i, x, a, n, l, t in zip(ix, best.tolist(), at.tolist(), none.tolist(), mass.tolist(), z.tolist()):
                out[i] = self.found(texts[i][1], a, x, n, l, t)
        return out

    @staticmethod
    def found(p, at, best, none, mass, z):
        f, (a, n) = Found(), divmod(at, shape.LONGEST)
        b = min(a + n, len(p) - 1)
        same = np.flatnonzero(p.sentence == p.sentence[a])
        f.text, f.sentence = p.text[p.begin[a]:p.end[b]], p.text[p.begin[same[0]]:p.end[same[-1]]]
        f.p, f.none, f.odds, f.mass = float(np.exp(best - z)), float(np.exp(none - z)), best - none, mass - none
        return f


def score(f, right):
    return exact(f.text, right), f1(f.text, right), float(holds(f.sentence, right) or any(holds(g, [f.sentence]) for g in right))


def line(name, rows):
    """rows of (exact, F1, sentence)."""
    print("%-34s %5d  " % (name, len(rows)) + "  ".join("%s %5.1f ±%.1f" % ((k,) + interval([r[i] for r in rows])) for i, k in enumerate(("exact", "F1", "sentence"))), flush=True)


def xquad(path):
    """[(title, passage, question, answers)]"""
    out = []
    for a in json.load(open(path))["data"]:
        for c in a["paragraphs"]:
            for q in c["qas"]:
                out.append((a["title"].replace("_", " "), c["context"], q["question"], [x["text"] for x in q["answers"]]))
    return out


def pieces(v, text, n=3):
    """Passages of up to n sentences."""
    t = analyse(v, text, 5000)
    out, last = [], int(t.sentence[-1])
    for k in range(0, last + 1, n):
        i = np.flatnonzero((t.sentence >= k) & (t.sentence < k + n))
        out.append((t.begin[i[0]], t.end[i[-1]], len(i)))
    if len(out) > 1 and out[-1][2] < 25:
        b = out.pop()
        out[-1] = (out[-1][0], b[1], 0)
    return [text[a:b] for a, b, _ in out]


def opened(m, questions, passages, k=8):
    """questions: [(question, answers)], passages: [(title, text)] -> for each question [(Found, BM25's share of the best, whether the answer is there)]."""
    index = BM25([stems(t + " " + p) for t, p in passages])
    pairs, where = [], []
    for i, (q, right) in enumerate(questions):
        s = index.scores(stems(q))
        top = np.argsort(-s, kind="stable")[:k]
        for j in top:
            pairs.append((q, (passages[j][0] + "\n\n" if passages[j][0] else "") + passages[j][1]))
            where.append((i, float(s[j] / (s[top[0]] + 1e-6)), holds(passages[j][1], right)))
    out = [[] for _ in questions]
    for f, (i, share, there) in zip(m.read(pairs), where):
        out[i].append((f, share, there))
    return out


def chosen(rows, weight):
    return [max(r, key=lambda x: x[0].odds + weight * x[1]) for r in rows]


def development(m, work, most=800):
    """The threshold on P(no answer), and its AUROC, on questions kept from training and the generator's held-out patterns."""
    P, rows = pickle.load(open(work + "/development.pkl", "rb"))
    rng = random.Random(1)
    rows = [x for x in rows if x["src"] != "qasrl-gs" and (x["src"] != "qamr" or rng.random() < .25)]
    rng.shuffle(rows)
    rows = rows[:most]
    head = lambda x: x["title"].replace("_", " ") + "\n" if x["title"] else ""
    yes = [(x["q"], head(x) + P[x["pid"]]) for x in rows if x["a"]]
    no = [(x["q"], head(x) + P[i]) for x in rows if x["a"] for i in x["same"][:1] + x["near"][:1]] + [(x["q"], P[x["pid"]]) for x in rows if not x["a"]]
    made = held(250)
    yes += [(q, t) for t, qs, _ in made for q, at in qs if at]
    no += [(q, t) for t, qs, _ in made for q, at in qs if not at]
    fy, fn = m.read(yes), m.read(no)
    a, b = [f.none for f in fy], [f.none for f in fn]
    threshold = sorted(a)[int((1 - REFUSED) * len(a))]
    line("development", [score(f, x["a"]) for x, f in zip([x for x in rows if x["a"]], fy)])
    x, y = np.array([-f.mass for f in fy + fn]), np.array([0] * len(a) + [1] * len(b))
    bias = min(np.arange(-3, 3.01, .1), key=lambda c: np.logaddexp(0, np.where(y, -(x + c), x + c)).mean())
    print("development: P(no answer) means what it says with none_bias %+.1f" % (bias + m.bias))
    print("development: AUROC of P(no answer) %.3f (%d answerable, %d not); threshold %.4f refuses %.1f %% and %.1f %%" % (
        auroc(b, a), len(a), len(b), threshold, 100 * np.mean(np.array(a) > threshold), 100 * np.mean(np.array(b) > threshold)), flush=True)
    return threshold


def held(n, seed=9):
    """Passages of the generator with questions in patterns that training never saw."""
    state, attributes.HELD[0] = random.getstate(), True
    random.seed(seed)
    out = [r for r in (pages.generated() for _ in range(n)) if r]
    attributes.HELD[0] = False
    random.setstate(state)
    return out


def refusing(name, yes, no, threshold):
    a, b = np.array([f.none for f in yes]), np.array([f.none for f in no])
    if len(a) and len(b):
        print("%-34s AUROC %.3f; at the threshold %.1f %% of %d answerable refused, %.1f ±%.1f %% of %d others" % (
            (name, auroc(b, a), 100 * (a > threshold).mean(), len(a)) + interval([float(x) for x in b > threshold]) + (len(b),)), flush=True)


def judge(m, work, threshold, most):
    P, rows = pickle.load(open(work + "/judge.pkl", "rb"))
    by = collections.defaultdict(list)
    for x in rows:
        by[x["src"]].append(x)
    all_yes, all_no, every = [], [], []
    for source in sorted(by):
        random.Random(0).shuffle(by[source])
        use = by[source][:most]
        head = lambda x: x["title"].replace("_", " ") + "\n" if x["title"] else ""
        good = [x for x in use if x["a"]]
        yes = m.read([(x["q"], head(x) + P[x["pid"]]) for x in good])
        no = m.read([(x["q"], head(x) + P[i]) for x in use for i in x["same"][:1] + x["near"][:1]] + [(x["q"], head(x) + P[x["pid"]]) for x in use if not x["a"]])
        r = [score(f, x["a"]) for f, x in zip(yes, good)]
        line("judge " + source, r)
        refusing("", yes, no, threshold)
        all_yes, all_no, every = all_yes + yes, all_no + no, every + r
    line("judge, all", every)
    refusing("judge, all", all_yes, all_no, threshold)


def generated(m, threshold, n):
    by, yes, no = collections.defaultdict(list), [], []
    made = held(n, seed=10)
    found = m.read([(q, t) for t, qs, _ in made for q, _ in qs])
    k = 0
    for t, qs, name in made:
        for q, at in qs:
            f = found[k]
            k += 1
            (yes if at else no).append(f)
            if at:
                by[name].append(score(f, [t[a:b] for a, b in at]))
    for name in sorted(by):
        line("generated " + name, by[name])
    line("generated, all", [r for x in by.values() for r in x])
    refusing("generated, all", yes, no, threshold)


def retrieved(m, work, most=300):
    """Development questions, each with the 8 windows that BM25 finds -> (questions, windows read). As in the program, a question is
    refused if P(no answer) is above the threshold in all of them; without answer: the windows that hold it are left out."""
    P, rows = pickle.load(open(work + "/development.pkl", "rb"))
    rows = [x for x in rows if x["src"] in ("squadshifts-new-wiki", "timeqa", "adversarial-qa", "squad-train-part") and x["a"]][:most]
    pas = {}
    for x in rows:
        for y in [x["pid"]] + x["same"] + x["near"]:
            for t in pieces(m.v, P[y]):
                pas.setdefault(t, x["title"].replace("_", " ") if y == x["pid"] else "")
    dev = opened(m, [(x["q"], x["a"]) for x in rows], [(t, p) for p, t in pas.items()], 12)
    yes = [min(c[0].none for c in r[:8]) for r in dev if any(c[2] for c in r[:8])]
    no = [min(none) for none in ([c[0].none for c in r if not c[2]][:8] for r in dev) if none]
    threshold = sorted(yes)[int((1 - REFUSED) * len(yes))]
    print("development, 8 windows: AUROC of the least P(no answer) %.3f; threshold %.4f refuses %.1f %% of %d and %.1f %% of %d" % (
        auroc(no, yes), threshold, 100 * np.mean(np.array(yes) > threshold), len(yes), 100 * np.mean(np.array(no) > threshold), len(no)), flush=True)
    return rows, [r[:8] for r in dev]


def read_open(m, X, threshold, rows, dev):
    """The weight of BM25 from the development questions, then XQuAD open."""
    weight = max((0, .5, 1, 2, 3, 4, 6, 8, 12), key=lambda w: np.mean([score(c[0], x["a"])[1] for c, x in zip(chosen(dev, w), rows)]))
    pas = {}
    for t, c, _, _ in X:
        for p in pieces(m.v, c):
            pas.setdefault(p, t)
    r = opened(m, [(q, a) for _, _, q, a in X], [(t, p) for p, t in pas.items()])
    print("XQuAD open: %d passages, recall at 8 %.1f, weight of BM25 %g" % (len(pas), 100 * np.mean([any(x[2] for x in c) for c in r]), weight))
    line("XQuAD shared half, open", [score(c[0], x[3]) for c, x in zip(chosen(r, weight), X)])
    none = [max([x for x in c if not x[2]], key=lambda x: x[0].odds + weight * x[1]) for c in r if any(not x[2] for x in c)]
    refusing("XQuAD open, without the answer", [c[0] for c in chosen(r, weight)], [c[0] for c in none], threshold)


def searched(m, path):
    """What lab answers --found printed: the best span of all passages of a question, by its odds, without the program's curves and rules."""
    by = collections.defaultdict(list)
    for x in map(json.loads, open(path, encoding="utf-8")):
        if x["passages"]:
            best = max((f for f in m.read([(x["question"], p) for p in x["passages"]]) if f), key=lambda f: f.odds)
            by[x["set"]].append((best, [g for part in x["parts"] for g in part["answers"]], [part["sentence"] for part in x["parts"]]))
    for name, rows in by.items():
        line("found " + name, [(exact(f.text, right), f1(f.text, right), float(holds(f.sentence, right) or any(holds(f.sentence, [s]) or holds(s, [f.text]) for s in says)))
                               for f, right, says in rows if right])
        yes, no = [f.odds for f, right, _ in rows if right], [f.odds for f, right, _ in rows if not right]
        if yes and no:
            print("%-34s AUROC %.3f" % ("", auroc(yes, no)))


def main():
    a = argparse.ArgumentParser(prog="python3 -m train.span.evaluate")
    a.add_argument("file")
    a.add_argument("--work", default="build/span")
    a.add_argument("--xquad", default="")
    a.add_argument("--found", default="", help="what lab answers --found printed; only this is measured")
    a.add_argument("--most", type=int, default=400, help="questions of a judge set")
    a.add_argument("--made", type=int, default=500, help="passages of the generator")
    a.add_argument("--only", default="xquad,open,judge,generated")
    a.add_argument("--threads", type=int, default=1)
    o = a.parse_args()
    torch.set_num_threads(o.threads)
    if kernels.build():
        shape.ops = kernels.Compiled
    m = Loaded(o.file)
    if o.found:
        return searched(m, o.found)
    values.learn(pickle.load(open(o.work + "/docs.pkl", "rb")), m.v.words)
    threshold = development(m, o.work)
    X = xquad(o.xquad) if o.xquad else []
    if X and "xquad" in o.only:
        line("XQuAD shared half, paragraph", [score(f, x[3]) for f, x in zip(m.read([(q, t + "\n" + c) for t, c, q, _ in X]), X)])
    if X and "open" in o.only:
        read_open(m, X, threshold, *retrieved(m, o.work))
    if "judge" in o.only:
        judge(m, o.work, threshold, o.most)
    if "generated" in o.only:
        generated(m, threshold, o.made)


if __name__ == "__main__":
    main()

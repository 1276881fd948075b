"""Races: a question with several passages that a search may find for it, of which one answers, or none.

Read one by one, a passage learns whether it answers; the odds of several passages need not compare. In a race they must: the loss is the
cross-entropy of the right spans among the spans of all its passages and "no answer" (shared normalisation: Clark and Gardner, "Simple and
effective multi-paragraph reading comprehension", 2018), where each span counts by its odds against its own passage's "no answer", as the
program compares them."""
import random

import numpy as np

from ..documents import document, names_it, rival
from ..names import Source
from ..questions import ask
from . import data, pages
from .bm25 import stems
from .cloze import SENTENCE
from .data import Item, analyse, collate, made, window
from .notes import places
from .words import MAX_QUESTION

PASSAGES = 6  # of a race at most
UNANSWERED = .2  # of the races
RIVALS = .45  # of those out of pages: nobody answers, though something near is there


def best_window(text, asked, without):
    """A window around the sentence that has most of the question's stems, without any of some texts; None if there is none."""
    at, most = None, 0
    a = 0
    for m in list(SENTENCE.finditer(text)) + [None]:
        b = m.end() if m else len(text)
        n = len(asked & set(stems(text[a:b]))) + random.random()
        if n > most and b > a:
            at, most = (a, b), n
        a = b
    if not at:
        return None
    begin, end = window(text, at[0], max(at[0], at[1] - 1))
    piece = text[begin:end].strip()
    return None if any(g in piece for g in without) else piece


class Sets:
    """Races out of question sets: the other passages are near ones, and other windows of the passage that answers."""

    def __init__(self, questions):
        self.q = questions

    def race(self):
        q = self.q
        x = random.choices(q.rows, cum_weights=q.weights)[0]
        if x["src"] in data.SHORT or x["sent"]:
            return None
        items, text = [], q.question(x)
        right = q.made(q.passages[x["pid"]], [x])
        answered = bool(right and x["a"] and right.questions[0][1])
        if x["a"] and not answered:
            return None
        if answered:
            text = right.questions[0][0]
            if random.random() > UNANSWERED:
                items.append(Item(right.p, right.questions[:1]))
        elif right:
            items.append(Item(right.p, [(text, [])]))
        asked = set(stems(x["q"]))
        others = [(i, True) for i in x["near"]] + [(i, False) for i in x["same"]]
        random.shuffle(others)
        if len(q.passages[x["pid"]]) > 900:
            others = [(x["pid"], True)] * random.randrange(2) + others
        for pid, _ in others[:PASSAGES - 1]:
            piece = best_window(q.passages[pid], asked, x["a"]) if random.random() < .8 else q.passages[pid]
            if piece and not any(g in piece for g in x["a"]):
                p = analyse(q.v, q.head(dict(title=self.title(pid))) + piece, data.WINDOW)
                if len(p) >= data.SHORTEST:
                    items.append(Item(p, [(text, [])]))
        return items if len(items) > 1 else None

    def title(self, pid):
        of = self.q.of.get(pid)
        return of[0]["title"] if of else ""


def of_pages(v):
    """A race among windows of a generated page and of others."""
    p, _ = pages.page()
    if len(p.text.strip()) < 60 or not p.facts:
        return None
    if random.random() < RIVALS:
        return of_rivals(v, p)
    counts = {}
    for f in p.facts:
        for q in f.asks:
            counts.setdefault(q, set()).add(tuple(f.places()))
    f = random.choice(p.facts)
    ok = [q for q in f.asks if len(counts[q]) == 1]
    if not ok:
        return None
    plain = random.choice(ok)
    question, texts, seen = pages.asked(plain), [p.text[a:b] for a, b in f.places()], set()
    right, wrong = [], []
    for _ in range(6):
        text, gone = pages.window(p)
        if text in seen:
            continue
        seen.add(text)
        there = [(a - gone, b - gone) for a, b in f.places() if a - gone >= 0 and b - gone <= len(text) and p.text[a:b] == text[a - gone:b - gone]]
        if there:
            right.append((text, there))
        elif not any(t in text for t in texts):
            wrong.append(text)
    stem = set(stems(plain))
    for _ in range(12):
        other, _ = pages.page()
        if plain not in {q for g in other.facts for q in g.asks} and not any(t in other.text for t in texts) and other.text.strip():
            wrong.append((len(stem & set(stems(other.text))), pages.window(other)[0]))
    near = sorted((w for w in wrong if isinstance(w, tuple)), key=lambda w: -w[0])[:4]
    return together(v, question, right[:1] if random.random() > UNANSWERED else [], [w for w in wrong if isinstance(w, str)][:3] + [w for _, w in near])


def of_rivals(v, p):
    """A race that nobody wins: what is asked stands next to facts that are there."""
    q = random.choice(p.none) if p.none and random.random() < .75 else pages.missing(p)
    if not q or any(q in f.asks for f in p.facts):
        return None
    windows = {pages.window(p)[0] for _ in range(3)}
    return together(v, pages.asked(q), [], sorted(windows) + [pages.window(pages.page()[0])[0] for _ in range(2)])


def of_notes(v):
    """A race among documents of one of the built-in decoder's generated worlds."""
    s, taken = Source(random.random()), set()
    documents = [document(s, taken) for _ in range(random.randrange(4, 8))]
    facts = [(k, f, sentence) for k, (_, _, parts) in enumerate(documents) for p in parts for f, sentence in zip(p.facts, p.sentences)]
    k, f, sentence = random.choice(facts)
    texts = [text for _, text, _ in documents]
    if random.random() < .15:
        g = rival(s, [x for _, x, _ in facts])
        if g and not any(g.value.lower() in text.lower() for _, text, _ in documents):
            return together(v, ask(s, g).question, [], texts)
    text = documents[k][1]
    if not names_it(f, sentence, text) or sum(f.value in t for t in texts) != 1:
        return None
    at = places(text, sentence, f.value)
    if not at:
        return None
    question = ask(s, f).question
    return together(v, question if random.random() < .7 else pages.asked(question), [(text, [at])] if random.random() > UNANSWERED else [],
                    [t for i, t in enumerate(texts) if i != k])


def together(v, question, right, wrong):
    items = []
    for text, at in right + [(w, None) for w in wrong[:PASSAGES]]:
        x = made(v, text, [(question, at)])
        if x and len(x.questions[0][0]):
            items.append(x)
    if len(items) < 2:
        return None
    for x in items[1:]:  # typed alike
        x.questions = [(items[0].questions[0][0], x.questions[0][1])]
    return items[:PASSAGES]


def batch(v, races, tokens):
    """The arrays of a batch of races. races: [(weight, race())]."""
    items, group, size, n = [], [], 0, 0
    weights = np.cumsum([w for w, _ in races]).tolist()
    while size < tokens:
        r = random.choices(races, cum_weights=weights)[0][1]()
        if not r or any(len(x.questions[0][0]) == 0 for x in r):
            continue
        items += r
        group += [n] * len(r)
        n += 1
        size = len(items) * (max(len(x.p) for x in items) + 15)
    out = collate(v, items)
    out["group"] = np.array(group, np.int64)
    return out

"""Items (a passage and questions about it) from prose, question sets and the generator, and batches of them."""
import bisect
import os
import pickle
import random
import re

import numpy as np

from . import cloze
from .features import features
from .model import LONGEST
from .words import BASE, MATCH, MAX_PASSAGE, MAX_QUESTION, STOP, analyse, stem, words

SHORTEST, WINDOW = 4, 200
PROSE = {"by-sa__wikipedia": 3, "cc0__factbook": 1.5, "cc0__standardebooks": .3, "cc-by__plos": .5, "mit__meetings-qmsum": .6,
         "unlicense__recipes": 4, "cc-by__town-pages": 4, "mit-ogl__uk-gov": 2, "cc0__usgov-guides": 2, "cc-by__guides": 2,
         "apache__sourcegraph-handbook": 2, "cc0__digitalgov": 1.5}
SETS = {"adversarial-qa": 3, "asked": 3, "covid-qa": .5, "dstc9-faq": .3, "fairytaleqa": .8, "medquad": .2, "natural-questions": 2.5,
        "natural-questions-lists": 2, "omos-qa": 2, "qamr": .7,
        "qasrl-gs": .1, "quoref": 2, "selqa": 1, "squad-train-part": 3, "squadshifts-new-wiki": 3, "tat-qa": 2, "timeqa": 2, "wiki-tables": 1.5}


NAME = re.compile(r"\b[A-Z][a-zà-ÿ]+(?: [A-Z][a-zà-ÿ]+)*")
SHORT = ("qamr", "qasrl-gs", "dstc9-faq")  # sets whose passages are a sentence


class Item:
    """A passage and its questions: [(Text, right spans)], a span being (first word, last word); a triple ("in", a, b) stands for
    every span between words a and b; none: the passage does not answer."""
    __slots__ = ("p", "questions")

    def __init__(self, p, questions):
        self.p, self.questions = p, questions


def span(p, a, b):
    """The words that characters a to b of a passage cover, if they begin and end where words do."""
    try:
        i, j = p.begin.index(a), p.end.index(b)
    except ValueError:
        return None
    return (i, j) if 0 <= j - i < LONGEST else None


def cut(v, text, a, b):
    """The passage cut to WINDOW words around characters a to b, and how many characters are gone before."""
    from .words import WORD
    spans = [m.span() for m in WORD.finditer(text)]
    if len(spans) <= WINDOW:
        return text, 0
    at = next((i for i, (s, e) in enumerate(spans) if e > a), len(spans) - 1)
    lo = min(max(0, at - random.randrange(20, WINDOW - 40)), len(spans) - WINDOW)
    return text[spans[lo][0]:spans[lo + WINDOW - 1][1]], spans[lo][0]


class Prose:
    """Cloze questions out of documents [(source, text)]."""

    def __init__(self, v, documents, synonyms, weights=PROSE):
        self.v, self.documents, self.synonyms, self.sentences = v, documents, synonyms, {}
        self.weights = np.cumsum([weights.get(n, 1) * min(len(d), 20000) for n, d in documents]).tolist()

    def item(self):
        i = random.choices(range(len(self.documents)), cum_weights=self.weights)[0]
        s = self.sentences.get(i)
        if s is None:
            s = self.sentences[i] = [x for x in cloze.SENTENCE.split(self.documents[i][1]) if x and 15 < len(x) < 600]
        if len(s) < 3:
            return None
        r = cloze.item(s, self.documents[i][1][:80].split("\n")[0], self.synonyms)
        return r and made(self.v, *r)


def made(v, text, questions):
    """An Item of a text and [(question, span of characters, several of them, or None)]."""
    p, out = analyse(v, text, WINDOW), []
    for q, at in questions:
        gold = []
        if at:
            gold = [g for g in (span(p, *x) for x in ([at] if isinstance(at, tuple) else at)) if g]
            if not gold:
                continue
        out.append((analyse(v, q, MAX_QUESTION), gold))
    return Item(p, out) if out and len(p) >= SHORTEST else None


def window(text, a, b):
    """The characters of a window of whole sentences or lines around characters a to b, about as long as the program's."""
    size = random.randrange(180, 700)
    ends = [m.end() for m in cloze.SENTENCE.finditer(text)] + [len(text)]
    lo = hi = bisect.bisect_right(ends, a)
    while hi + 1 < len(ends) and ends[hi] < b:
        hi += 1
    while True:
        begin, end = ends[lo - 1] if lo else 0, ends[min(hi, len(ends) - 1)]
        if end - begin >= size or (lo == 0 and hi >= len(ends) - 1):
            return begin, end
        if lo and (hi >= len(ends) - 1 or random.random() < .5):
            lo -= 1
        else:
            hi += 1


class Questions:
    """The question sets. rows: dicts with pid, q, a, sup, src, title, sent, same, near (prepare.py). Half of the passages are cut to
    windows; a question whose answer is then gone stays as one that the passage does not answer."""

    def __init__(self, v, passages, rows, weights=SETS, titled=.5, windows=.5):
        self.v, self.passages, self.rows, self.titled, self.windows = v, passages, rows, titled, windows
        self.weights = np.cumsum([weights[x["src"]] for x in rows]).tolist()
        self.of, self.wrong = {}, {}
        for x in rows:
            self.of.setdefault(x["pid"], []).append(x)
            for pid in x["same"] + x["near"]:
                self.wrong.setdefault(pid, []).append(x)

    def item(self):
        x = random.choices(self.rows, cum_weights=self.weights)[0]
        if x["src"] in SHORT and random.random() < .75:
            return self.made(*self.joined(x))
        many = 2 if x["src"] in SHORT else 4
        others = [y for y in self.of[x["pid"]] if y is not x]
        return self.made(self.passages[x["pid"]], [x] + random.sample(others, min(len(others), random.randrange(many))))

    def joined(self, x, most=100):
        """Some short passages as one, with questions about each: (text, rows with their places in it)."""
        pids, near = [x["pid"]], x["same"] + x["near"]
        for i in random.sample(near, min(len(near), random.randrange(1, 6))):
            if i not in pids and sum(len(self.passages[j].split()) for j in pids) + len(self.passages[i].split()) < most:
                pids.append(i)
        random.shuffle(pids)
        text, rows, between = "", [], random.choice((" ", " ", " ", "\n", "\n\n"))
        for i in pids:
            here = [x] if i == x["pid"] else []
            others = [y for y in self.of.get(i, []) if y is not x and not y["sent"] or y["sup"]]
            for y in here + random.sample(others, min(len(others), random.randrange(3))):
                a, e = y["sup"] or (0, len(self.passages[i]))
                rows.append(dict(y, sup=(a + len(text), e + len(text))))
            text += self.passages[i] + between
        rows.sort(key=lambda y: y["q"] != x["q"])
        return text.rstrip(), rows[:6]

    def made(self, text, rows):
        """An Item of a text and rows about it, the first of which it holds in any case."""
        x = rows[0]
        at = x["sup"] or ((lambda k: (k, k + len(x["a"][0])))(text.find(x["a"][0])) if x["a"] else (random.randrange(len(text)),) * 2)
        piece, off = cut(self.v, text, *at)
        if random.random() < self.windows and len(piece) > 250:
            begin, end = window(piece, at[0] - off, at[1] - off)
            piece, off = piece[begin:end].rstrip(), off + begin
        head = self.head(x)
        p = analyse(self.v, head + piece, WINDOW)
        out = [y for y in (self.asked(z, p, text, piece, len(head) - off) for z in rows) if y]
        if random.random() < .3:
            q = self.renamed(random.choice(rows)["q"], head + piece)
            if q:
                out.append((analyse(self.v, typed(q), MAX_QUESTION), []))
        wrong = self.wrong.get(x["pid"], [])
        for y in random.sample(wrong, min(len(wrong), sum(random.random() < .45 for _ in range(2)))):
            if not any(g in piece for g in y["a"]):
                out.append((self.question(y), []))
        return Item(p, out) if out and len(p) >= SHORTEST else None

    def renamed(self, q, text):
        """A question about somebody or something else than the passage: a name of it that the passage has is replaced by one that it has not."""
        here = [m for m in NAME.finditer(q) if m.start() and m.group() in text]
        other = [m for m in NAME.finditer(random.choice(self.rows)["q"]) if m.start()]
        if not here or not other:
            return None
        name, new = random.choice(here), random.choice(other).group()
        low = text.lower()
        if any(w in low for w in new.lower().split()):
            return None
        return q[:name.start()] + new + q[name.end():]

    def head(self, x):
        """The title as the program puts it above a window, or another way, or none."""
        title = x["title"].replace("_", " ")
        if not title or random.random() >= self.titled:
            return ""
        return title + random.choice(("\n\n", "\n\n", "\n\n", "\n", ": "))

    def asked(self, x, p, text, piece, shift):
        """(question, right spans), or None if it cannot be told whether the passage answers."""
        gold = self.gold(p, text, x, shift)
        gone = x["a"] and not gold and not x["sent"] and not any(g in piece for g in x["a"])
        if gold or not x["a"] or (gone and random.random() < .6):
            return self.question(x), gold
        return None

    def question(self, x):
        return analyse(self.v, typed(x["q"]), MAX_QUESTION)

    def gold(self, p, text, x, shift):
        if not x["a"]:
            return []
        if x["sent"]:
            a = text.find(x["a"][0])
            s, e = x["sup"] or (a, a + len(x["a"][0]))
            inside = [i for i in range(len(p)) if p.begin[i] >= s + shift and p.end[i] <= e + shift]
            return [("in", inside[0], inside[-1])] if inside else []
        out = []
        for within in (x["sup"], None):
            for g in x["a"]:
                k = text.find(g)
                for _ in range(6):
                    if k < 0:
                        break
                    if (not within or within[0] <= k < within[1]) and k + shift >= 0:
                        s = span(p, k + shift, k + shift + len(g))
                        if s:
                            out.append(s)
                    k = text.find(g, k + 1)
            if out or not within:
                return out


SMALL = set("""what which who whom whose when where why how is are was were do does did the a an of to in on at by for from and it that
this there be been has have had many much kind type name""".split())


def keywords(q):
    """A question as people type it into a search box."""
    w = [x for x in words(q) if x[0].isalnum()]
    kept = [x for i, x in enumerate(w) if x.lower() not in SMALL or (i == 0 and x.lower() in ("when", "where", "who", "how", "why") and random.random() < .4)]
    if len(kept) < 2:
        return q
    if random.random() < .25:
        random.shuffle(kept)
    r = " ".join(kept)
    return r.lower() if random.random() < .7 else r


BEFORE = ("do you know ", "can you tell me ", "i need to know ", "I forgot ", "tell me ", "please, ", "remind me, ", "does anyone know ", "question: ", "quick one: ", "any idea ", "look up ")


def synonyms(path=os.path.join(os.path.dirname(__file__), "synonyms.txt")):
    """What people say instead of a word or two: {word: [others]}."""
    out = {}
    for line in open(path, encoding="utf-8"):
        word, *others = line.strip().split(";")
        out.setdefault(word, []).extend(others)
    return out


SYNONYMS = synonyms()
SAYABLE = re.compile(r"\b(?:" + "|".join(sorted(map(re.escape, SYNONYMS), key=len, reverse=True)) + r")\b")


THESAURUS = {}  # {word: words that a dictionary gives as the same}: see learn_words
WORDY = re.compile(r"(?<![\w-])[a-z]{4,}(?![\w-])")


def learn_words(path, known, most=20000):
    """Take synonyms from what lexicon.py wrote, for the most frequent words, of words that are known."""
    known, common = set(known), known[:most]
    synonyms = pickle.load(open(path, "rb"))[2]
    for word in common:
        others = [s for s in synonyms.get(word, ()) if all(x in known for x in s.split(" "))]
        if others and word not in STOP and word not in SMALL:
            THESAURUS[word] = others


def paraphrased(q, share=.5):
    """A question with other words for some of its words: of our list, or now and then of the dictionary's."""
    if THESAURUS and random.random() < .4:
        return WORDY.sub(lambda m: random.choice(THESAURUS[m.group()]) if m.group() in THESAURUS and random.random() < share else m.group(), q)
    return SAYABLE.sub(lambda m: random.choice(SYNONYMS[m.group()]) if random.random() < share else m.group(), q)


def typed(q, share=1.0):
    """A question as someone may type it: mostly as it is, else keywords, a slip, words before it, no capitals, no question mark."""
    if random.random() < .12 * share:
        q = paraphrased(q)
    r = random.random() / share
    if r < .1:
        q = keywords(q)
    elif r < .14:
        q = random.choice(BEFORE) + q[:1].lower() + q[1:]
    elif r < .24:
        q = q.lower().rstrip("?")
    elif r < .28:
        q = q.rstrip("?") + random.choice((" please", " again", " exactly", "??", " ?"))
    if random.random() < .06 * share:
        q = typo(q)
    return q


def typo(q):
    """A slip of the keyboard in one of a question's longer words."""
    w = q.split(" ")
    long = [i for i, x in enumerate(w) if len(x) > 4 and x.isalpha()]
    if not long:
        return q
    i = random.choice(long)
    x = w[i]
    k, r = random.randrange(1, len(x) - 1), random.random()
    w[i] = (x[:k] + x[k + 1] + x[k] + x[k + 2:] if r < .4 else x[:k] + x[k + 1:] if r < .7 else x[:k] + x[k] + x[k:] if r < .85
            else x[:k] + random.choice("abcdefghijklmnopqrstuvwxyz") + x[k + 1:])
    return " ".join(w)


def eights(n):
    return min((n + 7) // 8 * 8, MAX_PASSAGE)  # a GPU's attention wants it


def collate(v, items):
    """The arrays of a batch."""
    P, B = len(items), sum(len(x.questions) for x in items)
    L, M = eights(max(len(x.p) for x in items)), eights(max(len(q) for x in items for q, _ in x.questions))
    p, q = np.zeros((P, L), np.int64), np.zeros((B, M), np.int64)
    pn, qn, of = np.zeros(P, np.int64), np.zeros(B, np.int64), np.zeros(B, np.int64)
    pb, qb = np.zeros((P, L, BASE), np.float32), np.zeros((B, M, BASE), np.float32)
    pf, qf = np.zeros((B, L, MATCH), np.float32), np.zeros((B, M, MATCH), np.float32)
    gold, answerable = np.zeros((B, L, LONGEST), bool), np.zeros(B, bool)
    k = 0
    for i, x in enumerate(items):
        n = len(x.p)
        p[i, :n], pn[i], pb[i, :n] = x.p.types, n, x.p.base
        for t, right in x.questions:
            m = len(t)
            q[k, :m], qn[k], of[k], qb[k, :m] = t.types, m, i, t.base
            pf[k, :n], qf[k, :m] = features(t, x.p)
            for g in right:
                if g[0] == "in":
                    for a in range(g[1], g[2] + 1):
                        gold[k, a, :min(LONGEST, g[2] - a + 1)] = True
                else:
                    gold[k, g[0], g[1] - g[0]] = True
                answerable[k] = True
            k += 1
    qb[:, :, BASE - 1] = 1
    u, inverse = np.unique(np.concatenate([p.ravel(), q.ravel()]), return_inverse=True)
    return dict(p=inverse[:P * L].reshape(P, L), q=inverse[P * L:].reshape(B, M), pn=pn, qn=qn, of=of, pb=pb, qb=qb, pf=pf, qf=qf,
                gold=gold, answerable=answerable, rows=np.array([v.rows[t] for t in u]), parts=np.array([v.parts[t] for t in u]))


def stream(v, sources, tokens, spoil=None):
    """Batches of about `tokens` words (a passage counts once for each question). sources: [(weight, item())]."""
    weights = np.cumsum([w for w, _ in sources]).tolist()
    while True:
        pool, size = [], 0
        while size < 8 * tokens:
            x = random.choices(sources, cum_weights=weights)[0][1]()
            if x is not None and x.questions:
                x.questions = [y for y in x.questions if len(y[0])]
                if not x.questions:
                    continue
                pool.append(x)
                size += len(x.questions) * (len(x.p) + 15)
        pool.sort(key=lambda x: len(x.p))
        chunks, now, count = [], [], 0
        for x in pool:
            if now and (count + len(x.questions)) * (len(x.p) + 15) > tokens:
                chunks.append(now)
                now, count = [], 0
            now.append(x)
            count += len(x.questions)
        random.shuffle(chunks)
        for c in chunks:
            yield collate(v, c)


def neighbours(v, vectors, many=12000):
    """Words that a question may use for another: the nearest by the vectors."""
    words_, parts_ = vectors
    known = [w for w in v.words[:many]]
    from .words import STOP, parts
    x = np.array([words_[i + 1] + parts_[parts(w)].sum(0) for i, w in enumerate(known)])
    x /= np.linalg.norm(x, axis=1, keepdims=True) + 1e-6
    stop, out = set(STOP), {}
    for a in range(0, many, 1000):
        s = x[a:a + 1000] @ x.T
        for i, row in enumerate(s, a):
            w = known[i]
            if not w.isalpha() or w in stop:
                continue
            near = [known[j] for j in np.argpartition(-row, 5)[:5] if j != i and row[j] > .55 and known[j].isalpha() and known[j] not in stop]
            if near:
                out[w] = near
    return out

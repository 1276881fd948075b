"""Questions made from prose: a phrase cut out of a sentence, the rest thinned and put in another order."""
import re
import random

from .words import STOP, WORD, stem

SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z0-9\"'(])|\n+")
MONTHS = set("January February March April May June July August September October November December".split())
STOP = set(STOP)


def candidates(w):
    """Phrases that could be asked for: [(weight, first word, end, kind)]."""
    n, out = len(w), []
    cap, num = [x[0].isupper() for x in w], [x[0].isdecimal() for x in w]
    con = [x.lower() not in STOP and x[0].isalnum() for x in w]
    i = 1
    while i < n:
        if cap[i] and con[i]:
            j = i + 1
            while j < n and (cap[j] or (w[j] in ("of", "the", "-") and j + 1 < n and cap[j + 1])):
                j += 1
            while j < n and num[j] and w[i] in MONTHS:
                j += 1
            out.append((3, i, j, "name"))
            i = j
        else:
            i += 1
    for i in range(n):
        if num[i]:
            j, year = i + 1, len(w[i]) == 4 and w[i][:2] in ("18", "19", "20", "17", "16")
            if j < n and w[j] in ("%", "percent", "million", "billion"):
                j += 1
            elif not year and random.random() < .4 and j < n and con[j]:
                j += 1
            a = i - 1 if i and w[i - 1] in "$€£" else i
            out.append((3, a, j, "year" if year else "number"))
    i = 0
    while i < n:
        if con[i] and w[i].isalpha():
            j = i
            while j < n and con[j] and w[j].isalpha():
                j += 1
            if j - i <= 4 and i > 0:
                out.append((1, i - (w[i - 1] in ("the", "a", "an") and random.random() < .4), j, "phrase"))
            i = j
        elif w[i] in ("because", "to", "by", "so", "due") and i > 2:
            j = i + 1
            while j < n and w[j] not in ".,;:()":
                j += 1
            if 3 <= j - i <= 14:
                out.append((1.5, i, j, w[i]))
            i += 1
        else:
            i += 1
    return out


def opening(kind, w, a):
    """A question word for what was cut out at word a."""
    before, r = w[a - 1].lower() if a else "", random.random()
    if kind == "year":
        return random.choice(("when", "what year", "in what year", "when")).split()
    if kind == "number":
        return random.choice(("how many", "how much", "what", "how many", "what number of")).split()
    if kind == "name":
        if w[a] in MONTHS:
            return ["when"]
        if before in ("in", "at", "near", "from", "to", "of") and r < .5:
            return random.choice(("where", "which country", "what city", "where")).split()
        return ["who"] if r < .45 else ["what"] if r < .75 else ["which"]
    if kind in ("because", "due", "so"):
        return ["why"]
    if kind == "to":
        return ["why"] if r < .5 else ["what"]
    if kind == "by":
        return ["how"]
    return ["what"] if r < .8 else ["which"]


def _thin(x, synonyms, drop):
    out = []
    for t in x:
        u, r = t.lower(), random.random()
        if not t[0].isalnum():
            if r < .6:
                continue
        elif u in STOP:
            if r < .3:
                continue
        elif r < drop:
            continue
        elif r < drop + .15 and u in synonyms and not t[0].isupper():
            t = random.choice(synonyms[u])
        elif r < drop + .25 and len(stem(u)) > 3:
            t = stem(u)
        out.append(t)
    return out


def question(sentence, elsewhere, synonyms):
    """-> (question, the answer's characters in the sentence) or None. elsewhere: other sentences, to ask by for the same name."""
    found = [(m.group(), m.start(), m.end()) for m in WORD.finditer(sentence)]
    w = [x for x, _, _ in found]
    if not 8 <= len(w) <= 70:
        return None
    c = candidates(w)
    if not c:
        return None
    _, a, b, kind = random.choices(c, [x[0] for x in c])[0]
    s, e = found[a][1], found[b - 1][2]
    src, ia, ib = w, a, b
    if kind == "name" and random.random() < .4:
        others = [x for x in elsewhere if sentence[s:e] in x]
        if others:
            src, t = WORD.findall(random.choice(others)), w[a:b]
            ia = next((i for i in range(len(src)) if src[i:i + len(t)] == t), -1)
            if ia < 0:
                return None
            ib = ia + len(t)
    l, r = src[max(0, ia - random.randint(2, 14)):ia], src[ib:ib + random.randint(2, 14)]
    if r and r[-1] in ".!?":
        r = r[:-1]
    drop = random.choice((.05, .2, .35))
    l, r, wh, g = _thin(l, synonyms, drop), _thin(r, synonyms, drop), opening(kind, w, a), random.random()
    if random.random() < .12:
        wh = []
    aux = [random.choice("did is was does are were do has can".split())] if wh and random.random() < .5 else []
    q = wh + aux + r + l if g < .4 else l + wh + r if g < .55 else wh + aux + l + r
    if sum(t.lower() not in STOP and t[0].isalnum() for t in q) < 3:
        return None
    return " ".join(q) + ("?" if random.random() < .7 else ""), s, e


def item(sentences, title, synonyms, many=4):
    """A passage of some sentences of a document and questions about it: (passage, [(question, span of characters or None)]) or None."""
    n = random.randint(2, 8)
    lo = random.randrange(max(1, len(sentences) - 1))
    hi, size = lo, 0
    while hi < len(sentences) and hi - lo < n and size + len(sentences[hi]) < 900:
        size += len(sentences[hi])
        hi += 1
    if size < 60:
        return None
    kept = list(range(lo, hi))
    left = set(random.sample(kept, 1)) if len(kept) > 2 and random.random() < .6 else set()  # asked about, but not there
    text, at = (title + "\n" if random.random() < .3 and title else ""), {}
    for i in kept:
        if i not in left:
            at[i] = len(text)
            text += sentences[i] + random.choice((" ", " ", " ", "\n"))
    text, out = text.rstrip(), []
    elsewhere = sentences[:lo] + sentences[hi:]
    for i in random.sample(kept, min(len(kept), many)) + ([lo - 1] if lo and random.random() < .3 else []):
        q = question(sentences[i], elsewhere, synonyms)
        if q is None:
            continue
        answer = sentences[i][q[1]:q[2]]
        if i in at:
            out.append((q[0], (at[i] + q[1], at[i] + q[2])))
        elif answer not in text:
            out.append((q[0], None))
    return (text, out) if out else None

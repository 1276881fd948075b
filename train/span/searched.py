"""Races out of questions about documents, with the passages that the program finds for them: what `lab answers --found` prints.

A passage of a document answers where it holds the sentence that says it: with the answer's words in that sentence, or with the whole sentence
where the answer is not in it (yes and no). A passage with an accepted answer elsewhere may be right, too, so it is left out."""
import collections
import json
import random
import re

from . import data
from .data import Item, analyse, span
from .words import MAX_QUESTION

PASSAGES = 7  # of a race at most
UNANSWERED = .12  # of the races
FIRST = 8  # half of the races take wrong passages from the first of these
WORD, BEFORE, AFTER = re.compile(r"\w+"), re.compile(r"[^\w\n]*$"), re.compile(r"[^\w\n]*")


def place(text, sentence):
    """The characters of a sentence in a text, whatever stands between its words; else of a line that has them all in this order, as a table's
    row that the program puts into words. None if it is not there."""
    words = WORD.findall(sentence)
    if not words:
        return None
    m = re.search(r"(?<!\w)" + r"\W+".join(words) + r"(?!\w)", text)
    if m:
        return m.start() - len(BEFORE.search(text[:m.start()]).group()), m.end() + len(AFTER.match(text[m.end():]).group())
    begin = 0
    for line in text.split("\n"):
        here = iter(WORD.findall(line))
        if len(words) > 1 and all(w in here for w in words):
            return begin, begin + len(line)
        begin += len(line) + 1
    return None


def answers(text, answer):
    """Where an answer stands in a text as whole words."""
    return [m.span() for m in re.finditer(r"(?<!\w)" + re.escape(answer) + r"(?!\w)", text, re.I)]


def inside(p, a, b):
    """Any span between characters a and b."""
    i = [k for k in range(len(p)) if p.begin[k] >= a and p.end[k] <= b]
    return [("in", i[0], i[-1])] if i else []


def right_spans(p, text, parts):
    """The right spans of a passage; None if the passage may or may not answer."""
    out = []
    for part in parts:
        here = []
        for sentence in [part.get("sentence", "")] + part.get("others", []):
            at = place(text, sentence)
            if at:
                found = [span(p, at[0] + a, at[0] + b) for x in part["answers"] for a, b in answers(text[at[0]:at[1]], x)]
                here += [g for g in found if g] or inside(p, *at)
        if not here and any(answers(text, x) for x in part["answers"]):
            return None
        out += here
    return out


def lines_of(names):
    """The lines of files "FILE,FILE=TIMES", and the weight of each: TIMES, or 1."""
    lines, times = [], []
    for name in names.split(","):
        name, _, often = name.partition("=")
        with open(name, encoding="utf-8") as f:
            lines += f
        times += [float(often or 1)] * (len(lines) - len(times))
    return lines, times


class Searched:
    """Questions with their passages: at most most in a race. A set is drawn as the square root of its size, times the weight of its lines."""

    def __init__(self, v, lines, times=None, most=PASSAGES):
        self.v, self.rows, self.parsed, self.most = v, [json.loads(x) for x in lines], {}, most
        count = collections.Counter(x["set"] for x in self.rows)
        self.weights = [count[x["set"]] ** -.5 * t for x, t in zip(self.rows, times or [1] * len(self.rows))]

    def passages(self, k):
        """[(Text, its right spans or None)] of question k."""
        if k not in self.parsed:
            x = self.rows[k]
            texts = [(analyse(self.v, text, data.WINDOW), text) for text in x["passages"]]
            self.parsed[k] = [(p, right_spans(p, text, x["parts"])) for p, text in texts if len(p) >= data.SHORTEST]
        return self.parsed[k]

    def race(self):
        k = random.choices(range(len(self.rows)), self.weights)[0]
        x, read = self.rows[k], self.passages(k)
        right, wrong = [r for r in read if r[1]], [r for r in read if r[1] == []]
        sure = all(spans is not None for _, spans in read)
        if x["parts"] and not right and not sure:
            return None
        raced = [] if not right or sure and random.random() < UNANSWERED else [random.choice(right)]
        pool = wrong[:FIRST] if random.random() < .5 else wrong
        raced += random.sample(pool, min(len(pool), self.most - len(raced)))
        question = analyse(self.v, data.typed(x["question"]) if random.random() < .5 else x["question"], MAX_QUESTION)
        return [Item(p, [(question, spans)]) for p, spans in raced] if len(raced) > 1 else None

"""Evaluation worlds: python3 -m train.heldout --worlds 100 models/testdata/worlds.jsonl.gz

A world is the documents of a device and of a cloud, written as people write them (notes under a title, several sections, lists,
loose lines), and questions about them. The file does not say which passage answers: the program cuts and indexes the documents as it does
a user's, and each side retrieves. Names and codes come from the evaluation's part of the name space. Within a world no entity's
name is part of another's, so that no question has two answers.
"""
import gzip
import json

from .documents import document
from .examples import absent, answer_text, asked_after, related
from .names import Source
from .passages import overlap
from .questions import ask, ask_two

DOCUMENTS = 12  # on each side
QUESTIONS = 10  # of each kind, in a world
SIDES = ("device", "cloud")


def line(kind, where, question, pairs):
    return dict(kind=kind, where=where, question=question, answer=" ".join(answer_text(a, f.value) for f, a in pairs),
                values=[f.value for f, _ in pairs])


def two_sides(s):
    """-> (documents of device and cloud as JSON values, the facts that each side states, all entities)."""
    taken, sides, facts = set(), [], []
    for _ in range(2):
        docs = [document(s, taken) for _ in range(DOCUMENTS)]
        sides.append([{"name": "%02d-%s" % (i + 1, name), "text": text} for i, (name, text, _) in enumerate(docs)])
        facts.append([f for _, _, parts in docs for p in parts for f in p.facts])
    return sides, facts, taken


def one_part(s, facts, taken, k):
    """A question that side k answers."""
    f = s.pick(facts[k])
    a = ask(s, f)
    return line("one-part", SIDES[k], a.question, [(f, a)])


def two_part(s, facts, taken, k):
    """A question whose first half side k answers and whose second half the other does; None if both answers are the same."""
    f, g = s.pick(facts[k]), s.pick(facts[1 - k])
    if f.value.lower() == g.value.lower():
        return None
    question, a, b = ask_two(s, f, g)
    return line("two-part", "both", question, [(f, a), (g, b)])


def follow_up(s, facts, taken, k):
    """A question that follows another: about the same thing, or the same about another thing if there is one. Side k answers the first. None if
    both answers are the same."""
    f = s.pick(facts[k])
    g = s.pick(related(f, facts[0] + facts[1]) or [x for x in facts[1 - k] if x is not f])
    if f.value.lower() == g.value.lower():
        return None
    first, question, second = asked_after(s, f, g)
    where = SIDES[0 if any(g is x for x in facts[0]) else 1]
    return dict(line("follow-up", where, question, [(g, second)]), earlier=[dict(question=first.question, answer=answer_text(first, f.value))])


def unanswerable(s, facts, taken, k):
    """A question like those that side k answers, but that neither side answers; None if this draw found none."""
    entity = s.pick(facts[k]).entity
    home = [f for f in facts[k] if f.entity == entity]
    g = absent(s, home)
    if g is None or g.entity != entity and any(overlap(g.entity, e) for e in taken):
        return None
    a = ask(s, g)
    return dict(kind="unanswerable", where="", question=a.question, answer=answer_text(a, "unknown"), values=[])


def said(question):
    """A question, with the one before it."""
    return " ".join([x["question"] for x in question.get("earlier", [])] + [question["question"]]).lower()


def world(seed):
    """Documents and questions of one world; no question is asked twice."""
    s = Source(seed, held_out=True)
    sides, facts, taken = two_sides(s)
    questions, asked = [], set()
    for draw in (one_part, two_part, unanswerable, follow_up):
        for i in range(QUESTIONS):
            x = None
            while x is None or said(x) in asked:
                x = draw(s, facts, taken, i % 2)
            asked.add(said(x))
            questions.append(x)
    return dict(device=sides[0], cloud=sides[1], questions=questions)


def write(path, n, seed):
    with gzip.GzipFile(path, "wb", mtime=0) as f:
        for i in range(n):
            f.write((json.dumps(world("worlds-%s-%d" % (seed, i)), ensure_ascii=False) + "\n").encode())

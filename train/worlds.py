"""Evaluation worlds: python3 -m train.heldout --worlds 100 models/testdata/worlds.jsonl.gz

A world is the documents of a device and of a cloud, written as people write them (notes under a title, several sections, lists,
loose lines), and questions about them. Nobody says which passage answers: the program cuts and indexes the documents as it does
a user's, and each side retrieves. Names and codes come from the evaluation's part of the name space. Within a world no entity's
name is part of another's, so that no question has two answers.
"""
import gzip
import json

from .documents import document, overlap
from .examples import absent, answer_text
from .names import Source
from .questions import ask, ask_two

DOCUMENTS = 12  # a side
QUESTIONS = 10  # of each kind in a world


def line(kind, where, question, pairs):
    return dict(kind=kind, where=where, question=question, answer=" ".join(answer_text(a, f.value) for f, a in pairs),
                values=[f.value for f, _ in pairs])


def world(seed):
    s = Source(seed, held_out=True)
    taken, sides, facts = set(), [], []
    for _ in range(2):
        docs = [document(s, taken) for _ in range(DOCUMENTS)]
        sides.append([{"name": "%02d-%s" % (i + 1, name), "text": text} for i, (name, text, _) in enumerate(docs)])
        facts.append([f for _, _, parts in docs for p in parts for f in p.facts])
    names, questions = ("device", "cloud"), []
    for i in range(QUESTIONS):
        k = i % 2
        f = s.pick(facts[k])
        a = ask(s, f)
        questions.append(line("one-part", names[k], a.question, [(f, a)]))
    while len(questions) < 2 * QUESTIONS:
        k = len(questions) % 2
        f, g = s.pick(facts[k]), s.pick(facts[1 - k])
        if f.value.lower() == g.value.lower():
            continue
        question, a, b = ask_two(s, f, g)
        questions.append(line("two-part", "both", question, [(f, a), (g, b)]))
    while len(questions) < 3 * QUESTIONS:
        side = facts[len(questions) % 2]
        entity = s.pick(side).entity
        home = [f for f in side if f.entity == entity]
        g = absent(s, home)
        if g is None or g.entity not in {f.entity for f in home} and any(overlap(g.entity, e) for e in taken):
            continue
        a = ask(s, g)
        questions.append(dict(kind="unanswerable", where="", question=a.question, answer=answer_text(a, "unknown"), values=[]))
    return dict(device=sides[0], cloud=sides[1], questions=questions)


def write(path, n, seed):
    with gzip.GzipFile(path, "wb", mtime=0) as f:
        for i in range(n):
            f.write((json.dumps(world("worlds-%s-%d" % (seed, i)), ensure_ascii=False) + "\n").encode())

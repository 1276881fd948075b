"""Held-out items on fresh names, and exact match by kind: teacher-forced here (quick), greedy in greedy.py."""
import numpy as np
import torch

from . import documents, examples, tasks
from .data import Batch, Row
from .examples import TASK, VALUE, Branch, absent, sentence, soft, turn
from .model import logits
from .names import Source
from .passages import new_passage, new_world
from .questions import ask, ask_two

TASKS = {"summary": tasks.summary, "screen": tasks.screen, "reply": tasks.reply}
KINDS = ("one", "one-unseen-wording", "two-first", "two-second", "two-both", "unsupported")


class Item:
    """A context and one question branch, with its kind."""

    def __init__(self, kind, context, branch, facts):
        self.kind, self.context, self.branch, self.facts = kind, context, branch, facts


def make_item(s, kind, low=2, high=6):
    while True:
        unseen = kind == "one-unseen-wording"
        style = s.pick(["noun", "question", "statement"]) if unseen else ""
        facts = new_world(s, low, high, held_out_nouns=style == "noun")
        p = new_passage(s, facts, held_out=style == "statement")
        if not p.facts:
            continue
        f = s.pick(p.facts)
        if kind.startswith("one"):
            asked = ask(s, f, held_out=style == "question")
            return Item(kind, p.context(), Branch(turn(asked.question), sentence(asked, f.value, VALUE)), p.facts)
        if kind == "two-both":
            if len(p.facts) < 2:
                continue
            f, g = s.rng.sample(p.facts, 2)
            return Item(kind, p.context(), examples.two_part(s, f, True, g, True), p.facts)
        g = absent(s, p.facts)
        if g is None or g.value == f.value:
            continue
        if kind == "unsupported":
            branch = examples.one_part(s, g, False)
        else:
            branch = examples.two_part(s, f, True, g, False) if kind == "two-first" else examples.two_part(s, g, False, f, True)
        return Item(kind, p.context(), branch, p.facts)


def told_item(s, low, high):
    """A request to tell all facts of a passage."""
    p = new_passage(s, new_world(s, low, high))
    return Item("told", p.context(), examples.told(s, p.facts), p.facts) if len(p.facts) >= low else told_item(s, low, high)


def make_items(n, seed, kinds=KINDS):
    """n items of each kind from the evaluation's part of the name space."""
    return [make_item(s, kind) for kind in kinds for s in [Source("%s-%s" % (seed, kind), held_out=True)] for _ in range(n)]


def make_tasks(n, seed):
    """n items of each task from the evaluation's part of the name space."""
    items = []
    for kind, draw in TASKS.items():
        s = Source("%s-%s" % (seed, kind), held_out=True)
        for _ in range(n):
            context, branches = draw(s)
            items.append(Item(kind, context.removeprefix("Context: "), branches[0], []))
    return items


def make_cuts(n, seed, held_out=True):
    """n one-part items about passages cut out of documents, as the program shows them."""
    s, cutter, items = Source(seed + "-cut", held_out=held_out), documents.Cutter(), []
    while len(items) < n:
        for p in documents.cuts(s, cutter)[0]:
            for f in p.facts:
                asked = ask(s, f)
                items.append(Item("cut", p.context().removeprefix("Context: "), Branch(turn(asked.question), sentence(asked, f.value, VALUE)), p.facts))
    cutter.close()
    s.rng.shuffle(items)
    return items[:n]


@torch.no_grad()
def exact_by_kind(c, w, tokenizer, items, device, size=24):
    """Teacher-forced: the share of items, by kind, whose supported values (or whose whole text, for a task) are all predicted exactly."""
    right = {}
    for i in range(0, len(items), size):
        part = items[i:i + size]
        b = Batch([Row(tokenizer, "Context: " + x.context, [x.branch], joined=k % 2 == 1) for k, x in enumerate(part)])
        selected = ((b.kinds == VALUE) | (b.kinds == TASK)).nonzero()[:, 0]
        out = logits(c, w, b.ids.to(device), b.positions.to(device), b.segments.to(device), selected.to(device)).cpu()
        ok = (out.argmax(-1) == b.targets[selected]).numpy()
        row = (selected // b.ids.shape[1]).numpy()
        for k, x in enumerate(part):
            if (row == k).any():
                right.setdefault(x.kind, []).append(bool(ok[row == k].all()))
    return {k: float(np.mean(v)) for k, v in right.items()}

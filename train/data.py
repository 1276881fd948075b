"""Examples as token rows, rows as padded batches.

A row is the context's tokens followed by its question branches. Every branch sees the context and itself (segment mask)
and its positions continue from the context's end, so each is trained as if it were the only one.
"""
import numpy as np
import torch

from . import documents
from .documents import Cutter
from .examples import END, LOSS_WEIGHT, NONE, PREFIX, PROMPT, START, UNSUPPORTED, indented
from .examples import example as written
from .examples import plain
from .names import Source
from .tasks import task

CONTEXT_WEIGHT = 0.1
MAX_CONTEXT_TOKENS = 230
TASK_SHARE = 0.18  # share of the rows that are tasks, not questions
WRITTEN_SHARE = 0.12  # share of the rows whose passage was written as one; other passages are cut out of documents
SINGLE_KEPT, OTHERS_KEPT = 0.5, 0.8  # shares to keep: cut passages with at most one fact, and those whose facts have values of different kinds
MAX_TASK_TOKENS = 500  # in a row that is a task: the model has 512 positions
CONTEXT_KIND = 8
WEIGHT_OF = np.zeros(10, np.float32)
for _kind, _weight in LOSS_WEIGHT.items():
    WEIGHT_OF[_kind] = _weight
WEIGHT_OF[CONTEXT_KIND] = CONTEXT_WEIGHT
JOINED = 0.35
FIRST, REST = {PREFIX: [START], UNSUPPORTED: [NONE]}, {UNSUPPORTED: PREFIX}  # the kind of a piece's first token, and of its others


class Row:
    """Arrays of one example: ids, targets, kinds (of the target), segments, positions."""

    def __init__(self, tokenizer, context, branches, joined=False):
        """joined: cut the context before its last pre-token, so that '.\\n' is one token, as when the whole prompt is encoded at
        once; else the context is encoded by itself, as when its KV is reused."""
        context, tail = indented(context), ""
        if joined and context and not context[-1].isalnum():
            context, tail = context[:-1].rstrip(), context[len(context[:-1].rstrip()):]
        ids = [0] + tokenizer.encode(context)
        n = len(ids)
        parts = [(ids, ids[1:] + [0], [CONTEXT_KIND] * (n - 1) + [PROMPT], [0] * n, range(n))]
        for b, branch in enumerate(branches):
            ids = tokenizer.encode(tail + branch.prompt)
            kinds = [PROMPT] * len(ids)
            for text, kind in branch.pieces:
                e = tokenizer.encode(text)
                ids = ids + e
                kinds += FIRST.get(kind, [kind]) + [REST.get(kind, kind)] * (len(e) - 1)
            ids, kinds = ids + [0], kinds + [END]
            m = len(ids) - 1
            parts.append((ids[:-1], ids[1:], kinds[1:], [b + 1] * m, range(n, n + m)))
        self.context_tokens = n
        self.ids, self.targets, self.kinds, self.segments, self.positions = (
            np.concatenate([np.asarray(p[i], np.int32) for p in parts]) for i in range(5))

    def __len__(self):
        return len(self.ids)


def lengths(s):
    """Fewest and most facts of a passage written as one. Passages cut out of documents are short; these supply the long ones."""
    x = s.rng.random()
    return (2, 6) if x < 0.5 else (1, 2) if x < 0.7 else (2, 4)


def task_row(s, tokenizer, draw=task):
    while True:
        context, branches = draw(s)
        row = Row(tokenizer, context, branches, joined=s.chance(JOINED))
        if len(row) <= MAX_TASK_TOKENS:
            return row


def make_row(s, tokenizer, draw):
    """A row of draw() -> (context, branches), drawn again until it fits."""
    while True:
        context, bs = draw()
        if not bs:
            continue
        row = Row(tokenizer, context, bs, joined=s.chance(JOINED))
        if row.context_tokens <= MAX_CONTEXT_TOKENS and len(row) <= 640:
            return row


class Feed:
    """Endless batches: passages cut out of documents, passages written as one, tasks."""

    def __init__(self, seed, tokenizer, tokens, pool=320, facts=0):
        """tokens: padded positions in a batch; pool: how many rows to choose rows of similar length from; facts: if above 0, all rows are
        plain questions about passages of at most this many facts (examples.plain)."""
        self.s, self.tokenizer, self.tokens, self.pool, self.facts = Source(seed), tokenizer, tokens, pool, facts
        self.cutter, self.cuts = Cutter(), []

    def row(self):
        s, x = self.s, self.s.rng.random()
        if self.facts:
            return make_row(s, self.tokenizer, lambda: plain(s, self.facts))
        if x < TASK_SHARE:
            return task_row(s, self.tokenizer)
        if x < TASK_SHARE + WRITTEN_SHARE:
            return make_row(s, self.tokenizer, lambda: written(s, *lengths(s)))
        return make_row(s, self.tokenizer, self.cut)

    def cut(self):
        """An example from the next passage of documents; passages in which nothing can be confused are sometimes left out."""
        while True:
            if not self.cuts:
                passages, facts = documents.cuts(self.s, self.cutter)
                self.cuts = [(p, facts) for p in passages]
                self.s.rng.shuffle(self.cuts)
            p, facts = self.cuts.pop()
            rivals = len(p.facts) - len({f.attribute.kind for f in p.facts})
            if rivals or self.s.chance(SINGLE_KEPT if len(p.facts) < 2 else OTHERS_KEPT):
                return documents.example(self.s, p, facts)

    def __iter__(self):
        while True:
            for group in grouped([self.row() for _ in range(self.pool)], self.tokens, self.s):
                yield Batch(group)


class Batch:
    """Padded tensors: ids, positions, segments (B, T); targets, kinds, weights (B*T)."""

    def __init__(self, rows):
        T = -(-max(map(len, rows)) // 8) * 8
        shape = (len(rows), T)
        ids, positions, targets = (np.zeros(shape, np.int64) for _ in range(3))
        segments, kinds = np.full(shape, -1, np.int32), np.full(shape, PROMPT, np.int64)
        for i, r in enumerate(rows):
            n = len(r)
            for a, x in ((ids, r.ids), (positions, r.positions), (targets, r.targets), (segments, r.segments), (kinds, r.kinds)):
                a[i, :n] = x
        self.ids, self.positions, self.segments = map(torch.from_numpy, (ids, positions, segments))
        self.targets, self.kinds = torch.from_numpy(targets).view(-1), torch.from_numpy(kinds).view(-1)
        self.weights = torch.from_numpy(WEIGHT_OF[kinds]).view(-1)


def grouped(rows, tokens, s):
    """Group rows of similar length into batches of at most `tokens` padded positions."""
    rows = sorted(rows, key=len)
    groups, group = [], []
    for r in rows:
        if group and len(r) * (len(group) + 1) > tokens:
            groups.append(group)
            group = []
        group.append(r)
    groups.append(group)
    s.rng.shuffle(groups)
    return groups

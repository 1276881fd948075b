"""Examples as token rows, rows as padded batches.

A row is the context's tokens followed by its question branches. Every branch sees the context and itself (segment mask)
and its positions go on from the context's end, so each is trained as if it stood there alone.
"""
import numpy as np
import torch

from .examples import END, LOSS_WEIGHT, NONE, PREFIX, PROMPT, START, UNSUPPORTED, example
from .names import Source
from .tasks import task

CONTEXT_WEIGHT = 0.1
MAX_CONTEXT_TOKENS = 230
TASK_SHARE = 0.15  # of the rows are tasks, not questions
MAX_TASK_TOKENS = 500  # of a row that is a task: the model has 512 positions
CONTEXT_KIND = 8
WEIGHT_OF = np.zeros(10, np.float32)
for _kind, _weight in LOSS_WEIGHT.items():
    WEIGHT_OF[_kind] = _weight
WEIGHT_OF[CONTEXT_KIND] = CONTEXT_WEIGHT
JOINED = 0.35
FIRST, REST = {PREFIX: [START], UNSUPPORTED: [NONE]}, {UNSUPPORTED: PREFIX}  # kinds of a piece's first token and of the others


class Row:
    """Arrays of one example: ids, targets, kinds (of the target), segments, positions."""

    def __init__(self, tokenizer, context, branches, joined=False):
        """joined: cut the context before its last pre-token, so that '.\\n' is one token, as when the whole prompt is encoded at
        once; else the context is encoded by itself, as when its KV is reused."""
        tail = ""
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


def lengths(s, hard):
    """Fewest and most facts of a context. The index cuts documents into short passages, so short contexts are the rule; hard is the
    share of long ones."""
    x = s.rng.random()
    return (2, 6) if x < hard else (1, 2) if x < 0.7 else (2, 4)


def task_row(s, tokenizer, draw=task):
    while True:
        context, branches = draw(s)
        row = Row(tokenizer, context, branches, joined=s.chance(JOINED))
        if len(row) <= MAX_TASK_TOKENS:
            return row


def make_row(s, tokenizer, low, high, branches=7):
    while True:
        context, bs = example(s, low, high, branches)
        if not bs:
            continue
        row = Row(tokenizer, context, bs, joined=s.chance(JOINED))
        if row.context_tokens <= MAX_CONTEXT_TOKENS and len(row) <= 640:
            return row


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


def cut(rows, tokens, s):
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


def batches(seed, tokenizer, tokens, hard_share, pool=320):
    """Endless batches. hard_share(): the share of passages with 2 to 6 facts."""
    s = Source(seed)
    while True:
        hard = hard_share()
        rows = [task_row(s, tokenizer) if s.chance(TASK_SHARE) else make_row(s, tokenizer, *lengths(s, hard)) for _ in range(pool)]
        for group in cut(rows, tokens, s):
            yield Batch(group)

"""A reader that denoises: masked diffusion over blocks of 32 (LLaDA, Nie et al. 2025; blocks as Arriola et al. 2025).

    nice python3 -m train.diffusion --start models/reader.gguf --out build/diffusion --minutes 25

It starts from an autoregressive reader, as Dream does (Ye et al. 2025), and keeps its shifted logits: the row of a token guesses the next
position. So the prompt stays causal, and what the reader knows of it stays. Only the rows of the answer's block attend both ways.

Every answer is filled up to whole blocks with the end token. One of its blocks is masked at random, from a little to all of it; those
before it are clean. One in ten of the block's other tokens is wrong, so that the model learns to revise.
"""
import argparse
import json
import os
import random
import signal
import time

import numpy as np
import torch
import torch.nn.functional as F

from . import gguf, kernels
from .data import Feed, grouped
from .evaluate import make_item, make_items, told_item
from .examples import END, PREFIX, VALUE, indented
from .export import export, load, metadata
from .model import Config, Optimizer, logits, working
from .names import Source

BLOCK = 32
WHOLE = 0.2  # share of the answers that are shown with blocks of masks behind them, as when the whole sequence is computed
WRONG = 0.1  # share of a block's tokens that are not masked but wrong
GIVEN_WEIGHT = 0.1  # loss weight of a block's tokens that are given


class Answer:
    """A question about a context and its answer: token lists."""

    def __init__(self, prompt, answer):
        self.prompt, self.answer = prompt, answer + [0] * (-len(answer) % BLOCK)


def answers(row):
    """-> (context ids, [Answer]) of a data.Row: the branches whose answers the context supports."""
    branches = []
    for b in range(1, row.segments.max() + 1):
        at = np.nonzero(row.segments == b)[0]
        ids, targets, kinds = row.ids[at], row.targets[at], row.kinds[at]
        first = int(np.argmax(kinds != 9)) if (kinds != 9).any() else -1  # the row before the answer
        if first < 0 or not set(kinds[first:].tolist()) <= {PREFIX, VALUE, END, 5}:
            continue
        branches.append(Answer(ids[:first + 1].tolist(), targets[first:].tolist()))
    return row.ids[row.segments == 0].tolist(), branches


class Noised:
    """Arrays of a context with masked answers: ids, positions, segments, until (the last index that a row sees, in its own segment or the
    context), targets of the next position, and their loss weights."""

    def __init__(self, rng, mask, context, branches):
        n = len(context)
        cols = [list(x) for x in (context, range(n), [0] * n, range(n), [0] * n, [0.0] * n)]
        for b, a in enumerate(branches):
            self.add(rng, mask, cols, n, b + 1, a)
        self.ids, self.positions, self.segments, self.until, self.targets = (np.asarray(x, np.int64) for x in cols[:5])
        self.weights = np.asarray(cols[5], np.float32)

    def add(self, rng, mask, cols, n, segment, a):
        ids, positions, segments, until, targets, weights = cols
        blocks = len(a.answer) // BLOCK
        j = rng.randrange(blocks)
        before, live = a.answer[:j * BLOCK], a.answer[j * BLOCK:(j + 1) * BLOCK]
        if rng.random() < WHOLE:
            live = a.answer[j * BLOCK:] + [0] * BLOCK * rng.randrange(3)
        share = 1.0 if rng.random() < 0.3 else rng.random()
        start, given = len(ids), a.prompt + before
        shown, weight = [], []
        for i, t in enumerate(live):
            if i >= BLOCK or rng.random() < share:
                shown.append(mask)
                weight.append(1.0 if t or i < BLOCK and (i == 0 or live[i - 1]) else 0.2)  # fillers are easy
            else:
                shown.append(rng.choice(live) if rng.random() < WRONG else t)
                weight.append(GIVEN_WEIGHT if shown[-1] == t else 0.5)
        m = len(given) + len(live)
        ids += given + shown
        positions += range(n, n + m)
        segments += [segment] * m
        # Decided blocks see themselves whole; the prompt is causal.
        until += range(start, start + len(a.prompt))
        until += [start + len(a.prompt) + (i // BLOCK + 1) * BLOCK - 1 for i in range(len(before))] + [start + m - 1] * len(live)
        targets += [0] * (len(given) - 1) + live + [0]
        weights += [0.0] * (len(given) - 1) + weight + [0.0]

    def __len__(self):
        return len(self.ids)


class Batch:
    """Padded tensors of Noised rows: ids, positions (B, T), seen (B, T, T), targets, weights (B*T)."""

    def __init__(self, rows):
        T = -(-max(map(len, rows)) // 8) * 8
        shape = (len(rows), T)
        ids, positions, targets = (np.zeros(shape, np.int64) for _ in range(3))
        segments, until, weights = np.full(shape, -1), np.zeros(shape, np.int64), np.zeros(shape, np.float32)
        until[:] = np.arange(T)
        for i, r in enumerate(rows):
            for a, x in ((ids, r.ids), (positions, r.positions), (targets, r.targets), (segments, r.segments), (until, r.until), (weights, r.weights)):
                a[i, :len(r)] = x
        mine = (segments[:, :, None] == segments[:, None, :]) | (segments[:, None, :] == 0) & (segments[:, :, None] > 0)
        seen = mine & (np.arange(T)[None, None, :] <= until[:, :, None])
        self.ids, self.positions, self.seen = map(torch.from_numpy, (ids, positions, seen))
        self.targets, self.weights = torch.from_numpy(targets).view(-1), torch.from_numpy(weights).view(-1)


def loss_of(c, w, batch):
    """-> (loss, share of the masked tokens that are right)."""
    selected = (batch.weights > 0).nonzero()[:, 0]
    out = logits(c, w, batch.ids, batch.positions, torch.zeros_like(batch.ids), selected, batch.seen).float()
    targets, weights = batch.targets[selected], batch.weights[selected]
    each = F.cross_entropy(out, targets, reduction="none")
    hard = weights == 1
    right = (out.argmax(-1) == targets)[hard].float().mean().item() if hard.any() else float("nan")
    return (each * weights).sum() / weights.sum(), right


def with_mask(c, p):
    """Add the mask token to a reader: the mean of all embeddings."""
    emb = torch.cat((p["emb"], p["emb"].mean(0, keepdim=True)))
    return Config(**{**c.__dict__, "vocab": c.vocab + 1}), {**p, "emb": emb}


def diffusion_metadata(c, tokenizer):
    """A reader's metadata as that of a llada model: its architecture, mask and shift."""
    out = []
    for key, kind, value in metadata(c, tokenizer):
        if key.startswith("llama."):
            key = "llada." + key[len("llama."):]
        if key == "general.architecture":
            value = "llada"
        elif key == "general.name":
            value = "tandem-diffusion-reader"
        elif key == "tokenizer.ggml.tokens":
            value = value + ["<|mask|>"]
        elif key == "tokenizer.ggml.token_type":
            value = value + [3]
        out.append((key, kind, value))
    return out + [("llada.attention.causal", gguf.BOOL, False), ("diffusion.shift_logits", gguf.BOOL, True),
                  ("tandem.causal_prompt", gguf.BOOL, True), ("tokenizer.ggml.mask_token_id", gguf.UINT32, c.vocab - 1)]


def batches(feed, rng, mask):
    """Endless batches of noised answers."""
    while True:
        rows = []
        while len(rows) < 96:
            context, branches = answers(feed.row())
            for part in range(0, len(branches), 3):
                rows.append(Noised(rng, mask, context, branches[part:part + 3]))
        for group in grouped(rows, feed.tokens, feed.s):
            yield Batch(group)


def train(out, start, minutes, tokens=3072, rate=0.002, seed=1, facts=0, log=print):
    """Train for `minutes` of wall-clock time; the learning rate falls linearly to 0. Leaves reader.gguf in out. facts: see data.Feed."""
    kernels.keep_memory()
    c, p, tokenizer = load(start)
    c, p = with_mask(c, p)
    optimizer, rng = Optimizer(p, rate, rate / 2), random.Random(seed)
    feed = Feed("diffusion-%d" % seed, tokenizer, tokens, facts=facts)
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(1))
    begin, step, seen, recent, at = time.monotonic(), 0, 0, [], 0.0
    for batch in batches(feed, rng, c.vocab - 1):
        at = (time.monotonic() - begin) / (60 * minutes)
        if at >= 1 or stopping:
            break
        w = working(p)
        loss, right = loss_of(c, w, batch)
        loss.backward()
        optimizer.step({k: x.grad for k, x in w.items()}, min(1.0, (step + 1) / 50) * (1 - at))
        step, seen = step + 1, seen + batch.ids.numel()
        recent.append((loss.item(), right))
        if step % 50 == 0:
            log("step %d, %.1f minutes, %.2f million tokens: loss %.3f, right %.3f" % (step, at * minutes, seen / 1e6, *np.nanmean(recent, 0)))
            recent.clear()
            write(os.path.join(out, "snapshot.gguf"), c, p, tokenizer)
    feed.cutter.close()
    write(os.path.join(out, "reader.gguf"), c, p, tokenizer)


def write(path, c, p, tokenizer):
    """Write the file by another name first, so that there is always a whole one."""
    export(path + ".new", c, p, tokenizer, diffusion_metadata(c, tokenizer))
    os.replace(path + ".new", path)


def write_items(path, n, facts, tell):
    """Write n questions about fresh names and their answers, for lab diffusion. facts and tell: see examples.plain."""
    s = Source("denoise-plain", held_out=True)
    if tell:
        items = [told_item(s, 2 * facts, 3 * facts) for _ in range(n)]
    else:
        items = [make_item(s, "one", 1, facts) for _ in range(n)] if facts else make_items(n, seed="denoise", kinds=("one",))
    with open(path, "w", encoding="utf-8") as f:
        for x in items:
            text = "".join(t for t, _ in x.branch.pieces)
            f.write(json.dumps({"prompt": indented("Context: " + x.context) + x.branch.prompt, "answer": text.strip()}, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--start", default="models/reader.gguf", help="the autoregressive reader to begin with")
    parser.add_argument("--out", default="build/diffusion")
    parser.add_argument("--minutes", type=float, default=25)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--facts", type=int, default=0, help="train on nothing but plain questions about passages of at most this many facts (examples.plain)")
    parser.add_argument("--tell", action="store_true", help="with --items and --facts: requests to tell all of a passage, whose answers are long")
    parser.add_argument("--items", metavar="FILE", help="only write held-out questions and answers to FILE")
    a = parser.parse_args()
    if a.items:
        return write_items(a.items, 60, a.facts, a.tell)
    os.makedirs(a.out, exist_ok=True)
    torch.set_num_threads(a.threads)
    train(a.out, a.start, a.minutes, seed=a.seed, facts=a.facts, log=lambda s: print(s, flush=True))


if __name__ == "__main__":
    main()

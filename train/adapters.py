"""python3 -m train.adapters TASK --base models/reader.gguf --out FILE: trains a LoRA adapter of a decoder that export.py wrote.

TASK is reply: short replies to conversations (messages.py); or brief: answers to questions that say "It is" and the value, where the reader repeats
the question ("The gate code of the storage unit is"). To questions of two parts it answers as the reader does.
The factors are added to the weights before each step, so the decoder's own training code computes with them. --minutes 0 measures FILE again.
"""
import argparse
import os
import time

os.environ.setdefault("GOMP_SPINCOUNT", "2000")  # before torch loads OpenMP: threads that wait long should sleep

import numpy as np
import torch
import torch.nn.functional as F

from . import gguf, kernels
from .data import Batch, Row, grouped, lengths, make_row
from .examples import END, PREFIX, TASK, VALUE, Branch, indented, turn
from .examples import example as written
from .export import NAMES, adjacent_pairs, load
from .loop import losses_of
from .messages import REPLY_REQUEST, conversation
from .model import logits
from .names import Source

PRODUCTS = ("wq", "wk", "wv", "wo", "gate", "up", "down")
LONGEST = 80  # tokens of an answer in the evaluation


def row(s, tokenizer):
    """A conversation and one of its replies."""
    while True:
        text, who, replies = conversation(s)
        made = Row(tokenizer, "Context: " + text, [Branch(turn(REPLY_REQUEST % who), [(" " + s.pick(replies), TASK)])], joined=True)
        if len(made) <= 320:
            return made


def brief(s):
    """An example of examples.py whose sentences are short, if they stand alone."""
    context, branches = written(s, *lengths(s))
    for b in branches:
        if 2 <= len(b.pieces) <= 3 and b.prompt.count("Question:") == 1:
            b.pieces[0] = (" It is", b.pieces[0][1])
    return context, branches


def loss_of(adapter, weights, batch, task):
    w = adapter.merged(weights)
    if task == "brief":
        return losses_of(adapter.c, w, batch, "cpu")[0]
    keep = ((batch.kinds == TASK) | (batch.kinds == END)).nonzero()[:, 0]  # the answer and its end
    return F.cross_entropy(logits(adapter.c, w, batch.ids, batch.positions, batch.segments, keep).float(), batch.targets[keep])


class Adapter:
    """Factors for every product of every layer: A [rank × in] and B [out × rank]. B begins as zero."""

    def __init__(self, c, weights, rank, seed):
        g = torch.Generator().manual_seed(seed)
        self.c, self.rank, self.a, self.b = c, rank, {}, {}
        for l in range(c.layers):
            for name in PRODUCTS:
                rows, columns = weights["%d.%s" % (l, name)].shape
                self.a["%d.%s" % (l, name)] = (torch.randn(rank, columns, generator=g) * columns ** -0.5).requires_grad_(True)
                self.b["%d.%s" % (l, name)] = torch.zeros(rows, rank).requires_grad_(True)
        self.scale = 2.0

    def parameters(self):
        return [*self.a.values(), *self.b.values()]

    def merged(self, weights):
        """The working weights with the factors added."""
        out = {k: x.bfloat16() if x.dim() == 2 else x for k, x in weights.items()}
        for k in self.a:
            out[k] = (weights[k] + self.scale * (self.b[k] @ self.a[k])).bfloat16()
        return out

    def save(self, path, name, more=()):
        """Write a GGUF file as llama.cpp's converter does, with factors in 16 bits, and more tensors."""
        tensors = list(more)
        for l in range(self.c.layers):
            for product in PRODUCTS:
                key, to = "%d.%s" % (l, product), "blk.%d.%s.weight" % (l, NAMES[product])
                a, b = self.a[key].detach().numpy(), self.b[key].detach().numpy()
                if product in ("wq", "wk"):
                    b = adjacent_pairs(b, self.c.heads if product == "wq" else self.c.kv_heads)
                tensors += [(to + ".lora_a", a.astype(np.float16)), (to + ".lora_b", b.astype(np.float16))]
        g = gguf
        gguf.write(path, [("general.architecture", g.STRING, "llama"), ("general.type", g.STRING, "adapter"), ("adapter.type", g.STRING, "lora"),
                          ("general.name", g.STRING, name), ("general.license", g.STRING, "apache-2.0"),
                          ("adapter.lora.alpha", g.FLOAT32, self.scale * self.rank)], tensors)

    def restore(self, path):
        """Read the factors of a file that save wrote."""
        meta, tensors = gguf.read(path)
        for l in range(self.c.layers):
            for product in PRODUCTS:
                key, of = "%d.%s" % (l, product), "blk.%d.%s.weight" % (l, NAMES[product])
                b = np.array(tensors[of + ".lora_b"], np.float32)
                if product in ("wq", "wk"):
                    heads = self.c.heads if product == "wq" else self.c.kv_heads
                    rows, rank = b.shape
                    b = b.reshape(heads, rows // heads // 2, 2, rank).swapaxes(1, 2).reshape(rows, rank)
                self.a[key] = torch.from_numpy(np.array(tensors[of + ".lora_a"], np.float32))
                self.b[key] = torch.from_numpy(np.array(b))


def batches(task, tokenizer, seed, tokens):
    s = Source(seed)
    draw = (lambda: row(s, tokenizer)) if task == "reply" else (lambda: make_row(s, tokenizer, lambda: brief(s)))
    while True:
        for group in grouped([draw() for _ in range(400)], tokens, s):
            yield Batch(group)


def train(task, adapter, weights, tokenizer, minutes, tokens, rate, seed):
    optimizer = torch.optim.Adam([{"params": list(adapter.a.values()), "lr": rate}, {"params": list(adapter.b.values()), "lr": rate}], betas=(0.9, 0.98))
    start, steps, seen, mean, said = time.process_time(), 0, 0, None, 0
    for batch in batches(task, tokenizer, "adapter-%s-%d" % (task, seed), tokens):
        done = (time.process_time() - start) / (60 * minutes)
        if done >= 1:
            return
        factor = min(1, (steps + 1) / 30, 1.02 - done)
        for group in optimizer.param_groups:
            group["lr"] = rate * factor
        loss = loss_of(adapter, weights, batch, task)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(adapter.parameters(), 1.0)
        optimizer.step()
        steps, seen = steps + 1, seen + batch.ids.numel()
        mean = loss.item() if mean is None else 0.98 * mean + 0.02 * loss.item()
        if time.process_time() - said > 30:
            said = time.process_time()
            print("%5.1f min  %6d steps  %5.2fM tokens  loss %.4f" % ((said - start) / 60, steps, seen / 1e6, mean), flush=True)


@torch.no_grad()
def answers(c, w, tokenizer, prompts):
    """Greedy continuations of the prompts, up to the end token."""
    rows = [[0] + tokenizer.encode(p) for p in prompts]
    starts, done = [len(r) for r in rows], [False] * len(rows)
    for _ in range(LONGEST):
        T = max(map(len, rows))
        ids, segments = torch.zeros(len(rows), T, dtype=torch.long), torch.full((len(rows), T), -1, dtype=torch.int32)
        for i, r in enumerate(rows):
            ids[i, :len(r)], segments[i, :len(r)] = torch.tensor(r), 0
        last = torch.tensor([i * T + len(r) - 1 for i, r in enumerate(rows)])
        best = logits(c, w, ids, torch.arange(T).expand(len(rows), T), segments, last)
        best[:, tokenizer.none] = -float("inf")
        for i, token in enumerate(best.argmax(-1).tolist()):
            done[i] = done[i] or token == 0
            if not done[i]:
                rows[i].append(token)
        if all(done):
            break
    return [tokenizer.decode(r[n:]).strip() for r, n in zip(rows, starts)]


def item(task, s):
    """-> (a context, what is asked, answers that are right)."""
    if task == "reply":
        text, who, replies = conversation(s)
        return "Context: " + text, turn(REPLY_REQUEST % who), replies
    while True:
        context, branches = brief(s)
        for b in branches:
            if context and all(kind in (PREFIX, VALUE, END) for _, kind in b.pieces):
                return context, b.prompt, ["".join(x for x, _ in b.pieces).strip()]


def measure(task, adapter, weights, tokenizer, n=200, show=8):
    """Prints how often the greedy answer to held-out items is right."""
    s, right = Source("adapter-eval", held_out=True), 0
    w = adapter.merged(weights)
    items = [item(task, s) for _ in range(n)]
    for i in range(0, n, 25):
        part = items[i:i + 25]
        for (given, asked, wanted), got in zip(part, answers(adapter.c, w, tokenizer, [indented(g) + q for g, q, _ in part])):
            right += got in wanted
            if got not in wanted and show > 0:
                show -= 1
                print("given: %s\n  want: %s\n   got: %s" % (given.replace("\n", " / "), wanted[0], got))
    print("%.3f of %d right" % (right / n, n))


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("task", choices=("reply", "brief"))
    a.add_argument("--start", metavar="FILE", help="go on from an adapter of this rank")
    a.add_argument("--base", default="models/reader.gguf")
    a.add_argument("--out", required=True, help="the adapter, a GGUF file")
    a.add_argument("--minutes", type=float, default=12, help="of processor time")
    a.add_argument("--rank", type=int, default=10)
    a.add_argument("--rate", type=float, default=0.003)
    a.add_argument("--tokens", type=int, default=2048, help="padded positions per step")
    a.add_argument("--threads", type=int, default=1)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--items", type=int, default=200, help="of the evaluation")
    args = a.parse_args()
    torch.set_num_threads(args.threads)
    kernels.keep_memory()
    c, weights, tokenizer = load(args.base)
    adapter = Adapter(c, weights, args.rank, args.seed)
    if args.start:
        adapter.restore(args.start)
        for x in adapter.parameters():
            x.requires_grad_(True)
    if args.minutes > 0:
        train(args.task, adapter, weights, tokenizer, args.minutes, args.tokens, args.rate, args.seed)
        adapter.save(args.out, "tandem-" + args.task)
    adapter.restore(args.out)
    measure(args.task, adapter, weights, tokenizer, args.items)


if __name__ == "__main__":
    main()

"""python3 -m train.adapters TASK --base models/reader.gguf --out FILE: trains a LoRA adapter of a decoder that export.py wrote.

TASK is tone, correct or reply (messages.py). The factors are added to the weights before each step, so the decoder's own training code
computes with them. python3 -m train.adapters TASK --base ... --out FILE --minutes 0 measures FILE again.
"""
import argparse
import glob
import os
import re
import time

os.environ.setdefault("GOMP_SPINCOUNT", "2000")  # before torch loads OpenMP: threads that wait long should sleep

import numpy as np
import torch
import torch.nn.functional as F

from . import gguf, kernels
from .data import Batch, Row, grouped
from .examples import TASK, Branch, indented, turn
from .export import NAMES, adjacent_pairs, load
from .messages import CORRECT_REQUEST, REPLY_REQUEST, TONE_REQUEST, TONES, Corrections, conversation, message
from .model import logits
from .names import Source

PRODUCTS = ("wq", "wk", "wv", "wo", "gate", "up", "down")
LONGEST = 80  # tokens of an answer in the evaluation


def sentences(folder, most=60000):
    """Plain sentences of the text files in a folder."""
    out = []
    for path in sorted(glob.glob(os.path.join(folder, "*.txt"))):
        with open(path, encoding="utf-8") as f:
            for text in re.split(r"(?<=[.!?])\s+", f.read()):
                if 20 < len(text) < 140 and text.isascii() and re.fullmatch(r"[A-Z][A-Za-z0-9 ,;:'\-]*[.!?]", text):
                    out.append(text)
    rng = np.random.default_rng(1)
    return [out[i] for i in rng.permutation(len(out))[:most]]


class Task:
    """Items of a task: (context, request, answers that are right)."""

    def __init__(self, name, prose):
        self.name = name
        if name == "correct":
            self.corrections = Corrections(Source("known"), prose)

    def item(self, s):
        if self.name == "tone":
            tone = s.pick(TONES)
            given, wanted = message(s, tone)
            return given, TONE_REQUEST[tone], [wanted]
        if self.name == "correct":
            given, wanted = self.corrections.item(s)
            return given, CORRECT_REQUEST, [wanted]
        text, who, replies = conversation(s)
        return text, REPLY_REQUEST % who, replies

    def row(self, s, tokenizer):
        while True:
            given, request, answers = self.item(s)
            row = Row(tokenizer, "Context: " + given, [Branch(turn(request), [(" " + s.pick(answers), TASK)])], joined=True)
            if len(row) <= 320:
                return row


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
    while True:
        for group in grouped([task.row(s, tokenizer) for _ in range(400)], tokens, s):
            yield Batch(group)


def train(task, adapter, weights, tokenizer, minutes, tokens, rate, seed):
    optimizer = torch.optim.Adam([{"params": list(adapter.a.values()), "lr": rate}, {"params": list(adapter.b.values()), "lr": rate}], betas=(0.9, 0.98))
    start, steps, seen, mean, said = time.process_time(), 0, 0, None, 0
    for batch in batches(task, tokenizer, "adapter-%s-%d" % (task.name, seed), tokens):
        done = (time.process_time() - start) / (60 * minutes)
        if done >= 1:
            return
        factor = min(1, (steps + 1) / 30, 1.02 - done)
        for group in optimizer.param_groups:
            group["lr"] = rate * factor
        keep = ((batch.kinds == TASK) | (batch.kinds == 4)).nonzero()[:, 0]  # the answer and its end
        out = logits(adapter.c, adapter.merged(weights), batch.ids, batch.positions, batch.segments, keep).float()
        loss = F.cross_entropy(out, batch.targets[keep])
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


def kept(given, answer):
    """Whether the numbers and the names in the middle of sentences are unchanged."""
    def marks(text):
        words = re.findall(r"[A-Za-z']+", text)
        numbers = re.findall(r"\d+", text)
        return sorted(numbers), {w.removesuffix("'s") for w, before in zip(words[1:], re.findall(r"[A-Za-z']+([^A-Za-z']+)", text)) if w[0].isupper() and before == " " and len(w) > 2}
    numbers, proper = marks(given)
    return numbers == marks(answer)[0] and all(w in answer for w in proper)


def measure(task, adapter, weights, tokenizer, n=200, show=8):
    """Prints how often the greedy answer to held-out items is right, and, for what rewrites, whether names and numbers stay."""
    s = Source("adapter-eval", held_out=True)
    w = adapter.merged(weights)
    right, safe, already, parts = 0, 0, 0, {}
    items = [task.item(s) for _ in range(n)]
    for i in range(0, n, 25):
        part = items[i:i + 25]
        for (given, request, wanted), got in zip(part, answers(adapter.c, w, tokenizer, [indented("Context: " + g) + turn(r) for g, r, _ in part])):
            ok = got in wanted
            right, safe, already = right + ok, safe + kept(wanted[0], got), already + (given in wanted)
            of = parts.setdefault(request if task.name == "tone" else task.name, [0, 0])
            of[0], of[1] = of[0] + ok, of[1] + 1
            if not ok and show > 0:
                show -= 1
                print("given: %s\n  want: %s\n   got: %s" % (given.replace("\n", " / "), wanted[0], got))
    print("%s: %.3f of %d right (unchanged would be %.3f), names and numbers kept in %.3f" % (task.name, right / n, n, already / n, safe / n))
    for request, (a, b) in sorted(parts.items()):
        print("   %s %.3f of %d" % (request, a / b, b))


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("task", choices=("tone", "correct", "reply"))
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
    a.add_argument("--prose", help="folder of text files, whose sentences are corrected too")
    args = a.parse_args()
    torch.set_num_threads(args.threads)
    kernels.keep_memory()
    c, weights, tokenizer = load(args.base)
    adapter = Adapter(c, weights, args.rank, args.seed)
    task = Task(args.task, sentences(args.prose) if args.prose else ())
    if args.start:
        adapter.restore(args.start)
        for x in adapter.parameters():
            x.requires_grad_(True)
    if args.minutes > 0:
        train(task, adapter, weights, tokenizer, args.minutes, args.tokens, args.rate, args.seed)
        adapter.save(args.out, "tandem-" + args.task)
    adapter.restore(args.out)
    measure(task, adapter, weights, tokenizer, args.items)


if __name__ == "__main__":
    main()

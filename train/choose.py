"""python3 -m train.choose TASK --base models/reader.gguf --out FILE --prose DIR: trains an adapter that chooses among the ways to write something.

TASK is correct: an example is the beginning of a sentence and several ways to go on, the right one and others with an error, each with a few
words after it; or tone: a sentence in a tone, for each speech act that it may be; or short: the sentences of a message. The adapter learns to find the right one likelier (the loss is
the cross-entropy of the choice), and to write the right ones. --minutes 0 measures FILE again. In the program lora/rewrite lists the ways.
"""
import argparse
import glob
import json
import lzma
import os
import random
import re
import time

from . import adapters  # before torch: it sets how OpenMP waits

import numpy as np
import torch
import torch.nn.functional as F

from . import kernels
from .corrections import Corrections
from .data import grouped
from .export import load
from .model import logits
from .names import Source
from .shorts import message
from .tones import Tones

AFTER = 3  # words after a way that count for it
WAYS = 4
LANGUAGE = 0.3  # weight of the loss of writing on


def parted(right, wrong):
    """-> (words before the first difference, the difference in right, in wrong, words after it)."""
    a, b = right.split(" "), wrong.split(" ")
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    m = 0
    while m < min(len(a), len(b)) - n and a[-1 - m] == b[-1 - m]:
        m += 1
    return a[:n], a[n:len(a) - m], b[n:len(b) - m], a[len(a) - m:]


def spelt(corrections, s, held=False):
    """-> (beginning, [ways, the right one first])."""
    while True:
        right = corrections.right(s)
        by_place = {}
        for _ in range(10):
            text = corrections.wrong(s, right, held)
            if text != right:
                before, good, bad, after = parted(right, text)
                by_place.setdefault((len(before), len(good), len(after)), set()).add((" ".join(before), " ".join(good), " ".join(bad), " ".join(after[:AFTER]), len(after) <= AFTER))
        if not by_place:
            continue
        found = sorted(by_place[s.pick(sorted(by_place))])
        s.rng.shuffle(found)
        before, good, _, after, ends = found[0]

        def line(way):
            return "".join(" " + x for x in (way, after) if x) + ("\n" if ends else "")
        return before, [line(good)] + [line(bad) for _, _, bad, _, _ in found[:WAYS - 1]]


def sentences(folder, most=6000):
    """Short plain sentences of the text files (.txt, .txt.xz) in a folder, at most MOST of each file, in which every word is frequent."""
    out, counts = [], {}
    for path in sorted(glob.glob(os.path.join(folder, "*.txt*"))):
        with (lzma.open if path.endswith(".xz") else open)(path, "rt", encoding="utf-8") as f:
            found = {x for x in re.split(r"(?<=[.!?])\s+|\n|^\w[\w ]*: ", f.read().replace("\u2019", "'"))
                     if 3 < x.count(" ") < 16 and len(x) < 90 and re.fullmatch(r"[A-Z][A-Za-z0-9 ,;'\-]*[.!?]", x) and not re.search(r"\b[Uu][hm]\b|,$", x)}
        found = [x for x in sorted(found)]
        random.Random(1).shuffle(found)
        out += found[:3 * most]
        for x in found:
            for w in re.findall(r"[a-z']+", x):
                counts[w] = counts.get(w, 0) + 1
    out = [x for x in out if all(counts[w] >= 40 for w in re.findall(r"[a-z']+", x))]
    random.Random(2).shuffle(out)
    return out


class Ways:
    """A task whose choices are texts."""

    def row(self, tokenizer, s, held=False):
        return Row(tokenizer, *self.choice(s, held))

    @staticmethod
    def batch(rows):
        return Batch(rows)


class Correct(Ways):
    def __init__(self, prose):
        self.corrections = Corrections(Source("known"), prose)

    def choice(self, s, held=False):
        return spelt(self.corrections, s, held)


class Tone(Ways):
    def __init__(self, prose):
        self.tones = Tones(prose)

    def choice(self, s, held=False):
        """-> ("", [a sentence in a tone, what it does not become]). held makes no difference."""
        _, right, wrong = self.tones.choice(s)
        s.rng.shuffle(wrong)
        return "", [" %s\n" % x for x in [right] + wrong[:WAYS - 1]]


class Row:
    """The tokens of an example: the beginning but its last token, then each way with that token before it."""

    def __init__(self, tokenizer, before, ways):
        ids = [0] + tokenizer.encode("Context:" + (" " + before if before else ""))
        n, last = len(ids) - 1, ids[-1]
        parts = [(ids[:-1], ids[1:], [0] * n, range(n))]
        for i, way in enumerate(ways):
            e = tokenizer.encode(way.rstrip("\n")) + ([0] if way.endswith("\n") else [])
            if e:
                parts.append(([last] + e[:-1], e, [i + 1] * len(e), range(n, n + len(e))))
        self.ids, self.targets, self.segments, self.positions = (np.concatenate([np.asarray(p[i], np.int64) for p in parts]) for i in range(4))

    def __len__(self):
        return len(self.ids)


class Batch:
    """Padded tensors (B, T); targets and ways flat."""

    def __init__(self, rows):
        T = -(-max(map(len, rows)) // 8) * 8
        self.ids, self.targets, self.positions = (torch.zeros(len(rows), T, dtype=torch.long) for _ in range(3))
        self.segments = torch.full((len(rows), T), -1, dtype=torch.int32)
        for i, r in enumerate(rows):
            for a, x in ((self.ids, r.ids), (self.targets, r.targets), (self.positions, r.positions), (self.segments, r.segments)):
                a[i, :len(r)] = torch.from_numpy(x.astype(np.int32) if a is self.segments else x)

    def losses(self, c, w):
        """-> (loss of the choices, loss per token of writing on, whether each choice is right)."""
        B, T = self.ids.shape
        seen = (self.segments.view(-1) >= 0).nonzero()[:, 0]
        each = F.cross_entropy(logits(c, w, self.ids, self.positions, self.segments, seen).float(), self.targets.view(-1)[seen], reduction="none")
        segments = self.segments.view(-1)[seen].long()
        sums = torch.zeros(B * (WAYS + 1)).index_add(0, (seen // T) * (WAYS + 1) + segments, -each).view(B, -1)[:, 1:]
        there = torch.zeros(B * (WAYS + 1)).index_add(0, (seen // T) * (WAYS + 1) + segments, torch.ones_like(each)).view(B, -1)[:, 1:] > 0
        there[:, 0] = True
        sums = sums.masked_fill(~there, -1e9)
        return F.cross_entropy(sums, torch.zeros(B, dtype=torch.long)), each[segments < 2].mean(), sums.argmax(-1) == 0


class Sentences:
    """The tokens of a message, and where its sentences end."""

    def __init__(self, tokenizer, sentences, which):
        self.ids, self.ends, self.which = [0] + tokenizer.encode("Context:"), [], which
        for x in sentences:
            self.ids += tokenizer.encode(" " + x)
            self.ends.append(len(self.ids) - 1)

    def __len__(self):
        return len(self.ids)


class Messages:
    """Padded tensors of messages. After the sentence to choose the text is likelier to end than to be without support (tokenizer.NONE)."""

    def __init__(self, rows):
        T = -(-max(map(len, rows)) // 8) * 8
        self.rows, self.ids, self.segments = rows, torch.zeros(len(rows), T, dtype=torch.long), torch.full((len(rows), T), -1, dtype=torch.int32)
        for i, r in enumerate(rows):
            self.ids[i, :len(r)], self.segments[i, :len(r)] = torch.tensor(r.ids), 0

    def losses(self, c, w):
        """-> (loss of the choices, 0, whether each choice is right)."""
        B, T = self.ids.shape
        most = max(len(r.ends) for r in self.rows)
        at = torch.tensor([i * T + e for i, r in enumerate(self.rows) for e in r.ends])
        place = torch.tensor([i * most + k for i, r in enumerate(self.rows) for k in range(len(r.ends))])
        out = logits(c, w, self.ids, torch.arange(T).expand(B, T), self.segments, at).float()
        sums = torch.full((B * most,), -1e9).index_put((place,), out[:, 0] - out[:, c.vocab - 1]).view(B, most)
        which = torch.tensor([r.which for r in self.rows])
        return F.cross_entropy(sums, which), sums.new_zeros(()), sums.argmax(-1) == which


class Short:
    def __init__(self, prose):
        pass

    def row(self, tokenizer, s, held=False):
        return Sentences(tokenizer, *message(s))

    batch = Messages


TASKS = {"correct": Correct, "tone": Tone, "short": Short}


def batches(task, tokenizer, seed, tokens):
    s = Source(seed)
    while True:
        for group in grouped([task.row(tokenizer, s) for _ in range(600)], tokens, s):
            yield task.batch(group)


def train(task, adapter, weights, tokenizer, args, save):
    optimizer = torch.optim.Adam(adapter.parameters(), lr=args.rate, betas=(0.9, 0.98))
    start, steps, seen, mean, said = time.process_time(), 0, 0, None, 0
    for batch in batches(task, tokenizer, "choose-%s-%d" % (args.task, args.seed), args.tokens):
        done = (time.process_time() - start) / (60 * args.minutes)
        if done >= 1:
            return
        for group in optimizer.param_groups:
            group["lr"] = args.rate * min(1, (steps + 1) / 30, 1.02 - done)
        chosen, language, right = batch.losses(adapter.c, adapter.merged(weights))
        optimizer.zero_grad()
        (chosen + LANGUAGE * language).backward()
        torch.nn.utils.clip_grad_norm_(adapter.parameters(), 1.0)
        optimizer.step()
        now = np.array([chosen.item(), language.item(), right.float().mean().item()])
        steps, seen, mean = steps + 1, seen + batch.ids.numel(), now if mean is None else 0.98 * mean + 0.02 * now
        if time.process_time() - said > 30:
            said = time.process_time()
            print("%5.1f min  %6d steps  %5.2fM tokens  choice %.3f  language %.3f  right %.3f" % ((said - start) / 60, steps, seen / 1e6, *mean), flush=True)
            save()


@torch.no_grad()
def measure(task, adapter, weights, tokenizer, n=400):
    """Prints how many choices are right, with names and prose that training does not have, and then also with errors that it does not have."""
    w = adapter.merged(weights)
    for held in (False, True):
        s = Source("choose-eval", held_out=True)
        rows = [task.row(tokenizer, s, held) for _ in range(n)]
        right = [x for group in grouped(rows, 2048, s) for x in task.batch(group).losses(adapter.c, w)[2].tolist()]
        print("names and prose that training does not have%s: %.3f of %d choices right" % (", and errors" if held else "", np.mean(right), n))


def write(corrections, path, n=250):
    """Writes sentences with names and prose that training does not have: with misspellings that it has, and with others."""
    s = Source("correct-dev", held_out=True)
    with open(path, "w", encoding="utf-8") as f:
        for name in ("seen", "unseen"):
            for _ in range(n):
                given, right = corrections.item(s, name == "unseen")
                f.write(json.dumps({"set": name, "given": given, "want": [right]}) + "\n")


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("task", choices=tuple(TASKS))
    a.add_argument("--base", default="models/reader.gguf")
    a.add_argument("--out", help="the adapter, a GGUF file")
    a.add_argument("--start", metavar="FILE", help="go on from an adapter of this rank")
    a.add_argument("--minutes", type=float, default=20, help="of processor time")
    a.add_argument("--rank", type=int, default=10)
    a.add_argument("--rate", type=float, default=0.003)
    a.add_argument("--tokens", type=int, default=1536, help="padded positions per step")
    a.add_argument("--threads", type=int, default=1)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--texts", metavar="FILE", help="with correct: only write held-out sentences with errors, for lab rewrite correct --items: the sets seen and unseen")
    a.add_argument("--prose", help="folder of text files, whose sentences are corrected too")
    args = a.parse_args()
    torch.set_num_threads(args.threads)
    kernels.keep_memory()
    c, weights, tokenizer = load(args.base)
    adapter = adapters.Adapter(c, weights, args.rank, args.seed)
    task = TASKS[args.task](sentences(args.prose) if args.prose else ())
    if args.texts:
        return write(task.corrections, args.texts)
    if args.start:
        adapter.restore(args.start)
        for x in adapter.parameters():
            x.requires_grad_(True)
    if args.minutes > 0:
        def save():
            adapter.save(args.out, "tandem-" + args.task)
        train(task, adapter, weights, tokenizer, args, save)
        save()
    adapter.restore(args.out)
    measure(task, adapter, weights, tokenizer)


if __name__ == "__main__":
    main()

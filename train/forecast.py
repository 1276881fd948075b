"""python3 -m train.forecast --base models/reader.gguf --task reply --with models/adapters/reply.gguf --out FILE

Trains m forecast embeddings of a decoder (Samsung §3.5, A.2): rows without a token that stand after a row of the text and predict the
tokens after next. The decoder is frozen, and so is the adapter of its rows, if any. The forecast rows have another adapter,
which takes the place of the paper's prefix: rows of the text never see either, so their distributions stay as they are.

The file is a GGUF adapter with one tensor more, forecast.embeddings [m × width]. With --plain the rows have no adapter.

--hidden R measures embeddings that depend on the input against static ones: each gets the text's last hidden state that is known before
the pass (of the row before the draft), by a projection of rank R. Both kinds go on from --start and see the same batches by turns.
Only the static ones are written.
"""
import argparse
import os
import time

os.environ.setdefault("GOMP_SPINCOUNT", "2000")  # before torch loads OpenMP: threads that wait long should sleep

import numpy as np
import torch
import torch.nn.functional as F

from . import gguf, kernels
from .adapters import Adapter, row
from .data import Row, grouped, make_row
from .examples import example as written
from .export import load
from .model import hidden
from .names import Source

ANSWERS = (0, 1, 2, 3, 4, 7)  # kinds of targets that are an answer's: see examples.py


class Forecast:
    """Embeddings [m × width] and the factors of the rows that have them."""

    def __init__(self, c, weights, m, rank, seed, plain=False, hidden=0):
        g = torch.Generator().manual_seed(seed)
        self.m, self.plain, self.hidden = m, plain, hidden
        self.embeddings = (weights["emb"].mean(0) + weights["emb"].std() * torch.randn(m, c.width, generator=g)).requires_grad_(True)
        self.adapter = Adapter(c, weights, rank, seed)
        if hidden:
            self.down = (torch.randn(hidden, c.width, generator=g) * c.width ** -0.5).requires_grad_(True)
            self.up = torch.zeros(m, c.width, hidden).requires_grad_(True)

    def parameters(self):
        return [self.embeddings] + ([] if self.plain else self.adapter.parameters()) + ([self.down, self.up] if self.hidden else [])

    def rows(self, batch, states):
        """The forecast rows of a batch [n × width]. states are the hidden states that they may know, None for static rows."""
        e = self.embeddings[batch.of]
        if not self.hidden:
            return e
        return e + torch.einsum("nwr,nr->nw", self.up[batch.of], states @ self.down.t())

    def save(self, path, name):
        self.adapter.save(path, name, [("forecast.embeddings", self.embeddings.detach().numpy().astype(np.float32))])

    def restore(self, path):
        self.adapter.restore(path)
        self.embeddings = torch.from_numpy(np.array(gguf.read(path)[1]["forecast.embeddings"], np.float32))
        for p in self.parameters():
            p.requires_grad_(True)


class Batch:
    """Rows of a text and, after them, m forecast rows for each of some places in the answer. The forecast rows, at the flat positions
    `at`, are the `of`-th, and know the hidden state at the flat positions `knows`: that of the row before the draft, of 0 to m tokens, which
    the forecasts follow."""

    def __init__(self, rows, m, places, s):
        picked = []
        for r in rows:
            at = [i for i in range(len(r) - 1) if r.kinds[i] in ANSWERS]
            s.rng.shuffle(at)
            picked.append(at[:places])
        longest = -(-max(len(r) + m * len(p) for r, p in zip(rows, picked)) // 8) * 8
        B, T = len(rows), longest
        ids, positions = np.zeros((B, T), np.int64), np.zeros((B, T), np.int64)
        seen = torch.zeros(B, T, T, dtype=torch.bool)
        self.selected, self.targets, self.depths = [], [], []
        self.at, self.of, self.knows = [], [], []
        self.forecast = torch.zeros(B, T, 1)
        for b, (r, at) in enumerate(zip(rows, picked)):
            n = len(r)
            ids[b, :n], positions[b, :n] = r.ids, r.positions
            segments = torch.from_numpy(r.segments)
            seen[b, :n, :n] = ((segments[:, None] == segments[None]) | (segments[None] == 0)).tril()
            for j, a in enumerate(at):
                before = a - 1 - s.rng.randrange(m + 1)
                while before < a - 1 and (before < 0 or r.segments[before] not in (0, r.segments[a])):
                    before += 1
                for k in range(m):
                    row = n + m * j + k
                    positions[b, row] = r.positions[a] + 1 + k
                    self.at.append(b * T + row)
                    self.of.append(k)
                    self.knows.append(b * T + before)
                    seen[b, row, :n] = seen[b, a, :n]
                    seen[b, row, n + m * j:row + 1] = True
                    self.forecast[b, row] = 1
                    # Row a predicts targets[a], the forecast k the one k + 1 later, while the answer lasts.
                    if a + k + 1 < n and r.segments[a + k + 1] == r.segments[a]:
                        self.selected.append(b * T + row)
                        self.targets.append(int(r.targets[a + k + 1]))
                        self.depths.append(k)
        seen |= torch.eye(T, dtype=torch.bool)
        self.ids, self.positions, self.seen = torch.from_numpy(ids), torch.from_numpy(positions), seen
        self.segments = torch.zeros(B, T, dtype=torch.int32)
        for name in ("selected", "targets", "depths", "at", "of", "knows"):
            setattr(self, name, torch.tensor(getattr(self, name)))


def predict(c, weights, forecast, batch, own=None):
    """Logits at the batch's selected rows. own: the adapter of the text's rows."""
    w = {k: x.bfloat16() if x.dim() == 2 else x for k, x in weights.items()}
    x = F.embedding(batch.ids.reshape(-1), w["emb"]).float()
    states = None
    if forecast.hidden:
        with torch.no_grad():  # the text's rows do not see the forecast rows
            states = hidden(c, w, x, batch.positions, batch.segments, batch.knows, batch.seen, text_adapter(own)).float()
    x = x.index_copy(0, batch.at, forecast.rows(batch, states).bfloat16().float())
    on = batch.forecast.reshape(-1, 1).bfloat16()
    a = forecast.adapter

    def adapt(name, x, y):
        if own is not None:
            y = y + (1 - on) * ((x @ own.a[name].bfloat16().t()) @ (own.scale * own.b[name]).bfloat16().t())
        if forecast.plain:
            return y
        return y + on * ((x @ a.a[name].bfloat16().t()) @ (a.scale * a.b[name]).bfloat16().t())
    return (hidden(c, w, x, batch.positions, batch.segments, batch.selected, batch.seen, adapt) @ w["emb"].t()).float()


def text_adapter(own):
    """What hidden needs to compute rows with an adapter; None without one."""
    if own is None:
        return None
    return lambda name, x, y: y + (x @ own.a[name].bfloat16().t()) @ (own.scale * own.b[name]).bfloat16().t()


def rows_of(task, tokenizer, s):
    if task is None:
        return make_row(s, tokenizer, lambda: written(s, 1, 4))
    return task(s, tokenizer)


def batches(task, tokenizer, seed, tokens, m, places, held_out=False):
    s = Source(seed, held_out=held_out)
    while True:
        for group in grouped([rows_of(task, tokenizer, s) for _ in range(200)], tokens // 2, s):
            yield Batch(group, m, places, s)


def train(c, weights, forecasts, own, feed, minutes, rate, save):
    """Trains each of the forecasts on the same batches, by turns."""
    optimizers = [torch.optim.Adam(f.parameters(), lr=rate, betas=(0.9, 0.98)) for f in forecasts]
    start, said, means, steps = time.process_time(), 0, [None] * len(forecasts), 0
    for batch in feed:
        done = (time.process_time() - start) / (60 * minutes)
        if done >= 1:
            return
        losses = []
        for i, (forecast, optimizer) in enumerate(zip(forecasts, optimizers)):
            for group in optimizer.param_groups:
                group["lr"] = rate * min(1, (steps + 1) / 30, 1.02 - done)
            out = predict(c, weights, forecast, batch, own)
            loss = F.cross_entropy(out, batch.targets)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(forecast.parameters(), 1.0)
            optimizer.step()
            losses.append("%.3f" % loss.item())
            right = torch.tensor([(out.argmax(-1) == batch.targets)[batch.depths == k].float().mean() for k in range(forecast.m)])
            means[i] = right if means[i] is None else 0.95 * means[i] + 0.05 * right
        steps += 1
        if time.process_time() - said > 30:
            said = time.process_time()
            print("%5.1f min  %6d steps  loss %s  right by depth %s" % ((said - start) / 60, steps, " ".join(losses),
                  " | ".join(" ".join("%.3f" % x for x in mean) for mean in means)), flush=True)
            save()  # a run that is stopped leaves what it has learnt


@torch.no_grad()
def measure(c, weights, forecast, own, feed, batches=24):
    """Prints how often the first, the first three and the first five guesses of each forecast are right, on held-out text."""
    hits = [[[], [], []] for _ in range(forecast.m)]
    for _, batch in zip(range(batches), feed):
        out = predict(c, weights, forecast, batch, own)
        best = out.topk(5, -1).indices == batch.targets[:, None]
        for k in range(forecast.m):
            rows = best[batch.depths == k]
            for j, n in enumerate((1, 3, 5)):
                hits[k][j].append(rows[:, :n].any(1).float())
    for k in range(forecast.m):
        print("token %d after next: right %.3f, in the first 3 %.3f, in the first 5 %.3f" % (k + 1, *(torch.cat(x).mean() for x in hits[k])))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--base", default="models/reader.gguf")
    a.add_argument("--task", choices=("answers", "reply"), default="answers", help="what the decoder writes")
    a.add_argument("--with", dest="own", metavar="FILE", help="adapter of the text's rows")
    a.add_argument("--out", required=True)
    a.add_argument("--m", type=int, default=3, help="number of forecast embeddings")
    a.add_argument("--rank", type=int, default=10)
    a.add_argument("--start", metavar="FILE", help="forecasts to go on from")
    a.add_argument("--hidden", type=int, default=0, metavar="R", help="also measure embeddings that depend on a hidden state, by a projection of rank R")
    a.add_argument("--plain", action="store_true", help="embeddings alone, without an adapter of the forecast rows")
    a.add_argument("--minutes", type=float, default=10, help="of processor time")
    a.add_argument("--rate", type=float, default=0.003)
    a.add_argument("--tokens", type=int, default=2048)
    a.add_argument("--places", type=int, default=8, help="places of a text to forecast from at once")
    a.add_argument("--threads", type=int, default=1)
    a.add_argument("--seed", type=int, default=1)
    args = a.parse_args()
    torch.set_num_threads(args.threads)
    kernels.keep_memory()
    c, weights, tokenizer = load(args.base)
    task = None if args.task == "answers" else row
    own = None
    if args.own:
        own = Adapter(c, weights, args.rank, 0)
        own.restore(args.own)
    forecasts = [Forecast(c, weights, args.m, args.rank, args.seed, args.plain, r) for r in ([0, args.hidden] if args.hidden else [0])]
    for f in forecasts:
        if args.start:
            f.restore(args.start)
    feed = batches(task, tokenizer, "forecast-%d" % args.seed, args.tokens, args.m, args.places)

    def save():
        forecasts[0].save(args.out, "tandem-forecast-" + args.task)
    if args.minutes > 0:
        train(c, weights, forecasts, own, feed, args.minutes, args.rate, save)
        save()
    forecasts[0].restore(args.out)
    for f in forecasts:
        print("%s embeddings" % ("input-dependent" if f.hidden else "static"))
        measure(c, weights, f, own, batches(task, tokenizer, "forecast-eval", args.tokens, args.m, args.places, held_out=True))


if __name__ == "__main__":
    main()

"""python3 -m train.span.pretrain WORK --out NAME --minutes M: what the reader learns from prose, before any question. Meant for a GPU.

Words of a text are replaced by likely ones, of a small generator's choice, and the reader says which (ELECTRA: Clark et al., 2020). A window
of prose is two texts, 24 words as a question and 136 as a passage, so that everything but the scores of spans is trained: the words' tables,
the encoder by the words of both texts, the layers where texts meet by those of the passage. shards.py makes the numbers; all of them lie in
the GPU's memory, and windows are drawn there.

Shards that come while it runs are read, too. A step is one graph of the GPU's work: its kernels are small, and asking for each of them from
Python would take longer than they do.

--until K stops after K minutes and keeps what is needed to go on with --resume. The rate falls over M minutes."""
import argparse
import glob
import lzma
import math
import os
import pickle
import threading
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from . import export, model
from .model import Block, Linear, Reader, half
from .shards import CAPITAL, CAPITALS, LINE, SENTENCE, vocabulary
from .words import BASE, BUCKETS

ASKED, READ = 24, 136  # words of the two texts
MASKED = 4, 20  # of them replaced
WIDTH, DEPTH = 128, 3  # the generator
FREQUENT = 16384  # the words that the generator draws from
WEIGHT = 25.0  # of finding what was replaced, beside the generator's loss


class Prose:
    """Numbers of words in a device's memory, up to MOST million of them."""

    def __init__(self, work, device, most):
        t = np.load(work + "/types.npz")
        self.rows, self.parts = torch.tensor(t["rows"]).long().to(device), torch.tensor(t["parts"].astype(np.int64)).to(device)
        self.of_type = torch.cat([torch.tensor(t["idf"])[:, None], torch.tensor(t["kinds"]).float()], 1).to(device)  # idf, number, symbol, stop word, year
        known = torch.zeros(int(t["rows"].max()) + 1, dtype=torch.long)
        known[torch.tensor(t["rows"]).long()] = torch.arange(len(t["rows"]))
        self.type_of_row = known.to(device)
        self.work, self.read, self.words = work, set(), 0
        self.ids, self.flags = torch.zeros(int(most * 1e6), dtype=torch.int32, device=device), torch.zeros(int(most * 1e6), dtype=torch.uint8, device=device)
        self.there = torch.zeros((), dtype=torch.float64, device=device)  # how many words there are, for draw
        self.more()

    def more(self):
        """Read the shards that are new."""
        for f in sorted(set(glob.glob(self.work + "/shard-*.xz")) - self.read):
            self.read.add(f)
            raw = lzma.open(f).read()
            n = len(raw) // 3
            kept = min(n, len(self.ids) - self.words)
            a, b = self.words, self.words + kept
            self.ids[a:b] = torch.from_numpy(np.frombuffer(raw, np.uint16, kept).astype(np.int32)).to(self.ids.device)
            self.flags[a:b] = torch.from_numpy(np.frombuffer(raw, np.uint8, kept, 2 * n).copy()).to(self.ids.device)
            self.words = b
            self.there.fill_(b)
            print("%s: %.1f of %.1f million words" % (os.path.basename(f), kept / 1e6, n / 1e6), flush=True)

    def watch(self, seconds=5):
        """Go on reading new shards."""
        def look():
            while True:
                time.sleep(seconds)
                self.more()
        threading.Thread(target=look, daemon=True).start()

    def draw(self, n):
        """-> (n, ASKED + READ) types, flags."""
        first = torch.rand(n, 1, dtype=torch.float64, device=self.ids.device) * (self.there - ASKED - READ)
        at = first.long() + torch.arange(ASKED + READ, device=self.ids.device)
        ids, flags = self.ids[at].long(), self.flags[at]
        turned = torch.arange(n, device=at.device)[:, None] % 2 == 1  # the question comes behind the passage
        order = torch.where(turned, (torch.arange(ASKED + READ, device=at.device) - ASKED) % (ASKED + READ), torch.arange(ASKED + READ, device=at.device))
        return ids.gather(1, order), flags.gather(1, order)


class Pretrained(nn.Module):
    def __init__(self, reader):
        super().__init__()
        self.reader = reader
        embed, d = reader.words.weight.shape[1], reader.shape["d"]
        self.hidden = nn.Parameter(torch.randn(embed) * .2)
        self.enter = Linear(embed + BASE, WIDTH)
        self.generator = nn.ModuleList(Block(WIDTH) for _ in range(DEPTH))
        self.out_norm, self.out = nn.LayerNorm(WIDTH), Linear(WIDTH, embed, gain=.3)
        self.bias = nn.Parameter(torch.zeros(min(FREQUENT, reader.shape["known"])))
        self.found_alone, self.found = Linear(d, 1, gain=.1), Linear(d, 1, gain=.1)

    def embedded(self, rows, parts):
        """What stands for each type."""
        return self.reader.words(rows) + self.reader.parts(parts).sum(-2)

    def base(self, of_type, flags):
        bits = torch.stack([(flags & k) > 0 for k in (CAPITAL, CAPITALS, SENTENCE, LINE)], 2).float()
        asked = (torch.arange(flags.shape[1], device=flags.device) < ASKED).float().expand(flags.shape)
        nothing = bits.new_zeros(*flags.shape, BASE - 10)
        return torch.cat([of_type[..., :1], bits[..., :2], of_type[..., 1:], bits[..., 2:], nothing, asked[..., None]], 2)

    def guessed(self, e, kinds, flags, at, right):
        """The generator: -> (its loss, the rows of words that it draws) at hidden places; right: the rows of the words there, 0 for rare ones."""
        masked = torch.zeros(flags.shape, device=e.device).scatter(1, at, 1.)[..., None]
        x = self.enter(torch.cat([torch.where(masked > 0, self.hidden.to(half), e.to(half)), self.base(kinds * (1 - masked), flags).to(half)], 2))
        for block in self.generator:
            x = block(x, None)
        x = self.out(self.out_norm(x.gather(1, at[..., None].expand(-1, -1, WIDTH)).float()).to(half))
        logits, known = F.linear(x, self.reader.words.weight[1:1 + len(self.bias)].to(half)).float() + self.bias, right > 0
        each = F.cross_entropy(logits.flatten(0, 1), (right - 1).clamp(min=0).flatten(), reduction="none").view_as(right)
        with torch.no_grad():
            drawn = (logits - torch.empty_like(logits).exponential_().clamp_(min=1e-9).log_()).argmax(2) + 1
        return (each * known).sum() / known.sum(), drawn

    def forward(self, ids, flags, rows, parts, of_type, type_of_row):
        """-> (generator's loss, loss of what is replaced by each text alone, by the passage next to the question, accuracies)."""
        chance = torch.rand(ids.shape, device=ids.device) - .8 * of_type[ids, 2]  # signs seldom
        at = torch.cat([chance[:, :ASKED].topk(MASKED[0])[1], chance[:, ASKED:].topk(MASKED[1])[1] + ASKED], 1)
        types = self.embedded(rows, parts).to(half)
        e, old = F.embedding(ids, types), ids.gather(1, at)
        right = rows[old] * (rows[old] <= len(self.bias))
        guess, drawn = self.guessed(e, of_type[ids], flags, at, right)
        drawn = torch.where(right > 0, type_of_row[drawn], old)
        new = ids.scatter(1, at, drawn)
        e = e.scatter(1, at[..., None].expand(-1, -1, e.shape[2]), F.embedding(drawn, types))
        base, r = self.base(of_type[new], flags), self.reader
        p, q = r.encode(e[:, ASKED:], base[:, ASKED:]), r.encode(e[:, :ASKED], base[:, :ASKED])
        h = r.join(p, q, e[:, ASKED:], e[:, :ASKED])[2]
        alone, both = (f(x).float().squeeze(2) for f, x in ((self.found_alone, torch.cat([q, p], 1)), (self.found, h)))
        replaced = new != ids
        there = replaced[:, ASKED:]
        with torch.no_grad():
            seen = torch.stack([(drawn == old).float().mean(), ((alone > 0) & replaced).sum() / replaced.sum(), ((both > 0) & there).sum() / there.sum()])
        return guess, F.binary_cross_entropy_with_logits(alone, replaced.float()), F.binary_cross_entropy_with_logits(both, there.float()), seen


def words(path, work):
    """-> (the vocabulary, the tables to begin with): an exported file's, or those that prepare.py, vectors.c and relations.py left in WORK."""
    if path:
        v, start = export.restored(path)
        return v, [start["model"][k].numpy() for k in export.TABLES]
    v = vocabulary("", work)
    raw = np.fromfile(work + "/vec.bin", np.float32).reshape(-1, 128)
    known = len(v.words) + 1
    tables = raw[:known], raw[known:known + BUCKETS]
    spread = np.std([tables[0][i + 1] for i in range(12000)])
    if os.path.exists(work + "/relations.pkl"):
        v.relations = pickle.load(open(work + "/relations.pkl", "rb"))
    return v, [x / spread * .35 for x in tables]


def factor(share, floor=.08):
    return max(floor, 1 - share)


def split(path, weights):
    """A checkpoint's weights in 16 bits, in two files, each replaced when it is whole."""
    h = {k: x.detach().half().cpu() for k, x in weights.items()}
    for part, there in ((".tables.pt", lambda k: k in export.TABLES), (".net.pt", lambda k: k not in export.TABLES)):
        torch.save({k: x for k, x in h.items() if there(k)}, path + part + ".new")
        os.replace(path + part + ".new", path + part)


def joined(path):
    return {k: x.float() for part in (".tables.pt", ".net.pt") for k, x in torch.load(path + part).items()}


def optimizer(m, rate, device):
    """AdamW; the words' tables go at half the rate."""
    tables = m.reader.tables()
    own = {id(p) for p in tables}
    matrices = [p for p in m.parameters() if p.ndim > 1 and id(p) not in own]
    groups = [dict(params=tables, share=.5, weight_decay=0), dict(params=[p for p in m.parameters() if p.ndim < 2], share=1, weight_decay=0),
              dict(params=matrices, share=1, weight_decay=.02)]
    if not device.startswith("cuda"):
        return torch.optim.AdamW(groups, lr=rate, betas=(.9, .98), eps=1e-6)
    for g in groups:  # numbers that a captured step reads
        g["lr"] = torch.tensor(rate, device=device)
    return torch.optim.AdamW(groups, betas=(.9, .98), eps=1e-6, fused=True, capturable=True)


class Step:
    """A step of training: windows drawn, losses, gradients, new weights."""

    def __init__(self, m, prose, adam, windows):
        self.m, self.prose, self.adam, self.windows = m, prose, adam, windows
        self.sums, self.norm = torch.zeros(6, device=prose.ids.device), torch.zeros((), device=prose.ids.device)

    def __call__(self):
        p = self.prose
        ids, flags = p.draw(self.windows)
        guess, alone, both, seen = self.m(ids, flags, p.rows, p.parts, p.of_type, p.type_of_row)
        self.adam.zero_grad(set_to_none=True)
        (guess + WEIGHT * (alone + both)).backward()
        self.norm.copy_(nn.utils.clip_grad_norm_(self.m.parameters(), 1.0))
        self.adam.step()
        self.sums += torch.cat([torch.stack([guess, alone, both]).detach(), seen])

    def rate(self, r):
        for g in self.adam.param_groups:
            if torch.is_tensor(g["lr"]):
                g["lr"].fill_(r * g["share"])
            else:
                g["lr"] = r * g["share"]


def captured(step):
    """A step as one graph of the GPU's work, or as it is where that cannot be done."""
    if not step.sums.is_cuda:
        return step
    try:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        return graph.replay
    except Exception as e:
        print("no graph:", repr(e)[:2000], flush=True)
        torch.cuda.synchronize()
        return step


class Progress:
    """What a run has done, its means since it was last shown, and the time, without what the first step takes."""

    def __init__(self, at, step, words):
        (self.before, self.steps, self.words), self.step, self.each = at, step, words
        self.begun = self.shown = time.time()
        self.count = self.since = 0
        step.sums.zero_()

    def seconds(self):
        return self.before + time.time() - self.begun

    def add(self):
        self.steps, self.words, self.count = self.steps + 1, self.words + self.each, self.count + 1

    def show(self, rate):
        means = (self.step.sums / self.count).tolist()
        if not all(map(math.isfinite, means)):
            raise SystemExit("the loss is no number at step %d" % self.steps)
        now = time.time()
        print("%.2f min step %d words %.0f M, %.2f M/s, rate %.5f, norm %.2f, generator %.3f, replaced: alone %.4f, together %.4f; right %.3f, found %.3f, %.3f" % (
            self.seconds() / 60, self.steps, self.words / 1e6, self.count * self.each / (now - self.shown) / 1e6, rate, float(self.step.norm), *means), flush=True)
        self.step.sums.zero_()
        self.count, self.shown = 0, now


KEEP = 100  # seconds between two checkpoints: a machine that is lent may go


def train(step, run, done, o):
    kept = time.time()
    while done.seconds() < 60 * (o.until or o.minutes):
        rate = o.rate * factor(done.seconds() / (60 * o.minutes)) * min(1, (done.steps + 1) / 400)
        step.rate(rate)
        run()
        done.add()
        if done.steps % 25 == 0:
            torch.cuda.synchronize() if step.sums.is_cuda else None  # the clock is to know what is done, not what is asked for
            if time.time() - done.shown > 10:
                done.show(rate)
            if time.time() - kept > KEEP:
                kept = time.time()
                split(f"{o.work}/{o.out}", step.m.reader.state_dict())
    if done.count:
        done.show(rate)


def main():
    a = argparse.ArgumentParser(prog="python3 -m train.span.pretrain")
    a.add_argument("work")
    a.add_argument("--words", default="", help="an exported file whose words and tables to begin with; default: WORK's")
    a.add_argument("--out", default="pretrained")
    a.add_argument("--minutes", type=float, default=14)
    a.add_argument("--until", type=float, default=0)
    a.add_argument("--resume", action="store_true")
    a.add_argument("--rate", type=float, default=.0015)
    a.add_argument("--windows", type=int, default=640)
    a.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    a.add_argument("--most", type=float, default=200, help="millions of words to make room for")
    a.add_argument("--width", type=int, default=256)
    a.add_argument("--encoders", type=int, default=4)
    a.add_argument("--layers", type=int, default=2)
    o = a.parse_args()
    torch.manual_seed(int(time.time()) if o.resume else 1)
    if o.device.startswith("cuda"):
        model.ops = model.Fused
        torch.backends.cuda.matmul.allow_tf32 = True
    prose = Prose(o.work, o.device, o.most)
    v, tables = words(o.words, o.work)
    m = Pretrained(Reader(len(v.words), d=o.width, encoders=o.encoders, layers=o.layers, drop=0, vectors=tables)).to(o.device)
    adam, at, path = optimizer(m, o.rate, o.device), (0., 0, 0), f"{o.work}/{o.out}.resume.pt"
    if o.resume:
        kept = torch.load(path, map_location=o.device)
        m.load_state_dict(kept["model"])
        adam.load_state_dict(kept["adam"])
        at = kept["at"]
    step = Step(m, prose, adam, o.windows)
    step.rate(o.rate / 400)
    run = captured(step)
    prose.watch()
    done = Progress(at, step, o.windows * (ASKED + READ))
    train(step, run, done, o)
    torch.save(dict(model=m.state_dict(), adam=adam.state_dict(), at=(done.seconds(), done.steps, done.words)), path)
    split(f"{o.work}/{o.out}", m.reader.state_dict())


if __name__ == "__main__":
    main()

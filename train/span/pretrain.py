"""python3 -m train.span.pretrain WORK --out NAME --minutes M: what the reader learns from prose, before any question. Meant for a GPU.

Words of a text are replaced by likely ones, of a small generator's choice, and the reader says which (ELECTRA: Clark et al., 2020). A window
of prose is two texts, 24 words as a question and 136 as a passage, so that everything but the scores of spans is trained: the words' tables,
the encoder by the words of both texts, the layers where texts meet by those of the passage. shards.py makes the numbers; all of them lie in
the GPU's memory, and windows are drawn there.

--until K stops after K minutes and keeps what is needed to go on with --resume, when WORK may hold more shards. The rate falls over
M minutes."""
import argparse
import glob
import lzma
import math
import os
import pickle
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from . import export
from .model import Block, Linear, Reader, half
from .shards import CAPITAL, CAPITALS, LINE, SENTENCE, vocabulary
from .words import BASE, BUCKETS

ASKED, READ = 24, 136  # words of the two texts
MASKED = 4, 20  # of them replaced
WIDTH, DEPTH = 128, 3  # the generator
WEIGHT = 25.0  # of finding what was replaced, beside the generator's loss


class Prose:
    """Numbers of words in a device's memory."""

    def __init__(self, work, device):
        t = np.load(work + "/types.npz")
        self.rows, self.parts = torch.tensor(t["rows"]).long().to(device), torch.tensor(t["parts"].astype(np.int64)).to(device)
        self.of_type = torch.cat([torch.tensor(t["idf"])[:, None], torch.tensor(t["kinds"]).float()], 1).to(device)  # idf, number, symbol, stop word, year
        known = torch.zeros(int(t["rows"].max()) + 1, dtype=torch.long)
        known[torch.tensor(t["rows"]).long()] = torch.arange(len(t["rows"]))
        self.type_of_row = known.to(device)
        ids, flags = [], []
        for f in sorted(glob.glob(work + "/shard-*.xz")):
            raw = lzma.open(f).read()
            n = len(raw) // 3
            ids.append(torch.from_numpy(np.frombuffer(raw, np.uint16, n).astype(np.int32)))
            flags.append(torch.from_numpy(np.frombuffer(raw, np.uint8, n, 2 * n).copy()))
        self.ids, self.flags = torch.cat(ids).to(device), torch.cat(flags).to(device)

    def draw(self, n):
        """-> (n, ASKED + READ) types, flags."""
        at = torch.randint(len(self.ids) - ASKED - READ, (n, 1), device=self.ids.device) + torch.arange(ASKED + READ, device=self.ids.device)
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
        self.bias = nn.Parameter(torch.zeros(reader.shape["known"]))
        self.found_alone, self.found = Linear(d, 1, gain=.1), Linear(d, 1, gain=.1)

    def embedded(self, rows, parts):
        return self.reader.words(rows) + self.reader.parts(parts).sum(-2)

    def base(self, of_type, flags):
        bits = torch.stack([(flags & k) > 0 for k in (CAPITAL, CAPITALS, SENTENCE, LINE)], 2).float()
        asked = (torch.arange(flags.shape[1], device=flags.device) < ASKED).float().expand(flags.shape)
        nothing = bits.new_zeros(*flags.shape, BASE - 10)
        return torch.cat([of_type[..., :1], bits[..., :2], of_type[..., 1:], bits[..., 2:], nothing, asked[..., None]], 2)

    def guessed(self, e, kinds, flags, at, right):
        """The generator: -> (its loss, the rows of words that it draws) at hidden places; right: the rows of the words there, 0 for unknown ones."""
        masked = torch.zeros(flags.shape, device=e.device).scatter(1, at, 1.)[..., None]
        x = self.enter(torch.cat([torch.where(masked > 0, self.hidden, e).to(half), self.base(kinds * (1 - masked), flags).to(half)], 2))
        for block in self.generator:
            x = block(x, None)
        x = self.out(self.out_norm(x.gather(1, at[..., None].expand(-1, -1, WIDTH)).float()).to(half))
        logits, known = F.linear(x, self.reader.words.weight[1:].to(half)).float() + self.bias, right > 0
        each = F.cross_entropy(logits.flatten(0, 1), (right - 1).clamp(min=0).flatten(), reduction="none").view_as(right)
        with torch.no_grad():
            noise = -torch.log(-torch.log(torch.rand_like(logits).clamp(1e-9, 1 - 1e-7)))
            drawn = (logits + noise).argmax(2) + 1
        return (each * known).sum() / known.sum(), drawn

    def forward(self, ids, flags, rows, parts, of_type, type_of_row):
        """-> (generator's loss, loss of what is replaced by each text alone, by the passage next to the question, accuracies)."""
        chance = torch.rand(ids.shape, device=ids.device) - .8 * of_type[ids, 2]  # signs seldom
        at = torch.cat([chance[:, :ASKED].topk(MASKED[0])[1], chance[:, ASKED:].topk(MASKED[1])[1] + ASKED], 1)
        e, old = self.embedded(rows[ids], parts[ids]), ids.gather(1, at)
        guess, drawn = self.guessed(e, of_type[ids], flags, at, rows[old])
        drawn = torch.where(rows[old] > 0, type_of_row[drawn], old)
        new = ids.scatter(1, at, drawn)
        e = e.scatter(1, at[..., None].expand(-1, -1, e.shape[2]), self.embedded(rows[drawn], parts[drawn]))
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


def compiled(m):
    import torch._dynamo
    torch._dynamo.config.suppress_errors = True  # what cannot be compiled runs as it is
    return torch.compile(m)


def factor(share, floor=.08):
    return max(floor, 1 - share)


def split(path, weights):
    """A checkpoint's weights in 16 bits, in two files of less than 16 MiB."""
    h = {k: x.detach().half().cpu() for k, x in weights.items()}
    torch.save({k: x for k, x in h.items() if k in export.TABLES}, path + ".tables.pt")
    torch.save({k: x for k, x in h.items() if k not in export.TABLES}, path + ".net.pt")


def joined(path):
    return {k: x.float() for part in (".tables.pt", ".net.pt") for k, x in torch.load(path + part).items()}


def optimizer(m, rate, device):
    """AdamW; the words' tables go at half the rate."""
    tables = m.reader.tables()
    own = {id(p) for p in tables}
    matrices = [p for p in m.parameters() if p.ndim > 1 and id(p) not in own]
    groups = [dict(params=tables, share=.5, weight_decay=0), dict(params=[p for p in m.parameters() if p.ndim < 2], share=1, weight_decay=0),
              dict(params=matrices, share=1, weight_decay=.02)]
    return torch.optim.AdamW(groups, lr=rate, betas=(.9, .98), eps=1e-6, **({"fused": True} if device.startswith("cuda") else {}))


class Progress:
    """What a run has done, its means since it was last shown, and the time, without what the first step takes to compile."""

    def __init__(self, at, device):
        self.before, self.step, self.words = at
        self.begun, self.shown, self.sums, self.count, self.seen = None, time.time(), torch.zeros(6, device=device), 0, 0

    def add(self, words, *losses):
        self.sums += torch.cat([torch.stack([x.detach() for x in losses[:3]]), losses[3]])
        self.step, self.words, self.count, self.seen = self.step + 1, self.words + words, self.count + 1, self.seen + words
        if self.begun is None:
            if self.sums.is_cuda:
                torch.cuda.synchronize()
            self.begun, self.seen = time.time(), 0

    def seconds(self):
        return self.before + (time.time() - self.begun if self.begun else 0)

    def show(self, rate, norm):
        means = (self.sums / self.count).tolist()
        if not all(map(math.isfinite, means)):
            raise SystemExit("the loss is no number at step %d" % self.step)
        print("%.1f min step %d words %.0f M, %.2f M/s, rate %.5f, norm %.2f, generator %.3f, replaced: alone %.4f, together %.4f; right %.3f, found %.3f, %.3f" % (
            self.seconds() / 60, self.step, self.words / 1e6, self.seen / max(1e-3, time.time() - self.begun) / 1e6, rate, norm, *means), flush=True)
        self.sums.zero_()
        self.count, self.shown = 0, time.time()


def train(m, run, prose, adam, done, o):
    while done.seconds() < 60 * (o.until or o.minutes):
        ids, flags = prose.draw(o.windows)
        guess, alone, both, seen = run(ids, flags, prose.rows, prose.parts, prose.of_type, prose.type_of_row)
        (guess + WEIGHT * (alone + both)).backward()
        norm = nn.utils.clip_grad_norm_(m.parameters(), 1.0)
        rate = o.rate * factor(done.seconds() / (60 * o.minutes)) * min(1, (done.step + 1) / 400)
        for g in adam.param_groups:
            g["lr"] = rate * g["share"]
        adam.step()
        adam.zero_grad(set_to_none=True)
        done.add(ids.numel(), guess, alone, both, seen)
        if done.step % 50 == 0:
            torch.cuda.synchronize() if ids.is_cuda else None  # the clock is to know what is done, not what is asked for
            if time.time() - done.shown > 15:
                done.show(rate, float(norm))
    if done.count:
        done.show(rate, float(norm))


def main():
    a = argparse.ArgumentParser(prog="python3 -m train.span.pretrain")
    a.add_argument("work")
    a.add_argument("--words", default="", help="an exported file whose words and tables to begin with; default: WORK's")
    a.add_argument("--out", default="pretrained")
    a.add_argument("--minutes", type=float, default=14)
    a.add_argument("--until", type=float, default=0)
    a.add_argument("--resume", action="store_true")
    a.add_argument("--rate", type=float, default=.0015)
    a.add_argument("--windows", type=int, default=384)
    a.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    a.add_argument("--width", type=int, default=192)
    a.add_argument("--encoders", type=int, default=4)
    a.add_argument("--layers", type=int, default=2)
    a.add_argument("--plain", action="store_true", help="without torch.compile")
    o = a.parse_args()
    torch.manual_seed(int(time.time()) if o.resume else 1)
    torch.backends.cuda.matmul.allow_tf32 = True
    prose = Prose(o.work, o.device)
    print("%.1f million words" % (len(prose.ids) / 1e6), flush=True)
    v, tables = words(o.words, o.work)
    m = Pretrained(Reader(len(v.words), d=o.width, encoders=o.encoders, layers=o.layers, drop=0, vectors=tables)).to(o.device)
    adam, at, path = optimizer(m, o.rate, o.device), (0., 0, 0), f"{o.work}/{o.out}.resume.pt"
    if o.resume:
        kept = torch.load(path, map_location=o.device)
        m.load_state_dict(kept["model"])
        adam.load_state_dict(kept["adam"])
        at = kept["at"]
    done = Progress(at, o.device)
    train(m, m if o.plain else compiled(m), prose, adam, done, o)
    torch.save(dict(model=m.state_dict(), adam=adam.state_dict(), at=(done.seconds(), done.step, done.words)), path)
    split(f"{o.work}/{o.out}", m.reader.state_dict())


if __name__ == "__main__":
    main()

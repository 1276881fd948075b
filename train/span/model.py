"""The span reader: a question and a passage to scores of spans and of "no answer". SPEC.md has the formulas."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from .features import FIRST
from .words import BASE, BUCKETS, MATCH

half = torch.bfloat16
LONGEST = 30  # words of a span
HEADS, HEAD = 4, 32
FAR = 60  # distances count up to here
SCORE = 64  # the width in which starts meet ends
EPS = 1e-5
WORST = 25.0  # beyond, a question's loss counts little: one that cannot be learnt would spoil a step


class Plain:
    """What is not a matrix product, in plain torch; kernels.py has the same in C."""

    @staticmethod
    def unfold(x, norm, lengths, reach):
        """LayerNorm, then each word next to those at distance reach: (B, L, d) -> (B, L, 3d), zero beyond the ends; reach 0: the norm alone."""
        h = F.layer_norm(x.float(), x.shape[-1:], norm.weight, norm.bias, EPS).to(half)
        if not reach:
            return h
        h = h * (torch.arange(h.shape[1])[None, :, None] < lengths[:, None, None]).to(h.dtype)
        wide = F.pad(h, (0, 0, reach, reach))
        return torch.cat([wide[:, :h.shape[1]], h, wide[:, 2 * reach:]], 2)

    @staticmethod
    def gate(x, ab, keep):
        """x + a * sigmoid(b) * keep."""
        a, b = ab.float().chunk(2, -1)
        return (x.float() + a * torch.sigmoid(b) * keep).to(half)

    @staticmethod
    def add(x, y, keep):
        return (x.float() + y.float() * keep).to(half)

    @staticmethod
    def attention(q, k, v, slope, lengths, memory):
        """q (B, H, L, 32), k and v (B, H, K, 32): the K - L last keys are the question's, of which memory are there."""
        L, K = q.shape[2], k.shape[2]
        s = (q @ k.transpose(2, 3)).float() / math.sqrt(HEAD)
        i = torch.arange(L)
        s = torch.cat([s[..., :L] - slope[:, None, None] * (i[:, None] - i[None]).abs().clamp(max=FAR), s[..., L:]], 3)
        hidden = i[None] >= lengths[:, None]
        if K > L:
            hidden = torch.cat([hidden, torch.arange(K - L)[None] >= memory[:, None]], 1)
        return s.masked_fill(hidden[:, None, None], -1e4).softmax(-1).to(half) @ v


ops = Plain


class Linear(nn.Module):
    def __init__(self, i, o, bias=True, gain=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(o, i) * gain / math.sqrt(i))
        self.bias = nn.Parameter(torch.zeros(o)) if bias else None

    def forward(self, x):
        return F.linear(x.to(half), self.weight.to(half), None if self.bias is None else self.bias.to(half))


class Block(nn.Module):
    """Gated convolutions of width 3, attention to the text itself and to the question's words, a feed-forward layer."""

    def __init__(self, d, reaches, drop):
        super().__init__()
        self.reaches, self.drop = reaches, drop
        self.conv = nn.ModuleList(Linear(3 * d, 2 * d) for _ in reaches)
        self.conv_norm = nn.ModuleList(nn.LayerNorm(d) for _ in reaches)
        self.norm1, self.q, self.kv, self.o = nn.LayerNorm(d), Linear(d, d), Linear(d, 2 * d), Linear(d, d, gain=.5)
        self.slope = nn.Parameter(torch.tensor([.3, .08, .02, 0.]))
        self.norm2, self.up, self.down = nn.LayerNorm(d), Linear(d, 3 * d), Linear(3 * d, d, gain=.5)

    def keep(self, x):
        if not self.training or not self.drop:
            return x.new_ones((x.shape[0], 1, x.shape[2]), dtype=torch.float32)
        return (torch.rand(x.shape[0], 1, x.shape[2]) > self.drop).float().div_(1 - self.drop)

    def forward(self, x, lengths, memory=None, memory_lengths=None):
        for w, n, r in zip(self.conv, self.conv_norm, self.reaches):
            x = ops.gate(x, w(ops.unfold(x, n, lengths, r)), self.keep(x))
        B, L, d = x.shape
        h = ops.unfold(x, self.norm1, lengths, 0)
        k = h if memory is None else torch.cat([h, memory], 1)
        q = self.q(h).view(B, L, HEADS, HEAD).transpose(1, 2)
        k, v = self.kv(k).view(B, -1, 2, HEADS, HEAD).permute(2, 0, 3, 1, 4)
        a = ops.attention(q, k, v, self.slope, lengths, memory_lengths)
        x = ops.add(x, self.o(a.transpose(1, 2).reshape(B, L, d)), self.keep(x))
        return ops.add(x, self.down(F.relu(self.up(ops.unfold(x, self.norm2, lengths, 0)))), self.keep(x))


class Reader(nn.Module):
    def __init__(self, known, embed=128, d=128, layers=2, drop=.1, vectors=None):
        super().__init__()
        self.shape = dict(known=known, embed=embed, d=d, layers=layers)
        self.drop = drop
        self.words = nn.Embedding(known + 1, embed, sparse=True)
        self.parts = nn.Embedding(BUCKETS, embed, sparse=True)
        for table, given in ((self.words, 0), (self.parts, 1)):
            table.weight.data = torch.tensor(vectors[given]) if vectors else torch.randn(table.weight.shape) * .15
        self.align = Linear(embed, embed)
        self.enter_p, self.enter_q = Linear(2 * embed + BASE + MATCH, d), Linear(embed + BASE + MATCH, d)
        self.encoder = Block(d, (1, 1), drop)
        self.see_p, self.see_q, self.see = Linear(d, 1, False), Linear(d, 1, False), nn.Parameter(torch.ones(d))
        self.mix = Linear(4 * d, d)
        self.blocks = nn.ModuleList(Block(d, (1, 2), drop) for _ in range(layers))
        self.pool = Linear(d, 1, False)
        self.head = Linear(3 * d, d)
        self.ends = Linear(d, 2)
        self.meet = Linear(d, 2 * SCORE)
        self.none1, self.none2 = Linear(2 * d + MATCH, 64), Linear(64, 1)

    @staticmethod
    def without_related(weights):
        """Weights of a reader that knew no related words, for one that begins to: what it makes of their features is 0."""
        out = dict(weights)
        for name, first in (("enter_p.weight", FIRST), ("enter_q.weight", 6)):
            out[name] = out[name].clone()
            out[name][:, out[name].shape[1] - MATCH + first:] = 0
        out["none1.weight"] = out["none1.weight"].clone()
        out["none1.weight"][:, out["none1.weight"].shape[1] - MATCH + FIRST:] = 0
        return out

    def tables(self):
        return [self.words.weight, self.parts.weight]

    def embedded(self, b):
        u = self.words(b["rows"]) + self.parts(b["parts"]).sum(1)
        if self.training:
            u = u * (torch.rand(u.shape[0], 1) > .02).float()
        return F.embedding(b["p"], u), F.embedding(b["q"], u)

    def forward(self, b):
        """-> scores (B, L, LONGEST) of the spans that begin at a word and are k + 1 words long, (B,) of "no answer"."""
        of = b["of"]  # each question's passage
        n, qn = b["pn"][of], b["qn"]
        ep, eq = self.embedded(b)
        hide_p = (torch.arange(ep.shape[1])[None] >= n[:, None]).float() * -1e4
        hide_q = (torch.arange(eq.shape[1])[None] >= qn[:, None]).float() * -1e4
        ap, aq = F.relu(self.align(ep))[of], F.relu(self.align(eq))
        al = torch.bmm(((torch.bmm(ap, aq.transpose(1, 2)).float() / 8) + hide_q[:, None]).softmax(-1).to(half), eq.to(half))
        x = self.enter_p(torch.cat([ep.to(half)[of], al, b["pb"].to(half)[of], b["pf"].to(half)], 2))
        y = self.enter_q(torch.cat([eq.to(half), b["qb"].to(half), b["qf"].to(half)], 2))
        x, y = self.encoder(x, n), self.encoder(y, qn)
        s = self.see_p(x).float() + self.see_q(y).float().transpose(1, 2) + torch.bmm(x * self.see.to(half), y.transpose(1, 2)).float() / math.sqrt(x.shape[2])
        A = (s + hide_q[:, None]).softmax(2).to(half)
        Q = (s + hide_p[:, :, None]).softmax(1).to(half)
        a, c = torch.bmm(A, y), torch.bmm(A, torch.bmm(Q.transpose(1, 2), x))
        h = ops.add(x, self.mix(torch.cat([x, a, x * a, x * c], 2)), self.encoder.keep(x))
        for block in self.blocks:
            h = block(h, n, y, qn)
        t = (((self.pool(y).float().squeeze(2) + hide_q).softmax(1)[..., None]) * y.float()).sum(1)
        hh = F.relu(self.head(torch.cat([h, x, h * t.to(half)[:, None]], 2)))
        return self.scores(hh, hide_p), self.none(hh, hide_p, t, b["pf"])

    def none(self, hh, hide_p, t, features):
        best = (hh.float() + hide_p[..., None]).max(1)[0]
        most = (features + hide_p[..., None]).max(1)[0]
        return self.none2(F.relu(self.none1(torch.cat([best, t, most], 1)))).float().squeeze(1)

    def scores(self, hh, hide_p):
        B, L, _ = hh.shape
        start, end = self.ends(hh).float().unbind(2)
        u, w = self.meet(hh).chunk(2, 2)
        pad = LONGEST - 1
        e = F.pad(end + hide_p, (0, pad), value=-1e4)
        index = torch.arange(L)[:, None] + torch.arange(LONGEST)[None]
        m = F.pad(torch.bmm(u, w.transpose(1, 2)).float(), (0, pad)).gather(2, index[None].expand(B, L, LONGEST)) / 8
        return m + (start + hide_p)[..., None] + e[:, index]


def loss(scores, none, gold, answerable):
    """-log P of all right spans together, or of "no answer", for each question."""
    f = scores.flatten(1)
    z = torch.logaddexp(f.logsumexp(1), none)
    g = f.masked_fill(~gold.flatten(1), -1e4).logsumexp(1)
    each = z - torch.where(answerable, g, none)
    return each.clamp(max=WORST) + .05 * (each - WORST).clamp(min=0)


def race_loss(scores, none, gold, answerable, group):
    """-log P of the right spans of each group of questions among all its spans and "no answer", each span by its odds against its own passage's."""
    f = scores.flatten(1)
    all_ = (f.logsumexp(1) - none).clamp(-30, 30)
    right = (f.masked_fill(~gold.flatten(1), -1e4).logsumexp(1) - none).clamp(-30, 30)
    n = int(group.max()) + 1
    total = torch.ones(n).index_add(0, group, all_.exp())
    found = torch.zeros(n).index_add(0, group, right.exp() * answerable)
    some = torch.zeros(n).index_add(0, group, answerable.float()) > 0
    return total.log() - torch.where(some, found.clamp(min=1e-13).log(), torch.zeros(n))

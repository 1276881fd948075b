"""The span reader: a question and a passage to scores of spans and of "no answer". SPEC.md has the formulas."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from .words import BASE, BUCKETS, MATCH, MAX_PASSAGE

half = torch.bfloat16
LONGEST = 30  # words of a span
HEAD = 32  # the width of an attention head
FAR = 60  # distances count up to here
SCORE = 64  # the width in which starts meet ends
EPS = 1e-5
WORST = 25.0  # beyond, a question's loss counts little: one that cannot be learnt would spoil a step


def within(lengths, n):
    """(B, n): which words are there."""
    return torch.arange(n, device=lengths.device)[None] < lengths[:, None]


def hiding(lengths, n):
    """(B, n): what to add to the scores of words, so that those that are not there count nothing."""
    return (~within(lengths, n)).float() * -1e4


def hidden(scores, lengths, dim):
    """Scores of words along a dimension, with those of words that are not there far below; without lengths all are there."""
    if lengths is None:
        return scores
    h = hiding(lengths, scores.shape[dim])
    return scores + (h[:, None] if dim == 2 else h[:, :, None])


def beside(h, lengths, reach):
    """Each word next to those at distance reach, zero beyond the ends: (B, L, d) -> (B, L, 3d); reach 0: the words alone."""
    if not reach:
        return h
    if lengths is not None:
        h = h * within(lengths, h.shape[1])[..., None].to(h.dtype)
    wide = F.pad(h, (0, 0, reach, reach))
    return torch.cat([wide[:, :h.shape[1]], h, wide[:, 2 * reach:]], 2)


class Plain:
    """What is not a matrix product, in plain torch; kernels.py has the same in C."""

    @staticmethod
    def unfold(x, norm, lengths, reach):
        """LayerNorm, then each word next to those at distance reach: (B, L, d) -> (B, L, 3d), zero beyond the ends; reach 0: the norm alone.
        Without lengths, all texts have L words."""
        return beside(F.layer_norm(x.float(), x.shape[-1:], norm.weight, norm.bias, EPS).to(half), lengths, reach)

    @staticmethod
    def gate(x, ab, keep):
        """x + a * sigmoid(b) * keep."""
        a, b = ab.float().chunk(2, -1)
        return (x.float() + a * torch.sigmoid(b) * keep).to(half)

    @staticmethod
    def add(x, y, keep):
        return (x.float() + y.float() * keep).to(half)

    @staticmethod
    def attention(q, k, v, slope, far, lengths, memory):
        """q (B, H, L, 32), k and v (B, H, K, 32): the K - L last keys are the question's, of which memory are there; far (L, L): distances."""
        L, K = q.shape[2], k.shape[2]
        s = (q @ k.transpose(2, 3)).float() / math.sqrt(HEAD)
        s = torch.cat([s[..., :L] - slope[:, None, None] * far, s[..., L:]], 3)
        if lengths is not None:
            seen = within(lengths, L)
            if K > L:
                seen = torch.cat([seen, within(memory, K - L)], 1)
            s = s.masked_fill(~seen[:, None, None], -1e4)
        return s.softmax(-1).to(half) @ v


class Fused(Plain):
    """The same for a GPU (torch 2): fewer passes over memory, sums in 16 bits, and slopes that stay as they are."""

    @staticmethod
    def unfold(x, norm, lengths, reach):
        return beside(F.layer_norm(x, x.shape[-1:], norm.weight.to(half), norm.bias.to(half), EPS), lengths, reach)

    @staticmethod
    def gate(x, ab, keep):
        return torch.addcmul(x, F.glu(ab), keep.to(half))

    @staticmethod
    def add(x, y, keep):
        return torch.addcmul(x, y, keep.to(half))

    @staticmethod
    def attention(q, k, v, slope, far, lengths, memory):
        L, K = q.shape[2], k.shape[2]
        bias = F.pad(-slope.detach()[:, None, None] * far, (0, K - L))[None].to(half)
        if lengths is not None:
            hide = hiding(lengths, L) if K == L else torch.cat([hiding(lengths, L), hiding(memory, K - L)], 1)
            bias = bias + hide[:, None, None].to(half)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(len(q), -1, -1, -1))


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

    REACHES = (1, 2)
    SLOPES = (.3, .08, .02, 0.)

    def __init__(self, d, drop=0.):
        super().__init__()
        self.heads, self.drop = d // HEAD, drop
        self.conv = nn.ModuleList(Linear(3 * d, 2 * d) for _ in self.REACHES)
        self.conv_norm = nn.ModuleList(nn.LayerNorm(d) for _ in self.REACHES)
        self.norm1, self.q, self.kv, self.o = nn.LayerNorm(d), Linear(d, d), Linear(d, 2 * d), Linear(d, d, gain=.5)
        self.slope = nn.Parameter(torch.tensor([self.SLOPES[k % len(self.SLOPES)] for k in range(self.heads)]))
        i = torch.arange(MAX_PASSAGE).float()
        self.register_buffer("far", (i[:, None] - i[None]).abs().clamp(max=FAR), persistent=False)
        self.norm2, self.up, self.down = nn.LayerNorm(d), Linear(d, 3 * d), Linear(3 * d, d, gain=.5)

    @torch.no_grad()
    def silence(self):
        """Makes the block return what it gets, until it has learnt something."""
        for c in self.conv:
            c.weight[:c.weight.shape[0] // 2] = 0  # the half that is gated
        self.o.weight.zero_()
        self.down.weight.zero_()
        return self

    def keep(self, x):
        if not self.training or not self.drop:
            return x.new_ones((x.shape[0], 1, x.shape[2]), dtype=torch.float32)
        return (torch.rand(x.shape[0], 1, x.shape[2], device=x.device) > self.drop).float() / (1 - self.drop)

    def forward(self, x, lengths, memory=None, memory_lengths=None):
        for w, n, r in zip(self.conv, self.conv_norm, self.REACHES):
            x = ops.gate(x, w(ops.unfold(x, n, lengths, r)), self.keep(x))
        B, L, d = x.shape
        h = ops.unfold(x, self.norm1, lengths, 0)
        k = h if memory is None else torch.cat([h, memory], 1)
        q = self.q(h).view(B, L, self.heads, HEAD).transpose(1, 2)
        k, v = self.kv(k).view(B, -1, 2, self.heads, HEAD).permute(2, 0, 3, 1, 4)
        a = ops.attention(q, k, v, self.slope, self.far[:L, :L], lengths, memory_lengths)
        x = ops.add(x, self.o(a.transpose(1, 2).reshape(B, L, d)), self.keep(x))
        return ops.add(x, self.down(F.relu(self.up(ops.unfold(x, self.norm2, lengths, 0)))), self.keep(x))


class Reader(nn.Module):
    """Texts are encoded each by itself; then the passage's words meet the question's."""

    def __init__(self, known, embed=128, d=192, encoders=4, layers=2, drop=.1, vectors=None):
        super().__init__()
        self.shape = dict(known=known, embed=embed, d=d, encoders=encoders, layers=layers)
        self.words, self.parts = nn.Embedding(known + 1, embed), nn.Embedding(BUCKETS, embed)
        for table, given in ((self.words, 0), (self.parts, 1)):
            table.weight.data = torch.tensor(vectors[given]) if vectors else torch.randn(table.weight.shape) * .15
        self.align = Linear(embed, embed)
        self.enter = Linear(embed + BASE, d)
        self.encoder = nn.ModuleList(Block(d, drop) for _ in range(encoders))
        self.encoded = nn.LayerNorm(d)
        self.join_p, self.join_q = Linear(embed + MATCH, d), Linear(MATCH, d)
        self.see_p, self.see_q, self.see = Linear(d, 1, False), Linear(d, 1, False), nn.Parameter(torch.ones(d))
        self.mix = Linear(4 * d, d)
        self.blocks = nn.ModuleList(Block(d, drop) for _ in range(layers))
        self.read = nn.LayerNorm(d)
        self.pool = Linear(d, 1, False)
        self.head = Linear(3 * d, d)
        self.ends = Linear(d, 2)
        self.meet = Linear(d, 2 * SCORE)
        self.none1, self.none2 = Linear(2 * d + MATCH, 64), Linear(64, 1)

    def tables(self):
        return [self.words.weight, self.parts.weight]

    def first(self, n):
        """The parameters of the first n blocks that read a text alone, and of what is before them but the tables."""
        return [p for part in ([self.enter] + list(self.encoder[:n]) if n else []) for p in part.parameters()]

    def grow(self, n):
        """Adds n blocks behind the last, where passage and question meet, that change nothing yet."""
        last = self.blocks[-1]
        self.blocks.extend(Block(self.shape["d"], last.drop).silence() for _ in range(n))
        self.shape["layers"] += n

    def embedded(self, b):
        u = self.words(b["rows"]) + self.parts(b["parts"]).sum(1)
        if self.training:
            u = u * (torch.rand(u.shape[0], 1, device=u.device) > .02).float()
        return F.embedding(b["p"], u), F.embedding(b["q"], u)

    def encode(self, e, base, lengths=None):
        """A text by itself: (B, L, embed) and (B, L, BASE) -> (B, L, d)."""
        x = self.enter(torch.cat([e.to(half), base.to(half)], 2))
        for block in self.encoder:
            x = block(x, lengths)
        return ops.unfold(x, self.encoded, lengths, 0)

    def join(self, x, y, ep, eq, pf=None, qf=None, n=None, qn=None):
        """What the passage's words become next to the question's: -> (x, y, h), each (B, words, d). Without pf and qf there are no features."""
        ap, aq = F.relu(self.align(ep)), F.relu(self.align(eq))
        al = torch.bmm(hidden(torch.bmm(ap, aq.transpose(1, 2)).float() / 8, qn, 2).softmax(2).to(half), eq.to(half))
        pf = al.new_zeros(*al.shape[:2], MATCH) if pf is None else pf.to(half)
        x = x + self.join_p(torch.cat([al, pf], 2))
        if qf is not None:
            y = y + self.join_q(qf)
        s = self.see_p(x).float() + self.see_q(y).float().transpose(1, 2) + torch.bmm(x * self.see.to(half), y.transpose(1, 2)).float() / math.sqrt(x.shape[2])
        A, Q = hidden(s, qn, 2).softmax(2).to(half), hidden(s, n, 1).softmax(1).to(half)
        a, c = torch.bmm(A, y), torch.bmm(A, torch.bmm(Q.transpose(1, 2), x))
        h = x + self.mix(torch.cat([x, a, x * a, x * c], 2))
        for block in self.blocks:
            h = block(h, n, y, qn)
        return x, y, ops.unfold(h, self.read, n, 0)

    def forward(self, b):
        """-> scores (B, L, LONGEST) of the spans that begin at a word and are k + 1 words long, (B,) of "no answer"."""
        of = b["of"]  # each question's passage
        n, qn = b["pn"][of], b["qn"]
        ep, eq = self.embedded(b)
        x, y = self.encode(ep, b["pb"], b["pn"])[of], self.encode(eq, b["qb"], qn)
        x, y, h = self.join(x, y, ep[of], eq, b["pf"], b["qf"], n, qn)
        hide_p = hiding(n, x.shape[1])
        t = (((self.pool(y).float().squeeze(2) + hiding(qn, y.shape[1])).softmax(1)[..., None]) * y.float()).sum(1)
        hh = F.relu(self.head(torch.cat([h, x, h * t.to(half)[:, None]], 2)))
        return self.scores(hh, hide_p), self.none(hh, hide_p, t, b["pf"])

    def none(self, hh, hide_p, t, features):
        best = (hh.float() + hide_p[..., None]).max(1)[0]
        most = (features.float() + hide_p[..., None]).max(1)[0]
        return self.none2(F.relu(self.none1(torch.cat([best, t, most], 1)))).float().squeeze(1)

    def scores(self, hh, hide_p):
        B, L, _ = hh.shape
        start, end = self.ends(hh).float().unbind(2)
        u, w = self.meet(hh).chunk(2, 2)
        pad = LONGEST - 1
        e = F.pad(end + hide_p, (0, pad), value=-1e4)
        index = torch.arange(L, device=hh.device)[:, None] + torch.arange(LONGEST, device=hh.device)[None]
        m = F.pad(torch.bmm(u, w.transpose(1, 2)).float(), (0, pad)).gather(2, index[None].expand(B, L, LONGEST)) / 8
        return m + (start + hide_p)[..., None] + e[:, index]


def loss(scores, none, gold, answerable):
    """-log P of all right spans together, or of "no answer", for each question."""
    f = scores.flatten(1)
    z = torch.logaddexp(f.logsumexp(1), none)
    g = f.masked_fill(~gold.flatten(1), -1e4).logsumexp(1)
    each = z - torch.where(answerable, g, none)
    return each.clamp(max=WORST) + .05 * (each - WORST).clamp(min=0)


def race_loss(scores, none, gold, answerable, group, n):
    """-log P of the right spans of each of n groups of questions among all its spans and "no answer", each span by its odds against its own
    passage's."""
    f = scores.flatten(1)
    all_ = (f.logsumexp(1) - none).clamp(-30, 30)
    right = (f.masked_fill(~gold.flatten(1), -1e4).logsumexp(1) - none).clamp(-30, 30)
    zero = all_.new_zeros(n)
    total = zero.index_add(0, group, all_.exp()) + 1
    found = zero.index_add(0, group, right.exp() * answerable)
    some = zero.index_add(0, group, answerable.float()) > 0
    return total.log() - torch.where(some, found.clamp(min=1e-13).log(), zero)

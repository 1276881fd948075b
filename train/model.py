"""The decoder (llama: RMSNorm, rotary embedding, grouped queries, SwiGLU, tied embedding) and its optimizer."""
import math

import torch
import torch.nn.functional as F

from . import kernels


class Config:
    """Shape of the model. Defaults: 7.0 million parameters."""

    def __init__(self, **given):
        self.vocab, self.width, self.layers, self.heads, self.kv_heads, self.head_dim, self.ff = 2048, 256, 12, 4, 2, 64, 448
        self.theta, self.eps, self.context = 10000.0, 1e-5, 512
        self.__dict__.update(given)


def init(c, seed=0):
    """Fresh float32 weights by name: emb, norm, and per layer l: l.wq l.wk l.wv l.wo l.gate l.up l.down l.norm1 l.norm2."""
    g = torch.Generator().manual_seed(seed)

    def normal(rows, columns, std):
        return torch.randn(rows, columns, generator=g) * std

    q, kv, out = c.heads * c.head_dim, c.kv_heads * c.head_dim, 1 / math.sqrt(2 * c.layers)
    p = {"emb": normal(c.vocab, c.width, 0.05), "norm": torch.ones(c.width)}
    for l in range(c.layers):
        for name, rows, columns, scale in (("wq", q, c.width, 1), ("wk", kv, c.width, 1), ("wv", kv, c.width, 1), ("wo", c.width, q, out),
                                           ("gate", c.ff, c.width, 1), ("up", c.ff, c.width, 1), ("down", c.width, c.ff, out)):
            p[f"{l}.{name}"] = normal(rows, columns, scale * columns ** -0.5)
        p[f"{l}.norm1"], p[f"{l}.norm2"] = torch.ones(c.width), torch.ones(c.width)
    return p


def grow(c, p, moments, layers):
    """Deepen a trained model without changing what it computes: each new layer is a copy of the one before it that adds nothing yet (its wo
    and down are 0). moments: dicts of the optimizer's state, extended with zeros. -> (Config, weights, moments)."""
    extra = layers - c.layers
    after = {(e + 1) * c.layers // extra - 1 for e in range(extra)}
    if extra > c.layers:
        raise ValueError("from %d to %d layers: at most twice as many" % (c.layers, layers))
    # For each layer of the result: the layer that it copies, and whether it is new.
    sources = [(l, new) for l in range(c.layers) for new in ([False, True] if l in after else [False])]

    def moved(tensors, fresh):
        out = {k: x for k, x in tensors.items() if not k[0].isdigit()}
        for at, (l, new) in enumerate(sources):
            for k, x in tensors.items():
                if k.startswith("%d." % l):
                    name = k.split(".")[1]
                    out["%d.%s" % (at, name)] = fresh(name, x) if new else x
        return out
    p = moved(p, lambda name, x: torch.zeros_like(x) if name in ("wo", "down") else x.clone())
    return Config(**{**c.__dict__, "layers": layers}), p, [moved(m, lambda name, x: torch.zeros_like(x)) for m in moments]


def working(p, grad=True):
    """The copy of the weights that a step computes with: bfloat16 matrices, float32 norms."""
    return {k: (v.bfloat16() if v.dim() == 2 else v.clone()).requires_grad_(grad) for k, v in p.items()}


def rope_table(c, device):
    f = c.theta ** (-torch.arange(0, c.head_dim, 2, device=device).float() / c.head_dim)
    angle = torch.arange(1024, device=device).float()[:, None] * f
    return torch.cos(angle), torch.sin(angle)


class PlainTorch:
    """The kernels' functions in plain torch: for a GPU, or without a compiler."""

    @staticmethod
    def norm(x, w, eps):
        return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w).bfloat16()

    @staticmethod
    def rope(x, positions, cosine, sine, heads, scale):
        c, s = cosine[positions.long()][:, None], sine[positions.long()][:, None]
        a, b = x.float().view(x.shape[0], heads, 2, -1).unbind(2)
        return (torch.cat((a * c - b * s, b * c + a * s), -1) * scale).bfloat16().view_as(x)

    @staticmethod
    def softmax(scores, segments):
        B, T = segments.shape
        rows, columns = segments[:, :, None], segments[:, None, :]
        seen = ((rows == columns) | ((columns == 0) & (rows > 0))) & torch.ones(T, T, dtype=torch.bool, device=scores.device).tril()
        s = scores.view(B, -1, T, T).float().masked_fill(~seen[:, None], -1e30)
        return s.softmax(-1).to(scores.dtype).view_as(scores)

    @staticmethod
    def swiglu(a, b):
        return (F.silu(a.float()) * b.float()).bfloat16()


class CKernels:
    norm, rope = kernels.RMSNorm.apply, kernels.Rope.apply
    softmax, swiglu = kernels.Softmax.apply, kernels.SwiGLU.apply


_tables = {}


def attend(scores, seen):
    """Softmax of scores (B*kv, group*T, T) over the columns that seen (B, T, T) allows."""
    B, T, _ = seen.shape
    return scores.view(B, -1, T, T).float().masked_fill(~seen[:, None], -1e30).softmax(-1).to(scores.dtype).view_as(scores)


def logits(c, w, ids, positions, segments, selected=None, seen=None, adapt=None):
    """Logits (n, vocab) at the flat positions `selected` of ids (B, T). The other arguments are those of hidden."""
    x = F.embedding(ids.reshape(-1), w["emb"]).float()
    return hidden(c, w, x, positions, segments, selected, seen, adapt) @ w["emb"].t()


def hidden(c, w, x, positions, segments, selected=None, seen=None, adapt=None):
    """What the head reads (n, width), at the flat positions `selected` of B·T rows x; positions (B, T). segments are as in data.Row, or
    seen (B, T, T) says which columns each row attends to. adapt(name, x, y), if given, returns what takes the place of y, the product of
    x and the weight of that name."""
    ops = CKernels if x.device.type == "cpu" and kernels.build() else PlainTorch
    B, T = positions.shape
    if x.device not in _tables:
        _tables[x.device] = rope_table(c, x.device)
    cosine, sine = _tables[x.device]
    at, segments, group = positions.reshape(-1).int().contiguous(), segments.int().contiguous(), c.heads // c.kv_heads

    def split(y, heads):  # (B*T, heads*dim) -> (B*kv, group*T, dim)
        return y.view(B, T, heads, c.head_dim).transpose(1, 2).reshape(B * c.kv_heads, -1, c.head_dim)

    def product(name, x):
        y = x @ w[name].t()
        return adapt(name, x, y) if adapt else y

    for l in range(c.layers):
        h = ops.norm(x, w[f"{l}.norm1"], c.eps)
        q = split(ops.rope(product(f"{l}.wq", h), at, cosine, sine, c.heads, c.head_dim ** -0.5), c.heads)
        k = split(ops.rope(product(f"{l}.wk", h), at, cosine, sine, c.kv_heads, 1.0), c.kv_heads)
        v = split(product(f"{l}.wv", h), c.kv_heads)
        scores = torch.bmm(q, k.transpose(1, 2))
        mixed = torch.bmm(ops.softmax(scores, segments) if seen is None else attend(scores, seen), v)
        mixed = mixed.view(B, c.heads, T, c.head_dim).transpose(1, 2).reshape(B * T, -1)
        x = x + product(f"{l}.wo", mixed)
        h = ops.norm(x, w[f"{l}.norm2"], c.eps)
        x = x + product(f"{l}.down", ops.swiglu(product(f"{l}.gate", h), product(f"{l}.up", h)))
    if selected is not None:
        x = x.index_select(0, selected)
    return ops.norm(x, w["norm"], c.eps)


def orthogonal(g, steps=5):
    """Newton-Schulz iteration (Muon) on a stack of matrices (n, rows, columns): towards the nearest orthogonal ones."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g.bfloat16()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.transpose(1, 2)
    x = (x / (x.float().norm(dim=(1, 2), keepdim=True) + 1e-7)).bfloat16().contiguous()
    for _ in range(steps):
        s = torch.bmm(x, x.transpose(1, 2))
        x = a * x + torch.bmm(b * s + c * torch.bmm(s, s), x)
    return (x.transpose(1, 2) if tall else x).float()


class Optimizer:
    """Muon for the layers' matrices, Adam for the embedding and the norms."""

    def __init__(self, p, rate=0.006, adam_rate=0.003, momentum=0.95):
        self.p, self.rate, self.adam_rate, self.momentum, self.t = p, rate, adam_rate, momentum, 0
        self.m = {k: torch.zeros_like(x) for k, x in p.items()}
        self.v = {k: torch.zeros_like(x) for k, x in p.items() if not self._muon(k)}
        self.stacks = {}
        for k, x in p.items():
            if self._muon(k):
                self.stacks.setdefault(tuple(x.shape), []).append(k)

    def _muon(self, k):
        return self.p[k].dim() == 2 and k != "emb"

    @torch.no_grad()
    def step(self, grads, factor):
        """One step; factor scales both learning rates."""
        self.t += 1
        for shape, names in self.stacks.items():
            ups = []
            for k in names:
                g = grads[k].float()
                self.m[k].mul_(self.momentum).add_(g, alpha=1 - self.momentum)
                ups.append(torch.lerp(g, self.m[k], self.momentum))
            for k, u in zip(names, orthogonal(torch.stack(ups))):
                self.p[k].add_(u, alpha=-self.rate * factor * 0.2 * math.sqrt(max(shape)))
        for k, v in self.v.items():
            g = grads[k].float()
            self.m[k].lerp_(g, 0.1)
            v.mul_(0.98).addcmul_(g, g, value=0.02)
            down = (v / (1 - 0.98 ** self.t)).sqrt_().add_(1e-8)
            self.p[k].addcdiv_(self.m[k] / (1 - 0.9 ** self.t), down, value=-self.adam_rate * factor)

    def state(self):
        return {"t": self.t, "m": self.m, "v": self.v}

    def restore(self, state):
        """Continue from state(), which may come from another device than the weights."""
        self.t = state["t"]
        self.m, self.v = ({k: x.to(self.p[k].device) for k, x in state[name].items()} for name in ("m", "v"))

"""The span reader in plain numpy float32, from the exported file: what the engine has to compute, and what the golden vectors are made with."""
import numpy as np

from .. import gguf
from .features import features, relate
from .relations import parsed
from .words import BASE, MAX_PASSAGE, MAX_QUESTION, NETWORK, PARTS, RULES, Vocabulary, analyse


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0)


class Reader:
    def __init__(self, path):
        self.meta, t = gguf.read(path)
        assert self.meta["general.architecture"] == "tandem-span" and self.number("rules") == RULES
        self.t = {k: np.asarray(x, np.float32) for k, x in t.items()}
        self.v = Vocabulary(self.meta["tandem-span.words"], self.t["idf"], parsed(self.meta["tandem-span.relations"]))
        relate(self.v.relations)
        assert self.number("network") == NETWORK, f"{path}: version {self.number('network')} of the network"
        self.layers, self.encoders = self.number("block_count"), self.number("encoder_count")

    def number(self, name):
        return self.meta["tandem-span." + name]

    def linear(self, name, x):
        y = x @ self.t[name + ".weight"].T
        return y + self.t[name + ".bias"] if name + ".bias" in self.t else y

    def norm(self, name, x):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(self.number("epsilon"))) * self.t[name + ".weight"] + self.t[name + ".bias"]

    def embedded(self, text):
        rows = [self.v.rows[k] for k in text.types]
        parts = np.array([self.v.parts[k] for k in text.types]).reshape(-1, PARTS)
        return self.t["words.weight"][rows] + self.t["parts.weight"][parts].sum(1)

    def block(self, name, x, memory=None):
        d = x.shape[1]
        for k, reach in enumerate((1, 2)):
            h = self.norm(f"{name}.conv_norm.{k}", x)
            z = np.zeros((reach, d), np.float32)
            h = np.concatenate([np.concatenate([z, h])[:len(h)], h, np.concatenate([h, z])[reach:]], 1)
            ab = self.linear(f"{name}.conv.{k}", h)
            x = x + ab[:, :d] * sigmoid(ab[:, d:])
        h = self.norm(name + ".norm1", x)
        keys = h if memory is None else np.concatenate([h, memory])
        heads, n = self.number("head_count"), len(x)
        q, kv = self.linear(name + ".q", h), self.linear(name + ".kv", keys)
        size = d // heads
        i = np.arange(n)
        far = np.minimum(np.abs(i[:, None] - i[None]), self.number("far")).astype(np.float32)
        out = []
        for a in range(heads):
            s = slice(a * size, (a + 1) * size)
            w = q[:, s] @ kv[:, :d][:, s].T / np.float32(np.sqrt(size))
            w[:, :n] -= self.t[name + ".slope"][a] * far
            out.append(softmax(w) @ kv[:, d:][:, s])
        x = x + self.linear(name + ".o", np.concatenate(out, 1))
        return x + self.linear(name + ".down", relu(self.linear(name + ".up", self.norm(name + ".norm2", x))))

    def alone(self, t, question=False):
        """What does not depend on the other text: embeddings, their alignment, the encoded words."""
        e, base = self.embedded(t), t.base.copy()
        if question:
            base[:, BASE - 1] = 1
        return e, relu(self.linear("align", e)), self.encoded(np.concatenate([e, base], 1))

    def encoded(self, x):
        x = self.linear("enter", x)
        for k in range(self.encoders):
            x = self.block(f"encoder.{k}", x)
        return self.norm("encoded", x)

    def scores(self, q, p, kept=None):
        """-> scores (words of p, longest span), score of "no answer"."""
        (_, ap, x), (eq, aq, y) = kept or self.alone(p), self.alone(q, True)
        pf, qf = features(q, p)
        al = softmax(ap @ aq.T / 8) @ eq
        x, y = x + self.linear("join_p", np.concatenate([al, pf], 1)), y + self.linear("join_q", qf)
        d = x.shape[1]
        s = self.linear("see_p", x) + self.linear("see_q", y).T + (x * self.t["see"]) @ y.T / np.float32(np.sqrt(d))
        A, Q = softmax(s, 1), softmax(s, 0)
        a, c = A @ y, A @ (Q.T @ x)
        h = x + self.linear("mix", np.concatenate([x, a, x * a, x * c], 1))
        for k in range(self.layers):
            h = self.block(f"blocks.{k}", h, y)
        h = self.norm("read", h)
        t = softmax(self.linear("pool", y)[:, 0]) @ y
        hh = relu(self.linear("head", np.concatenate([h, x, h * t], 1)))
        none = self.linear("none2", relu(self.linear("none1", np.concatenate([hh.max(0), t, pf.max(0)]))))[0]
        ends, uw = self.linear("ends", hh), self.linear("meet", hh)
        half, longest, n = uw.shape[1] // 2, self.number("longest"), len(hh)
        m = uw[:, :half] @ uw[:, half:].T / 8
        out = np.full((n, longest), -1e4, np.float32)
        for i in range(n):
            k = min(longest, n - i)
            out[i, :k] = ends[i, 0] + ends[i:i + k, 1] + m[i, i:i + k]
        return out, none

    def posterior(self, question, passage):
        """-> (Text of the passage, P of spans (words, longest), P of no answer)."""
        p, q = analyse(self.v, passage, MAX_PASSAGE), analyse(self.v, question, MAX_QUESTION)
        s, none = self.scores(q, p)
        z = np.concatenate([s.ravel(), [none + np.float32(self.number("none_bias"))]]) / np.float32(self.number("temperature"))
        z = softmax(z.astype(np.float32))
        return p, z[:-1].reshape(s.shape), float(z[-1])

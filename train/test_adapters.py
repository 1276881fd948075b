"""Tests of adapters and forecasts (they need torch): python3 -m unittest train.test_adapters"""
import os
import tempfile
import unittest

try:
    import numpy as np
    import torch
except ImportError as missing:
    raise unittest.SkipTest(f"{missing.name} is not installed")

from . import gguf, model
from .adapters import Adapter
from .data import Row
from .examples import TASK, Branch, turn
from .forecast import Batch, Forecast, predict
from .model import Config, logits
from .names import Source
from .test_model import SMALL, tokenizer


def small():
    t = tokenizer()
    c = Config(**{**SMALL, "vocab": len(t.tokens)})
    return t, c, model.init(c, 1)


def filled(adapter):
    for k in adapter.b:
        adapter.b[k] = torch.randn(adapter.b[k].shape, generator=torch.Generator().manual_seed(3)) * 0.3
    return adapter


class AdapterTest(unittest.TestCase):
    def test_saved_and_restored(self):
        _, c, w = small()
        a = filled(Adapter(c, w, 4, 1))
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "a.gguf")
            a.save(path, "a")
            meta, tensors = gguf.read(path)
            self.assertEqual((meta["general.type"], meta["adapter.type"]), ("adapter", "lora"))
            self.assertEqual(tensors["blk.1.ffn_down.weight.lora_a"].shape, (4, c.ff))
            b = Adapter(c, w, 4, 2)
            b.restore(path)
            for k in a.a:
                np.testing.assert_allclose(a.a[k].detach(), b.a[k], atol=2e-3)
                np.testing.assert_allclose(a.b[k].detach(), b.b[k], atol=2e-3)


class ForecastTest(unittest.TestCase):
    def setUp(self):
        self.tokenizer, self.c, self.w = small()
        self.rows = [Row(self.tokenizer, "Context: The door is red.", [Branch(turn("What is the door?"), [(" The door is red as a fox.", TASK)])])]

    def test_targets_are_later_tokens(self):
        r, m = self.rows[0], 3
        b = Batch(self.rows, m, 4, Source("x"))
        T = b.ids.shape[1]
        for flat, target, depth in zip(b.selected.tolist(), b.targets.tolist(), b.depths.tolist()):
            i, row = divmod(flat, T)
            place = b.at.tolist().index(flat)
            self.assertEqual(b.of[place].item(), depth)
            # The forecast stands depth + 1 after the row that it follows, which is the last that it sees of the text.
            text = [j for j in range(len(r)) if b.seen[i, row, j]]
            after = text[-1]
            self.assertEqual(b.positions[i, row].item(), r.positions[after] + 1 + depth)
            self.assertEqual(target, r.targets[after + depth + 1])
            # It may know the state of a row before that one, as far back as a draft is long.
            self.assertIn(after - b.knows[place].item() % T, range(1, m + 2))

    def test_hidden_states_change_forecasts(self):
        static, dynamic = Forecast(self.c, self.w, 2, 4, 1), Forecast(self.c, self.w, 2, 4, 1, hidden=3)
        b = Batch(self.rows, 2, 3, Source("x"))
        want = predict(self.c, self.w, static, b)
        torch.testing.assert_close(predict(self.c, self.w, dynamic, b), want)  # the projection begins as zero
        dynamic.up = torch.ones_like(dynamic.up)
        self.assertGreater((predict(self.c, self.w, dynamic, b) - want).abs().max().item(), 0.01)

    def test_text_does_not_see_forecasts(self):
        f = Forecast(self.c, self.w, 2, 4, 1)
        filled(f.adapter)
        b = Batch(self.rows, 2, 3, Source("x"))
        n = len(self.rows[0])
        self.assertFalse(b.seen[0, :n, n:].any())
        first = predict(self.c, self.w, f, b)
        text = torch.arange(n)
        b.selected = text
        got = predict(self.c, self.w, f, b)
        w = {k: x.bfloat16() if x.dim() == 2 else x for k, x in self.w.items()}
        want = logits(self.c, w, b.ids[:, :n], b.positions[:, :n], torch.from_numpy(self.rows[0].segments)[None], text).float()
        torch.testing.assert_close(got, want, atol=0.05, rtol=0.05)
        self.assertEqual(first.shape[1], self.c.vocab)


if __name__ == "__main__":
    unittest.main()

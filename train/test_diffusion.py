"""Tests of the reader that denoises (they need torch): python3 -m unittest train.test_diffusion"""
import os
import random
import tempfile
import unittest

try:
    import numpy as np
    import torch
except ImportError as missing:
    raise unittest.SkipTest(f"{missing.name} is not installed")

from . import diffusion, gguf, model
from .data import Row
from .diffusion import BLOCK, Answer, Batch, Noised, answers, loss_of, with_mask
from .examples import PREFIX, SOFT, UNSUPPORTED, VALUE, Branch, turn
from .test_model import SMALL, tokenizer

MASK = SMALL["vocab"]


def noised(seed, length=40, context=5, prompt=4):
    rng = random.Random(seed)
    return Noised(rng, MASK, list(range(1, context + 1)), [Answer(list(range(20, 20 + prompt)), [rng.randrange(50, 90) for _ in range(length)] + [0])])


class NoisedTest(unittest.TestCase):
    def test_rows_guess_the_next_token(self):
        """The prompt has no loss and is clean; every row of the loss has its answer's next token as its target."""
        for seed in range(50):
            r = noised(seed)
            self.assertEqual(r.ids[:9].tolist(), [1, 2, 3, 4, 5, 20, 21, 22, 23])
            self.assertTrue((r.weights[:8] == 0).all())
            for i in np.nonzero(r.weights)[0]:
                if r.ids[i + 1] != MASK and r.weights[i] < 0.5:
                    self.assertEqual(r.targets[i], r.ids[i + 1])
            self.assertTrue((r.ids == MASK).any() or r.weights.max() <= 0.5)
            self.assertEqual(r.positions.tolist(), list(range(len(r))))

    def test_only_blocks_attend_both_ways(self):
        for seed in range(50):
            r = noised(seed)
            seen = Batch([r, noised(seed + 1000)]).seen[0].numpy()
            n = 9  # context and prompt
            self.assertTrue((seen[:n, :n] == np.tril(np.ones((n, n), bool))).all())
            self.assertFalse(seen[:n, n:].any())
            live = np.nonzero((r.until == len(r) - 1))[0]
            self.assertTrue(seen[np.ix_(live, range(len(r)))].all())
            self.assertFalse(seen[:, len(r):][:len(r)].any())
            for i in range(n, live[0]):  # decided blocks see themselves, not the masked one
                self.assertEqual(seen[i].sum(), n + ((i - n) // BLOCK + 1) * BLOCK)

    def test_only_supported_answers(self):
        t = tokenizer()
        row = Row(t, "Context: The inn is run by Ada.", [Branch(turn("Who runs the inn?"), [(" The inn is run by", PREFIX), (" Ada", VALUE)]),
                                                          Branch(turn("Who runs the spa?"), [(" The spa is run by", UNSUPPORTED), (" Bo", SOFT)])])
        context, branches = answers(row)
        self.assertEqual(t.decode(context[1:]), "Context: The inn is run by Ada.")
        self.assertEqual(len(branches), 1)
        self.assertEqual(t.decode(branches[0].prompt), turn("Who runs the inn?"))
        self.assertEqual(len(branches[0].answer), BLOCK)
        end = branches[0].answer.index(0)
        self.assertEqual(t.decode(branches[0].answer[:end]), " The inn is run by Ada")


class TrainTest(unittest.TestCase):
    def test_it_learns(self):
        c, p = with_mask(model.Config(**SMALL), model.init(model.Config(**SMALL)))
        self.assertEqual(p["emb"].shape[0], MASK + 1)
        optimizer, batch = model.Optimizer(p), Batch([noised(s) for s in range(4)])
        losses = []
        for _ in range(40):
            w = model.working(p)
            loss, _ = loss_of(c, w, batch)
            loss.backward()
            optimizer.step({k: x.grad for k, x in w.items()}, 1.0)
            losses.append(loss.item())
        self.assertLess(losses[-1], losses[0] / 2)

    def test_file(self):
        t = tokenizer()
        c, p = with_mask(model.Config(**{**SMALL, "vocab": len(t.tokens)}), model.init(model.Config(**{**SMALL, "vocab": len(t.tokens)})))
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "m.gguf")
            diffusion.write(path, c, p, t)
            meta, tensors = gguf.read(path)
        self.assertEqual(meta["general.architecture"], "llada")
        self.assertEqual(meta["tokenizer.ggml.tokens"][meta["tokenizer.ggml.mask_token_id"]], "<|mask|>")
        self.assertEqual(len(meta["tokenizer.ggml.token_type"]), len(meta["tokenizer.ggml.tokens"]))
        self.assertEqual(tensors["token_embd.weight"].shape[0], len(t.tokens) + 1)
        self.assertTrue(meta["diffusion.shift_logits"] and meta["tandem.causal_prompt"] and not meta["llada.attention.causal"])
        self.assertFalse([k for k in meta if k.startswith("llama.")])


if __name__ == "__main__":
    unittest.main()

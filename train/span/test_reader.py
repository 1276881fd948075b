import os
import tempfile
import unittest

try:
    import numpy as np
    import torch
except ImportError:
    raise unittest.SkipTest("no torch")

from . import data, export, golden, kernels, model, reference
from .words import Vocabulary, analyse

KNOWN = Vocabulary(["the", "museum", "opens", "at", "closes", "price"], [0, .5, .5, 0, .5, .4])


def batch(cases):
    items = []
    for passage, question, answer in cases:
        p = analyse(KNOWN, passage)
        at = passage.find(answer) if answer else 0
        items.append(data.Item(p, [(analyse(KNOWN, question, 40), [data.span(p, at, at + len(answer))] if answer else [])]))
    return {k: torch.from_numpy(x) for k, x in data.collate(KNOWN, items).items()}


class ReaderTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.m = model.Reader(len(KNOWN.words), d=64, encoders=2, layers=1, drop=0)
        self.b = batch([("The museum opens at 9:40 and closes at 17:20.", "museum opens", "9:40"), ("Nothing here.\nprice: 5", "the price of tea", "")])

    def run_with(self, ops):
        old, model.ops = model.ops, ops
        try:
            for p in self.m.parameters():
                p.grad = None
            s, none = self.m.eval()(self.b)
            l = model.loss(s, none, self.b["gold"], self.b["answerable"]).mean()
            l.backward()
            return s.detach(), none.detach(), torch.cat([(p.grad if p.grad is not None else torch.zeros_like(p)).flatten() for p in self.m.parameters()])
        finally:
            model.ops = old

    def test_kernels_agree_with_plain_torch(self):
        if not kernels.build():
            self.skipTest("no C compiler")
        a, c = self.run_with(model.Plain), self.run_with(kernels.Compiled)
        seen = a[0] > -1e3
        self.assertLess((a[0] - c[0])[seen].abs().max(), .1)
        self.assertLess((a[2] - c[2]).norm() / a[2].norm(), .05)

    def test_what_a_gpu_computes_agrees_with_plain_torch(self):
        if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):
            self.skipTest("torch is older than 2")
        old, model.half = model.half, torch.float32
        try:
            a, c = self.run_with(model.Plain), self.run_with(model.Fused)
        finally:
            model.half = old
        seen = a[0] > -1e3
        self.assertLess((a[0] - c[0])[seen].abs().max(), 1e-3)
        sloped = torch.cat([torch.full((p.numel(),), n.endswith("slope")) for n, p in self.m.named_parameters()])
        self.assertLess((a[2] - c[2])[~sloped].norm() / a[2].norm(), 1e-3)

    def run_grads(self):
        """The gradients of the parameters that have one."""
        self.m.zero_grad(set_to_none=True)
        s, none = self.m.eval()(self.b)
        model.loss(s, none, self.b["gold"], self.b["answerable"]).mean().backward()
        return [(n, p.grad.clone()) for n, p in self.m.named_parameters() if p.grad is not None]

    def test_a_step_learns(self):
        from . import loop
        optimizer, losses = loop.Optimizer(self.m), []
        for _ in range(40):
            s, none = self.m.train()(self.b)
            l = model.loss(s, none, self.b["gold"], self.b["answerable"]).mean()
            l.backward()
            optimizer.step(1)
            losses.append(l.item())
        self.assertLess(losses[-1], losses[0] * .7)

    def test_training_goes_on_from_an_exported_file(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "span.gguf")
            export.export(path, KNOWN, dict(model=self.m.state_dict(), shape=self.m.shape))
            v, start = export.restored(path)
        self.assertEqual((v.words, list(v.idfs), start["shape"]), (KNOWN.words, list(KNOWN.idfs), self.m.shape))
        again = model.Reader(**start["shape"])
        again.load_state_dict(start["model"])
        for (name, a), (_, b) in zip(self.m.state_dict().items(), again.state_dict().items()):  # five bits or eight
            self.assertLess((a - b).abs().max(), (.07 if name in export.TABLES else .01) * a.abs().max() + 1e-6, name)

    def test_a_grown_reader_begins_as_it_was(self):
        before = self.m.eval()(self.b)
        self.m.grow(2)
        after = self.m.eval()(self.b)
        self.assertEqual((self.m.shape["layers"], len(self.m.blocks)), (3, 3))
        for x, y in zip(before, after):
            torch.testing.assert_close(x, y, rtol=0, atol=0)
        l = model.loss(*after, self.b["gold"], self.b["answerable"]).mean()
        l.backward()
        self.assertGreater(self.m.blocks[-1].down.weight.grad.abs().max(), 0)

    def test_the_first_blocks_stay_as_they_are(self):
        """With the tables, as --still and --frozen have it; the others learn as if all did."""
        from . import loop
        whole = dict(self.run_grads())
        for p in self.m.first(1) + self.m.tables():
            p.requires_grad_(False)
        part = dict(self.run_grads())
        self.assertTrue(all(n.startswith(("words.", "parts.", "enter.", "encoder.0.")) for n in set(whole) - set(part)))
        self.assertIn("encoder.1.down.weight", part)
        for n, g in part.items():
            torch.testing.assert_close(g, whole[n], rtol=0, atol=0)
        before = {n: p.detach().clone() for n, p in self.m.named_parameters()}
        loop.Optimizer(self.m).step(1)
        self.assertEqual({n for n, p in self.m.named_parameters() if not torch.equal(p, before[n])}, set(part))

    def test_two_processes_train_and_log(self):
        from . import loop
        rows, kept = [], []
        batches = lambda: iter([{k: x.numpy() for k, x in self.b.items()}] * 20)
        mean = loop.Mean(self.m, 2)
        mean.all[1].copy_(torch.cat([p.detach().flatten() for p in self.m.parameters()]))
        mean.written[1] = 1
        loop.run(self.m, loop.produced(batches), 5, lambda share: 1, loop.Optimizer(self.m), rows.append, lambda: kept.append(1), max_steps=16, mean=mean)
        self.assertEqual((rows[-1]["steps"], len(kept), int(mean.written[0])), (16, 1, 1))

    def test_training_ends_when_no_batches_come(self):
        from . import loop

        def batches():
            raise SystemExit("no such file")
            yield
        with self.assertRaisesRegex(SystemExit, "process that makes batches"):
            next(loop.produced(batches))

    def test_the_file_computes_what_torch_does(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "span.gguf")
            export.export(path, KNOWN, dict(model=self.m.state_dict(), shape=self.m.shape))
            r = reference.Reader(path)
        self.m.load_state_dict({k: torch.tensor(np.array(x)) for k, x in r.t.items() if k != "idf"})
        old, model.half = model.half, torch.float32
        try:
            for passage, question in golden.CASES:
                p, q = analyse(r.v, passage), analyse(r.v, question, 40)
                if not len(p) or not len(q):
                    continue
                b = {k: torch.from_numpy(x) for k, x in data.collate(r.v, [data.Item(p, [(q, [])])]).items()}
                with torch.no_grad():
                    s, none = self.m.eval()(b)
                t, n = r.scores(q, p)
                seen = t > -1e3
                np.testing.assert_allclose(s[0].numpy()[:len(t)][seen], t[seen], atol=2e-3)
                self.assertAlmostEqual(float(none[0]), float(n), delta=2e-3)
        finally:
            model.half = old

    def test_probabilities_sum_to_one_and_offsets_are_bytes(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "span.gguf")
            export.export(path, KNOWN, dict(model=self.m.state_dict(), shape=self.m.shape))
            r = reference.Reader(path)
        p, spans, none = r.posterior("price?", "Müller zahlt 5 €.")
        self.assertAlmostEqual(float(spans.sum()) + none, 1, delta=1e-5)
        case = golden.case(r, "Müller zahlt 5 €.", "price?")
        for s in case["spans"]:
            "Müller zahlt 5 €.".encode()[s["begin"]:s["end"]].decode()


if __name__ == "__main__":
    unittest.main()

"""Tests of tokenizer, rows, model and export (they need torch): python3 -m unittest discover -s train -t ."""
import os
import shutil
import signal
import tempfile
import unittest
import unittest.mock

try:
    import numpy as np
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError as missing:
    raise unittest.SkipTest(f"{missing.name} is not installed")

from . import average, errors, gguf, kernels, loop, model, plot
from .data import Batch, Row, make_row, written
from .evaluate import Item
from .examples import PREFIX, VALUE, Branch, example, indented, turn
from .export import TEMPLATE, adjacent_pairs, export, half_split, load
from .greedy import Reader
from .names import Source
from .tokenizer import PATTERN, Tokenizer, learn

SMALL = dict(vocab=400, width=64, layers=2, heads=2, kv_heads=1, head_dim=32, ff=64)


def tokenizer():
    s = Source("bpe")
    return learn([example(s)[0] for _ in range(300)], SMALL["vocab"])


class TokenizerTest(unittest.TestCase):
    def test_pre_tokens_are_those_of_qwen2(self):
        for text, want in (("The cabin's wifi: a-5827.\nNext", ["The", " cabin", "'s", " wifi", ":", " a", "-", "5", "8", "2", "7", ".\n", "Next"]),
                           ("a  b\n\n c_d", ["a", " ", " b", "\n\n", " c", "_d"]), ("I'LL pay €5  ", ["I", "'LL", " pay", " €", "5", "  "])):
            self.assertEqual(PATTERN.findall(text), want)

    def test_round_trip(self):
        t, s = tokenizer(), Source("round")
        self.assertEqual(len(set(t.tokens)), len(t.tokens))
        for text in [example(s)[0] for _ in range(100)] + ["Zürich costs 5 €", " \n\n x", "日本"]:
            self.assertEqual(t.decode(t.encode(text)), text)


class RowTest(unittest.TestCase):
    def test_branches_are_independent(self):
        """A branch has the same logits alone and together with others."""
        t, c = tokenizer(), model.Config(**SMALL)
        w = model.working(model.init(c), grad=False)
        branches = [Branch(turn("Who runs the %s?" % n), [(" The %s is run by" % n, PREFIX), (" Ada", VALUE)]) for n in ("inn", "bakery")]
        def values(bs, which):
            b = Batch([Row(t, "Context: The inn is run by Ada.", bs)])
            at = (b.segments.view(-1) == which).nonzero()[:, 0]
            return model.logits(c, w, b.ids, b.positions, b.segments, at).float()
        self.assertLess((values(branches, 2) - values(branches[1:], 1)).abs().max().item(), 0.05)

    def test_rows_equal_the_template(self):
        """The template's filter is Jinja's indent: all lines but the first and empty ones begin with a space."""
        text = "Notes\nThe inn.\n\n- Fee: 8\n"
        self.assertEqual(indented(text), "Notes\n The inn.\n\n - Fee: 8\n")
        self.assertIn("message['content'] | indent(1)", TEMPLATE)
        t = tokenizer()
        self.assertEqual(Row(t, "Context: " + text, []).ids.tolist()[1:], t.encode("Context: " + indented(text)))

    def test_joined_rows_encode_the_whole_prompt(self):
        t = tokenizer()
        branch = Branch(turn("Who?"), [(" Ada", VALUE)])
        row = Row(t, "Context: The inn.", [branch], joined=True)
        self.assertEqual(row.ids.tolist(), [0] + t.encode("Context: The inn." + branch.prompt + " Ada"))


class ErrorsTest(unittest.TestCase):
    def test_groups(self):
        """A value at the beginning of a line has the same tokens as in the answer; one after a bracket has others."""
        t, branch = tokenizer(), Branch(turn("Who?"), [(" It is", PREFIX), (" Ada", VALUE)])
        for context, facts, want in (("Notes\nAda runs it.", [1], ["value in the same tokens", "fact alone"]),
                                     ("Notes\nThe owner (Ada) is in.", [1, 2], ["value in other tokens", "among others"])):
            item = Item("cut", context, branch, facts)
            self.assertEqual(errors.groups(t, item, True), ["evaluation's names"] + want)
            self.assertEqual(errors.groups(t, item, False), ["training's names"])


class ModelTest(unittest.TestCase):
    @unittest.skipUnless(kernels.build(), "no C compiler")
    def test_kernels_agree_with_plain_torch(self):
        c, t, s = model.Config(**SMALL), tokenizer(), Source("rows")
        b, p = Batch([make_row(s, t, lambda: written(s, 1, 3)) for _ in range(3)]), model.init(c)

        def run():
            w = model.working(p)
            out = model.logits(c, w, b.ids, b.positions, b.segments).float()
            out[b.weights > 0].pow(2).mean().backward()
            return out.detach()[b.weights > 0], {k: x.grad.float() for k, x in w.items()}
        fast, grads = run()
        build, kernels.build = kernels.build, lambda: None
        try:
            plain, wanted = run()
        finally:
            kernels.build = build
        self.assertLess((fast - plain).abs().max().item(), 0.1)
        for k, g in wanted.items():
            self.assertLess(((g - grads[k]).norm() / g.norm()).item(), 0.05, k)

    def test_orthogonal(self):
        x = model.orthogonal(torch.randn(2, 32, 64))
        values = torch.linalg.svdvals(x)
        self.assertTrue(((values > 0.5) & (values < 1.4)).all())


class OneDevice(TorchDispatchMode):
    """Makes operations on tensors of different devices fail, as they do with a GPU. Copies between devices are allowed."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = []
        for a in list(args) + list((kwargs or {}).values()):
            found += [x.device.type for x in (a if isinstance(a, (list, tuple)) else [a]) if isinstance(x, torch.Tensor) and x.dim() > 0]
        if len(set(found)) > 1 and "copy" not in str(func):
            raise RuntimeError("%s between %s" % (func, found))
        return func(*args, **(kwargs or {}))


class DeviceTest(unittest.TestCase):
    """The meta device stands for a GPU: its tensors have a shape but no values, and everything works on them that needs no CPU memory."""

    def test_a_step_leaves_nothing_on_the_cpu(self):
        c, t, s, dev = model.Config(**SMALL), tokenizer(), Source("device"), torch.device("meta")
        rows = [make_row(s, t, lambda: written(s, 1, 3)) for _ in range(4)]
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "checkpoint.pt")
            p = model.init(c)
            loop.save(path, c, p, model.Optimizer(p), {"step": 3, "tokens": 9, "seconds": 1.0})
            for at, layers in ((os.path.join(d, "none"), 2), (path, 2), (path, 3)):  # fresh, resumed, grown
                given, p, optimizer, _ = loop.prepare(at, model.Config(**{**SMALL, "layers": layers}), 1, 0.006, dev, lambda line: None)
                with OneDevice():
                    w = model.working(p)
                    loss, each, kinds = loop.losses_of(given, w, Batch(rows), dev)
                    loss.backward()
                    optimizer.step({k: x.grad for k, x in w.items()}, 1.0)
                self.assertEqual(each.shape, kinds.shape)
                state = optimizer.state()
                left = [k for x in (p, w, state["m"], state["v"]) for k, y in x.items() if y.device != dev]
                self.assertFalse(left)
                self.assertEqual({loss.device, each.device, *(x.grad.device for x in w.values())}, {dev})

    def test_a_step_on_the_cpu_learns(self):
        c, t, s, dev = model.Config(**SMALL), tokenizer(), Source("device"), torch.device("cpu")
        b = Batch([make_row(s, t, lambda: written(s, 1, 3)) for _ in range(4)])
        c, p, optimizer, _ = loop.prepare("none", c, 1, 0.006, dev, print)
        first, *_, last = [np.nanmean(loop.step(c, p, optimizer, b, 1.0, dev)) for _ in range(8)]
        self.assertLess(last, first - 1)

    @unittest.skipUnless(kernels.build(), "no C compiler")
    def test_the_kernels_refuse_tensors_of_other_devices(self):
        x = torch.zeros(2, 32, device="meta")
        with self.assertRaises(AssertionError):
            kernels.RMSNorm.apply(x, torch.ones(32), 1e-5)


class GrowTest(unittest.TestCase):
    def test_a_grown_model_computes_the_same(self):
        c, t, s = model.Config(**SMALL), tokenizer(), Source("grow")
        p, b = model.init(c), Batch([make_row(s, t, lambda: written(s, 1, 3)) for _ in range(2)])
        optimizer = model.Optimizer(p)
        for layers in (3, 4):
            d, q, (m, v) = model.grow(c, p, (optimizer.m, optimizer.v), layers)
            self.assertEqual((d.layers, set(m), set(v)), (layers, set(q), {k for k in q if "norm" in k or k == "emb"}))
            x, y = (model.logits(config, model.working(w, False), b.ids, b.positions, b.segments)[b.weights > 0] for config, w in ((c, p), (d, q)))
            self.assertTrue(torch.equal(x, y))
            grown = model.Optimizer(q)
            grown.restore({"t": 5, "m": m, "v": v})
            w = model.working(q)
            model.logits(d, w, b.ids, b.positions, b.segments)[b.weights > 0].float().pow(2).mean().backward()
            grown.step({k: x.grad for k, x in w.items()}, 1.0)
            self.assertTrue(all(q["%d.wo" % l].abs().max() > 0 for l in range(layers)))  # every layer learns
        with self.assertRaises(ValueError):
            model.grow(c, p, (), 5)


class AverageTest(unittest.TestCase):
    def test_the_mean_weighs_each_by_its_weight(self):
        c = model.Config(**SMALL)
        a, b = model.init(c, 1), model.init(c, 2)
        got, p = average.mean([(c, a, 1.0), (c, b, 3.0)])
        self.assertEqual(got.__dict__, c.__dict__)
        for k in a:
            torch.testing.assert_close(p[k], 0.25 * a[k] + 0.75 * b[k])

    def test_files_of_both_kinds(self):
        t = tokenizer()
        c = model.Config(**{**SMALL, "vocab": len(t.tokens)})
        p = model.init(c, 1)
        with tempfile.TemporaryDirectory() as d:
            path = lambda name: os.path.join(d, name)
            t.save(path("t.json"))
            export(path("a.gguf"), c, p, t)
            loop.save(path("b.pt"), c, {k: 3 * x for k, x in p.items()}, model.Optimizer(p), {})
            with unittest.mock.patch("sys.argv", ["average", path("mean.gguf"), path("t.json"), path("a.gguf"), path("b.pt") + "=1"]):
                average.main()
            _, got, _ = load(path("mean.gguf"))
            for k in p:
                torch.testing.assert_close(got[k], 2 * p[k], rtol=0.02, atol=0.02)

    def test_other_shapes_and_no_weight_are_refused(self):
        c, d = model.Config(**SMALL), model.Config(**{**SMALL, "layers": SMALL["layers"] + 1})
        for readers in ([(c, model.init(c), 1.0), (d, model.init(d), 1.0)], [(c, model.init(c), 0.0)]):
            with self.assertRaises(ValueError):
                average.mean(readers)


@unittest.skipUnless(shutil.which("go"), "documents are cut by the program, which needs Go")
class RunTest(unittest.TestCase):
    def test_a_run_leaves_its_files_and_resumes(self):
        for s in (signal.SIGTERM, signal.SIGINT):  # train handles them
            self.addCleanup(signal.signal, s, signal.getsignal(s))
        t, threads = tokenizer(), torch.get_num_threads()
        self.addCleanup(torch.set_num_threads, threads)
        with tempfile.TemporaryDirectory() as d:
            for minutes in (1e-6, 1):
                if minutes == 1:  # as if almost a minute had passed
                    c, p, state, at = loop.load(os.path.join(d, "checkpoint.pt"))
                    loop.save(os.path.join(d, "checkpoint.pt"), c, p, done, {**at, "seconds": 60 - 1e-6})
                self.assertTrue(loop.train(d, t, minutes, model.Config(vocab=len(t.tokens), layers=1), threads=1, tokens=3000, log=lambda line: None))
                c, p, state, at = loop.load(os.path.join(d, "checkpoint.pt"))
                done = model.Optimizer(p)
                done.restore(state)
            self.assertEqual((at["step"], state["t"]), (2, 2))
            with open(os.path.join(d, "log.csv")) as f:
                header, *rows = f.read().split()
            self.assertEqual((header, len(rows)), (",".join(loop.COLUMNS), 2))
            self.assertEqual(len(plot.read(os.path.join(d, "log.csv"))), 2)
            with open(os.path.join(d, "curve.svg")) as f:
                self.assertIn("<polyline", f.read())
            self.assertEqual(Reader(os.path.join(d, "reader.gguf")).config.layers, 1)


class ExportTest(unittest.TestCase):
    def test_q8_0_is_within_half_a_step(self):
        x = np.random.default_rng(1).normal(size=(3, 64)).astype(np.float32)
        x[1, :32] = 0
        back = gguf.widened(gguf.quantized(x))
        step = np.repeat(np.abs(x.reshape(3, 2, 32)).max(-1) / 127, 32, -1)
        self.assertTrue((np.abs(back - x) <= 0.51 * step + np.abs(x) / 1024).all())

    def test_permutation_round_trip(self):
        w = np.arange(64 * 3).reshape(64, 3)
        self.assertTrue((half_split(adjacent_pairs(w, 2), 2) == w).all())
        self.assertEqual(adjacent_pairs(w, 2)[1, 0], w[16, 0])  # the pair (0, 16) of a head of 32 becomes neighbours

    def test_file_round_trip(self):
        t, c = tokenizer(), model.Config(**SMALL)
        p = model.init(c)
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "m.gguf")
            export(path, c, p, t)
            meta, tensors = gguf.read(path)
            self.assertEqual(meta["general.architecture"], "llama")
            self.assertEqual(len(tensors), 2 + 9 * c.layers)
            r = Reader(path)
            self.assertEqual(r.config.head_dim, c.head_dim)
            for k, v in p.items():
                self.assertLess((r.weights[k].float() - v).abs().max().item(), 0.02, k)
            self.assertEqual(len(r.answer(["Context: x.\nQuestion: y?\nAnswer:"])), 1)

    def test_a_run_starts_from_a_file(self):
        t, c = tokenizer(), model.Config(**SMALL)
        p = model.init(c)
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "m.gguf")
            export(path, c, p, t)
            read, start, same = load(path)
            self.assertEqual((read.layers, same.tokens), (c.layers, t.tokens))
            _, got, optimizer, at = loop.prepare(os.path.join(d, "none.pt"), c, 1, 0.01, torch.device("cpu"), print, start)
            self.assertEqual(at["step"], 0)
            for k, v in p.items():
                self.assertEqual(got[k].dtype, torch.float32)
                self.assertLess((got[k] - v).abs().max().item(), 0.02, k)


if __name__ == "__main__":
    unittest.main()

import os
import tempfile
import unittest

try:
    import numpy as np
    import torch
except ImportError:
    raise unittest.SkipTest("no torch")

from . import data, feed, model, pretrain, shards
from .words import BASE, Vocabulary, analyse

KNOWN = Vocabulary("the museum opens at nine . and closes price".split(), [0, .5, .5, 0, .4, .1, 0, .5, .4])
TEXT = "The museum opens at nine. And the MUSEUM closes\nat 1990\nPrice"


def numbered(text):
    """-> (types, flags, what pretrain.Prose has of types)."""
    numbers = shards.Numbers()
    ids, flags = numbers(text)
    kept, type_of = shards.chosen(KNOWN, numbers, np.bincount(ids, minlength=len(numbers.of)))
    return type_of[ids], flags, kept


class ShardsTest(unittest.TestCase):
    def test_flags_are_the_features_that_analyse_gives(self):
        ids, flags, kept = numbered(TEXT)
        kinds = [shards.kind(w)[3] for w in kept]
        of_type = torch.tensor([[KNOWN.idf(w)] + [float(k[i]) for i in (2, 3, 4, 5)] for w, k in zip(kept, kinds)])
        m = pretrain.Pretrained(model.Reader(len(KNOWN.words), d=32, encoders=1, layers=1))
        got = m.base(of_type[torch.tensor(ids.astype(np.int64))][None], torch.tensor(flags)[None])[0]
        want = analyse(KNOWN, TEXT).base
        np.testing.assert_allclose(got[:, :9], want[:, :9], atol=1e-6)
        self.assertEqual(got.shape[1], BASE)
        self.assertTrue(got[:, BASE - 1].all())  # all of them stand where the question is

    def test_known_words_keep_their_types_and_rare_ones_get_one_alike(self):
        ids, _, kept = numbered(TEXT)
        low = [w.lower() for w in "The museum opens at nine . And the MUSEUM closes at 1990 Price".split()]
        self.assertEqual([kept[i] for i in ids], low)
        self.assertEqual((shards.shape("1990"), shards.shape("12:30"), shards.shape("running")), ("0000", "00:00", "ing"))

    def test_runs_are_found_where_thirteen_words_agree(self):
        a, b = np.arange(20), np.concatenate([[50, 51], np.arange(3, 17), [7]])
        self.assertEqual(len(np.intersect1d(shards.runs(a), shards.runs(b))), 2)
        self.assertEqual(len(shards.runs(np.arange(12))), 0)


class PretrainTest(unittest.TestCase):
    def test_what_is_replaced_is_learnt(self):
        torch.manual_seed(0)
        n = len(KNOWN.words)
        m = pretrain.Pretrained(model.Reader(n, d=32, encoders=1, layers=1, drop=0))
        rows, parts, of_type = torch.arange(1, n + 1), torch.arange(6 * n).view(n, 6), torch.zeros(n, 5)
        ids = (torch.arange(pretrain.ASKED + pretrain.READ) % 4).expand(6, -1)  # "the museum opens at the museum …": any other word is a wrong one
        adam, losses = torch.optim.Adam(m.parameters(), lr=.01), []
        for _ in range(25):
            guess, alone, both, _ = m(ids, torch.zeros_like(ids), rows, parts, of_type, torch.cat([torch.zeros(1, dtype=torch.long), torch.arange(n)]))
            (guess + alone + both).backward()
            adam.step()
            adam.zero_grad()
            losses.append((float(guess.detach()), float((alone + both).detach())))
        self.assertLess(losses[-1][0], .7 * losses[0][0])
        self.assertLess(losses[-1][1], .7 * losses[0][1])

    def test_weights_go_through_two_files(self):
        m = model.Reader(9, d=32, encoders=1, layers=1)
        with tempfile.TemporaryDirectory() as d:
            pretrain.split(d + "/x", m.state_dict())
            self.assertEqual(sorted(os.listdir(d)), ["x.net.pt", "x.tables.pt"])
            again = pretrain.joined(d + "/x")
        for k, x in m.state_dict().items():
            self.assertLess((again[k] - x).abs().max(), 2e-3 * max(1, float(x.abs().max())))


class FeedTest(unittest.TestCase):
    def test_batches_come_back_as_they_were_each_once_at_first(self):
        made = []
        for text in ("The museum opens at nine.", "Price: nine", "the museum closes at nine"):
            p = analyse(KNOWN, text)
            made.append(data.collate(KNOWN, [data.Item(p, [(analyse(KNOWN, "museum price?"), [(1, 2)])])]))
        with tempfile.TemporaryDirectory() as d:
            feed.fill(iter(made), d, 1, 2 ** 30, 2 ** 60)
            got = feed.pooled(d, "cpu", threads=1)  # several may take one again while another still reads a new one
            first = [next(got) for _ in made]
            again = next(got)
        for b in made:
            same = [x for x in first if x["pn"].tolist() == b["pn"].tolist()]
            self.assertEqual(len(same), 1)
            for k, x in b.items():
                np.testing.assert_allclose(same[0][k].numpy(), x, atol=1e-3, err_msg=k)
        self.assertIn(again["pn"].tolist(), [b["pn"].tolist() for b in made])


if __name__ == "__main__":
    unittest.main()

import itertools
import math
import random
import unittest

try:
    import numpy as np
    import torch
except ImportError:
    raise unittest.SkipTest("no torch")

from . import loop, model, race
from .words import Vocabulary

KNOWN = Vocabulary(["the", "museum", "opens", "at", "closes", "price"], [0, .5, .5, 0, .5, .4])


class RaceTest(unittest.TestCase):
    def test_loss(self):
        """Two passages of two one-word spans, one right; then a race that nobody wins."""
        scores = torch.full((3, 2, model.LONGEST), -1e4)
        scores[:, :, 0] = torch.tensor([[1., 2], [0, -1], [.5, -2]])
        none, gold = torch.tensor([.5, 1., 0]), torch.zeros(3, 2, model.LONGEST, dtype=torch.bool)
        gold[0, 1, 0] = True
        got = model.race_loss(scores, none, gold, torch.tensor([True, False, False]), torch.tensor([0, 0, 1]), 2)
        first = sum(math.exp(s - n) for s, n in ((1, .5), (2, .5), (0, 1), (-1, 1)))
        second = sum(math.exp(s) for s in (.5, -2))
        for x, want in zip(got.tolist(), (math.log(1 + first) - 1.5, math.log(1 + second))):
            self.assertAlmostEqual(x, want, places=4)

    def test_generated_races(self):
        """The passages of a race have one question; at most one of them answers, and only where its spans say so."""
        random.seed(3)
        np.random.seed(3)
        for make in (race.of_pages, race.of_notes):
            found = [r for r in (make(KNOWN) for _ in range(60)) if r]
            self.assertGreater(len(found), 10, make.__name__)
            answered = 0
            for items in found:
                self.assertLessEqual(len(items), race.PASSAGES)
                self.assertEqual(len({q.text for x in items for q, _ in x.questions}), 1)
                right = [x for x in items if x.questions[0][1]]
                self.assertLessEqual(len(right), 1)
                answered += len(right)
            self.assertLess(answered, len(found))
            self.assertGreater(answered, len(found) / 5)

    def test_batch(self):
        b = race.batch(KNOWN, [(1, lambda: race.of_notes(KNOWN))], 1500)
        self.assertEqual(sorted(set(b["group"].tolist())), list(range(b["group"].max() + 1)))
        self.assertEqual(len(b["group"]), len(b["of"]))

    def test_divided(self):
        """The groups have the least words of all that there can be."""
        random.seed(5)
        for _ in range(200):
            lengths, most = sorted(random.randrange(1, 9) * 8 for _ in range(random.randrange(1, 9))), random.randrange(1, 5)

            def words(ends):
                return sum((b - a) * lengths[b - 1] for a, b in zip([0] + list(ends), ends))
            n = len(lengths)
            least = min(words(list(cut) + [n]) for k in range(most) for cut in itertools.combinations(range(1, n), k))
            ends = loop.divided(lengths, most)
            self.assertEqual(ends, sorted(set(ends)))
            self.assertTrue(len(ends) <= most and ends[-1] == n and words(ends) == least, (lengths, most, ends))

    def test_read_apart(self):
        """Passages of a race that are read apart get what they get together."""
        random.seed(7)
        np.random.seed(7)
        torch.manual_seed(7)
        m = model.Reader(len(KNOWN.words), d=64, encoders=1, layers=1).eval()
        b = {k: torch.from_numpy(x) for k, x in race.batch(KNOWN, [(1, lambda: race.of_notes(KNOWN))], 2500).items()}
        self.assertGreater(len(set(b["pn"].tolist())), 3)
        with torch.no_grad():
            (s, none), (want, want_none) = loop.read(m, b), m(b)
        there = want > loop.NEVER / 2
        self.assertTrue(bool((s[~there] <= loop.NEVER / 2).all()))
        self.assertLess(float((s - want)[there].abs().max()), .05)
        self.assertLess(float((none - want_none).abs().max()), .05)


if __name__ == "__main__":
    unittest.main()

import json
import random
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    raise unittest.SkipTest("no numpy")

from . import searched
from .words import Vocabulary, analyse

KNOWN = Vocabulary(["the", "museum", "opens", "at", "closes", "price"], [0, .5, .5, 0, .5, .4])
MUSEUM = "# Harbour museum\nThe museum opens at 9:30. It closes at 17:20, and the cafe at 17:00."
TABLE = "# Prices\nTicket | Price\nAdult | 9 €\nChild | 4 €"


def spans(text, *parts):
    p = analyse(KNOWN, text, 200)
    r = searched.right_spans(p, text, [dict(answers=a, sentence=s) for a, s in parts])
    return r if r is None else [text[p.begin[g[-2]]:p.end[g[-1]]] for g in r]


class SearchedTest(unittest.TestCase):
    def test_spans(self):
        """An answer counts in its sentence; elsewhere it may or may not be one."""
        self.assertEqual(spans(MUSEUM, (["17:20"], "It closes at 17:20, and the cafe at 17:00.")), ["17:20"])
        self.assertEqual(spans(MUSEUM, (["no"], "The museum opens at 9:30.")), ["The museum opens at 9:30."])
        self.assertIsNone(spans(MUSEUM, (["17:00"], "The shop closes at 17:00.")))
        self.assertEqual(spans(MUSEUM, (["18:00"], "The shop closes at 18:00.")), [])
        self.assertEqual(spans(TABLE, (["9 €"], "| **Adult** | 9 € |")), ["9 €"])
        self.assertEqual(spans("Ticket: Adult; Price: 9 €\nTicket: Child; Price: 4 €", (["4 €"], "Child,4 €")), ["4 €"])
        self.assertEqual(spans(TABLE, (["9 €"], "Adult | 9 €"), (["4 €"], "Child | 4 €")), ["9 €", "4 €"])

    def test_races(self):
        """A question that a document answers races with at most one passage that does; one that none answers with none."""
        random.seed(1)
        np.random.seed(1)
        shop = ["# Shop\nThe shop closes at %d:00." % n for n in range(8, 20)]
        lines = [json.dumps(x) for x in (
            dict(set="a", question="When does the museum open?", parts=[dict(answers=["9:30"], sentence="The museum opens at 9:30.")], passages=shop[:5] + [MUSEUM] + shop[5:]),
            dict(set="a", question="When was the museum sold?", parts=[], passages=shop + [MUSEUM]))]
        races = [r for r in (searched.Searched(KNOWN, lines).race() for _ in range(200)) if r]
        counts = {}
        for r in races:
            self.assertLessEqual(len(r), searched.PASSAGES)
            self.assertEqual(len({x.questions[0][0].text for x in r}), 1)
            asked, right = r[0].questions[0][0].text.lower(), sum(bool(x.questions[0][1]) for x in r)
            counts.setdefault("sold" in asked, []).append(right)
        self.assertEqual(set(counts[True]), {0})
        self.assertEqual(set(counts[False]), {0, 1})
        self.assertGreater(sum(counts[False]), .7 * len(counts[False]))
        few = searched.Searched(KNOWN, lines, most=3)
        self.assertLessEqual(max(len(r) for r in (few.race() for _ in range(50)) if r), 3)

    def test_files(self):
        """A file's sets are drawn as often as is said behind its name."""
        with tempfile.TemporaryDirectory() as d:
            for name, n in (("a", 4), ("b", 1)):
                with open(d + "/" + name, "w") as f:
                    f.writelines(json.dumps(dict(set=name, question=str(i), parts=[], passages=[])) + "\n" for i in range(n))
            s = searched.Searched(KNOWN, *searched.lines_of(f"{d}/a,{d}/b=8"))
            self.assertEqual([x["set"] for x in s.rows], list("aaaab"))
            self.assertEqual(s.weights, [.5, .5, .5, .5, 8])


if __name__ == "__main__":
    unittest.main()

import unittest

try:
    import numpy as np
except ImportError:
    raise unittest.SkipTest("no numpy")

from . import relations, words
from .features import FIRST, alike, features, relate
from .words import Vocabulary, analyse

KNOWN = Vocabulary(["the", "price", "of", "museum", "opens"], [0, .4, 0, .5, .5])


class WordsTest(unittest.TestCase):
    def test_words(self):
        self.assertEqual(words.words("1,200.50 for 2,50€ at 9:40, 3.5.2024; 12,3.50 1.200,50 a_b it's 5,"),
                         ["1,200.50", "for", "2,50", "€", "at", "9:40", ",", "3.5.2024", ";", "12", ",", "3.50", "1.200,50", "a", "_", "b",
                          "it", "'", "s", "5", ","])
        self.assertEqual(words.words("会议室 Müller नमस्ते x²"), ["会", "议", "室", "Müller", "नमस्ते", "x", "²"])

    def test_stems(self):
        for a, b in (("opening", "opens"), ("found", "find"), ("founding", "founded"), ("Müllers".lower(), "muller"), ("prices", "price"), ("wrote", "write")):
            self.assertEqual(words.stem(a), words.stem(b))

    def test_words_alike(self):
        self.assertTrue(alike("pasword", "password") and alike("prcie", "price") and alike("inspector", "inspected"))
        self.assertFalse(alike("moved", "loved") or alike("cat", "cut") or alike("boiler", "cellar"))


class PlacesTest(unittest.TestCase):
    def test_sentences(self):
        t = analyse(KNOWN, "Prof. J. K. Lang lives at No. 5. He left. \"Gone!\" she said\nNew line")
        self.assertEqual([t.words[i] for i in range(len(t)) if i == 0 or t.sentence[i] != t.sentence[i - 1]],
                         ["Prof", "He", "\"", "New"])

    def test_tables_know_their_columns(self):
        t = analyse(KNOWN, "Prices\n\n| Item | Small |\n|---|---|\n| Tea | 2,50 |\n\nEnd.")
        i = t.words.index("2,50")
        a, b = t.pieces[t.header[i]]
        self.assertEqual(t.words[a:b], ["|", "Small"])
        self.assertEqual(t.pieces[t.heading[i]], (0, 1))
        self.assertEqual(t.first, t.heading[i])

    def test_csv_and_columns_of_spaces(self):
        for text, word in (("name,phone,room\nA,55,north\nC,66,south", "south"), ("stop    first    last\nQuay    6:10    9:05", "9:05")):
            t = analyse(KNOWN, text)
            a, b = t.pieces[t.header[t.words.index(word)]]
            self.assertIn(t.words[b - 1], ("room", "last"))

    def test_keys_and_items(self):
        t = analyse(KNOWN, "wifi: heron\n- [x] door = 5\n1. See http://x.org now\nrent - 5 a month")
        self.assertEqual([t.words[l.key] if l.key else "" for l in t.lines], [":", "=", "", "-"])
        self.assertEqual([l.item for l in t.lines], [0, 4, 2, 0])


class FeaturesTest(unittest.TestCase):
    def test_the_row_and_the_column_of_a_table(self):
        p = analyse(KNOWN, "item | small | large\ntea | 1.10 | 2.20\ncoffee | 3.30 | 4.40")
        f, g = features(analyse(KNOWN, "large cofefe", 40), p)
        i = p.words.index("4.40")
        self.assertTrue(f[i, 8] and f[i, 11] > .3 and f[i, 7] > .8)
        self.assertEqual([p.words[k] for k in range(len(p)) if f[k, 8]], ["|", "4.40"])
        self.assertEqual((10 * g[:, 0]).round().tolist(), [10, 7])

    def test_joined_words_and_none(self):
        p = analyse(KNOWN, "The wi-fi key")
        self.assertEqual(features(analyse(KNOWN, "wifi", 40), p)[0][:, 3].tolist(), [0, 1, 0, 1, 0])
        self.assertFalse(features(analyse(KNOWN, "what is it", 40), p)[0][:, 2:].any())
        self.assertFalse(np.isnan(features(analyse(KNOWN, "?", 40), p)[0]).any())

    def test_related_words(self):
        p = analyse(KNOWN, "Rats were here.\nWe meet at noon.")
        q = analyse(KNOWN, "any rodents?", 40)
        self.assertFalse(features(q, p)[0][:, FIRST:].any())
        relate({"rodent": {"rat": 8}, "rat": {"rodent": 8}})
        try:
            f, g = features(q, p)
        finally:
            relate({})
        self.assertAlmostEqual(float(f[0, 21]), .8, places=6)
        self.assertEqual(f[:, 24].tolist(), [1, 1, 1, 1, 0, 0, 0, 0, 0])  # the line with the rats
        self.assertEqual(f[:, :FIRST].any(1).tolist(), [False] * 9)
        self.assertAlmostEqual(float(g[1, 7]), .8, places=6)


class RelationsTest(unittest.TestCase):
    def test_heads(self):
        heads = {"rat", "rate", "stop", "baby", "find", "go"}
        for low, head in (("rats", "rat"), ("rates", "rate"), ("stopped", "stop"), ("babies", "baby"), ("found", "find"), ("going", "go"), ("best", ""), ("as", "")):
            self.assertEqual(relations.lemma(low, heads), head)

    def test_two_sources_that_agree_make_a_pair_likelier(self):
        t = relations.table({"same1": {("rat", "mouse")}, "near": {("mouse", "rat"), ("mouse", "trap")}, "close": set()}, ["rat", "mouse", "trap"])
        self.assertEqual(t, {"rat": {"mouse": 8}, "mouse": {"rat": 8}})  # nothing that we wrote adds a head that the dictionary lacks
        self.assertEqual(relations.parsed(relations.lines(t)), t)

    def test_words_that_the_dictionary_lacks_are_named(self):
        classes = {"same1": {("rat", "mouse")}, "near": {("rats", "vermin"), ("mouse", "geese")}, "related2": {("mouse", "trap")}}
        self.assertEqual(relations.left_out(classes), ["geese", "trap", "vermin"])
        self.assertEqual(relations.table(classes, ["rat"]), {"rat": {"mouse": 6}, "mouse": {"rat": 6}})

    def test_our_own_lines(self):
        with open(relations.OWN, encoding="utf-8") as f:
            for line in f:
                self.assertRegex(line, r"^[a-z]+:( [a-z]+)*( \|( [a-z]+)+)?$")


if __name__ == "__main__":
    unittest.main()

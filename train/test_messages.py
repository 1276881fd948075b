"""Tests of the texts that the adapters learn from: python3 -m unittest train.test_messages"""
import re
import unittest

from .corrections import LISTED, Corrections, kept_word, trained
from .messages import conversation
from .names import Source
from .shorts import message
from .tones import ACTS, TONES, Tones, full, versions


def numbers(text):
    return sorted(re.findall(r"\d+", text))


class CorrectionsTest(unittest.TestCase):
    def test_errors_keep_numbers(self):
        s = Source("right")
        c = Corrections(s)
        same = 0
        for _ in range(400):
            right = c.right(s)
            text = c.wrong(s, right, False)
            same += text == right
            self.assertEqual(numbers(text), numbers(right), (text, right))
            self.assertLess(abs(len(text) - len(right)), 12, (text, right))
        self.assertTrue(20 < same < 300, same)

    def test_held_out_misspellings(self):
        held = {(w, x) for w in LISTED for x in LISTED[w] if not trained(w, x)}
        self.assertTrue(80 < len(held) < 250, len(held))
        s = Source("held")
        c = Corrections(s)
        for _ in range(300):
            words = c.right(s).split(" ")
            before = list(words)
            if c.misspelt(s, False, words):
                (a, b), = [(x, y) for x, y in zip(before, words) if x != y]
                self.assertFalse(kept_word(re.sub(r"[^a-z']", "", a.lower())), (a, b))


class TonesTest(unittest.TestCase):
    def test_versions_keep_numbers_and_hold_the_right_one(self):
        t, s, there = Tones(), Source("tones"), 0
        for i in range(400):
            given, wanted = t.item(s)
            tone = TONES[i % len(TONES)]
            found = versions(given, tone)
            there += wanted[tone] in found
            for v in found:
                self.assertEqual(numbers(given), numbers(v), (given, v))
        self.assertGreater(there, 340)

    def test_acts(self):
        self.assertIn("Could you please send me the report?", versions("Send me the report!", "polite"))
        self.assertIn("We are sorry, but we cannot come.", versions("We can't come.", "polite"))
        self.assertEqual(full("Why don't you call? I'm here."), "Why do you not call? I am here.")
        self.assertTrue(all(len(a.tones) == 4 for a in ACTS))


class ShortsTest(unittest.TestCase):
    def test_the_matter_is_one_of_the_sentences(self):
        s = Source("shorts")
        for _ in range(200):
            lines, which = message(s)
            self.assertTrue(0 <= which < len(lines) > 1)


class RepliesTest(unittest.TestCase):
    def test_replies_name_no_strangers(self):
        s = Source("replies")
        for _ in range(300):
            text, who, replies = conversation(s)
            speakers = {line.split(":")[0] for line in text.split("\n")} | {who}
            self.assertGreater(len(set(replies)), 5)
            for r in replies:
                for word in re.findall(r"(?<=[a-z], )[A-Z][a-z]+(?=[.!])", r):
                    self.assertIn(word, speakers, (text, r))


if __name__ == "__main__":
    unittest.main()

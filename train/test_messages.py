"""Tests of the adapters' texts: python3 -m unittest train.test_messages"""
import re
import unittest

from .messages import TONES, Corrections, conversation, message, wrong
from .names import Source


def numbers(text):
    return sorted(re.findall(r"\d+", text))


class MessagesTest(unittest.TestCase):
    def test_tones_keep_numbers(self):
        s = Source("tones")
        for i in range(400):
            given, wanted = message(s, TONES[i % len(TONES)])
            self.assertEqual(numbers(given), numbers(wanted), (given, wanted))
            self.assertTrue(wanted[-1] in ".!?", wanted)

    def test_what_is_right_stays(self):
        s = Source("right")
        c = Corrections(s)
        same = 0
        for _ in range(300):
            given, right = c.item(s)
            same += given == right
            self.assertEqual(numbers(given), numbers(right), (given, right))
            self.assertLess(abs(len(given) - len(right)), 24, (given, right))
        self.assertTrue(30 < same < 200, same)

    def test_errors_spare_rare_words(self):
        s = Source("errors")
        for _ in range(200):
            self.assertIn("Quufeis", wrong(s, "Please call Quufeis, the plumber, tomorrow.", {"please", "plumber", "tomorrow"}))

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

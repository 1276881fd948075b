import json
import os
import random
import tempfile
import unittest

try:
    import numpy  # noqa: F401  (prepare.py needs it)
except ImportError:
    raise unittest.SkipTest("no numpy")

from . import sets


class SetsTest(unittest.TestCase):
    def test_parted_tokens_are_joined_around_the_answer(self):
        text = "The inn ( Hotel Krone ) was `` opened '' by Jane Doe 's son , in 1920 ."
        at = text.index("Jane")
        self.assertEqual(sets.marked(text, [(at, at + len("Jane Doe"))]),
                         ('The inn (Hotel Krone) was "opened" by Jane Doe\'s son, in 1920.', ["Jane Doe"], (38, 46)))
        plain, answers, _ = sets.marked("Ann , Ben and Cy .", [(0, 3), (6, 9), (14, 16)])
        self.assertEqual((plain, answers), ("Ann, Ben and Cy.", ["Ann", "Ben", "Cy"]))

    def test_questions_of_the_search_box(self):
        text = "It opened in 1920 ."
        with tempfile.TemporaryDirectory() as d:
            with open(os.path.join(d, "nq-train-00-qed.jsonlines"), "w") as f:
                for spans in ([[13, 17]], [[0, 2], [13, 17]]):  # one of several answers is no answer
                    f.write(json.dumps(dict(paragraph_text=text, title_text="Inn", question_text="when did it open", answer_spans=spans)) + "\n")
            self.assertEqual(list(sets.natural_questions(d)),
                             [dict(title="Inn", passage="It opened in 1920.", question="when did it open", answers=["1920"], support=[13, 17])])

    def test_cells_of_tables(self):
        head, body = ["Town", "Mayor", "Since"], [["Brill", "Ann", "2001"], ["Holm", "Ben", "2001"], ["Vik", "Cy", "1999"]]
        self.assertEqual(list(sets.named(head, body, {"who", "is", "mayor", "of", "holm"}, "ben")), [(1, 1)])
        self.assertEqual(list(sets.named(head, body, {"since", "2001"}, "Ben")), [])  # two rows have 2001
        random.seed(1)
        for _ in range(40):
            text, at = sets.written(head, body, 1, 1)
            self.assertEqual(text[at:at + 3], "Ben")
            self.assertIn("Mayor", text)

    def test_only_fresh_questions(self):
        known, apart = {"who?"}, {" ".join("abcdefghijklm")}
        items = [sets.item("", "Ann is here.", "Who?", ["Ann"]), sets.item("", "Ben is here.", "who is it", ["Ben"]), sets.item("", "Ben is here.", "Who is it", ["Ben"]),
                 sets.item("", "Cy is here.", "where", ["Dan"]), sets.item("", "a b c d e f g h i j k l m n", "which", ["n"]), None]
        self.assertEqual([x["question"] for x in sets.fresh(items, known, apart)], ["who is it"])


if __name__ == "__main__":
    unittest.main()

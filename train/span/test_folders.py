import glob
import os
import tempfile
import unittest

from . import folders

TEXT = """=== pool.md
# Pool

Open 9:30 to 18:00. On Sundays it opens at 10:00 and closes at 18:00.
Dogs are welcome on the terrace.
=== bus.txt
The 14 leaves at 9:30.
??? pool.md
When does the pool open on Sundays? = 10:00 | at 10:00
when does it shut on a weekday = 18:00 @ Open 9:30
may I bring my dog = yes @ Dogs are
When was the pool built? =
"""


class FoldersTest(unittest.TestCase):
    def test_questions(self):
        documents, questions = folders.unpacked(TEXT)
        self.assertEqual(documents["bus.txt"], "The 14 leaves at 9:30.\n")
        self.assertEqual([q.get("sentence") for q in questions], [
            "On Sundays it opens at 10:00 and closes at 18:00.", "Open 9:30 to 18:00.", "Dogs are welcome on the terrace.", None])
        self.assertEqual([q["kind"] for q in questions], ["fact", "fact", "yesno", "unanswerable"])

    def test_wrong_lines(self):
        for line, says in (("When does it shut? = 18:00", "2 times"), ("When does the bus go? = 9:45", "0 times"), ("Are cats welcome? = no", "need words"),
                           ("may I bring my dog =", "twice"), ("What is this?", "want QUESTION"), ("How old is it? = ten @ Dogs are", "no answer")):
            with self.assertRaisesRegex(ValueError, says):
                folders.unpacked(TEXT + line + "\n")

    def test_files(self):
        """Every file can be read, and most of its questions have an answer."""
        n = none = 0
        for path in sorted(glob.glob(folders.HERE + "/*.txt") + glob.glob(folders.HERE + "/held/*.txt")):
            with open(path, encoding="utf-8", newline="") as f:
                documents, questions = folders.unpacked(f.read())
            self.assertGreater(len(documents), 3, path)
            n, none = n + len(questions), none + sum(q["kind"] == "unanswerable" for q in questions)
        self.assertGreater(n, 10000)
        self.assertTrue(.15 * n < none < .35 * n, (n, none))

    def test_main(self):
        with tempfile.TemporaryDirectory() as out:
            folders.main(out)
            written = len(glob.glob(out + "/*/questions.jsonl"))
            self.assertEqual(written, len(glob.glob(folders.HERE + "/*.txt")))
            self.assertTrue(os.path.exists(out + "/own-1/documents/car.csv"))
            folders.main(out, held=True)
            self.assertEqual(len(glob.glob(out + "/*/questions.jsonl")), written + len(glob.glob(folders.HERE + "/held/*.txt")))


if __name__ == "__main__":
    unittest.main()

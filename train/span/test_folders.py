import glob
import lzma
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
            folders.main(out, folders.HERE + "/held")
            self.assertEqual(len(glob.glob(out + "/*/questions.jsonl")), written + len(glob.glob(folders.HERE + "/held/*.txt")))

    def test_asked(self):
        """A document of prose is its title and some of its lines."""
        with tempfile.TemporaryDirectory() as d:
            os.makedirs(d + "/prose/train")
            with lzma.open(d + "/prose/train/by__pages.txt.xz", "wt") as f:
                f.write("Sea\n\nIt is salt.\n<|endoftext|>\nInn < Bar\n\nIt opened in 1920.\n\nAnn owns it.\n\nIt burnt down.\n")
            text = folders.looked_up("=== Inn.txt < by__pages 2:5 Inn < Bar\n??? Inn.txt\nSince when? = 1920\n", d)
            documents, questions = folders.unpacked(text)
            self.assertEqual(documents, {"Inn.txt": "Inn < Bar\n\nIt opened in 1920.\n\nAnn owns it.\n"})
            self.assertEqual(questions[0]["sentence"], "It opened in 1920.")
            with self.assertRaisesRegex(ValueError, "by__pages has no text Tavern"):
                folders.looked_up("=== Inn.txt < by__pages 2:5 Tavern", d)

    def test_asked_files(self):
        """Every line of asked/ is a question about a document of its file."""
        paths = glob.glob(folders.ASKED + "/*.txt")
        self.assertGreater(len(paths), 500)
        for path in paths:
            with open(path, encoding="utf-8") as f:
                text = f.read()
            _, questions = folders.parsed(text)
            names = {m[1] for m in folders.OF_PROSE.finditer(text)}
            self.assertTrue(questions and all(name in names and folders.LINE.match(line) for name, line in questions), path)


if __name__ == "__main__":
    unittest.main()

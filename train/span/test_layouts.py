import random
import unittest

try:
    import numpy  # noqa: F401
except ImportError:
    raise unittest.SkipTest("no numpy")

from . import attributes, pages, scenes
from .cloze import item
from .layouts import Page


class GeneratorTest(unittest.TestCase):
    def test_spans_are_words_of_the_passage(self):
        from .data import made
        from .words import Vocabulary
        v, names, none, asked = Vocabulary(["the"], [0]), set(), 0, 0
        random.seed(5)
        for _ in range(1000):
            r = pages.generated()
            if r is None:
                continue
            text, questions, name = r
            names.add(name)
            for q, at in questions:
                asked += 1
                none += at is None
                if at:
                    self.assertTrue(all(text[a:b].strip() == text[a:b] != "" for a, b in at), (text, q))
            x = made(v, text, questions)
            if x:
                for q, right in x.questions:
                    self.assertTrue(all(0 <= a <= b < len(x.p) for a, b in right))
        self.assertEqual(len(names), len(pages.LAYOUTS))
        self.assertTrue(.15 < none / asked < .45)

    def test_training_never_draws_what_is_held_out(self):
        held = [q for a in attributes.ALL for q in a.asks if q not in attributes.split(a.asks)]
        self.assertGreater(len(held), 20)

    def test_scenes_mark_what_they_ask_for(self):
        for s in scenes.ALL:
            for f in s.frames:
                for name, questions in f.asks.items():
                    self.assertTrue(any("{%s" % name in t or "<%s|" % name in t for t in f.texts), (name, f.texts))
                    self.assertTrue(all(questions))

    def test_contrast_scenes_ask_for_one_and_for_another(self):
        contrast = [s for s in scenes.ALL if s.contrast]
        self.assertGreaterEqual(len(contrast), 90)
        for s in contrast:
            for f in s.frames:
                self.assertTrue(f.asks and f.none, f.texts)
                asked = {q for asks in f.asks.values() for q in asks}
                self.assertFalse(asked & {q for g in s.frames for q in g.none}, f.texts)
        weight = {s.contrast: w for s, w in zip(scenes.ALL, scenes.WEIGHTS)}
        self.assertEqual(weight[True], scenes.CONTRAST * weight[False])

    def test_contrast_scenes_name_different_people(self):
        random.seed(4)
        people = ("she", "he", "woman", "man", "first", "last", "person")
        for s in scenes.ALL * 3:
            shared = s.shared()
            for f in s.frames if s.contrast else ():
                kinds = {**s.kinds, **{n: k for t in f.texts for n, k in scenes.SLOT.findall(t) if k}}
                names = [set(x.split()) for n, x in s.values(f, shared).items() if kinds.get(n) in people]
                self.assertEqual(sum(map(len, names)), len(set().union(*names)), (f.texts, names))

    def test_what_another_wording_may_answer_is_asked_only_at_its_mark(self):
        s = scenes.Scene("A title", contrast=True)
        s.frames.append(scenes.Frame("Anna has <a|a dog>. / Anna has <b|a cat>."))
        s.frames[0].ask("a", ["what dog"])
        s.frames[0].ask("b", ["what about Anna"], loose=True)
        none, all, weights = set(), scenes.ALL, scenes.WEIGHTS
        scenes.ALL, scenes.WEIGHTS = [s], [1]
        try:
            for _ in range(50):
                p = Page()
                scenes.scene(p)
                none |= set(p.none)
        finally:
            scenes.ALL, scenes.WEIGHTS = all, weights
        self.assertEqual(none, {"what dog"})

    def test_window_moves_answers_with_the_text(self):
        random.seed(2)
        for _ in range(300):
            p, _ = pages.page()
            text, gone = pages.window(p)
            end = text[-8:]  # rarely shorter than what is left of the page
            if len(p.text) > 60 and end in p.text:
                self.assertEqual(end, p.text[len(text) + gone - len(end):len(text) + gone])

    def test_cloze_answers_stand_in_the_passage(self):
        random.seed(3)
        s = ["The old mill at Sandford was rebuilt by Ruth Adeyemi in 1894 because the river had flooded twice.", "It made paper for the county until the war.",
             "Today about 4,000 people visit the museum in the mill every summer.", "The wheel is nine metres high and was made in Leeds in 1902."] * 2
        found = [r for r in (item(s, "Mill", {}) for _ in range(50)) if r]
        self.assertGreater(len(found), 10)
        for text, questions in found:
            for q, at in questions:
                self.assertTrue(at is None or text[at[0]:at[1]] in " ".join(s))


if __name__ == "__main__":
    unittest.main()

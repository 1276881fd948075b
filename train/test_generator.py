"""Tests of the generator: python3 -m unittest discover -s train -t ."""
import json
import os
import re
import shutil
import tempfile
import unittest
import zlib
from xml.etree import ElementTree

from . import attributes, documents, examples, hand, heldout, names, plot, tasks, worlds
from .examples import PREFIX, SOFT, UNSUPPORTED, VALUE, absent, example
from .names import Source
from .passages import MAX_WORDS, Fact, conflicts, elliptic, fill, new_passage, new_world, overlap, pronominal, sibling, statement
from .questions import ask, ask_two, shared_entity


def fact_worlds(n, seed="test", **how):
    s = Source(seed)
    return [(s, new_world(s, 2, 6, **how)) for _ in range(n)]


class Determinism(unittest.TestCase):
    def test_same_seed_same_examples(self):
        def draw(seed):
            s = Source(seed)
            return [(c, [(b.prompt, b.pieces) for b in bs]) for c, bs in (example(s) for _ in range(50))]
        self.assertEqual(draw("a"), draw("a"))
        self.assertNotEqual(draw("a"), draw("b"))


class Plain(unittest.TestCase):
    def test_a_note_holds_what_is_asked_of_it(self):
        """Every value stands in the context; requests to tell all are answered by a sentence for each fact."""
        s, told, asked = Source("plain"), 0, 0
        for _ in range(400):
            context, branches = examples.plain(s, 2)
            for b in branches:
                values = [t.strip() for t, kind in b.pieces if kind == VALUE]
                self.assertTrue(all(v.lower() in context.lower() for v in values), (context, values))
                if examples.TELL in b.prompt:
                    told += len(values) > 1
                    self.assertEqual(len(branches), 1)
                else:
                    asked += 1
                    self.assertEqual(len(values), 1)
            self.assertFalse(any(kind in (SOFT, UNSUPPORTED) for b in branches for _, kind in b.pieces))
        self.assertTrue(told > 100 and asked > 100, (told, asked))


class Worlds(unittest.TestCase):
    def test_no_question_is_ambiguous(self):
        for _, facts in fact_worlds(1500):
            for i, f in enumerate(facts):
                for g in facts[i + 1:]:
                    if f.entity == g.entity:
                        self.assertFalse(conflicts(f.attribute, g.attribute), (f.entity, f.attribute.noun, g.attribute.noun))
                    else:
                        a, b = (x.entity.lower().removeprefix("the ") for x in (f, g))
                        self.assertFalse(a in b or b in a, (f.entity, g.entity))

    def test_training_meets_rare_words_more_often(self):
        def share(held_out):
            s, other, n = Source("words", held_out), 0, 0
            for _ in range(400):
                for f in new_world(s, 2, 6):
                    asked = ask(s, f).question.lower()
                    n += 1
                    other += not f.form and f.noun.lower() not in asked and f.attribute.noun.lower() not in asked
            return other / n
        self.assertGreater(share(False), 1.4 * share(True))
        s = Source("nouns")
        self.assertEqual((s.rare(0.02), s.rare(0.9), Source("nouns", True).rare(0.02)), (0.02 * names.PRACTICE, 1, 0.02))

    def test_values_are_distinct(self):
        for _, facts in fact_worlds(500):
            values = [f.value.lower() for f in facts]
            self.assertEqual(len(values), len(set(values)))

    def test_a_question_text_belongs_to_one_fact(self):
        for s, facts in fact_worlds(800):
            p = new_passage(s, facts)
            asked = {}
            for f in p.facts:
                for _ in range(4):
                    q = ask(s, f).question.lower()
                    self.assertIs(asked.setdefault(q, f), f, q)

    def test_absent_facts_are_absent(self):
        for s, facts in fact_worlds(500):
            g = absent(s, facts)
            if g:
                self.assertFalse([f for f in facts if f.entity == g.entity and conflicts(f.attribute, g.attribute)])


class Passages(unittest.TestCase):
    def test_every_stated_value_is_verbatim_in_the_text(self):
        for s, facts in fact_worlds(1500):
            p = new_passage(s, facts)
            for f in p.facts:
                self.assertIn(f.value.lower(), p.text.lower())

    def test_length_is_bounded(self):
        for s, facts in fact_worlds(800):
            self.assertLessEqual(len(new_passage(s, facts).text.split()), MAX_WORDS + 12)

    def test_prose_of_40_to_80_words(self):
        long = [p for s, facts in fact_worlds(800) if len(facts) > 3 for p in [new_passage(s, facts)]
                if "\n" not in p.text and 40 <= len(p.text.split()) <= 80]
        self.assertGreater(len(long), 40)

    def test_one_passage_in_ten_is_a_chat(self):
        message = re.compile(r"(\[\d+:\d\d\] )?[A-Z]\w*( \(\d+:\d\d\))?: .")
        chats = 0
        for s, facts in fact_worlds(3000):
            p = new_passage(s, facts)
            lines = p.text.split("\n")
            chats += len(lines) > 1 and all(map(message.match, lines))
        self.assertTrue(150 < chats < 350, chats)  # those of one message are not counted, some lists are

    def test_chats_state_their_facts(self):
        for s, facts in fact_worlds(1500):
            p = new_passage(s, facts, chat=True)
            self.assertEqual(len(p.facts), len(p.sentences))
            self.assertLessEqual(len(p.text.split()), MAX_WORDS + 20)
            lines = p.text.split("\n")
            speakers = {re.match(r"(?:\[[\d:]+\] )?(\S+)", line).group(1).rstrip(":") for line in lines}
            for e in {f.entity for f in p.facts}:
                self.assertFalse([x for x in speakers if overlap(x, e)], (speakers, e))
            for f, sentence in zip(p.facts, p.sentences):
                self.assertIn(f.value.lower(), sentence.lower())
                self.assertEqual(sum(sentence in line for line in lines), 1, (sentence, p.text))
            if p.facts and not p.title:
                self.assertIn(p.facts[0].entity.split()[-1].lower(), p.text.lower())
            times = [int(h) * 60 + int(m) for h, m in re.findall(r"^\[(\d+):(\d\d)\]", p.text, re.M)]
            self.assertEqual(times, sorted(times))

    def test_no_template_hole_is_left(self):
        for s, facts in fact_worlds(800):
            p = new_passage(s, facts)
            self.assertNotRegex(p.context(), r"[{}]")
            for f in p.facts:
                self.assertNotRegex(ask(s, f).question, r"[{}]")

    def test_every_entity_can_be_identified(self):
        """An untitled passage names the entity of its first fact."""
        for s, facts in fact_worlds(800):
            p = new_passage(s, facts)
            if p.facts and not p.title:
                self.assertIn(p.facts[0].entity.split()[-1].lower(), p.text.lower())

    def test_sentences_start_with_a_capital(self):
        bad = 0
        for s, facts in fact_worlds(500):
            for line in new_passage(s, facts).text.split("\n"):
                bad += bool(re.match(r"(- )?[a-z]", line)) and "@" not in line
        self.assertLess(bad, 40)  # only codes, that start a value-first sentence


@unittest.skipUnless(shutil.which("go"), "documents are cut by the program, which needs Go")
class Documents(unittest.TestCase):
    def setUp(self):
        self.cutter = documents.Cutter()
        self.addCleanup(self.cutter.close)

    def test_cut_passages_state_nearly_all_facts(self):
        """Each supported value appears in its passage, with a name for its entity."""
        s, stated, total = Source("cut"), 0, 0
        for _ in range(60):
            cuts, facts = documents.cuts(s, self.cutter)
            for c in cuts:
                for f in c.facts:
                    self.assertIn(f.value.lower(), c.context().lower().replace("\n", " "))  # a note's first line may be its title
            stated, total = stated + len({id(f) for c in cuts for f in c.facts}), total + len(facts)
        self.assertGreater(stated / total, 0.98)

    def test_cut_chats_state_nearly_all_facts(self):
        """And one document in ten is a chat."""
        s, chats, stated, total = Source("cut chats"), 0, 0, 0
        for _ in range(600):
            name, text, (p, *more) = documents.document(s, set())
            if not name.startswith("chat."):
                continue
            chats += 1
            cuts = [documents.Cut(title, body, [p]) for title, body in self.cutter("07-" + name, text)]
            stated, total = stated + len({id(f) for c in cuts for f in c.facts}), total + len(p.facts)
        self.assertTrue(35 < chats < 85, chats)
        self.assertGreater(stated / total, 0.95)

    def test_no_unsupported_branch_asks_for_a_stated_fact(self):
        s = Source("cut branches")
        for _ in range(40):
            cuts, facts = documents.cuts(s, self.cutter)
            for c in cuts:
                context, branches = documents.example(s, c, facts)
                doubtful = {f.value.lower() for f in c.doubtful}
                for b in branches:
                    for text, kind in b.pieces:
                        if kind == VALUE:
                            self.assertIn(text.strip().lower(), " ".join(context.lower().split()))
                            self.assertFalse(text.strip().lower() in doubtful and len(text) > 8, (context, text))


    def test_questions_ask_for_rivals(self):
        """A question asks when the mill closes, of a passage that says when it opens."""
        s, rivals, asked = Source("rivals"), 0, 0
        for _ in range(60):
            cuts, facts = documents.cuts(s, self.cutter)
            for c in cuts:
                g = documents.unsupported(s, c, facts) if c.facts else None
                if g:
                    asked += 1
                    rivals += any(f.entity == g.entity and f.attribute.kind == g.attribute.kind and f.noun != g.noun for f in c.facts)
        self.assertGreater(rivals / asked, 0.1)

    def test_the_first_part_tells_nothing_about_the_second(self):
        """Whether a passage supports the first part must not predict whether it supports the second."""
        s, second, turns = Source("halves"), [], []
        for _ in range(60):
            cuts, facts = documents.cuts(s, self.cutter)
            for c in cuts:
                for b in documents.example(s, c, facts)[1] if c.facts else []:
                    kinds = [k for _, k in b.pieces if k in (VALUE, SOFT)]
                    if kinds[:1] == [SOFT] and len(kinds) == 2:
                        second.append(kinds[1] == VALUE)
                    if b.prompt.count("Question:") == 2:
                        turns.append(kinds == [VALUE])
        for supported in (second, turns):
            self.assertGreater(len(supported), 100)
            self.assertTrue(0.3 < sum(supported) / len(supported) < 0.7, sum(supported) / len(supported))

    def test_the_earlier_question_is_another(self):
        s = Source("before")
        for _ in range(20):
            _, facts = documents.cuts(s, self.cutter)
            for g in facts:
                f = documents.asked_before(s, g, facts)
                self.assertTrue(f is not g and f.value.lower() != g.value.lower() and not examples.conflicting(f, g))


class Answers(unittest.TestCase):
    def test_words_before_the_value_follow_from_the_question_alone(self):
        """The same question about two worlds with different values has the same answer prefix."""
        prefixes = {}
        for s, facts in fact_worlds(3000):
            for f in facts:
                a = ask(s, f)
                key = (a.question.lower(), f.attribute.noun)
                self.assertEqual(prefixes.setdefault(key, a.prefix().lower()), a.prefix().lower(), key)

    def test_value_is_last(self):
        for noun, a in attributes.BY_NOUN.items():
            for form in a.forms:
                self.assertTrue(form.answer.endswith("{v}") or form.answer.count("{v}") == 1, (noun, form.answer))
                self.assertIn("{e}", form.answer)
                for t in form.statements:
                    self.assertIn("{v}", t)
                    self.assertIn("{e}", t)
                for q in form.questions:
                    self.assertIn("{e}", q)
                    self.assertNotIn("{v}", q)

    def test_supported_pieces_carry_the_stated_value(self):
        s = Source("supported")
        for _ in range(400):
            context, branches = example(s)
            for b in branches:
                for text, kind in b.pieces:
                    if kind == VALUE:
                        self.assertIn(text.strip().lower(), context.lower() or "unknown")

    def test_sentences_say_whether_they_are_supported(self):
        """The words before a value are UNSUPPORTED exactly when the value is soft, or when there is no passage."""
        s = Source("start")
        for _ in range(400):
            context, branches = example(s)
            for b in branches:
                for (_, words), (_, value) in zip(b.pieces, b.pieces[1:]):
                    if words in (PREFIX, UNSUPPORTED):
                        self.assertEqual(words == UNSUPPORTED, value == SOFT or context == "", b.pieces)

    def test_two_part_questions_have_two_sentences(self):
        s = Source("two")
        for _ in range(200):
            f, g = new_world(s, 1, 1)[0], new_world(s, 1, 1)[0]
            text, a, b = ask_two(s, f, g)
            self.assertTrue(a.answer.strip() and b.answer.strip())
            self.assertGreater(len(text), 8)

    def test_soft_labels_are_mixed(self):
        s = Source("soft")
        soft = [t.strip() for _ in range(1500) for b in example(s)[1] for t, k in b.pieces if k == SOFT]
        share = sum(t == "unknown" for t in soft) / len(soft)
        self.assertGreater(share, 0.2)
        self.assertLess(share, 0.4)


class Evaluation(unittest.TestCase):
    def test_names_are_split(self):
        """No invented name, and no code made of one, can be drawn by both parts."""
        training, evaluation = Source(1), Source(1, held_out=True)
        for draw in (names.name, names.word):
            a = {draw(training).lower() for _ in range(3000)}
            b = {draw(evaluation).lower() for _ in range(3000)}
            self.assertFalse(a & b)
            self.assertTrue(all(zlib.crc32(x.encode()) % names.EVAL_SHARE == 0 for x in b))

    def test_entities_are_split(self):
        """Nor can any entity, even one of common words: neither alone, nor as a sibling, nor in a passage."""
        drawn = []
        for s in (Source(2), Source(3, held_out=True)):
            found = set()
            for category, draw in attributes.ENTITIES.items():
                for _ in range(300):
                    e = draw(s)
                    found |= {e.lower(), sibling(s, e, category).lower()}
            for _ in range(500):
                facts = new_world(s, 2, 6)
                found |= {f.entity.lower() for f in facts + [absent(s, facts)] if f}
            drawn.append(found)
        self.assertGreater(min(map(len, drawn)), 4000)
        self.assertEqual(drawn[0] & drawn[1], set())

    def test_held_out_nouns_are_not_trained(self):
        for noun in attributes.HELD_OUT_NOUNS:
            self.assertNotIn(noun, attributes.BY_NOUN)
        s = Source("nouns")
        for _ in range(3000):
            self.assertNotIn(attributes.draw(s, "place").noun, attributes.HELD_OUT_NOUNS)

    def test_lines(self):
        lines = list(heldout.lines())
        self.assertGreaterEqual(len(lines), 640)
        self.assertEqual([json.dumps(x) for x in lines], [json.dumps(x) for x in heldout.lines()])
        for x in lines:
            texts = [p["title"] + "\n" + p["text"] for p in x["device"] + x["cloud"]]
            for v in x["values"]:
                self.assertTrue(any(v.lower() in t.lower() for t in texts), (x["question"], v))
                self.assertIn(v, x["answer"])
            if x["kind"] == "two-split":
                self.assertTrue(len(x["device"]) == len(x["cloud"]) == heldout.DISTRACTORS + 1)

    def test_hand_items(self):
        self.assertEqual(len(hand.ITEMS), 40)
        for question, answer, values, titles in hand.ITEMS:
            for v, t in zip(values, titles):
                self.assertIn(v, {**hand.DEVICE, **hand.CLOUD}[t], question)


class QuestionWorlds(unittest.TestCase):
    """The worlds that the pair is measured on: documents of two sides and questions about them."""

    def test_every_value_is_in_the_text_of_its_side(self):
        for i in range(15):
            w = worlds.world("values-%d" % i)
            texts = {side: " ".join(" ".join(d["text"] for d in w[side]).lower().split()) for side in worlds.SIDES}
            for q in w["questions"]:
                found = [[side for side in worlds.SIDES if v.lower() in texts[side]] for v in q["values"]]
                if q["kind"] == "one-part":
                    self.assertIn(q["where"], found[0], q)
                if q["kind"] == "two-part":
                    self.assertTrue(found[0] and found[1] and set(found[0]) | set(found[1]) == set(worlds.SIDES), q)
                self.assertEqual(len(q["values"]), {"one-part": 1, "two-part": 2, "unanswerable": 0, "follow-up": 1}[q["kind"]])
                at = [q["answer"].find(v) for v in q["values"]]
                self.assertTrue(-1 not in at and at == sorted(at), q)

    def test_no_question_has_two_answers(self):
        for i in range(15):
            s = Source("two answers %d" % i, held_out=True)
            facts, asked = [f for side in worlds.two_sides(s)[1] for f in side], {}
            for k, f in enumerate(facts):
                for g in facts[:k]:
                    if f.entity == g.entity:
                        self.assertFalse(conflicts(f.attribute, g.attribute), (f.entity, f.attribute.noun, g.attribute.noun))
                for _ in range(4):
                    q = ask(s, f).question.lower()
                    self.assertIs(asked.setdefault(q, f), f, q)
            bare = {f.entity.lower().removeprefix("the ") for f in facts}
            self.assertFalse([(a, b) for a in bare for b in bare if a != b and a in b])  # "the cabin" may be the lake cabin

    def test_no_question_is_asked_twice(self):
        pick = worlds.DOCUMENTS
        self.addCleanup(setattr, worlds, "DOCUMENTS", pick)
        worlds.DOCUMENTS = 2  # so few facts that draws repeat
        for i in range(60):
            asked = [worlds.said(q) for q in worlds.world("repeats-%d" % i)["questions"]]
            self.assertEqual(len(asked), 4 * worlds.QUESTIONS)
            self.assertEqual(len(set(asked)), len(asked))

    def test_follow_ups_have_an_answer_and_mostly_refer_back(self):
        leaning = 0
        for i in range(6):
            w = worlds.world("follow-ups %d" % i)
            for q in w["questions"]:
                self.assertEqual("earlier" in q, q["kind"] == "follow-up")
                if q["kind"] == "follow-up":
                    (before,), (value,) = q["earlier"], q["values"]
                    self.assertTrue(any(value.lower() in d["text"].lower() for d in w[q["where"]]), q)
                    self.assertNotIn(value.lower() + ".", before["answer"].lower())
                    leaning += q["question"].startswith(("And", "What about"))
        self.assertGreater(leaning, 20)

    def test_the_unanswerable_is_on_neither_side(self):
        for i in range(15):
            s = Source("unanswerable %d" % i, held_out=True)
            sides, facts, taken = worlds.two_sides(s)
            text = " ".join(d["text"] for side in sides for d in side).lower()
            entities = {f.entity.lower() for side in facts for f in side}
            drawn = []
            ask_of, worlds.ask = worlds.ask, lambda s, g: drawn.append(g) or ask_of(s, g)
            try:
                for k in range(20):
                    worlds.unanswerable(s, facts, taken, k % 2)
            finally:
                worlds.ask = ask_of
            self.assertGreater(len(drawn), 10)
            for g in drawn:
                stated = [f for side in facts for f in side if f.entity == g.entity]
                self.assertFalse([f for f in stated if conflicts(f.attribute, g.attribute)], (g.entity, g.attribute.noun))
                bare = g.entity.lower().removeprefix("the ")
                if not stated:
                    self.assertFalse([e for e in entities if bare in e or e.removeprefix("the ") in bare], g.entity)
                    self.assertFalse(" " in bare and bare in text, g.entity)  # a single word may be part of a value


class FollowUps(unittest.TestCase):
    def test_the_second_turn_asks_for_the_second_fact(self):
        short = 0
        for s, facts in fact_worlds(1500):
            if len(facts) < 2:
                continue
            f, g = s.rng.sample(facts, 2)
            b, other = examples.follow_up(s, f, g), examples.follow_up(s, f, g, False)
            self.assertEqual([k for _, k in other.pieces if k in (VALUE, SOFT)], [SOFT])
            first, second = b.prompt.split("\nQuestion: ")[1:]
            question, answer = first.split("\nAnswer: ")
            self.assertTrue(answer.rstrip(".").endswith(f.value.rstrip(".")), b.prompt)
            self.assertIn(f.entity.lower(), (question + answer).lower())
            self.assertTrue(second.endswith("\nAnswer:") and not second.startswith(" "))
            words, value = b.pieces[0][0], b.pieces[1]
            self.assertEqual(value, (" " + g.value, VALUE))
            self.assertIn(g.entity.lower(), words.lower())  # the sentence names what is asked about, even if the question does not
            if f.entity != g.entity:
                self.assertIn(g.entity.lower(), second.lower())
                self.assertNotIn(f.entity.lower(), words.lower(), (b.prompt, words))
            elif g.entity.lower() not in second.lower():
                self.assertIn(g.attribute.noun, second)
                self.assertIn(g.attribute.noun, words)
                short += 1
        self.assertGreater(short, 20)


class Tasks(unittest.TestCase):
    def draw(self, kind, n=300):
        s = Source("tasks-" + kind.__name__)
        for _ in range(n):
            context, (branch,) = kind(s)
            (text, what), = branch.pieces
            self.assertEqual(what, examples.TASK)
            self.assertTrue(context.startswith("Context: ") and branch.prompt.endswith("\nAnswer:") and text[0] == " ")
            yield context, branch.prompt, text[1:]

    def test_a_summary_is_made_of_the_text(self):
        for context, _, text in self.draw(tasks.summary):
            flat = context.lower()
            for sentence in text.split(". "):
                self.assertIn(sentence.rstrip(".").lower(), flat)
            first = context.removeprefix("Context: ").split("\n")[-1]
            self.assertTrue(first.startswith(text.split(". ")[0]))

    def test_the_element_is_on_the_screen_once(self):
        done = 0
        for context, prompt, text in self.draw(tasks.screen):
            lines = [line.strip() for line in context.removeprefix("Context: ").split("\n")]
            self.assertEqual(len(lines), len(set(lines)))
            element = text[text.find("<"):-1] if "<" in text else ""
            done += not element
            self.assertEqual(lines.count(element), 1 if element else 0, (context, text))
            self.assertLessEqual(prompt.count(";"), 1 + prompt.count("light;"))
        self.assertTrue(0 < done < 60)

    def test_a_reply_repeats_what_was_said(self):
        for context, prompt, text in self.draw(tasks.reply):
            self.assertRegex(text, "^Thank you, [^,]+[.] ")
            last = context.split("\n")[-1].split(":")[0]
            self.assertIn("Thank you, %s." % last, text)
            self.assertNotIn(" %s." % last, prompt.split("\n")[1])

    def test_replies_are_held_out(self):
        once, again = list(heldout.replies(20)), list(heldout.replies(20))
        self.assertEqual(once, again)
        self.assertEqual(len({x["context"] for x in once}), 20)


class Plot(unittest.TestCase):
    def rows(self, minutes):
        scores = {column: "0.5" for column, _, _ in plot.LOSSES + plot.SCORES}
        return [{"minutes": str(m), "tokens": str(1000 * m ** 2), **scores} for m in minutes]

    def test_hours_are_marked_in_their_places(self):
        self.assertEqual(plot.hour_marks(self.rows([30, 60, 90, 120, 150])), [(1, 3.6e6), (2, 14.4e6)])
        self.assertEqual(plot.hour_marks(self.rows([60, 180])), [(1, 3.6e6), (2, 18e6), (3, 32.4e6)])  # two between two rows
        self.assertEqual([h for h, _ in plot.hour_marks(self.rows(range(0, 1201, 60)))], [5, 10, 15, 20])
        self.assertEqual(plot.hour_marks(self.rows([20])), [])
        svg = plot.svg(self.rows([30, 90, 150]))
        self.assertEqual((svg.count(">1 h<"), svg.count(">2 h<"), svg.count(">3 h<")), (2, 2, 0))
        ElementTree.fromstring(svg)

    def test_older_logs_are_read(self):
        with tempfile.TemporaryDirectory() as d:
            for name in ("two_both", "two_split"):
                path = os.path.join(d, name)
                with open(path, "w") as f:
                    f.write("minutes,tokens,one,%s\n2.0,300,0.1,0.25\n" % name)
                self.assertEqual(plot.read(path), [{"minutes": "2.0", "tokens": "300", "one": "0.1", "two_both": "0.25"}])


class Grammar(unittest.TestCase):
    def test_fill(self):
        self.assertEqual(fill("{E}'s {a} is {v}", "the boss", "room", "room 4"), "the boss' room is room 4")

    def test_articles_follow_the_sound(self):
        for thing in ("owl", "orange box", "hour", "8 cm nail", "18 euro ticket", "AA", "LR44", "X-12", "umbrella", "11,000 euro prize"):
            self.assertEqual(names.with_article(thing), "an " + thing)
        for thing in ("bear", "uniform", "one-way ticket", "9V", "CR2032", "U-12", "110 euro ticket", "European map", "used bike"):
            self.assertEqual(names.with_article(thing), "a " + thing)
        for noun, a in attributes.BY_NOUN.items():  # an answer's words, and so its article, follow from the question alone
            self.assertFalse([f.answer for f in a.forms if " a {v}" in f.answer], noun)

    def test_plural_nouns(self):
        for template, want in (("What's the {a} of {e}?", "What are the servings of the pie?"), ("{E}'s {a} is {v}", "the pie's servings are 4"),
                               ("{e} has the {a} {v}", "the pie has the servings 4"), ("I forgot {E}'s {a}, what is it?", "I forgot the pie's servings, what are they?"),
                               ("If you ask about the {a} of {e}, it is {v}", "If you ask about the servings of the pie, they are 4")):
            self.assertEqual(fill(template, "the pie", "servings", "4"), want)
        self.assertEqual(fill("{v} is the {a}", "", "menu", "noodles"), "noodles are the menu")
        f, g = (Fact("the pie", "recipe", attributes.Attribute(noun, "small"), "4") for noun in ("sauce", "servings"))
        self.assertEqual(shared_entity("What is {E}'s {a}, and what is the {b}?", f, g), "What is the pie's sauce, and what are the servings?")
        self.assertEqual(shared_entity("What is the {a} and the {b} of {e}?", f, g), "What are the sauce and the servings of the pie?")

    def test_statements_and_questions_are_english(self):
        """No sentence may match certain patterns."""
        many = "(?:%s)" % "|".join(sorted(attributes.PLURAL))
        rest = r"(?: (?:of|for|at|here|that)\b(?:(?! and )[^.,:?\n])*?)?"
        patterns = [r"\b[Aa] (?!uni|use|eu|one\b)[aeiou]", r"\b(?:shows|needs|as|is|costs) a (?:8|1[18]\b|[AEFHILMNORSX](?:[A-Z\d]|\b))",
                    r"\b[Aa]n (?:[b-df-gj-np-tv-z]|[02-79]|uni|use|eu|one\b)",
                    r"(?i)(?<!of )(?<!of the )\b" + many + rest + r" (?-i:is|has|was|lies|hangs|belongs|comes|amounts)\b",
                    r"(?i)(?:\bis|\bhas been|what's) (?:(?:now )?the|its|their|her|his|(?:(?! are )[\w ])+'s?) " + many + r"\b",
                    r"\b(the|a|an|is|are|of|at|for|and) \1\b", r"  |[.][.]|\?\?| [,.?]"]
        patterns, wrong, n = [re.compile(p) for p in patterns], [], 0
        for s, facts in fact_worlds(4000, "english"):
            texts = [new_passage(s, facts).context()]
            if len(facts) > 1:
                texts += [ask_two(s, *facts[:2])[0], examples.follow_up(s, *facts[:2]).prompt]
            for f in facts:
                if s.chance(0.3):  # these nouns are rare
                    f.attribute = attributes.kept(s.pick(sorted(attributes.PLURAL)))
                    f.noun, f.form, f.value = f.attribute.noun, s.pick([None] + f.attribute.forms), f.attribute.value(s)
                for held_out in (False, True):
                    a = ask(s, f, held_out)
                    texts += [statement(s, f, held_out=held_out), a.question, examples.answer_text(a, f.value)]
                    if f.category == "person":
                        self.assertNotIn(" its ", texts[-3] + texts[-2])
                texts += [elliptic(s, f), pronominal(s, f, ("it", "its"))]
            n += len(texts)
            wrong += [(p.pattern, t) for t in texts for p in patterns if p.search(t)]
        self.assertGreater(n, 50000)
        self.assertFalse(wrong[:5])

    def test_verb_forms(self):
        s = Source("grammar")
        a = attributes.BY_NOUN["opening time"]
        self.assertEqual(a.forms[0].answer, "{e} opens at {v}")
        kept = attributes.kept("life jackets")
        self.assertTrue(all(" are " in f.answer for f in kept.forms))
        self.assertIn("An audio guide of {e} costs {v}", attributes.offer("audio guide").forms[0].statements)


if __name__ == "__main__":
    unittest.main()

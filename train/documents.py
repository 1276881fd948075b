"""Documents as the program shows them: written whole, cut by the program's own code, and read one passage at a time.

A passage cut out of a document differs from one written as a passage: its title may be about something else, the sentence
that said what 'it' is may be missing, and two notes may meet in it. This module works out which of the document's facts the
passage still states.
"""
import json
import os
import subprocess

from .attributes import OF_CATEGORY, WEIGHTS
from .examples import absent, conflicting, follow_up, half_known, one_part, related, two_part
from .passages import CHAT_SHARE, GENERAL_TITLES, conflicts, head, new_fact, new_passage, new_world, overlap

DOCUMENTS = 3  # that share one set of names: a question about one is hard for the others


def fresh(s, taken, low, high, category=None, chat=False):
    """A passage about new entities, none of which overlaps one of taken. They are added to taken."""
    while True:
        facts = new_world(s, low, high, category=category)
        p = new_passage(s, facts, chat=chat)
        names = {f.entity for f in p.facts}
        if p.facts and not any(overlap(a, b) for a in names for b in taken):
            taken.update(names)
            return p


def document(s, taken):
    """-> (file name without its number, text, its parts as Passages)."""
    if s.chance(CHAT_SHARE):
        p = fresh(s, taken, 2, 6, chat=True)
        if p.title:
            return s.pick([("chat.txt", p.title + "\n\n" + p.text + "\n", [p]), ("chat.md", "# %s\n\n%s\n" % (p.title, p.text), [p])])
        return "chat.txt", p.text + "\n", [p]
    x = s.rng.random()
    if x < 0.6:  # a note
        p = fresh(s, taken, 2, 6)
        if p.title:
            return "note.md", "# %s\n\n%s\n" % (p.title, p.text), [p]
        return "jotted.txt", p.text + "\n", [p]
    category = s.rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    parts = [fresh(s, taken, 1, 4, category if s.chance(0.6) else None) for _ in range(s.between(2, 3))]
    if x < 0.85:  # sections under headings
        body = "\n\n".join(("## %s\n\n" % p.title if p.title else "") + p.text for p in parts)
        return "guide.md", "# %s\n\n%s\n" % (s.pick(GENERAL_TITLES), body), parts
    return "file.txt", "\n\n".join((p.title + "\n\n" if p.title else "") + p.text for p in parts) + "\n", parts


class Cutter:
    """The program's cutting (train/cut), as a process that answers each line with a line."""

    def __init__(self):
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        built = os.environ.get("TANDEM_CUT")  # a built train/cut, for a machine without Go
        command = [os.path.abspath(built)] if built else ["go", "run", "./train/cut"]
        self.process = subprocess.Popen(command, cwd=root, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, name, text):
        """-> [(title, text)] of the passages."""
        try:
            self.process.stdin.write(json.dumps({"name": name, "text": text}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RuntimeError("train/cut ended; the recipe needs Go to cut documents as the program does")
        return [(p["title"], p["text"]) for p in json.loads(line)]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def squeezed(text):
    return " ".join(text.split())


def names_it(fact, sentence, passage):
    """True when a reader of the passage can tell what the sentence is about."""
    entity = fact.entity[4:] if fact.entity.startswith("the ") else fact.entity
    if entity.lower() in passage.lower():
        return True
    short = head(fact.entity, fact.category)
    return bool(short) and short.replace("the ", "").lower() in sentence.lower()


class Cut:
    """A passage with the facts that it states, and the facts whose words it holds without saying what they are about."""

    def __init__(self, title, text, parts):
        self.title, self.text, self.facts, self.doubtful = title, text, [], []
        whole = squeezed(title + "\n" + text)
        for p in parts:
            for f, sentence in zip(p.facts, p.sentences):
                sentence = squeezed(sentence)
                if sentence in whole:
                    (self.facts if names_it(f, sentence, whole) else self.doubtful).append(f)
                elif f.value.lower() in whole.lower():
                    self.doubtful.append(f)

    def context(self):
        return "Context: %s\n%s" % (self.title, self.text)


def cuts(s, cutter):
    """The passages of a few documents -> (Cuts, all their facts)."""
    taken, out, facts = set(), [], []
    for i in range(DOCUMENTS):
        name, text, parts = document(s, taken)
        facts += [f for p in parts for f in p.facts]
        out += [Cut(title, body, parts) for title, body in cutter("%02d-%s" % (s.between(1, 24), name), text)]
    return out, facts


def rival(s, facts):
    """A fact about an entity of facts, with a value of the same kind: when the mill closes, if facts say when it opens."""
    g = s.pick(facts)
    others = [a for a in OF_CATEGORY[g.category] if a.kind == g.attribute.kind and not any(conflicts(a, f.attribute) for f in facts if f.entity == g.entity)]
    return new_fact(s, g.entity, g.category, s.pick(others)) if others else None


def unsupported(s, cut, facts):
    """A fact that the passage does not state, mostly one like those that it states."""
    f, x = None, s.rng.random() if cut.facts else 1
    if x < 0.2:
        f = rival(s, cut.facts)
    elif x < 0.5:
        f = absent(s, cut.facts)
    if f is None:
        known = set(map(id, cut.facts + cut.doubtful))
        others = s.rng.sample(facts, min(len(facts), s.pick((1, 4, 8))))
        words = set((cut.title + " " + cut.text).lower().split())
        others = [f for f in others if id(f) not in known]
        f = max(others, key=lambda f: len(words & set((f.entity + " " + f.noun).lower().split())), default=None)
    stated = cut.facts + cut.doubtful
    if f is None or any(conflicts(f.attribute, g.attribute) and (g in cut.doubtful or g.entity == f.entity) for g in stated):
        return None
    return f


def asked_before(s, g, facts):
    """A fact that a conversation may have been about before g, mostly a related one."""
    others = [f for f in facts if f is not g and f.value.lower() != g.value.lower() and not conflicting(f, g)]
    like = related(g, others)
    return s.pick(like if like and s.chance(0.8) else others) if others else None


def example(s, cut, facts, branches=7):
    """-> (context text, [Branch]) of one passage."""
    order, used, out = cut.facts[:], 0, []
    s.rng.shuffle(order)
    for _ in range(branches):
        x = s.rng.random()
        g = unsupported(s, cut, facts)
        if order and x < 0.34:
            if used < 2 * len(order):
                out.append(one_part(s, order[used % len(order)], True))
                used += 1
        elif x < 0.48:
            if g:
                out.append(one_part(s, g, False))
        elif x < 0.59:
            f = s.pick(order) if order and s.chance(0.6) else g
            before = f and asked_before(s, f, facts)
            if before:
                out.append(follow_up(s, before, f, f is not g))
        elif len(order) > 1 and x < 0.67:
            f, h = s.rng.sample(order, 2)
            out.append(two_part(s, f, True, h, True))
        else:
            out += half_known(s, s.pick(order) if order else None, g, unsupported(s, cut, facts))
    return cut.context(), out

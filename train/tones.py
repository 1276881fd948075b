"""Sentences and what they become in four tones: what the adapter for tones learns to choose among.

lora/rewrite/tones.txt lists speech acts, their four tones and other ways to say them. The tones change an act's frame and keep its content word
for word. versions lists what a sentence may become, as the program does: the same for each act that it may be.
"""
import os
import re

from . import names
from .everyday import BASE, CLAUSES, FRAMES, NOUN, fill, lower, upper

TONES = ("neutral", "polite", "formal", "jovial")
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lora", "rewrite", "tones.txt")
SHARES = {"request": 9, "stop": 2, "question": 6, "refusal": 4, "unwilling": 1, "statement": 10, "need": 3, "thanks": 2, "apology": 1.5, "regret": 1.5, "invitation": 3, "opinion": 2, "reminder": 1, "farewell": 1,
          "wish": 0.3, "luck": 0.3, "pleasure": 0.4, "hope": 1}
ASKED = [f.rstrip("?") for f in FRAMES if f.endswith("?") and f.split(" ")[0] in
         ("Do", "Did", "Have", "Has", "Does", "Is", "Are", "Were", "What", "Where", "When", "Why", "Who", "How", "Which")] + ["Who broke {np}", "What happened to {np}", "When will {the} be ready", "Why are you so late",
        "Where have you been", "How long does {the} take", "Who is coming {when}", "What do you want", "Why is nobody {place}", "When do you {vp}", "How do I {vp}", "Where can I {vp}", "Why didn't you {vp}"]
ASKED = [f for f in ASKED if not f.startswith(("Do you want to", "Why don't"))]
STATED = CLAUSES + [f.rstrip(".") for f in FRAMES if f.endswith(".") and f.split(" ")[0] in ("{I}", "I", "We", "{one}", "{many}", "{The}", "{Thes}", "There", "It", "{cl}", "If", "I've", "I'm", "We're", "It's", "You", "They're", "The", "Nobody", "Everybody",
          "Something", "I'll", "Your", "Their", "My", "Unfortunately,", "Maybe", "When", "Before", "Everyone") and not f.startswith(("I can't", "I am sorry", "I'm sorry", "I would like", "I could", "I don't like", "I hope", "{I} want", "You could"))] + [
    "{the} doesn't work", "{the} is {quality} again", "you are late", "{the} was cancelled", "we have no {mass} left", "I will be {n} minutes late", "{the} starts at {clock}", "the price is {money}",
    "{one} is ill", "you forgot {np}", "you made a mistake in {np}", "I don't understand {np}", "nobody told me about {np}", "{np} has not arrived", "this is the wrong {noun}", "your {noun} is too {quality}"]
TAILS = ("", "", "", "", "", "", "", " {when}", " {when}", " because {cl}", ", because {cl}", ", {cl}", " and {vp}", " if {cl}", " before {cl}", " so that we can {vp}", " with {who}", " for {who}")
THANKED = "{np}|{np}|your help|your help with {np}|the invitation|your answer|your message|{np} and {np}|helping me with {np}|coming to {the}|inviting me to {the}|everything|the {quality} {noun}|{np}, {cl}".split("|")
SORRY = "the delay|the mistake|{np}|the noise|being late|the late answer|the mess {place}|forgetting {np}|missing {the}|the trouble with {np}|losing {np}|my mistake in {np}|the delay, {cl}".split("|")
WISHES = {"wish": "birthday|birthday, {given}|new year|anniversary|Easter, {given}", "luck": "with {np}|{when}|with your new {noun}|for {day}", "pleasure": "nice weekend|great day|good trip to {town}|nice {noun}|lovely evening"}
SHOUTED = "be quiet|be on time|hurry up|hurry up, {cl}|calm down|stop shouting|stop calling me|stop sending me {plural}|listen to me|go away|stop that|stop the music|be careful|be there {when}|stop {place}|answer me|answer {when}|reply {when}|wait|help me|leave me alone|come here|sit down|let me know if {cl}|let me know when {cl}|tell me how to {vp}|tell me where {the} is".split("|")
FULL = [("can't", "cannot"), ("won't", "will not"), ("let's", "let us"), ("I'm", "I am"), ("I'll", "I will"), ("I've", "I have"), ("I'd", "I would")] + [
    (w + "n't", w + " not") for w in "do does did is are was were has have had could would should must".split()] + [(w + "'" + a, w + " " + b) for w in "we you they".split() for a, b in (("re", "are"), ("ll", "will"), ("ve", "have"))] + [
    (w + "'s", w + " is") for w in "it that he she there what where who".split()] + [("gonna", "going to"), ("asap", "as soon as possible"), ("u", "you"), ("ur", "your"), ("pls", "please")]
SHORTER = [(re.compile(r"(?<![\w'])%s(?![\w']| to\b)" % re.escape(b), re.I), a) for a, b in FULL]
LONGER = [(re.compile(r"(?<![\w'])%s(?![\w'])" % re.escape(a), re.I), b) for a, b in FULL]
TURNED = re.compile(r"\b(do|does|did|is|are|was|were|has|have|could|would|should)n't (I|you|we|they|he|she|it)\b", re.I)


def _like(to):
    return lambda m: upper(to) if m[0][0].isupper() and not to.startswith("I") else to


def shortened(s, text, p):
    """text with some of its words as they are spoken and typed."""
    for pattern, short in SHORTER:
        if s.chance(p if "'" in short else 0.05):
            text = pattern.sub(_like(short), text)
    return text


def full(text):
    """text with its short forms written out."""
    text = TURNED.sub(r"\1 \2 not", text)
    for pattern, long in LONGER:
        text = pattern.sub(_like(long), text)
    return text


def _go_words(name):
    """The words of a set in lora/rewrite/tone.go."""
    with open(os.path.join(os.path.dirname(FILE), "tone.go"), encoding="utf-8") as f:
        return set(re.search(r"%s = set\(\"([^\"]*)\"\)" % name, re.sub(r"[ \t]+=", " =", f.read()))[1].split())


NO_ORDER, ASKING = _go_words("noOrder"), _go_words("asking")


class Act:
    def __init__(self, block):
        self.name, *lines = block.split("\n")
        self.tones, self.lines, self.patterns = lines[:4], lines, []
        for line in lines:
            bare = full(line.rstrip(".!?"))
            words = len(re.sub(r"\{\w+\}", "", bare).split())
            e = re.escape(bare).replace(r"\{i\}", r"\{I\}").replace(r"\{I\}", "(?P<i>I|we)", 1).replace(r"\{I\}", "(?:I|we)").replace(r"\{am\}", "(?:am|are)").replace(r"\{my\}", "(?:my|our)")
            e = re.sub(r"\\\{(\w)\\\}", lambda m: "(?P<%s>.+)" % m[1].lower(), e)
            self.patterns.append((re.compile("(?:%s)$" % e, re.I), line.endswith("?"), words))


def _acts():
    with open(FILE, encoding="utf-8") as f:
        return [Act(b) for b in f.read().strip().split("\n\n") if not b.startswith("#")]


ACTS = _acts()


def filled(frame, slots):
    return upper(re.sub(r"\{(\w+)\}", lambda m: slots[m[1]], frame))


def lowered(content, first):
    small = content[:1].lower() + content[1:]
    if first == "i" or first.startswith("i'") or small == content:
        return [content]
    return [small] if first in NO_ORDER or first in ASKING else [small, content]


def versions(sentence, tone):
    """What a sentence without a greeting may become in a tone."""
    body = sentence.rstrip(".!?… ")
    asks, body, out = "?" in sentence[len(body):], full(body), []
    for act in ACTS:
        for pattern, asking, words in act.patterns:
            m = pattern.match(body)
            if not m or asking != asks and not (asking and words > 1):
                continue
            found = {k: v for k, v in m.groupdict().items() if v}
            i = "we" if found.pop("i", "I").lower() == "we" else "I"
            key, content = next(iter(found.items()))
            first = content.strip().lower().split(" ")[0].rstrip(",")
            if key == "x" and first in NO_ORDER and first not in ("have", "do", "thank") or key == "q" and words == 0 and first not in ASKING and not asking:
                continue
            for c in lowered(content.strip(), first)[:1 if key == "x" else 2]:
                v = filled(act.tones[TONES.index(tone)], {key: c, key.upper(): upper(c), "i": i, "I": upper(i), "am": "am" if i == "I" else "are", "my": "my" if i == "I" else "our"})
                if v not in out:
                    out.append(v)
    return out


class Tones:
    """Draws sentences, what they become in a tone, and what they do not become."""

    def __init__(self, prose=()):
        """prose: sentences without errors, some of which serve as content."""
        few = len(prose) // 20
        self.parts = [self.content(prose[few:]), self.content(prose[:few])]

    @staticmethod
    def content(prose):
        """-> (statements, questions, verb phrases) of sentences."""
        statements, questions, phrases = [], [], []
        for x in prose:
            first = x.split(" ")[0].rstrip(",")
            if first in ("But", "And", "So", "Or", "Then", "Also", "Please", "Thank", "Thanks"):
                continue
            (questions if x[-1] == "?" else statements if x[-1] == "." and (first.lower() in NO_ORDER or first in names.GIVEN) else []).append(x[:-1])
            m = re.search(r"\b(?:can|will|must|should|to) ((?:%s|ask|add|apply|avoid|begin|bring|build|carry|choose|collect|consider|continue|cover|create|describe|enter|fill|follow|get|improve|include|install|"
                          r"let|put|reduce|remove|save|select|set|submit|support|test|throw|track|understand|wash)\b [^,;:?]{6,60})[.]$" % "|".join(BASE), x)
            if m and not re.search(r"[A-Z]", m[1]):
                phrases.append(m[1])
        return statements, [q for q in questions if q.lower().split(" ")[0] in ASKING], phrases

    def slots(self, s, kind):
        """The content of an act by slot, in full forms."""
        statements, questions, phrases = self.parts[s.held_out]
        prose = bool(phrases) and s.chance(0.4)
        i = "we" if s.chance(0.15) else "I"
        x = s.pick(phrases) if prose else fill(s, s.pick(SHOUTED) if s.chance(0.12) else "{vp}" + s.pick(TAILS))
        stated = s.pick(statements) if prose else fill(s, s.pick(STATED) + s.pick(("", "", "", ", {cl}", " because {cl}")))
        asked = s.pick(questions) if prose and questions else fill(s, s.pick(ASKED))
        n = fill(s, s.pick(("{np}", "{np}", "{np} {when}", names.with_article(s.pick(NOUN)), "some {mass}", "{np} and {np}", "{n} {plural}", "{n} more {plural} for {the} {when}", "an answer {when}", "more time", "a new {noun}", "my {mass} back")))
        if kind == "opinion":
            n = fill(s, s.pick(("{the}", "it", "the {quality} {noun}", "{given}'s {noun}", "this", "that", "your idea", "{mass}", "the {noun} {place}", "the new {noun}")))
        if kind in ("thanks", "apology"):
            n = fill(s, s.pick(THANKED if kind == "thanks" else SORRY))
        wish = fill(s, s.pick(WISHES.get(kind, "soon").split("|")))
        low = lower(upper(full(stated)))
        return {"x": full(x), "X": upper(full(x)), "s": low, "S": upper(full(stated)), "q": lower(upper(full(asked))), "Q": upper(full(asked)), "n": n, "i": i, "I": upper(i), "am": "am" if i == "I" else "are",
                "my": "my" if i == "I" else "our", "w": fill(s, s.pick(("{when}", "{place}", "{place} {when}", "then", "soon", "at {the}"))), "g": wish, "G": upper(wish)}

    def item(self, s):
        """-> (a sentence, {tone: the same in that tone})."""
        kind = s.rng.choices(list(SHARES), list(SHARES.values()))[0]
        act = next(a for a in ACTS if a.name == kind)
        slots = self.slots(s, kind)
        line = s.pick(act.lines[:1] * 2 + act.lines) if s.chance(0.6) else s.pick([x for x in act.lines if len(re.sub(r"\{\w+\}", "", x).split()) == 0] or act.lines)
        given = shortened(s, filled(line, slots).rstrip(".!?"), 0.5) + ("?" if line.endswith("?") else s.pick((".", ".", "!", "")))
        return given, {t: filled(f, slots) for t, f in zip(TONES, act.tones)}

    def choice(self, s):
        """-> (a sentence, what it becomes in a tone, [what it does not become])."""
        while True:
            given, wanted = self.item(s)
            tone = s.pick(TONES)
            list_ = versions(given, tone)
            if wanted[tone] in list_ and len(list_) > 1:
                return given, wanted[tone], [v for v in list_ if v != wanted[tone]]

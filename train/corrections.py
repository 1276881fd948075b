"""Sentences with the errors that people make, and without them: what the adapter for corrections learns.

The errors: misspellings of a list (lora/rewrite/misspellings.txt) and of rules, words that are taken for others, agreement, tenses, apostrophes, capitals, points and spaces.
One misspelling in EIGHTH, by its hash, belongs to the evaluation, and so do all misspellings of one word in EIGHTH.
"""
import os
import re
import zlib

from . import names
from .everyday import BASE, DONE, PASTS, THIRD, sentence

EIGHTH = 8
LETTERS = "abcdefghijklmnopqrstuvwxyz"
NEAR = {"a": "s", "b": "v", "c": "v", "d": "s", "e": "r", "f": "d", "g": "h", "h": "g", "i": "o", "k": "l", "l": "k", "m": "n", "n": "m", "o": "i", "p": "o", "r": "e", "s": "a", "t": "r",
        "u": "i", "v": "b", "w": "e", "y": "u"}  # keys side by side


def _listed():
    out = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lora", "rewrite", "misspellings.txt"), encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#") and line.strip():
                right, *wrong = line.split()
                out.setdefault(right, []).extend(w for w in wrong if w not in out.get(right, ()))
    return out


LISTED = _listed()
CONFUSED = [("their", "there"), ("there", "their"), ("their", "they're"), ("they're", "their"), ("its", "it's"), ("it's", "its"), ("your", "you're"), ("you're", "your"), ("than", "then"),
            ("then", "than"), ("too", "to"), ("to", "too"), ("lose", "loose"), ("of", "off"), ("where", "were"), ("were", "where"), ("quite", "quiet"), ("quiet", "quite"), ("hear", "here"),
            ("here", "hear"), ("know", "now"), ("no", "know"), ("by", "buy"), ("buy", "by"), ("who's", "whose"), ("right", "write"), ("write", "right"), ("two", "to"), ("whether", "weather"),
            ("weather", "whether"), ("passed", "past"), ("accept", "except"), ("meet", "meat"), ("week", "weak"), ("for", "four"), ("see", "sea"), ("our", "are"), ("a", "an"), ("an", "a")]
AGREEMENT = [("is", "are"), ("are", "is"), ("was", "were"), ("were", "was"), ("has", "have"), ("have", "has"), ("does", "do"), ("do", "does"), ("doesn't", "don't"), ("don't", "doesn't"), ("am", "is"),
             ("isn't", "aren't"), ("much", "many"), ("many", "much"), ("costs", "cost"), ("starts", "start"), ("leaves", "leave"), ("knows", "know"), ("wants", "want"), ("depends", "depend"),
             ("people", "peoples"), ("children", "childrens"), ("better", "more better"), ("older", "more old"), ("this", "these"), ("these", "this")]
JOINED = [("a lot", "alot"), ("as well", "aswell"), ("in fact", "infact"), ("each other", "eachother"), ("every time", "everytime"), ("thank you", "thankyou"), ("Thank you", "Thankyou"),
          ("no one", "noone"), ("should have", "should of"), ("could have", "could of"), ("would have", "would of"), ("going to", "gonna"), ("want to", "wanna"), ("have to", "has to"),
          ("looking forward to hearing", "looking forward to hear"), ("looking forward to seeing", "looking forward to see"), ("of course", "ofcourse"), ("because of", "because off"),
          ("at least", "atleast"), ("even though", "eventhough"), ("in the morning", "on the morning"), ("in the evening", "on the evening"), ("how are you", "how is you"),
          ("one of the best", "one of the bests"), ("Let me know", "Let me now"), ("let me know", "let me now"), ("more than", "more then"), ("rather than", "rather then")]
NEGATED = re.compile(r"\b([Dd]idn't|[Dd]id (?:not|\w+)|to) (%s)\b" % "|".join(BASE))
VERBS = dict([(a, [b]) for a, b in zip(THIRD, BASE)] + [(a, [b]) for a, b in zip(BASE, THIRD)])
FINISHED = re.compile(r"\b(have|has|haven't|hasn't|have been) (%s)\b" % "|".join(d for d, p in zip(DONE, PASTS) if d != p))
CAPITALS = set(names.DAYS) | set(names.MONTHS) | {"English", "French", "German"}
PROPER = set(names.GIVEN)


def bare(word):
    return word.strip(".,!?:;\"()")


def trained(right, wrong):
    """Whether training may have this misspelling."""
    return not kept_word(right) and zlib.crc32(wrong.lower().encode()) % EIGHTH != 0


def kept_word(right):
    """Whether all misspellings of a word belong to the evaluation."""
    return zlib.crc32(("word " + right.lower()).encode()) % EIGHTH == 0


def slips(word):
    """Misspellings of a word by rule: the likely ones first and more often than the others."""
    out = []
    for i in range(1, len(word)):
        if word[i] == word[i - 1]:
            out += [word[:i] + word[i + 1:]] * 4  # one of a double letter
        elif word[i] not in "aeiou" and i < len(word) - 1 and word[i - 1] in "aeiou":
            out += [word[:i] + word[i] + word[i:]]
    for a, b in (("ie", "ei"), ("ei", "ie"), ("ful", "full"), ("ance", "ence"), ("ence", "ance"), ("ible", "able"), ("able", "ible"), ("ely", "ley"), ("tion", "sion"), ("ous", "us"), ("ck", "k"),
                 ("ph", "f"), ("wh", "w"), ("gh", "hg"), ("ght", "gth"), ("ea", "ae"), ("au", "ua"), ("ary", "ery"), ("ery", "ary"), ("er", "or"), ("or", "er"), ("ant", "ent"), ("ent", "ant"),
                 ("th", "ht"), ("kn", "n"), ("ing", "ign"), ("ou", "uo"), ("ea", "ee"), ("ai", "ia")):
        if a in word[1:]:
            at = word.index(a, 1)
            out += [word[:at] + b + word[at + len(a):]] * 2
    for i in range(1, len(word) - 1):
        if word[i] != word[i + 1]:
            out.append(word[:i] + word[i + 1] + word[i] + word[i + 2:])
        out.append(word[:i] + word[i + 1:])
        if word[i] in NEAR and len(word) > 4:
            out.append(word[:i] + NEAR[word[i]] + word[i + 1:])
    return [w for w in out if w != word]


def like(word, other):
    """other with the capital of word, if it has one."""
    return other[0].upper() + other[1:] if word[0].isupper() else other


class Corrections:
    """Draws sentences with errors and without. Words that occur often may be misspelt by rule; rarer ones, and names, are as they are."""

    def __init__(self, s, prose=()):
        """prose: more sentences without errors."""
        counts = {}
        for text in [sentence(s) for _ in range(8000)] + list(prose):
            for w in map(bare, text.split(" ")):
                if w.islower() and w.isalpha():
                    counts[w] = counts.get(w, 0) + 1
        few = len(prose) // 20
        self.prose, self.kept = list(prose[few:]), list(prose[:few])  # kept: for the evaluation
        common = sorted(counts, key=lambda w: (-counts[w], w))[:2500]
        self.known = {w for w in common if counts[w] > 3 and 3 < len(w) < 13 and w not in LISTED}

    def misspelt(self, s, held, words):
        """One word misspelt. held: only ways that training does not have."""
        fit = []
        for j, w in enumerate(words):
            b = bare(w)
            low = b.lower()
            if low in LISTED and (b == low or j == 0 or b.startswith("I")) and b != "OK":
                fit += [(j, b, x) for x in LISTED[low] if trained(low, x) != held]
        if not fit or s.chance(0.4):
            more = [(j, bare(w)) for j, w in enumerate(words) if bare(w) in self.known]
            s.rng.shuffle(more)
            for j, b in more:
                ways = [x for x in slips(b) if trained(b, x) != held and x not in self.known and x not in LISTED]
                if ways:
                    fit = [(j, b, s.pick(ways))]
                    break
        if not fit:
            return False
        j, b, x = s.pick(fit)
        words[j] = words[j].replace(b, x if b.startswith("I'") and s.chance(0.5) else like(b, x))
        return True

    def wrong(self, s, text, held):
        """text with one more error, or as it is if the kind drawn does not apply."""
        words, x = text.split(" "), s.rng.random()
        if x < 0.33:
            return " ".join(words) if self.misspelt(s, held, words) else text
        if x < 0.48:
            return swapped(s, words, CONFUSED)
        if x < 0.66:
            return swapped(s, words, AGREEMENT)
        if x < 0.76:
            return swapped(s, words, [(a, b) for a in VERBS for b in VERBS[a]])
        if x < 0.79:
            m = NEGATED.search(text)
            if m and m[1] != "to" and PASTS[BASE.index(m[2])] != m[2]:
                return text[:m.start(2)] + PASTS[BASE.index(m[2])] + text[m.end(2):]
            m = FINISHED.search(text)
            return text[:m.start(2)] + PASTS[DONE.index(m[2])] + text[m.end(2):] if m else text
        if x < 0.83:
            fit = [p for p in JOINED if re.search(r"\b%s\b" % p[0], text)]
            if fit:
                a, b = s.pick(fit)
                return re.sub(r"\b%s\b" % a, b, text, count=1)
            return text
        if x < 0.87:
            fit = [j for j, w in enumerate(words) if "'" in bare(w)[1:-1] and bare(w).lower() in LISTED or bare(w) in ("I", "I'm", "I'll", "I've")]
            if fit:
                j = s.pick(fit)
                words[j] = words[j].replace("'", "") if s.chance(0.6) and bare(words[j]) != "I'm" else words[j].replace("I", "i", 1)
            return " ".join(words)
        if x < 0.90:
            return text[0].lower() + text[1:]
        if x < 0.925:
            return text[:-1] if text[-1] in ".?" else text
        if x < 0.945:
            return text[:-1] + "." if text[-1] == "?" else text
        if x < 0.96:
            fit = [j for j, w in enumerate(words) if bare(w) in CAPITALS]
            if fit:
                j = s.pick(fit)
                words[j] = words[j].lower()
            return " ".join(words)
        if x < 0.98:
            j = s.between(0, len(words) - 1)
            if words[j].isalpha() and words[j].islower():
                words.insert(j, words[j])
            return " ".join(words)
        return text.replace(", ", s.pick((" ,", ",")), 1)

    def right(self, s):
        prose = self.kept if s.held_out else self.prose
        if prose and s.chance(0.4):
            return s.pick(prose)
        text = sentence(s)
        return text + " " + sentence(s) if s.chance(0.12) else text

    def item(self, s, held=None):
        """-> (with errors, without). held: draw misspellings that training does not have; by default in the evaluation, half of the time."""
        right = self.right(s)
        if held is None:
            held = s.held_out and s.chance(0.5)
        text = right
        for _ in range(s.rng.choices((0, 1, 2, 3, 4), (2, 5, 4, 2, 1))[0]):
            text = self.wrong(s, text, held)
        if s.chance(0.12):
            text = careless(s, text)
        return text, right


def swapped(s, words, pairs):
    """The words with one of the pairs' first words replaced by its second."""
    fit = [(j, b) for j, w in enumerate(words) for a, b in pairs if bare(w) == a or j == 0 and bare(w).lower() == a]
    if fit:
        j, b = s.pick(fit)
        words[j] = words[j].replace(bare(words[j]), like(bare(words[j]), b))
    return " ".join(words)


def careless(s, text):
    """A sentence as people type it in a hurry: no capitals, and perhaps no apostrophes and no point."""
    words = [w.lower() if w[0].isupper() and (j == 0 and not names_word(w) or bare(w).removesuffix("'s") in PROPER | CAPITALS or re.match(r"I\b", w)) else w for j, w in enumerate(text.split(" "))]
    text = " ".join(words)
    if s.chance(0.6):
        text = re.sub(r"(?<=[a-z])'(?=(?:m|t|ll|ve|re|d)\b)", "", text)
    return text[:-1] if s.chance(0.6) and text[-1] in ".?!" else text


def names_word(word):
    """Whether a word that begins a sentence may be an invented name."""
    b = bare(word)
    return b not in PROPER and not b.lower() in LISTED and not re.fullmatch(r"[A-Z]?[a-z']{1,12}", b)

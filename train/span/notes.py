"""Passages for training out of the notes of the built-in decoder's generator, with names of its training part."""
import random
from types import SimpleNamespace

from ..documents import document, names_it, rival
from ..examples import absent
from ..names import Source
from ..questions import ask
from . import pages
from .data import made


def places(text, sentence, value):
    """The characters of a value in a sentence of a text, or None."""
    a = text.find(sentence)
    b = sentence.find(value)
    return (a + b, a + b + len(value)) if a >= 0 and b >= 0 and text.count(sentence) == 1 else None


def generated(questions=4):
    """(text, [(question, spans of characters or None)]) of a document's window, or None."""
    s = Source(random.random())
    taken = set()
    _, text, parts = document(s, taken)
    window, gone = pages.window(SimpleNamespace(title="", text=text, lead=""))
    facts = [(f, sentence) for p in parts for f, sentence in zip(p.facts, p.sentences)]
    here = [(f, places(window, sentence, f.value)) for f, sentence in facts if names_it(f, sentence, window)]
    here = [(f, at) for f, at in here if at]
    out = [(ask(s, f).question, [at]) for f, at in random.sample(here, min(len(here), questions))]
    for _ in range(2):
        known = [f for f, _ in facts]
        g = rival(s, known) if random.random() < .4 else absent(s, known)
        if g and random.random() < .7 and not (g.value.lower() in window.lower()):
            out.append((ask(s, g).question, None))
    typed = [(q if random.random() < .7 else pages.asked(q), at) for q, at in out]
    return (window, typed) if typed else None


def item(known):
    """An Item for training."""
    r = generated()
    return r and made(known, *r)

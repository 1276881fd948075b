"""Passages for training: a page of a layout or a scene, cut as the program cuts documents, with questions as people type them."""
import random

from . import attributes as at, data, scenes, values as v
from .data import keywords, made, paraphrased, typo
from .layouts import (Page, asks, cap, changed, changelog, config, contacts, contract, diary, email, faq, invoice, key_values, minutes, minutes_items,
                      price_list, programme, recipe, sentences, table, timetable, todo, two_values, weekdays)

R, choose, ri = random.random, random.choice, random.randint

LAYOUTS = [(26, scenes.scene), (3, key_values), (3, sentences), (2.5, two_values), (3.5, table), (1.2, price_list), (1, timetable), (1, weekdays), (1.8, email), (4, changed), (1, minutes), (1, recipe), (.7, invoice), (1, contract), (.7, faq),
           (.4, changelog), (.6, config), (.8, contacts), (.8, programme), (.6, diary), (.5, todo), (.5, minutes_items)]
WEIGHTS = [w for w, _ in LAYOUTS]


def asked(q):
    """A question as someone types it."""
    if R() < .25:
        q = paraphrased(q)
    r = R()
    if r < .22:
        q = keywords(q)
    elif r < .3:
        q = choose(("can you tell me ", "do you know ", "hey, ", "please tell me ", "remind me: ", "i need to know ", "quick question: ", "tell me ", "sorry, but ")) + q
    elif r < .33:
        q = q + choose((" please", " again", " pls", ", thanks", " exactly"))
    if R() < .13:
        q = typo(q)
    r = R()
    if r < .45:
        q = cap(q)
    elif r < .5:
        q = q.upper() if len(q) < 40 else q.title()
    elif r < .75:
        q = q.lower()
    return q + ("?" if R() < .6 else "")


def stated(page, label, thing):
    """Whether a passage may say something under this label of this thing: then it is no safe negative."""
    low = page.text.lower()
    return label and all(w in low for w in label.lower().split()) and all(w in low for w in thing.lower().split())


def missing(page):
    """A question that the passage does not answer, near what it says."""
    facts = [f for f in page.facts if f.about]
    r = R()
    if r < .45 and facts:  # another attribute of a thing that is there
        f = choose(facts)
        have = {x.about for x in page.facts if x.thing == f.thing}
        kinds = {x.about.kind for x in page.facts if x.about and x.thing == f.thing}
        c = [a for a in at.ALL if a not in have and set(a.of) & set(f.about.of) and (a.kind not in kinds or R() < .5)]
        if not c:
            return None
        a = choose(c)
        label = choose(a.labels)
        low = page.text.lower()
        if any(l.lower() in low for l in a.labels) or {a.kind, *kinds} & {"address", "place", "room", "town", "spot"} == {a.kind} & kinds != set():
            return None
        if a.kind in ("address", "place", "room", "town", "spot") and kinds & {"address", "place", "room", "town", "spot"}:
            return None
        if a.kind in ("hours", "time") and kinds & {"hours"} or a.kind == "hours" and "time" in kinds or a.kind == "person" and "person" in kinds or a.kind in ("date", "day", "year") and kinds & {"date", "day", "year"} and R() < .7:
            return None
        called = f.thing if f.about.of == "n" or f.thing[:1].isupper() else "the " + f.thing
        return choose(asks(a, label, f.thing, called))
    if r < .8 and facts:  # an attribute that is there, of another thing
        f = choose(facts)
        c = choose(f.about.of)
        name, called = at.entity(c)
        words = name.lower().split()
        if R() < .5 and " " in f.thing and c != "n":  # the same noun, another word before it
            other = choose(at.BEFORE)
            name = other + " " + f.thing.split(" ", 1)[1]
            called = "the " + name
            words = [other]
        low = page.text.lower()
        if any(w in low for w in words if w not in ("the",)) or not page.text.count(f.thing.split(" ")[0]):
            return None
        return choose([q for q in asks(f.about, f.label, name, called)])
    if page.facts:  # a question of another page
        other = Page()
        random.choices([l for _, l in LAYOUTS], WEIGHTS)[0](other)
        o = [f for f in other.facts if f.thing and len(f.thing) > 3 and not any(w in page.text.lower() for w in f.thing.lower().split() if len(w) > 2)]
        if not o:
            return None
        f = choose(o)
        q = choose(f.asks)
        return q if any(w.lower() in q.lower() for w in f.thing.split()) else None
    return None


def filled(page):
    """Sentences of real prose before or after, so that passages are less alike."""
    s = v.drawn["sentences"]
    if not s:
        return
    if R() < .2:
        pre = " ".join(random.sample(s, ri(1, 2))) + choose(("\n", "\n\n", " ", "\n"))
        page.text = pre + page.text
        for f in page.facts:
            f.move(len(pre))
    if R() < .2:
        page.text = page.text.rstrip() + choose(("\n", "\n\n", " ")) + " ".join(random.sample(s, ri(1, 2)))


def page():
    """A passage with its facts."""
    p = Page()
    f = random.choices([l for _, l in LAYOUTS], WEIGHTS)[0]
    f(p)
    if R() < .12 and len(p.text) < 400:
        p.line()
        p.put(choose(("", "\n")))
        random.choices([l for _, l in LAYOUTS], WEIGHTS)[0](p)
    filled(p)
    return p, f.__name__


FILES = "notes;list;letter;info;to do;misc;mail;document;copy of list;plan;untitled;draft;important;old notes;overview;scan".split(";")


def headline(text):
    """The first line if it is a title, and where the text goes on."""
    line, _, rest = text.partition("\n")
    t = line.strip("#*=[]: ")
    if t and rest.strip() and len(t.split()) <= 9 and t[-1] not in ".!?;," and ": " not in line and not line.startswith(("- ", "| ", "* ")):
        return t, len(line) + 1
    return "", 0


def window(p):
    """A page as the program gives it to the reader: the title with its headings, an empty line, some lines or sentences.
    -> (text, characters that are gone before those of the page)"""
    r, begin, end, title = R(), 0, len(p.text), p.title
    if r > .7:
        head = p.title + "\n" if p.title and (p.contrast or R() < .7) else ""
    else:
        if not title:
            title, begin = headline(p.text)
        if not title:
            title = cap(choose(FILES)) + choose(("", " " + v.year(), " " + v.noun()))
        elif R() < .2:
            title = cap(choose(FILES)) + ": " + title
        elif R() < .2:
            title += ": " + choose(FILES)
        head = title + "\n\n"
        if end - begin > 300 and R() < .7:
            k = ri(begin, end - 1)
            a, b = data.window(p.text, k, k + 1)
            begin, end = max(begin, a), b
        if p.lead and begin > p.text.find(p.lead) and R() < .85:
            head += p.lead
    begin += len(p.text[begin:]) - len(p.text[begin:].lstrip())
    return head + p.text[begin:end].rstrip(), begin - len(head)


def generated(questions=4, negatives=.3):
    """(text, [(question, spans of characters or None)], the layout's name) or None."""
    p, name = page()
    if len(p.text.strip()) < 12 or not p.facts:
        return None
    text, gone = window(p)
    out, counts, none = [], {}, list(p.none)
    for f in p.facts:
        for q in f.asks:
            counts.setdefault(q, set()).add(tuple(f.places()))
    for f in random.sample(p.facts, min(len(p.facts), 2 * questions)):
        ok = [q for q in f.asks if len(counts[q]) == 1]
        there = [(a - gone, b - gone) for a, b in f.places() if a - gone >= 0 and b - gone <= len(text) and p.text[a:b] == text[a - gone:b - gone]]
        if ok and there and len(out) < questions:
            out.append((asked(choose(ok)), there))
        elif ok and not there and not any(p.text[a:b] in text for a, b in f.places()):
            none.append(choose(ok))
    none = [q for q in none if q not in counts or not any(text.count(p.text[a:b]) for x in counts[q] for a, b in x)]
    for _ in range(4):
        if R() < negatives * (3 if p.contrast else 2):
            q = choose(none) if none and R() < .75 else missing(p)
            if q:
                out.append((asked(q), None))
    return (text, out, name) if out else None


def item(known):
    """An Item for training."""
    r = generated()
    return r and made(known, r[0], r[1])

"""Passages as people write them, from many patterns, with questions as people type them. Every value is known by its place."""
import random

from . import attributes as at, values as v

R, choose, ri = random.random, random.choice, random.randint


class Fact:
    """A value that a passage states, where (a place, or several that are all right), and questions for it. thing: what it is said of;
    about: its attribute or None."""
    __slots__ = ("at", "asks", "thing", "about", "label")

    def __init__(self, place, asks, thing="", about=None, label=""):
        self.at, self.asks, self.thing, self.about, self.label = place, asks, thing, about, label

    def places(self):
        return [self.at] if isinstance(self.at, tuple) else self.at

    def move(self, by):
        self.at = tuple(x + by for x in self.at) if isinstance(self.at, tuple) else [(a + by, b + by) for a, b in self.at]


class Page:
    """A text under construction; value() marks where a value stands. title: of the document; none: what is not answered;
    lead: a table's first line, which the program repeats above later rows; contrast: whether as much is asked that is not answered."""

    def __init__(self):
        self.text, self.facts, self.title, self.none, self.lead, self.contrast = "", [], "", [], "", False

    def put(self, s):
        self.text += s

    def value(self, s):
        self.text += s
        return len(self.text) - len(s), len(self.text)

    def say(self, pattern, **given):
        """Write a pattern with {v}; -> where v stands."""
        before, after = pattern.split("{v}")
        value = given.pop("v")
        before, after = before.format(**given), after.format(**given)
        self.text += before
        place = self.value(value)
        self.text += after
        return place

    def line(self):
        if self.text and not self.text.endswith("\n"):
            self.text += "\n"


def cap(s):
    return s[:1].upper() + s[1:]


def pick(c, n):
    """Attributes of a category that do not get in each other's way."""
    a = random.sample(at.BY[c], min(len(at.BY[c]), n))
    out, kinds = [], set()
    for x in a:
        if x.kind in ("address", "place", "room", "spot") and kinds & {"address", "place", "room", "spot"}:
            continue
        kinds.add(x.kind)
        label = choose(x.labels)
        if all(label != l for _, l in out):
            out.append((x, label))
    return out


def asks(a, label, name, called, alone=False):
    """Questions for an attribute of a thing."""
    e = called if R() < .7 else name
    out = [q.format(e=e, l=label) for q in at.split(a.asks)]
    if at.HELD[0] and len(out) < len(a.asks):
        return out
    out += [f"{label} {name}", f"{name} {label}", f"what is the {label} of {e}", f"{label} of {e}", f"{label} for {e}"]
    if alone:
        out += [q.format(e="it", l=label) for q in a.asks if "{e}" in q][:3] + [label, f"what is the {label}"]
    return out


def add(page, place, a, label, name, called, alone=False):
    page.facts.append(Fact(place, asks(a, label, name, called, alone), name, a, label))


# --- layouts: each writes into a page ---------------------------------------------------------------------------------------------


def key_values(page):
    """One thing, or a few, as lines of key and value."""
    n = 1 if R() < .6 else ri(2, 3)
    sep = choose((": ", ": ", ": ", " = ", " - ", " – ", "=", ":", ":  ", ".... ", " | ", ":\t", " → "))
    mark = choose(("", "", "", "- ", "* ", "• ", "- ", "  ", "– "))
    style = choose((str, str, cap, str.title, str.lower))
    bold = R() < .1
    for i in range(n):
        c = choose("phhdonejctlag")
        name, called = at.entity(c)
        page.line()
        if i:
            page.put("\n" * ri(0, 1))
        head = R() < .85 or n > 1
        if head:
            page.put(choose(("{}\n", "# {}\n", "## {}\n", "{}:\n", "{}\n\n", "== {} ==\n", "*{}*\n", "[{}]\n", "{}\n-----\n", "NOTES – {}\n", "About {}\n", "Info {}\n", "Name: {}\n")).format(
                name if R() < .3 else cap(name) if R() < .8 else name.upper()))
        for a, label in pick(c, ri(2, 7)):
            l = style(label)
            page.put(mark + ("**" + l + "**" if bold else l) + sep)
            place = page.value(a.value())
            page.put(choose(("", "", "", "", " (since " + v.date() + ")", " (" + v.thing() + ")", ";", ".", "  # " + v.thing())) + "\n")
            add(page, place, a, label, name, called, n == 1)


def sentences(page):
    """Sentences about one to four things; a later one about the same thing may call it "it"."""
    n = ri(1, 4)
    for _ in range(n):
        c = choose("phhdonejctlag")
        name, called = at.entity(c)
        last = None
        for k, (a, label) in enumerate(pick(c, ri(1, 3))):
            e = called
            if k and R() < .6:
                e = choose(("she", "he")) if c == "n" else "it"
            elif k and R() < .15:
                e = "the " + name.split(" ")[-1]
            s = choose(at.split(a.says))
            if e in ("it", "he", "she"):
                s = s.replace("{e}'s", {"it": "its", "he": "his", "she": "her"}[e])
            if k == 1 and R() < .25 and last:
                page.text = page.text[:page.facts[-1].at[1]] + choose((" and ", ", and ", "; ", " but "))
                place = page.say(s, e=e, l=label, v=a.value())
                page.put(". ")
            else:
                start = choose(("", "", "", "", "Please note: ", "Remember: ", "By the way, ", "As of " + v.date() + ", ", "Also, ", "We were told that ", "According to " + v.person() + ", ", "FYI: "))
                text = s.format(e=e, l=label, v="{v}")
                page.put(start)
                place = page.say(cap(text) if not start or start.endswith(": ") and R() < .5 else text, v=a.value())
                page.put(choose((". ", ". ", ". ", ".\n", "! ", ", " + choose(("as usual", "for now", "until further notice", "if all goes well")) + ". ", " – " + v.thing() + ". ")))
            last = a
            add(page, place, a, label, name, called, n == 1)


def two_values(page):
    """Two values of a kind in one sentence, told apart by a word each."""
    for _ in range(ri(1, 3)):
        name, called = at.entity(choose("pehct"))
        E = cap(called)
        kind = choose(("open", "seasons", "groups", "rooms", "stages", "range", "who"))
        if kind == "open":
            days = choose(("on weekdays", "on Sundays", "in summer", "from Monday to Friday", "every day", "on " + v.choose(v.WEEK) + "s", ""))
            s = choose((f"{E} opens at {{a}} {days} and closes at {{b}}", f"{E} is open from {{a}} to {{b}} {days}", f"{days} {called} opens its doors at {{a}} and shuts at {{b}}",
                        f"{E} closes at {{b}} and opens at {{a}} {days}", f"opening time of {called}: {{a}}, closing time {{b}}"))
            qa = [f"when does {called} open", f"what time does {name} open", f"opening time {name}", f"{name} opens", f"from when is {called} open"]
            qb = [f"when does {called} close", f"what time does {name} shut", f"closing time {name}", f"until when is {called} open", f"{name} closes", f"how late is {called} open"]
            a, b = v.time(), v.time()
        elif kind == "seasons":
            x, y = choose((("on weekdays", "on Sundays"), ("in summer", "in winter"), ("for members", "for visitors"), ("on Saturdays", "on Mondays"), ("in May", "in October"), ("in the morning", "in the evening")))
            verb, ask = choose((("closes at", "when does {e} close"), ("opens at", "when does {e} open"), ("costs", "how much is {e}"), ("has", "how many seats has {e}")))
            f = v.price if verb == "costs" else v.measure if verb == "has" else v.time
            a, b = f(), f()
            s = choose((f"{E} {verb} {{a}} {x} and {{b}} {y}", f"{E} {verb} {{a}} {x}, but {{b}} {y}", f"{cap(x)} {called} {verb} {{a}}, {y} {{b}}"))
            qa, qb = [ask.format(e=called) + " " + x, f"{name} {x}", f"{x} {name}"], [ask.format(e=called) + " " + y, f"{name} {y}", f"{y} {name}"]
        elif kind == "groups":
            x, y = random.sample("adults children students seniors members families pensioners groups residents guests dogs bikes".split(), 2)
            a, b = v.price(), v.price()
            s = choose((f"Tickets for {called} cost {{a}} for {x} and {{b}} for {y}", f"{E} costs {x} {{a}} and {y} {{b}}", f"Admission to {called}: {x} {{a}}, {y} {{b}}", f"{cap(x)} pay {{a}} at {called}, {y} only {{b}}", f"{called} – {x}: {{a}} / {y}: {{b}}"))
            qa, qb = [[f"how much do {z} pay at {called}", f"ticket price {z}", f"price for {z} {name}", f"what does {called} cost for {z}", f"{z} price", f"admission {z} {name}"] for z in (x, y)]
        elif kind == "rooms":
            x, y = random.sample("kitchen bathroom hall bedroom office cellar attic terrace stage lobby foyer library".split(), 2)
            f = choose((v.measure, v.colour, v.number, v.code))
            what = {v.measure: "size", v.colour: "colour", v.number: "number of lamps", v.code: "code"}[f]
            a, b = f(), f()
            s = choose((f"The {what} of the {x} is {{a}} and of the {y} {{b}}", f"{cap(x)} {what} {{a}}, {y} {what} {{b}}", f"The {x} has the {what} {{a}}, the {y} {{b}}"))
            qa, qb = [[f"{what} of the {z}", f"what is the {what} of the {z}", f"{z} {what}", f"which {what} has the {z}"] for z in (x, y)]
        elif kind == "stages":
            x, y = choose((("first", "second"), ("old", "new"), ("outward", "return"), ("large", "small"), ("upper", "lower"), ("morning", "evening"), ("cheapest", "most expensive")))
            n = choose("ticket boat team delivery payment talk room group instalment tour".split())
            f = choose((v.price, v.time, v.date, v.person, v.code))
            a, b = f(), f()
            s = choose((f"The {x} {n} is {{a}}, the {y} {n} {{b}}", f"The {x} {n} is {{a}} and the {y} one {{b}}", f"{cap(x)} {n}: {{a}}; {y} {n}: {{b}}"))
            qa, qb = [[f"{z} {n}", f"what about the {z} {n}", f"the {z} {n} is what", (f"who is the {z} {n}" if f is v.person else f"when is the {z} {n}" if f in (v.time, v.date) else f"how much is the {z} {n}" if f is v.price else f"what is the {z} {n}")] for z in (x, y)]
        elif kind == "range":
            f = choose((v.date, v.day, lambda: v.choose(v.MONTH)))
            a, b = f(), f()
            s = choose((f"{E} runs from {{a}} to {{b}}", f"{E} is closed from {{a}} until {{b}}", f"{E} starts on {{a}} and ends on {{b}}"))
            closed = "closed" in s
            qa = [f"since when is {called} closed", f"{name} closed from"] if closed else [f"when does {called} start", f"first day of {called}", f"start of {name}"]
            qb = [f"until when is {called} closed", f"when does {called} open again"] if closed else [f"when does {called} end", f"last day of {called}", f"end of {name}"]
        else:
            x, y = random.sample("treasurer secretary chair director cook guide driver trainer caretaker nurse editor".split(), 2)
            a, b = v.person(), v.person()
            s = choose((f"{{a}} is {x} of {called} and {{b}} is {y}", f"{cap(x)} is {{a}}, {y} {{b}}", f"{called} has {{a}} as {x} and {{b}} as {y}", f"{{a}} ({x}) and {{b}} ({y}) look after {called}"))
            qa, qb = [[f"who is the {z}", f"who is {z} of {called}", f"name of the {z}", f"{z} {name}", f"what is the {z} called"] for z in (x, y)]
        if a == b:
            continue
        at_ = {}
        rest = cap(s) if R() < .8 else s
        while "{" in rest:
            i = rest.index("{")
            page.put(rest[:i])
            at_[rest[i + 1]] = page.value(a if rest[i + 1] == "a" else b)
            rest = rest[i + 3:]
        page.put(rest + choose((". ", ". ", ".\n", "\n")))
        page.facts += [Fact(at_["a"], qa, name), Fact(at_["b"], qb, name)]


def rows_of(c, n, cols):
    """n things with a value for each of some attributes."""
    names = []
    while len(names) < n:
        e = at.entity(c)
        if all(e[0] != x[0] for x in names):
            names.append(e)
    return names, [[a.value() for a, _ in cols] for _ in names]


def table(page):
    """Things by attributes: Markdown, CSV, tabs, columns of spaces; sometimes turned."""
    c = choose("phhdonnejctlaggg")
    cols = pick(c, ri(1, 5))
    names, cells = rows_of(c, ri(2, 7), cols)
    kind = choose(("md", "csv", "tab", "space", "semi", "pipe", "pipe", "pipe", "pipe", "comma", "record"))
    if kind in ("csv", "comma"):
        cells = [[x.replace(", ", " ").replace(",", ".") for x in r] for r in cells]
        names = [(n.replace(",", ""), k) for n, k in names]
    first = choose(("name", "item", "Name", "Item", {"n": "person", "p": "place", "e": "event", "t": "line", "g": "product", "c": "course"}.get(c, "what"), ""))
    if kind == "space" and not first:
        first = "name"
    labels = [l for _, l in cols]
    style = choose((str, cap, str.lower, str.upper, str.title))
    grid = [[first] + [style(l) for l in labels]] + [[n if R() < .3 else cap(n)] + r for (n, _), r in zip(names, cells)]
    facts = [(i + 1, j + 1, asks(a, l, names[i][0], names[i][1]), names[i][0], a, l) for i in range(len(names)) for j, (a, l) in enumerate(cols)]
    if len(cols) == 1:
        for i in range(len(names)):
            facts.append((i + 1, 1, [names[i][0], f"what about {names[i][1]}", f"{names[i][0]}?"], names[i][0], None, ""))
    turned = R() < .2 and len(cols) > 1
    if R() < .25:  # a question the other way round: which thing has this value
        i, j = ri(0, len(names) - 1), ri(0, len(cols) - 1)
        if [r[j] for r in cells].count(cells[i][j]) == 1:
            w = "who" if c == "n" else "which " + first.lower() if first else "which one"
            facts.append((i + 1, 0, [f"{w} has {labels[j]} {cells[i][j]}", f"{w} has the {labels[j]} {cells[i][j]}", f"{cells[i][j]}", f"whose {labels[j]} is {cells[i][j]}"], names[i][0], None, ""))
    if R() < .6:
        page.put(choose(("{}\n\n", "# {}\n\n", "{}\n", "## {}\n", "{}:\n", "Table: {}\n")).format(choose((cap(choose(labels)), cap(v.noun()) + " list", "Overview", "List of " + v.noun() + "s", "Prices " + v.year(), "Status " + v.date(), cap(choose(at.BEFORE)) + " " + v.noun()))))
    page.line()
    if turned:
        grid = [list(x) for x in zip(*grid)]
        facts = [(j, i, *f) for i, j, *f in facts]
    widths = [max(len(r[k]) for r in grid) + ri(2, 5) for k in range(len(grid[0]))]
    place, recorded = {}, choose((", ", "; ", " | "))
    for i, r in enumerate(grid):
        if kind == "md":
            page.put("| ")
        for j, x in enumerate(r):
            if kind == "record":
                if not i:
                    continue
                page.put(grid[0][j] + ": " if grid[0][j] else "")
            place[i, j] = page.value(x)
            lastone = j == len(r) - 1
            page.put({"md": " | " if not lastone else " |", "pipe": "" if lastone else " | ", "csv": "" if lastone else ",", "comma": "" if lastone else ", ", "record": "" if lastone else recorded, "tab": "" if lastone else "\t",
                      "semi": "" if lastone else "; " if R() < 0 else ";", "space": "" if lastone else " " * (widths[j] - len(x))}[kind])
        page.put("\n" if i or kind != "record" else "")
        if i == 0 and kind in ("pipe", "csv", "comma"):
            page.lead = page.text[place[0, 0][0]:]
        if i == 0 and kind == "md":
            page.put("|" + "|".join(choose(("---", "---", "----", ":--")) if R() < 1.1 else "" for _ in r) + "|\n")
    for i, j, qs, thing, a, l in facts:
        if (i, j) not in place:  # the header of records
            continue
        page.facts.append(Fact(place[i, j], qs, thing, a, l))


def price_list(page):
    """Items, a line each, with a price, perhaps in sizes."""
    heads = choose(("Price list", "Menu", "Our prices", "Drinks", "Speisekarte", "Services", "Tickets", "Preise " + v.year(), "Tariff", "Snacks", "Rates")) + choose(("", "", " " + v.year(), ":"))
    page.put(choose(("", "# ", "## ")) + heads + "\n" + choose(("", "\n")))
    sep = choose((" - ", ": ", " ..... ", "  ", "\t", " — ", " = ", " ...... ", " "))
    mark = choose(("", "", "- ", "* "))
    seen = set()
    for _ in range(ri(3, 9)):
        x = choose((v.choose(v.ITEMS), v.choose(at.NOUNS["g"]), choose(at.BEFORE) + " " + v.choose(at.NOUNS["g"]), v.noun() + " " + choose(at.NOUNS["g"]), v.invented() + " " + choose(("soup", "tea", "platter", "massage", "haircut", "repair", "ticket", "lesson")), choose(
            ("haircut", "day ticket", "single room", "double room", "oil change", "bike hire", "late check-out", "espresso", "flat white", "Apfelschorle", "café crème", "jamón", "crêpe", "dry cleaning", "key copy"))))
        if x in seen:
            continue
        seen.add(x)
        page.put(mark + (cap(x) if R() < .8 else x) + choose(("", "", "", " (" + v.quantity() + ")", ", " + choose(("small", "large", "to go", "with " + v.choose(v.ITEMS)))))  + sep)
        place = page.value(v.price())
        page.put("\n")
        page.facts.append(Fact(place, [f"how much is {x}", f"what does the {x} cost", f"price of {x}", f"{x} price", f"how much for a {x}", f"cost of the {x}", f"{x} how much", f"what do I pay for {x}"], x, None, "price"))


def timetable(page):
    """Stops by departures."""
    stops = random.sample(v.TOWNS, 3) + [cap(choose(at.BEFORE)) + " " + choose("quay station square gate bridge school pier beach park".split()) for _ in range(2)]
    random.shuffle(stops)
    stops = list(dict.fromkeys(stops))[:ri(3, 5)]
    n = ri(1, 4)
    kind = choose(("space", "space", "pipe", "pipe", "md", "tab", "colon", "csv", "comma"))
    line = choose(("bus", "ferry", "train", "tram", "shuttle", "boat"))
    number = choose((str(ri(1, 99)), v.invented(), "R" + str(ri(1, 9))))
    page.put(choose((f"{cap(line)} {number} timetable", f"Line {number}, {line}", f"Timetable of {line} {number}, valid from {v.date()}", f"# {cap(line)} {number}")) + "\n" + choose(("", "\n")))
    heads = ["stop"] + [choose((f"trip {k + 1}", str(k + 1), f"{cap(line)} {k + 1}", "Mon–Fri" if k == 0 else "Sat" if k == 1 else "Sun" if k == 2 else "Hol")) for k in range(n)]
    if len(set(heads)) < len(heads):
        heads = ["stop"] + [f"{line} {k + 1}" for k in range(n)]
    named = n > 1 and kind != "colon"
    sep = {"space": "    ", "md": " | ", "tab": "\t", "pipe": " | ", "csv": ",", "comma": ", ", "colon": "  "}[kind]
    if named:
        page.lead = sep.join(heads) + "\n" if kind in ("pipe", "csv", "comma") else ""
        page.put(sep.join(heads) + "\n" + ("|".join(["---"] * len(heads)) + "\n" if kind == "md" else ""))
    order = ["first", "second", "third", "fourth"]
    h = ri(5, 9)
    for i, s in enumerate(stops):
        page.put(s + (": " if kind == "colon" else sep))
        for k in range(n):
            place = page.value("%02d:%02d" % (h + 2 * k + (i * 13) // 60, (i * 13 + 7 * k) % 60))
            page.put(sep if k + 1 < n else "\n")
            w = choose((f"when does the {order[k]} {line} leave {s}", f"{order[k]} {line} {s}", f"{s} {order[k]} {line}", f"what time is the {order[k]} {line} from {s}", f"{order[k]} departure {s}")) if n > 1 and (not named or R() < .4) else choose(
                (f"when does the {line} leave {s}", f"{s} departure", f"{line} {s}", f"what time is the {line} at {s}", f"when is {line} {number} at {s}"))
            if named and order[k] not in w:
                w += choose((" ", " on ", ", ")) + heads[k + 1]
            page.facts.append(Fact(place, [w], s))


def weekdays(page):
    """Opening hours by day."""
    c = choose("po")
    name, called = at.entity(c)
    page.put(choose(("{} – opening hours\n", "Opening hours of {}\n", "# {}: hours\n", "{}\n\nOpening hours:\n", "When we are open ({})\n")).format(cap(name)))
    short = R() < .4
    days, k = [d[:3] if short else d for d in v.WEEK], 0
    mark, sep = choose(("", "- ", "* ", "  ")), choose((": ", " ", "  ", " - ", "\t", " | "))
    while k < 7:
        e = min(7, k + choose((1, 1, 1, 2, 4, 5)))
        label = days[k] if e == k + 1 else days[k] + choose(("-", "–", " to ", " - ")) + days[e - 1]
        page.put(mark + label + sep)
        closed = R() < .15
        if closed:
            place = page.value(choose(("closed", "Closed", "geschlossen", "closed all day")))
            page.facts += [Fact(place, [f"when is {called} open on {v.WEEK[d]}", f"is {called} open on {v.WEEK[d]}s", f"{v.WEEK[d]} hours", f"{name} {v.WEEK[d]}"], name) for d in range(k, e)]
        elif R() < .5:
            place = page.value(v.hours().replace("from ", ""))
            page.facts += [Fact(place, [f"when is {called} open on {v.WEEK[d]}", f"opening hours {v.WEEK[d]}", f"{v.WEEK[d]} hours", f"{name} {v.WEEK[d]}", f"hours on {v.WEEK[d]}", f"open {v.WEEK[d].lower()}?"], name) for d in range(k, e)]
        else:
            a = page.value(v.time())
            page.put(choose((" - ", "–", "-", " to ", " – ", " until ")))
            b = page.value(v.time())
            for d in range(k, e):
                D = v.WEEK[d]
                page.facts += [Fact(a, [f"when does {called} open on {D}", f"what time does it open on {D}", f"opening time {D}", f"{D} opens", f"{name} opening {D}"], name),
                               Fact(b, [f"when does {called} close on {D}", f"until when is {called} open on {D}s", f"closing time {D}", f"{name} closes {D}", f"how late is it open {D}"], name)]
        page.put("\n")
        k = e


def email(page):
    """Headers, a greeting, what it is about, a signature."""
    sender, to = v.first() + " " + v.last(), v.first()
    addr, date = v.mail(), v.date()
    subject_of = at.entity(choose("ejpclth"))
    subject = choose(("{}", "Re: {}", "{} – update", "About {}", "AW: {}", "Fwd: {}", "Question about {}")).format(subject_of[0])
    order = [("From", sender + choose(("", " <" + addr + ">")), ["who sent the mail", "who wrote the message", "sender", "who is the mail from", f"who wrote about {subject_of[1]}"]),
             ("To", to, ["who is the mail to", "recipient", "who got the message"]), ("Date", date, ["when was the mail sent", "date of the mail", "when did " + sender.split()[0] + " write"]),
             ("Subject", subject, ["what is the mail about", "subject of the mail", "subject"])]
    if R() < .8:
        for k, x, q in order:
            if R() < .15:
                continue
            page.put(k + ": ")
            place = page.value(x)
            page.put("\n")
            if k == "From" and "<" in x:
                place = (place[0], place[0] + len(sender))
            page.facts.append(Fact(place, q, ""))
        page.put("\n")
    page.put(choose(("Hi {},", "Dear {},", "Hello {},", "{},", "Dear all,", "Hi everyone,", "Liebe {},", "Good morning {},")).format(to) + "\n\n")
    if R() < .5:
        page.put(choose(("thanks for your message.", "I hope you are well.", "just a quick note.", "as discussed, here are the details.", "sorry for the late reply.", "please see below.")) + " ")
    body = Page()
    choose((sentences, changed, two_values, sentences, key_values, minutes_items, sentences))(body)
    shift = len(page.text)
    page.put(body.text.rstrip() + "\n\n")
    for f in body.facts:
        f.move(shift)
        page.facts.append(f)
    page.put(choose(("Best,", "Best regards,", "Thanks", "Kind regards", "See you,", "Viele Grüße", "Cheers,", "Yours sincerely,")) + "\n" + (sender if R() < .6 else sender.split()[0]) + "\n")
    if R() < .4:
        for label, f, q in random.sample([("", lambda: choose(at.ROLES), f"what is {sender}'s role"), ("Tel. ", v.phone, f"phone number of {sender}"), ("", v.mail, f"e-mail address of {sender}"), ("", v.address, f"address of {sender}")], ri(1, 3)):
            page.put(label)
            place = page.value(f())
            page.put("\n")
            page.facts.append(Fact(place, [q, q.replace(sender, sender.split()[0])], sender))


# How a change is told: with what was before, and without. {w}: what changed; {n}: its new value; {o}: the old one; {d}: a date.
BEFORE_AND_NOW = ("{w} moved from {o} to {n}", "{w} changed from {o} to {n}", "{w} is now {n} instead of {o}", "{w} is now {n} (was {o})", "{w} was {o}, but is {n} now",
                  "{w} is no longer {o} but {n}", "{w}: {o} → {n}", "{w}: ~~{o}~~ {n}", "update: {w} is {n}, not {o}", "{w} used to be {o}. Since {d} it is {n}", "instead of {o}, {w} is {n} from now on",
                  "until {d} {w} was {o}; it is {n} since then", "correction: {w} is {n} (not {o} as announced)", "change of plan: {w} is {n} not {o}", "{w} is {n}, not {o}; sorry for the mistake in the last letter",
                  "correction, {d}: {w} is {n}, not {o}", "{w}: {n} (instead of {o})", "{w}: {n} (before: {o})", "{w} - {n}, up to now {o}", "we had to change {w}: {n}, no longer {o}", "not {o} but {n} is {w}")
NOW = ("{w} is now {n}", "from {d} on, {w} is {n}", "as of {d} {w} is {n}", "{w}: {n} from now on", "{w}: {n} (new)", "new: {w} is {n}", "{w} has changed to {n}", "please note that {w} is {n} from {d}", "{w} will be {n} from {d} on",
       "since {d} {w} is {n}", "correction: {w} is {n}", "change of plan: {w} is {n}", "{w} is {n} this time", "{w}: {n}")
NOTICE = ("Changes\n", "What is new\n", "## Changes\n", "Update\n\n", "Corrections\n", "Dear all, some things change.\n", "Please note these changes:\n", "News\n", "Amendments to the last letter\n")


def changed(page):
    """Values that were another before."""
    if R() < .35:
        page.put(choose(NOTICE))
    mark = choose(("", "", "", "- ", "* "))
    for _ in range(ri(1, 4)):
        c = choose("phejctlgno")
        name, called = at.entity(c)
        a, label = choose([x for x in pick(c, 6) if x[0].kind in ("time", "date", "day", "price", "person", "place", "room", "code", "phone", "address", "number", "version", "town", "duration", "measure")] or [(at.ALL[5], "date")])
        new, old = a.value(), a.value()
        if new == old or new in old or old in new:
            continue
        fresh = R() < .2
        what = choose((f"the {label} of {called}", f"{called} {label}" if R() < .3 else f"the {label} for {called}"))
        s, at_ = choose(NOW if R() < .4 else BEFORE_AND_NOW).replace("{w}", what).replace("{d}", v.date()), {}
        if fresh:
            s = choose((f"the new {label} of {called} is {{n}}", f"the new {label} for {called}: {{n}}", f"{called} has a new {label}: {{n}}", f"new {label} of {called}: {{n}}"))
        rest = mark + cap(s)
        while "{" in rest:
            i = rest.index("{")
            page.put(rest[:i])
            at_[rest[i + 1]] = page.value(new if rest[i + 1] == "n" else old)
            rest = rest[i + 3:]
        page.put(rest + (".\n" if mark else choose((". ", ".\n", "\n", ". "))))
        qs = asks(a, label, name, called)
        now = [q + choose((" now", " currently", "", "", "", "")) for q in qs] + [f"new {label} of {called}", f"current {label} {name}", f"what is the new {label} of {called}"]
        then = [f"what was the old {label} of {called}", f"old {label} {name}", f"previous {label} of {called}", f"what was the {label} of {called} before", f"former {label} {name}"]
        page.facts += [Fact(at_["n"], now, name, a, label), Fact(at_["n"], qs, name, a, label)]
        if "o" in at_:
            page.facts.append(Fact(at_["o"], then, name))
        else:
            page.none += then


def minutes_items(page):
    """Who does what until when."""
    style = choose(range(6))
    page.put(choose(("", "Action items\n", "To do:\n", "Tasks\n\n", "## Actions\n", "Next steps:\n")))
    people = set()
    for _ in range(ri(2, 5)):
        who, what, when = v.first(), v.task(), choose((v.date, v.day))()
        if who in people:
            continue
        people.add(who)
        order = {0: "- {who}: {what} by {when}", 1: "{who} will {what} until {when}.", 2: "[ ] {what} ({who}, {when})", 3: "* {what} — {who} — due {when}", 4: "{who} to {what} ({when})", 5: "{what}: {who} (by {when})"}[style]
        rest, at_ = order, {}
        while "{" in rest:
            i, j = rest.index("{"), rest.index("}")
            page.put(rest[:i])
            at_[rest[i + 1:j]] = page.value({"who": who, "what": what, "when": when}[rest[i + 1:j]])
            rest = rest[j + 1:]
        page.put(rest + ("\n" if style != 1 else " "))
        t = what.split(" ", 1)
        page.facts += [Fact(at_["who"], [f"who will {what}", f"who has to {what}", f"who takes care of {t[1]}", f"whose job is it to {what}", f"{what} who", f"responsible for {t[1]}", f"who {t[0]}s {t[1]}"], what),
                       Fact(at_["when"], [f"when does {who} have to {what}", f"by when must we {what}", f"deadline for {t[1]}", f"{what} until when", f"due date {who}", f"until when will {who} {what}"], what),
                       Fact(at_["what"], [f"what does {who} have to do", f"what will {who} do", f"task of {who}", f"{who} to do", f"what was {who} asked to do"], who)]


def minutes(page):
    """A meeting: when, where, who, what was decided."""
    name, called = at.entity("o" if R() < .5 else "j")
    page.put(choose((f"Minutes – {name}\n", f"# Meeting of {called}\n", f"Minutes of the meeting of {called}\n", f"{cap(name)}: notes from the meeting\n")))
    lines = [("Date", v.date, ["when was the meeting", f"date of the meeting of {called}", "meeting date"]), ("Place", v.place, ["where was the meeting", "where did they meet", "meeting place"]),
             ("Present", v.team, ["who attended the meeting", "who was present", "who was at the meeting", "attendees"]), ("Apologies", v.team, ["who was absent", "who sent apologies", "who could not come", "who was missing"]),
             ("Chair", v.person, ["who chaired the meeting", "chair of the meeting", "who led the meeting"]), ("Minutes", v.person, ["who took the minutes", "who wrote the minutes", "minute taker"]),
             ("Next meeting", v.date, ["when is the next meeting", "next meeting date", "when do we meet next"])]
    for k, f, q in random.sample(lines, ri(2, 6)):
        page.put(k + ": ")
        place = page.value(f())
        page.put("\n")
        page.facts.append(Fact(place, q))
    page.put("\n")
    for k in range(ri(1, 3)):
        t = choose(v.TASKS).split(" ", 1)
        n, y, z = ri(3, 30), ri(0, 9), ri(0, 5)
        if R() < .5:
            page.put(choose((f"{k + 1}. ", "- ", "")) + f"Motion to {t[0]} {t[1]}: ")
            a = page.value(choose(("carried", "rejected", "adopted", "postponed", "approved unanimously")))
            page.put(", ")
            b = page.value(f"{n} for, {y} against, {z} abstentions" if R() < .5 else f"{n} : {y}")
            page.put(".\n")
            page.facts += [Fact(a, [f"what happened to the motion to {t[0]} {t[1]}", f"was the motion to {t[0]} {t[1]} accepted", f"decision on {t[1]}"]), Fact(b, [f"how was the vote on {t[1]}", f"vote on the motion to {t[0]} {t[1]}", f"how many voted for {t[1]}"])]
        else:
            p = choose((v.price(), v.date(), v.person()))
            page.put(choose((f"{k + 1}. ", "- ", "Decision: ")) + choose((f"It was decided to {t[0]} {t[1]}; ", f"{cap(t[0])} {t[1]}: agreed, ")))
            if p[0].isdigit() or p[0] in "$£€CEU":
                page.put("for " if R() < .5 else "at most ")
            a = page.value(p)
            page.put(".\n")
            page.facts.append(Fact(a, [f"what was decided about {t[1]}", f"decision about {t[1]}", f"{t[1]} decision"]))
    if R() < .5:
        minutes_items(page)


def recipe(page):
    """Ingredients with amounts, times and temperatures."""
    dish = choose((v.noun() + " ", cap(choose(v.TOWNS)) + " ", choose(v.ITEMS) + " ", v.invented() + " ")) + choose("soup cake bread stew salad pie curry dumplings cookies risotto gratin pancakes tart noodles".split())
    page.put(choose(("{}\n\n", "# {}\n", "Recipe: {}\n", "{}\n")).format(cap(dish)))
    heads = [("Serves", lambda: str(ri(2, 10)), [f"how many people does the {dish} serve", "how many servings", "serves how many", "portions"]), ("Prep time", v.duration, ["preparation time", f"how long does it take to prepare the {dish}", "prep time"]),
             ("Cooking time", v.duration, ["how long does it cook", f"cooking time of the {dish}", "how long to bake"]), ("Oven", lambda: choose(("%d °C" % (10 * ri(14, 24)), "%d°F" % (25 * ri(12, 18)), "%d C" % (10 * ri(14, 24)), "gas mark %d" % ri(3, 8))), ["oven temperature", "how hot must the oven be", f"temperature for the {dish}", "at which temperature do I bake it"]),
             ("From", v.person, [f"whose recipe is the {dish}", f"who is the {dish} from"])]
    for k, f, q in random.sample(heads, ri(0, 4)):
        page.put(k + choose((": ", ": ", " ")))
        place = page.value(f())
        page.put("\n")
        page.facts.append(Fact(place, q, dish))
    page.put(choose(("\nIngredients\n", "\nIngredients:\n", "## Ingredients\n\n", "")))
    mark, turned = choose(("- ", "* ", "", "• ")), R() < .25
    for x in random.sample(v.ITEMS[:27], ri(3, 8)):
        q = v.quantity()
        page.put(mark)
        if turned:
            page.put(x + choose((": ", " - ", ", ")))
            place = page.value(q)
        else:
            place = page.value(q)
            page.put(choose((" ", " of " if not q[-1].isdigit() else " ")) + choose(("", "", "", "fresh ", "ground ", "chopped ")) + x)
        page.put(choose(("", "", "", ", chopped", " (optional)")) + "\n")
        page.facts.append(Fact(place, [f"how much {x} do I need", f"how many {x}", f"amount of {x}", f"{x} for the {dish}", f"how much {x} goes into the {dish}", f"{x} how much", f"quantity of {x}"], x))
    if R() < .7:
        page.put(choose(("\nMethod\n", "\nSteps:\n", "\n")))
        t, d, d2 = "%d °C" % (10 * ri(15, 24)), v.duration(), v.duration()
        a, b = random.sample(v.ITEMS[:27], 2)
        page.put(f"Mix the {a} with the {b} and leave it for ")
        p1 = page.value(d)
        page.put(choose((". Bake at ", ". Then bake it in the oven at ")))
        p2 = page.value(t)
        page.put(" for ")
        p3 = page.value(d2)
        page.put(choose((".", " until golden.", ", then let it cool.")))
        page.facts += [Fact(p2, ["at what temperature do I bake it", f"{dish} oven temperature", f"how hot do I bake the {dish}"], dish), Fact(p3, ["how long do I bake it", f"how long is the {dish} in the oven", f"baking time {dish}"], dish), Fact(p1, [f"how long does the {a} rest", "how long do I leave it"], dish)]


def invoice(page):
    who = v.invented(ri(2, 3)) + choose((" GmbH", " Ltd", " Inc.", " & Sons", " SARL", " S.L.", ""))
    page.put(choose(("INVOICE", "Invoice", "Rechnung", "Receipt", "Order confirmation")) + "\n" + who + "\n")
    for k, f, q in random.sample([("Invoice no.", v.code, ["invoice number", "what is the number of the invoice", f"invoice number {who}"]), ("Date", v.date, ["invoice date", "when was the invoice written", "date of the invoice"]),
                                  ("Due", v.date, ["when is the invoice due", "by when must I pay", "payment due date", "until when do I have to pay the invoice"]), ("Customer no.", v.code, ["customer number", "what is our customer number"]),
                                  ("IBAN", v.code, ["iban", "to which account do I pay"]), ("Terms", v.duration, ["payment terms", "how long do I have to pay"])], ri(2, 5)):
        page.put(k + ": ")
        place = page.value(f())
        page.put("\n")
        page.facts.append(Fact(place, q, who))
    page.put("\n")
    for x in random.sample(v.ITEMS, ri(1, 4)):
        n = ri(1, 40)
        a = page.value(str(n))
        page.put(choose((" x ", " ", "  ", " pcs ")) + x + choose((" à ", " @ ", ", unit price ", "  ")))
        b = page.value(v.price())
        page.put("\n")
        page.facts += [Fact(a, [f"how many {x} were ordered", f"how many {x}", f"quantity of {x}", f"number of {x}"], x), Fact(b, [f"unit price of {x}", f"what does one of the {x} cost", f"price {x}", f"how much are the {x}"], x)]
    for k, q in (("Subtotal", ["subtotal", "net amount"]), (choose(("VAT 19 %", "VAT", "Tax", "MwSt.")), ["how much is the tax", "vat", "amount of vat"]), ("Shipping", ["how much is the shipping", "shipping cost"]), (choose(("Total", "Total due", "Amount due", "Gesamt")), ["what is the total", "how much do we owe " + who, "total of the invoice", "how much is the invoice", "amount to pay"])):
        if R() < .7:
            page.put(k + choose((": ", "  ", " ")))
            place = page.value(v.price())
            page.put("\n")
            page.facts.append(Fact(place, q, who))


def contract(page):
    """Numbered clauses."""
    c = choose("lhjo")
    name, called = at.entity(c)
    page.put(choose((f"{cap(name)} agreement\n\n", f"Contract about {called}\n", f"# Terms of {called}\n\n", f"Between {v.person()} and {v.person()}\n\n")))
    clauses = [
        ("Notice period", "Either party may terminate this agreement with {v} notice.", lambda: choose(("three months'", "30 days'", "six weeks'", "one month's", "%d days'" % (7 * ri(1, 12)))), ["how long is the notice period", "notice period", "how much notice do I have to give", "how can I terminate"]),
        ("Rent", "The monthly rent is {v}, payable in advance.", v.price, ["how much is the rent", "monthly rent", "what do I pay per month"]),
        ("Rent", "The rent is due on the {v} of each month.", lambda: choose(("first", "3rd", "15th", "last working day", "fifth")), ["when is the rent due", "on which day must I pay the rent"]),
        ("Deposit", "The tenant pays a deposit of {v} before moving in.", v.price, ["how much is the deposit", "deposit", "what deposit is required"]),
        ("Term", "This agreement begins on {v}.", v.date, ["when does the agreement begin", "start of the contract", "from when does it apply"]),
        ("Term", "It runs for {v} and is then renewed.", v.duration, ["how long does the contract run", "term of the contract", "duration of the agreement"]),
        ("Late payment", "For each late payment a fee of {v} is charged.", v.price, ["what happens if I pay late", "late fee", "how much is the fee for late payment"]),
        ("Interest", "Overdue amounts bear interest at {v} per year.", lambda: "%d.%d %%" % (ri(1, 12), ri(0, 9)), ["what is the interest rate", "interest on overdue amounts"]),
        ("Pets", "Pets are allowed {v}.", lambda: choose(("with written consent", "only in cages", "in the garden", "if they are small")), ["are pets allowed", "can I keep a dog", "pets"]),
        ("Quiet hours", "Quiet hours are {v}.", v.hours, ["when are quiet hours", "until when may I make noise", "quiet hours"]),
        ("Liability", "Liability is limited to {v}.", v.price, ["what is the liability limited to", "limit of liability", "how high is the liability"]),
        ("Jurisdiction", "Disputes are settled by the courts of {v}.", lambda: choose(v.TOWNS), ["which court is responsible", "place of jurisdiction", "where are disputes settled"]),
        ("Repairs", "The tenant bears repairs up to {v} per case.", v.price, ["up to what amount does the tenant pay repairs", "who pays small repairs up to how much"]),
        ("Delivery", "The goods are delivered within {v} of the order.", v.duration, ["how long does delivery take", "delivery time", "when are the goods delivered"]),
        ("Warranty", "The warranty ends after {v}.", v.duration, ["how long is the warranty", "warranty period", "when does the warranty end"]),
        ("Contact", "Notices are to be sent to {v}.", choose((v.mail, v.address)), ["where must notices be sent", "address for notices"]),
        ("Keys", "The tenant receives {v} keys.", lambda: choose(("two", "three", "4", "5")), ["how many keys does the tenant get", "number of keys"]),
    ]
    used, n = set(), ri(3, 7)
    style = ri(0, 3)
    for k, (head, s, f, q) in enumerate(random.sample(clauses, n)):
        if s in used:
            continue
        used.add(s)
        page.put({0: f"{k + 1}. {head}. ", 1: f"§ {k + 1} {head}\n", 2: f"{k + 1}.1 ", 3: f"**{head}** "}[style])
        place = page.say(s, v=f())
        page.put("\n" + choose(("", "\n")))
        page.facts.append(Fact(place, q + [q[0] + " in the contract of " + called], name))


def faq(page):
    """Questions and answers, as pages for customers have them."""
    c = choose("pejctlg")
    name, called = at.entity(c)
    page.put(choose((f"FAQ {name}\n\n", "Frequently asked questions\n\n", f"# {cap(name)} FAQ\n", "")))
    style = ri(0, 3)
    for a, label in pick(c, ri(2, 5)):
        q = cap(choose(a.asks).format(e=called, l=label)) + "?"
        page.put({0: f"Q: {q}\nA: ", 1: f"{q}\n", 2: f"**{q}** ", 3: f"### {q}\n"}[style])
        text = cap(choose(at.split(a.says)).format(e=choose((called, "it")), l=label, v="{v}")) if R() < .6 else choose(("{v}", "It's {v}", "That is {v}", "Usually {v}"))
        place = page.say(text, v=a.value())
        page.put(choose((".", ".", "")) + "\n" + choose(("", "\n")))
        add(page, place, a, label, name, called, True)


def changelog(page):
    name = v.invented(ri(2, 3))
    page.put(choose((f"# Changelog of {name}\n\n", f"{name} releases\n", "CHANGELOG\n\n")))
    y = ri(2015, 2029)
    seen = set()
    for k in range(ri(2, 4)):
        ver, d = v.version(), v.date()
        if ver in seen:
            continue
        seen.add(ver)
        page.put(choose(("## ", "", "* ")))
        a = page.value(ver)
        page.put(choose((" - ", " (", ", ", " / ")))
        b = page.value(d)
        page.put("\n")
        page.facts.append(Fact(b, [f"when was {ver} released", f"release date of {ver}", f"when did version {ver} come out", f"{name} {ver} date"], ver))
        for _ in range(ri(1, 3)):
            n1, n2, verb = v.noun(), v.noun(), choose("added fixed removed renamed improved".split())
            page.put(choose(("- ", "  - ", "* ")))
            c = page.value(f"{verb} {n1} {n2}")
            page.put(choose(("", " (thanks to " + v.first() + ")", " (#%d)" % ri(2, 900))) + "\n")
            page.facts.append(Fact(a, [f"in which version was {n1} {n2} {verb}", f"which release {verb} {n1} {n2}", f"since which version is {n1} {n2} {verb}", f"{n1} {n2} {verb} version"], name))


def config(page):
    """INI, YAML or environment variables."""
    style = ri(0, 2)
    keys = [("port", v.number, ["which port", "what port is used"]), ("host", v.url, ["which host", "host name"]), ("timeout", lambda: str(ri(1, 90)) + choose(("s", "", "ms")), ["what is the timeout", "timeout"]),
            ("log_level", lambda: choose(("info", "debug", "warn", "error")), ["log level", "how verbose are the logs"]), ("max_connections", v.number, ["how many connections are allowed", "max connections"]), ("data_dir", v.path, ["where is the data", "data directory"]),
            ("user", lambda: v.invented().lower(), ["which user", "user name"]), ("password", v.code, ["what is the password", "password"]), ("backup_time", v.time, ["when is the backup", "backup time"]), ("workers", lambda: str(ri(1, 64)), ["how many workers", "number of workers"]),
            ("cache_size", v.measure, ["how big is the cache", "cache size"]), ("retries", lambda: str(ri(0, 9)), ["how many retries"]), ("language", v.language, ["which language is set"]), ("region", lambda: choose(("eu-west-1", "us-east-2", "ap-south-1", "north")), ["in which region"]), ("tls", v.flag, ["is tls on", "tls enabled"])]
    sections = random.sample("server database web mail cache backup worker proxy auth storage".split(), ri(1, 3))
    for s in sections:
        page.put({0: f"[{s}]\n", 1: f"{s}:\n", 2: f"# {s}\n"}[style])
        for k, f, q in random.sample(keys, ri(2, 5)):
            page.put({0: f"{k} = ", 1: f"  {k}: ", 2: f"{s.upper()}_{k.upper()}="}[style])
            place = page.value(f())
            page.put(choose(("", "", "", "  # " + v.thing())) + "\n")
            page.facts.append(Fact(place, [x + f" of the {s}" for x in q] + [f"{s} {k.replace('_', ' ')}", f"{k} {s}", f"what is {k} set to in {s}"], s, None, k.replace("_", " ")))


def contacts(page):
    """A line a person."""
    page.put(choose(("Contacts\n\n", "# Contact list\n", "Telephone list\n", "Important numbers\n\n", "Team\n", "")))
    style = ri(0, 4)
    seen = set()
    for _ in range(ri(3, 7)):
        who, role, tel, m = v.person(), choose(at.ROLES + ["plumber", "dentist", "babysitter", "landlord", "vet", "neighbour", "taxi"]), v.phone(), v.mail()
        if who in seen or role in seen:
            continue
        seen |= {who, role}
        order = {0: "{who}, {role}, {tel}", 1: "{role}: {who}, {tel}", 2: "- {who} ({role}) {tel}", 3: "{who} – {role} – {tel} – {m}", 4: "{role} {who}: {tel} / {m}"}[style]
        rest, at_ = order, {}
        while "{" in rest:
            i, j = rest.index("{"), rest.index("}")
            page.put(rest[:i])
            at_[rest[i + 1:j]] = page.value({"who": who, "role": role, "tel": tel, "m": m}[rest[i + 1:j]])
            rest = rest[j + 1:]
        page.put("\n")
        f = who.split(" ")[0] if who[1:2] != "." and not who.startswith(("Mr", "Mrs", "Ms", "Dr", "Prof", "Frau", "Herr", "Señora")) and R() < .4 else who
        page.facts += [Fact(at_["who"], [f"who is the {role}", f"what is the {role} called", f"name of the {role}", f"{role}", f"{role} name"], role), Fact(at_["tel"], [f"phone number of {f}", f"{f} phone", f"how can I call the {role}", f"number of the {role}", f"{role} phone number", f"call {f}"], who),
                       Fact(at_["role"], [f"what does {f} do", f"who is {f}", f"role of {f}", f"{f} job"], who)]
        if "m" in at_:
            page.facts.append(Fact(at_["m"], [f"e-mail of {f}", f"mail address of the {role}", f"{f} email", f"where can I write to {f}"], who))


def programme(page):
    """What happens when, and who does it."""
    name, called = at.entity("e")
    page.put(choose((f"Programme of {called}\n\n", f"# {cap(name)}\n", f"Agenda: {name}, {v.date()}\n", f"{cap(name)} – schedule\n")))
    style, h = ri(0, 3), ri(7, 10)
    for _ in range(ri(3, 7)):
        t = "%d:%02d" % (h, choose((0, 15, 30, 45)))
        h += ri(1, 2)
        what = choose(("Registration", "Opening", "Lunch", "Coffee break", "Dinner", "Closing words", "Group photo", "Tour of the " + v.noun(), "Talk: " + v.noun() + " and " + v.noun(), "Workshop " + v.noun(), "Panel on " + v.noun(), "Concert", "Award ceremony"))
        if any(f.thing == what for f in page.facts):
            continue
        who, where = v.person(), v.room()
        order = {0: "{t} {what} ({who}, {where})", 1: "{t} – {what}, {where}", 2: "- {t}: {what} with {who}", 3: "{what}: {t}, {where}"}[style]
        rest, at_ = order, {}
        while "{" in rest:
            i, j = rest.index("{"), rest.index("}")
            page.put(rest[:i])
            at_[rest[i + 1:j]] = page.value({"t": t, "what": what, "who": who, "where": where}[rest[i + 1:j]])
            rest = rest[j + 1:]
        page.put("\n")
        w = what.lower().replace("talk: ", "talk about ")
        page.facts.append(Fact(at_["t"], [f"when is the {w}", f"what time does the {w} start", f"{w} when", f"time of the {w}", f"{w} time"], what))
        if "who" in at_:
            page.facts.append(Fact(at_["who"], [f"who leads the {w}", f"who gives the {w}", f"{w} who", f"speaker of the {w}", f"with whom is the {w}"], what))
        if "where" in at_:
            page.facts.append(Fact(at_["where"], [f"where is the {w}", f"in which room is the {w}", f"{w} room", f"{w} where"], what))
        page.facts.append(Fact(at_["what"], [f"what happens at {t}", f"what is on at {t}", f"{t} what is on"], t))


def diary(page):
    """Dated notes."""
    seen = set()
    for _ in range(ri(2, 6)):
        d, who, p, x = v.date(), v.first(), v.price(), v.choose(v.ITEMS)
        if d in seen or x in seen:
            continue
        seen |= {d, x}
        a = page.value(d)
        page.put(choose((": ", " - ", "\n", " – ", ", ")))
        s = choose(("paid {who} {p} for {x}", "bought {x} from {who}, {p}", "{who} came by and brought {x} worth {p}", "ordered {x} for {p} ({who})", "{who} called about the {x}, wants {p}", "lent {who} {p} for {x}"))
        rest, at_ = s, {}
        while "{" in rest:
            i, j = rest.index("{"), rest.index("}")
            page.put(rest[:i])
            at_[rest[i + 1:j]] = page.value({"who": who, "p": p, "x": x}[rest[i + 1:j]])
            rest = rest[j + 1:]
        page.put(choose((".\n", "\n", ". ")))
        verb = {"p": "paid", "b": "bought", "{": "", "o": "ordered", "l": "lent"}[s[0]]
        page.facts += [Fact(at_["p"], [f"how much were the {x}", f"how much did I pay for the {x}", f"{x} price", f"cost of {x}", f"how much for {x}"], x), Fact(a, [f"when did I get the {x}", f"when was it about the {x}", f"date of the {x}", f"{x} when"], x),
                       Fact(at_["who"], [f"who was it with the {x}", f"{x} who", f"who had to do with the {x}", f"from whom are the {x}" if verb == "bought" else f"who about the {x}"], x)]


def todo(page):
    """Shopping and packing lists with amounts."""
    name, called = at.entity(choose("eht"))
    page.put(choose(("Shopping list\n", "To buy\n", f"For {called}:\n", f"Packing list {name}\n", "# Buy\n", f"What we need for {called}\n")))
    mark, turned = choose(("- ", "* ", "", "[ ] ", "- [ ] ", "• ")), R() < .4
    for x in random.sample(v.ITEMS, ri(3, 9)):
        page.put(mark)
        q = v.quantity() if x in v.ITEMS[:27] else number_word()
        if turned:
            page.put(x + choose((": ", " (", " x", " - ")))
            place = page.value(q)
            page.put("\n")
        else:
            place = page.value(q)
            page.put(" " + x + choose(("", "", " (" + choose(v.COLOURS) + ")")) + "\n")
        page.facts.append(Fact(place, [f"how many {x} do we need", f"how much {x}", f"how many {x}", f"{x} how many", f"amount of {x}", f"{x}"], x))


def number_word():
    return str(ri(2, 40)) if R() < .7 else choose("two three four five six ten twelve".split())

"""Notes, letters, minutes, manuals and articles from scenes/*.txt: sentences with several values, and what people ask about them.

A scene begins with a line "= titles". A line of text (alternatives between " / ") holds slots {name:kind}, and marks <name|…> around
answers that are more than a slot (alternatives between "|"); below it stand lines "name? question; question", and "-? …" for what it does not answer.
A line "name~ question" is for what another wording may answer in another way: it is asked where the mark stands, and nowhere else.

The scenes of contrast-*.txt say something of one person or thing and ask for it of two: their alternatives differ in what they say, each
without a mark for what only another says."""
import glob
import os
import random
import re

from . import attributes as at, values as v
from .layouts import Fact, cap

choose, ri, R = random.choice, random.randint, random.random
CONTRAST = 5  # how many times as often as another scene one of contrast-*.txt is drawn
WOMEN = "Ingrid,Grace,Pauline,Hilda,Marta,Agnes,Edith,Sofia,Nora,Clara,Ruth,Joan,Vera,Lotte,Esther,Maud,Judith,Amina,Leila,Zsófia,Birgit,Ana,Katya,Meera,Yoko,Ragnhild,Dorothy,Ines,Rosa,Thea".split(",")
MEN = "Samuel,Keith,Jon,Anton,Robert,Hugo,Walter,Emil,Tomas,Edgar,Ivan,Felix,Ravi,Stefan,Arthur,Gustav,Pedro,Malik,Kenji,Olav,Bernard,Cyril,Frank,Leo,Martin,Nils,Oscar,Paul,Simon,Victor".split(",")
DISHES = "lentil stew,plum tart,onion soup,carrot cake,potato pancakes,rye bread,fish pie,apple crumble,bean salad,cheese scones,pumpkin curry,walnut biscuits,leek quiche,rice pudding".split(",")
PLANTS = "leeks,beans,tomatoes,carrots,sweet peas,courgettes,radishes,onions,tulips,strawberries,beetroots,pumpkins,sunflowers,lettuces,cabbages,peppers".split(",")
EVENTS = "wedding,jubilee,harvest festival,golden anniversary,office party,housewarming,graduation,christening,reunion,street party,quiz night,farewell".split(",")
SUBJECTS = "maths,French,physics,art,history,music,biology,sports,chemistry,geography".split(",")
FOOD = "tomato,pumpkin,mushroom,lentil,onion,pea,carrot,leek,potato,bean".split(",")
RAW = "flour,sugar,butter,milk,rice,lentils,onions,garlic,tomatoes,basil,paprika,salt,yeast,honey,cream,cheese,oats,almonds,raisins,apples,lemons,potatoes,carrots,leeks,parsley,vinegar,cinnamon,ginger".split(",")


def many(unit, *counts):
    return lambda: (str(choose(counts)()) if R() < .85 else choose(("two", "three", "five", "ten", "six"))) + unit


def decimal(n, unit):
    return choose(("%d" % n, "%d,%d" % (n, ri(1, 9)), "%d.%d" % (n, ri(1, 9)))) + unit


KINDS = {
    "she": lambda: choose(WOMEN), "he": lambda: choose(MEN), "woman": lambda: choose(WOMEN) + " " + v.last(), "man": lambda: choose(MEN) + " " + v.last(),
    "invented": lambda: v.invented(ri(2, 3)), "word": v.noun, "small": lambda: choose((str(ri(2, 12)), choose("two three four five six seven eight".split()))),
    "smaller": lambda: str(ri(2, 9)), "weekday": lambda: choose(v.WEEK), "month": lambda: choose(v.MONTH), "town": lambda: choose(v.TOWNS) if R() < .7 else v.invented(),
    "minutes": lambda: choose((f"{ri(2, 90)} minutes", f"{5 * ri(1, 12)} min", f"{ri(2, 50)} minutes", "half an hour", "an hour")), "seconds": lambda: f"{ri(2, 60)} " + choose(("seconds", "s", "sec")),
    "hotel": lambda: choose(("", "", "Hotel ", "Gasthof ", "Zum ", "The ")) + choose((v.invented(2), v.last(), choose("Anchor,Lion,Swan,Crown,Linden,Bellevue,Stern,Three Keys,Old Mill".split(",")))),
    "item": lambda: choose(v.ITEMS), "plural": lambda: choose([x for x in v.ITEMS if x.endswith("s")]), "food": lambda: choose(RAW), "fish": lambda: choose(FOOD),
    "ml": lambda: choose((f"{50 * ri(1, 20)} ml", "1 litre", "1,5 l", f"{ri(1, 9)}00 ml", "half a litre", f"{ri(1, 4)} cups")), "years": lambda: choose((f"{ri(2, 12)} years", "two years", "three years", "24 months")),
    "months": lambda: choose((f"{ri(2, 24)} months", "three months", "fourteen months", "half a year")), "weeks": lambda: choose((f"{ri(2, 12)} weeks", "four weeks", "two weeks", "a fortnight")),
    "days": lambda: choose((f"{ri(2, 30)} days", "three days", "two days", "a week", f"{ri(2, 9)} days")), "hours": lambda: choose((f"{ri(2, 72)} hours", f"{ri(2, 12)} h", "two hours", "overnight")),
    "kg": lambda: decimal(ri(2, 90), choose((" kg", "kg", " kilos"))), "cm": lambda: decimal(ri(5, 200), " cm"), "watts": lambda: f"{50 * ri(1, 50)} " + choose(("W", "watts")),
    "metres": lambda: decimal(ri(1, 900), choose((" m", " metres"))), "sqm": lambda: decimal(ri(20, 180), choose((" m²", " square metres", " sqm"))), "bar": lambda: decimal(ri(1, 4), " bar"),
    "km": lambda: choose((f"{ri(12, 250)} 000 km", f"{ri(12, 250)}.000 km", f"{ri(12, 250)},000 km", f"{ri(12000, 250000)}")), "kmd": lambda: choose((f"{ri(3, 30)} km", f"{ri(3, 30)} kilometres", decimal(ri(3, 30), " km"))),
    "kwh": lambda: f"{ri(20, 900)} kWh", "percent": lambda: f"{ri(2, 90)}" + choose((" %", "%", " percent", " per cent")), "degrees": lambda: f"{10 * ri(14, 25)}" + choose((" °C", "°C", " degrees", "°")),
    "fever": lambda: f"{ri(36, 40)}" + choose((".", ",")) + f"{ri(0, 9)}" + choose((" °C", "°", "")), "million": lambda: choose((f"{ri(2, 90)} million euros", f"{ri(1, 9)}.{ri(1, 9)} million €", f"€{ri(2, 90)}m", f"{ri(100, 900)},000 €")),
    "thousands": lambda: choose((f"{ri(2, 900)},{ri(100, 999)}", f"{ri(2, 900)}.{ri(100, 999)}", f"{ri(2, 900)} {ri(100, 999)}", f"{ri(2, 90)}00")),
    "firm": lambda: choose((v.invented(ri(2, 3)), v.last(), v.last() + " & " + v.last(), v.last() + choose((" & Sons", " GmbH", " Ltd", " & Co.", " SARL")), v.invented() + " " + v.noun().capitalize(), choose("Haus,Studio,Casa,Atelier".split(",")) + " " + v.last())),
    "ext": lambda: str(ri(10, 999)), "dish": lambda: choose(DISHES), "envvar": lambda: v.invented().upper() + "_" + choose("OFFLINE,CACHE,MODE,DEBUG,HOME,LEVEL".split(",")) + choose(("", "=1", "=0", "=off")),
    "flight": lambda: choose("ABCEKLSTW") + choose("ABFKLNSW") + choose((" ", "")) + str(ri(100, 9999)), "tablet": lambda: v.invented(ri(2, 3)) + choose(("", "", " " + str(5 * ri(1, 40)))), "dose": lambda: choose((decimal(ri(1, 9), " mg"), f"{5 * ri(1, 80)} mg", f"{ri(2, 40)} drops", "half a tablet", "one tablet", f"{ri(2, 20)} ml")),
    "doctor": lambda: choose(("Dr. ", "Dr ", "Prof. ", "Dr. ", "")) + choose((v.last(), v.first() + " " + v.last())), "plate": lambda: choose("ABDFHKMS") + choose(("-", " ")) + choose("ABCXYZ") + choose("KLMNP") + " " + str(ri(10, 9999)),
    "class": lambda: f"{ri(1, 10)}{choose('abc')}", "subject": lambda: choose(SUBJECTS), "plant": lambda: choose(PLANTS), "plot": lambda: str(ri(1, 60)), "event": lambda: choose(EVENTS), "project": lambda: choose((v.invented(), v.noun() + " " + v.noun(), "new " + v.noun())),
    "iban": lambda: choose(("DE", "FR", "ES", "PL", "AT", "CH")) + f"{ri(10, 99)} {ri(1000, 9999)} {ri(1000, 9999)} {ri(1000, 9999)} {ri(1000, 9999)}" + choose(("", f" {ri(10, 99)}")), "host": lambda: choose((v.invented().lower() + f"{ri(1, 20):02d}", v.invented().lower() + "." + v.invented().lower() + ".net", f"{ri(10, 192)}.{ri(0, 255)}.{ri(0, 255)}.{ri(1, 254)}")),
    "title": lambda: choose(("The " + v.noun() + " of " + v.invented(), cap(v.noun()) + " and " + v.noun(), "Letters to " + v.first(), v.noun().capitalize() + "s")),
    "paint": lambda: cap(choose(v.COLOURS)) + " " + v.noun().capitalize() + choose(("", " " + str(ri(1, 40)))), "port": lambda: str(ri(80, 9999)), "role": lambda: choose(at.ROLES),
    "cents": lambda: choose((f"{ri(8, 60)} cents", f"{ri(8, 60)},{ri(1, 9)} ct", f"{ri(8, 60)}.{ri(1, 9)} ct", f"0,{ri(10, 60)} €", f"{ri(8, 60)}p")),
    "decimalprice": lambda: "%d%s%02d" % (ri(1, 400), choose(",."), ri(0, 99)) + choose(("", "", " €")), "kmshort": lambda: choose((f"{ri(12, 250)} {ri(100, 999)}", f"{ri(12, 250)}.{ri(100, 999)}", f"{ri(12000, 250000)}")),
    "hours2": lambda: v.hours() if R() < .5 else choose(v.WEEK)[:3] + "–" + choose(v.WEEK)[:3] + " " + str(ri(7, 11)) + "–" + str(ri(14, 20)),
    "login": lambda: v.first().lower().split("-")[0] + choose(("", str(ri(1, 99)), "." + v.invented().lower())),
}


def drawn(kind):
    if "|" in kind:
        return choose(kind.split("|"))
    return KINDS[kind]() if kind in KINDS else getattr(v, kind)()


NAMES = ("first", "last", "person", "she", "he", "woman", "man", "doctor", "town", "invented", "firm", "weekday", "month", "year")


def fresh(kind, taken):
    """A value of a kind; a name that shares no word with those taken, as long as there is one."""
    for _ in range(20):
        x = drawn(kind)
        if kind not in NAMES or not set(x.split()) & taken:
            break
    return x


MARK = re.compile(r"<(\w+)\|((?:[^<>{}]|\{[^}]*\})*)>")
ALTERNATIVE = re.compile(r"((?:[^|{}]|\{[^}]*\})+)")
SLOT = re.compile(r"\{(\w+)(?::([^}]*))?\}")
PART = re.compile(r"\{\w+(?::[^}]*)?\}|<\w+\||>")


class Frame:
    """Texts that say the same, and the questions about each of their slots; none: what they do not answer."""

    def __init__(self, line):
        self.texts, self.asks, self.loose, self.none = line.replace("\\n", "\n").split(" / "), {}, set(), []

    def ask(self, name, questions, loose=False):
        if name == "-":
            self.none += questions
        else:
            self.asks[name] = questions
            if loose:
                self.loose.add(name)

    def strict(self):
        """The questions that only their own marks answer."""
        return [q for name, q in self.asks.items() if name not in self.loose]

    def asked(self):
        """Some of the questions that the texts answer."""
        return choose(self.strict())[:2] if self.strict() and R() < .4 else []


class Scene:
    def __init__(self, titles, contrast=False):
        self.titles, self.frames, self.contrast = titles.split("; "), [], contrast
        self.kinds = dict(x for t in self.titles for x in SLOT.findall(t) if x[1])

    def shared(self):
        """The values of the titles' slots."""
        out = {}
        for name, kind in self.kinds.items():
            out[name] = fresh(kind, words_of(out))
        return out

    def values(self, frame, shared, taken=frozenset()):
        """The values of a frame's slots, a name that the titles have too being shared unless its kind is another; taken: the words of other frames' values."""
        out = dict(shared)
        for text in frame.texts:
            for name, kind in SLOT.findall(text):
                if kind and (name not in out or (name in shared and self.kinds[name] != kind and out[name] is shared[name])):
                    out[name] = fresh(kind, taken | words_of(out))
        return out


def words_of(values):
    return {w for x in values.values() for w in x.split()}


def load(pattern=os.path.join(os.path.dirname(__file__), "scenes", "*.txt")):
    out = []
    for path, line in ((path, x) for path in sorted(glob.glob(pattern)) for x in open(path, encoding="utf-8").read().split("\n")):
        q = re.match(r"(\w+|-)([?~]) (.*)", line)
        if line.startswith("= "):
            out.append(Scene(line[2:], os.path.basename(path).startswith("contrast")))
        elif q and out[-1].frames:
            out[-1].frames[-1].ask(q[1], q[3].split("; "), q[2] == "~")
        elif line:
            out[-1].frames.append(Frame(line))
    return out


def write(page, text, values):
    """Write a text's slots and marks into a page -> {name: [place]}."""
    places, opened, last = {}, [], 0
    text = MARK.sub(lambda m: "<%s|%s>" % (m[1], choose(ALTERNATIVE.findall(m[2]))), text)
    for m in PART.finditer(text):
        page.put(text[last:m.start()])
        last = m.end()
        t = m.group()
        if t == ">" and not opened:  # what an e-mail quotes
            page.put(t)
        elif t == ">":
            name, begin = opened.pop()
            places.setdefault(name, []).append((begin, len(page.text)))
        elif t[0] == "<":
            opened.append((t[1:-1], len(page.text)))
        else:
            name = SLOT.match(t)[1]
            places.setdefault(name, []).append(page.value(values[name]))
    page.put(text[last:])
    return places


def filled(question, values):
    """A question with values in place of slots; people often go by their first names."""
    def value(m):
        x = values.get(m[1], m[1])
        parts = x.split(" ")
        return parts[0] if len(parts) == 2 and all(p[:1].isupper() and p.isalpha() and len(p) > 2 for p in parts) and R() < .3 else x
    return SLOT.sub(value, question)


def elsewhere(question, values, text):
    """The question about another person, place or thing than the text has; None if it names none."""
    slots = [m[1] for m in SLOT.finditer(question) if m[1] in values and values[m[1]] in text]
    if not slots:
        return None
    name = choose(slots)
    other = choose((v.first, v.person, v.noun, v.invented, lambda: choose(v.TOWNS), lambda: choose(v.ITEMS)))()
    if any(w in text.lower() for w in other.lower().split()):
        return None
    return filled(question, {**values, name: other})


ALL = load()
WEIGHTS = [CONTRAST if s.contrast else 1 for s in ALL]


def scene(page):
    """Some frames of a scene, as sentences, paragraphs or lines; page.none gets what it does not answer."""
    s = random.choices(ALL, WEIGHTS)[0]
    frames = at.split_by(s.frames, lambda f: f.texts[0])
    shared, taken = s.shared(), set()
    page.contrast |= s.contrast
    chosen = random.sample(frames, min(len(frames), ri(1, 5)))
    if R() < .6:
        chosen.sort(key=s.frames.index)
    title = cap(SLOT.sub(lambda m: shared[m[1]], choose(s.titles)))
    if page.text:  # below another text: a heading, so that "she" stays who it is
        page.put(title + "\n")
    else:
        page.title = title
    start = len(page.text)
    lines = R() < .5
    mark = choose(("- ", "- ", "* ", "", "", "• ")) if lines else ""
    between = "\n" if lines else choose((" ", " ", "\n", "\n\n"))
    for f in chosen:
        values = s.values(f, shared, taken)
        taken |= words_of(values)
        text = choose(f.texts) if lines or s.contrast or R() < .25 else f.texts[0]
        if len(page.text) > start:
            page.put(between)
        page.put(mark)
        begin = len(page.text)
        places = write(page, text, values)
        if not lines or R() < .5:
            page.text = page.text[:begin] + cap(page.text[begin:])
        if not lines and page.text[-1] not in ".!?\"":
            page.put(".")
        for name, asks in f.asks.items():
            if name in places and (name not in f.loose or R() < .4):
                page.facts.append(Fact(places[name], [filled(q, values) for q in asks]))
            elif name not in places and name not in f.loose and (len(f.texts) == 1 or s.contrast or R() < .3):
                page.none += [filled(q, values) for q in asks]
        page.none += [filled(q, values) for q in f.none]
        page.none += [q for q in (elsewhere(q, values, page.text) for q in f.asked()) if q]
    for f in s.frames:
        if f not in chosen:
            page.none += [filled(q, s.values(f, shared)) for q in choose(f.strict() or [[]])]

"""Invented names and typed values.

Training and evaluation never share a proper name, nor the full name of an entity ('the lake cabin'): every name is hashed, one in eight
belongs to the evaluation, and a Source draws only from its own part (see Source.belongs).
"""
import random
import re
import zlib

PRACTICE = 2.5  # training meets rare wordings and nouns this many times as often: each is one of many and has to be learnt
EVAL_SHARE = 8  # one name in EVAL_SHARE is kept for the evaluation

ONSETS = ("b br c ch cl d dr f fl g gr h j k kr l m n p pl qu r s sh sk st t th tr v w z".split() + [""])
NUCLEI = "a e i o u a e i o u ai ea ei ia io oo ou y".split()
CODAS = ["", "", ""] + "l n r s t m nd rk x th ck sh ng v d".split()
FIRST_PARTS = ("Alder Ash Beck Birch Brack Brook Cald Carl Cold Dun East Elm Fair Fern Fox Glen Gold Grim Hal Hart Hazel "
               "Hol Kel Kings Lang Lark Lin Mar Mill Moor Nor Oak Pem Quill Ravens Red Rook Sal Sand Shel Stan Stone "
               "Sutter Thorn Tar Up Vel Wal Wex White Wil Win Wood Wren York").split()
LAST_PARTS = ("by ton well ford wick ley man sen ham stead field worth bury den ridge mere more holm gate land son ski "
              "er ett ing row dale cott shaw combe").split()
GIVEN = ("Ada Adam Agnes Aisha Alan Albert Alice Amara Amy Anders Andrea Anna Anton Arjun Arthur Astrid Aya Beatrice Ben "
         "Bianca Boris Bruno Carla Carlos Cecilia Chen Chloe Clara Conrad Dana Daniel David Diego Dina Dora Edgar Edith "
         "Elena Elias Ella Emil Emma Enzo Erik Esther Eva Farid Fatima Felix Fiona Frank Freya Gabriel George Gloria Grace "
         "Greta Gus Hana Hans Harriet Hassan Helen Henry Hugo Ida Igor Ines Ingrid Irene Iris Isaac Ivan Jack Jana Jasper "
         "Joan Joel Jonas Judith Julia Kai Karen Karim Kate Keiko Lars Laura Lena Leo Liam Lina Louis Lucia Lukas Lydia "
         "Magnus Maja Malik Marco Marek Maria Marta Martin Matteo Maya Mei Mia Miguel Milo Mina Miriam Nadia Naomi Nils "
         "Nina Noah Nora Oleg Olga Oliver Omar Oscar Otto Paola Paul Pedro Petra Pia Priya Rachel Rafael Ravi Rita Robert "
         "Rosa Ruth Sabine Sam Samir Sara Selma Simon Sofia Stefan Sven Tara Theo Tilda Tim Tina Tomas Uma Ursula Vera "
         "Victor Viola Walter Wanda Wendy Yara Yusuf Zara Zoe").split()
ADJECTIVES = ("silent golden broken hidden last first dark bright lost iron paper frozen wild little old secret empty "
              "burning crystal distant blue red quiet crooked green salt copper").split()
NOUNS = ("garden river tower lantern mirror forest bridge storm harbour engine shadow mountain island clock letter crown "
         "winter kingdom fox owl anchor compass rocket rope kettle heron otter pebble willow lamp meadow").split()
COLOURS = ("red,blue,green,yellow,purple,orange,black,white,grey,pink,brown,turquoise,violet,silver,golden,beige,dark green,"
           "light blue,navy,cream,crimson,teal,pale yellow,dark red,ivory").split(",")
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
DISHES = ("apple pie,rye bread,fried rice,lentil soup,fish tacos,mushroom pie,lemon cake,noodles,grilled cheese,potato "
          "salad,dumplings,pancakes,tomato soup,roast duck,onion rings,chicken curry,plum cake,smoked trout,goat cheese,"
          "cheesecake,carrot cake,paella,lasagne,ramen,fish pie,bean stew,cinnamon rolls,apple strudel,pumpkin risotto,"
          "spinach quiche,ginger biscuits,beetroot soup,falafel,pea soup,leek tart,waffles,garlic prawns").split(",")
ALLERGENS = ("walnuts,peanuts,shrimp,milk,eggs,cat hair,pollen,wasp stings,strawberries,penicillin,soy,wheat,celery,"
             "mustard,hazelnuts,dust,latex,sesame,kiwi,aspirin,grass,bee stings,horses,shellfish,almonds").split(",")
CONTAINERS = ("drawer,box,cupboard,tin,shelf,cabinet,basket,bag,jar,chest,wardrobe,bucket,suitcase,crate,flower pot,"
              "folder,toolbox,bowl,locker,vase").split(",")
PLACES_IN = ("kitchen garage attic basement office hallway bedroom library workshop closet laundry lobby pantry shed "
             "cellar bathroom porch boathouse boiler_room tool_shed reception staff_room stairwell greenhouse").split()
PLACES_IN = [p.replace("_", " ") for p in PLACES_IN]
FURNITURE = ("doormat,stove,clock,sofa,sink,stairs,bench,door,mirror,fridge,window,fireplace,desk,counter,bookcase,"
             "water tank,woodpile,third step,rain barrel,gas meter,coat rack,bed,piano,loose brick,bird house").split(",")
JOBS = ("teacher nurse plumber engineer baker pilot lawyer painter farmer dentist librarian driver chef carpenter "
        "gardener journalist architect translator electrician tailor beekeeper surveyor").split()
HOBBIES = ("tennis chess swimming football hiking yoga cycling rowing karate sailing knitting photography climbing "
           "drawing pottery fencing astronomy birdwatching").split()
MATERIALS = ("oak steel cotton leather glass granite copper bamboo wool plastic silver marble pine rubber linen bronze "
             "slate brick aluminium walnut").split()
LANGUAGES = "German French Polish Arabic Hindi Spanish Dutch Turkish Swahili Korean Danish Greek Czech Welsh".split()
CUISINES = "Italian Mexican Thai Indian Greek French Japanese Turkish Korean Lebanese Spanish Peruvian".split()
STATES = "broken ready full empty locked open late cancelled sold missing new approved pending closed".split()
GENRES = "mystery romance fantasy horror comedy drama thriller adventure history poetry biography".split()
ANIMALS = "fox owl heron badger lynx otter raven salmon moose hare falcon beetle swan bear".split()
SYMPTOMS = "headache,nausea,tiredness,a dry mouth,dizziness,fever,a rash,coughing,thirst".split(",")
WEATHER = "sunny rainy windy cloudy foggy snowy dry stormy mild freezing".split()
INSTRUMENTS = "piano violin cello flute guitar trumpet drums clarinet harp accordion".split()
PLURALS = {d for d in DISHES + ALLERGENS if d.endswith("s")} - {"grass"}  # values that take "are"
NUMBER_WORDS = "two three four five six seven eight nine ten twelve fifteen twenty thirty".split()


class Source:
    """A random source for one part of the name space: training (held_out=False) or evaluation (True)."""

    def __init__(self, seed, held_out=False):
        self.rng = random.Random(seed)
        self.held_out = held_out

    def chance(self, p):
        return self.rng.random() < p

    def rare(self, p):
        """The probability of something rare: p in the evaluation, more in training."""
        return p if self.held_out else min(1, PRACTICE * p)

    def pick(self, items):
        return items[int(self.rng.random() * len(items))]

    def between(self, low, high):
        return low + int(self.rng.random() * (high - low + 1))

    def belongs(self, name):
        """True when this name (any case) is in this source's part of the name space."""
        return (zlib.crc32(name.lower().encode()) % EVAL_SHARE == 0) == self.held_out

    def own(self, draw):
        """Call draw() until its result belongs to this source."""
        while True:
            name = draw()
            if self.belongs(name):
                return name


def with_article(thing):
    """'an owl', 'a uniform', 'an LR44': the article follows the sound, letters and figures are spelt out."""
    if re.match(r"[A-Z]([A-Z\d]|\b)", thing):
        vowel = thing[0] in "AEFHILMNORSX"
    else:
        vowel = re.match(r"(?i)8|1[18]\b|(?!uni|use|eu|one\b|once\b)[aeiou]|hour|honest|heir", thing)
    return ("an " if vowel else "a ") + thing


def _letters(s):
    if s.chance(0.08):
        return "".join(s.pick("abcdefghijklmnopqrstuvwxyz") for _ in range(s.between(3, 8)))
    while True:
        w = "".join(s.pick(ONSETS) + s.pick(NUCLEI) + s.pick(CODAS) for _ in range(s.between(1, 3)))
        if 3 <= len(w) <= 11:
            return w


def word(s):
    """An invented lower-case word."""
    return s.own(lambda: _letters(s))


def name(s):
    """An invented capitalised name: random syllables, or an English-looking compound."""
    if s.chance(0.35):
        return s.own(lambda: s.pick(FIRST_PARTS) + s.pick(LAST_PARTS))
    return word(s).capitalize()


def given(s):
    return s.own(lambda: s.pick(GIVEN)) if s.chance(0.7) else name(s)


def person(s):
    x = s.rng.random()
    if x < 0.25:
        return given(s)
    if x < 0.70:
        return given(s) + " " + name(s)
    if x < 0.80:
        return name(s)
    return s.pick(["Dr.", "Mr.", "Mrs.", "Ms.", "Dr", "Professor", "Captain", "Father", "Aunt", "Sister"]) + " " + name(s)


def town(s):
    x = s.rng.random()
    if x < 0.7:
        return name(s)
    if x < 0.8:
        return name(s) + " " + s.pick("Bay Falls Hill Springs Valley Harbour Point Cross".split())
    if x < 0.9:
        return s.pick("Port Lake Fort New North Saint East Upper".split()) + " " + name(s)
    return word(s).capitalize() + s.pick("ville ton burg field ford stad".split())


def firm(s):
    x = s.rng.random()
    if x < 0.35:
        return name(s)
    if x < 0.8:
        return name(s) + " " + s.pick("Labs Group Works Systems Foods Motors Media Energy Partners Tech Press".split())
    return name(s) + " & " + s.pick(["Sons", "Daughters", name(s)])


def work_title(s):
    x = s.rng.random()
    if x < 0.3:
        return (s.pick(ADJECTIVES) + " " + s.pick(NOUNS)).title()
    if x < 0.5:
        return "The " + (s.pick(ADJECTIVES) + " " + s.pick(NOUNS)).title()
    if x < 0.7:
        return name(s) + " " + s.pick(NOUNS).title()
    if x < 0.85:
        return s.pick(NOUNS).title() + " and " + s.pick(NOUNS).title()
    return name(s)


def quoted(s):
    t = work_title(s)
    return '"%s"' % t if s.chance(0.4) else t


def clock(s):
    x = s.rng.random()
    if x < 0.75:
        return "%d:%02d" % (s.between(5, 23), s.pick((0, 15, 30, 45)) if s.chance(0.6) else s.pick(range(0, 60, 5)))
    if x < 0.87:
        return "%d:%02d %s" % (s.between(1, 12), s.pick((0, 15, 30, 45)), s.pick(["am", "pm"]))
    if x < 0.97:
        return "%d %s" % (s.between(1, 12), s.pick(["am", "pm"]))
    return s.pick(["noon", "midnight"])


def day(s):
    return s.pick(DAYS)


def days(s):
    return s.pick(DAYS) + "s" if s.chance(0.8) else s.pick(DAYS)


def date(s):
    x = s.rng.random()
    if x < 0.6:
        return "%d %s" % (s.between(1, 28), s.pick(MONTHS))
    if x < 0.85:
        return "%d %s %d" % (s.between(1, 28), s.pick(MONTHS), s.between(1950, 2035))
    return "%s %d" % (s.pick(MONTHS), s.between(1, 28))


def day_and_time(s):
    return "%s at %s" % (s.pick((day, days, date))(s), clock(s))


def year(s):
    return str(s.between(1350, 2035))


def count(s):
    return str(s.between(2, 30) if s.chance(0.4) else s.between(10, 990))


def small(s):
    return s.pick(NUMBER_WORDS) if s.chance(0.15) else str(s.between(1, 60))


def big(s):
    n = s.between(1, 999) * 10 ** s.between(0, 4)
    return "{:,}".format(n) if s.chance(0.7) else str(n)


def seats(s):
    n = str(s.between(4, 900))
    return n if s.chance(0.4) else n + " " + s.pick("people seats guests visitors".split())


def money(s):
    x = s.rng.random()
    if x < 0.45:
        return "%d euros" % (s.between(1, 60) if s.chance(0.6) else s.between(10, 900))
    if x < 0.6:
        return "%d.%02d euros" % (s.between(1, 60), s.pick((20, 50, 80, 90, 95)))
    if x < 0.75:
        return "%s%d" % (s.pick("$£€"), s.between(1, 400))
    if x < 0.85:
        return "%s%d.%02d" % (s.pick("$£€"), s.between(0, 90), s.between(0, 99))
    return "%d %s" % (s.between(2, 900), s.pick("dollars pounds crowns francs".split()))


def funds(s):
    n = s.between(2, 99) * s.pick((100, 500, 1000, 10000))
    return s.pick(["{:,} euros", "{:,} euros", "${:,}", "£{:,}", "{:,} dollars"]).format(n)


def phone(s):
    x = s.rng.random()
    if x < 0.5:
        return "%03d-%04d" % (s.between(0, 999), s.between(0, 9999))
    if x < 0.8:
        return "%03d %03d %03d" % (s.between(0, 999), s.between(0, 999), s.between(0, 999))
    return "+%d %d" % (s.between(1, 99), s.between(10 ** 5, 10 ** 8))


def code(s):
    x = s.rng.random()
    if x < 0.22:
        return "".join(s.pick("0123456789") for _ in range(s.between(3, 6)))
    if x < 0.42:
        return "".join(s.pick("ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(s.between(1, 3))) + s.pick(["-", "", " "]) + str(
            s.between(1, 9999))
    if x < 0.72:
        return word(s) + "-" + str(s.between(1, 9999))
    if x < 0.78:
        return word(s) + str(s.between(1, 999))
    if x < 0.90:
        return s.pick((word(s), s.pick(NOUNS))) + "-" + s.pick((word(s), s.pick(NOUNS))) + s.pick(
            ["", "-" + str(s.between(1, 99))])
    return "".join(s.pick("ABCDEFGHJKMNPQRSTabcdefghkmnpqrst23456789") for _ in range(s.between(5, 9)))


def digits(s):
    return "".join(s.pick("0123456789") for _ in range(s.between(3, 5)))


def serial(s):
    return "".join(s.pick("ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(s.between(1, 3))) + s.pick(["-", "", " "]) + str(
        s.between(10, 99999))


def email(s):
    who = s.pick((given(s).lower(), "info", "desk", "hello", "office", word(s)))
    return who + "@" + word(s) + s.pick([".com", ".org", ".net", ".io"])


def website(s):
    return word(s) + s.pick(["", "-" + word(s)]) + s.pick([".com", ".org", ".net", ".io", ".example"])


def street(s):
    return "%d %s %s" % (s.between(1, 200), s.pick((name(s), s.pick(NOUNS).title(), s.pick(FIRST_PARTS))),
                         s.pick("Street Road Avenue Lane Square Close Quay".split()))


def colour(s):
    return s.pick(COLOURS)


def dish(s):
    return s.pick(DISHES) if s.chance(0.75) else word(s) + " " + s.pick("soup bread cake stew tea cheese salad".split())


def inside(s):
    """A location phrase with its preposition: 'in the blue tin'."""
    x = s.rng.random()
    if x < 0.25:
        return "in the " + s.pick(PLACES_IN)
    if x < 0.45:
        return "in the " + s.pick((s.pick(COLOURS), s.pick(PLACES_IN), "top", "left", "bottom")) + " " + s.pick(CONTAINERS)
    if x < 0.75:
        return s.pick(["under", "behind", "next to", "above", "beside", "on top of"]) + " the " + s.pick(FURNITURE)
    if x < 0.87:
        return "in the %s %s the %s" % (s.pick(CONTAINERS), s.pick(["in", "behind", "under", "next to"]),
                                        s.pick((s.pick(PLACES_IN), s.pick(FURNITURE))))
    if x < 0.94:
        return "on the %s %s" % (s.pick(["top", "second", "lower", "left", "back"]), s.pick(["shelf", "hook", "landing"]))
    return "with " + person(s)


def place_name(s):
    return s.pick((room(s), "the " + s.pick(PLACES_IN), "the %s %s" % (name(s), s.pick("Hall Room Inn Centre Park".split())),
                   "the town hall", "the school gym", "the old mill", town(s)))


def room(s):
    return s.pick(["room ", "room ", "Room ", "hall ", "studio "]) + (s.pick("ABCDEFG") if s.chance(0.25) else "") + str(
        s.between(1, 499))


def measure(low, high, *units):
    return lambda s: ("%d %s" if s.chance(0.8) else "%d.5 %s") % (s.between(low, high), s.pick(units))


def duration(s):
    x = s.rng.random()
    if x < 0.5:
        return "%d minutes" % s.pick(range(5, 100, 5))
    return "%s %s" % (small(s) if s.chance(0.3) else s.between(2, 24), s.pick("hours days weeks months years".split()))


def degrees(s):
    return "%d degrees" % (s.between(2, 26) * 10 if s.chance(0.7) else s.between(-20, 99))


def model_name(s):
    return name(s) + " " + (serial(s) if s.chance(0.4) else str(s.between(1, 900)))


def team_name(s):
    return s.pick(["the %s Tigers", "the %s Hawks", "the %s Bears", "the %s Rovers", "%s United", "%s City"]) % name(s)


def dose(s):
    return "%d %s" % (s.pick((5, 10, 15, 20, 25, 50, 75, 100, 250, 500)), s.pick("mg ml drops".split()))


def often(s):
    return s.pick(["once a day", "twice a day", "every morning", "every evening", "three times a day", "before bed",
                   "with breakfast", "every six hours", "every second day", "after lunch", "at noon", "every Sunday"])


def version(s):
    return ".".join(str(s.between(0, 20)) for _ in range(s.between(2, 3)))


def one_of(items):
    return lambda s: s.pick(items)


def suffixed(*endings):
    return lambda s: name(s) + " " + s.pick(endings)


#: value kinds by the name that attributes.py uses
VALUES = {
    "code": code, "digits": digits, "serial": serial, "name": name, "person": person, "town": town, "firm": firm,
    "work": quoted, "time": clock, "day": day, "days": days, "date": date, "daytime": day_and_time, "year": year,
    "count": count, "small": small, "big": big, "seats": seats, "money": money, "funds": funds, "phone": phone,
    "email": email, "website": website, "street": street, "colour": colour, "dish": dish, "inside": inside,
    "venue": place_name, "room": room, "duration": duration, "degrees": degrees, "model": model_name, "team": team_name,
    "dose": dose, "often": often, "version": version, "word": word,
    "length": measure(2, 900, "metres", "cm", "km", "m"), "height": measure(2, 4000, "metres", "m", "cm", "feet"),
    "weight": measure(1, 900, "kg", "grams", "pounds", "tonnes"), "area": measure(2, 900, "hectares", "square metres"),
    "speed": measure(5, 400, "km/h", "knots"), "pressure": measure(1, 9, "bar"), "volume": measure(1, 900, "litres"),
    "age": lambda s: "%d years" % s.between(1, 99), "allergen": one_of(ALLERGENS), "job": one_of(JOBS),
    "hobby": one_of(HOBBIES), "material": one_of(MATERIALS), "language": one_of(LANGUAGES), "cuisine": one_of(CUISINES),
    "state": one_of(STATES), "genre": one_of(GENRES), "animal": one_of(ANIMALS), "symptom": one_of(SYMPTOMS),
    "weather": one_of(WEATHER), "instrument": one_of(INSTRUMENTS), "school": suffixed("School", "College", "Academy"),
    "hotel": suffixed("Inn", "Hotel", "Lodge"), "sea": lambda s: s.pick(["the %s Sea", "Lake %s"]) % name(s),
    "stadium": suffixed("Arena", "Park", "Stadium"), "station": lambda s: name(s) + s.pick([" Square", " Street", "", " Station"]),
    "user": lambda s: word(s) + str(s.between(0, 99)), "seat": lambda s: "%d%s" % (s.between(1, 60), s.pick("ABCDEF")),
    "rating": lambda s: "%d.%d stars" % (s.between(1, 4), s.between(0, 9)), "address4": lambda s: ".".join(
        str(s.between(1, 254)) for _ in range(4)), "port": lambda s: str(s.between(20, 65000)),
    "battery": lambda s: s.pick(["AA", "AAA", "CR2032", "9V", "CR2450", "LR44"]) if s.chance(0.7) else serial(s),
    "shoe": lambda s: str(s.between(34, 48)), "gate": lambda s: s.pick("ABCDEF") + str(s.between(1, 40)),
    "number": lambda s: str(s.between(1, 40)),
}

"""Values and names for the generator: times, prices, dates, amounts, people, places, codes, in the forms that people write."""
import random
import re

R = random.random
choose = random.choice
ri = random.randint

FIRST = """Anna Ben Carla David Emma Felix Grace Henry Ines Jack Karen Liam Maria Noah Olga Peter Quentin Rosa Sam Tina Ursula Victor Wendy Xavier Yusuf Zoe
Jürgen Björn Søren Zoë Chloé François Renée Élodie Andrés José María Íñigo Lucía Joaquín Łukasz Michał Agnieszka Tomáš Jiří Zdeněk Mihály Ágnes Ömer Şeyma
Åsa Håkon Ingrid Lars Nils Sigrid Ewa Piotr Milan Dragan Ivana Luka Marko Nikola Sanja Aisha Omar Fatima Khaled Layla Priya Rahul Sunita Vikram Mei Wei
Haruto Yuki Sora Min-jun Ji-woo Thu Linh Chidi Amara Kwame Abena Thandi Sipho Diego Camila Mateo Valentina Bruno Giulia Luca Chiara Matteo Paolo Elena Dmitri
Oksana Taras Irina Günther Heike Uwe Käthe Jörg Beate Anneliese Margot Colette Benoît Thérèse Gaëlle Pilar Begoña Nuño Raúl""".split()
LAST = """Smith Jones Taylor Brown Wilson Evans Walker Wright Hughes Green Baker Turner Cooper Ward Morris Clark Kelly Murphy O'Brien O'Neill Fraser MacLeod
Müller Schmidt Schröder Weiß Köhler Krüger Böhm Vogel Keller Bauer Lefèvre Dubois Moreau Girard Fournier Besançon García López Martínez Núñez Ibáñez Peña
Rossi Bianchi Conti Moretti Kowalski Wójcik Nowak Dvořák Novák Horváth Szabó Kovács Popescu Ionescu Petrov Ivanova Shevchenko Papadopoulos Yılmaz Çelik
Hansen Sørensen Lindqvist Åkerlund Virtanen Korhonen Ahmed Hassan Khan Patel Sharma Singh Gupta Chen Wang Li Zhang Tanaka Suzuki Sato Kim Park Nguyen Tran
Okafor Adeyemi Mensah Dlamini Silva Souza Pereira Almeida van-Dijk de-Vries Janssen Peeters Haugen Berg Dahl Jansson Lund""".split()
TOWNS = """Lyon Görlitz Málaga Tromsø Kraków Porto Bergen Graz Leeds Cork Galway Dundee Ghent Brno Split Bremen Kassel Nancy Dijon Cádiz Girona Turin Parma
Aarhus Turku Tartu Riga Izmir Haifa Pune Kochi Osaka Nagoya Busan Hanoi Cebu Accra Lagos Nairobi Durban Quito Lima Rosario Toledo Boise Akron Tulsa Fresno
Halifax Regina Perth Hobart Nelson Zürich Neuchâtel Münster Łódź""".split()
STREETS = """Harbour Mill Station Church Oak Elm Garden Castle Bridge High King Queen Victoria Park River Hill School Market North South Linden Rose Maple""".split()
SYLLABLES = "ka lo mi ren tor va bel dun sha pri ost wen gar lin mo fal qui zed har nor tam bry cor el ash ith ul ven dra pel mar sol kin tas ber fen".split()
WEEK = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTH = "January February March April May June July August September October November December".split()
COLOURS = "red blue green yellow black white grey brown orange purple silver dark-green".split()
ITEMS = """flour sugar butter eggs milk rice lentils onions garlic tomatoes basil paprika salt yeast honey cream cheese oats almonds raisins apples lemons potatoes
carrots leeks screws nails bolts paint brushes candles batteries envelopes stamps folders chairs tables lamps cables fuses filters towels blankets buckets ropes
gloves helmets tents mugs plates forks spoons napkins balloons posters printers monitors keyboards laptops routers toner paper""".split()
TASKS = """book the hall;order new chairs;fix the gutter;call the insurer;send the invoice;update the website;print the posters;check the boiler;collect the keys;
write the report;clean the filter;paint the fence;renew the licence;translate the leaflet;hire a van;draft the budget;test the backup;water the plants;
return the books;invite the speakers;measure the windows;repair the pump;review the contract;count the stock;publish the minutes;ask the council for a permit;
replace the lock;move the server;prepare the slides;find a caterer;pay the deposit;file the tax form;label the boxes;install the sensor""".replace("\n", "").split(";")
SPOTS = """under the blue pot;in the top drawer;next to the fuse box;behind the red door;on the second floor;in the cellar;at the reception;in the garage;
above the sink;on the shelf by the window;in the glove compartment;at the neighbour's;in the yellow folder;beside the back entrance;in room 12;under the stairs;
in the kitchen cupboard;opposite the town hall;behind the station;on the noticeboard;in the attic;by the north gate;in the tool shed;in the shared drive""".replace("\n", "").split(";")
REASONS = """the roof leaks;the supplier raised prices;too few people signed up;the pipes froze;the old one broke;the road is closed;the permit is missing;
of the storm;the heating failed;the speaker fell ill;the lift is out of order;the budget was cut;of the holidays;the delivery is late;it was too loud;
of a water leak;the lease ends;nobody had the key;the kitchen is being renovated;of staff shortage""".replace("\n", "").split(";")

drawn = {"names": [], "nouns": [], "sentences": []}  # from the prose at hand: see learn


def learn(documents, known, many=3000):
    """Take names, nouns and sentences from prose."""
    r = random.Random(7)
    names, sentences = set(), []
    for _, text in r.sample(documents, min(many, len(documents))):
        names.update(re.findall(r"(?<=[a-z] )[A-Z][a-z]{2,12} [A-Z][a-z]{2,12}(?= )", text[:6000]))
        s = [x.strip() for x in re.split(r"(?<=[.!?])\s+(?=[A-Z])", text[:4000]) if 40 < len(x) < 200 and "\n" not in x]
        sentences += r.sample(s, min(4, len(s)))
    drawn["names"], drawn["sentences"] = sorted(names), sentences
    drawn["nouns"] = [w for w in known[400:9000] if w.isalpha() and w.isascii() and 3 < len(w) < 11 and not w.endswith(("ed", "ing", "ly", "s"))]


def invented(k=2):
    return "".join(choose(SYLLABLES) for _ in range(k)).capitalize()


def first():
    return choose(FIRST) if R() < .8 else invented(ri(1, 3))


def last():
    return choose(LAST).replace("-", " ") if R() < .75 else invented(ri(2, 3))


def person():
    r = R()
    if r < .12 and drawn["names"]:
        return choose(drawn["names"])
    if r < .2:
        return choose(("Mr ", "Mrs ", "Ms ", "Dr ", "Dr. ", "Prof. ", "Mrs. ", "Mr. ", "Frau ", "Herr ", "Señora ", "M. ")) + last()
    if r < .27:
        return first()
    if r < .32:
        return choose("ABCDEFGHJKLMNPRST") + ". " + last()
    return first() + " " + last()


def noun():
    return choose(drawn["nouns"]) if drawn["nouns"] and R() < .5 else choose(
        "cabin office shed house room bakery library clinic gate greenhouse rack kitchen attic garage piano van hall pool museum boiler printer garden café school".split())


def time():
    h, m = ri(6, 22), choose((0, 0, 0, 15, 30, 30, 45, ri(0, 59), 5 * ri(0, 11)))
    r = R()
    if r < .5:
        return "%d:%02d" % (h, m)
    if r < .62:
        return "%02d:%02d" % (h, m)
    if r < .8:
        s = choose(("am", "pm", " am", " pm", " a.m.", " p.m.", "pm", " PM"))
        return ("%d%s" % ((h - 1) % 12 + 1, s)) if m == 0 else "%d:%02d%s" % ((h - 1) % 12 + 1, m, s)
    if r < .88:
        return "%d.%02d" % (h, m) + choose(("", " Uhr", " h"))
    return choose(("noon", "midnight", "half past %d" % ri(1, 12), "%dh%02d" % (h, m), "%d o'clock" % ri(1, 12), "quarter to %d" % ri(1, 12), "%d Uhr" % h))


def hours():
    return choose(("{a} to {b}", "{a}-{b}", "{a} – {b}", "{a}–{b}", "from {a} to {b}", "{a} until {b}", "{a} - {b}")).format(a=time(), b=time())


def number():
    return str(choose((ri(2, 12), ri(2, 60), ri(10, 400), ri(100, 5000)))) if R() < .8 else choose("two three four five six seven eight nine ten eleven twelve twenty fifty".split())


def amount():
    n = choose((ri(1, 30), ri(10, 200), ri(100, 3000), ri(1000, 90000)))
    c = choose((0, 0, 50, 99, 95, ri(0, 99)))
    eu, r = "%d,%02d" % (n, c), R()
    if n >= 1000:
        eu, en = "%d.%03d" % (n // 1000, n % 1000) + (",%02d" % c if R() < .4 else ""), "%d,%03d" % (n // 1000, n % 1000) + (".%02d" % c if R() < .4 else "")
    else:
        en = "%d.%02d" % (n, c) if R() < .6 else str(n)
    return en, eu, r


def price():
    en, eu, r = amount()
    if r < .3:
        return choose("$£€") + en
    if r < .45:
        return en + choose((" euros", " dollars", " USD", " EUR", " €", "€", " pounds", " CHF", " kr", " zł"))
    if r < .65:
        return eu + choose((" €", "€", " EUR", " Euro"))
    if r < .75:
        return choose(("CHF ", "EUR ", "USD ", "£", "US$ ", "Fr. ")) + en
    return choose(("$", "£", "€")) + en + choose(("", "", " per month", " a night", " per person", " each", "/month", " a head", " plus VAT", " per kg"))


def date():
    d, m, y = ri(1, 28), ri(1, 12), ri(1990, 2031)
    M = MONTH[m - 1]
    s = "th" if 4 <= d % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(d % 10, "th")
    return choose((f"{d} {M}", f"{M} {d}", f"{d} {M} {y}", f"{M} {d}, {y}", f"{y}-{m:02d}-{d:02d}", f"{d:02d}.{m:02d}.{y}", f"{d}.{m}.", f"{m}/{d}/{y}", f"{d} {M[:3]}",
                   f"{M[:3]} {d}", f"{choose(WEEK)}, {d} {M}", f"{d}{s} of {M}", f"{M} {d}{s}", f"{choose(WEEK)} {d} {M}", f"{choose(WEEK)[:3]} {d} {M[:3]}", f"{M} {y}",
                   f"the {d}{s}", f"{d}/{m:02d}/{y}"))


def day():
    return choose(WEEK) if R() < .6 else choose(WEEK) + choose((" morning", " evening", " at " + time(), ", " + time(), " afternoon"))


def code():
    r = R()
    L = "ABCDEFGHJKLMNPQRSTUVWXYZ"
    if r < .25:
        return "%s-%d" % (invented(ri(1, 3)).lower(), ri(10, 9999))
    if r < .4:
        return str(ri(1000, 99999))
    if r < .55:
        return choose(L) + choose(L) + choose(("-", "", "/")) + str(ri(100, 99999))
    if r < .7:
        return invented().lower() + choose((str(ri(1, 99)), "!", "_" + str(ri(1, 9)), "#" + str(ri(1, 999)), "." + invented(1).lower()))
    if r < .8:
        return "-".join(choose("blue river stone apple tiger cloud maple lamp candle rocket winter pepper anchor violin".split()) for _ in range(ri(2, 4)))
    if r < .9:
        return "%d-%d-%d" % (ri(10, 99), ri(100, 999), ri(10, 9999))
    return "".join(choose(L + L.lower() + "23456789") for _ in range(ri(6, 10)))


def phone():
    return choose(("%d-%04d" % (ri(200, 999), ri(0, 9999)), "+%d %d %d" % (ri(1, 99), ri(10, 999), ri(10000, 999999)), "0%d %d %d" % (ri(10, 99), ri(100, 999), ri(1000, 9999)),
                   "(%d) %d-%04d" % (ri(200, 999), ri(200, 999), ri(0, 9999)), "0%d/%d" % (ri(100, 999), ri(10000, 999999)), "ext. %d" % ri(100, 999), "%d %02d %02d %02d" % (ri(10, 99), ri(0, 99), ri(0, 99), ri(0, 99))))


def mail():
    return "%s@%s.%s" % (choose((first().split("-")[0].lower(), invented().lower(), "info", "office", "help", first()[0].lower() + "." + invented().lower())), invented().lower(), choose(("org", "com", "net", "de", "example", "co.uk", "fr")))


def url():
    return choose(("https://", "www.", "", "http://")) + invented().lower() + choose((".org", ".com", ".net", ".de")) + choose(("", "/" + noun(), "/" + noun() + "-" + str(ri(1, 99))))


def address():
    return choose(("%d %s %s" % (ri(1, 250), choose(STREETS), choose(("Street", "Road", "Lane", "St", "Avenue", "Rd."))), "%s %d" % (choose(("Gärtnerstr.", "Hauptstraße", "Rue Pasteur", "Calle Mayor", "Via Roma", "Lindenweg", "Schulgasse", "Bahnhofstr.")), ri(1, 190)),
                   "%s %s %d, %s" % (choose(STREETS), choose(("Road", "Street")), ri(1, 99), choose(TOWNS)), "%d %s, %d %s" % (ri(1, 99), choose(("rue de la Gare", "avenue Foch", "rue des Lilas")), ri(10000, 99999), choose(TOWNS))))


def place():
    return choose((choose(TOWNS), address(), choose(SPOTS), "room %s%d" % (choose(("", "A", "B", "C ")), ri(1, 450)), "the " + noun() + " " + noun(), "Hall %s" % choose("ABC123"), "platform %d" % ri(1, 14), choose(TOWNS) + " town hall"))


def room():
    return choose(("%s%d" % (choose("ABCDEG"), ri(1, 450)), "Room %d" % ri(1, 400), "%d.%02d" % (ri(0, 5), ri(1, 40)), "Hall %s" % choose("ABC"), "the " + choose(COLOURS) + " room"))


def duration():
    n = choose((ri(2, 12), ri(10, 90), 5 * ri(1, 12)))
    return choose(("%d minutes" % n, "%d min" % n, "%d hours" % ri(2, 48), "%d days" % ri(2, 60), "%d weeks" % ri(2, 12), "%d months" % ri(2, 24), "%d years" % ri(2, 30), "an hour", "half an hour", "one week",
                   "three months", "two hours", "1.5 hours", "%d–%d minutes" % (n, n + 10), "%d to %d days" % (ri(1, 3), ri(4, 9)), "1 h %d min" % n, "about %d minutes" % n, "six weeks", "14 days"))


def measure():
    return number() + choose((" kg", " g", " cm", " m", " km", " litres", " l", " ml", " m²", " °C", " pages", " people", " seats", " kWh", " W", " GB", " MB", " mm", "%", " percent", " cups", " boxes", " miles", " ft"))


def quantity():
    return choose(("%d g" % (50 * ri(1, 12)), "%d ml" % (50 * ri(1, 12)), "%d cups" % ri(2, 5), "1 cup", "%d tbsp" % ri(1, 5), "%d tsp" % ri(1, 3), "½ cup", "1/2 teaspoon", "a pinch", "%d" % ri(1, 12), "%d kg" % ri(1, 4), "1.5 l", "0,5 l", "2 tablespoons",
                   "three", "a handful", "%d oz" % ri(2, 16), "1 1/2 cups", "%d cloves" % ri(1, 6)))


def version():
    return choose(("%d.%d.%d" % (ri(0, 9), ri(0, 30), ri(0, 20)), "v%d.%d" % (ri(0, 12), ri(0, 30)), "%d.%d" % (ri(1, 30), ri(0, 12))))


def thing():
    """A short noun phrase."""
    return choose((choose(ITEMS), noun() + " " + noun(), choose(COLOURS) + " " + noun(), invented(ri(2, 3)), "the " + noun(), choose(("new ", "old ", "small ", "large ", "second ")) + noun(), invented() + " " + noun().capitalize()))


def reason():
    r = choose(REASONS)
    return r


def items():
    n = ri(2, 4)
    x = random.sample(ITEMS, n)
    return ", ".join(x[:-1]) + choose((" and ", ", ", " & ")) + x[-1]


def team():
    n = ri(2, 4)
    x = [first() for _ in range(n)]
    return ", ".join(x[:-1]) + " and " + x[-1]


def status():
    return choose("open closed cancelled postponed done pending approved rejected paid overdue sold-out free booked broken repaired unknown active retired draft final".split())


def task():
    return choose(TASKS)


def path():
    return choose(("/", "~/", "./", "C:\\", "")) + "/".join(noun() for _ in range(ri(1, 3))) + choose((".conf", ".yaml", ".log", "", ".txt", ".json"))


def flag():
    return choose(("true", "false", "on", "off", "yes", "no", "auto", "none", "enabled", "disabled"))


def language():
    return choose("English German French Spanish Polish Danish Turkish Arabic Hindi Japanese Portuguese Czech Finnish Greek".split())


def spot():
    return choose(SPOTS)


def colour():
    return choose(COLOURS)


def year():
    return str(ri(1790, 2030))

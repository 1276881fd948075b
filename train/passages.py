"""Worlds of facts, and the passages that state them.

A world is a few entities with one value for each of their attributes; a passage states it in titled notes, prose,
lists. Within a world no question is ambiguous: attributes of one entity that could be asked in the same words never
occur together (see conflicts).
"""
import re

from . import attributes
from .attributes import ENTITIES, HELD_OUT, PLURAL, WEIGHTS, draw
from .names import PLURALS, given, with_article

MAX_WORDS = 80
CHAT_SHARE = 0.1  # share of passages and documents that are chats
RIVAL_SHARE = 0.4  # share of an entity's further attributes with the value kind of the one before: the reader confuses these most

NOUN_STATEMENTS = ["The {a} of {e} is {v}"] * 5 + ["{E}'s {a} is {v}"] * 3 + [
    "The {a} for {e} is {v}", "The {a} at {e} is {v}", "{v} is the {a} of {e}", "For {e}, the {a} is {v}", "{e} has the {a} {v}",
    "As for {e}, the {a} is {v}", "The {a} of {e} is now {v}", "At {e}, the {a} is {v}", "{v} is {E}'s {a}", "{e} has {v} as its {a}",
    "The {a} of {e}: {v}", "{e}: {a} {v}", "{e}, {a}: {v}", "The {a} that belongs to {e} is {v}", "The {a} of {e} has been {v} for years",
    "Since last year the {a} of {e} has been {v}", "Remember that the {a} of {e} is {v}", "Note: the {a} of {e} is {v}"]
HELD_OUT_STATEMENTS = ["If you ask about the {a} of {e}, it is {v}", "They say {v} is {E}'s {a}", "{e} uses {v} as {a}",
                       "Please note that the {a} of {e} will be {v}", "In the case of {e}, {v} is the {a}",
                       "You should know that {E}'s {a} is {v}", "Everyone here knows the {a} of {e}: {v}"]
BY_KIND = {"date": ["The {a} of {e} is on {v}"], "time": ["The {a} of {e} is at {v}"], "daytime": ["The {a} of {e} is on {v}"],
           "days": ["The {a} of {e} is on {v}"], "money": ["The {a} of {e} comes to {v}", "The {a} for {e} amounts to {v}"],
           "inside": ["The {a} of {e} is kept {v}", "The {a} of {e} is {v}"], "person": ["{v} is {a} of {e}", "{v} works as the {a} of {e}"],
           "phone": ["Call {v} for the {a} of {e}"]}
ELLIPTIC = ["The {a} is {v}"] * 6 + ["{a}: {v}"] * 2 + ["The {a} here is {v}", "The {a} is now {v}", "Our {a} is {v}", "{v} is the {a}",
                                                       "As {a}, note {v}", "The current {a} is {v}"]
FILLERS = ["It rained all week.", "Everyone was happy about it.", "The notes were updated yesterday.", "Please keep this list safe.",
           "Nothing else has changed.", "This was written in a hurry.", "Thanks for reading.", "The weather was fine.",
           "More about this next month.", "Please leave everything tidy.", "The view is best in the evening.",
           "Ask us if anything is unclear.", "Children are welcome.", "Bring warm clothes.", "It is very quiet in winter.",
           "Many people like it here.", "The roof was repaired last spring.", "Dogs must stay on the lead.",
           "We went there twice last summer.", "The old one was lost.", "Do not forget to lock up.", "The stairs are steep.",
           "There is a small garden behind it.", "The neighbours are friendly.", "It is easy to find.", "Most visitors come by bike.",
           "The paint is still fresh.", "We will meet again soon.", "Last year it was different.", "The coffee is good, too."]
TOPICS = ("guest notes,visitor information,notes,facts,practical information,house rules,what to know,overview,a short guide,"
          "opening and prices,things to remember,contact,details,plan,profile,information,handbook,history,visit").split(",")
GENERAL_TITLES = ("Notes,Family notes,To remember,Town guide,Opening hours,Who is who,Contacts,Codes and keys,Weekly plan,"
                  "Local news,Neighbourhood,Timetable,Useful numbers,Household,Club news,Overview,Summer plans,Directory,"
                  "Visitor guide,Office handbook,Prices,Birthdays,House notes,Travel notes,Around town,Projects").split(",")


CHATTER = ["ok, thanks", "Thanks!", "Got it.", "Anyone there?", "See you later.", "I will write it down.", "Good to know.", "Great", "I had forgotten that.",
           "Sorry, I was out.", "One more thing:", "Hello everyone!"]
CHAT_QUESTIONS = ["Who knows the {a} of {e}?", "Does anyone know the {a} of {e}?", "Has anybody written down {E}'s {a}?", "I forgot the {a} of {e}"]
CHAT_LINES = ["{who}: "] * 3 + ["[{time}] {who}: "] * 3 + ["{who} ({time}): "]

TITLES = {"Dr", "Professor", "Captain", "Father", "Aunt", "Sister"}


class Fact:
    """One value of one attribute of one entity, with the words that the passage uses for it."""

    def __init__(self, entity, category, attribute, value, form=None, noun=None):
        self.entity, self.category, self.attribute, self.value = entity, category, attribute, value
        self.form, self.noun = form, noun or attribute.noun


def upper(text):
    return text[0].upper() + text[1:]


AS_THEY_STAND = {"code", "email", "website", "user", "word"}  # kinds of values that are written in lower case at a sentence's beginning, too


def sentence_case(text, fact):
    """The text with a capital at the beginning, except where that would change a value: 'tumbral-5827 is the key'."""
    return text if fact.attribute.kind in AS_THEY_STAND and text.startswith(fact.value) else upper(text)


def possessive(entity):
    return entity + ("'" if entity.endswith("s") else "'s")


AGREEMENT = [(r"\bis\b", "are"), ("has been", "have been"), ("belongs", "belong"), ("comes to", "come to"), ("amounts", "amount"), ("What's", "What are"),
             ("are it", "are they"), ("it are", "they are"), ("that of", "those of")]


def plural(template):
    """The template of a statement or question about an attribute noun, for a noun that takes 'are'."""
    for singular, many in AGREEMENT:
        template = re.sub(singular, many, template)
    return template


def fill(template, entity, noun="", value=""):
    """The template with its holes filled, in English: 'the dimensions are', 'an owl'."""
    if noun in PLURAL or template.startswith("{v} is") and value in PLURALS:
        template = plural(template)
    if " a {v}" in template:
        template = template.replace("a {v}", with_article(value).split(" ")[0] + " {v}")
    return (template.replace("{E}'s", possessive(entity)).replace("{a}", noun).replace("{e}", entity)
            .replace("{v}", value))


def overlap(a, b):
    """True when one entity's name could be meant by the other's: 'the cabin' may be the lake cabin."""
    a, b = (x.lower().removeprefix("the ") for x in (a, b))
    return a in b or b in a


def possessed(template, category):
    """The template with 'their' instead of 'its' for a person."""
    return template.replace(" its ", " their ") if category == "person" else template


def conflicts(a, b):
    """True when a question about a could mean b: they share a noun, a statement or a question."""
    if {a.noun, *a.synonyms} & {b.noun, *b.synonyms}:
        return True
    shared = lambda f: set(f.statements) | set(f.questions)
    return any(shared(f) & shared(g) for f in a.forms for g in b.forms)


def new_fact(s, entity, category, attribute):
    form = s.pick(attribute.forms) if attribute.forms and s.chance(0.5) else None
    noun = s.pick(attribute.synonyms) if attribute.synonyms and s.chance(0.15) else attribute.noun
    return Fact(entity, category, attribute, attribute.value(s), form, noun)


def sibling(s, entity, category):
    """A new entity of the category, which sometimes shares a word with the given one."""
    words = entity.split()
    alike = len(words) == 3 and words[0] == "the" and s.chance(0.25)
    for _ in range(100):
        other = ENTITIES[category](s)
        if alike:
            more = other.split()
            if len(more) != 3 or more[0] != "the":
                continue
            other = " ".join(words[:2] + more[2:] if s.chance(0.5) else more[:2] + words[2:])
        if other.lower() != entity.lower() and s.belongs(other):
            return other
    return ENTITIES[category](s)


def draw_attributes(s, category, n, held_out_nouns=False, start=()):
    chosen = list(start)
    for _ in range(4 * n):
        if len(chosen) >= n:
            break
        a = s.pick(HELD_OUT) if held_out_nouns else draw(s, category)
        if chosen and not held_out_nouns and s.chance(RIVAL_SHARE):  # a rival: opening and closing time, owner and manager
            rivals = [x for x in attributes.OF_CATEGORY[category] if x.kind == chosen[-1].kind]
            a = s.pick(rivals) if rivals else a
        if not any(conflicts(a, b) for b in chosen):
            chosen.append(a)
    return chosen[:n]


def new_world(s, low, high, category=None, held_out_nouns=False, taken=()):
    """-> list of facts about 1 to 4 entities; the first entity is the main one. taken: entities not to use."""
    n = s.between(low, high)
    x = s.rng.random()
    k = 1 if n == 1 or x < 0.33 else 2 if x < 0.66 or n < 3 else 3 if x < 0.88 or n < 4 else 4
    main = category or s.rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    same = s.chance(0.8)
    entities, used = [], set(taken)
    while len(entities) < k:
        c = main if same or not entities else s.pick(list(WEIGHTS))
        e = sibling(s, entities[0][0], c) if entities and c == main else ENTITIES[c](s)
        if not any(overlap(e, u) for u in used):
            used.add(e)
            entities.append((e, c))
        elif entities and s.chance(0.02):
            break
    shared = {}
    facts, values, counts = [], set(), {}
    per = max(1, -(-n // len(entities)))
    for i, (e, c) in enumerate(entities):
        room = per if s.chance(0.8) else s.between(1, max(1, n - 1))
        base = shared.get(c, []) if s.chance(0.85) else []
        attrs = draw_attributes(s, c, max(room, 1), held_out_nouns, start=base[:room])
        shared.setdefault(c, attrs)
        for a in attrs:
            for _ in range(5):
                f = new_fact(s, e, c, a)
                if f.value.lower() not in values:
                    values.add(f.value.lower())
                    facts.append(f)
                    break
    facts = facts if len(facts) <= n else _keep(s, facts, n)
    if same and s.chance(0.5):  # the same wording for the same attribute, as in lists
        by = {}
        for f in facts:
            g = by.setdefault(f.attribute.noun, f)
            f.form, f.noun = g.form, g.noun
    return facts


def _keep(s, facts, n):
    """n of the facts, with at least one of every entity if possible."""
    order = facts[:]
    s.rng.shuffle(order)
    first, rest, seen = [], [], set()
    for f in order:
        (rest if f.entity in seen else first).append(f)
        seen.add(f.entity)
    chosen = set(map(id, (first + rest)[:n]))
    return [f for f in facts if id(f) in chosen]


# --- stating ------------------------------------------------------------------------------------------------------


def head(entity, category):
    """The short way to name an entity: 'the cabin' for 'the lake cabin', 'Anna' for 'Anna Roth'; None if there is none."""
    words = entity.split()
    if words[0] == "the" and " of " in entity:
        return "the " + entity[4:].split(" of ")[0]
    if words[0] == "the" and len(words) >= 3 and words[1] != "river" and " to " not in entity:
        return "the " + words[-1]
    if category == "person" and len(words) == 2 and words[0] not in ("the", "my") and not words[0].endswith(".") and words[0] not in TITLES:
        return words[0]
    return None


def statement(s, fact, subject=None, held_out=False):
    """A sentence without its full stop that states the fact about subject (the entity itself by default)."""
    e = subject or fact.entity
    if held_out:
        return sentence_case(fill(s.pick(HELD_OUT_STATEMENTS), e, fact.attribute.noun, fact.value), fact)
    if fact.form:
        forms = fact.form.statements
        return sentence_case(fill(forms[0] if s.chance(0.5) else s.pick(forms), e, value=fact.value), fact)
    extra = BY_KIND.get(fact.attribute.kind)
    template = s.pick(extra) if extra and s.chance(0.2) else s.pick(NOUN_STATEMENTS)
    return sentence_case(fill(possessed(template, fact.category), e, fact.noun, fact.value), fact)


def elliptic(s, fact):
    """A sentence whose entity is known from the title or the sentence before."""
    return sentence_case(fill(s.pick(ELLIPTIC), fact.entity, fact.noun, fact.value), fact)


def pronominal(s, fact, pronoun):
    """'It opens at 9:30', 'Its owner is ...'; pronoun is (they, their)."""
    they, their = pronoun
    if fact.form:
        for t in s.rng.sample(fact.form.statements, len(fact.form.statements)):
            if t.startswith("{e} "):
                return upper(fill(t, they, value=fact.value))
            if t.startswith("The ") and " of {e} " in t:
                return upper(fill(t.replace("The ", their + " ", 1).replace(" of {e}", "", 1), "", value=fact.value))
    return upper(fill(their + " {a} is {v}", "", fact.noun, fact.value))


def title_of(s, entity):
    bare = entity[4:] if entity.startswith("the ") else entity
    x = s.rng.random()
    if x < 0.5:
        return upper(bare)
    if x < 0.58:
        return " ".join(upper(w) if w not in ("of", "to") else w for w in bare.split())
    if x < 0.66:
        return upper(entity)
    if x < 0.72:
        return s.pick(["About %s", "Notes on %s", "Notes about %s", "Visiting %s", "All about %s"]) % entity
    return upper(bare) + s.pick([": ", ": ", ": ", " - ", ", "]) + s.pick(TOPICS)


class Passage:
    """title ('' when there is none), text, the facts that the text states and the sentence that states each (two may share one)."""

    def __init__(self, title, text, facts, sentences):
        self.title, self.text, self.facts, self.sentences = title, text, facts, sentences

    def context(self):
        return self.title + "\n" + self.text if self.title else self.text


def short_names(groups):
    """The short name of each entity of groups (entity -> its facts); None where it could name another one."""
    short = {e: head(e, facts[0].category) for e, facts in groups.items()}
    for e in groups:
        if short[e] and any(o != e and (short[o] == short[e] or short[e].replace("the ", "") in o) for o in groups):
            short[e] = None
    return short


class Chat:
    """Messages of two or three people, a line each: 'Anna: the key is ...', '[10:32] Ben: ...'."""

    def __init__(self, s, entities):
        self.s, self.people, self.minute, self.line = s, [], s.between(6 * 60, 22 * 60), s.pick(CHAT_LINES)
        while len(self.people) < s.between(2, 3):
            who = given(s)
            if not any(overlap(who, e) for e in entities + self.people):
                self.people.append(who)
        self.lines, self.speaker = [], None

    def say(self, text):
        """Add a message, mostly of another speaker than the last one."""
        s = self.s
        self.speaker = s.pick([p for p in self.people if p != self.speaker] if s.chance(0.8) else self.people)
        self.minute = min(self.minute + s.between(0, 4), 24 * 60 - 1)
        time = "%d:%02d" % divmod(self.minute, 60)
        self.lines.append(self.line.replace("{who}", self.speaker).replace("{time}", time) + text)

    def words(self):
        return sum(len(line.split()) for line in self.lines)


def new_chat(s, facts):
    """State the facts in at most about MAX_WORDS words of a chat -> Passage."""
    groups = {}
    for f in facts:
        groups.setdefault(f.entity, []).append(f)
    short, main, x = short_names(groups), facts[0].entity, s.rng.random()
    title = "" if x < 0.4 else s.pick(GENERAL_TITLES) if x < 0.6 else title_of(s, main)
    chat, stated, sentences, pronoun, last = Chat(s, list(groups)), [], [], _pronoun(s, facts), None
    facts = [f for g in groups.values() for f in g] if s.chance(0.7) else s.rng.sample(facts, len(facts))
    for f in facts:
        titled = x >= 0.6 and f.entity == main and last in (None, main)
        known = titled or f.entity == last
        if known and last and s.chance(0.25):  # continues in the same message
            text = pronominal(s, f, pronoun)
            if len(text.split()) + chat.words() > MAX_WORDS:
                break
            chat.lines[-1] = chat.lines[-1].rstrip(".") + ". " + text + "."
        else:
            text = elliptic(s, f) if titled and not f.form and s.chance(0.5) else statement(s, f, known and s.chance(0.5) and short[f.entity] or None)
            if len(text.split()) + 2 + chat.words() > MAX_WORDS:
                break
            if s.chance(0.25):
                chat.say(fill(s.pick(CHAT_QUESTIONS), f.entity, f.noun) if s.chance(0.5) else s.pick(CHATTER + FILLERS))
            if text.startswith(("The ", "It ")) and s.chance(0.4):
                text = text[0].lower() + text[1:]
            chat.say(text + s.pick([".", ".", ""]))
        last = f.entity
        stated.append(f)
        sentences.append(text)
    if s.chance(0.2):
        chat.say(s.pick(CHATTER))
    return Passage(title, "\n".join(chat.lines), stated, sentences)


def _pronoun(s, facts):
    if facts[0].category == "person":
        return s.pick([("she", "her"), ("he", "his"), ("she", "her"), ("he", "his")])
    return ("it", "its")


def new_passage(s, facts, held_out=False, chat=None):
    """State the facts in at most MAX_WORDS words; in a chat or not, by chance if chat is None. Facts that no longer fit are left out of
    Passage.facts."""
    if not held_out and (s.chance(CHAT_SHARE) if chat is None else chat):
        return new_chat(s, facts)
    main = facts[0].entity
    groups = {}
    for f in facts:
        groups.setdefault(f.entity, []).append(f)
    entities = list(groups)
    titled = s.chance(0.72)
    general = titled and len(entities) > 1 and s.chance(0.4)
    title = "" if not titled else s.pick(GENERAL_TITLES) if general else title_of(s, main)
    about_main = titled and not general
    style = s.pick(["prose", "prose", "prose", "list", "mixed", "mixed"])
    ordered = s.chance(0.7)
    if ordered:
        if not s.chance(0.5):
            s.rng.shuffle(entities)
        facts = []
        for e in entities:
            g = groups[e][:]
            s.rng.shuffle(g)
            facts += g
    else:
        facts = facts[:]
        s.rng.shuffle(facts)
    headed = ordered and len(entities) > 1 and s.chance(0.12) and not held_out
    short = short_names(groups)
    pronoun, lines, stated, words, last, pronoun_rate = _pronoun(s, facts), [], [], len(title.split()), None, s.rng.random() * 0.6
    places = []  # the line of each stated fact
    for i, f in enumerate(facts):
        bullet = "- " if style == "list" or style == "mixed" and s.chance(0.3) else ""
        known = last == f.entity and (ordered or len(entities) == 1)
        on_topic = about_main and f.entity == main and last in (None, main)
        if headed and last != f.entity:
            if lines:
                lines[-1] = lines[-1].rstrip() + "\n"
            lines.append(s.pick(["## ", "", "# "]) + title_of(s, f.entity) + s.pick(["", ":"]) + "\n")
            known = True
        x = s.rng.random()
        if held_out:
            text = statement(s, f, held_out=True)
        elif known and x < pronoun_rate:
            text = pronominal(s, f, pronoun)
        elif (known or on_topic) and x < 0.75:
            if bullet and s.chance(0.7):
                text = upper(f.noun) + ": " + f.value
            elif f.form:
                text = statement(s, f, short[f.entity] or None) if s.chance(0.5) else pronominal(s, f, pronoun)
            else:
                text = elliptic(s, f)
        elif (known or on_topic) and short[f.entity] and s.chance(0.5):
            text = statement(s, f, short[f.entity])
        else:
            text = statement(s, f)
        n = len(text.split())
        if words + n > MAX_WORDS:
            break
        words += n
        previous = lines[-1] if lines else ""
        subjects = tuple(upper(x) + " " for x in (f.entity, short[f.entity], pronoun[0]) if x)
        if (stated and not bullet and previous.startswith(subjects) and previous.endswith(". ") and last == f.entity and f.form and not held_out
                and f.form.statements[0].startswith("{e} ") and s.chance(0.5)):
            joined = fill(f.form.statements[0][4:], f.entity, value=f.value)
            lines[-1] = previous[:-2] + s.pick([" and ", ", and it ", " and "] if pronoun[0] == "it" else [" and "]) + joined + ". "
        elif bullet:
            if lines and not lines[-1].endswith("\n"):
                lines[-1] = lines[-1].rstrip() + "\n"
            lines.append(bullet * s.chance(0.8) + text + s.pick(["", "", "."]) + "\n")
        else:
            lines.append(text + ". ")
        stated.append(f)
        places.append(len(lines) - 1)
        last = f.entity
        if s.chance(0.10) and words < MAX_WORDS - 8 and not bullet:
            filler = s.pick(FILLERS)
            words += len(filler.split())
            lines.append(filler + " ")
    if s.chance(0.08):  # a line for each sentence
        lines = [line[:-1] + "\n" if line.endswith(". ") else line for line in lines]
    return Passage(title, "".join(lines).strip(), stated, [lines[i].strip().removeprefix("- ").rstrip(".") for i in places])

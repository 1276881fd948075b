"""Questions about facts and their answers: full sentences whose words before the value follow from the question alone."""
from .attributes import PLURAL
from .passages import fill, plural, possessed, upper

NOUN_QUESTIONS = ["What is the {a} of {e}?"] * 7 + ["What is {E}'s {a}?"] * 4 + [
    "What is the {a} for {e}?", "What is the {a} at {e}?", "Which {a} does {e} have?", "What {a} does {e} have?", "What's the {a} of {e}?",
    "Tell me the {a} of {e}.", "{a} of {e}?", "{E}'s {a}?", "I need the {a} of {e}.", "Do you know the {a} of {e}?",
    "For {e}, what is the {a}?", "Can you tell me {E}'s {a}?", "Give me the {a} of {e}.", "Which is the {a} of {e}?"]
BY_KIND = {
    "person": ["Who is the {a} of {e}?"] * 3 + ["Who is {E}'s {a}?"], "money": ["How much is the {a} of {e}?", "How high is the {a} of {e}?"],
    "inside": ["Where is the {a} of {e}?", "Where is {E}'s {a}?"], "date": ["When is the {a} of {e}?"] * 2 + ["When is {E}'s {a}?"],
    "time": ["When is the {a} of {e}?"], "daytime": ["When is the {a} of {e}?"] * 2 + ["When is {E}'s {a}?"],
    "days": ["When is the {a} of {e}?", "On which day is the {a} of {e}?"], "funds": ["How large is the {a} of {e}?"],
    "duration": ["How long is the {a} of {e}?"]}
HELD_OUT_QUESTIONS = ["Could you give me the {a} for {e}?", "I forgot {E}'s {a}, what is it?", "Can you look up the {a} of {e}?",
                      "Please find out the {a} of {e}.", "I was wondering what the {a} of {e} is.", "About {e}: which is the {a}?"]
JOINS = ["{1}, and {2}"] * 4 + ["{1} and {2}"] * 2 + ["{1} And {2}", "{1} {2}", "{1} {2}", "{1} Also, {2}"]
SHARED_ENTITY = ["What is the {a} and the {b} of {e}?", "What are the {a} and the {b} of {e}?", "Tell me the {a} and the {b} of {e}.",
                 "What is {E}'s {a}, and what is the {b}?", "What is the {a} of {e}, and what is its {b}?"]
SHARED_NOUN = ["What is the {a} of {e} and of {f}?", "What is the {a} of {e}, and what is that of {f}?"]
QUESTION_WORDS = set("What Which When Where Who How On At In For Tell I Do Can Give By Whose Until From Into Could Please About "
                     "What's The".split())


class Asked:
    """A question and the pattern of its answer ('... {v}', value last)."""

    def __init__(self, question, answer):
        self.question, self.answer = question, answer

    def prefix(self):
        return self.answer.split("{v}")[0].rstrip()


def lower(question):
    first = question.split(" ")[0]
    return question[0].lower() + question[1:] if first in QUESTION_WORDS and first != "I" else question


def noun_asked(s, fact, noun, held_out=False):
    extra = BY_KIND.get(fact.attribute.kind)
    template = (s.pick(HELD_OUT_QUESTIONS) if held_out else s.pick(extra) if extra and s.chance(0.45)
                else s.pick(NOUN_QUESTIONS))
    return Asked(upper(fill(template, fact.entity, noun, "{v}")), upper(fill("the {a} of {e} is {v}", fact.entity, noun, "{v}")))


def ask(s, fact, held_out=False):
    """One question about the fact, mostly in the words of the statement."""
    if held_out:
        return noun_asked(s, fact, fact.attribute.noun, held_out=True)
    form = fact.form
    if fact.attribute.forms and s.chance(s.rare(0.22)):
        form = None if form else s.pick(fact.attribute.forms)
    if form and fact.form and s.chance(s.rare(0.15)):
        form = s.pick(fact.attribute.forms)
    if form:
        return Asked(upper(fill(s.pick(form.questions), fact.entity)), upper(fill(form.answer, fact.entity, value="{v}")))
    noun = fact.noun if s.chance(1 - s.rare(0.15)) else s.pick([fact.attribute.noun] + fact.attribute.synonyms)
    return noun_asked(s, fact, noun)


def styled(s, question):
    x = s.rng.random()
    if x < 0.05:
        return lower(question)
    if x < 0.09:
        return question.rstrip("?.")
    return "Please answer: " + question if x < 0.10 else question


def shared_entity(template, f, g):
    """One question for two attributes of an entity; each verb agrees with its noun."""
    first, comma, second = possessed(template, f.category).partition(", and ")
    if not comma:
        template = plural(first) if g.attribute.noun in PLURAL else first
        return fill(template.replace("{b}", g.attribute.noun), f.entity, f.attribute.noun)
    return fill(first, f.entity, f.attribute.noun) + comma + fill(second.replace("{b}", "{a}"), f.entity, g.attribute.noun)


def ask_two(s, f, g, held_out=False):
    """A two-part question -> (text, asked about f, asked about g)."""
    a, b = ask(s, f, held_out), ask(s, g, held_out)
    x = s.rng.random()
    if not held_out and f.entity == g.entity and x < 0.4:
        text = shared_entity(s.pick(SHARED_ENTITY), f, g)
        return text, *(Asked(text, upper(fill("the {a} of {e} is {v}", h.entity, h.attribute.noun, "{v}"))) for h in (f, g))
    if not held_out and f.attribute.noun == g.attribute.noun and x < 0.4:
        text = fill(s.pick(SHARED_NOUN).replace("{f}", g.entity), f.entity, f.attribute.noun)
        return text, *(Asked(text, upper(fill("the {a} of {e} is {v}", h.entity, h.attribute.noun, "{v}"))) for h in (f, g))
    join = s.pick(JOINS)
    first, second = a.question, b.question
    if join.startswith(("{1},", "{1} and")):
        first = first.rstrip("?.")
    if not join.endswith("} {2}"):
        second = lower(second)
    return join.replace("{1}", first).replace("{2}", second), a, b

"""Training examples: one context shared by several independent question branches.

Supported halves of an answer carry the value that the passage states. Unsupported halves carry a *soft label*: a random
value of the right type, sometimes 'unknown', so that a side without the answer stays diffuse instead of insisting on a
refusal, and mixes well with a side that knows.
"""
import re

from .attributes import ENTITIES, WEIGHTS, draw
from .passages import conflicts, fill, new_fact, new_passage, new_world, overlap, sibling
from .questions import Asked, ask, ask_two, noun_asked, styled, upper

# What a piece of text counts as in the loss.
# PREFIX: the words before a supported value; UNSUPPORTED: the words before a soft value. START and NONE: the first token of either, where
# the model also says whether the passage supports the sentence (tokenizer.NONE).
# TASK: the text that answers a task (tasks.py).
PREFIX, VALUE, SOFT, UNSUPPORTED, END, START, NONE, TASK, PROMPT = 0, 1, 2, 3, 4, 5, 6, 7, 9
#: loss weight by kind; passage tokens have their own (data.CONTEXT_WEIGHT)
LOSS_WEIGHT = {PREFIX: 0.8, VALUE: 1.0, SOFT: 0.4, UNSUPPORTED: 0.3, END: 0.6, START: 3.0, NONE: 3.0, TASK: 0.4, PROMPT: 0.0}
SOFT_VALUE = 0.7


class Branch:
    """A question's prompt text and the pieces [(text, kind)] that follow it."""

    def __init__(self, prompt, pieces):
        self.prompt, self.pieces = prompt, pieces


def indented(context):
    """The context as the template shows it: its lines begin with a space, so that a name has the same tokens there as within an answer's
    sentence. In the program export.TEMPLATE does this (Jinja's indent)."""
    return re.sub(r"\n(?=[^\n])", "\n ", context)


def turn(question):
    return "\nQuestion: %s\nAnswer:" % question


def sentence(asked, value, kind):
    """The pieces of one answer sentence."""
    prefix, end = asked.prefix(), "." if not value.endswith(".") else ""
    return [(" " + prefix, UNSUPPORTED if kind == SOFT else PREFIX), (" " + value, kind)] + ([(end, END)] if end else [])


def answer_text(asked, value):
    return asked.prefix() + " " + value + ("" if value.endswith(".") else ".")


def soft(s, fact):
    return fact.attribute.value(s) if s.chance(SOFT_VALUE) else "unknown"


def unknown(s, fact, asked):
    """The pieces of the answer sentence where there is no passage at all."""
    if s.chance(0.75):
        asked = Asked("", upper(fill("the {a} of {e} is {v}", fact.entity, fact.attribute.noun, "{v}")))
    (words, _), *rest = sentence(asked, "unknown", VALUE)
    return [(words, UNSUPPORTED)] + rest


def without_passage(s, facts):
    """A question without a passage: the sentences say that the values are unknown."""
    f = s.pick(facts)
    if s.chance(0.65):
        asked = ask(s, f)
        return Branch(turn(styled(s, asked.question))[1:], unknown(s, f, asked))
    g = s.pick([x for x in facts if x is not f] or [absent(s, facts) or f])
    question, a, b = ask_two(s, f, g)
    return Branch(turn(styled(s, question))[1:], unknown(s, f, a) + unknown(s, g, b))


def absent(s, facts):
    """A fact that the passage does not state: another attribute, a sibling entity, or something else."""
    by_entity = {}
    for f in facts:
        by_entity.setdefault(f.entity, []).append(f)
    for _ in range(20):
        x, f = s.rng.random(), s.pick(facts)
        if x < 0.35:
            entity, category, attribute = f.entity, f.category, draw(s, f.category)
        elif x < 0.7:
            entity, category, attribute = sibling(s, f.entity, f.category), f.category, f.attribute
        else:
            category = s.rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
            entity, attribute = ENTITIES[category](s), draw(s, category)
        if entity in by_entity:
            clash = any(conflicts(attribute, g.attribute) for g in by_entity[entity])
        else:
            clash = any(overlap(entity, e) for e in by_entity)
        if not clash:
            return new_fact(s, entity, category, attribute)
    return None


def one_part(s, fact, supported, held_out=False):
    asked = ask(s, fact, held_out)
    value, kind = (fact.value, VALUE) if supported else (soft(s, fact), SOFT)
    return Branch(turn(styled(s, asked.question)), sentence(asked, value, kind))


def two_part(s, f, f_supported, g, g_supported, held_out=False):
    question, a, b = ask_two(s, f, g, held_out)
    pieces = []
    for fact, asked, supported in ((f, a, f_supported), (g, b, g_supported)):
        pieces += sentence(asked, fact.value if supported else soft(s, fact), VALUE if supported else SOFT)
    return Branch(turn(styled(s, question)), pieces)


def half_known(s, f, g, h):
    """A two-part question to a passage that states f, but neither g nor h: f and g, g and f, or g and h. Whether a passage supports the
    first part must not predict the second: of eight passages, six support neither. -> [Branch], empty if these facts allow none."""
    x = s.rng.random()
    first, second = (f, g) if x < 0.35 else (g, f) if x < 0.7 else (g, h)
    if not first or not second or first is second or first.value == second.value or conflicting(first, second):
        return []
    return [two_part(s, first, first is f, second, second is f)]


def conflicting(f, g):
    """True when no passage may state both."""
    return f.entity == g.entity and conflicts(f.attribute, g.attribute)


def related(f, facts):
    """The facts that may precede or follow f in a conversation: others of the same thing, or the same of another thing."""
    return [g for g in facts if g is not f and (g.entity == f.entity or g.attribute.noun == f.attribute.noun)]


def asked_after(s, f, g):
    """A question about f and one about g after it, which may refer back to it ('And the door code?') -> (asked about f, the second question's
    text, asked about g)."""
    first = ask(s, f)
    if f.entity == g.entity and s.chance(0.6):
        second = noun_asked(s, g, g.attribute.noun)
        question = fill(s.pick(["And the {a}?", "And what is the {a}?", "What about the {a}?"]), g.entity, g.attribute.noun)
    elif f.attribute.noun == g.attribute.noun and not first.answer.startswith("{v}") and s.chance(0.6):
        second = Asked("", upper(first.answer.replace(upper(f.entity), g.entity).replace(f.entity, g.entity)))
        question = s.pick(["And for %s?", "What about %s?", "And %s?"]) % g.entity
    else:
        second = ask(s, g)
        question = second.question
    return first, question, second


def follow_up(s, f, g, supported=True):
    """Two turns of a conversation, the second of which is to be answered."""
    first, question, second = asked_after(s, f, g)
    value, kind = (g.value, VALUE) if supported else (soft(s, g), SOFT)
    return Branch(turn(first.question) + " " + answer_text(first, f.value) + turn(question), sentence(second, value, kind))


def context(s, low, high):
    """-> (context text, facts): one passage, or two under their own titles."""
    facts = new_world(s, low, high)
    p = new_passage(s, facts)
    if not s.chance(0.12):
        return p.context(), p.facts
    taken = {f.entity for f in facts}
    category = facts[0].category if s.chance(0.5) else None
    more = new_world(s, 1, max(2, high - 2), category=category, taken=taken)
    clash = any(overlap(a.entity, b.entity) for a in facts for b in more)
    values = {f.value.lower() for f in facts}
    if clash or any(f.value.lower() in values for f in more):
        return p.context(), p.facts
    q = new_passage(s, more)
    if not q.title or not p.title:
        return p.context(), p.facts
    return p.context() + s.pick(["\n", "\n\n"]) + q.context(), p.facts + q.facts


TELL = "What does the note say?"


def plain(s, high):
    """-> (context text, [Branch]): a passage of at most `high` facts and a question of one part about each, or one of up to four times as
    many, and the request to tell them all, one sentence each."""
    if s.chance(0.5):
        p = new_passage(s, new_world(s, 1, high))
        return "Context: " + p.context(), [one_part(s, f, True) for f in p.facts]
    p = new_passage(s, new_world(s, high, 4 * high))
    return "Context: " + p.context(), [told(s, p.facts)] if p.facts else []


def told(s, facts):
    pieces = [x for f in facts for x in sentence(noun_asked(s, f, f.attribute.noun), f.value, VALUE)]
    return Branch(turn(TELL), pieces)


def example(s, low=1, high=6, branches=7):
    """-> (context text or '', [Branch])."""
    text, facts = context(s, low, high)
    if not facts:
        return example(s, low, high, branches)
    if s.chance(0.06):
        return "", [without_passage(s, facts) for _ in range(branches)]
    order = facts[:]
    s.rng.shuffle(order)
    out, used = [], 0
    for _ in range(branches):
        x = s.rng.random()
        if x < 0.50:
            if used <= len(order):
                out.append(one_part(s, order[used % len(order)], True))
                used += 1
            continue
        if x < 0.70:
            g = absent(s, facts)
            if g:
                out.append(one_part(s, g, False))
            continue
        if x < 0.74 and len(facts) > 1:
            out.append(follow_up(s, *s.rng.sample(facts, 2)))
            continue
        y = s.rng.random()
        if len(facts) > 1 and y < 0.3:
            f, g = s.rng.sample(facts, 2)
            out.append(two_part(s, f, True, g, True))
        else:
            out += half_known(s, s.pick(facts), absent(s, facts), absent(s, facts))
    return "Context: " + text, out

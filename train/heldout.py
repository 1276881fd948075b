"""The held-out evaluation file: python3 -m train.heldout models/testdata/eval.jsonl

With --worlds N, whole document sets with questions about them instead (worlds.py); another --seed gives other worlds.

Names and codes come from the evaluation's part of the name space, so training never saw them. One-part kinds have one
supporting passage and three distractors on the device; two-split kinds have the halves on different sides.
"""
import argparse
import json

from . import hand, tasks
from .examples import absent, answer_text
from .names import Source
from .passages import new_passage, new_world, overlap
from .questions import ask, ask_two

COUNTS = {"one": 150, "one-unseen-wording": 110, "two-first": 80, "two-second": 80, "two-split": 150, "unsupported": 60}
DISTRACTORS = 3


def supporting(s, avoid=(), **how):
    """A passage of 2 to 6 facts that mention no entity in avoid; how: held_out_nouns, held_out (statements)."""
    while True:
        facts = new_world(s, 2, 6, held_out_nouns=how.get("nouns", False))
        p = new_passage(s, facts, held_out=how.get("statements", False))
        if p.facts and not any(overlap(f.entity, e) for f in p.facts for e in avoid):
            return p


def side(s, passage, entities):
    """The passage (or none) among distractors that mention none of the entities, as JSON values."""
    chosen = [passage] if passage else []
    while len(chosen) < DISTRACTORS + 1:
        category = chosen[0].facts[0].category if chosen and s.chance(0.5) else None
        p = new_passage(s, new_world(s, 2, 6, category=category))
        if p.facts and not any(overlap(f.entity, e) for f in p.facts for e in entities):
            chosen.append(p)
    s.rng.shuffle(chosen)
    return [{"title": p.title, "text": p.text} for p in chosen]


def line(s, kind):
    """One evaluation line of the kind; 'answer' holds the sentences that the passages support."""
    style = s.pick(["nouns", "question", "statements"]) if kind == "one-unseen-wording" else ""
    p = supporting(s, **({style: True} if style else {}))
    f = s.pick(p.facts)
    if kind == "one" or style:
        a = ask(s, f, held_out=style == "question")
        return dict(kind=kind, device=side(s, p, [f.entity]), cloud=[], question=a.question, answer=answer_text(a, f.value),
                    values=[f.value])
    if kind == "two-split":
        q = supporting(s, avoid=[x.entity for x in p.facts])
        g = s.pick(q.facts)
        if f.value.lower() == g.value.lower():
            return line(s, kind)
        question, a, b = ask_two(s, f, g)
        sides = [side(s, p, [f.entity, g.entity]), side(s, q, [f.entity, g.entity])]
        if s.chance(0.5):
            sides.reverse()
        return dict(kind=kind, device=sides[0], cloud=sides[1], question=question,
                    answer=answer_text(a, f.value) + " " + answer_text(b, g.value), values=[f.value, g.value])
    g = absent(s, p.facts)
    if g is None or g.value.lower() == f.value.lower():
        return line(s, kind)
    if kind == "unsupported":
        return dict(kind=kind, device=side(s, p, [g.entity] if g.entity not in {x.entity for x in p.facts} else [f.entity]), cloud=[],
                    question=ask(s, g).question, answer="", values=[])
    question, a, b = ask_two(s, f, g) if kind == "two-first" else ask_two(s, g, f)
    return dict(kind=kind, device=side(s, p, [f.entity, g.entity]), cloud=[], question=question,
                answer=answer_text(a if kind == "two-first" else b, f.value), values=[f.value])


def lines(seed="heldout"):
    for kind, n in COUNTS.items():
        s = Source("%s-%s" % (seed, kind), held_out=True)
        for _ in range(n):
            yield line(s, kind)
    yield from hand.items()


def replies(n, seed="heldout"):
    """Conversations that ask for a reply: context, prompt and the reply."""
    s = Source(seed + "-replies", held_out=True)
    for _ in range(n):
        context, (branch,) = tasks.reply(s)
        prompt = branch.prompt.removeprefix("\nQuestion: ").removesuffix("\nAnswer:")
        yield dict(context=context.removeprefix("Context: "), prompt=prompt, answer=branch.pieces[0][0].strip())


if __name__ == "__main__":
    from . import worlds
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("path")
    a.add_argument("--worlds", type=int, default=0, help="write N worlds, gzipped, instead of the items")
    a.add_argument("--replies", type=int, default=0, help="write N conversations that ask for a reply, instead of the items")
    a.add_argument("--seed", default="heldout")
    args = a.parse_args()
    if args.worlds:
        worlds.write(args.path, args.worlds, args.seed)
    else:
        with open(args.path, "w") as f:
            for x in replies(args.replies, args.seed) if args.replies else lines(args.seed):
                f.write(json.dumps(x, ensure_ascii=False) + "\n")

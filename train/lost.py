"""The facts that cutting loses: python3 -m train.lost [DOCUMENTS [SHOW]]

The share of the facts of documents whose passages no longer say what they are about, because the sentence or the heading that said so went
into another passage; and the first SHOW of them, with the passages that hold the value and the text before it.
"""
import sys

from .documents import Cut, Cutter, document
from .names import Source


def lost(n, seed="lost"):
    """Yields every fact of n documents with the evaluation's names: (fact, document's text, its Cuts). Cuts is None if one of them states the fact."""
    s, cutter = Source(seed, held_out=True), Cutter()
    for _ in range(n):
        name, text, parts = document(s, set())
        cuts = [Cut(title, body, parts) for title, body in cutter("%02d-%s" % (s.between(1, 24), name), text)]
        stated = {id(f) for c in cuts for f in c.facts}
        for f in (f for p in parts for f in p.facts):
            yield f, text, None if id(f) in stated else cuts
    cutter.close()


def main():
    n, show = ([int(x) for x in sys.argv[1:]] + [2500, 0][len(sys.argv) - 1:])[:2]
    facts = list(lost(n))
    gone = [x for x in facts if x[2] is not None]
    print("%d of %d facts lost: %.4f" % (len(gone), len(facts), len(gone) / len(facts)))
    for f, text, cuts in gone[:show]:
        print("\n%s | %s | %s" % (f.entity, f.noun, f.value))
        for c in cuts:
            if f.value.lower() in c.text.lower():
                print("  [%s] %s" % (c.title, c.text.replace("\n", " / ")))
        at = text.lower().find(f.value.lower())
        print("  %s" % text[max(0, at - 250):at + len(f.value)].replace("\n", " / "))


if __name__ == "__main__":
    main()

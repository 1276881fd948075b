"""Words that may stand for one another, or go together: from Open English WordNet, from relations.txt and from the words' vectors.

    python3 -m train.span.relations OEWN/src/yaml WORK READER.gguf     writes WORK/relations.pkl

A pair of words has the grade of its likeliest class. The grade of a class is measured on the question sets: how much more often its pairs
join a question to the sentence that answers than to another sentence of the passage."""
import collections
import glob
import os
import pickle
import sys

import numpy as np

from .words import IRREGULAR, STOP, parts, stem

OWN = os.path.join(os.path.dirname(__file__), "relations.txt")
IRREGULAR_FORMS = dict(IRREGULAR)
SENSES = 2  # the first meanings of a word are what people mean by it


def _plain(word):
    return word.isascii() and word.isalpha() and word.islower() and len(word) > 2 and word not in STOP


def _load(folder):
    """-> {id: synset}, {(word, part of speech): [(synset, derivation's sense ids, sense id)]}, {sense id: word}."""
    import yaml
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    synsets, senses, words = {}, {}, {}
    for f in sorted(glob.glob(os.path.join(folder, "*.yaml"))):
        name = os.path.basename(f)
        if name.startswith(("noun", "verb", "adj", "adv")):
            synsets.update(yaml.load(open(f, encoding="utf-8"), loader))
        elif name.startswith("entries-"):
            for word, parts in yaml.load(open(f, encoding="utf-8"), loader).items():
                for pos, x in parts.items():
                    of = [(s["synset"], s.get("derivation", []), s["id"]) for s in x.get("sense", [])]
                    words.update((s[2], word) for s in of)
                    senses.setdefault((word, pos[:1]), []).extend(of)
    return synsets, senses, words


def of_wordnet(folder):
    """Pairs of words by class: same1 (first meanings of both), same2, derived, kind1 (the wider meaning of a first one), kind2."""
    synsets, senses, words = _load(folder)
    out = collections.defaultdict(set)
    rank = {}
    for (word, pos), of in senses.items():
        for k, (synset, _, _) in enumerate(of):
            rank[word, synset] = k
    for (word, pos), of in senses.items():
        if not _plain(word):
            continue
        for k, (synset, derived, _) in enumerate(of[:4]):
            x = synsets.get(synset, {})
            for m in x.get("members", []):
                if m != word and _plain(m):
                    out["same1" if k < SENSES and rank.get((m, synset), 9) < SENSES else "same2"].add((word, m))
            if k < SENSES:
                for d in derived:
                    if _plain(words.get(d, "")):
                        out["derived"].add((word, words[d]))
                wider = list(x.get("hypernym", [])) + list(x.get("similar", []))
                for h in wider:
                    for m in synsets.get(h, {}).get("members", [])[:3]:
                        if _plain(m):
                            out["kind1" if k == 0 else "kind2"].add((word, m))
    return out


def of_us(path=OWN):
    """Pairs of the lines "head: near … | related …": near, related1 (the first three), related2."""
    out = collections.defaultdict(set)
    for line in open(path, encoding="utf-8") if os.path.exists(path) else ():
        head, _, rest = line.strip().partition(":")
        near, _, related = rest.partition("|")
        for m in near.split():
            out["near"].add((head, m))
        for k, m in enumerate(related.split()):
            out["related1" if k < 3 else "related2"].add((head, m))
    return out


def of_vectors(path, most=24000, many=5, least=.65):
    """The nearest words by a trained reader's vectors: close."""
    from . import export
    v, c = export.restored(path)
    w, p = (c["model"][k + ".weight"].numpy() for k in ("words", "parts"))
    rows = [i for i, x in enumerate(v.words[:48000]) if _plain(x)][:most]
    x = np.array([w[i + 1] + p[parts(v.words[i])].sum(0) for i in rows])
    x -= x.mean(0)
    x /= np.linalg.norm(x, axis=1, keepdims=True) + 1e-6
    out = collections.defaultdict(set)
    for a in range(0, len(rows), 1000):
        s = x[a:a + 1000] @ x.T
        for i, row in enumerate(s, a):
            for j in np.argpartition(-row, many)[:many]:
                if j != i and row[j] > least:
                    out["close"].add((v.words[rows[i]], v.words[rows[j]]))
    return out


def both(pairs, lemma):
    """Pairs of words as pairs of what they are forms of, both ways."""
    out = set()
    for a, b in pairs:
        a, b = lemma(a), lemma(b)
        if a and b and stem(a) != stem(b):
            out |= {(a, b), (b, a)}
    return out


GRADES = {"derived": .8, "same1": .55, "near": .55, "close": .45, "related1": .4, "same2": .35, "kind1": .3, "kind2": .25, "related2": .3}
STEPS = 9  # a grade is kept as a digit: 1 is 1/10
MOST, LEAST = 32, 3  # neighbours of a word; the lowest grade that is kept
ENDINGS = (("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ied", "y"), ("ing", ""), ("ing", "e"), ("er", ""), ("er", "e"), ("est", ""))


def lemma(low, heads):
    """The head that a lower-case word is a form of, or ""."""
    if low in heads:
        return low
    if IRREGULAR_FORMS.get(low) in heads:
        return IRREGULAR_FORMS[low]
    for ending, instead in ENDINGS:
        if low.endswith(ending) and len(low) - len(ending) > 1:
            w = low[:-len(ending)]
            if w + instead in heads:
                return w + instead
            if not instead and len(w) > 3 and w[-1] == w[-2] and w[:-1] in heads:
                return w[:-1]
    return ""


OURS, DICTIONARY = ("near", "related1", "related2"), ("same1", "same2", "derived", "kind1", "kind2")


def _words(classes, names):
    return {w for name in names for p in classes.get(name, ()) for w in p}


def left_out(classes):
    """Our own words that are no form of any of the dictionary's, so that table ignores their pairs; sorted."""
    heads = _words(classes, DICTIONARY)
    return sorted(w for w in _words(classes, OURS) if not lemma(w, heads))


def table(classes, known):
    """{word: {word: grade from 1 to STEPS}} of the dictionary's words that are known or ours. Two classes that agree make a pair likelier.
    Pairs of words that the dictionary lacks are ignored: see left_out."""
    heads = _words(classes, DICTIONARY) & (set(known) | _words(classes, OURS))
    doubt = {}
    for name, pairs in classes.items():
        for p in both(pairs, lambda w: lemma(w, heads)):
            doubt[p] = doubt.get(p, 1) * (1 - GRADES[name])
    out = {}
    for (a, b), d in doubt.items():
        out.setdefault(a, []).append((min(STEPS, int(10 * (1 - d) + .5)), b))
    chosen = {a: {b: g for g, b in sorted(of, key=lambda x: (-x[0], x[1]))[:MOST] if g >= LEAST} for a, of in out.items()}
    return {a: of for a, of in chosen.items() if of}


def lines(t):
    """The table as the exported file has it: "word other5 another3", sorted."""
    return [" ".join([a] + [b + str(g) for b, g in sorted(of.items())]) for a, of in sorted(t.items()) if of]


def parsed(rows):
    return {r.split(" ")[0]: {x[:-1]: int(x[-1]) for x in r.split(" ")[1:]} for r in rows}


if __name__ == "__main__":
    folder, work, reader = sys.argv[1:]
    classes = collections.defaultdict(set)
    for found in (of_us(), of_wordnet(folder), of_vectors(reader)):
        for name, pairs in found.items():
            classes[name] |= pairs
    from . import export
    t = table(classes, export.restored(reader)[0].words)
    pickle.dump(t, open(work + "/relations.pkl", "wb"))
    if out := left_out(classes):
        print(f"warning: {len(out)} of the {len(_words(classes, OURS))} words of relations.txt are not in the dictionary, and their pairs are ignored:",
              " ".join(out), file=sys.stderr)
    print({name: len(pairs) for name, pairs in sorted(classes.items())})
    print(len(t), "words", sum(map(len, t.values())) // 2, "pairs", sum(len(x) + 1 for x in lines(t)), "bytes")

"""Words and what they mean, from Open English WordNet: text for the word vectors, everyday words for the vocabulary, synonyms for questions.

    python3 -m train.span.lexicon OEWN/src/yaml WORK      writes WORK/lexicon.pkl

Only weights come of it: the files stay where they are."""
import glob
import os
import pickle
import re
import sys

import yaml

NAMES = re.compile(r"[A-Z]|\d")
COMMON = ("noun", "verb", "adj", "adv")


def load(folder):
    """-> (synsets by id, the synsets of each word as the part of speech that has most)."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    synsets, senses = {}, {}
    for f in sorted(glob.glob(os.path.join(folder, "*.yaml"))):
        name = os.path.basename(f)
        content = yaml.load(open(f, encoding="utf-8"), loader)
        if name.startswith(COMMON):
            synsets.update(content)
        elif name.startswith("entries-"):
            for word, parts in content.items():
                senses[word] = max(([s["synset"] for s in x.get("sense", [])] for x in parts.values()), key=len)
    return synsets, senses


def texts(synsets):
    """A line for each meaning: its words, what they mean, the words of the wider meaning, and the examples."""
    for x in synsets.values():
        members, meaning = x.get("members", []), x.get("definition", [])
        wider = [m for h in x.get("hypernym", []) if h in synsets for m in synsets[h].get("members", [])[:2]]
        examples = [e if isinstance(e, str) else e.get("text", "") for e in x.get("example", [])]
        yield ", ".join(members) + ": " + "; ".join(meaning) + ". " + ", ".join(members + wider) + ". " + ". ".join(examples)


def synonyms(synsets, senses):
    """{word: the other words of its first meaning that are used in it first, too}."""
    out = {}
    for word, of in senses.items():
        if of and len(word) > 2 and not NAMES.search(word):
            others = [m for m in synsets.get(of[0], {}).get("members", []) if m != word and not NAMES.search(m) and senses.get(m, [""])[:1] == of[:1]]
            if others:
                out[word] = others
    return out


if __name__ == "__main__":
    synsets, senses = load(sys.argv[1])
    words = {w.lower() for w in senses if w.isalpha() and w[0].islower()}
    pickle.dump((list(texts(synsets)), words, synonyms(synsets, senses)), open(sys.argv[2] + "/lexicon.pkl", "wb"))
    print(len(synsets), "meanings", len(words), "words")

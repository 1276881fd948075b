"""Byte-level BPE with the qwen2 pre-tokenizer: training and encoding.

The pattern is qwen2's with \\p{L} and \\p{N} written for Python's re ([^\\W\\d_] and \\d). The two agree on every text
without rare number characters outside category Nd (superscripts, Roman numeral signs), which the generator never writes.
"""
import collections
import heapq
import json
import re

PATTERN = re.compile(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|(?:[^\r\n\w]|_)?[^\W\d_]+|\d| ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
END_OF_TEXT = "<|endoftext|>"
NONE = "<|none|>"


def _byte_alphabet():
    """GPT-2's printable stand-in character for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table, extra = {}, 0
    for b in range(256):
        if b in printable:
            table[b] = chr(b)
        else:
            table[b] = chr(256 + extra)
            extra += 1
    return table


CHAR_OF_BYTE = _byte_alphabet()
BYTE_OF_CHAR = {c: b for b, c in CHAR_OF_BYTE.items()}


class Tokenizer:
    """Token 0 is END_OF_TEXT (also bos and pad), then the 256 bytes, the merges in order, and last NONE, which no text has:
    where an answer's sentence begins, its probability is that of the passage not supporting the sentence."""

    def __init__(self, merges):
        self.merges = [tuple(m) for m in merges]
        self.tokens = [END_OF_TEXT] + [CHAR_OF_BYTE[b] for b in range(256)] + [a + b for a, b in self.merges] + [NONE]
        self.none = len(self.tokens) - 1
        self.id_of = {t: i for i, t in enumerate(self.tokens)}
        self.rank = {m: i for i, m in enumerate(self.merges)}
        self._cache = {}

    def _word(self, w):
        ids = self._cache.get(w)
        if ids is None:
            parts = [CHAR_OF_BYTE[b] for b in w.encode()]
            while len(parts) > 1:
                best = min(range(len(parts) - 1), key=lambda i: self.rank.get((parts[i], parts[i + 1]), 1 << 30))
                if (parts[best], parts[best + 1]) not in self.rank:
                    break
                parts[best:best + 2] = [parts[best] + parts[best + 1]]
            ids = [self.id_of[p] for p in parts]
            if len(self._cache) < 300000:
                self._cache[w] = ids
        return ids

    def encode(self, text):
        out = []
        for w in PATTERN.findall(text):
            out += self._word(w)
        return out

    def decode(self, ids):
        return bytes(BYTE_OF_CHAR[c] for i in ids if 0 < i < self.none for c in self.tokens[i]).decode("utf-8", "replace")

    def save(self, path):
        with open(path, "w") as f:
            json.dump({"merges": self.merges}, f)

    @classmethod
    def load(cls, path):
        with open(path) as f:
            return cls(json.load(f)["merges"])


def learn(texts, vocab):
    """Learn merges from the texts until the vocabulary has `vocab` tokens; ties go to the smaller pair."""
    counts = collections.Counter()
    for t in texts:
        counts.update(PATTERN.findall(t))
    words = [([CHAR_OF_BYTE[b] for b in w.encode()], n) for w, n in counts.items()]
    pairs, where = collections.Counter(), collections.defaultdict(set)
    for i, (parts, n) in enumerate(words):
        for p in zip(parts, parts[1:]):
            pairs[p] += n
            where[p].add(i)
    heap = [(-n, p) for p, n in pairs.items()]
    heapq.heapify(heap)
    merges, known = [], set()
    while len(merges) + 258 < vocab and heap:
        n, pair = heapq.heappop(heap)
        if pairs.get(pair, 0) != -n:
            if pairs.get(pair, 0) > 0:
                heapq.heappush(heap, (-pairs[pair], pair))
            continue
        if pair[0] + pair[1] in known:  # the same token in another way: skip it, ids must be unique
            pairs.pop(pair)
            continue
        merges.append(pair)
        known.add(pair[0] + pair[1])
        changed = set()
        for i in list(where[pair]):
            parts, n = words[i]
            merged, j = [], 0
            while j < len(parts):
                if parts[j:j + 2] == [*pair]:
                    merged.append(pair[0] + pair[1])
                    j += 2
                else:
                    merged.append(parts[j])
                    j += 1
            if len(merged) == len(parts):
                continue
            for q in zip(parts, parts[1:]):
                pairs[q] -= n
            for q in zip(merged, merged[1:]):
                pairs[q] += n
                where[q].add(i)
                changed.add(q)
            words[i] = (merged, n)
        pairs.pop(pair, None)
        for q in changed:
            if pairs.get(q, 0) > 0:
                heapq.heappush(heap, (-pairs[q], q))
    return Tokenizer(merges)

"""python3 -m train.styles FILE: tells in which style the texts of FILE are, JSON lines with "tone" and "text", as lab rewrite tone --json --sentences prints.

The classifier is a logistic regression over words, pairs of words and marks. It learns from the sentences of styles.txt and knows nothing
of the adapters. It prints how often it is right about sentences of styles.txt that it did not learn from, and about FILE.
"""
import json
import os
import re
import sys

import numpy as np

from .tones import TONES


def features(text):
    words = re.findall(r"[a-z]+(?:'[a-z]+)?|[!?:,]", text.lower())
    return set(words) | {a + " " + b for a, b in zip(["^"] + words, words)}


def learn(lines, steps=400, rate=0.5, decay=0.003):
    """lines: (tone, text). -> (index of features, weights [features × tones])."""
    index = {f: i for i, f in enumerate(sorted({f for _, x in lines for f in features(x)}))}
    x = np.stack([vector(index, text) for _, text in lines])
    y = np.eye(len(TONES))[[TONES.index(t) for t, _ in lines]]
    w = np.zeros((x.shape[1], len(TONES)))
    for _ in range(steps):
        p = np.exp(x @ w)
        w -= rate * (x.T @ (p / p.sum(1, keepdims=True) - y) / len(lines) * 4 + decay * w)
    return index, w


def vector(index, text):
    out = np.zeros(len(index) + 1)
    out[-1] = 1
    found = [index[f] for f in features(text) if f in index]
    out[found] = 1 / np.sqrt(max(1, len(found)))
    return out


def style(model, text):
    index, w = model
    return TONES[int(np.argmax(vector(index, text) @ w))]


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "styles.txt"), encoding="utf-8") as f:
        lines = [tuple(x.strip().split(" ", 1)) for x in f if x.strip() and not x.startswith("#")]
    right = 0
    for k in range(10):
        model = learn([x for i, x in enumerate(lines) if i % 10 != k])
        right += sum(style(model, text) == tone for i, (tone, text) in enumerate(lines) if i % 10 == k)
    print("of its own %d sentences, each left out once: %.3f right" % (len(lines), right / len(lines)))
    model, table = learn(lines), {t: [0, 0] for t in TONES}
    with open(sys.argv[1], encoding="utf-8") as f:
        for line in f:
            item = json.loads(line)
            table[item["tone"]][0] += style(model, item["text"]) == item["tone"]
            table[item["tone"]][1] += 1
    for tone, (a, b) in table.items():
        print("%-8s %d of %d" % (tone, a, b))


if __name__ == "__main__":
    main()

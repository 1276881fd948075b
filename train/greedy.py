"""Greedy answers of an exported model, read back from its GGUF file: python3 -m train.greedy reader.gguf eval.jsonl

The context holds one passage here: for each half, the supporting one. The program itself measures what the pair makes of
four passages on each side (lab reader).
"""
import json
import sys

import torch

from . import kernels
from .examples import indented, turn
from .export import load
from .model import logits

LONGEST = 64


class Reader:
    """The model of a GGUF file that export wrote."""

    def __init__(self, path):
        self.config, weights, self.tokenizer = load(path)
        self.weights = {k: v.bfloat16() if v.dim() == 2 else v for k, v in weights.items()}

    @torch.no_grad()
    def answer(self, prompts):
        """Greedy continuations of the prompts (texts without the first token), up to the end token."""
        rows = [[0] + self.tokenizer.encode(p) for p in prompts]
        starts, done = [len(r) for r in rows], [False] * len(rows)
        for _ in range(LONGEST):
            T = max(map(len, rows))
            ids, segments = torch.zeros(len(rows), T, dtype=torch.long), torch.full((len(rows), T), -1, dtype=torch.int32)
            for i, r in enumerate(rows):
                ids[i, :len(r)], segments[i, :len(r)] = torch.tensor(r), 0
            last = torch.tensor([i * T + len(r) - 1 for i, r in enumerate(rows)])
            best = logits(self.config, self.weights, ids, torch.arange(T).expand(len(rows), T), segments, last)
            best[:, self.tokenizer.none] = -float("inf")
            best = best.argmax(-1)
            for i, token in enumerate(best.tolist()):
                done[i] = done[i] or token == 0
                if not done[i]:
                    rows[i].append(token)
            if all(done):
                break
        return [self.tokenizer.decode(r[n:]).strip() for r, n in zip(rows, starts)]


def document(passage):
    """The passage as the program passes it to the template: as the system message."""
    return (passage["title"] + "\n" if passage["title"] else "") + passage["text"]


def prompt(passage, question):
    return indented("Context: " + document(passage)) + turn(question)


def holds(passage, value):
    return value.lower() in (passage["title"] + "\n" + passage["text"]).lower()


def halves(item):
    """The passage for each supported sentence: the first that holds its value."""
    passages = item["device"] + item["cloud"]
    return [next((p for p in passages if holds(p, v)), None) for v in item["values"]]


def evaluate(reader, items, size=32, show=False):
    """-> {kind: (exact, n)}: exact: every supported sentence of the answer is in the greedy answer from its passage."""
    asked = [(i, v, p) for i, x in enumerate(items) for v, p in zip(x["values"], halves(x)) if p]
    right = {i: True for i, _, _ in asked}
    for k in range(0, len(asked), size):
        part = asked[k:k + size]
        for (i, v, p), answer in zip(part, reader.answer([prompt(p, items[i]["question"]) for i, _, p in part])):
            wanted = items[i]["answer"] if len(items[i]["values"]) == 1 else next(
                (s for s in sentences(items[i]["answer"], items[i]["values"]) if v in s), v)
            ok = wanted in answer
            right[i] = right[i] and ok
            if show and not ok:
                print("-", items[i]["question"], "| want:", wanted, "| got:", answer)
    result = {}
    for i, ok in right.items():
        n = result.setdefault(items[i]["kind"], [0, 0])
        n[0] += ok
        n[1] += 1
    return result


def sentences(answer, values):
    """Split a two-part answer after its first value."""
    at = answer.index(values[0]) + len(values[0])
    at = answer.index(" ", at) if " " in answer[at:] else len(answer)
    return [answer[:at], answer[at + 1:]]


if __name__ == "__main__":
    torch.set_num_threads(2)
    kernels.keep_memory()
    with open(sys.argv[2]) as f:
        all_items = [json.loads(l) for l in f]
    for kind, (ok, n) in evaluate(Reader(sys.argv[1]), all_items, show="--show" in sys.argv).items():
        print("%-20s %.3f  (%d of %d)" % (kind, ok / n, ok, n))

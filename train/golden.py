"""Prompts, token ids and greedy answers for the tests of other programs: python3 -m train.golden reader.gguf eval.jsonl out.jsonl

Only prompts with a clear winner at every greedy step (the best logit leads by MARGIN) are kept, so that another engine's rounding
cannot change an answer.
"""
import json
import sys

import torch

from .greedy import Reader, document, halves, prompt
from .model import logits

COUNT, MARGIN = 40, 1.0


@torch.no_grad()
def margins(reader, ids, start):
    """By how much the best logit leads at each position that predicts ids[start:] and the end."""
    x, T = torch.tensor([ids]), len(ids)
    out = logits(reader.config, reader.weights, x, torch.arange(T)[None], torch.zeros(1, T, dtype=torch.int32)).float()
    out[:, reader.tokenizer.none] = -float("inf")
    top = out[start - 1:].topk(2, -1)
    return top.values[:, 0] - top.values[:, 1], top.indices[:, 0].tolist()


def golden(reader, items):
    for x in items:
        p = next((p for p in halves(x) if p), None)
        if p is None:
            continue
        text = prompt(p, x["question"])
        ids = [0] + reader.tokenizer.encode(text)
        answer = reader.tokenizer.encode(" " + reader.answer([text])[0])
        lead, best = margins(reader, ids + answer, len(ids))
        if best == answer + [0] and lead.min() >= MARGIN:
            yield {"system": document(p), "question": x["question"], "prompt": text,
                   "ids": ids, "answer_ids": answer + [0], "answer": reader.tokenizer.decode(answer)}


if __name__ == "__main__":
    with open(sys.argv[2]) as f:
        found = golden(Reader(sys.argv[1]), [json.loads(l) for l in f][::5])
        with open(sys.argv[3], "w") as out:
            for _, x in zip(range(COUNT), found):
                out.write(json.dumps(x, ensure_ascii=False) + "\n")

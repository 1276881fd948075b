"""python3 -m train.span --work DIR: the stages of training (README.md)."""
import argparse
import os
import pickle
import random

import numpy as np
import torch

from . import data, export, features, kernels, loop, model as shape
from ..kernels import keep_memory
from .model import Reader
from .words import BUCKETS, Vocabulary

a = argparse.ArgumentParser(prog="python3 -m train.span", description="Train the span reader.")
a.add_argument("stage", choices=("cloze", "questions"))
a.add_argument("--work", default="build/span")
a.add_argument("--minutes", type=float, default=30)
a.add_argument("--out", default="span")
a.add_argument("--start", default="", help="a checkpoint, or an exported file with its words, to go on from")
a.add_argument("--threads", type=int, default=1)
a.add_argument("--tokens", type=int, default=5000)
a.add_argument("--layers", type=int, default=2)
a.add_argument("--rate", type=float, default=.001)
a.add_argument("--mix", default="cloze=1")
a.add_argument("--races", type=float, default=0, help="the share of the batches that are races (race.py)")
a.add_argument("--decay", type=float, default=0, help="the last share of the time in which the rates fall to 0")
a.add_argument("--steps", type=int, default=0)
a.add_argument("--seed", type=int, default=1)
a.add_argument("--workers", type=int, default=1, help="processes that share their weights by their mean")
a.add_argument("--drop", type=float, default=.1)
a.add_argument("--frozen", action="store_true", help="the words' tables stay as they are, so that what is learnt holds for words that training has not")
o = a.parse_args()
torch.set_num_threads(o.threads)
if kernels.build():
    shape.ops = kernels.Compiled
keep_memory()
torch.manual_seed(o.seed)
random.seed(o.seed)
np.random.seed(o.seed)
W = o.work + "/"
start = None
if o.start:
    start = export.restored(o.start)[1] if o.start.endswith(".gguf") else dict(torch.load(o.start))
    v = Vocabulary(*start["vocabulary"])
    vectors = [start["model"][k + ".weight"].numpy() for k in ("words", "parts")]
    model = Reader(**start["shape"], drop=o.drop)
else:
    v = Vocabulary(*pickle.load(open(W + "vocabulary.pkl", "rb")))
    raw = np.fromfile(W + "vec.bin", np.float32).reshape(-1, 128)
    known = len(v.words) + 1
    vectors = raw[:known], raw[known:known + BUCKETS]
    spread = np.std([vectors[0][i + 1] for i in range(12000)])
    model = Reader(known - 1, layers=o.layers, drop=o.drop, vectors=[x / spread * .35 for x in vectors])
if os.path.exists(W + "relations.pkl"):
    v.relations = pickle.load(open(W + "relations.pkl", "rb"))
    if start and not start.get("related"):
        start["model"] = model.without_related(start["model"])
features.relate(v.relations)
print("parameters", sum(p.numel() for p in model.parameters()), "without tables", sum(p.numel() for n, p in model.named_parameters() if n not in ("words.weight", "parts.weight")), flush=True)
for table in model.tables():
    table.requires_grad_(not o.frozen)
optimizer = loop.Optimizer(model, o.rate)
if start:
    model.load_state_dict(start["model"])
    if start.get("optimizer") and not o.frozen:
        optimizer.restore(start["optimizer"])


def sources():
    mix = dict(x.split("=") for x in o.mix.split(","))
    out = []
    if "cloze" in mix:
        out.append((float(mix["cloze"]), data.Prose(v, pickle.load(open(W + "docs.pkl", "rb")), data.neighbours(v, vectors)).item))
    if "sets" in mix:
        P, T = pickle.load(open(W + "train.pkl", "rb"))
        out.append((float(mix["sets"]), data.Questions(v, P, T).item))
    if "notes" in mix:
        from . import notes
        out.append((float(mix["notes"]), lambda: notes.item(v)))
    if "layouts" in mix:
        from . import pages, values
        if os.path.exists(W + "lexicon.pkl"):
            data.learn_words(W + "lexicon.pkl", v.words)
        values.learn(pickle.load(open(W + "docs.pkl", "rb")), v.words)
        out.append((float(mix["layouts"]), lambda: pages.item(v)))
    return out


def batches():
    from . import race
    found = sources()
    plain = data.stream(v, found, o.tokens)
    sets = [x.__self__ for _, x in found if isinstance(getattr(x, "__self__", None), data.Questions)]
    races = [(.45, race.Sets(x).race) for x in sets] + [(.37, lambda: race.of_pages(v)), (.18, lambda: race.of_notes(v))]
    while True:
        yield race.batch(v, races, o.tokens) if random.random() < o.races else next(plain)


def schedule(share):
    return 1 if share < 1 - o.decay or not o.decay else max(.02, (1 - share) / o.decay)


def checkpoint():
    path = W + o.out + ".pt"
    torch.save(dict(model=model.state_dict(), optimizer=optimizer.state(), shape=model.shape, related=bool(v.relations), vocabulary=(v.words, v.idfs, v.relations)), path + ".new")
    os.replace(path + ".new", path)


def log(row):
    with open(W + "log.csv", "a") as f:
        f.write(",".join([o.out] + ["%g" % row[k] if row[k] is not None else "" for k in ("minutes", "steps", "questions", "words", "loss")]) + "\n")


def work(me, mean):
    torch.set_num_threads(o.threads)
    torch.manual_seed(o.seed * 100 + me)
    nothing = lambda *_: None
    loop.run(model, batches, o.minutes, schedule, optimizer, nothing if me else log, nothing if me else checkpoint,
             name=o.out + (f".{me}" if me else ""), max_steps=o.steps, seed=o.seed * 100 + me, mean=mean, me=me)


mean = loop.Mean(model, o.workers) if o.workers > 1 else None
for k in range(1, o.workers):
    if os.fork() == 0:
        work(k, mean)
        os._exit(0)
work(0, mean)

"""python3 -m train.span --work DIR: training with questions (README.md)."""
import argparse
import os
import pickle
import random

import numpy as np
import torch

from . import data, export, features, feed, kernels, loop, model as shape, pretrain, searched
from ..kernels import keep_memory
from .model import Reader

a = argparse.ArgumentParser(prog="python3 -m train.span", description="Train the span reader with questions.")
a.add_argument("stage", choices=("questions", "feed"), help="feed: only make batches, for a GPU that takes them faster than one process makes them")
a.add_argument("--work", default="build/span")
a.add_argument("--minutes", type=float, default=30)
a.add_argument("--out", default="span")
a.add_argument("--words", default="", help="an exported file whose words and related words are used; default: WORK's")
a.add_argument("--start", default="", help="what to go on from: a checkpoint, an exported file, or what pretrain.py wrote (WORK/pretrained)")
a.add_argument("--device", default="cpu")
a.add_argument("--pool", default="", help="a folder of batches that feed makes")
a.add_argument("--gigabytes", type=float, default=40, help="of the pool")
a.add_argument("--threads", type=int, default=1)
a.add_argument("--tokens", type=int, default=5000)
a.add_argument("--encoders", type=int, default=4)
a.add_argument("--layers", type=int, default=2)
a.add_argument("--grow", type=int, default=0, help="blocks to add to --start where passage and question meet; they change nothing at first")
a.add_argument("--still", type=int, default=0, help="so many of the first blocks that read a text alone stay as they are, which saves most of their time; with --frozen")
a.add_argument("--rate", type=float, default=.001)
a.add_argument("--mix", default="cloze=.08,sets=.45,layouts=.32,notes=.15")
a.add_argument("--races", type=float, default=0, help="the share of the batches that are races (race.py)")
a.add_argument("--searched", default="", help="files that lab answers --found printed: questions with the passages found for them, for races: FILE,FILE=TIMES; TIMES weighs a file's sets")
a.add_argument("--passages", type=int, default=searched.PASSAGES, help="of a question of --searched in a race at most")
a.add_argument("--searched-share", type=float, default=.5, help="of the races")
a.add_argument("--decay", type=float, default=0, help="the last share of the time in which the rates fall to 0")
a.add_argument("--steps", type=int, default=0)
a.add_argument("--every", type=float, default=5, help="minutes between two checkpoints")
a.add_argument("--seed", type=int, default=1)
a.add_argument("--workers", type=int, default=1, help="processes: of feed, or that share their weights by their mean")
a.add_argument("--drop", type=float, default=.1)
a.add_argument("--average", type=float, default=0, help="keep the running mean of the weights, with this decay")
a.add_argument("--frozen", action="store_true", help="the words' tables stay as they are, so that what is learnt holds for words that training has not")
o = a.parse_args()
torch.set_num_threads(o.threads)
if o.device.startswith("cuda"):
    shape.ops = shape.Fused
elif kernels.build():
    shape.ops = kernels.Compiled
keep_memory()
torch.manual_seed(o.seed)
random.seed(o.seed)
np.random.seed(o.seed)
W = o.work + "/"


def begun():
    """-> (vocabulary, the reader to train)."""
    weights = None
    if os.path.exists(o.start + ".net.pt"):
        v, _ = pretrain.words(o.words, o.work)
        weights = pretrain.joined(o.start)
        kept = {k.split(".")[1] for k in weights if k.startswith("encoder.")}, {k.split(".")[1] for k in weights if k.startswith("blocks.")}
        m = Reader(len(v.words), d=len(weights["encoded.weight"]), encoders=len(kept[0]), layers=len(kept[1]), drop=o.drop)
    elif o.start:
        v, start = export.restored(o.start) if o.start.endswith(".gguf") else export.loaded(o.start)
        m, weights = Reader(**start["shape"], drop=o.drop), start["model"]
    else:
        v, vectors = pretrain.words(o.words, o.work)
        m = Reader(len(v.words), encoders=o.encoders, layers=o.layers, drop=o.drop, vectors=vectors)
    if weights:
        m.load_state_dict(weights)
    m.grow(o.grow)
    return v, m.to(o.device)


def sources(v, vectors):
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


def batches(v, found):
    from . import race
    plain = data.stream(v, found, o.tokens)
    sets = [x.__self__ for _, x in found if isinstance(getattr(x, "__self__", None), data.Questions)]
    races = [(.45, race.Sets(x).race) for x in sets] + [(.37, lambda: race.of_pages(v)), (.18, lambda: race.of_notes(v))]
    if o.searched:
        folders = searched.Searched(v, *searched.lines_of(o.searched), most=o.passages)
        races = [(w * (1 - o.searched_share), r) for w, r in races] + [(o.searched_share, folders.race)]
    while True:
        yield race.batch(v, races, o.tokens) if random.random() < o.races else next(plain)


def schedule(share):
    return 1 if share < 1 - o.decay or not o.decay else max(.005, (1 - share) / o.decay)


def log(row):
    with open(W + "log.csv", "a") as f:
        f.write(",".join([o.out] + ["%g" % row[k] if row[k] is not None else "" for k in ("minutes", "steps", "questions", "words", "loss")]) + "\n")


def train(v, m, vectors, me=0, mean=None):
    torch.set_num_threads(o.threads)
    torch.manual_seed(o.seed * 100 + me)
    average = loop.Average(m, o.average) if o.average else None

    def checkpoint():
        if me == 0:
            export.save(W + o.out, v, m.shape, average.kept if average else m.state_dict())

    def probe():
        return feed.right(m, tried)

    tried = feed.development(v, W) if o.device != "cpu" else []
    made = feed.pooled(o.pool, o.device) if o.pool else loop.produced(lambda: batches(v, sources(v, vectors)), seed=o.seed * 100 + me)
    loop.run(m, made, o.minutes, schedule, loop.Optimizer(m, o.rate), (lambda _: None) if me else log, checkpoint, every=o.every, name=o.out + (f".{me}" if me else ""),
             max_steps=o.steps, mean=mean, me=me, average=average, probe=probe if tried else None)


if o.stage == "feed":
    v, vectors = pretrain.words(o.words, o.work)
    features.relate(v.relations)
    found = sources(v, vectors)
    feed.work(lambda: batches(v, found), o.pool, o.workers, o.gigabytes, o.minutes, o.seed)
else:
    v, m = begun()
    features.relate(v.relations)
    for table in m.tables():
        table.requires_grad_(not o.frozen)
    for p in m.first(o.still):
        p.requires_grad_(False)
    print("parameters", sum(p.numel() for p in m.parameters()), "without tables", sum(p.numel() for n, p in m.named_parameters() if n not in export.TABLES), flush=True)
    vectors = [t.detach().float().cpu().numpy() for t in m.tables()]
    mean = loop.Mean(m, o.workers) if o.workers > 1 else None
    for k in range(1, o.workers):
        if os.fork() == 0:
            train(v, m, vectors, k, mean)
            os._exit(0)
    train(v, m, vectors, 0, mean)

"""The training run: one schedule, linear to zero by wall-clock, resumable at any moment."""
import csv
import os
import signal
import time

import numpy as np
import torch
import torch.nn.functional as F

from . import examples, kernels, plot
from .data import CONTEXT_KIND, Feed
from .evaluate import exact_by_kind, make_cuts, make_items, make_tasks
from .export import export
from .model import Config, Optimizer, grow, init, logits, working

CONTEXT_SHARE = 0.25  # share of the context positions in a step's loss (a tenth of the weight, most of the cost)
WARMUP = 100
COLUMNS = ["minutes", "step", "tokens", "rate", "loss_prefix", "loss_value", "loss_soft", "loss_context", "loss_start", "loss_none",
           "one", "two_first", "two_second", "two_both", "unseen", "loss_task", "summary", "screen", "reply", "cut"]


def save(path, c, p, optimizer, progress):
    torch.save({"config": c.__dict__, "weights": p, "optimizer": optimizer.state(), "progress": progress}, path + ".new")
    os.replace(path + ".new", path)


def load(path):
    """-> (Config, float32 weights, optimizer state, progress) of a checkpoint."""
    s = torch.load(path, map_location="cpu")
    return Config(**s["config"]), s["weights"], s["optimizer"], s["progress"]


def prepare(path, c, seed, rate, dev, log, start=None):
    """-> (Config, weights, Optimizer, progress), weights and optimizer state on device dev: those of the checkpoint at path, grown to
    c's depth; without a checkpoint, the weights start, of shape c, or fresh ones."""
    if not os.path.exists(path):
        p = {k: x.to(dev) for k, x in (start or init(c, seed)).items()}
        return c, p, Optimizer(p, rate), {"step": 0, "tokens": 0, "seconds": 0.0}
    layers = c.layers
    c, p, state, at = load(path)
    if c.layers < layers:
        log("growing from %d to %d layers" % (c.layers, layers))
        c, p, (state["m"], state["v"]) = grow(c, p, (state["m"], state["v"]), layers)
    p = {k: x.to(dev) for k, x in p.items()}
    optimizer = Optimizer(p, rate)
    optimizer.restore(state)
    log("resumed at step %d, %.1f minutes" % (at["step"], at["seconds"] / 60))
    return c, p, optimizer, at


class Threads:
    """Chooses between one thread and all of them by measured speed: on a busy machine, threads that wait for each other lose."""

    TRIAL, PERIOD = 6, 60  # steps

    def __init__(self, most):
        self.options, self.speeds, self.steps = [most, 1] if most > 1 else [1], {}, 0
        self.current = most

    def done(self, tokens, seconds):
        """Record the time of one step and set the number of threads for the next."""
        total = self.speeds.setdefault(self.current, [0, 0.0])
        total[0] += tokens
        total[1] += seconds
        self.steps += 1
        at = self.steps % self.PERIOD
        if at < self.TRIAL * len(self.options):  # try each in turn
            if at == 0:
                self.speeds = {}
            choice = self.options[at // self.TRIAL]
        else:
            choice = max(self.speeds, key=lambda n: self.speeds[n][0] / self.speeds[n][1])
        if choice != self.current:
            self.current = choice
            torch.set_num_threads(choice)


def train(out, tokenizer, minutes, c, device="cpu", threads=2, tokens=6144, rate=0.006, seed=1, snapshot_minutes=15.0, log=print, start=None,
          facts=0):
    """Train a model of shape c for `minutes` of computing time (earlier parts of a resumed run included) and leave reader.gguf, log.csv
    and curve.svg in `out`. A resumed model with fewer layers grows. A new run begins with the weights start, if given. facts: see Feed."""
    torch.set_num_threads(threads)
    kernels.keep_memory()
    checkpoint, csv_path, dev = os.path.join(out, "checkpoint.pt"), os.path.join(out, "log.csv"), torch.device(device)
    c, p, optimizer, at = prepare(checkpoint, c, seed, rate, dev, log, start)
    if at["step"] == 0:
        with open(csv_path, "w") as f:
            csv.writer(f).writerow(COLUMNS)
    log("parameters: %d" % sum(x.numel() for x in p.values()))
    stopping = []
    for s in (signal.SIGTERM, signal.SIGINT):
        signal.signal(s, lambda *_: stopping.append(1))
    total = minutes * 60
    torch.manual_seed(seed + at["step"])
    feed = Feed("train-%d-%d" % (seed, at["step"]), tokenizer, tokens, facts=facts)
    batches = iter(feed)
    items = make_items(80, seed="quick", kinds=("one", "two-first", "two-second", "two-both", "one-unseen-wording")) + make_tasks(40, seed="quick") + make_cuts(300, seed="quick")
    pool = Threads(threads)
    losses, next_report, next_snapshot, last = [], at["seconds"] + 120, at["seconds"] + snapshot_minutes * 60, time.monotonic()

    def report():
        scores = exact_by_kind(c, working(p, grad=False), tokenizer, items, dev)
        mean = np.nanmean(np.array(losses), 0) if losses else [float("nan")] * 7
        row = [round(at["seconds"] / 60, 2), at["step"], at["tokens"], round(factor, 4), *(round(float(x), 4) for x in mean[:6]),
               *(round(scores[k], 3) for k in ("one", "two-first", "two-second", "two-both", "one-unseen-wording")), round(float(mean[6]), 4),
               *(round(scores[k], 3) for k in ("summary", "screen", "reply", "cut"))]
        with open(csv_path, "a") as f:
            csv.writer(f).writerow(row)
        log(" ".join("%s=%s" % x for x in zip(COLUMNS, row)) + " threads=%d" % pool.current)
        losses.clear()

    factor = 1.0
    while at["seconds"] < total and not stopping:
        factor = min(1.0, (at["step"] + 1) / WARMUP) * (1 - at["seconds"] / total)
        begin = time.monotonic()
        losses.append(step(c, p, optimizer, next(batches), factor, dev))
        now = time.monotonic()
        pool.done(step.tokens, now - begin)
        at["step"], at["seconds"], last = at["step"] + 1, at["seconds"] + now - last, now
        at["tokens"] += step.tokens
        if at["seconds"] >= next_report:
            next_report += 120
            report()
            save(checkpoint, c, p, optimizer, at)
        if at["seconds"] >= next_snapshot or at["step"] == 20:
            next_snapshot = max(next_snapshot, at["seconds"] + snapshot_minutes * 60)
            export(os.path.join(out, "reader-snapshot.gguf"), c, p, tokenizer)
    feed.cutter.close()
    save(checkpoint, c, p, optimizer, at)
    if stopping:
        log("stopped; the same command goes on from here")
        return False
    report()
    export(os.path.join(out, "reader.gguf"), c, p, tokenizer)
    plot.write(csv_path, os.path.join(out, "curve.svg"))
    return True


def losses_of(c, w, batch, dev):
    """-> (the loss of a batch, each target's part of it, both on device dev; the kinds of these targets, on the CPU). The positions
    in the loss are chosen on the CPU, where the batch is, so that nothing waits for a GPU."""
    keep = (batch.kinds != CONTEXT_KIND) | (torch.rand_like(batch.weights) < CONTEXT_SHARE)
    selected = ((batch.weights > 0) & keep).nonzero()[:, 0]
    kinds = batch.kinds[selected]
    unsupported = (kinds == examples.NONE).nonzero()[:, 0].to(dev)  # half for the token that says so, half for the sentence's first word
    out = logits(c, w, batch.ids.to(dev), batch.positions.to(dev), batch.segments.to(dev), selected.to(dev)).float()
    each = F.cross_entropy(out, batch.targets[selected].to(dev), reduction="none")
    none = F.cross_entropy(out[unsupported], torch.full_like(unsupported, c.vocab - 1), reduction="none")
    each = each.index_add(0, unsupported, 0.5 * (none - each[unsupported]))
    weights = batch.weights[selected].to(dev)
    return (each * weights).sum() / weights.sum(), each.detach(), kinds


def step(c, p, optimizer, batch, factor, dev):
    """One optimizer step; returns mean losses by kind."""
    step.tokens = batch.ids.numel()
    w = working(p)
    loss, each, kinds = losses_of(c, w, batch, dev)
    loss.backward()
    optimizer.step({k: x.grad for k, x in w.items()}, factor)
    each = each.cpu()
    return [each[kinds == k].mean().item() if (kinds == k).any() else float("nan")
            for k in (examples.PREFIX, examples.VALUE, examples.SOFT, CONTEXT_KIND, examples.START, examples.NONE, examples.TASK)]

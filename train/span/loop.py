"""The training loop: batches from another process, Muon for the layers' matrices, Adam for the rest."""
import math
import os
import time

import numpy as np
import torch

from ..model import orthogonal
from .model import WORST, loss


class Optimizer:
    def __init__(self, model, rate=.008, adam=.0015, table=.0007):
        self.rates = rate, adam
        self.tables = torch.optim.SparseAdam(model.tables(), lr=table)
        self.table = table
        named = [(n, p) for n, p in model.named_parameters() if n not in ("words.weight", "parts.weight")]
        self.matrices = [p for n, p in named if p.dim() == 2 and min(p.shape) >= 32]
        rest = [p for n, p in named if not (p.dim() == 2 and min(p.shape) >= 32)]
        self.adam = torch.optim.Adam(rest, lr=adam, betas=(.9, .98))
        self.momentum = [torch.zeros_like(p) for p in self.matrices]
        self.dense = self.matrices + rest

    def step(self, factor, tables=True):
        torch.nn.utils.clip_grad_norm_(self.dense, 2.0)
        stacks = {}
        for p, m in zip(self.matrices, self.momentum):
            m.mul_(.95).add_(p.grad, alpha=.05)
            stacks.setdefault(tuple(p.shape), []).append((p, torch.lerp(p.grad, m, .95)))
        rate = self.rates[0] * factor
        with torch.no_grad():
            for shape, ps in stacks.items():
                for (p, _), u in zip(ps, orthogonal(torch.stack([g for _, g in ps]))):
                    p.mul_(1 - rate * .05).add_(u, alpha=-rate * .2 * math.sqrt(max(shape)))
        for g in self.adam.param_groups:
            g["lr"] = self.rates[1] * factor
        self.adam.step()
        if tables:
            self.tables.param_groups[0]["lr"] = self.table * factor
            self.tables.step()
        for p in self.dense:
            p.grad = None
        self.tables.zero_grad(set_to_none=True)

    def state(self):
        return {"adam": self.adam.state_dict(), "tables": self.tables.state_dict(), "momentum": self.momentum}

    def restore(self, s):
        self.adam.load_state_dict(s["adam"])
        self.tables.load_state_dict(s["tables"])
        for a, b in zip(self.momentum, s["momentum"]):
            a.copy_(b)


def produced(batches, ahead=6, seed=0):
    """The batches of a generator, made by a process of their own."""
    import queue as queues

    import torch.multiprocessing as mp
    queue = mp.Queue(ahead)

    def work():
        import random
        os.nice(1)
        torch.set_num_threads(1)
        random.seed(seed)
        np.random.seed(seed)
        for b in batches():
            while True:
                try:
                    queue.put(b, timeout=20)
                    break
                except queues.Full:
                    if os.getppid() == 1:  # the trainer is gone
                        return
    process = mp.Process(target=work, daemon=True)
    process.start()
    while True:
        b = queue.get()
        yield {k: torch.from_numpy(x) for k, x in b.items()}


def run(model, batches, minutes, schedule, optimizer, log, checkpoint, every=5, name="", warm=60, max_steps=0, seed=0):
    """Train for a time; schedule: what the rates are multiplied by at a share of it. log(dict) every `every` minutes."""
    begun, step, tokens, questions, mean, last = time.time(), 0, 0, 0, None, time.time()
    right = count = lost = 0
    for b in produced(batches, seed=seed):
        share = (time.time() - begun) / (60 * minutes)
        if share >= 1 or (max_steps and step >= max_steps):
            break
        model.train()
        s, none = model(b)
        each = loss(s, none, b["gold"], b["answerable"])
        if each.max() >= WORST:
            lost += int((each >= WORST).sum())
        l = each.mean()
        l.backward()
        optimizer.step(schedule(share) * min(1, (step + 1) / warm))
        with torch.no_grad():
            best = s.flatten(1).max(1)[1]
            ok = b["gold"].flatten(1).gather(1, best[:, None])[:, 0][b["answerable"]]
            right, count = right + int(ok.sum()), count + len(ok)
        x = l.item()
        mean = x if mean is None else .98 * mean + .02 * x
        step += 1
        questions += len(b["of"])
        tokens += int(b["pn"][b["of"]].sum() + b["qn"].sum())
        if step % 100 == 0:
            t = time.time() - begun
            print(f"{name} {t / 60:.1f} min step {step} questions {questions} loss {mean:.3f} right {right / count:.3f} words/s {tokens / t:.0f} lost {lost}", flush=True)
            right = count = 0
        if time.time() - last > 60 * every:
            last = time.time()
            checkpoint()
            log(dict(minutes=(last - begun) / 60, steps=step, questions=questions, words=tokens, loss=mean))
    checkpoint()
    log(dict(minutes=(time.time() - begun) / 60, steps=step, questions=questions, words=tokens, loss=mean))

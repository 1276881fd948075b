"""The training loop: batches from another process, Adam, several processes with the mean of their weights."""
import os
import time

import numpy as np
import torch

from .model import WORST, loss, race_loss


MEET = 15  # steps between two means
ALONE = .5  # what the loss of each passage by itself counts in a race


class Optimizer:
    """Adam, with rare updates for the words' tables. (Muon for the matrices went astray after half an hour.)"""

    def __init__(self, model, rate=.0015):
        self.rate = rate
        self.tables = torch.optim.SparseAdam(model.tables(), lr=rate / 2)
        tables = {id(p) for p in model.tables()}
        self.dense = [p for p in model.parameters() if id(p) not in tables]
        self.adam = torch.optim.Adam(self.dense, lr=rate, betas=(.9, .98))

    def step(self, factor):
        torch.nn.utils.clip_grad_norm_(self.dense, 2.0)
        for o, rate in ((self.adam, self.rate), (self.tables, self.rate / 2)):
            for g in o.param_groups:
                g["lr"] = rate * factor
            o.step()
            o.zero_grad(set_to_none=True)

    def state(self):
        return {"adam": self.adam.state_dict(), "tables": self.tables.state_dict()}

    def restore(self, s):
        self.adam.load_state_dict(s["adam"])
        self.tables.load_state_dict(s["tables"])


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


class Mean:
    """Weights that several processes share: now and then each goes half the way to the mean of what the others wrote last."""

    def __init__(self, model, workers):
        self.all = torch.zeros(workers, sum(p.numel() for p in model.parameters())).share_memory_()
        self.written = torch.zeros(workers, dtype=torch.int64).share_memory_()

    @torch.no_grad()
    def meet(self, model, me):
        flat = torch.cat([p.detach().flatten() for p in model.parameters()])
        self.all[me].copy_(flat)
        self.written[me] += 1
        others = [i for i in range(len(self.all)) if i != me and self.written[i] > 0]
        if not others:
            return
        flat.add_(self.all[others].mean(0)).mul_(.5)
        k = 0
        for p in model.parameters():
            p.copy_(flat[k:k + p.numel()].view_as(p))
            k += p.numel()


def run(model, batches, minutes, schedule, optimizer, log, checkpoint, every=5, name="", warm=60, max_steps=0, seed=0, mean=None, me=0):
    """Train for a time; schedule: what the rates are multiplied by at a share of it. log(dict) every `every` minutes."""
    begun, step, tokens, questions, average, last = time.time(), 0, 0, 0, None, time.time()
    right = count = lost = 0
    races = won = 0
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
        if "group" in b:
            race = race_loss(s, none, b["gold"], b["answerable"], b["group"])
            races, won = races + len(race), won + float(race.sum())
            l = ALONE * l + race.clamp(max=WORST).mean()
        l.backward()
        optimizer.step(schedule(share) * min(1, (step + 1) / warm))
        with torch.no_grad():
            best = s.flatten(1).max(1)[1]
            ok = b["gold"].flatten(1).gather(1, best[:, None])[:, 0][b["answerable"]]
            right, count = right + int(ok.sum()), count + len(ok)
        x = l.item()
        average = x if average is None else .98 * average + .02 * x
        step += 1
        if mean is not None and step % MEET == 0:
            mean.meet(model, me)
        questions += len(b["of"])
        tokens += int(b["pn"][b["of"]].sum() + b["qn"].sum())
        if step % 100 == 0:
            t = time.time() - begun
            print(f"{name} {t / 60:.1f} min step {step} questions {questions} loss {average:.3f} right {right / count:.3f} words/s {tokens / t:.0f} lost {lost} races {won / max(1, races):.3f}", flush=True)
            right = count = races = won = 0
        if time.time() - last > 60 * every:
            last = time.time()
            checkpoint()
            log(dict(minutes=(last - begun) / 60, steps=step, questions=questions, words=tokens, loss=average))
    checkpoint()
    log(dict(minutes=(time.time() - begun) / 60, steps=step, questions=questions, words=tokens, loss=average))

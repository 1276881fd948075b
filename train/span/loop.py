"""The training loop: batches from another process, Adam, several processes with the mean of their weights."""
import os
import time

import numpy as np
import torch
import torch.nn.functional as F

from .model import WORST, loss, race_loss


MEET = 15  # steps between two means
ALONE = .5  # what the loss of each passage by itself counts in a race
TURNS = 4  # at most: the parts in which the passages of races are read
NEVER = -1e4  # the score of a span where a passage has no words


class Optimizer:
    """Adam, at half the rate for the words' tables. (Muon for the matrices went astray after half an hour.)"""

    def __init__(self, model, rate=.0015):
        self.rate = rate
        tables = {id(p) for p in model.tables()}
        self.dense = [p for p in model.parameters() if id(p) not in tables]
        rows = [p for p in model.tables() if p.requires_grad]
        self.adam = torch.optim.Adam([dict(params=self.dense, share=1)] + ([dict(params=rows, share=.5)] if rows else []), lr=rate, betas=(.9, .98))

    def step(self, factor):
        torch.nn.utils.clip_grad_norm_(self.dense, 2.0)
        for g in self.adam.param_groups:
            g["lr"] = self.rate * factor * g["share"]
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)


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
        try:
            b = queue.get(timeout=2)
        except queues.Empty:
            if process.is_alive():
                continue
            raise SystemExit("train: the process that makes batches has ended; its error is above")
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


class Average:
    """The running mean of a model's weights."""

    def __init__(self, model, decay):
        self.model, self.decay, self.steps = model, decay, 0
        self.kept = {k: x.detach().clone() for k, x in model.state_dict().items()}

    @torch.no_grad()
    def step(self):
        self.steps += 1
        new, share = self.model.state_dict(), 1 - min(self.decay, self.steps / (self.steps + 9))
        torch._foreach_mul_(list(self.kept.values()), 1 - share)
        torch._foreach_add_(list(self.kept.values()), list(new.values()), alpha=share)


@torch.no_grad()
def watched(probe, model, average):
    """What a probe of the mean of the weights says, or of the weights."""
    if average is None:
        return probe()
    own = {k: x.clone() for k, x in model.state_dict().items()}
    model.load_state_dict(average.kept)
    try:
        return probe()
    finally:
        model.load_state_dict(own)


NAMES = ("loss", "right", "asked", "lost", "races", "won")


def divided(lengths, most):
    """The ends of the groups, at most `most`, of ascending lengths that have the fewest words if each text is made as long as its group's longest."""
    best = [(0, [])] + [(float("inf"), [])] * len(lengths)
    ends = [i for i in range(1, len(lengths) + 1) if i == len(lengths) or lengths[i] != lengths[i - 1]]
    for _ in range(most):
        for j in reversed(ends):
            best[j] = min([best[j]] + [(best[i][0] + (j - i) * lengths[j - 1], best[i][1] + [j]) for i in [0] + ends if i < j])
    return best[-1][1]


def read(model, b):
    """What the model says of a batch. The passages of races have all lengths, and half of such a batch is the empty places behind short ones. So
    short ones are read apart from long ones."""
    if "group" not in b:
        return model(b)
    order = b["pn"].argsort()
    lengths = ((b["pn"][order] + 7) // 8 * 8).tolist()
    scores, nones, begin = [], [], 0
    for end in divided(lengths, TURNS):
        k, L, M = order[begin:end], lengths[end - 1], int(b["qn"][order[begin:end]].max())
        part = {x: b[x][k][:, :L] for x in ("p", "pb", "pf")}
        part.update({x: b[x][k][:, :M] for x in ("q", "qb", "qf")}, pn=b["pn"][k], qn=b["qn"][k], of=torch.arange(len(k), device=k.device), rows=b["rows"], parts=b["parts"])
        s, none = model(part)
        scores.append(F.pad(s, (0, 0, 0, b["p"].shape[1] - L), value=NEVER))
        nones.append(none)
        begin = end
    back = order.argsort()
    return torch.cat(scores)[back], torch.cat(nones)[back]


def learnt(model, b):
    """-> (a batch's loss, with its gradient; what NAMES names of it, without)."""
    s, none = read(model, b)
    each = loss(s, none, b["gold"], b["answerable"])
    l, seen = each.mean(), torch.zeros(len(NAMES), device=s.device)
    if "group" in b:
        race = race_loss(s, none, b["gold"], b["answerable"], b["group"], b["groups"])
        l = ALONE * l + race.clamp(max=WORST).mean()
        seen[4], seen[5] = len(race), race.detach().sum()
    with torch.no_grad():
        best = s.flatten(1).max(1)[1]
        ok = b["gold"].flatten(1).gather(1, best[:, None])[:, 0] & b["answerable"]
        seen[0], seen[1], seen[2], seen[3] = l.detach(), ok.sum(), b["answerable"].sum(), (each >= WORST).sum()
    return l, seen


def moved(b, device):
    """A batch on a device, with the number of its groups, which the processor still knows."""
    out = {k: x.to(device, non_blocking=True) for k, x in b.items()}
    if "group" in b:
        out["groups"] = int(b["group"].max()) + 1
    return out


def run(model, batches, minutes, schedule, optimizer, log, checkpoint, every=5, name="", warm=60, max_steps=0, mean=None, me=0, average=None, probe=None):
    """Train for a time; schedule: what the rates are multiplied by at a share of it. log(dict) every `every` minutes, and what probe() says."""
    device = next(model.parameters()).device
    begun = last = shown = time.time()
    step = words = questions = 0
    sums, now = torch.zeros(len(NAMES), device=device), None

    def row():
        return dict(minutes=(time.time() - begun) / 60, steps=step, questions=questions, words=words, loss=now)
    for b in batches:
        share = (time.time() - begun) / (60 * minutes)
        if share >= 1 or (max_steps and step >= max_steps):
            break
        questions, words = questions + len(b["of"]), words + int(b["pn"][b["of"]].sum() + b["qn"].sum())
        model.train()
        l, seen = learnt(model, moved(b, device))
        l.backward()
        optimizer.step(schedule(share) * min(1, (step + 1) / warm))
        sums += seen
        step += 1
        if average is not None:
            average.step()
        if mean is not None and step % MEET == 0:
            mean.meet(model, me)
        if step % 100 == 0:
            n = dict(zip(NAMES, sums.tolist()))
            sums.zero_()
            now = n["loss"] / 100
            if time.time() - shown > 10:
                shown, t = time.time(), time.time() - begun
                print(f"{name} {t / 60:.1f} min step {step} questions {questions} loss {now:.3f} right {n['right'] / max(1, n['asked']):.3f} words/s {words / t:.0f} "
                      f"lost {n['lost']:.0f} races {n['won'] / max(1, n['races']):.3f}" + (f" development {watched(probe, model, average):.3f}" if probe else ""), flush=True)
        if time.time() - last > 60 * every:
            last = time.time()
            checkpoint()
            log(row())
    if now is None and step:
        now = float(sums[0]) / step
    checkpoint()
    log(row())

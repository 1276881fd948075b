"""Batches in files, made by many processes ahead of time, and taken by a GPU; questions to watch the training by."""
import collections
import os
import pickle
import queue
import random
import threading
import time

import numpy as np
import torch

from . import data
from .words import MAX_QUESTION, analyse

SMALL = {"pb": np.float16, "qb": np.float16, "pf": np.float16, "qf": np.float16, "rows": np.int32, "parts": np.int16, "p": np.int32, "q": np.int32}


def packed(b):
    out = {k: x.astype(SMALL[k]) if k in SMALL else x for k, x in b.items()}
    return dict(out, gold=np.packbits(b["gold"]), shape=b["gold"].shape)


def unpacked(b):
    shape = b.pop("shape")
    b["gold"] = np.unpackbits(b["gold"])[:int(np.prod(shape))].reshape(shape).astype(bool)
    return {k: x.astype(np.int64) if x.dtype in (np.int32, np.int16) else x for k, x in b.items()}


def fill(batches, folder, me, most, end):
    """Write batches until those of this process have `most` bytes, or until the time `end`."""
    n = size = 0
    for b in batches:
        path = f"{folder}/{n:06d}-{me}"
        with open(path + ".new", "wb") as f:
            pickle.dump(packed(b), f, 5)
        os.replace(path + ".new", path + ".batch")
        n, size = n + 1, size + os.path.getsize(path + ".batch")
        if size > most or time.time() > end:
            return


def work(batches, folder, workers, gigabytes, minutes, seed):
    os.makedirs(folder, exist_ok=True)
    end = time.time() + 60 * minutes
    for k in range(1, workers + 1):
        if os.fork() == 0:
            random.seed(seed * 1000 + k)
            np.random.seed(seed * 1000 + k)
            fill(batches(), folder, k, gigabytes * 2 ** 30 / workers, end)
            os._exit(0)
    for _ in range(workers):
        os.wait()


def pooled(folder, device, ahead=12, threads=4):
    """The folder's batches, as long as there is one: new ones first, each once; when all were taken, any of them again."""
    found, known, fresh, lock = queue.Queue(ahead), [], collections.deque(), threading.Lock()

    def next_path():
        with lock:
            if not fresh:
                fresh.extend(sorted(set(x for x in os.listdir(folder) if x.endswith(".batch")) - set(known)))
                known.extend(fresh)
            return fresh.popleft() if fresh else random.choice(known) if known else None

    def read():
        torch.set_num_threads(1)  # else each of these threads has a pool of its own, which waits by turning round
        while True:
            try:
                path = next_path()
                if not path:
                    time.sleep(.2)
                    continue
                with open(f"{folder}/{path}", "rb") as f:
                    b = unpacked(pickle.load(f))
            except FileNotFoundError:  # the folder is gone
                return
            b = {k: torch.from_numpy(x) for k, x in b.items()}
            found.put({k: x.pin_memory() for k, x in b.items()} if device != "cpu" else b)
    for _ in range(threads):
        threading.Thread(target=read, daemon=True).start()
    while True:
        yield found.get()


def development(v, work, most=1000, batch=100):
    """Batches of questions kept from training, each with its passage."""
    P, rows = pickle.load(open(work + "/development.pkl", "rb"))
    q, items = data.Questions(v, P, rows), []
    for x in [x for x in rows if x["a"] and not x["sent"] and x["src"] not in data.SHORT][:most]:
        text, off = data.cut(v, P[x["pid"]], *(x["sup"] or (0, 1)))
        head = x["title"].replace("_", " ") + "\n" if x["title"] else ""
        p = analyse(v, head + text, data.WINDOW)
        gold = q.gold(p, P[x["pid"]], x, len(head) - off)
        if gold:
            items.append(data.Item(p, [(analyse(v, x["q"], MAX_QUESTION), gold)]))
    items.sort(key=lambda x: len(x.p))
    return [{k: torch.from_numpy(x) for k, x in data.collate(v, items[i:i + batch]).items()} for i in range(0, len(items), batch)]


@torch.no_grad()
def right(m, batches):
    """The share of questions whose likeliest span is an accepted one."""
    m.eval()
    device, good, all_ = m.see.device, 0, 0
    for b in batches:
        b = {k: x.to(device) for k, x in b.items()}
        best = m(b)[0].flatten(1).max(1)[1]
        good, all_ = good + b["gold"].flatten(1).gather(1, best[:, None]).sum(), all_ + len(best)
    return float(good) / max(1, all_)

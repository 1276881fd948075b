"""python3 -m train.span.export WORK/CHECKPOINT.pt[,WORK/OTHER.pt] OUT.gguf: the weights (of several checkpoints or exported files, their mean), the words of
the last and every constant that reading needs, in one GGUF file."""
import os
import sys

import numpy as np
import torch

from .. import gguf
from . import relations, words as w
from .features import FUZZY
from .model import EPS, FAR, HEAD, LONGEST


def metadata(v, shape, none_bias, temperature, threshold):
    g, a = gguf, "tandem-span."
    strings = (g.ARRAY, g.STRING)
    return [
        ("general.architecture", g.STRING, "tandem-span"), ("general.name", g.STRING, "tandem-span"), ("general.type", g.STRING, "model"),
        ("general.license", g.STRING, "apache-2.0"), ("general.description", g.STRING, "A small reader that points at the answer in a passage."),
        ("general.file_type", g.UINT32, 7), ("general.alignment", g.UINT32, g.ALIGNMENT),
        (a + "rules", g.UINT32, w.RULES), (a + "network", g.UINT32, w.NETWORK), (a + "vocab_size", g.UINT32, len(v.words)), (a + "embedding_length", g.UINT32, shape["embed"]),
        (a + "hidden_length", g.UINT32, shape["d"]), (a + "encoder_count", g.UINT32, shape["encoders"]), (a + "block_count", g.UINT32, shape["layers"]),
        (a + "head_count", g.UINT32, shape["d"] // HEAD),
        (a + "buckets", g.UINT32, w.BUCKETS), (a + "parts", g.UINT32, w.PARTS), (a + "base_features", g.UINT32, w.BASE),
        (a + "match_features", g.UINT32, w.MATCH), (a + "longest", g.UINT32, LONGEST), (a + "max_passage", g.UINT32, w.MAX_PASSAGE),
        (a + "max_question", g.UINT32, w.MAX_QUESTION), (a + "far", g.UINT32, FAR), (a + "epsilon", g.FLOAT32, EPS),
        (a + "fuzzy", g.FLOAT32, FUZZY), (a + "none_bias", g.FLOAT32, none_bias), (a + "temperature", g.FLOAT32, temperature),
        (a + "threshold", g.FLOAT32, threshold), (a + "stop_words", strings, w.STOP), (a + "suffixes", strings, w.SUFFIXES),
        (a + "irregular", strings, [":".join(x) for x in w.IRREGULAR]), (a + "abbreviations", strings, w.ABBREVIATIONS),
        (a + "fold", strings, [k + x for k, x in w.FOLD.items()]), (a + "words", strings, v.words), (a + "relations", strings, relations.lines(v.relations))]


TABLES = ("words.weight", "parts.weight")  # five bits do for them
WIDE = 192  # a wider reader's matrices have five bits, too: a file stays below 16 MB


def stored(name, x, d):
    if x.ndim != 2 or x.shape[0] < 32 or x.shape[1] % 32:
        return x.astype(np.float32)
    return gguf.quantized5(x) if name in TABLES or d > WIDE else gguf.quantized(x)


def export(path, v, checkpoint, none_bias=0.0, temperature=1.0, threshold=.5):
    tensors = [("idf", v.idfs)] + [(name, stored(name, x.detach().float().numpy(), checkpoint["shape"]["d"])) for name, x in checkpoint["model"].items()]
    gguf.write(path, metadata(v, checkpoint["shape"], none_bias, temperature, threshold), tensors)


def restored(path):
    """The words and a checkpoint of an exported file, to go on from."""
    meta, t = gguf.read(path)
    if meta["tandem-span.network"] != w.NETWORK:
        raise SystemExit(f"{path}: version {meta['tandem-span.network']} of the network, which training does not know: want {w.NETWORK}")
    number = {k: meta["tandem-span." + n] for k, n in (("known", "vocab_size"), ("embed", "embedding_length"), ("d", "hidden_length"), ("encoders", "encoder_count"), ("layers", "block_count"))}
    t = {k: torch.tensor(np.asarray(x, np.float32)) for k, x in t.items()}
    v = w.Vocabulary(meta["tandem-span.words"], t.pop("idf").numpy(), relations.parsed(meta.get("tandem-span.relations", [])))
    return v, dict(model=t, shape=number, vocabulary=(v.words, v.idfs, v.relations))


def save(path, v, shape, weights):
    """A checkpoint, PATH.pt."""
    weights = {k: x.detach().cpu() for k, x in weights.items()}
    torch.save(dict(model=weights, shape=shape, vocabulary=(v.words, v.idfs, v.relations)), path + ".pt.new")
    os.replace(path + ".pt.new", path + ".pt")


def loaded(path):
    """What save wrote: (words, checkpoint)."""
    c = torch.load(path, weights_only=False)
    return w.Vocabulary(*c["vocabulary"]), c


def mean(checkpoints):
    """A checkpoint with the mean of the weights of several that descend from one."""
    models = [c["model"] for c in checkpoints]
    return dict(checkpoints[-1], model={k: sum(m[k] for m in models) / len(models) for k in models[0]})


if __name__ == "__main__":
    paths = sys.argv[1].split(",")
    all = [(restored if p.endswith(".gguf") else loaded)(p)[1] for p in paths]
    export(sys.argv[2], w.Vocabulary(*all[-1]["vocabulary"]), mean(all), *map(float, sys.argv[3:]))

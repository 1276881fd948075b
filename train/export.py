"""The trained weights as a GGUF file of architecture llama."""
import numpy as np
import torch

from . import gguf
from .model import Config
from .tokenizer import Tokenizer

# Line breaks are inside expressions, because template engines drop a line break after a tag.
TEMPLATE = (r"{% for message in messages %}"
            r"{% if message['role'] == 'system' %}{{ 'Context: ' + message['content'] | indent(1) }}"
            r"{% elif message['role'] == 'user' %}{% if not loop.first %}{{ '\n' }}{% endif %}{{ 'Question: ' + message['content'] }}"
            r"{% elif message['role'] == 'assistant' %}{{ '\nAnswer: ' + message['content'] }}"
            r"{% endif %}{% endfor %}"
            r"{% if add_generation_prompt %}{{ '\nAnswer:' }}{% endif %}")
NAMES = {"norm1": "attn_norm", "wq": "attn_q", "wk": "attn_k", "wv": "attn_v", "wo": "attn_output", "norm2": "ffn_norm",
         "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down"}
NORMAL, CONTROL = 1, 3


def adjacent_pairs(w, heads):
    """Reorder the rows of a q or k projection from half-split rotary pairs to the adjacent pairs of GGUF's llama."""
    rows, columns = w.shape
    return w.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def half_split(w, heads):
    """The inverse of adjacent_pairs."""
    rows, columns = w.shape
    return w.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def metadata(c, tokenizer):
    g = gguf
    parameters = "%.1fM" % ((c.vocab * c.width + c.layers * (2 * c.width * c.heads * c.head_dim + 2 * c.width * c.kv_heads * c.head_dim
                                                              + 3 * c.width * c.ff)) / 1e6)
    return [
        ("general.architecture", g.STRING, "llama"), ("general.name", g.STRING, "tandem-reader"),
        ("general.type", g.STRING, "model"), ("general.size_label", g.STRING, parameters),
        ("general.license", g.STRING, "apache-2.0"),
        ("general.description", g.STRING, "A small reader that answers from the passage in its context."),
        ("general.file_type", g.UINT32, 7), ("general.alignment", g.UINT32, g.ALIGNMENT),
        ("llama.vocab_size", g.UINT32, c.vocab), ("llama.context_length", g.UINT32, c.context),
        ("llama.embedding_length", g.UINT32, c.width), ("llama.block_count", g.UINT32, c.layers),
        ("llama.feed_forward_length", g.UINT32, c.ff), ("llama.attention.head_count", g.UINT32, c.heads),
        ("llama.attention.head_count_kv", g.UINT32, c.kv_heads), ("llama.attention.key_length", g.UINT32, c.head_dim),
        ("llama.attention.value_length", g.UINT32, c.head_dim), ("llama.rope.dimension_count", g.UINT32, c.head_dim),
        ("llama.rope.freq_base", g.FLOAT32, c.theta), ("llama.attention.layer_norm_rms_epsilon", g.FLOAT32, c.eps),
        ("tokenizer.ggml.model", g.STRING, "gpt2"), ("tokenizer.ggml.pre", g.STRING, "qwen2"),
        ("tokenizer.ggml.tokens", (g.ARRAY, g.STRING), tokenizer.tokens),
        ("tokenizer.ggml.token_type", (g.ARRAY, g.INT32), [CONTROL] + [NORMAL] * (len(tokenizer.tokens) - 2) + [CONTROL]),
        ("tokenizer.ggml.merges", (g.ARRAY, g.STRING), [a + " " + b for a, b in tokenizer.merges]),
        ("tokenizer.ggml.bos_token_id", g.UINT32, 0), ("tokenizer.ggml.eos_token_id", g.UINT32, 0),
        ("tokenizer.ggml.padding_token_id", g.UINT32, 0), ("tokenizer.ggml.add_bos_token", g.BOOL, True),
        ("tandem.none_token_id", g.UINT32, tokenizer.none), ("tokenizer.ggml.add_eos_token", g.BOOL, False), ("tokenizer.chat_template", g.STRING, TEMPLATE)]


def export(path, c, weights, tokenizer, meta=None):
    """Write float32 weights (model.init's names) as Q8_0 matrices and F32 norms, with the reader's metadata or others."""
    tensors = [("token_embd.weight", "emb"), ("output_norm.weight", "norm")]
    tensors += [(f"blk.{l}.{NAMES[n]}.weight", f"{l}.{n}") for l in range(c.layers) for n in NAMES]
    arrays = []
    for name, key in tensors:
        a = weights[key].detach().float().cpu().numpy()
        if key.endswith((".wq", ".wk")):
            a = adjacent_pairs(a, c.heads if key.endswith("q") else c.kv_heads)
        arrays.append((name, gguf.quantized(a) if a.ndim == 2 else a))
    gguf.write(path, meta or metadata(c, tokenizer), arrays)


def load(path):
    """-> (Config, float32 weights by model.init's names, Tokenizer) of a file that export wrote; without what rounding to eight bits lost."""
    meta, tensors = gguf.read(path)
    tokenizer = Tokenizer(m.split(" ") for m in meta["tokenizer.ggml.merges"])
    assert tokenizer.tokens == meta["tokenizer.ggml.tokens"]
    c = Config(
        vocab=meta["llama.vocab_size"], width=meta["llama.embedding_length"], layers=meta["llama.block_count"],
        heads=meta["llama.attention.head_count"], kv_heads=meta["llama.attention.head_count_kv"],
        head_dim=meta["llama.rope.dimension_count"], ff=meta["llama.feed_forward_length"],
        theta=meta["llama.rope.freq_base"], eps=round(meta["llama.attention.layer_norm_rms_epsilon"], 12))  # the file has a float32
    weights = {"emb": tensors["token_embd.weight"], "norm": tensors["output_norm.weight"]}
    for l in range(c.layers):
        for short, name in NAMES.items():
            weights[f"{l}.{short}"] = tensors[f"blk.{l}.{name}.weight"]
        for short, heads in (("wq", c.heads), ("wk", c.kv_heads)):
            weights[f"{l}.{short}"] = half_split(weights[f"{l}.{short}"], heads)
    return c, {k: torch.from_numpy(np.array(v, np.float32)) for k, v in weights.items()}, tokenizer

"""The C kernels as torch functions. They read CPU memory: without gcc, or on a GPU, model.py uses plain torch."""
import ctypes
import hashlib
import os
import subprocess
import tempfile

import torch

_library = None


def build():
    """Compile kernels.c for this processor (cached by content) and load it; returns None without a compiler."""
    global _library
    if _library is None:
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels.c")
        with open(source, "rb") as f:
            key = hashlib.sha256(f.read()).hexdigest()[:16]
        target = os.path.join(tempfile.gettempdir(), "tandem-kernels-%d-%s.so" % (os.getuid(), key))
        try:
            if not os.path.exists(target):
                subprocess.run(["gcc", "-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC", source, "-o",
                                target + ".new", "-lm"], check=True, capture_output=True)
                os.rename(target + ".new", target)
            _library = ctypes.CDLL(target)
        except (OSError, subprocess.CalledProcessError) as e:
            print("no C kernels, plain torch instead:", e)
            _library = False
    return _library or None


def _call(name, *args):
    converted = []
    for a in args:
        if isinstance(a, torch.Tensor):
            assert a.is_contiguous() and a.device.type == "cpu"
            converted.append(ctypes.c_void_p(a.data_ptr()))
        else:
            converted.append(ctypes.c_float(a) if isinstance(a, float) else ctypes.c_int(a))
    getattr(_library, name)(*converted)


class Softmax(torch.autograd.Function):
    """Segment-masked softmax of scores (B*KV, G*T, T), in place."""

    @staticmethod
    def forward(ctx, scores, segments):
        B, T = segments.shape
        _call("softmax_forward", scores, segments, B, scores.numel() // (B * T * T), T)
        ctx.mark_dirty(scores)
        ctx.save_for_backward(scores)
        return scores

    @staticmethod
    def backward(ctx, grad):
        p, = ctx.saved_tensors
        out = torch.empty_like(p)
        _call("softmax_backward", p, grad.contiguous(), out, p.numel() // p.shape[-1], p.shape[-1])
        return out, None


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        a, b = a.contiguous(), b.contiguous()
        y = torch.empty_like(a)
        _call("swiglu_forward", a, b, y, a.numel())
        ctx.save_for_backward(a, b)
        return y

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        da, db = torch.empty_like(a), torch.empty_like(b)
        _call("swiglu_backward", a, b, grad.contiguous(), da, db, a.numel())
        return da, db


class RMSNorm(torch.autograd.Function):
    """float32 rows to bfloat16."""

    @staticmethod
    def forward(ctx, x, w, eps):
        x = x.contiguous()
        rows, d = x.shape
        y, rms = torch.empty(rows, d, dtype=torch.bfloat16), torch.empty(rows)
        _call("rmsnorm_forward", x, w, y, rms, rows, d, float(eps))
        ctx.save_for_backward(x, w, rms)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, w, rms = ctx.saved_tensors
        rows, d = x.shape
        dx, dw = torch.empty(rows, d), torch.zeros(d)
        _call("rmsnorm_backward", x, w, rms, grad.contiguous(), dx, dw, rows, d)
        return dx, dw, None


class Rope(torch.autograd.Function):
    """Half-split rotary embedding of x (rows, heads*dim), times scale."""

    @staticmethod
    def forward(ctx, x, positions, cosine, sine, heads, scale):
        x = x.contiguous()
        ctx.args = (positions, cosine, sine, x.shape[0], heads, x.shape[1] // heads)
        ctx.scale, y = float(scale), torch.empty_like(x)
        _call("rope", x, y, *ctx.args, 1.0, ctx.scale)
        return y

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        dx = torch.empty_like(grad)
        _call("rope", grad, dx, *ctx.args, -1.0, ctx.scale)
        return (dx,) + (None,) * 5


def keep_memory():
    """Make malloc keep freed blocks: every training step allocates the same large ones (30 % faster)."""
    try:
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(-3, 1 << 30)  # M_MMAP_THRESHOLD
        libc.mallopt(-1, (1 << 31) - 1)  # M_TRIM_THRESHOLD
    except (OSError, AttributeError):
        pass

"""A small GGUF version 3 writer and reader (F32, F16, Q5_0 and Q8_0 tensors)."""
import struct

import numpy as np

MAGIC, VERSION, ALIGNMENT = b"GGUF", 3, 32
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY, UINT64 = 4, 5, 6, 7, 8, 9, 10
F32, F16, Q5_0, Q8_0 = 0, 1, 6, 8
BLOCK = np.dtype([("scale", "<f2"), ("values", "i1", 32)])  # of Q8_0
BLOCK5 = np.dtype([("scale", "<f2"), ("high", "<u4"), ("low", "u1", 16)])  # of Q5_0
BLOCKS = {BLOCK: Q8_0, BLOCK5: Q5_0}
SCALARS = {UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?", UINT64: "<Q"}
DTYPES = {F32: np.dtype(np.float32), F16: np.dtype(np.float16), Q5_0: BLOCK5, Q8_0: BLOCK}


def _string(text):
    raw = text.encode("utf-8")
    return struct.pack("<Q", len(raw)) + raw


def _value(kind, value):
    return _string(value) if kind == STRING else struct.pack(SCALARS[kind], value)


def quantized(a):
    """The Q8_0 blocks of a matrix whose rows are a multiple of 32 long: shape (rows, columns/32)."""
    x = a.astype(np.float32).reshape(a.shape[0], -1, 32)
    out = np.zeros(x.shape[:2], BLOCK)
    scale = np.abs(x).max(-1) / 127
    out["scale"] = scale
    out["values"] = np.rint(x / np.where(scale > 0, scale, 1)[..., None])
    return out


def quantized5(a):
    """The Q5_0 blocks of a matrix whose rows are a multiple of 32 long."""
    x = a.astype(np.float32).reshape(a.shape[0], -1, 32)
    out = np.zeros(x.shape[:2], BLOCK5)
    far = np.take_along_axis(x, np.abs(x).argmax(-1)[..., None], -1)[..., 0]
    out["scale"] = far / -16
    scale = out["scale"].astype(np.float32)
    q = np.clip(np.rint(x / np.where(scale != 0, scale, 1)[..., None]) + 16, 0, 31).astype(np.uint32)
    out["low"] = (q[..., :16] & 15) | (q[..., 16:] & 15) << 4
    out["high"] = ((q >> 4) << np.arange(32, dtype=np.uint32)).sum(-1)
    return out


def widened(blocks):
    """The float32 matrix of Q8_0 or Q5_0 blocks."""
    if blocks.dtype == BLOCK5:
        low = np.concatenate([blocks["low"] & 15, blocks["low"] >> 4], -1).astype(np.int32)
        high = (blocks["high"][..., None] >> np.arange(32, dtype=np.uint32) & 1).astype(np.int32)
        return (blocks["scale"].astype(np.float32)[..., None] * (low + 16 * high - 16)).reshape(blocks.shape[0], -1)
    return (blocks["scale"].astype(np.float32)[..., None] * blocks["values"]).reshape(blocks.shape[0], -1)


def write(path, metadata, tensors):
    """metadata: [(key, type, value)], an array is (key, (ARRAY, element type), list); tensors: [(name, array)], written in the
    array's type (float16, float32 or the blocks of quantized() and quantized5()), shape as numpy has it (GGUF lists the fastest dimension first)."""
    out = [MAGIC, struct.pack("<IQQ", VERSION, len(tensors), len(metadata))]
    for key, kind, value in metadata:
        out.append(_string(key))
        if isinstance(kind, tuple):
            out.append(struct.pack("<IIQ", ARRAY, kind[1], len(value)) + b"".join(_value(kind[1], v) for v in value))
        else:
            out.append(struct.pack("<I", kind) + _value(kind, value))
    offset, blobs = 0, []
    for name, a in tensors:
        kind = BLOCKS.get(a.dtype, F16 if a.dtype == np.float16 else F32)
        raw = np.ascontiguousarray(a, DTYPES[kind]).tobytes()
        shape = (a.shape[0], 32 * a.shape[1]) if kind in BLOCKS.values() else a.shape
        out.append(_string(name) + struct.pack("<I", a.ndim) + struct.pack("<%dQ" % a.ndim, *reversed(shape)) +
                   struct.pack("<IQ", kind, offset))
        raw += b"\0" * (-len(raw) % ALIGNMENT)
        offset += len(raw)
        blobs.append(raw)
    header = b"".join(out)
    with open(path, "wb") as f:
        f.write(header + b"\0" * (-len(header) % ALIGNMENT) + b"".join(blobs))


def read(path):
    """-> (metadata dict, {name: array}), blocks as float32. For files that this module wrote."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0

    def take(fmt):
        nonlocal at
        got = struct.unpack_from(fmt, data, at)
        at += struct.calcsize(fmt)
        return got[0] if len(got) == 1 else got

    def string():
        nonlocal at
        n = take("<Q")
        at += n
        return data[at - n:at].decode("utf-8")

    def value(kind):
        if kind == ARRAY:
            element, n = take("<IQ")
            return [value(element) for _ in range(n)]
        return string() if kind == STRING else take(SCALARS[kind])

    assert data[:4] == MAGIC
    at = 4
    version, count, keys = take("<IQQ")
    assert version == VERSION
    metadata = {}
    for _ in range(keys):
        key = string()
        metadata[key] = value(take("<I"))
    infos = []
    for _ in range(count):
        name, dims = string(), take("<I")
        shape = [take("<Q") for _ in range(dims)]
        kind, offset = take("<IQ")
        infos.append((name, tuple(reversed(shape)), kind, offset))
    base = at + -at % ALIGNMENT
    tensors = {}
    for name, shape, kind, offset in infos:
        if kind in BLOCKS.values():
            shape = (shape[0], shape[1] // 32)
        a = np.frombuffer(data, DTYPES[kind], int(np.prod(shape)), base + offset).reshape(shape)
        tensors[name] = widened(a) if kind in BLOCKS.values() else a
    return metadata, tensors

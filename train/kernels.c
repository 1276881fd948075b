// The parts of the transformer that are not matrix products, on bfloat16 activations: forward and backward.
// Compiled by kernels.py with gcc; model.py has the same in plain torch.
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t bf16;

static inline float up(bf16 x) {
    uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static inline bf16 down(float f) {  // round to nearest even
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

enum { MAX_T = 2048 };

// scores (B, H, T, T) in place. Row i sees j <= i of the same segment, or of segment 0 (the context) if its own is positive.
void softmax_forward(bf16 *restrict scores, const int32_t *segment, int B, int H, int T) {
#pragma omp parallel for schedule(static)
    for (int r = 0; r < B * H * T; r++) {
        int i = r % T;
        const int32_t *seg = segment + (size_t)(r / (H * T)) * T;
        int own = seg[i];
        bf16 *x = scores + (size_t)r * T;
        float t[MAX_T], max = -1e30f, sum = 0;
        for (int j = 0; j <= i; j++) {
            float v = seg[j] == own || (seg[j] == 0 && own > 0) ? up(x[j]) : -1e30f;
            t[j] = v;
            max = v > max ? v : max;
        }
        for (int j = 0; j <= i; j++) {
            float e = t[j] < -1e29f ? 0.f : expf(fmaxf(t[j] - max, -80.f));
            t[j] = e;
            sum += e;
        }
        float scale = 1.f / sum;
        for (int j = 0; j <= i; j++) x[j] = down(t[j] * scale);
        memset(x + i + 1, 0, sizeof(bf16) * (T - i - 1));
    }
}

// p: probabilities, d: their gradient, out: the scores' gradient; rows of T.
void softmax_backward(const bf16 *restrict p, const bf16 *restrict d, bf16 *restrict out, int rows, int T) {
#pragma omp parallel for schedule(static)
    for (int r = 0; r < rows; r++) {
        int i = r % T;
        const bf16 *a = p + (size_t)r * T, *c = d + (size_t)r * T;
        bf16 *y = out + (size_t)r * T;
        float sum = 0;
        for (int j = 0; j <= i; j++) sum += up(a[j]) * up(c[j]);
        for (int j = 0; j <= i; j++) y[j] = down(up(a[j]) * (up(c[j]) - sum));
        memset(y + i + 1, 0, sizeof(bf16) * (T - i - 1));
    }
}

// y = silu(a) * b
void swiglu_forward(const bf16 *restrict a, const bf16 *restrict b, bf16 *restrict y, int n) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        float x = up(a[i]);
        y[i] = down(x / (1.f + expf(-x)) * up(b[i]));
    }
}

void swiglu_backward(const bf16 *restrict a, const bf16 *restrict b, const bf16 *restrict dy, bf16 *restrict da,
                     bf16 *restrict db, int n) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        float x = up(a[i]), s = 1.f / (1.f + expf(-x)), g = up(dy[i]);
        db[i] = down(g * x * s);
        da[i] = down(g * up(b[i]) * (s + x * s * (1.f - s)));
    }
}

// y = w * x / rms(x); rms keeps 1/rms(x) per row for the backward pass.
void rmsnorm_forward(const float *restrict x, const float *restrict w, bf16 *restrict y, float *restrict rms, int rows, int d,
                     float eps) {
#pragma omp parallel for schedule(static)
    for (int r = 0; r < rows; r++) {
        const float *a = x + (size_t)r * d;
        bf16 *o = y + (size_t)r * d;
        float sum = 0;
        for (int j = 0; j < d; j++) sum += a[j] * a[j];
        float inv = 1.f / sqrtf(sum / d + eps);
        rms[r] = inv;
        for (int j = 0; j < d; j++) o[j] = down(a[j] * inv * w[j]);
    }
}

void rmsnorm_backward(const float *restrict x, const float *restrict w, const float *restrict rms, const bf16 *restrict dy,
                      float *restrict dx, float *restrict dw, int rows, int d) {
    for (int r = 0; r < rows; r++) {
        const float *a = x + (size_t)r * d;
        const bf16 *g = dy + (size_t)r * d;
        float *o = dx + (size_t)r * d, inv = rms[r], sum = 0;
        for (int j = 0; j < d; j++) {
            float t = up(g[j]) * a[j] * inv;
            dw[j] += t;
            sum += t * w[j];
        }
        sum /= d;
        for (int j = 0; j < d; j++) o[j] = inv * (up(g[j]) * w[j] - a[j] * inv * sum);
    }
}

// Half-split rotary embedding of x (rows, heads, dim) at position[row], times scale; sign -1 is its transpose (backward).
void rope(const bf16 *restrict x, bf16 *restrict y, const int32_t *position, const float *cosine, const float *sine, int rows,
          int heads, int dim, float sign, float scale) {
    int half = dim / 2;
#pragma omp parallel for schedule(static)
    for (int r = 0; r < rows; r++) {
        const float *c = cosine + (size_t)position[r] * half, *s = sine + (size_t)position[r] * half;
        for (int h = 0; h < heads; h++) {
            const bf16 *a = x + ((size_t)r * heads + h) * dim;
            bf16 *o = y + ((size_t)r * heads + h) * dim;
            for (int j = 0; j < half; j++) {
                float u = up(a[j]), v = up(a[j + half]);
                o[j] = down(scale * (u * c[j] - sign * v * s[j]));
                o[j + half] = down(scale * (v * c[j] + sign * u * s[j]));
            }
        }
    }
}

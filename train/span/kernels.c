// What is not a matrix product in the span reader, on bfloat16 activations: forward and backward.
// Compiled by kernels.py with gcc; model.py has the same in plain torch.
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t bf16;
enum { MAX_D = 1024, MAX_K = 1024, FAR = 60 };

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

// y (B, L, 3d): LayerNorm of x (B, L, d) at i - reach, i and i + reach, zero where there is no word; with reach 0 (B, L, d).
// kept: mean and 1 / deviation of each row.
void unfold_forward(const bf16 *restrict x, const float *restrict w, const float *restrict bias, const int32_t *length, bf16 *restrict y,
                    float *restrict kept, int B, int L, int d, int reach, float eps) {
    int wide = reach ? 3 * d : d;
    for (int b = 0; b < B; b++) {
        const bf16 *a = x + (size_t)b * L * d;
        bf16 *o = y + (size_t)b * L * wide;
        if (reach) memset(o, 0, sizeof(bf16) * L * wide);
        for (int i = 0; i < L; i++, a += d) {
            float sum = 0, square = 0;
            for (int j = 0; j < d; j++) sum += up(a[j]);
            sum /= d;
            for (int j = 0; j < d; j++) square += (up(a[j]) - sum) * (up(a[j]) - sum);
            float inv = 1.f / sqrtf(square / d + eps);
            kept[2 * ((size_t)b * L + i)] = sum;
            kept[2 * ((size_t)b * L + i) + 1] = inv;
            if (reach && i >= length[b]) continue;
            bf16 *c = o + (size_t)i * wide + (reach ? d : 0);
            for (int j = 0; j < d; j++) c[j] = down((up(a[j]) - sum) * inv * w[j] + bias[j]);
            if (reach && i + reach < L) memcpy(o + (size_t)(i + reach) * wide, c, sizeof(bf16) * d);
            if (reach && i - reach >= 0) memcpy(o + (size_t)(i - reach) * wide + 2 * d, c, sizeof(bf16) * d);
        }
    }
}

void unfold_backward(const bf16 *restrict x, const float *restrict w, const int32_t *length, const float *restrict kept,
                     const bf16 *restrict dy, bf16 *restrict dx, float *restrict dw, float *restrict db, int B, int L, int d, int reach) {
    int wide = reach ? 3 * d : d;
    float g[MAX_D];
    for (int b = 0; b < B; b++) {
        const bf16 *o = dy + (size_t)b * L * wide;
        for (int i = 0; i < L; i++) {
            const bf16 *a = x + ((size_t)b * L + i) * d;
            bf16 *out = dx + ((size_t)b * L + i) * d;
            if (reach && i >= length[b]) {
                memset(out, 0, sizeof(bf16) * d);
                continue;
            }
            const bf16 *c = o + (size_t)i * wide + (reach ? d : 0);
            for (int j = 0; j < d; j++) g[j] = up(c[j]);
            if (reach && i + reach < L) {
                c = o + (size_t)(i + reach) * wide;
                for (int j = 0; j < d; j++) g[j] += up(c[j]);
            }
            if (reach && i - reach >= 0) {
                c = o + (size_t)(i - reach) * wide + 2 * d;
                for (int j = 0; j < d; j++) g[j] += up(c[j]);
            }
            float mean = kept[2 * ((size_t)b * L + i)], inv = kept[2 * ((size_t)b * L + i) + 1], sum = 0, dot = 0;
            for (int j = 0; j < d; j++) {
                float n = (up(a[j]) - mean) * inv;
                dw[j] += g[j] * n;
                db[j] += g[j];
                sum += g[j] * w[j];
                dot += g[j] * w[j] * n;
            }
            sum /= d;
            dot /= d;
            for (int j = 0; j < d; j++) out[j] = down(inv * (g[j] * w[j] - sum - (up(a[j]) - mean) * inv * dot));
        }
    }
}

// y = x + a * sigmoid(b) * keep; ab (B, L, 2d), keep (B, d)
void gate_forward(const bf16 *restrict x, const bf16 *restrict ab, const float *restrict keep, bf16 *restrict y, int B, int L, int d) {
    for (int r = 0; r < B * L; r++) {
        const bf16 *a = ab + (size_t)r * 2 * d, *b = a + d;
        const float *k = keep + (size_t)(r / L) * d;
        for (int j = 0; j < d; j++)
            y[(size_t)r * d + j] = down(up(x[(size_t)r * d + j]) + up(a[j]) / (1.f + expf(-up(b[j]))) * k[j]);
    }
}

void gate_backward(const bf16 *restrict ab, const float *restrict keep, const bf16 *restrict dy, bf16 *restrict dab, int B, int L, int d) {
    for (int r = 0; r < B * L; r++) {
        const bf16 *a = ab + (size_t)r * 2 * d, *b = a + d;
        bf16 *da = dab + (size_t)r * 2 * d, *db = da + d;
        const float *k = keep + (size_t)(r / L) * d;
        for (int j = 0; j < d; j++) {
            float s = 1.f / (1.f + expf(-up(b[j]))), g = up(dy[(size_t)r * d + j]) * k[j];
            da[j] = down(g * s);
            db[j] = down(g * up(a[j]) * s * (1.f - s));
        }
    }
}

// y = x + z * keep
void add_forward(const bf16 *restrict x, const bf16 *restrict z, const float *restrict keep, bf16 *restrict y, int B, int L, int d) {
    for (int r = 0; r < B * L; r++) {
        const float *k = keep + (size_t)(r / L) * d;
        for (int j = 0; j < d; j++) y[(size_t)r * d + j] = down(up(x[(size_t)r * d + j]) + up(z[(size_t)r * d + j]) * k[j]);
    }
}

void add_backward(const float *restrict keep, const bf16 *restrict dy, bf16 *restrict dz, int B, int L, int d) {
    for (int r = 0; r < B * L; r++) {
        const float *k = keep + (size_t)(r / L) * d;
        for (int j = 0; j < d; j++) dz[(size_t)r * d + j] = down(up(dy[(size_t)r * d + j]) * k[j]);
    }
}

// scores (B, H, L, K) in place: softmax of s * scale - slope * distance over the passage's first length words and the question's
// (keys from L on) first memory words. Rows beyond length become 0.
void attend_forward(bf16 *restrict s, const float *slope, const int32_t *length, const int32_t *memory, int B, int H, int L, int K,
                    float scale) {
    float t[MAX_K];
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++) {
            int n = length[b], m = K > L ? memory[b] : 0;
            float f = slope[h];
            for (int i = 0; i < L; i++) {
                bf16 *x = s + (((size_t)b * H + h) * L + i) * K;
                if (i >= n) {
                    memset(x, 0, sizeof(bf16) * K);
                    continue;
                }
                float max = -1e30f, sum = 0;
                for (int j = 0; j < n; j++) {
                    int far = i > j ? i - j : j - i;
                    t[j] = up(x[j]) * scale - f * (far < FAR ? far : FAR);
                }
                for (int j = 0; j < m; j++) t[n + j] = up(x[L + j]) * scale;
                for (int j = 0; j < n + m; j++) max = t[j] > max ? t[j] : max;
                for (int j = 0; j < n + m; j++) {
                    t[j] = expf(t[j] - max);
                    sum += t[j];
                }
                sum = 1.f / sum;
                for (int j = 0; j < n; j++) x[j] = down(t[j] * sum);
                for (int j = n; j < L; j++) x[j] = 0;
                for (int j = 0; j < m; j++) x[L + j] = down(t[n + j] * sum);
                for (int j = L + m; j < K; j++) x[j] = 0;
            }
        }
}

void attend_backward(const bf16 *restrict p, const bf16 *restrict dp, bf16 *restrict ds, float *dslope, const int32_t *length, int B,
                     int H, int L, int K, float scale) {
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++) {
            float slope = 0;
            for (int i = 0; i < L; i++) {
                size_t at = (((size_t)b * H + h) * L + i) * K;
                const bf16 *x = p + at, *g = dp + at;
                bf16 *o = ds + at;
                if (i >= length[b]) {
                    memset(o, 0, sizeof(bf16) * K);
                    continue;
                }
                float sum = 0;
                for (int j = 0; j < K; j++) sum += up(x[j]) * up(g[j]);
                for (int j = 0; j < L; j++) {
                    float y = up(x[j]) * (up(g[j]) - sum);
                    int far = i > j ? i - j : j - i;
                    slope -= y * (far < FAR ? far : FAR);
                    o[j] = down(y * scale);
                }
                for (int j = L; j < K; j++) o[j] = down(up(x[j]) * (up(g[j]) - sum) * scale);
            }
            dslope[h] += slope;
        }
}

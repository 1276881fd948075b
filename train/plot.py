"""The training curve as SVG: python3 -m train.plot log.csv curve.svg"""
import csv
import sys

MOST_MARKS = 6  # hours marked in a panel
OLD_NAMES = {"two_split": "two_both"}  # columns that have another name in older logs

W, H, LEFT, TOP, GAP = 760, 300, 56, 34, 90
PANEL = (W - LEFT - GAP - 20) / 2
LOSSES = [("loss_value", "#c0392b", "value"), ("loss_prefix", "#e08e2b", "words before the value"), ("loss_soft", "#8e8e8e", "unsupported value")]
SCORES = [("one", "#1f6fb2", "one part"), ("unseen", "#7a4fb5", "unseen wording"), ("two_first", "#2a9d6f", "two parts, first"),
          ("two_second", "#8abf3f", "two parts, second"), ("two_both", "#444444", "two parts, both")]


def read(path):
    """The rows of a log, by column."""
    with open(path) as f:
        return [{OLD_NAMES.get(k, k): v for k, v in r.items()} for r in csv.DictReader(f)]


def hour_marks(rows):
    """[(hours of computing, tokens by then)] for at most MOST_MARKS whole hours, interpolated between the rows."""
    points = [(0.0, 0.0)] + [(float(r["minutes"]) / 60, float(r["tokens"])) for r in rows]
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100, 1000) if points[-1][0] / n < MOST_MARKS + 1)
    marks = []
    for (t0, n0), (t1, n1) in zip(points, points[1:]):
        h = (int(t0 // every) + 1) * every
        while t0 < h <= t1:
            marks.append((h, n0 + (n1 - n0) * (h - t0) / (t1 - t0)))
            h += every
    return marks


def panel(x0, rows, series, top, title):
    """One chart at x0: series over million tokens, from 0 to top."""
    last = max(float(r["tokens"]) for r in rows) / 1e6
    y = lambda v: TOP + (H - TOP - 50) * (1 - min(float(v), top) / top)
    x = lambda tokens: x0 + PANEL * float(tokens) / 1e6 / last
    out = ['<text x="%.0f" y="14" font-weight="bold">%s</text>' % (x0, title)]
    for i in range(5):
        v = top * i / 4
        out.append('<line x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f" stroke="#ddd"/>' % (x0, x0 + PANEL, y(v), y(v)))
        out.append('<text x="%.0f" y="%.1f" text-anchor="end">%g</text>' % (x0 - 6, y(v) + 4, v))
        out.append('<text x="%.0f" y="%d" text-anchor="middle">%.0f</text>' % (x0 + PANEL * i / 4, H - 34, last * i / 4))
    out.append('<text x="%.0f" y="%d" text-anchor="middle">million tokens</text>' % (x0 + PANEL / 2, H - 18))
    for hours, tokens in hour_marks(rows):
        out.append('<line x1="%.1f" x2="%.1f" y1="%d" y2="%.1f" stroke="#bbb" stroke-dasharray="2 3"/>' % (x(tokens), x(tokens), TOP, y(0)))
        out.append('<text x="%.1f" y="%d" text-anchor="middle" fill="#888">%d h</text>' % (x(tokens), TOP - 3, hours))
    for k, (column, colour, label) in enumerate(series):
        points = " ".join("%.1f,%.1f" % (x(r["tokens"]), y(r[column])) for r in rows if r[column] not in ("", "nan"))
        out.append('<polyline fill="none" stroke="%s" stroke-width="1.8" points="%s"/>' % (colour, points))
        out.append('<text x="%.0f" y="%.0f" text-anchor="end" fill="%s">%s</text>' % (
            x0 + PANEL - 4, (TOP + 14 if top > 1 else y(0) - 10 - 14 * (len(series) - 1)) + 14 * k, colour, label))
    return out


def svg(rows):
    body = panel(LEFT, rows, LOSSES, 5.0, "loss (nats per token)")
    body += panel(LEFT + PANEL + GAP, rows, SCORES, 1.0, "exact match, fresh names, one passage")
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">'
            '<rect width="100%%" height="100%%" fill="white"/>' % (W, H, W, H)) + "\n".join(body) + "</svg>\n"


def write(log, path):
    """Draw the curve of a log file."""
    with open(path, "w") as f:
        f.write(svg(read(log)))


if __name__ == "__main__":
    write(*sys.argv[1:3])

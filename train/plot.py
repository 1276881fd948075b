"""The training curve as SVG: python3 -m train.plot log.csv curve.svg"""
import csv
import sys

W, H, LEFT, TOP, GAP = 760, 300, 56, 34, 90
PANEL = (W - LEFT - GAP - 20) / 2
LOSSES = [("loss_value", "#c0392b", "value"), ("loss_prefix", "#e08e2b", "words before the value"), ("loss_soft", "#8e8e8e", "unsupported value")]
SCORES = [("one", "#1f6fb2", "one part"), ("unseen", "#7a4fb5", "unseen wording"), ("two_first", "#2a9d6f", "two parts, first"),
          ("two_second", "#8abf3f", "two parts, second"), ("two_split", "#444444", "two parts, both")]


def panel(x0, rows, series, top, title):
    """One chart at x0: series over million tokens, from 0 to top."""
    last = max(float(r["tokens"]) for r in rows) / 1e6
    y = lambda v: TOP + (H - TOP - 50) * (1 - min(float(v), top) / top)
    x = lambda r: x0 + PANEL * float(r["tokens"]) / 1e6 / last
    out = ['<text x="%.0f" y="20" font-weight="bold">%s</text>' % (x0, title)]
    for i in range(5):
        v = top * i / 4
        out.append('<line x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f" stroke="#ddd"/>' % (x0, x0 + PANEL, y(v), y(v)))
        out.append('<text x="%.0f" y="%.1f" text-anchor="end">%g</text>' % (x0 - 6, y(v) + 4, v))
        out.append('<text x="%.0f" y="%d" text-anchor="middle">%.0f</text>' % (x0 + PANEL * i / 4, H - 34, last * i / 4))
    out.append('<text x="%.0f" y="%d" text-anchor="middle">million tokens</text>' % (x0 + PANEL / 2, H - 18))
    for k, (column, colour, label) in enumerate(series):
        points = " ".join("%.1f,%.1f" % (x(r), y(r[column])) for r in rows if r[column] not in ("", "nan"))
        out.append('<polyline fill="none" stroke="%s" stroke-width="1.8" points="%s"/>' % (colour, points))
        out.append('<text x="%.0f" y="%.0f" text-anchor="end" fill="%s">%s</text>' % (
            x0 + PANEL - 4, (TOP + 14 if top > 1 else y(0) - 10 - 14 * (len(series) - 1)) + 14 * k, colour, label))
    return out


def svg(rows):
    body = panel(LEFT, rows, LOSSES, 5.0, "loss (nats per token)")
    body += panel(LEFT + PANEL + GAP, rows, SCORES, 1.0, "exact match, fresh names, one passage")
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">'
            '<rect width="100%%" height="100%%" fill="white"/>' % (W, H, W, H)) + "\n".join(body) + "</svg>\n"


if __name__ == "__main__":
    with open(sys.argv[1]) as f:
        read = list(csv.DictReader(f))
    with open(sys.argv[2], "w") as f:
        f.write(svg(read))

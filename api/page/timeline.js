// The timeline of an answer as the device saw it: two lanes, what each side decoded, what travelled, what was agreed.

const NS = "http://www.w3.org/2000/svg";

function svg(name, attributes, text) {
  const e = document.createElementNS(NS, name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}

const LEFT = 64, RIGHT = 16, TOP = 30, LANE = 46, GAP = 78;
const words = { joined: "the cloud takes part", alone: "the cloud is lost", handover: "aggregation moves", distrust: "the cloud is left out" };

// draw returns a picture of a recording's lines, width units wide. The cloud's times are those of the device's clock, half a
// round trip before its drafts arrived.
export function draw(lines, own, width) {
  const end = Math.max(1, ...lines.map((l) => l.ms));
  const x = (ms) => LEFT + (Math.max(0, Math.min(ms, end)) / end) * (width - LEFT - RIGHT);
  const y = { device: TOP + LANE / 2, cloud: TOP + LANE / 2 + LANE + GAP };
  const middle = (y.device + y.cloud) / 2, height = y.cloud + LANE / 2 + 28;
  const out = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  out.append(svg("title", {}, `Timeline of ${own.tokens.length} tokens over ${end.toFixed(0)} ms`));
  axis(out, x, end, width, height);
  for (const side of ["device", "cloud"]) {
    out.append(svg("line", { class: "lane", x1: LEFT, x2: width - RIGHT, y1: y[side], y2: y[side] }), svg("text", { x: 4, y: y[side] + 4 }, side));
  }
  let rtt = 0;
  for (const l of lines) {
    if (l.event === "rtt") rtt = l.took_ms;
    if (l.event === "decode") out.append(bar(l.side || "device", x(l.ms - (l.took_ms || 0)), x(l.ms), y[l.side] || y.device, l));
    if (l.event === "draft") way(out, l, rtt, x, y, end);
    if (l.event === "note") note(out, l, x, y, width, height);
  }
  targets(out, lines.filter((l) => l.event === "target"), x, middle, width);
  out.append(svg("text", { x: 4, y: middle + 4 }, "agreed"));
  return out;
}

// targets draws a dot for each agreed token. Those of about the same time stand in a column, so that each can be pointed at.
function targets(out, list, x, middle, width) {
  const rows = [0, -11, 11, -22, 22];
  let from = -Infinity, n = 0;
  for (const l of list) {
    if (x(l.ms) - from < 10) n++;
    else [from, n] = [x(l.ms), 0];
    const right = from < width / 2 ? 11 : -11; // further columns stand towards the middle of the picture
    const dot = svg("circle", { class: "target " + l.by, cx: from + right * Math.floor(n / rows.length), cy: middle + rows[n % rows.length], r: 5 });
    dot.append(svg("title", {}, `target ${l.step || 0}: “${l.text}”, ${l.by}, ${l.ms.toFixed(1)} ms`));
    out.append(dot);
  }
}

// axis draws round times.
function axis(out, x, end, width, height) {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].find((s) => end / s <= width / 80) || end;
  for (let t = 0; t <= end; t += step) {
    out.append(svg("line", { class: "tick", x1: x(t), x2: x(t), y1: 18, y2: height - 18 }), svg("text", { x: x(t), y: 12, "text-anchor": "middle" }, t + " ms"));
  }
}

// bar is a pass that took from a to b.
function bar(side, a, b, y, l) {
  const e = svg("rect", { class: "bar " + side, x: a, y: y - 10, width: Math.max(b - a, 1.5), height: 20, rx: 1.5 });
  e.append(svg("title", {}, `${side} decodes step ${l.step || 0}: ${(l.took_ms || 0).toFixed(2)} ms`));
  return e;
}

// way is a draft on its way from one lane to the other.
function way(out, l, rtt, x, y, end) {
  const from = l.side === "device" ? l.ms : l.ms - rtt / 2, to = l.side === "device" ? l.ms + rtt / 2 : l.ms;
  const [a, b] = l.side === "device" ? [y.device, y.cloud] : [y.cloud, y.device];
  if (l.side === "cloud") out.append(bar("cloud", x(from - (l.took_ms || 0)), x(from), y.cloud, l));
  const seen = Math.min(1, Math.max(0, (end - from) / Math.max(to - from, 1e-9))); // what lies beyond the end is cut off
  const e = svg("line", { class: "way " + l.side, x1: x(from), y1: a, x2: x(from + seen * (to - from)), y2: a + seen * (b - a) });
  e.append(svg("title", {}, `draft of the ${l.side} for step ${l.step || 0}: “${l.text}”`));
  out.append(e);
}

// note marks a rejection, or a moment when something changed.
function note(out, l, x, y, width, height) {
  const at = x(l.ms);
  if (l.note === "rejected") {
    const c = y[l.side] || y.device, r = 4;
    const e = svg("path", { class: "cross", d: `M${at - r} ${c - 16 - r}L${at + r} ${c - 16 + r}M${at + r} ${c - 16 - r}L${at - r} ${c - 16 + r}` });
    e.append(svg("title", {}, `draft of the ${l.side} for step ${l.step || 0} rejected`));
    out.append(e);
    return;
  }
  if (!words[l.note]) return;
  out.append(svg("line", { class: "event", x1: at, x2: at, y1: 18, y2: height - 14 }), svg("text", { x: Math.min(at + 3, width - 120), y: height - 4 }, words[l.note]));
}

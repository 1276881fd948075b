// An answer on the page: its text by who drafted each token, what it rests on, and how it came about.

import { json } from "./server.js";
import { draw } from "./timeline.js";

// el makes an element. Text is only ever text.
export function el(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) if (v !== undefined && v !== false) e.setAttribute(k, v === true ? "" : v);
  e.append(...children.filter((c) => c !== undefined && c !== null));
  return e;
}

// site says what the server is: a device, or a cloud that answers without one.
export const site = { alone: false };
const self = () => (site.alone ? "the cloud" : "the device");

const tip = () => document.getElementById("tip");
const percent = (p) => (p >= 0.0995 ? Math.round(100 * p) : (100 * p).toFixed(1)) + " %";
const shown = (text) => (text === "" ? "␄" : text.replace(/\n/g, "⏎").replace(/ /g, "␣"));
const who = { device: "the device's draft", cloud: "the cloud's draft", both: "both sides' draft", neither: "neither side's draft" };

// unknown says whose documents do not say it.
function unknown(own) {
  if (site.alone) return "Not known: the documents of this cloud do not clearly say it.";
  const nearest = own.parts.some((p) => p.unknown && p.citations.length) ? " Nearest:" : "";
  if (own.degraded) return `Not known: the documents of this device do not clearly say it; the cloud ${own.local_only ? "took no part" : "was away for a part of the answer"}.${nearest}`;
  if (own.local_only) return "Not known: the documents of this device do not clearly say it; no cloud was asked.";
  return "Not known: the documents of neither side clearly say it." + nearest;
}

// bullet is what stands before an item of a list, and is not shown.
const bullet = /^\s*[-*+•–·‣◦]\s+/;

// isUnsure reports whether a part claims too little to be believed without a look at what comes close.
const isUnsure = (part) => part.confidence > 0 && part.confidence < 0.75;

// Answer fills an article while the answer comes.
export class Answer {
  constructor(question) {
    this.lines = [];
    this.text = el("p", { class: "text", "aria-busy": "true" });
    this.below = el("div");
    this.element = el("article", {}, el("p", { class: "asked" }, question), el("div", { class: "answer" }, this.text, this.below));
    this.step = 0;
  }

  // tokens appends tokens to the text.
  tokens(list) {
    for (const t of list) {
      const span = el("span", { class: "t " + t.by, tabindex: "0", "data-step": this.step }, t.text);
      span.setAttribute("aria-label", `${t.text.trim() || "space"}: ${t.alone ? self() + " alone" : who[t.by]}`);
      for (const on of ["mouseenter", "focus"]) span.addEventListener(on, () => this.tell(span, t));
      for (const off of ["mouseleave", "blur"]) span.addEventListener(off, () => { tip().hidden = true; });
      this.text.append(span);
      this.step++;
    }
  }

  // tell shows both sides' distributions at a token.
  tell(span, t) {
    const step = +span.dataset.step;
    const sides = { device: null, cloud: null };
    for (const l of this.lines) {
      if ((l.step || 0) === step && l.ids && (l.event === "decode" || l.side === "cloud")) sides[l.side] = l;
    }
    const rows = Object.entries(sides).filter(([, l]) => l).map(([side, l]) => {
      const top = l.ids.map((_, i) => [l.texts[i], l.weights[i] / 65536]).sort((a, b) => b[1] - a[1]).slice(0, 4);
      return el("tr", {}, el("th", { scope: "row" }, side), ...top.map(([text, p]) => el("td", {}, `${shown(text)} ${percent(p)}`)));
    });
    const box = tip();
    box.replaceChildren(el("div", {}, t.alone ? `decided by ${self()} alone` : who[t.by]), el("div", { class: "faint" }, `after ${t.ms.toFixed(0)} ms`), el("table", {}, ...rows));
    box.hidden = false;
    const at = span.getBoundingClientRect(), size = box.getBoundingClientRect();
    box.style.left = Math.max(8, Math.min(at.left, innerWidth - size.width - 8)) + "px";
    box.style.top = (at.top > size.height + 12 ? at.top - size.height - 6 : at.bottom + 6) + "px";
  }

  // note adds a line below the text.
  note(text, kind = "") {
    this.below.append(el("p", { class: "note " + kind }, text));
  }

  // done shows what the answer rests on.
  done(own) {
    this.text.removeAttribute("aria-busy");
    this.own = own;
    if (own.unknown) this.note(unknown(own));
    // Never rounded up to 75, from which an answer is sure.
    for (const p of own.parts.filter(isUnsure)) this.note(`Unsure: right in ${Math.min(74, Math.round(100 * p.confidence))} of 100 such answers.`, "warn");
    if (own.degraded) this.note(own.local_only ? "The cloud was missing: the device answered alone." : "The cloud was lost: the device decided a part of the answer alone.", "warn");
    for (const r of own.remarks || []) this.note(r);
    this.cite(own.parts);
    this.legend(own);
    this.timeline(own);
  }

  // cite lists the sentences that say the answer and, below what is unknown or unsure, those that come close.
  cite(parts) {
    const of = (p) => p.citations.filter((c) => c.weight > 0 || !c.text || p.unknown || isUnsure(p));
    const list = el("ul", { class: "cites" });
    const others = parts.flatMap((p) => p.otherwise || []).map((c) => ({ ...c, otherwise: true }));
    for (const c of parts.flatMap(of).concat(others)) {
      if (!c.text) {
        this.note(`A document of the ${c.side} says something else.`, "warn");
        continue;
      }
      const bytes = new TextEncoder().encode(c.text), cut = (a, b) => new TextDecoder().decode(bytes.slice(a, b));
      const quote = el("q", {}, cut(0, c.from).replace(bullet, ""), c.to > c.from ? el("mark", {}, cut(c.from, c.to)) : "", cut(c.to));
      const item = el("li", { class: c.side }, quote, el("small", {}, `${c.column ? `column ${c.column}, ` : ""}${c.title || "a document"}, ${c.side}${c.otherwise ? ", says something else" : c.weight > 0 ? "" : ", near"} `));
      if (c.side === "device") item.append(this.opener(c, item));
      list.append(item);
    }
    if (list.children.length) this.below.append(list);
  }

  // opener is a button that shows the passage around a sentence of the device.
  opener(c, item) {
    const button = el("button", { type: "button", "aria-expanded": "false" }, "passage");
    button.addEventListener("click", async () => {
      const open = item.querySelector(".passage");
      button.setAttribute("aria-expanded", String(!open));
      if (open) return open.remove();
      const found = (await json(`v1/passages?k=16&q=${encodeURIComponent(c.text)}`)).data;
      const p = found.find((p) => p.text.includes(c.text)) || found[0];
      const box = el("div", { class: "passage", tabindex: "0" });
      const at = p ? p.text.indexOf(c.text) : -1;
      if (at < 0) box.append(p ? p.text : "The passage is no longer there.");
      else box.append(p.text.slice(0, at), el("mark", {}, c.text), p.text.slice(at + c.text.length));
      item.append(box);
    });
    return button;
  }

  legend(own) {
    const count = {};
    for (const t of own.tokens) count[t.by] = (count[t.by] || 0) + 1;
    const items = Object.entries(count).map(([by, n]) => el("li", { class: by }, el("i"), `${who[by]}: ${n}`));
    if (items.length) this.below.append(el("ul", { class: "legend", "aria-label": "Who drafted the tokens" }, ...items));
  }

  timeline(own) {
    const last = own.tokens.length ? own.tokens[own.tokens.length - 1].ms : 0;
    const first = own.tokens.length ? own.tokens[0].ms : 0;
    const parts = [`${own.tokens.length} tokens`, `first after ${first.toFixed(0)} ms`, `all after ${last.toFixed(0)} ms`];
    if (!own.local_only) parts.push(`round trip ${own.rtt_ms.toFixed(1)} ms`, own.placement, `seed ${own.seed}`);
    const box = el("details", { class: "more" }, el("summary", {}, "Timeline: " + parts.join(" · ")));
    box.addEventListener("toggle", () => {
      if (box.open && !box.querySelector("svg")) box.append(el("div", { class: "timeline", tabindex: "0", role: "group", "aria-label": "Timeline" }, draw(this.lines, own, innerWidth < 576 ? 400 : 800)));
    });
    this.below.append(box);
  }
}

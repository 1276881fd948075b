// The page: tabs, the conversation, its options, and who is paired.

import { json, stream } from "./server.js";
import { Answer, el, site } from "./answer.js";
import * as documents from "./documents.js";

const $ = (id) => document.getElementById(id);
const history = []; // of the conversation, as messages
const mostTurns = 8; // messages that a question sees
let running = null; // aborts the answer that comes

// Tabs.
const tabs = [...document.querySelectorAll("[role=tab]")];

function open(tab) {
  for (const t of tabs) {
    const on = t === tab;
    t.setAttribute("aria-selected", String(on));
    t.tabIndex = on ? 0 : -1;
    $(t.getAttribute("aria-controls")).hidden = !on;
  }
  if (tab.id === "tab-documents") documents.show().catch(report);
  if (tab.id === "tab-pair") sides().catch(report);
}

for (const [i, tab] of tabs.entries()) {
  tab.addEventListener("click", () => open(tab));
  tab.addEventListener("keydown", (e) => {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!way) return;
    const next = tabs[(i + way + tabs.length) % tabs.length];
    next.focus();
    open(next);
  });
}

const report = (e) => { $("state").textContent = e.message; };

// Options. A placement is asked for only if one was chosen: a private device refuses to be asked for any.
const options = () => ({
  rtt_ms: +$("rtt").value, loss: +$("loss").value / 100, placement: $("placement").value === "auto" ? undefined : $("placement").value,
  local_only: $("local").checked, record: true,
});
$("rtt").addEventListener("input", () => { $("rtt-value").textContent = +$("rtt").value ? $("rtt").value + " ms" : "as it is"; });
$("loss").addEventListener("input", () => { $("loss-value").textContent = +$("loss").value ? $("loss").value + " %" : "none"; });

// ask asks a question with more of the request, and fills an answer.
async function ask(question, messages, more, own) {
  const answer = new Answer(question);
  running = new AbortController();
  busy(true);
  $("log").append(answer.element);
  answer.element.scrollIntoView({ block: "end" });
  let said = "";
  try {
    await stream({ messages, ...more, tandem: { ...own, nearest: false } }, running.signal, (name, data) => {
      if (name === "record") return answer.lines.push(data);
      const [choice] = data.choices;
      if (choice.delta.content) {
        said += choice.delta.content;
        const tokens = data.tandem && data.tandem.tokens ? data.tandem.tokens : [];
        answer.tokens(tokens.length ? tokens : [{ text: choice.delta.content, by: "both", ms: 0 }]);
      }
      if (choice.finish_reason) answer.done(data.tandem);
      answer.element.scrollIntoView({ block: "end" });
    });
  } catch (e) {
    answer.text.removeAttribute("aria-busy");
    if (e.name === "AbortError") answer.note("Stopped.");
    else answer.note(e.message, "bad");
  }
  busy(false);
  return { answer, said };
}

function busy(on) {
  $("send").hidden = on;
  $("stop").hidden = !on;
  $("compare").disabled = on;
  if ($("empty")) $("empty").hidden = true;
  if (!on) running = null;
}

// seeded is the seed of the request, if one was chosen.
const seeded = () => ($("seed").value === "" ? {} : { seed: +$("seed").value });

async function submit(question) {
  if (running || !question.trim()) return;
  $("question").value = "";
  grow();
  const messages = [...history.slice(-mostTurns), { role: "user", content: question }];
  const { said } = await ask(question, messages, seeded(), options());
  if (said) history.push({ role: "user", content: question }, { role: "assistant", content: said });
  $("question").focus();
  state();
}

// compare asks the same question with the same seed in each placement. It compares those before the first that fails or is stopped.
async function compare() {
  const question = $("question").value.trim() || (history.length ? history[history.length - 2].content : "");
  if (running || !question) return $("question").focus();
  const seed = $("seed").value === "" ? Math.floor(Math.random() * 2 ** 31) : +$("seed").value;
  const rows = [], placements = ["mirror", "device", "cloud", "greedy", "sync"];
  for (const placement of placements) {
    const { answer, said } = await ask(`${question} (${placement})`, [{ role: "user", content: question }], { seed }, { ...options(), placement, local_only: false });
    if (!answer.own) break;
    const t = answer.own.tokens;
    rows.push({ placement, said, first: t.length ? t[0].ms : 0, all: t.length ? t[t.length - 1].ms : 0 });
  }
  if (rows.length < 2) return;
  const same = rows.every((r) => r.said === rows[0].said), where = rows.length < placements.length ? "in these placements" : "in every placement";
  const table = el("table", {}, el("caption", {}, same ? `The same text ${where}.` : "The texts differ: the cloud was lost in some."),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "placement"), el("th", { scope: "col", class: "number" }, "first token"), el("th", { scope: "col", class: "number" }, "all"))),
    el("tbody", {}, ...rows.map((r) => el("tr", {}, el("td", {}, r.placement), el("td", { class: "number" }, r.first.toFixed(0) + " ms"), el("td", { class: "number" }, r.all.toFixed(0) + " ms")))));
  const article = el("article", { class: "comparison" }, table);
  $("log").append(article);
  article.scrollIntoView({ block: "end" });
}

// The form. It covers the end of the page, so what is scrolled to must end above it.
new ResizeObserver(() => document.documentElement.style.setProperty("--form", $("ask").offsetHeight + "px")).observe($("ask"));

function grow() {
  if (!$("question").value.trim()) $("question").value = "";
  $("question").style.height = "auto";
  $("question").style.height = Math.min($("question").scrollHeight + 2, 160) + "px";
}
$("question").addEventListener("input", grow);
$("question").addEventListener("keydown", (e) => {
  if (e.key === "Enter" && !e.shiftKey && !e.isComposing) {
    e.preventDefault();
    submit($("question").value);
  }
});
$("ask").addEventListener("submit", (e) => { e.preventDefault(); submit($("question").value); });
$("stop").addEventListener("click", () => running && running.abort());
$("compare").addEventListener("click", () => compare().catch(report));
document.addEventListener("keydown", (e) => { if (e.key === "Escape" && running) running.abort(); });

// sides shows who answers.
async function sides() {
  const { device, clouds } = await json("v1/pair");
  const card = (title, ...lines) => el("section", { class: "side" }, el("h2", {}, title), ...lines.filter(Boolean).map((l) => el("p", {}, l)));
  $("sides").replaceChildren(
    card("This device: " + device.name, `${device.documents || 0} ${device.sample ? "sample documents" : "documents"}`, device.in_use ? "answers" : "does not answer: only the cloud's documents do"),
    ...clouds.map((c) => card("Cloud: " + c.name, c.in_use ? "is asked" : "paired, not asked", c.sample && "sample documents",
      c.rtt_ms ? `round trip ${c.rtt_ms.toFixed(1)} ms` : c.in_use && "not reached yet", (c.addresses || []).join(", "), c.id && "key " + c.id)));
  if (!clouds.length) $("sides").append(card("No cloud", "Answers come from this device alone."));
  return { device, clouds };
}

// state says in one line who answers.
async function state() {
  const { device, clouds, alone } = await json("v1/pair");
  const cloud = clouds.find((c) => c.in_use);
  const from = device.sample ? "sample documents" : `${device.documents || 0} documents`;
  site.alone = Boolean(alone);
  for (const e of [$("options"), document.querySelector("nav")]) e.hidden = site.alone; // they are for a device
  if (alone) $("state").textContent = `${from} of ${device.name}`;
  else $("state").textContent = cloud ? `${from} here, with ${cloud.name}` : `${from} here, no cloud`;
  return device.sample;
}

// The first asks for a document of either side.
const samples = ["What is the wifi password of the lake cabin, and when does the harbour museum open?", "When does the harbour museum open?", "Who owns the marina?"];

async function start() {
  documents.start();
  if (await state()) {
    $("examples").replaceChildren(...samples.slice(site.alone ? 1 : 0).map((q) => {
      const b = el("button", { type: "button" }, q);
      b.addEventListener("click", () => submit(q));
      return el("li", {}, b);
    }));
  }
  $("question").focus();
}

start().catch(report);

// The documents: what there is, and what is added by dropping files.

import { json, request } from "./server.js";
import { el } from "./answer.js";

const size = (n) => (n < 1000 ? n + " B" : n < 1e6 ? (n / 1e3).toFixed(1) + " kB" : (n / 1e6).toFixed(1) + " MB");

// show lists the documents.
export async function show() {
  const list = (await json("v1/documents")).data;
  const body = document.querySelector("#list tbody");
  body.replaceChildren(...list.map((d) => {
    const name = el("td", {}, d.title || d.path, el("br"), el("small", { class: "faint" }, d.sample ? "sample document" : d.path));
    const remove = el("button", { type: "button", "aria-label": `Remove ${d.title || d.path}` }, "Remove");
    remove.addEventListener("click", async () => {
      remove.disabled = true;
      try {
        await request("v1/documents?path=" + encodeURIComponent(d.path), { method: "DELETE" });
      } catch (e) {
        said(`${d.path}: ${e.message}`, true);
      }
      await show();
    });
    return el("tr", {}, name, el("td", { class: "number" }, String(d.passages)), el("td", { class: "number" }, size(d.bytes)),
      el("td", { class: "date" }, d.sample ? "" : new Date(d.modified).toLocaleDateString()), el("td", {}, d.sample ? "" : remove));
  }));
  return list;
}

// said adds a line about an upload.
function said(text, bad) {
  const line = el("li", bad ? { class: "skipped" } : {}, text);
  document.getElementById("uploads").prepend(line);
  return line;
}

// add uploads files, one after the other.
export async function add(files) {
  const all = [...files];
  let skipped = 0;
  for (const [i, f] of all.entries()) {
    const line = said(`${f.name}: reading (${i + 1} of ${all.length})`);
    try {
      const form = new FormData();
      form.append("file", f, f.name);
      const [result] = (await json("v1/documents", { method: "POST", body: form })).data;
      line.textContent = result.skipped ? `${f.name}: skipped, ${result.skipped}` : `${f.name}: added`;
      line.className = result.skipped ? "skipped" : "";
      skipped += result.skipped ? 1 : 0;
    } catch (e) {
      line.textContent = e.message.startsWith(`${f.name}: `) ? e.message : `${f.name}: ${e.message}`;
      line.className = "skipped";
      skipped++;
    }
  }
  if (all.length > 1) said(`${all.length - skipped} of ${all.length} files added`, skipped > 0);
  await show();
}

// start listens for files.
export function start() {
  const drop = document.getElementById("drop"), input = document.getElementById("files");
  input.addEventListener("change", () => add(input.files).then(() => { input.value = ""; }));
  for (const type of ["dragenter", "dragover"]) drop.addEventListener(type, (e) => { e.preventDefault(); drop.classList.add("over"); });
  for (const type of ["dragleave", "drop"]) drop.addEventListener(type, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (e) => { e.preventDefault(); add(e.dataTransfer.files); });
}

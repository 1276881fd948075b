// Requests to the server that the page came from.

let key = sessionStorage.getItem("key") || "";

// headers returns those of a request, with the key if there is one.
const headers = (more = {}) => (key ? { ...more, Authorization: "Bearer " + key } : more);

let asking = null; // until somebody has answered

// askKey asks for the server's key, once for all requests that need it.
function askKey() {
  asking ||= (async () => {
    const dialog = document.getElementById("login");
    document.getElementById("wrong").hidden = !key;
    document.getElementById("key").value = dialog.returnValue = "";
    dialog.showModal();
    await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
    if (dialog.returnValue !== "go") throw new Error("This server asks for its key: load the page again to give it.");
    key = document.getElementById("key").value.trim();
    sessionStorage.setItem("key", key);
  })().finally(() => { asking = null; });
  return asking;
}

// request sends a request and returns the response, which is good. Otherwise it throws what the server says.
export async function request(path, options = {}) {
  for (;;) {
    const response = await fetch(path, { ...options, headers: headers(options.headers) });
    if (response.status === 401) {
      await askKey();
      continue;
    }
    if (!response.ok) {
      let message = response.statusText;
      try {
        message = (await response.json()).error.message;
      } catch { /* no JSON: the status says what there is to say */ }
      throw new Error(message);
    }
    return response;
  }
}

export const json = async (path, options) => (await request(path, options)).json();

// stream asks a question and calls on(name, data) for each event of the answer.
export async function stream(body, signal, on) {
  const response = await request("v1/chat/completions", {
    method: "POST", signal, headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...body, stream: true }),
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value;
    const events = held.split("\n\n");
    held = events.pop();
    for (const e of events) {
      let name = "", data = "";
      for (const line of e.split("\n")) {
        if (line.startsWith("event: ")) name = line.slice(7);
        if (line.startsWith("data: ")) data += line.slice(6);
      }
      if (data === "[DONE]") return;
      const parsed = JSON.parse(data);
      if (parsed.error) throw new Error(parsed.error.message);
      on(name, parsed);
    }
  }
}

// Asks a server through client libraries that others wrote. The argument is the server's address.
import assert from "node:assert/strict";
import OpenAI from "openai";
import { ChatOpenAI } from "@langchain/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import { Ollama } from "ollama";

const url = process.argv[2];
const question = "When does the harbour museum open?";
const messages = [{ role: "user", content: question }];

async function openai() {
  const client = new OpenAI({ baseURL: url + "/v1", apiKey: "none", maxRetries: 0 });
  const [model] = (await client.models.list()).data;
  const whole = await client.chat.completions.create({ model: model.id, messages, seed: 1, logprobs: true, top_logprobs: 2 });
  assert.equal(whole.choices[0].message.content, "9:30");
  assert.equal(whole.choices[0].logprobs.content.length, whole.usage.completion_tokens);
  assert.equal(whole.tandem.parts[0].citations[0].side, "cloud");
  let text = "";
  for await (const chunk of await client.chat.completions.create({ model: "tandem", messages, stream: true })) text += chunk.choices[0]?.delta?.content ?? "";
  assert.equal(text, "9:30");
  const many = await Promise.all(Array.from({ length: 8 }, (_, i) => client.chat.completions.create({ model: "tandem", messages, seed: i })));
  assert.ok(many.every((a) => a.choices[0].message.content === "9:30"));
  const cut = await client.chat.completions.create({ model: "tandem", messages, stop: ":" });
  assert.equal(cut.choices[0].message.content, "9");
  const response = await client.responses.create({ model: "tandem", input: question });
  assert.equal(response.output_text, "9:30");
  const events = [];
  for await (const event of await client.responses.create({ model: "tandem", input: messages, stream: true })) events.push(event);
  assert.equal(events[0].type, "response.created");
  assert.equal(events.filter((e) => e.type === "response.output_text.delta").map((e) => e.delta).join(""), "9:30");
  assert.equal(events.at(-1).type, "response.completed");
  await assert.rejects(client.chat.completions.create({ model: "gpt-4o", messages }), (e) => e.status === 404 && e.code === "model_not_found");
  await assert.rejects(client.chat.completions.create({ model: "tandem", messages, tools: [{ type: "function", function: { name: "f" } }] }), (e) => e.status === 400 && e.param === "tools");
  await assert.rejects(client.embeddings.create({ model: "tandem", input: "x" }), (e) => e.status === 501);
  const stopped = await client.chat.completions.create({ model: "tandem", messages, stream: true, tandem: { rtt_ms: 600 } });
  stopped.controller.abort();
  for await (const chunk of stopped) assert.fail("a chunk after the request was aborted: " + JSON.stringify(chunk));
}

async function langchain() {
  const model = new ChatOpenAI({ model: "tandem", apiKey: "none", configuration: { baseURL: url + "/v1" } });
  assert.equal((await model.invoke(question)).content, "9:30");
  let text = "";
  for await (const chunk of await model.stream(question)) text += chunk.content;
  assert.equal(text, "9:30");
}

async function vercel() {
  const model = createOpenAICompatible({ name: "tandem", baseURL: url + "/v1" })("tandem");
  assert.equal((await generateText({ model, prompt: question })).text, "9:30");
  let text = "";
  for await (const piece of streamText({ model, prompt: question }).textStream) text += piece;
  assert.equal(text, "9:30");
}

async function ollama() {
  const client = new Ollama({ host: url });
  const { models } = await client.list();
  assert.equal((await client.chat({ model: models[0].name, messages })).message.content, "9:30");
  let text = "";
  for await (const piece of await client.generate({ model: models[0].name, prompt: question, stream: true })) text += piece.response;
  assert.equal(text, "9:30");
  assert.ok((await client.show({ model: models[0].name })).model_info);
  await assert.rejects(client.chat({ model: "other", messages }), /no model other/);
}

for (const client of [openai, langchain, vercel, ollama]) {
  await client();
  console.log("ok", client.name);
}
process.exit(0);

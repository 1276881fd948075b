// Package api answers questions over HTTP, with OpenAI's and Ollama's APIs, and over MCP. It turns requests into questions
// for an Answerer, and answers into responses. Package node produces the answers. This package holds no model, opens no
// socket and reads no file.
//
// What these APIs have no fields for is under "tandem" in a response: the sentences that support the answer with their
// documents, who drafted each token, the placement, the round-trip time, and whether anyone knew the answer.
package api

// Package api answers questions over HTTP, in the words of OpenAI's and Ollama's APIs, and over MCP. It turns requests into
// questions for an Answerer, and answers into responses; how an answer comes about is the matter of package node. It holds
// no model, opens no socket and reads no file.
//
// What these APIs have no words for stands under "tandem" in a response: the sentences that say the answer with their
// documents, who drafted each token, the placement, the round-trip time, and whether anybody knew.
package api

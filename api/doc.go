// Package api answers questions over HTTP, with the APIs of OpenAI, Anthropic, Ollama and llama.cpp, and over MCP. It turns requests into questions
// for an Answerer, and answers into responses. Package node produces the answers. This package holds no model, opens no
// socket and reads no file.
//
// What these APIs have no fields for is under "tandem" in a response: the sentences that support the answer with their
// documents, who drafted each token, the placement, the round-trip time, and whether anyone knew the answer.
//
// Where to look:
//
//	what a server needs       server.go
//	what precedes a request   router.go, guard.go, log.go
//	from request to answer    request.go, job.go, run.go
//	OpenAI's API              openai.go, chunks.go, logprobs.go, responses.go, embeddings.go
//	Anthropic's API           anthropic.go
//	Ollama's API              ollama.go
//	llama.cpp's API           llama.go
//	MCP                       mcp.go, stdio.go
//	what is said of answers   answer.go, mark.go, events.go
//	documents                 documents.go
//	JSON, streams, errors     json.go, stream.go, errors.go
package api

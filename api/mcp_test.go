package api

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/node"
)

// A client of the protocol finds the tools and calls them; wrong arguments are errors of the call.
func TestMCP(t *testing.T) {
	s := New(config(&echo{}))
	here, there := mcp.NewInMemoryTransports()
	server, err := s.MCP().Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	tools, err := client.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 3 {
		t.Fatalf("%v, %v", tools, err)
	}
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"ask", map[string]any{"question": "one two"}, `"answer":"one two"`},
		{"search_notes", map[string]any{"query": "boats"}, `"text":"boats"`},
		{"list_documents", map[string]any{}, `"documents":[]`},
		{"ask", map[string]any{"question": " "}, ""},
		{"search_notes", map[string]any{"query": "x", "limit": 1000}, ""},
	} {
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.arguments})
		if err != nil || r.IsError != (c.want == "") {
			t.Errorf("%s %v: %+v, %v", c.tool, c.arguments, r, err)
			continue
		}
		if b, _ := json.Marshal(r.StructuredContent); !strings.Contains(string(b), c.want) {
			t.Errorf("%s %v: %s", c.tool, c.arguments, b)
		}
	}
}

// remarking is an echo with something to say of each answer.
type remarking struct{ *echo }

func (r remarking) Answer(ctx context.Context, q Query, emit func(node.Token), record func(node.Line)) (node.Answer, error) {
	a, err := r.echo.Answer(ctx, q, emit, record)
	a.Remarks = []string{"boat.md is no longer there"}
	return a, err
}

// What is to be said of an answer is in its text, too: some models read nothing else.
func TestMCPRemarks(t *testing.T) {
	s := New(config(remarking{&echo{}}))
	r, out, err := s.mcpAsk(t.Context(), nil, askInput{Question: "one two"})
	if err != nil || !slices.Equal(out.Remarks, []string{"boat.md is no longer there"}) {
		t.Fatalf("%+v, %v", out, err)
	}
	if said := r.Content[0].(*mcp.TextContent).Text; said != "one two\nNote: boat.md is no longer there" {
		t.Errorf("%q", said)
	}
}

// The text of an answer tells apart what says it and what only comes close, and says when it is unsure.
func TestCitedTellsDoubt(t *testing.T) {
	say, near := Citation{Side: "device", Title: "Boat", Text: "The berth is C17.", Weight: 1}, Citation{Side: "cloud", Text: "The jetty is new."}
	const (
		support = "\n> The berth is C17. (Boat, on the device)"
		heading = "\nThese come close, but do not say it:"
		close   = heading + "\n> The jetty is new. (a document, on the cloud)"
	)
	for want, p := range map[string]Part{
		support: {Sure: 0.9, Citations: []Citation{say, near}},
		support + close + "\nThis is unsure: right in 74 of 100 such answers.": {Sure: 0.747, Unsure: true, Citations: []Citation{say, near}},
		heading + support: {Unknown: true, Citations: []Citation{say}},
	} {
		if got := cited("C17.", []Part{p}); got != "C17."+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A query is no longer than a question may be.
func TestMCPLongQuery(t *testing.T) {
	_, _, err := New(config(&echo{})).mcpSearch(t.Context(), nil, searchInput{Query: strings.Repeat("a ", node.MaxQuestion)})
	if err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Error(err)
	}
}

package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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

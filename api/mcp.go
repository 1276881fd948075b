package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/decoder"
	"tandem/node"
	"tandem/retrieval/passages"
)

// MCP returns a server of the Model Context Protocol with the tools ask, search_notes and list_documents.
func (s *Server) MCP() *mcp.Server {
	m := mcp.NewServer(&mcp.Implementation{Name: "tandem", Title: "Tandem", Version: s.cfg.Version}, &mcp.ServerOptions{
		Instructions: "Answers questions from the user's own documents and those of a paired cloud, with the sentences that say the answer. It knows nothing else.",
	})
	mcp.AddTool(m, &mcp.Tool{Name: "ask", Description: "Answer a question from the user's documents and the paired cloud's. The answer shows the sentences that support it, or says that no document has it.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, s.mcpAsk)
	if s.cfg.Library != nil {
		mcp.AddTool(m, &mcp.Tool{Name: "search_notes", Description: "Find passages of the user's documents on this machine, best first. A passage without any of the query's words was found by related words.",
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, s.mcpSearch)
		mcp.AddTool(m, &mcp.Tool{Name: "list_documents", Description: "List the user's documents on this machine.",
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, s.mcpList)
	}
	return m
}

type askInput struct {
	Question  string `json:"question" jsonschema:"a question in plain words"`
	LocalOnly bool   `json:"local_only,omitempty" jsonschema:"ask this machine alone, and no cloud"`
}

type askOutput struct {
	Answer  string `json:"answer"`
	Unknown bool   `json:"unknown" jsonschema:"no document says it"`
	Parts   []Part `json:"parts"`

	Remarks []string `json:"remarks,omitempty" jsonschema:"what the user should know of how the answer came about"`
}

func (s *Server) mcpAsk(ctx context.Context, _ *mcp.CallToolRequest, in askInput) (*mcp.CallToolResult, askOutput, error) {
	question := strings.TrimSpace(in.Question)
	if question == "" {
		return nil, askOutput{}, fmt.Errorf("the question is empty")
	}
	q, err := s.query(options{Tandem: ownOptions{LocalOnly: in.LocalOnly}}, question, nil, 0)
	if err != nil {
		return nil, askOutput{}, err
	}
	leave, err := s.waitForSlot(ctx)
	if err != nil {
		return nil, askOutput{}, err
	}
	defer leave()
	done, err := s.run(ctx, q, nil, func(string, []node.Token) {}, nil)
	if err != nil {
		return nil, askOutput{}, err
	}
	e := s.extra(q, done.answer)
	said := cited(done.text, e.Parts)
	for _, r := range e.Remarks {
		said += "\nNote: " + r
	}
	return text(said), askOutput{done.text, e.Unknown, e.Parts, e.Remarks}, nil
}

// cited is an answer with its sentences, for models that read only text: those that say it first, and apart from them those
// that come close if it is not known or not sure.
func cited(answer string, parts []Part) string {
	var b strings.Builder
	b.WriteString(answer)
	for _, p := range parts {
		end := slices.IndexFunc(p.Citations, func(c Citation) bool { return p.Unknown || c.Weight < decoder.MinShare })
		if end < 0 {
			end = len(p.Citations)
		}
		say, near := p.Citations[:end], p.Citations[end:]
		quote(&b, say)
		if !p.Unknown && len(p.Otherwise) > 0 {
			fmt.Fprintf(&b, "\nA document of the %s says something else:", p.Otherwise[0].Side)
			quote(&b, p.Otherwise)
		}
		if len(near) > 0 && (p.Unknown || p.Unsure) {
			b.WriteString("\nThese come close, but do not say it:")
			quote(&b, near)
		}
		if p.Unsure {
			fmt.Fprintf(&b, "\nThis is unsure: right in %d of 100 such answers.", p.RightOf100())
		}
	}
	return b.String()
}

// quote writes sentences and where they stand, each on a line.
func quote(b *strings.Builder, list []Citation) {
	for _, c := range list {
		if c = c.WithoutMark(); c.Text != "" {
			fmt.Fprintf(b, "\n> %s (%s, on the %s)", strings.Join(strings.Fields(c.Text), " "), cmp.Or(c.Title, "a document"), c.Side)
		}
	}
}

func text(t string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t}}}
}

type searchInput struct {
	Query string `json:"query" jsonschema:"what to search for"`
	Limit int    `json:"limit,omitempty" jsonschema:"most passages, 8 by default"`
}

type searchOutput struct {
	Passages []foundPassage `json:"passages"`
}

type foundPassage struct {
	Title string   `json:"title"`
	Text  string   `json:"text"`
	File  string   `json:"file,omitempty"`
	Words []string `json:"words" jsonschema:"the query's words that the passage has"`
}

func (s *Server) mcpSearch(ctx context.Context, _ *mcp.CallToolRequest, in searchInput) (*mcp.CallToolResult, searchOutput, error) {
	if in.Limit == 0 {
		in.Limit = 8
	}
	if in.Limit < 1 || in.Limit > maxFound || strings.TrimSpace(in.Query) == "" {
		return nil, searchOutput{}, fmt.Errorf("want a query, and a limit of 1 to %d", maxFound)
	}
	if len(in.Query) > node.MaxQuestion {
		return nil, searchOutput{}, fmt.Errorf("the query has %d bytes: want at most %d", len(in.Query), node.MaxQuestion)
	}
	found, err := s.cfg.Library.Search(ctx, in.Query, in.Limit)
	out := searchOutput{Passages: []foundPassage{}}
	for _, p := range found {
		one := foundPassage{Title: passages.Place(p.Title), Text: p.Text, Words: p.Words}
		if s.cfg.Files {
			one.File = p.Source
		}
		out.Passages = append(out.Passages, one)
	}
	return nil, out, err
}

type listOutput struct {
	Documents []Document `json:"documents"`
}

func (s *Server) mcpList(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, listOutput, error) {
	list, err := s.cfg.Library.List(ctx)
	return nil, listOutput{append([]Document{}, list...)}, err
}

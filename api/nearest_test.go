package api

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"tandem"
	"tandem/node"
)

// ignorant answers that it does not know.
type ignorant struct{ asked Query }

func (g *ignorant) Sides() Sides { return Sides{Device: SideInfo{Name: "phone"}} }

func (g *ignorant) Answer(_ context.Context, q Query, emit func(node.Token), _ func(node.Line)) (node.Answer, error) {
	g.asked = q
	text := "I don't know."
	t := node.Token{ID: 65, Text: text}
	emit(t)
	near := node.Quote{Side: tandem.Device, Title: "Boats", Text: "The mast is oak."}
	return node.Answer{Text: text, Tokens: []node.Token{t}, Parts: []node.Part{
		{Text: text, Unknown: 1, Quotes: []node.Quote{near}}, {Text: text, Unknown: 1, Quotes: []node.Quote{near}},
	}}, nil
}

// Texts below which what comes close stands are whole in all APIs, and what clients send back of it goes nowhere.
func TestNearestInText(t *testing.T) {
	const want, alone = "I don't know.\n\nNearest:\n- The mast is oak. Boats", "I don't know."
	g := &ignorant{}
	cfg := config(g)
	cfg.Pointing = true
	cfg.Nearest = func(p Part) (lines []string) {
		for _, c := range p.Citations {
			lines = append(lines, "- "+c.Text+" "+c.Title+c.Side)
		}
		return lines
	}
	s := New(cfg)
	for _, c := range []struct{ path, more, want string }{
		{chatPath, ``, want}, {chatPath, `,"n":2`, want}, {messagesPath, ``, want}, {"/api/chat", `,"stream":false`, want},
		{chatPath, `,"stop":["x"]`, alone}, {chatPath, `,"logprobs":true`, alone}, {chatPath, `,"tandem":{"nearest":false}`, alone},
		{"/v1/completions", `,"prompt":"What?"`, want}, {"/v1/responses", `,"input":"What?"`, want}, {"/api/generate", `,"stream":false,"prompt":"What?"`, want},
	} {
		v := object(t, send(t, s, "POST", c.path, ask("What?", c.more)))
		for _, place := range [][]any{{"choices", 0, "message", "content"}, {"choices", 0, "text"}, {"content", 0, "text"}, {"message", "content"}, {"output", 0, "content", 0, "text"}, {"response"}} {
			if text, ok := at(v, place...).(string); ok && text != c.want {
				t.Errorf("%s %s: %q", c.path, c.more, text)
			}
		}
		if said := at(v, "tandem", "parts", 0, "text"); said != alone && at(v, "choices", 1) == nil {
			t.Errorf("%s %s: the part says %v", c.path, c.more, said)
		}
	}
	text := ""
	for line := range strings.Lines(send(t, s, "POST", chatPath, ask("What?", `,"stream":true`)).Body.String()) {
		var v any
		if data, ok := strings.CutPrefix(line, "data: {"); ok && json.Unmarshal([]byte("{"+data), &v) == nil {
			piece, _ := at(v, "choices", 0, "delta", "content").(string)
			text += piece
		}
	}
	if text != want {
		t.Errorf("streamed: %q", text)
	}
	for said, kept := range map[string]string{want: alone, strings.ReplaceAll(want, "\n", "\r\n"): alone, "Nearest:\nthe oak": "Nearest:\nthe oak", "Oak\n\nNearest:\nelm": "Oak\n\nNearest:\nelm"} {
		b, _ := json.Marshal(said)
		send(t, s, "POST", chatPath, `{"messages":[{"role":"user","content":"What?"},{"role":"assistant","content":`+string(b)+`},{"role":"user","content":"Where?"}]}`)
		if h := g.asked.History; len(h) != 2 || h[1].Content != kept {
			t.Errorf("%q: history %q", said, h)
		}
	}
}

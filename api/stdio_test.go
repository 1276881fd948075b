package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// call is a line that calls the tool ask.
func call(id int, question string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask","arguments":{"question":%q}}}`, id, question)
}

// greetServer are the lines that open a session.
const greetServer = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// overStdio returns the replies to lines, by their ids in JSON, and the time until the server ended.
func overStdio(t *testing.T, e *echo, lines string) (replies map[string]string, took time.Duration) {
	t.Helper()
	var out strings.Builder
	begun := time.Now()
	if err := New(config(e)).MCP().Run(t.Context(), Stdio(io.NopCloser(strings.NewReader(greetServer+lines)), &out)); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	replies = map[string]string{}
	for line := range strings.Lines(out.String()) {
		var list []json.RawMessage
		if json.Unmarshal([]byte(line), &list) != nil {
			list = []json.RawMessage{json.RawMessage(line)}
		}
		for _, one := range list {
			var r struct{ ID json.RawMessage }
			if err := json.Unmarshal(one, &r); err != nil {
				t.Errorf("%v in %s", err, line)
			}
			replies[string(r.ID)] += string(one)
		}
	}
	return replies, time.Since(begun)
}

// A line that is no message is answered with an error, and the server goes on.
func TestStdioWrongLines(t *testing.T) {
	for _, c := range []struct {
		line, id string
		code     int
	}{
		{`nonsense{`, "null", jsonrpc.CodeParseError},
		{`{"jsonrpc":"2.0","id":5} {}`, "null", jsonrpc.CodeParseError},
		{strings.Repeat(" x", maxLine), "null", jsonrpc.CodeParseError},
		{`5`, "null", jsonrpc.CodeInvalidRequest},
		{`[]`, "null", jsonrpc.CodeInvalidRequest},
		{`[7]`, "null", jsonrpc.CodeInvalidRequest},
		{`[` + call(3, "x") + `,` + call(3, "x") + `]`, "null", jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"1.0","id":5,"method":"ping"}`, "5", jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"2.0","id":[5],"method":"ping"}`, "null", jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"2.0","id":2.9,"method":"ping"}`, "null", jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "null", jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"2.0","id":5}`, "5", jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"2.0"}`, "null", jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"2.0","id":5,"method":"initialize"}`, "5", jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"2.0","method":7,"id":"a"}`, `"a"`, jsonrpc.CodeInvalidRequest},
	} {
		got, _ := overStdio(t, &echo{}, c.line+"\n\n"+call(2, "one two"))
		if want := fmt.Sprintf(`"code":%d`, c.code); !strings.Contains(got[c.id], want) {
			t.Errorf("%.40s: %.200s, want %s", c.line, got[c.id], want)
		}
		if strings.Contains(got[c.id], "Go value") || strings.Contains(got[c.id], "Go struct") {
			t.Errorf("%.40s: %s", c.line, got[c.id])
		}
		if !strings.Contains(got["2"], "one two") {
			t.Errorf("%.40s: the call after it is not answered: %v", c.line, got)
		}
	}
}

// Calls that are in work when the input ends are answered, unless that takes too long.
func TestStdioLastReplies(t *testing.T) {
	for _, each := range []time.Duration{20 * time.Second, time.Hour} { // a token
		synctest.Test(t, func(t *testing.T) {
			e := &echo{pause: func(ctx context.Context) error {
				select {
				case <-time.After(each):
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}}
			got, took := overStdio(t, e, call(1, "one two")+"\n["+call(2, "one two")+","+call(3, "one two")+"]")
			if took > lastReplies {
				t.Errorf("%v a token: the server ended after %v", each, took)
			}
			for _, id := range []string{"1", "2", "3"} {
				if each < lastReplies && !strings.Contains(got[id], "one two") {
					t.Errorf("%v a token: call %s is not answered: %v", each, id, got)
				}
			}
		})
	}
}

// The largest ids come back as they were sent, and a call before the session is open has an error with a code.
func TestStdioIDs(t *testing.T) {
	got, _ := overStdio(t, &echo{}, `{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}`+"\n"+`{"jsonrpc":"2.0","id":"x","method":"ping"}`)
	for _, id := range []string{"9007199254740992", `"x"`} {
		if !strings.Contains(got[id], `"result"`) {
			t.Errorf("%s is not answered: %v", id, got)
		}
	}
	var out strings.Builder
	New(config(&echo{})).MCP().Run(t.Context(), Stdio(io.NopCloser(strings.NewReader(call(1, "x")+"\n")), &out))
	if !strings.Contains(out.String(), fmt.Sprintf(`"code":%d`, jsonrpc.CodeInvalidRequest)) {
		t.Errorf("before the session: %s", &out)
	}
}

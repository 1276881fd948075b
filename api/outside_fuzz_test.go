package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Whatever a program writes to MCP's input, what is passed on is messages of JSON-RPC, and all else is answered with an error, a
// line each.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n"))
	f.Add([]byte("no JSON\n\n[]\n" + `[{"jsonrpc":"2.0","id":"a","method":"x"},{"jsonrpc":"2.0","id":"a","method":"x"}]`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1e3,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":9007199254740993,"method":"x"}` + "\r\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":null,"method":7}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		lines := &messageLines{in: bufio.NewReader(bytes.NewReader(in)), out: &out}
		passed, err := io.ReadAll(lines)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(passed) {
			if one := bytes.TrimSpace(line); one[0] == '{' {
				if _, err := jsonrpc.DecodeMessage(one); err != nil {
					t.Errorf("%q is passed on: %v", one, err)
				}
			}
		}
		for line := range bytes.Lines(out.Bytes()) {
			var reply struct{ Error struct{ Code int } }
			if err := json.Unmarshal(line, &reply); err != nil || reply.Error.Code == 0 {
				t.Errorf("%q is answered: %v", line, err)
			}
		}
	})
}

// The name of an uploaded file is one of a file in the folder of such files, whatever a client calls it.
func FuzzFileName(f *testing.F) {
	for _, name := range []string{"notes.md", "../../etc/passwd", `..\x`, "a/.", "CON", ".", "é\u202e.txt", "a\x00b", strings.Repeat("a", 300)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, given string) {
		name, wrong := fileName(given)
		if wrong != "" {
			return
		}
		if !filepath.IsLocal(name) || filepath.Base(name) != name || strings.ContainsAny(name, "/\\:\x00\n\x1b") || name[0] == '.' || len(name) > maxName {
			t.Errorf("%q becomes %q", given, name)
		}
	})
}

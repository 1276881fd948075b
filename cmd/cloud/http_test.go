package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem"
	"tandem/cmd/internal/clitest"
	"tandem/internal/tinymodel"
	"tandem/node"
)

// serving starts a cloud that also answers over HTTP, and returns its URL and the lines that it says from then on. It
// ends with the test, or after a minute.
func serving(h clitest.Home, flags ...string) (cmd *exec.Cmd, url string, lines *bufio.Scanner) {
	h.T.Helper()
	ctx, end := context.WithTimeout(h.T.Context(), 5*time.Minute)
	cmd = h.Command(ctx, append([]string{"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"}, flags...)...)
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		end()
		h.T.Fatal(err)
	}
	h.T.Cleanup(func() {
		end()
		cmd.Wait()
	})
	lines = bufio.NewScanner(said)
	for url == "" && lines.Scan() {
		_, url, _ = strings.Cut(lines.Text(), "answering on ")
	}
	return cmd, url, lines
}

// A cloud answers over HTTP without a device, shows the page and makes embeddings.
func TestServeHTTP(t *testing.T) {
	h := clitest.NewHome(t)
	encoder := filepath.Join(t.TempDir(), "bert.gguf")
	if err := os.WriteFile(encoder, tinymodel.GGUF(tinymodel.Spec{Arch: "bert"}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--encoder=" + encoder, "--cors=http://a", "--api-key=key", "--host=a", "--at-once=3"} {
		if _, stderr, err := h.Run("serve", "--listen", "127.0.0.1:0", flag); err == nil || !strings.Contains(stderr, "give --http") {
			t.Errorf("%s without --http: %v, %s", flag, err, stderr)
		}
	}
	_, url, _ := serving(h, "--encoder", encoder)
	for _, test := range []struct{ path, body, want string }{
		{"/", "", "<title>Tandem</title>"},
		{"/v1/pair", "", `"alone":true`},
		{"/v1/models", "", `"tandem-span-reader"`},
		{"/v1/documents", "", "does not show its documents"},
		{"/v1/embeddings", `{"input":"the key"}`, `"embedding":[`},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"When does the harbour museum open?"}]}`, `"content":"9:30"`},
		{"/v1/chat/completions", `{"stop":["3"],"messages":[{"role":"user","content":"When does the harbour museum open?"}]}`, `"content":"9:"`},
		{"/api/chat", `{"stream":false,"messages":[{"role":"user","content":"When does the harbour museum open?"}]}`, `"prompt_eval_duration":`},
		{"/metrics", "", "tandem_answers_total{outcome=\"complete\"} 3"},
	} {
		method := http.MethodGet
		if test.body != "" {
			method = http.MethodPost
		}
		request, err := http.NewRequestWithContext(t.Context(), method, url+test.path, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || !strings.Contains(string(b), test.want) {
			t.Errorf("%s: %v, %.300s", test.path, err, b)
		}
	}
}

// What the operator shows to nobody is in no answer over HTTP: neither in what supports it, nor in the passages that come close to
// a question that nobody can answer, nor in a recording. What is left open is shown, also of an index.
func TestServeHTTPHides(t *testing.T) {
	h := clitest.NewHome(t)
	const title, rest = "Quokka lines", "and costs 5 euros" // in no question and in no answer
	clitest.Write(t, filepath.Join(h.Dir, "lines"), "ferry.md", "# "+title+"\n\nThe ferry to Orla leaves at 9:30 "+rest+".\n")
	if _, stderr, err := h.Run("index", "add", "lines"); err != nil {
		t.Fatal(err, stderr)
	}
	for flags, shown := range map[string][2]bool{
		"": {true, true}, "--titles no": {false, true}, "--quotes no": {true, false}, "--titles no --quotes no": {}, "--titles auto --quotes yes": {true, true},
	} {
		_, url, _ := serving(h, strings.Fields(flags)...)
		for _, ask := range []struct{ question, want string }{
			{"When does the ferry to Orla leave?", `"texts":["9"]`}, {"Who painted the ferry to Orla in 1931?", `"unknown":true`},
		} {
			r, err := http.Post(url+"/v1/chat/completions", "application/json",
				strings.NewReader(`{"stream":true,"tandem":{"record":true},"messages":[{"role":"user","content":"`+ask.question+`"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(r.Body)
			r.Body.Close()
			body := string(b)
			if err != nil || !strings.Contains(body, ask.want) || !strings.Contains(body, `"weight":`) || strings.Contains(body, title) != shown[0] || strings.Contains(body, rest) != shown[1] {
				t.Errorf("%q, %s: %v, %s", flags, ask.question, err, body)
			}
		}
	}
}

// After Ctrl-C, answers over HTTP are given to their end, and who only watches is not waited for.
func TestServeHTTPDrains(t *testing.T) {
	cmd, url, lines := serving(clitest.NewHome(t), "--reader", "decoder", "--drain", "50s")
	watched, err := http.Get(url + "/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Body.Close()
	var answers []*bufio.Scanner
	for range 4 {
		r, err := http.Post(url+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"stream":true,"seed":1,"temperature":2,"max_tokens":300,"messages":[{"role":"user","content":"What is the door code of the boat house?"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		a := bufio.NewScanner(r.Body)
		a.Buffer(nil, 1<<20)
		answers = append(answers, a)
	}
	answers[0].Scan()
	cmd.Process.Signal(os.Interrupt)
	for i, a := range answers {
		last := ""
		for a.Scan() {
			if a.Text() != "" {
				last = a.Text()
			}
		}
		if last != "data: [DONE]" || a.Err() != nil {
			t.Errorf("answer %d ends with %.200q, %v", i, last, a.Err())
		}
	}
	if _, err := io.Copy(io.Discard, watched.Body); err != nil {
		t.Error(err)
	}
	for lines.Scan() {
		var n int
		if _, err := fmt.Sscanf(lines.Text(), "answers in progress: %d;", &n); err == nil && n > len(answers) {
			t.Errorf("%q, but there were %d", lines.Text(), len(answers))
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A cloud that drains says so to who asks over HTTP, and to cloud health.
func TestDrainingIsKnown(t *testing.T) {
	h := clitest.NewHome(t)
	cmd, url, lines := serving(h, "--reader", "decoder", "--drain", "50s")
	for range 8 { // more than end while the test runs
		r, err := http.Post(url+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"stream":true,"n":8,"seed":1,"temperature":2,"max_tokens":300,"messages":[{"role":"user","content":"What is the door code of the boat house?"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
	}
	if _, said, err := h.Run("health"); err != nil {
		t.Errorf("before it ends: %v, %s", err, said)
	}
	cmd.Process.Signal(os.Interrupt)
	for lines.Scan() && !strings.Contains(lines.Text(), "answers in progress") {
		t.Log(lines.Text())
	}
	r, err := http.Get(url + "/v1/models")
	if err != nil || r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
		t.Errorf("while it drains: %v, %v", r, err)
	}
	if _, said, err := h.Run("health"); err == nil || !strings.Contains(said, "draining") {
		t.Errorf("while it drains: %v, %s", err, said)
	}
}

// An answer that the cloud gave alone says that the cloud gave it, in every place that names a side.
func TestAnswerOfTheCloudNamesTheCloud(t *testing.T) {
	a := node.Answer{Tokens: []node.Token{{By: tandem.ByDevice}}, Read: [2]int{3, 0},
		Parts: []node.Part{{Sources: []node.Cited{{Side: tandem.Device}}, Quotes: []node.Quote{{Side: tandem.Device}}, Otherwise: []node.Quote{{Side: tandem.Device}}}}}
	a.Documents[tandem.Device] = []node.Source{{Title: "Otter pool"}}
	a = ofCloud(a)
	p := a.Parts[0]
	if a.Tokens[0].By != tandem.ByCloud || p.Sources[0].Side != tandem.Cloud || p.Quotes[0].Side != tandem.Cloud || p.Otherwise[0].Side != tandem.Cloud || a.Read != [2]int{0, 3} ||
		len(a.Documents[tandem.Cloud]) != 1 || len(a.Documents[tandem.Device]) != 0 {
		t.Errorf("the answer is %+v", a)
	}
	if l := lineOfCloud(node.Line{Event: "decode", Side: "device", By: "device"}); l.Side != "cloud" || l.By != "cloud" {
		t.Errorf("the line is %+v", l)
	}
}

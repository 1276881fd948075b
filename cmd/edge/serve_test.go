package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem/api"
	"tandem/cmd/internal/clitest"
	"tandem/internal/atomicfile"
	"tandem/internal/filelock"
	"tandem/internal/tinymodel"
	"tandem/node"
)

// serveProcess is an "edge serve" process.
type serveProcess struct {
	home
	url  string
	stop func() // ends it as Ctrl-C does
}

// serve starts the process and waits until it listens.
func serve(h home, flags ...string) serveProcess {
	h.T.Helper()
	cmd := h.Command(h.T.Context(), append([]string{"serve", "--json", "--http", "127.0.0.1:0"}, flags...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.T.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		h.T.Fatal(err)
	}
	stop := func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	}
	h.T.Cleanup(stop)
	var v struct{ Listening string }
	if err := json.NewDecoder(out).Decode(&v); err != nil || v.Listening == "" {
		h.T.Fatalf("%v: %+v", err, v)
	}
	go io.Copy(io.Discard, out)
	return serveProcess{h, "http://" + v.Listening, stop}
}

// do sends a request and returns the response's body.
func (s serveProcess) do(method, path, body string) (int, string) {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.T.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	return response.StatusCode, string(b)
}

func (s serveProcess) ask(question, more string) string {
	s.T.Helper()
	code, body := s.do("POST", "/v1/chat/completions", fmt.Sprintf(`{"seed":1,"messages":[{"role":"user","content":%q}]%s}`, question, more))
	if code != http.StatusOK {
		s.T.Fatalf("%d %s", code, body)
	}
	return body
}

// Questions are answered at once by the pair, over any emulated path; documents that are uploaded take the place of the
// samples, and stay.
func TestServe(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := serve(h, "--wait", "60s") // a busy machine may take longer than usual
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			more := fmt.Sprintf(`,"tandem":{"rtt_ms":%d,"placement":%q}`, i%3*20, []string{"mirror", "device", "cloud"}[i%3])
			if body := s.ask("When does the harbour museum open?", more); !strings.Contains(body, `"content":"9:30"`) || !strings.Contains(body, `"side":"cloud"`) {
				t.Errorf("%d: %s", i, body)
			}
		})
	}
	all.Wait()
	if body := s.ask("When does the harbour museum open?", `,"tandem":{"local_only":true}`); !strings.Contains(body, `"local_only":true,"degraded":false`) || strings.Contains(body, "9:30") {
		t.Errorf("this device alone: %s", body)
	}
	if body := s.ask("When does the harbour museum open, and what is the wifi password of the lake cabin?", `,"stop":"\n"`); !strings.Contains(body, `"content":"9:30"`) || !strings.Contains(body, "The harbour museum opens at 9:30") || strings.Contains(body, "tumbral") {
		t.Errorf("up to a stop string: %s", body)
	}
	if _, body := s.do("GET", "/v1/pair", ""); !strings.Contains(body, `"sample":true`) {
		t.Errorf("%s", body)
	}

	code, body := s.do("POST", "/v1/documents?name=boat.md", "# The boat\n\nThe boat lies at pier 7. Its name is Merganser.")
	if code != http.StatusOK || strings.Contains(body, "skipped") {
		t.Fatalf("%d %s", code, body)
	}
	if body := s.ask("What is the name of the boat?", ""); !strings.Contains(body, "Merganser") || !strings.Contains(body, "boat.md") {
		t.Errorf("of the document: %s", body)
	}
	if body := s.ask("When does the harbour museum open?", ""); !strings.Contains(body, `"unknown":true`) {
		t.Errorf("of the samples, which are left: %s", body)
	}
	if code, body := s.do("POST", "/v1/documents?name=empty.md", ""); code != http.StatusUnprocessableEntity || !strings.Contains(body, "skipped") {
		t.Errorf("an empty file: %d %s", code, body)
	}
	file := filepath.Join(h.Dir, ".local", "share", "tandem", "edge", "uploads", "boat.md")
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	var said struct{ Data []api.Document }
	if err := json.Unmarshal([]byte(body), &said); err != nil || len(said.Data) != 1 || said.Data[0].Path != file || said.Data[0].Title != "The boat" || said.Data[0].Passages != 1 || said.Data[0].Bytes == 0 {
		t.Errorf("what was added: %v, %s", err, body)
	}
	codes := make([]int, 4)
	for i := range codes { // of several that remove it, one does; by the name of the upload
		all.Go(func() { codes[i], _ = s.do("DELETE", "/v1/documents?path=boat.md", "") })
	}
	all.Wait()
	if slices.Sort(codes); !slices.Equal(codes, []int{200, 404, 404, 404}) {
		t.Errorf("removed with %d", codes)
	}
	if body := s.ask("What is the name of the boat?", ""); !strings.Contains(body, `"unknown":true`) {
		t.Errorf("of a document that was removed: %s", body)
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

// Another session serves at once, though an answer still uses the one before, which is closed after that answer.
func TestServeReplacesWhileItAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := false
		alone := answerFlags{}
		alone.Side = "device"
		first := &session{flags: alone, device: &node.Device{}, closers: []func() error{func() error { closed = true; return nil }}}
		second := &session{flags: alone, device: &node.Device{}}
		s := &serving{}
		s.replace(first)
		used, leave := s.current()
		s.replace(second)
		now, leaveNow := s.current()
		leaveNow()
		synctest.Wait()
		if used.session != first || now.session != second || closed {
			t.Errorf("answers use %p and %p of %p and %p; the first is closed: %v", used.session, now.session, first, second, closed)
		}
		leave()
		synctest.Wait()
		if !closed {
			t.Error("the first session stays open after its last answer")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A document that is skipped does not take the place of an earlier one of its name, and a new one leaves no trace.
func TestServeKeepsADocumentThatIsSkipped(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := serve(h, "--side", "device")
	const good = "# The boat\n\nThe boat lies at pier 7. Its name is Merganser."
	add := func(name, text string, want bool) {
		if code, body := s.do("POST", "/v1/documents?name="+name, text); (code == http.StatusOK) != want || strings.Contains(body, "skipped") == want {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	add("boat.md", good, true)
	add("boat.md", "", false)
	add("other.md", "", false)
	if body := s.ask("What is the name of the boat?", ""); !strings.Contains(body, "Merganser") {
		t.Errorf("the earlier document is gone: %s", body)
	}
	dir := filepath.Join(h.Dir, ".local", "share", "tandem", "edge", "uploads")
	if kept, err := os.ReadDir(dir); err != nil || len(kept) != 1 {
		t.Errorf("%v, %v", kept, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "boat.md")); err != nil || string(text) != good {
		t.Errorf("%q, %v", text, err)
	}
	if out, stderr, err := h.Run("index", "add"); err != nil || strings.Contains(out+stderr, "other.md") {
		t.Errorf("the index remembers what was skipped: %v, %s%s", err, out, stderr)
	}
}

// What a server that was killed has written and not indexed is indexed by the next one, also in the place of an earlier document.
// What cannot be read stays; only what was never finished goes.
func TestServeIndexesWhatAnotherLeft(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := filepath.Join(h.Dir, ".local", "share", "tandem", "edge", "uploads")
	stale, fresh := atomicfile.Unfinished+"A", atomicfile.Unfinished+"B"
	for _, name := range []string{"empty.md", stale, fresh} {
		clitest.Write(t, dir, name, "")
	}
	long := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, stale), long, long); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Merganser", "Goosander"} {
		clitest.Write(t, dir, "boat.md", "# The boat\n\nThe boat lies at pier 7. Its name is "+name+".")
		s := serve(h, "--side", "device")
		if body := s.ask("What is the name of the boat?", ""); !strings.Contains(body, name) || !strings.Contains(body, "boat.md") {
			t.Errorf("%s: %s", name, body)
		}
		if code, body := s.do("GET", "/v1/documents", ""); code != http.StatusOK || strings.Count(body, `"path"`) != 1 {
			t.Errorf("%d %s", code, body)
		}
	}
	var kept []string
	files, err := os.ReadDir(dir)
	for _, f := range files {
		kept = append(kept, f.Name())
	}
	if want := []string{fresh, "boat.md", "empty.md"}; err != nil || !slices.Equal(kept, want) {
		t.Errorf("%v, %q, want %q", err, kept, want)
	}
}

// A document whose file is gone already can be removed like any other.
func TestServeRemovesADocumentWithoutItsFile(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := serve(h, "--side", "device")
	if code, body := s.do("POST", "/v1/documents?name=boat.md", "# The boat\n\nThe boat lies at pier 7."); code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	file := filepath.Join(h.Dir, ".local", "share", "tandem", "edge", "uploads", "boat.md")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if code, body := s.do("DELETE", "/v1/documents?path="+file, ""); code != http.StatusOK {
		t.Errorf("%d %s", code, body)
	}
	if _, body := s.do("GET", "/v1/documents", ""); strings.Contains(body, "boat.md") {
		t.Errorf("still listed: %s", body)
	}
}

// A server of the cloud's documents alone refuses to leave out the cloud. That is the request's fault, so no client tries again.
func TestServeOfTheCloudNeedsTheCloud(t *testing.T) {
	s := serve(newHome(t), "--side", "cloud")
	code, body := s.do("POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"When does the harbour museum open?"}],"tandem":{"local_only":true}}`)
	if code != http.StatusBadRequest || !strings.Contains(body, `"param":"tandem.local_only"`) || !strings.Contains(body, "leave it out") {
		t.Errorf("%d %s", code, body)
	}
}

// A request that does not fit in the model's context is its own fault: a client that tried again would fail again.
func TestServeRefusesWhatDoesNotFit(t *testing.T) {
	s := serve(newHome(t), "--side", "device", "--reader", "decoder")
	long := fmt.Sprintf(`"messages":[{"role":"user","content":%q}]`, strings.Repeat("Where is the key of the boat house? ", 200))
	for path, body := range map[string]string{
		"/v1/chat/completions": `{` + long + `}`,
		"/v1/completions":      `{"prompt":"Where is the key?","max_tokens":5000}`,
		"/api/chat":            `{` + long + `}`,
	} {
		code, said := s.do("POST", path, body)
		if code != http.StatusBadRequest || !strings.Contains(said, "context") || strings.HasPrefix(path, "/v1/") && !strings.Contains(said, `"code":"context_length_exceeded"`) {
			t.Errorf("%s: %d %s", path, code, said)
		}
	}
}

// An answer that ends at a stop string of the request is complete.
func TestServeCountsStoppedAnswers(t *testing.T) {
	s := serve(newHome(t), "--side", "device", "--reader", "decoder")
	if body := s.ask("What is the door code of the boat house?", `,"temperature":2,"max_tokens":200,"stop":[" "]`); !strings.Contains(body, `"finish_reason":"stop"`) {
		t.Errorf("%s", body)
	}
	if _, body := s.do("GET", "/metrics", ""); !strings.Contains(body, `tandem_answers_total{outcome="complete"} 1`) || !strings.Contains(body, `tandem_http_request_seconds_count{route="POST /v1/chat/completions",status="200"} `) || strings.Contains(body, "broken") {
		t.Errorf("%s", body[strings.Index(body, "tandem_answers_total"):])
	}
}

// An answer whose client goes away is cancelled, not broken.
func TestServeCountsAbandonedAnswers(t *testing.T) {
	s := serve(newHome(t), "--side", "device", "--reader", "decoder", "--no-grounded")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	r, err := http.NewRequestWithContext(ctx, "POST", s.url+"/v1/completions", strings.NewReader(`{"prompt":"What is the door code of the boat house?","temperature":2,"seed":1,"max_tokens":400,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := response.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	leave()
	response.Body.Close()
	body := ""
	for !strings.Contains(body, "tandem_answers_total{") { // the server takes a moment to notice
		_, body = s.do("GET", "/metrics", "")
	}
	if !strings.Contains(body, `tandem_answers_total{outcome="cancelled"} 1`) || strings.Contains(body, `outcome="broken"`) {
		t.Errorf("%s", body[strings.Index(body, "tandem_answers_total"):])
	}
}

// A request's drafters do not change its answer, and must be there.
func TestServeDrafts(t *testing.T) {
	s := serve(newHome(t), "--side", "device", "--reader", "decoder", "--draft", "auto,history")
	text := ""
	for _, draft := range []string{"off", "all", "history", "pld,reuse"} {
		_, body := s.do("POST", "/v1/completions", fmt.Sprintf(`{"seed":5,"temperature":1,"max_tokens":16,"prompt":"What is the door code of the boat house?","tandem":{"draft":%q}}`, draft))
		var v struct{ Choices []struct{ Text string } }
		if err := json.Unmarshal([]byte(body), &v); err != nil || len(v.Choices) != 1 || v.Choices[0].Text == "" || text != "" && v.Choices[0].Text != text {
			t.Fatalf("drafters %s: %v in %s, want %q", draft, err, body, text)
		}
		text = v.Choices[0].Text
	}
	if code, body := s.do("POST", "/v1/completions", `{"prompt":"Who?","tandem":{"draft":"forecast"}}`); code != http.StatusBadRequest || !strings.Contains(body, "forecast") || !strings.Contains(body, `"tandem.draft"`) {
		t.Errorf("drafters that are not there: %d %s", code, body)
	}
}

// The choices of a request are those of their seeds alone, though they are decoded together.
func TestServeChoices(t *testing.T) {
	t.Parallel()
	s := serve(newHome(t), "--side", "device", "--reader", "decoder")
	choices := func(seed, n int) (texts []string) {
		body := fmt.Sprintf(`{"seed":%d,"n":%d,"temperature":1.5,"max_tokens":12,"messages":[{"role":"user","content":"What is the door code of the boat house?"}]}`, seed, n)
		code, body := s.do("POST", "/v1/chat/completions", body)
		var v struct {
			Choices []struct{ Message struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(body), &v); err != nil || code != http.StatusOK {
			t.Fatalf("%v: %d %s", err, code, body)
		}
		for _, c := range v.Choices {
			texts = append(texts, c.Message.Content)
		}
		return texts
	}
	all := choices(3, 6)
	different := map[string]bool{}
	for i, text := range all {
		different[text] = true
		if alone := choices(3+i, 1); alone[0] != text {
			t.Errorf("choice %d is %q, alone %q", i, text, alone[0])
		}
	}
	if len(all) != 6 || len(different) < 2 {
		t.Errorf("choices: %q", all)
	}
}

// With --drain, an answer in progress is given to its end after the server is told to end. Meanwhile ps says so.
func TestServeDrains(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if _, errs, err := h.Run("serve", "--drain", "-1s"); err == nil || !strings.Contains(errs, "--drain -1s: want 0s or more") {
		t.Errorf("%v, %s", err, errs)
	}
	cmd := h.Command(t.Context(), "serve", "--json", "--http", "127.0.0.1:0", "--drain", "50s")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	var said struct{ Listening string }
	if err == nil {
		err = json.NewDecoder(out).Decode(&said)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := serveProcess{home: h, url: "http://" + said.Listening}
	// Over so slow a path it takes several seconds: by default, it is broken off.
	r, err := http.Post(s.url+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"When does the harbour museum open?"}],"tandem":{"rtt_ms":800,"placement":"sync"}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	in := bufio.NewScanner(r.Body)
	in.Buffer(nil, 1<<20)
	in.Scan()
	cmd.Process.Signal(os.Interrupt)
	for {
		if code, body := s.do("GET", "/v1/models", ""); code == http.StatusServiceUnavailable && strings.Contains(body, "draining") {
			break
		}
	}
	if listed, _, err := h.Run("ps"); err != nil || !strings.Contains(listed, "(draining)") {
		t.Errorf("ps: %s, %v", listed, err)
	}
	last := ""
	for in.Scan() {
		if in.Text() != "" {
			last = in.Text()
		}
	}
	if last != "data: [DONE]" || in.Err() != nil {
		t.Errorf("the answer ends with %.300q, %v", last, in.Err())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A server that others can reach needs a key, which nobody else can read.
func TestServeNeedsAKey(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if _, errs, err := h.Run("serve", "--http", "0.0.0.0:0"); err == nil || !strings.Contains(errs, "--api-key") {
		t.Errorf("%v: %s", err, errs)
	}
	file := filepath.Join(h.Dir, "keys", "edge")
	s := serve(h, "--api-key", file)
	if code, _ := s.do("GET", "/v1/models", ""); code != http.StatusUnauthorized {
		t.Errorf("without the key: %d", code)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errs, err := h.Run("serve", "--http", "127.0.0.1:0", "--api-key", file); err == nil || !strings.Contains(errs, "chmod 600") {
		t.Errorf("%v: %s", err, errs)
	}
}

// stream asks over a stream. It returns the text, when its first word came, and when the server had its first token.
func (s serveProcess) stream(question string) (text string, first, token time.Duration, err error) {
	began := time.Now()
	response, err := http.Post(s.url+"/v1/chat/completions", "application/json",
		strings.NewReader(fmt.Sprintf(`{"stream":true,"seed":1,"messages":[{"role":"user","content":%q}]}`, question)))
	if err != nil {
		return "", 0, 0, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
			Tandem  struct{ Tokens []struct{ Ms float64 } }
		}
		if !ok || data == "[DONE]" {
			continue
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return "", 0, 0, fmt.Errorf("%w: %s", err, data)
		}
		if len(chunk.Tandem.Tokens) > 0 && token == 0 {
			token = time.Duration(chunk.Tandem.Tokens[0].Ms * float64(time.Millisecond))
		}
		if len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			if text += chunk.Choices[0].Delta.Content; first == 0 {
				first = time.Since(began)
			}
		}
	}
	return text, first, token, lines.Err()
}

// heap returns the bytes of the server's heap, as /metrics has them.
func (s serveProcess) heap() float64 {
	_, body := s.do("GET", "/metrics", "")
	m := regexp.MustCompile(`(?m)^go_memstats_heap_inuse_bytes (\S+)`).FindStringSubmatch(body)
	if m == nil {
		s.T.Fatalf("/metrics has no heap: %s", body)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		s.T.Fatal(err)
	}
	return n
}

// 64 clients at once are all answered, and what the server keeps for them is bounded. The log has how long the first word
// takes from the server's first token to the client.
func TestServeCrowd(t *testing.T) {
	s := serve(newHome(t), "--wait", "1m") // nobody's answer begins without the cloud, however slow the machine
	var late []time.Duration
	for range 20 {
		text, first, token, err := s.stream("When does the harbour museum open?")
		if err != nil || text != "9:30" || token == 0 {
			t.Fatalf("%q, %v, first token after %v", text, err, token)
		}
		late = append(late, first-token)
	}
	slices.Sort(late)
	before := s.heap()
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for range 3 {
				if text, _, _, err := s.stream("When does the harbour museum open?"); err != nil || text != "9:30" {
					t.Errorf("%q, %v", text, err)
				}
			}
		})
	}
	all.Wait()
	after := s.heap()
	t.Logf("first word after the first token: median %v, longest of 20 %v; heap %.0f MB, after 192 answers %.0f MB", late[10], late[19], before/1e6, after/1e6)
	if after > before+128e6 {
		t.Errorf("the heap grew from %.0f to %.0f MB", before/1e6, after/1e6)
	}
}

// The server makes embeddings with --encoder, and refuses a model that is none.
func TestServeEncoder(t *testing.T) {
	h := newHome(t)
	dir := t.TempDir()
	for _, arch := range []string{"bert", "llama"} {
		if err := os.WriteFile(filepath.Join(dir, arch+".gguf"), tinymodel.GGUF(tinymodel.Spec{Arch: arch}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(h, "--encoder", filepath.Join(dir, "bert.gguf"))
	code, body := s.do("POST", "/v1/embeddings", `{"input":["the key","the mat"]}`)
	var v struct {
		Data []struct{ Embedding []float32 }
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil || code != http.StatusOK || len(v.Data) != 2 || len(v.Data[0].Embedding) != 64 || slices.Equal(v.Data[0].Embedding, v.Data[1].Embedding) {
		t.Errorf("%d %.300s", code, body)
	}
	if _, stderr, err := h.Run("serve", "--http", "127.0.0.1:0", "--encoder", filepath.Join(dir, "llama.gguf")); err == nil || !strings.Contains(stderr, "is not an encoder") {
		t.Errorf("%v: %s", err, stderr)
	}
}

// Documents that come at the same time wait for each other. One that is refused because another program writes the index does
// not stay on the disk, and does not take the place of an earlier one.
func TestServeKeepsNoRefusedDocument(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := serve(h, "--wait", "60s") // a busy machine may take longer than usual
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			if code, body := s.do("POST", fmt.Sprintf("/v1/documents?name=n%d.md", i), fmt.Sprintf("# Boat %d\n\nThe boat %d lies at pier 7.", i, i)); code != http.StatusOK {
				t.Errorf("%d %s", code, body)
			}
		})
	}
	all.Wait()
	data := filepath.Join(h.Dir, ".local", "share", "tandem", "edge")
	f, err := os.OpenFile(filepath.Join(data, "index", "lock"), os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if ok, err := filelock.Try(f); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for _, name := range []string{"n3.md", "other.md"} {
		if code, body := s.do("POST", "/v1/documents?name="+name, "refused"); code != http.StatusConflict {
			t.Errorf("%d %s", code, body)
		}
	}
	kept, err := os.ReadDir(filepath.Join(data, "uploads"))
	if err != nil || len(kept) != 12 {
		t.Errorf("%d files, %v", len(kept), err)
	}
	if text, err := os.ReadFile(filepath.Join(data, "uploads", "n3.md")); err != nil || !strings.Contains(string(text), "pier 7") {
		t.Errorf("%q, %v", text, err)
	}
}

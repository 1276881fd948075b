package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/aggregator"
	"tandem/decoder"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/model/remote/remotetest"
	"tandem/models"
	"tandem/npu/native"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// kinds are the dialects, each with the handler that speaks it.
var kinds = map[string]func(*remotetest.Server) http.Handler{
	"llama-server": (*remotetest.Server).LlamaServer,
	"vllm":         (*remotetest.Server).VLLM,
}

// open writes a model to a file, and opens it.
func open(t testing.TB, file []byte) (path string, m *model.Model) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := model.Open(path, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return path, m
}

func tiny() []byte {
	return tinymodel.GGUF(tinymodel.Spec{Words: []string{"cabin", "museum", "harbour"}, Gain: 3, Seed: 3, Context: 512})
}

// dial starts a server and opens it.
func dial(t testing.TB, kind, path string, s *remotetest.Server, opt Options) (*Server, error) {
	t.Helper()
	h := httptest.NewServer(kinds[kind](s))
	t.Cleanup(h.Close)
	out, err := Open(t.Context(), kind+strings.TrimPrefix(h.URL, "http"), path, opt)
	if err == nil {
		t.Cleanup(func() { out.Close() })
	}
	return out, err
}

func mustDial(t testing.TB, kind, path string, s *remotetest.Server, opt Options) *Server {
	t.Helper()
	out, err := dial(t, kind, path, s, opt)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var (
	question = "What is the wifi password of the lake cabin, and when does the harbour museum open?"
	ofDevice = []passages.Passage{{ID: "1", Title: "Lake cabin", Text: "The wifi password of the lake cabin is tumbral-5827."}, {ID: "2", Text: "Bus 14 leaves from platform 3."}}
	ofCloud  = []passages.Passage{{ID: "3", Title: "Harbour museum", Text: "The harbour museum opens at 9:30."}, {ID: "4", Title: "Bakery", Text: "Ines Calder runs the bakery. It opens at 6:00."}}
)

// says returns what two decoders say of which the cloud's has its passes from p, or from the model itself if p is nil.
func says(t *testing.T, m *model.Model, p *Server, rule aggregator.Rule, weights string, grounded bool) string {
	t.Helper()
	w, err := decoder.ParseWeights(weights)
	if err != nil {
		t.Fatal(err)
	}
	cfg := decoder.Config{Model: m, Scorer: search.Lexical(), Weights: w, MaxTokens: 64, Grounded: grounded}
	device, err := decoder.New(t.Context(), cfg, decoder.Request{Question: question, Passages: ofDevice})
	if err != nil {
		t.Fatal(err)
	}
	if p != nil {
		cfg.Model, cfg.Passes = p.Model(), p
	}
	cloud, err := decoder.New(t.Context(), cfg, decoder.Request{Question: question, Passages: ofCloud})
	if err != nil {
		t.Fatal(err)
	}
	got, err := decoder.LockStep(t.Context(), device, cloud, rule, m.Tokenizer().EOGs(), 40)
	if err != nil {
		t.Fatal(err)
	}
	var tokens []tandem.Token
	for _, g := range got {
		tokens = append(tokens, g.Token)
	}
	return m.Tokenizer().Decode(tokens)
}

// With a server that computes the same model, a pair says what it says with the model here: greedily and for seeds.
func TestRemoteAnswersAreTheLocalOnes(t *testing.T) {
	path, m := open(t, models.Decoder)
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			fake := &remotetest.Server{Model: m, Key: "sesame"}
			s := mustDial(t, kind, path, fake, Options{Key: "sesame"})
			room := map[string]int{"llama-server": 2, "vllm": 1}[kind]
			if s.Top() != topTokens || s.Model().Config().Context != m.Config().Context-room {
				t.Fatalf("%d tokens of a row, context of %d", s.Top(), s.Model().Config().Context)
			}
			for _, c := range []struct {
				rule     aggregator.Rule
				weights  string
				grounded bool
			}{
				{aggregator.Rule{Greedy: true}, "reader", true},
				{aggregator.Rule{Seed: 1}, "reader", false},
				{aggregator.Rule{Seed: 2}, "sentence+likelihood", true},
			} {
				want := says(t, m, nil, c.rule, c.weights, c.grounded)
				if got := says(t, m, s, c.rule, c.weights, c.grounded); got != want || len(want) < 10 {
					t.Errorf("%+v: it says %q, and locally %q", c, got, want)
				}
			}
			st := s.Stats()
			if st.Rows == 0 || st.Covered/float64(st.Rows) < 0.99 || st.Failures+st.Retries > 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// logitsOf returns the logits after a prompt.
func logitsOf(t *testing.T, s *Server, prompt []tandem.Token) []float32 {
	t.Helper()
	out, err := s.ForwardInto(t.Context(), []model.Input{{Seq: s.Model().NewSeq(), Tokens: prompt}}, new(model.Logits))
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// Logits are the model's own log-probabilities where the server tells them. Elsewhere they share what is left of the mass.
func TestRows(t *testing.T) {
	path, m := open(t, tiny())
	vocab := m.Config().Vocab
	prompt := []tandem.Token{65, 66, 67, 68}
	out, err := m.Forward(t.Context(), []model.Input{{Seq: m.NewSeq(), Tokens: prompt}})
	if err != nil {
		t.Fatal(err)
	}
	local, sum := out[0], 0.0
	for _, l := range local {
		sum += math.Exp(float64(l))
	}
	for kind := range kinds {
		for _, most := range []int{0, 20} {
			if kind == "llama-server" && most > 0 {
				continue // it tells any number
			}
			s := mustDial(t, kind, path, &remotetest.Server{Model: m, Most: most}, Options{})
			if want := max(min(topTokens, vocab)*min(1, 20-most), most); s.Top() != want {
				t.Fatalf("%s: %d tokens of a row, want %d", kind, s.Top(), want)
			}
			got, mass, told := logitsOf(t, s, prompt), 0.0, 0
			for x, l := range got {
				p, want := math.Exp(float64(l)), math.Exp(float64(local[x]))/sum
				if mass += p; math.Abs(p-want) < 1e-6*want {
					told++
				}
			}
			if math.Abs(mass-1) > 1e-5 || told < min(vocab, s.Top()) {
				t.Errorf("%s: the probabilities sum to %v, %d of %d as they are", kind, mass, told, s.Top())
			}
			if st := s.Stats(); st.Rows != 1 || math.Abs(st.Covered-1) > 0.6 || most > 0 == (st.Covered > 0.9999) {
				t.Errorf("%s, most %d: %+v", kind, most, st)
			}
		}
	}
}

// A prompt has one result, whatever the server says the next time: after rollbacks, in other answers, and of tokens that were
// asked for one by one or at once.
func TestResultsAreKept(t *testing.T) {
	path, m := open(t, tiny())
	moody := 0
	fake := &remotetest.Server{Model: m}
	fake.Around = func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Path != "/completion" {
			next.ServeHTTP(w, r)
			return
		}
		moody++
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		n := strings.Count(string(body), "[") - 4 // prompts: without those of prompt, logit_bias and response_fields
		var rows []string
		for i := range n {
			rows = append(rows, fmt.Sprintf(`{"index":%d,"completion_probabilities":[{"top_logprobs":[{"id":%d,"logprob":-0.01}]}]}`, i, moody%100))
		}
		fmt.Fprintf(w, "[%s]", strings.Join(rows, ","))
	}
	s := mustDial(t, "llama-server", path, fake, Options{})
	seq := s.Model().NewSeq()
	first := slices.Clone(logitsOf(t, s, []tandem.Token{1, 2, 3}))
	var into model.Logits
	all, err := s.ForwardInto(t.Context(), []model.Input{{Seq: seq, Tokens: []tandem.Token{1, 2, 3, 4}, All: true}}, &into)
	if err != nil || len(all) != 4 || !slices.Equal(all[2], first) || slices.Equal(all[3], first) {
		t.Fatalf("%d rows, %v; the third is another one than before, or the fourth the same", len(all), err)
	}
	fourth := slices.Clone(all[3])
	seq.Truncate(3)
	fork := seq.Fork()
	for i, q := range []*model.Seq{seq, fork} {
		again, err := s.ForwardInto(t.Context(), []model.Input{{Seq: q, Tokens: []tandem.Token{4}}}, &into)
		if err != nil || !slices.Equal(again[0], fourth) || q.Len() != 4 {
			t.Errorf("sequence %d: another row after a rollback (%v), %d positions", i, err, q.Len())
		}
	}
	if st := s.Stats(); st.Requests != 2 || st.Rows != 4 || st.Kept != 3 {
		t.Errorf("%+v", st)
	}
	// Two answers may ask for the same at the same time. The later result must not replace one that was used.
	here := newKept(1 << 20)
	used := here.put(key{1}, row{ids: []tandem.Token{1}})
	if again := here.put(key{1}, row{ids: []tandem.Token{2}}); again.ids[0] != used.ids[0] {
		t.Errorf("a prompt has the results %v and %v", used, again)
	}
	two := keptRow{row: row{ids: make([]tandem.Token, 1)}}.bytes() * 2
	small := newKept(two)
	for i := range 3 {
		small.put(key{byte(i)}, row{ids: []tandem.Token{tandem.Token(i)}})
		small.get(key{0})
	}
	_, oldest := small.get(key{0})
	if _, ok := small.get(key{1}); ok || !oldest || small.bytes > two || len(small.rows) != 2 {
		t.Errorf("of three rows with room for two: %v, %d bytes", small.rows, small.bytes)
	}
}

// Servers of another model, and addresses that name none, are refused with an error that says so.
func TestRefusals(t *testing.T) {
	path, m := open(t, tiny())
	_, reader := open(t, models.Decoder)
	shuffled := tinymodel.GGUF(tinymodel.Spec{Words: []string{"museum", "cabin", "harbour"}, Gain: 3, Seed: 3, Context: 512})
	_, other := open(t, shuffled)
	for kind := range kinds {
		for name, c := range map[string]struct {
			server *remotetest.Server
			want   string
		}{
			"another vocabulary": {&remotetest.Server{Model: reader}, "the file that the server runs"},
			"other tokens":       {&remotetest.Server{Model: other}, "the file that the server runs"},
			"a key":              {&remotetest.Server{Model: m, Key: "sesame"}, "401"},
			"few tokens, oddly": {&remotetest.Server{Model: m, Around: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if strings.HasSuffix(r.URL.Path, "completion") || strings.HasSuffix(r.URL.Path, "completions") {
					http.Error(w, "which is greater than max allowed: 0", http.StatusBadRequest)
					return
				}
				next.ServeHTTP(w, r)
			}}, "max allowed: 0"},
			"a redirect": {&remotetest.Server{Model: m, Around: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
			}}, "307"},
		} {
			_, err := dial(t, kind, path, c.server, Options{})
			var failed *Error
			if !errors.As(err, &failed) || !strings.Contains(err.Error(), c.want) || strings.Contains(failed.Public(), "127.0.0.1") {
				t.Errorf("%s, %s: %v, want %q", kind, name, err, c.want)
			}
		}
	}
	larger := &remotetest.Server{Model: m, Around: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Path == "/v1/models" {
			fmt.Fprintf(w, `{"data":[{"meta":{"n_vocab":%d}}]}`, m.Config().Vocab+1)
			return
		}
		next.ServeHTTP(w, r)
	}}
	if _, err := dial(t, "llama-server", path, larger, Options{}); err == nil || !strings.Contains(err.Error(), "a vocabulary of") {
		t.Errorf("with one token more: %v", err)
	}
	for _, address := range []string{"", "vllm", "vllm://", "ollama://h", "http://h:1", "vllm://u:p@h", "vllm://h?x=1", "llama-server://:80"} {
		if _, err := Open(t.Context(), address, path, Options{}); err == nil || !strings.Contains(err.Error(), "vllm") || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for address, want := range map[string]string{"vllm://h": "http://h:8000", "llama-servers://[::1]:1/api/": "https://[::1]:1/api/", "llama-server://h": "http://h:8080", "vllms://h/x": "https://h:8000/x"} {
		if _, base, err := parse(address); err != nil || base != want {
			t.Errorf("%q is %q, %v, want %q", address, base, err, want)
		}
	}
	s := mustDial(t, "vllm", path, &remotetest.Server{Model: m}, Options{})
	seq := s.Model().NewSeq()
	for name, in := range map[string]model.Input{
		"another model's":   {Seq: m.NewSeq(), Tokens: []tandem.Token{1}},
		"nothing":           {Seq: seq},
		"a tree":            {Seq: seq, Tokens: []tandem.Token{1}, Parents: []int{-1}, All: true},
		"an unknown token":  {Seq: seq, Tokens: []tandem.Token{tandem.Token(m.Config().Vocab)}},
		"too much":          {Seq: seq, Tokens: make([]tandem.Token, 512)},
		"a negative number": {Seq: seq, Tokens: []tandem.Token{-1}},
	} {
		if _, err := s.ForwardInto(t.Context(), []model.Input{in}, new(model.Logits)); err == nil || seq.Len() != 0 {
			t.Errorf("%s: %v, %d positions", name, err, seq.Len())
		}
	}
	if _, err := s.Model().Forward(t.Context(), []model.Input{{Seq: seq, Tokens: []tandem.Token{1}}}); err == nil {
		t.Error("a model that is not here computes")
	}
}

// A server that is refused is left without a connection to it.
func TestRefusedServersAreLeft(t *testing.T) {
	path, _ := open(t, tiny())
	_, reader := open(t, models.Decoder)
	for kind := range kinds {
		var left sync.WaitGroup
		h := httptest.NewUnstartedServer(kinds[kind](&remotetest.Server{Model: reader}))
		h.Config.ConnState = func(_ net.Conn, s http.ConnState) {
			switch s {
			case http.StateNew:
				left.Add(1)
			case http.StateClosed:
				left.Done()
			}
		}
		h.Start()
		if _, err := Open(t.Context(), kind+strings.TrimPrefix(h.URL, "http"), path, Options{}); err == nil {
			t.Errorf("%s: not refused", kind)
		}
		gone := make(chan bool)
		go func() {
			left.Wait()
			close(gone)
		}()
		select {
		case <-gone:
		case <-time.After(2 * time.Minute):
			t.Errorf("%s: its connection is kept", kind)
		}
		h.Close()
	}
}

// With TLS the server must be who it says, and rows come as without.
func TestTLS(t *testing.T) {
	path, m := open(t, tiny())
	h := httptest.NewUnstartedServer((&remotetest.Server{Model: m}).LlamaServer())
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.StartTLS()
	defer h.Close()
	address := "llama-servers" + strings.TrimPrefix(h.URL, "https")
	if _, err := Open(t.Context(), address, path, Options{}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate: %v", err)
	}
	known := http.DefaultTransport.(*http.Transport) // whose settings clients take over
	before := known.TLSClientConfig
	known.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
	known.TLSClientConfig.RootCAs.AddCert(h.Certificate())
	defer func() { known.TLSClientConfig = before }()
	s, err := Open(t.Context(), address, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := logitsOf(t, s, []tandem.Token{65}); len(got) != m.Config().Vocab {
		t.Errorf("%d logits", len(got))
	}
}

// A hostile server gets an error, in bounded time and memory, and no answer goes on with what it says.
func TestHostileServers(t *testing.T) {
	path, m := open(t, tiny())
	vllmRow := func(top string) string {
		return `{"choices":[{"index":0,"logprobs":{"top_logprobs":[{` + top + `}]}}]}`
	}
	llamaRow := func(top string) string {
		return `[{"index":0,"completion_probabilities":[{"top_logprobs":[` + top + `]}]}]`
	}
	for kind, bodies := range map[string]map[string]string{
		"vllm": {
			"no rows":          `{"choices":[]}`,
			"two rows":         `{"choices":[{"index":0,"logprobs":{"top_logprobs":[{"token_id:1":-1}]}},{"index":1,"logprobs":{"top_logprobs":[{"token_id:1":-1}]}}]}`,
			"another prompt's": `{"choices":[{"index":7,"logprobs":{"top_logprobs":[{"token_id:1":-1}]}}]}`,
			"NaN":              vllmRow(`"token_id:1":NaN`),
			"null":             vllmRow(`"token_id:1":null`),
			"infinite":         vllmRow(`"token_id:1":1e999`),
			"positive":         vllmRow(`"token_id:1":3`),
			"too much":         vllmRow(`"token_id:1":-0.01,"token_id:2":-0.01`),
			"out of range":     vllmRow(`"token_id:999999":-1`),
			"negative":         vllmRow(`"token_id:-1":-1`),
			"huge":             vllmRow(`"token_id:99999999999999999999":-1`),
			"words":            vllmRow(`" the":-1`),
			"nothing":          vllmRow(``),
			"no probability":   vllmRow(`"token_id:1":-9999`),
			"no log":           `{"choices":[{"index":0,"logprobs":null}]}`,
			"not JSON":         `<html>`,
			"deep":             strings.Repeat("[", 100_000),
			"many tokens":      vllmRow(manyTokens(400)),
		},
		"llama-server": {
			"no rows":          `[]`,
			"two rows":         `[` + llamaRow(`{"id":1,"logprob":-1}`)[1:] + `,{}]`,
			"another prompt's": `[{"index":-1,"completion_probabilities":[{"top_logprobs":[{"id":1,"logprob":-1}]}]}]`,
			"null":             llamaRow(`{"id":1,"logprob":null}`),
			"no id":            llamaRow(`{"logprob":-1}`),
			"half an id":       llamaRow(`{"id":1.5,"logprob":-1}`),
			"out of range":     llamaRow(`{"id":100000,"logprob":-1}`),
			"twice":            llamaRow(`{"id":1,"logprob":-1},{"id":1,"logprob":-1}`),
			"old":              `{"completion_probabilities":[{"content":"x","probs":[{"tok_str":"x","prob":0.5}]}]}`,
			"cut":              `{"truncated":true,"completion_probabilities":[{"top_logprobs":[{"id":1,"logprob":-1}]}]}`,
			"endless":          "",
			"slow":             "",
		},
	} {
		hostile := ""
		var name string
		fake := &remotetest.Server{Model: m, Around: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			switch {
			case name == "":
				next.ServeHTTP(w, r)
			case name == "endless":
				for r.Context().Err() == nil {
					if _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err != nil {
						return
					}
				}
			case name == "slow":
				for r.Context().Err() == nil {
					io.WriteString(w, " ")
					w.(http.Flusher).Flush()
					time.Sleep(time.Millisecond)
				}
			default:
				io.WriteString(w, hostile)
			}
		}}
		s := mustDial(t, kind, path, fake, Options{})
		for name, hostile = range bodies {
			s.client.within = time.Minute
			if name == "slow" {
				s.client.within = 50 * time.Millisecond
			}
			seq := s.Model().NewSeq()
			_, err := s.ForwardInto(t.Context(), []model.Input{{Seq: seq, Tokens: []tandem.Token{65, 66}}}, new(model.Logits))
			var failed *Error
			if !errors.As(err, &failed) || seq.Len() != 0 || name == "slow" != errors.Is(err, errSlow) {
				t.Errorf("%s, %s: %v, %d positions", kind, name, err, seq.Len())
			}
		}
		if st := s.Stats(); st.Failures != len(bodies) || st.Rows != 0 || len(s.kept.rows) != 0 {
			t.Errorf("%s: %+v, %d rows kept", kind, st, len(s.kept.rows))
		}
	}
}

func manyTokens(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`"token_id:%d":-9`, i%256+i/256*1000))
	}
	return strings.Join(list, ",")
}

// failing answers requests for rows with each of its failures once, in order.
type failing struct {
	fail  []func(w http.ResponseWriter)
	tried atomic.Int32
}

func (f *failing) around(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if n := int(f.tried.Add(1)); n <= len(f.fail) {
		f.fail[n-1](w)
		return
	}
	next.ServeHTTP(w, r)
}

// What may pass is tried again, a few times; what will not is not; and who no longer wants an answer does not wait for it.
func TestRetries(t *testing.T) {
	path, m := open(t, tiny())
	busy := func(w http.ResponseWriter) { http.Error(w, "busy", http.StatusServiceUnavailable) }
	many := func(w http.ResponseWriter) { http.Error(w, "slow down", http.StatusTooManyRequests) }
	bad := func(w http.ResponseWriter) { http.Error(w, "no such thing", http.StatusBadRequest) }
	dies := func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, `[{"index":0,`)
		panic(http.ErrAbortHandler)
	}
	for name, c := range map[string]struct {
		fail  []func(http.ResponseWriter)
		tried int
		fine  bool
	}{
		"busy, then dies":  {[]func(http.ResponseWriter){busy, dies}, 3, true},
		"too many":         {[]func(http.ResponseWriter){many}, 2, true},
		"dies for good":    {[]func(http.ResponseWriter){dies, dies, dies, dies}, 3, false},
		"refuses for good": {[]func(http.ResponseWriter){bad}, 1, false},
	} {
		fake := &remotetest.Server{Model: m}
		s := mustDial(t, "llama-server", path, fake, Options{})
		f := &failing{fail: c.fail}
		fake.Around = f.around
		_, err := s.ForwardInto(t.Context(), []model.Input{{Seq: s.Model().NewSeq(), Tokens: []tandem.Token{65}}}, new(model.Logits))
		if st := s.Stats(); (err == nil) != c.fine || int(f.tried.Load()) != c.tried || st.Retries != c.tried-1 || st.Requests != 1 {
			t.Errorf("%s: %v after %d attempts, %+v", name, err, f.tried.Load(), st)
		}
	}
	fake := &remotetest.Server{Model: m}
	s := mustDial(t, "vllm", path, fake, Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	superseded := errors.New("superseded")
	fake.Around = func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		io.ReadAll(r.Body)
		cancel(superseded)
		<-r.Context().Done()
	}
	_, err := s.ForwardInto(ctx, []model.Input{{Seq: s.Model().NewSeq(), Tokens: []tandem.Token{65}}}, new(model.Logits))
	if st := s.Stats(); !errors.Is(err, superseded) || st.Failures+st.Requests != 0 {
		t.Errorf("%v, %+v", err, st)
	}
}

// loading is a transport to a server that is loading its model for a minute.
type loading struct {
	until time.Time
	then  http.Handler
}

func (l loading) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if time.Now().Before(l.until) {
		w.WriteHeader(http.StatusServiceUnavailable)
	} else {
		l.then.ServeHTTP(w, r)
	}
	return w.Result(), nil
}

func TestWaitsForALoadingServer(t *testing.T) {
	path, m := open(t, tiny())
	vocabulary, err := model.OpenVocabulary(path)
	if err != nil {
		t.Fatal(err)
	}
	defer vocabulary.Close()
	synctest.Test(t, func(t *testing.T) {
		for _, after := range []time.Duration{time.Minute, time.Hour} {
			start := time.Now()
			s := &Server{model: vocabulary, dialect: &llamaServer{}, kept: newKept(1 << 20), log: slog.New(slog.DiscardHandler)}
			s.client = &client{within: time.Minute, retried: s.retried, http: http.Client{Transport: loading{start.Add(after), (&remotetest.Server{Model: m}).LlamaServer()}}}
			err := s.probe(t.Context())
			if took := time.Since(start); after == time.Minute != (err == nil) || took < time.Minute || took > loadingFor+time.Second {
				t.Errorf("ready after %v: %v after %v", after, err, took)
			}
		}
	})
}

// What llama.cpp 0.7.0 answered for the built-in decoder, and what the servers' sources say that they answer, with all
// that is not asked for.
func TestRecordedAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		dialect dialect
		want    []row
	}{
		"llama-server-0.7.0.json": {&llamaServer{}, []row{
			{[]tandem.Token{33, 295, 307, 462}, []float32{-0.0430847704410553, -5.142331600189209, -5.237065315246582, -3.7805087566375732}, 0.9918},
			{[]tandem.Token{11, 59, 264, 728}, []float32{-1.205741047859192, -1.8586530685424805, -2.0005650520324707, -2.8466696739196777}, 0.6487}}},
		"llama-server.json": {&llamaServer{}, []row{
			{[]tandem.Token{220, 11627}, []float32{-math.MaxFloat32, -0.5}, 0.6065}, {[]tandem.Token{11, 13}, []float32{-0.25, -2.5}, 0.8609}}},
		"vllm.json": {&vllm{}, []row{
			{[]tandem.Token{220, 279, 3198, 11627}, []float32{-1.4023, -9999, -3.2773, -0.6523}, 0.8046},
			{[]tandem.Token{11, 13, 151645}, []float32{-3.3, -0.05, -5.1}, 0.9942}}},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseRows(c.dialect, data, 2, 4, 151_936)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, r := range got {
			if w := c.want[i]; !slices.Equal(r.ids, w.ids) || !slices.Equal(r.logs, w.logs) || math.Abs(r.covered-w.covered) > 1e-4 {
				t.Errorf("%s: row %d is %v, want %v", name, i, r, w)
			}
		}
	}
}

// A server's answer becomes rows of the vocabulary, or an error; whatever it says.
func FuzzRows(f *testing.F) {
	for _, name := range []string{"vllm.json", "llama-server.json", "llama-server-0.7.0.json"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, 2, name == "vllm.json")
	}
	f.Add([]byte(`[{"index":0,"completion_probabilities":[{"top_logprobs":[{"id":1,"logprob":-1e400}]}]}]`), 1, false)
	f.Fuzz(func(t *testing.T, data []byte, n int, isVLLM bool) {
		const top, vocab = 8, 1 << 18
		n = min(max(n, 1), promptsAtOnce)
		var d dialect = &llamaServer{}
		if isVLLM {
			d = &vllm{}
		}
		rows, err := parseRows(d, data, n, top, vocab)
		if err != nil {
			return
		}
		if len(rows) != n {
			t.Fatalf("%d rows for %d prompts", len(rows), n)
		}
		out := make([]float32, vocab)
		for _, r := range rows {
			if len(r.ids) == 0 || len(r.ids) > top+1 || !slices.IsSorted(r.ids) || !(r.covered > 0 && r.covered <= 1) {
				t.Fatalf("%+v", r)
			}
			r.logits(out)
			sum := 0.0
			for _, l := range out {
				if !(l <= 0) {
					t.Fatalf("a log-probability of %v", l)
				}
				sum += math.Exp(float64(l))
			}
			if sum > 1+2*tolerance {
				t.Fatalf("probabilities sum to %v", sum)
			}
		}
	})
}

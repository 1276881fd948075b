package node

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/model/remote"
	"tandem/model/remote/remotetest"
	"tandem/npu/native"
	"tandem/pair"
	"tandem/transport"
)

// elsewhere are neighbours whose cloud has its passes from a server, and neighbours with the same model here.
func elsewhere(t *testing.T, around func(http.ResponseWriter, *http.Request, http.Handler)) (device, plain *Device, server *remote.Server) {
	t.Helper()
	path, m := tiny(t)
	h := httptest.NewServer((&remotetest.Server{Model: m, Around: around}).LlamaServer())
	t.Cleanup(h.Close)
	device, server = served(t, path, m, strings.TrimPrefix(h.URL, "http://"))
	plain, _ = neighboursWith(t, false, m, m)
	return device, plain, server
}

// tiny opens a small model whose file is at path.
func tiny(t *testing.T) (path string, m *model.Model) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "tiny.gguf")
	file := tinymodel.GGUF(tinymodel.Spec{Words: []string{"cabin", "museum", "harbour", "opens", "wifi"}, Gain: 3, Seed: 3, Context: 1024})
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

// served is a device with m whose cloud has its passes from the llama-server at an address.
func served(t *testing.T, path string, m *model.Model, address string) (*Device, *remote.Server) {
	t.Helper()
	server, err := remote.Open(t.Context(), "llama-server://"+address, path, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	device, _ := neighboursOf(t, false, [2]Local{{Model: m}, {Model: server.Model(), Passes: server}})
	return device, server
}

// A pair whose cloud is computed on a server says, for a seed, what the pair says that computes itself, in every placement; no
// memory is reserved for keys and values, which are not here.
func TestCloudComputedElsewhere(t *testing.T) {
	device, plain, server := elsewhere(t, nil)
	for _, placement := range []tandem.Placement{tandem.PlaceMirror, tandem.PlaceDevice, tandem.PlaceCloud, tandem.PlaceGreedy} {
		s := baselineSettings(tandem.WantDrafts)
		s.Placement, s.PassPlaces = placement, 4
		got, err := device.Ask(t.Context(), baselineQuestion, s, func(Token) {})
		if err != nil {
			t.Fatal(err)
		}
		want, err := plain.Ask(t.Context(), baselineQuestion, s, func(Token) {})
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != want.Text || got.Pair.Together == 0 || got.Pair.Divergences != 0 {
			t.Errorf("%v: %q, %+v; with the model here %q", placement, got.Text, got.Pair, want.Text)
		}
	}
	if server.Stats().Rows == 0 {
		t.Error("the server computed nothing")
	}
	l := Local{Model: server.Model()}
	if n := l.keysAndValues(baselineQuestion, baselineSettings(tandem.WantDrafts)); n != 0 {
		t.Errorf("%d bytes of keys and values", n)
	}
}

// A server that dies while an answer is made takes the cloud out of it. The device goes on alone from the last token, and is told
// why, but not where the server is.
func TestServerDiesInMidAnswer(t *testing.T) {
	var left atomic.Int64
	left.Store(1 << 30)
	device, plain, server := elsewhere(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Path == "/completion" && left.Add(-1) < 0 {
			w.Header().Set("Content-Length", "99")
			w.Write([]byte(`[{"index":`))
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, r)
	})
	left.Store(6) // one for the prompts
	s := baselineSettings(tandem.WantDrafts)
	s.Placement = tandem.PlaceSync // so that the device cannot have all drafts before
	shown := 0
	got, err := device.Ask(t.Context(), baselineQuestion, s, func(Token) { shown++ })
	if err != nil {
		t.Fatal(err)
	}
	want, err := plain.Ask(t.Context(), baselineQuestion, s, func(Token) {})
	if err != nil {
		t.Fatal(err)
	}
	p := got.Pair
	if p.Together == 0 || p.Alone == 0 || got.Reason != pair.ReasonLength || shown != s.MaxTokens || len(got.Tokens) != s.MaxTokens {
		t.Fatalf("%d tokens shown, %d in the answer, ended by %v, %+v", shown, len(got.Tokens), got.Reason, p)
	}
	for i := range p.Together {
		if got.Tokens[i].ID != want.Tokens[i].ID {
			t.Errorf("token %d of %d that were agreed is %d, want %d", i, p.Together, got.Tokens[i].ID, want.Tokens[i].ID)
		}
	}
	if why := strings.Join(got.Remarks, "\n"); !strings.Contains(why, "does not answer as it should") || strings.Contains(why, "127.0.0.1") {
		t.Errorf("remarks: %q", why)
	}
	if st := server.Stats(); st.Failures == 0 || st.Retries == 0 {
		t.Errorf("%+v", st)
	}
}

// A real llama-server computes the cloud's part of an answer. Killed in mid-answer, it takes the cloud out of it.
func TestRealLlamaServerDiesInMidAnswer(t *testing.T) {
	path, m := tiny(t)
	process := remotetest.StartLlamaServer(t, path)
	device, server := served(t, path, m, process.Address)
	s := baselineSettings(tandem.WantDrafts)
	s.Placement = tandem.PlaceSync
	whole, err := device.Ask(t.Context(), baselineQuestion, s, func(Token) {})
	if err != nil || whole.Pair.Together != s.MaxTokens || whole.Pair.Alone != 0 || server.Stats().Failures != 0 {
		t.Fatalf("%+v, %v, %+v", whole.Pair, err, server.Stats())
	}
	const after = 6
	shown := 0
	s.Seed++ // other tokens: none is kept
	cut, err := device.Ask(t.Context(), baselineQuestion, s, func(Token) {
		if shown++; shown == after {
			process.Kill()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if p := cut.Pair; p.Together < after || p.Alone == 0 || shown != s.MaxTokens || len(cut.Tokens) != s.MaxTokens {
		t.Errorf("%d tokens shown, %d in the answer, %+v", shown, len(cut.Tokens), p)
	}
	if why := strings.Join(cut.Remarks, "\n"); !strings.Contains(why, "does not answer as it should") || strings.Contains(why, "127.0.0.1") {
		t.Errorf("remarks: %q", why)
	}
}

// discreet is an error that names something of its side's operator.
type discreet struct{ error }

func (discreet) Public() string { return "it is ill" }

func TestRefusalsAreDiscreet(t *testing.T) {
	device, cloud := transport.Pipe(toyVocab)
	(&cloudAnswer{exchange: cloud}).refuse(discreet{http.ErrServerClosed})
	m, err := device.Receive(t.Context())
	if fail, ok := m.(transport.Fail); err != nil || !ok || fail.Text != "it is ill" {
		t.Errorf("%+v, %v", m, err)
	}
}

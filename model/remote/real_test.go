package remote

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem"
	"tandem/aggregator"
	"tandem/model"
	"tandem/model/remote/remotetest"
	"tandem/model/tokenizer"
	"tandem/models"
	"tandem/npu/reference"
)

// texts are prompts for a real server, of several lengths, from what the decoder knows and from what it does not.
var texts = append(slices.Clone(probes), "Question: When does the harbour museum open?\nAnswer:", "Ü",
	"The wifi password of the lake cabin is tumbral-5827.\nQuestion: What is the wifi password of the lake cabin?\nAnswer:")

// A real llama-server computes the built-in decoder's rows, several prompts at a time, each prompt on its own; and a pair with it
// answers.
func TestRealLlamaServer(t *testing.T) {
	path, m := open(t, models.Decoder)
	p := remotetest.StartLlamaServer(t, path)
	s, err := Open(t.Context(), "llama-server://"+p.Address, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	exact, err := model.Open(path, reference.New())
	if err != nil {
		t.Fatal(err)
	}
	defer exact.Close()

	var here, there []model.Input
	for _, text := range texts {
		prompt := m.Tokenizer().Encode(text, tokenizer.Options{AddSpecial: true})
		here = append(here, model.Input{Seq: exact.NewSeq(), Tokens: prompt, All: true})
		there = append(there, model.Input{Seq: s.Model().NewSeq(), Tokens: prompt, All: true})
	}
	want, err := exact.Forward(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.ForwardInto(t.Context(), there, &model.Logits{})
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d rows of %d: %v", len(got), len(want), err)
	}
	// Native and llama-server both round activations to 8 bits, each in its own way, so both are held to exact arithmetic.
	row, sum := 0, 0.0
	for i := range texts {
		for n := range there[i].Tokens {
			told, ok := s.kept.get(keyOf(there[i].Tokens[:n+1]))
			if !ok {
				t.Fatal("a row is not kept")
			}
			sum += max(0, distance(want[row], got[row])-(1-told.covered))
			row++
		}
	}
	t.Logf("%d rows: beyond what is not told, %.4f of the mass differs in the mean", row, sum/float64(row))
	if sum > 0.02*float64(row) {
		t.Error("that is more than rounding")
	}

	before, start := s.Stats(), time.Now()
	rule := aggregator.Rule{Greedy: true}
	said := says(t, m, s, rule, "reader", true)
	st := s.Stats()
	if local := says(t, m, nil, rule, "reader", true); said != local { // it has no close calls
		t.Errorf("greedily, it says %q, and the model here %q", said, local)
	}
	t.Logf("an answer: %d requests of %v, %d rows, %.4f covered, in all %v", st.Requests-before.Requests, (st.Took-before.Took)/time.Duration(max(1, st.Requests-before.Requests)),
		st.Rows-before.Rows, (st.Covered-before.Covered)/float64(st.Rows-before.Rows), time.Since(start))
}

// A prompt that goes on from an earlier one is computed from where it goes on, and one that fills the context is computed whole.
func TestRealLlamaServerReuses(t *testing.T) {
	path, m := open(t, models.Decoder)
	p := remotetest.StartLlamaServer(t, path)
	s, err := Open(t.Context(), "llama-server://"+p.Address, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	most := s.Model().Config().Context
	if most != 510 {
		t.Errorf("a context of %d tokens, want 510 of a slot of 512", most)
	}
	long := m.Tokenizer().Encode(strings.Repeat("The harbour museum opens at nine. ", 100), tokenizer.Options{AddSpecial: true})
	cached := func(prompts ...[]tandem.Token) (list []int) {
		t.Helper()
		path, body := s.dialect.request(prompts, s.top)
		delete(body.(map[string]any), "response_fields")
		data, err := s.client.do(t.Context(), "POST", path, body, 64<<20)
		if err != nil {
			t.Fatal(err)
		}
		var out []struct {
			Timings struct {
				Cached int `json:"cache_n"`
			}
		}
		if len(prompts) == 1 {
			data = slices.Concat([]byte("["), data, []byte("]"))
		}
		if err := json.Unmarshal(data, &out); err != nil {
			t.Fatal(err)
		}
		for _, o := range out {
			list = append(list, o.Timings.Cached)
		}
		return list
	}
	first, second := long[:100], append(slices.Clone(long[:50]), long[60:90]...)
	cached(first, second)
	if got := cached(long[:101], append(slices.Clone(second), long[0])); !slices.Equal(got, []int{100, 80}) {
		t.Errorf("%d tokens were computed before, want 100 and 80", got)
	}
	seq := s.Model().NewSeq()
	if _, err := s.ForwardInto(t.Context(), []model.Input{{Seq: seq, Tokens: long[:most]}}, &model.Logits{}); err != nil {
		t.Errorf("a prompt of %d tokens: %v", most, err)
	}
	if _, err := s.ForwardInto(t.Context(), []model.Input{{Seq: seq, Tokens: long[:1]}}, &model.Logits{}); err == nil {
		t.Errorf("more than %d tokens were computed", most)
	}
}

// A real llama-server with another model, or one that wants another key, is refused, and the reason is said.
func TestRealLlamaServerIsRefused(t *testing.T) {
	path, _ := open(t, models.Decoder)
	p := remotetest.StartLlamaServer(t, path, "--api-key", "sesame")
	written := func(file []byte) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "other.gguf")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct{ path, key, want string }{
		"no key":           {path, "", "401"},
		"another key":      {path, "barley", "401"},
		"a smaller model":  {written(tiny()), "sesame", "give the file that the server runs"},
		"two tokens apart": {written(swapped(t, models.Decoder, "e", "t")), "sesame", "give the file that the server runs"},
	} {
		s, err := Open(t.Context(), "llama-server://"+p.Address, c.path, Options{Key: c.key})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	s, err := Open(t.Context(), "llama-server://"+p.Address, path, Options{Key: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// swapped returns a GGUF file whose tokens a and b, of one length, have changed places.
func swapped(t *testing.T, file []byte, a, b string) []byte {
	t.Helper()
	file = slices.Clone(file)
	list := bytes.Index(file, []byte("tokenizer.ggml.tokens"))
	if list < 0 {
		t.Fatal("the file has no tokens")
	}
	at := func(token string) []byte {
		i := bytes.Index(file[list:], append(binary.LittleEndian.AppendUint64(nil, uint64(len(token))), token...))
		if i < 0 {
			t.Fatalf("the file has no token %q", token)
		}
		return file[list+i+8:][:len(token)]
	}
	first, second := at(a), at(b)
	copy(first, b)
	copy(second, a)
	return file
}

// A real llama-server that is killed between the requests of a pass gives an error, and the sequences are as before.
func TestRealLlamaServerDies(t *testing.T) {
	path, m := open(t, models.Decoder)
	p := remotetest.StartLlamaServer(t, path)
	s, err := Open(t.Context(), "llama-server://"+p.Address, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	long := m.Tokenizer().Encode(strings.Repeat("The harbour museum opens at nine. ", 100), tokenizer.Options{AddSpecial: true})[:500]
	in := model.Input{Seq: s.Model().NewSeq(), Tokens: long, All: true} // 500 rows take several requests
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotFirstResponseByte: p.Kill})
	_, err = s.ForwardInto(ctx, []model.Input{in}, &model.Logits{})
	var failed *Error
	if !errors.As(err, &failed) || in.Seq.Len() != 0 || s.Stats().Failures != 1 || s.Stats().Retries == 0 {
		t.Errorf("%v, %d tokens, %+v", err, in.Seq.Len(), s.Stats())
	}
}

// distance returns the total variation between two softmaxes.
func distance(a, b []float32) (d float64) {
	p, q := probabilities(a), probabilities(b)
	for x := range p {
		d += math.Abs(p[x]-q[x]) / 2
	}
	return d
}

func probabilities(logits []float32) []float64 {
	out, most, sum := make([]float64, len(logits)), float64(slices.Max(logits)), 0.0
	for x, l := range logits {
		out[x] = math.Exp(float64(l) - most)
		sum += out[x]
	}
	for x := range out {
		out[x] /= sum
	}
	return out
}

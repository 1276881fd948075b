package node

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu/native"
	"tandem/pair"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/transport"
)

// neighbours are a device and a cloud with a few documents each, connected by real sockets.
func neighbours(t *testing.T) (*Device, *Cloud) { return small(t, false) }

// generous are neighbours whose cloud gives its documents away.
func generous(t *testing.T) (*Device, *Cloud) { return small(t, true) }

func small(t *testing.T, give bool) (*Device, *Cloud) {
	t.Helper()
	words := []string{"cabin", "museum", "harbour", "opens", "wifi"}
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Words: words, Gain: 3, Seed: 3, Context: 1024}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return neighboursWith(t, give, m, m)
}

// neighboursWith are neighbours with a model each.
func neighboursWith(t *testing.T, give bool, models ...*model.Model) (*Device, *Cloud) {
	t.Helper()
	return neighboursOf(t, give, [2]Local{{Model: models[0]}, {Model: models[1]}})
}

// neighboursOf are neighbours that answer with the readers, and documents and a scorer of their own.
func neighboursOf(t *testing.T, give bool, readers [2]Local) (*Device, *Cloud) {
	t.Helper()
	for side, texts := range [][]string{{"The cabin is at the harbour.", "The wifi of the cabin is new."}, {"The museum opens at nine.", "The harbour museum is large."}} {
		x, err := search.Memory(search.Options{Words: passages.SentenceWords})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close() })
		files := fstest.MapFS{}
		for i, text := range texts {
			files[string(rune('a'+i))+".txt"] = &fstest.MapFile{Data: []byte(text)}
		}
		if _, err := x.AddFS(t.Context(), files, "."); err != nil {
			t.Fatal(err)
		}
		readers[side].Scorer, readers[side].Documents = search.Lexical(), x
	}
	ids := [2]transport.Identity{}
	for i := range ids {
		var err error
		if ids[i], err = transport.Ephemeral(); err != nil {
			t.Fatal(err)
		}
	}
	l, err := transport.Listen("127.0.0.1:0", transport.ServerConfig{
		Identity: ids[1], Peers: transport.NewPeers(ids[0].ID), Hello: readers[1].Hello(tandem.Cloud, "test", "cloud"), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	cloud := NewCloud(CloudConfig{Local: readers[tandem.Cloud], Titles: true, GiveDocuments: give})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- cloud.Serve(ctx, l) }()
	device := &Device{Local: readers[tandem.Device], Patience: DefaultPatience}
	device.Cloud = NewRemoteCloud(func(ctx context.Context, _ string) (*transport.Conn, error) {
		return transport.Dial(ctx, l.Addr().String(), transport.ClientConfig{
			Identity: ids[0], Peer: ids[1].ID, Hello: readers[0].Hello(tandem.Device, "test", "device"), Log: slog.New(slog.DiscardHandler),
		})
	}, 0, "the cloud")
	t.Cleanup(func() {
		err := device.Close()
		cancel()
		if err = errors.Join(err, l.Close(), <-done); err != nil {
			t.Error(err)
		}
	})
	return device, cloud
}

var baselineQuestion = Question{ID: "q", Text: "Where is the cabin, and when does the museum open?"}

func baselineSettings(want tandem.Want) tandem.Settings {
	s := tandem.Settings{Want: want, Nucleus: 0.8, Support: 64, Lookahead: 8, MaxTokens: 24, Documents: 2, Weights: decoder.Sentence.String()}
	s.Seed, s.Sampling = 21, tandem.Sampling{Temperature: 1, TopP: 1, RepeatPenalty: 1}
	return s
}

// alone is what one reader writes by itself over the passages of others.
func alone(t *testing.T, r Local, s tandem.Settings, rows int, from ...Local) []tandem.Token {
	t.Helper()
	var passages []passages.Passage
	for _, f := range from {
		p, err := f.search(t.Context(), baselineQuestion, s)
		if err != nil {
			t.Fatal(err)
		}
		passages = append(passages, p...)
	}
	s.Contexts = rows
	read, err := r.prefill(t.Context(), baselineQuestion, s, passages, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cfg := sharedPairConfig(s, tandem.Device, r.Model)
	drafts, err := writeAlone(t.Context(), read, cfg)
	if err != nil {
		t.Fatal(err)
	}
	var out []tandem.Token
	for _, d := range drafts {
		if !slices.Contains(cfg.Stop, d.Token) {
			out = append(out, d.Token)
		}
	}
	return out
}

// DRCG (DRAGON §7.2): with the cloud's passages the device says alone what a device says that has them, whether
// they come as text or with their caches; and no cloud gives them away unless it was told to.
func TestDRCG(t *testing.T) {
	apart, _ := neighbours(t)
	device, cloud := generous(t)
	for _, c := range []struct {
		want tandem.Want
		rows int
	}{{tandem.WantText, 1}, {tandem.WantKV, 0}} {
		s := baselineSettings(c.want)
		if a, err := apart.Ask(t.Context(), baselineQuestion, s, func(Token) { t.Error("a token without documents") }); err == nil || !strings.Contains(err.Error(), "--allow-documents") {
			t.Errorf("%d tokens, %v", len(a.Tokens), err)
		}
		got, err := device.Ask(t.Context(), baselineQuestion, s, func(Token) {})
		if err != nil {
			t.Fatal(err)
		}
		want := alone(t, device.Local, s, c.rows, device.Local, cloud.Local)
		if !slices.Equal(ids(got.Tokens), want) || len(want) == 0 {
			t.Errorf("%d: %v, want %v", c.want, ids(got.Tokens), want)
		}
		if got.Read != [2]int{2, 2} || len(got.Documents[0]) != 2 || len(got.Documents[1]) != 2 || got.Traffic.BytesReceived == 0 || got.Pair.Alone < len(want) {
			t.Errorf("%d: %+v", c.want, got)
		}
	}
}

// DRDG/SW: the answer is one that a side wrote alone, the likelier by the two sides' own words; it comes at
// once.
func TestDRDGSequence(t *testing.T) {
	device, cloud := neighbours(t)
	s := baselineSettings(tandem.WantAnswer)
	won := [2]int{}
	for seed := range uint64(12) {
		s.Seed = seed
		got, err := device.Ask(t.Context(), baselineQuestion, s, func(Token) {})
		if err != nil {
			t.Fatal(err)
		}
		for side, r := range []Local{device.Local, cloud.Local} {
			if slices.Equal(ids(got.Tokens), alone(t, r, s, 0, r)) {
				won[side]++
			}
		}
		for _, tok := range got.Tokens {
			if tok.At < got.Tokens[len(got.Tokens)-1].At-time.Second {
				t.Errorf("seed %d: a token after %v, the last after %v", seed, tok.At, got.Tokens[len(got.Tokens)-1].At)
			}
		}
	}
	if won[0]+won[1] < 12 || won[0] == 0 || won[1] == 0 {
		t.Errorf("of 12 answers %d are the device's and %d the cloud's: want each, and no others", won[0], won[1])
	}
}

// The likelier answer wins, the sides' weights count, and both sides' tokens are marked.
func TestChoose(t *testing.T) {
	answer := func(h float64, tokens ...float64) []tandem.Draft { // token i+1 with that probability
		var out []tandem.Draft
		prefix := tandem.NoPrefix
		for i, p := range tokens {
			w := uint32(math.Round(math.Abs(p) * tandem.Mass))
			d := tandem.Draft{Step: tandem.Step(i), Prefix: prefix, Token: tandem.Token(i + 1), H: tandem.FixedOf(h)}
			if p < 0 { // another token
				d.Token += 20
			}
			d.Dist = tandem.Dist{IDs: []tandem.Token{d.Token, 99}, Weights: []uint32{w, tandem.Mass - w}}
			out, prefix = append(out, d), prefix.Then(d.Token)
		}
		return out
	}
	for name, c := range map[string]struct {
		device, cloud []tandem.Draft
		winner        tandem.Side
		by            []tandem.By
	}{
		"likelier cloud":  {answer(0, 0.5, -0.5), answer(0, 0.6, 0.9), tandem.Cloud, []tandem.By{tandem.ByBoth, tandem.ByCloud}},
		"heavier device":  {answer(3, 0.5, -0.5), answer(0, 0.6, 0.9), tandem.Device, []tandem.By{tandem.ByBoth, tandem.ByDevice}},
		"alike":           {answer(0, 0.5), answer(0, 0.5), tandem.Device, []tandem.By{tandem.ByBoth}},
		"nothing there":   {answer(0, 0.1), nil, tandem.Device, []tandem.By{tandem.ByDevice}},
		"nothing here":    {nil, answer(0, 0.1), tandem.Cloud, []tandem.By{tandem.ByCloud}},
		"no say over it":  {answer(0, 0.01), answer(decoder.Mute, 0.9), tandem.Device, []tandem.By{tandem.ByBoth}},
		"different start": {answer(0, -0.9, 0.9), answer(0, 0.1, 0.9), tandem.Device, []tandem.By{tandem.ByDevice, tandem.ByDevice}},
	} {
		winner, tokens := likelierAnswer([2][]tandem.Draft{c.device, c.cloud}, nil)
		var by []tandem.By
		for _, x := range tokens {
			by = append(by, x.By)
		}
		if winner != c.winner || !slices.Equal(by, c.by) {
			t.Errorf("%s: %v by %v, want %v by %v", name, winner, by, c.winner, c.by)
		}
	}
	stop := tandem.Token(2)
	if _, tokens := likelierAnswer([2][]tandem.Draft{answer(0, 0.5, 0.5), nil}, []tandem.Token{stop}); len(tokens) != 1 {
		t.Errorf("%d tokens before the stop", len(tokens))
	}
}

// A cloud's answer may be as long as the settings allow, and no longer.
func TestBaselineIsNoLongerThanAllowed(t *testing.T) {
	const allowed = 5
	for n := allowed - 1; n <= allowed+1; n++ {
		here, there := transport.Pipe(toyVocab)
		messages, prefix := []transport.Message{transport.Ready{}}, tandem.NoPrefix
		for step := range tandem.Step(n) {
			messages = append(messages, tandem.Draft{Step: step, Prefix: prefix, Token: 1, Dist: tandem.Dist{IDs: []tandem.Token{1}, Weights: []uint32{tandem.Mass}}})
			prefix = prefix.Then(1)
		}
		for _, m := range append(messages, transport.End{}) {
			if err := there.Send(m); err != nil {
				t.Fatal(err)
			}
		}
		drafts, err := receiveAnswer(t.Context(), here, pair.Config{Settings: tandem.Settings{MaxTokens: allowed}, Vocab: toyVocab}, &Answer{})
		if n <= allowed && (err != nil || len(drafts) != n) || n > allowed && err == nil {
			t.Errorf("%d drafts of %d, %v", len(drafts), n, err)
		}
		there.Close()
	}
}

// A baseline has no answer without the cloud, and reports a cloud that dies in the middle.
func TestBaselinesNeedTheCloud(t *testing.T) {
	device, _ := neighbours(t)
	device.Cloud = nil
	for want := tandem.WantText; want <= tandem.WantAnswer; want++ {
		if _, err := device.Ask(t.Context(), baselineQuestion, baselineSettings(want), func(Token) {}); !errors.Is(err, ErrNoCloud) {
			t.Errorf("%d: %v", want, err)
		}
	}
	if err := baselineSettings(tandem.WantAnswer + 1).Check(); err == nil {
		t.Error("an unknown method passes")
	}
	for name, send := range map[string][]transport.Message{
		"cut off":      {transport.Ready{}},
		"other method": {transport.NeedSync{}},
		"out of order": {transport.Ready{}, tandem.Draft{Step: 3, Dist: tandem.Dist{IDs: []tandem.Token{1}, Weights: []uint32{tandem.Mass}}, Token: 1}},
		"refusal":      {transport.Fail{Text: "no"}},
	} {
		here, there := transport.Pipe(toyVocab)
		for _, m := range send {
			if err := there.Send(m); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		there.Close()
		if drafts, err := receiveAnswer(t.Context(), here, pair.Config{Settings: tandem.Settings{MaxTokens: 5}, Vocab: toyVocab}, &Answer{}); err == nil {
			t.Errorf("%s: taken as %d drafts", name, len(drafts))
		}
	}
}

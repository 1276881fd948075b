package transport

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"tandem"
)

var update = flag.Bool("update", false, "rewrite testdata/frames.txt with the frames of the current code")

// goldenMessages returns at least one message of every type. One writer sends them in this order, because a draft's frame
// depends on the drafts before it.
func goldenMessages() []struct {
	name string
	m    Message
} {
	dist := func(ids []tandem.Token, weights ...uint32) tandem.Dist {
		return tandem.Dist{IDs: ids, Weights: weights}
	}
	first := tandem.Draft{
		Epoch: 1, Step: 0, Prefix: tandem.NoPrefix, Token: 17, H: tandem.FixedOf(1.25), Decode: 32 * time.Millisecond,
		Dist: dist([]tandem.Token{3, 17, 2047}, 1000, 60000, 4536),
	}
	second := tandem.Draft{
		Epoch: 1, Step: 1, Prefix: first.Prefix.Then(first.Token), Token: 5, H: first.H, Decode: 30 * time.Millisecond,
		Dist: dist([]tandem.Token{5}, tandem.Mass),
	}
	hedge := tandem.Draft{
		Epoch: 1, Step: 1, Version: tandem.AnyVersion, Prefix: first.Prefix.Then(2047), Token: 0, H: tandem.FixedOf(-3),
		Dist: dist([]tandem.Token{0, 1}, 65535, 1),
	}
	begin := Begin{
		ID: "a1", Question: "Where is the key?", History: []Turn{{Role: "user", Content: "Hello"}, {Role: "assistant", Content: "Hello."}},
		Settings: tandem.Settings{
			Seed: 1<<63 + 5, Sampling: tandem.Sampling{Temperature: 0.7, TopK: 40, TopP: 0.95, MinP: 0.05, RepeatPenalty: 1.1, RepeatLast: 64},
			Placement: tandem.PlaceGreedy, Coupling: tandem.CouplingSpeculative, Gamma: 1 << 15, Nucleus: 0.8, Support: 64, Lookahead: 12,
			MaxTokens: 200, Documents: 4, Contexts: 2, Weights: "sentence", ShareTitles: true, Want: tandem.WantKV, PassPlaces: 4,
		},
	}
	long := begin
	long.Question = strings.Repeat("Where is the key? ", 40)
	return []struct {
		name string
		m    Message
	}{
		{"begin", begin},
		{"begin, zero", Begin{}},
		{"begin, compressed", long},
		{"ready", Ready{Documents: 4, Prefill: 1234 * time.Millisecond, MaxTokens: 4096}},
		{"sync", Sync{Epoch: 2, Tokens: []tandem.Token{1, 300, 70000}}},
		{"need-sync", NeedSync{}},
		{"handover", tandem.Handover{Epoch: 1, Step: 9, Prefix: 0xdeadbeef, Versions: [2]uint32{1, 2}, Accept: [2]float64{0.25, 1}}},
		{"sources", Sources{
			Sources: []Source{{Title: "Notes", Weight: 0.75}},
			Parts:   []Part{{From: 3, H: -0.5, Nothing: 0.125, Sources: []Source{{Title: "Notes", Weight: 1}}, Otherwise: []Quote{{Relevance: 0.5}}}},
		}},
		{"passages", Passages{Passages: []Passage{{Title: "Notes", Text: "The key is under the mat."}}, Saved: []int{4096}}},
		{"piece", Piece{Data: []byte{0, 1, 2, 255}}},
		{"got", Got{Bytes: 123456}},
		{"end", End{Reason: "stop"}},
		{"fail", Fail{Text: "no such model"}},
		{"fail, ask another replica", Fail{Text: "it is shutting down", Again: true}},
		{"hello of a replica", Hello{
			Version: ProtocolVersion, Software: "tandem", Name: "cloud", Side: tandem.Cloud, Vocab: [32]byte{1, 2}, VocabSize: 2048,
			Template: [32]byte{3}, Scorer: "bm25", Model: "reader", Replica: "10.0.0.2:4433", Addrs: []string{"10.0.0.2:4433", "[2001:db8::1]:4433"},
		}},
		{"hello", Hello{
			Version: ProtocolVersion, Software: "tandem", Name: "phone", Side: tandem.Cloud, Vocab: [32]byte{1, 2}, VocabSize: 2048,
			Template: [32]byte{3}, Scorer: "bm25", Model: "reader",
		}},
		{"hello with an adapter", Hello{
			Version: ProtocolVersion, Software: "tandem", Name: "phone", Side: tandem.Device, Vocab: [32]byte{1, 2}, VocabSize: 2048,
			Template: [32]byte{3}, Scorer: "bm25", Model: "reader", Adapter: strings.Repeat("0a", 32),
		}},
		{"pair request", pairRequest{Name: "phone", Proof: []byte{1, 2, 3}}},
		{"pair reply", pairReply{Refused: "wrong code", Name: "cloud", Proof: []byte{4, 5}}},
		{"draft", first},
		{"draft that follows", second},
		{"hedge", hedge},
		{"draft after a rejection", tandem.Draft{
			Epoch: 1, Step: 2, Version: 1, Prefix: 7, Token: 2, H: tandem.FixedOf(1.5), Decode: time.Second, Dist: dist([]tandem.Token{1, 2}, 30000, 35536),
		}},
		{"target", tandem.Target{Epoch: 1, Step: 5, Prefix: 99, Token: 1000, By: tandem.ByCloud}},
	}
}

// The bytes on the wire stay the same from release to release (testdata/frames.txt), and give back the messages.
func TestGoldenFrames(t *testing.T) {
	const file = "testdata/frames.txt"
	w, r := frameWriter{vocab: 2048}, frameReader{vocab: 2048}
	var b strings.Builder
	for _, g := range goldenMessages() {
		frame, err := w.frame(g.m)
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		if got, err := r.message(frame); err != nil || !reflect.DeepEqual(got, g.m) {
			t.Errorf("%s: read back as %+v, %v", g.name, got, err)
		}
		fmt.Fprintf(&b, "%s: %s\n", g.name, hex.EncodeToString(frame))
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("frames differ from %s:\n%s", file, b.String())
	}
}

package node

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/model"
	"tandem/models"
	"tandem/npu/native"
	"tandem/retrieval/search"
	"tandem/specdec"
	"tandem/transport"
)

// Whatever the drafters of the two sides, earlier answers and forecasts among them, a seed's text is that of sides that do not
// draft.
func TestDraftersGiveOneText(t *testing.T) {
	m, err := model.OpenBytes("reader", models.Decoder, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	questions := evalQuestions(t, 6)
	names := specdec.SetNames()
	var spared, foreseen int
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 8))
		var sets [2]specdec.Set
		for side := range sets { // up to three of them
			var some []string
			for _, i := range r.Perm(len(names) - 1)[:1+r.IntN(3)] {
				some = append(some, names[1+i])
			}
			if sets[side], err = specdec.ParseSet(strings.Join(some, ",")); err != nil {
				t.Fatal(err)
			}
		}
		pair := &draftingPair{model: m, question: questions[seed], seed: seed, temperature: float64(seed % 2)}
		want, _ := pair.ask(t, [2]specdec.Set{specdec.Off, specdec.Off})
		for side := range pair.resources {
			h := specdec.NewHistory(1 << 14)
			if err := h.Add("answer", want, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			pair.resources[side] = specdec.Resources{History: h, Embeddings: embeddings(m, 3)}
		}
		for _, s := range [][2]specdec.Set{sets, {specdec.WithForecast, specdec.WithSAM | specdec.WithHistory}} {
			got, answer := pair.ask(t, s)
			if !slices.Equal(got, want) {
				t.Errorf("seed %d, drafters %b: %v, want %v", seed, s, got, want)
			}
			spared, foreseen = spared+answer.Pair.OfGuesses, foreseen+answer.Pair.Forecasts
		}
	}
	if spared == 0 || foreseen == 0 {
		t.Errorf("%d passes spared by guesses, %d rows of forecasts: want some of both", spared, foreseen)
	}
}

// draftingPair are two sides with drafters of their own.
type draftingPair struct {
	model       *model.Model
	question    evalQuestion
	seed        uint64
	temperature float64
	resources   [2]specdec.Resources
}

// ask answers in virtual time.
func (p *draftingPair) ask(t *testing.T, sets [2]specdec.Set) (tokens []tandem.Token, answer Answer) {
	t.Helper()
	cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, p.seed, p.temperature == 0)
	cfg.PassPlaces, cfg.Grounded, cfg.Documents, cfg.Nucleus, cfg.Support, cfg.MaxTokens = 4, true, 4, .9, 16, 32
	cfg.Sampling.Temperature = p.temperature
	c := &cable{delay: 20 * time.Millisecond}
	own := cfg
	for side, list := range p.question.sides() {
		local := Local{Model: p.model, Scorer: search.Lexical(), Draft: sets[side], Resources: p.resources[side], Pace: 10 * time.Millisecond}
		own = local.pairConfig(cfg.Settings, tandem.Device)
		r, err := local.prefill(t.Context(), Question{Text: p.question.Question}, cfg.Settings, list, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		c.spans[side] = r
	}
	own.PassRows = tandem.MaxRows // of both, so that a side without drafters is asked for guesses, too
	synctest.Test(t, func(t *testing.T) { tokens, answer = converse(t, own, c, 0, nil) })
	return tokens, answer
}

// embeddings returns n rows for forecasts.
func embeddings(m *model.Model, n int) (rows [][]float32) {
	r := rand.New(rand.NewPCG(5, 6))
	for range n {
		row := make([]float32, m.Config().Dim)
		for i := range row {
			row[i] = float32(r.NormFloat64()) / 16
		}
		rows = append(rows, row)
	}
	return rows
}

// A question may name the drafters of this side, if these have what they need. What history there is gets the answer.
func TestQuestionNamesDrafters(t *testing.T) {
	m, err := model.OpenBytes("reader", models.Decoder, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	d := &Device{Local: Local{Model: m, Scorer: search.Lexical()}}
	s := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 1, true).Settings
	s.MaxTokens, s.Nucleus, s.Support, s.Sampling.TopP, s.Sampling.RepeatPenalty = 8, .9, 16, 1, 1
	ask := func(set specdec.Set) (Answer, error) {
		return d.Ask(t.Context(), Question{Text: "When does the museum open?", Draft: set}, s, func(Token) {})
	}
	for set, want := range map[specdec.Set]string{specdec.WithSAM | specdec.WithHistory: "history", specdec.WithForecast: "forecast"} {
		if _, err := ask(set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%b: %v, want an error about %s", set, err, want)
		}
	}
	d.Local.Resources.History = specdec.NewHistory(1 << 14)
	for _, set := range []specdec.Set{0, specdec.Off, specdec.WithSAM | specdec.WithHistory} {
		if a, err := ask(set); err != nil || len(a.Tokens) == 0 {
			t.Fatalf("%b: %v, %v", set, a.Tokens, err)
		}
	}
	if n := len(d.Local.Resources.History.Entries()); n != 1 {
		t.Errorf("%d answers kept, want that of the question whose drafters read a history", n)
	}
}

// A cloud keeps the answers of devices apart, and those of the devices that asked last.
func TestHistoriesApart(t *testing.T) {
	var h histories
	id := func(i int) (id transport.ID) { copy(id[:], fmt.Sprint(i)); return id }
	first := h.forDevice(id(0))
	if h.forDevice(id(1)) == first || h.forDevice(id(0)) != first {
		t.Error("two devices share a history, or one has two")
	}
	for i := range maxHistories - 1 {
		h.forDevice(id(2 + i)) // displaces 1, which has not asked for longest
	}
	if h.forDevice(id(0)) != first || len(h.kept) != maxHistories || len(h.used) != maxHistories {
		t.Errorf("%d histories, %d devices", len(h.kept), len(h.used))
	}
	if h.kept[id(1)] != nil {
		t.Error("the device that has not asked for longest is still known")
	}
}

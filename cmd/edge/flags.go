package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem"
	"tandem/api"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/modelcmd"
	"tandem/decoder"
	"tandem/model/sample"
)

// namedFlag is a flag that may have been given.
type namedFlag struct {
	name  string
	given bool
}

// namesOf returns the names of those flags that were given.
func namesOf(flags ...namedFlag) (names []string) {
	for _, f := range flags {
		if f.given {
			names = append(names, f.name)
		}
	}
	return names
}

// textFlags give a text in other ways than by arguments.
type textFlags struct {
	Prompt string `short:"p" help:"The text, instead of arguments." env:"-" placeholder:"TEXT" hidden:""`
	File   string `short:"f" help:"Read the text from this file." type:"existingfile" env:"-" placeholder:"FILE" hidden:""`
}

// samplingFlags say how tokens are chosen.
type samplingFlags struct {
	Seed          int64   `help:"Random seed; the same seed gives the same text. -1 draws a new one each time." default:"-1"`
	Temperature   float64 `help:"0 for the likeliest token, 1 for the model's own distribution, up to 2." default:"0"`
	MaxTokens     int     `short:"n" help:"Maximum number of tokens in an answer." default:"${maxTokens=256}"`
	TopK          int     `help:"Keep the K likeliest tokens; 0 for all." default:"0" hidden:""`
	TopP          float64 `help:"Keep the likeliest tokens with this share of the probability; 1 for all." default:"1" hidden:""`
	MinP          float64 `help:"Keep tokens with at least this share of the likeliest token's probability." default:"0" hidden:""`
	RepeatPenalty float64 `help:"Divide the logits of recent tokens by this, 0.01 to 100; 1 for no penalty." default:"1" hidden:""`
	RepeatLast    int     `help:"How many recent tokens are penalised; 0 for none, -1 for all." default:"64" hidden:""`
}

func (f samplingFlags) sampling() (sample.Params, error) {
	s := sample.Params{
		Sampling: tandem.Sampling{
			Temperature: f.Temperature, TopK: f.TopK, TopP: f.TopP, MinP: f.MinP, RepeatPenalty: f.RepeatPenalty, RepeatLast: f.RepeatLast,
		},
		Seed: uint64(f.Seed),
	}
	if err := f.check(); err != nil {
		return s, err
	}
	if f.RepeatLast == 0 { // which sample takes for its default
		s.RepeatPenalty = 1
	}
	if f.Seed == -1 {
		s.Seed = newSeed()
	}
	return s, s.Validate()
}

// newSeed returns a random seed. Its 32 bits are few enough digits to type again.
func newSeed() uint64 { return uint64(rand.Uint32()) }

// check refuses what is out of range.
func (f samplingFlags) check() error {
	share := func(x float64) bool { return x >= 0 && x <= 1 }
	switch {
	case f.Seed < -1:
		return fmt.Errorf("--seed %d: want 0 or more, or -1 for a new one", f.Seed)
	case !(f.Temperature >= 0 && f.Temperature <= api.MaxTemperature):
		return fmt.Errorf("--temperature %v: want 0 to %v", f.Temperature, api.MaxTemperature)
	case f.TopK < 0 || f.TopK > math.MaxInt32:
		return fmt.Errorf("--top-k %d: want 1 or more, or 0 for all tokens", f.TopK)
	case !share(f.TopP):
		return fmt.Errorf("--top-p %v: want 0 to 1", f.TopP)
	case !share(f.MinP):
		return fmt.Errorf("--min-p %v: want 0 to 1", f.MinP)
	case !(f.RepeatPenalty >= 0.01 && f.RepeatPenalty <= 100):
		return fmt.Errorf("--repeat-penalty %v: want 0.01 to 100; 1 is for no penalty", f.RepeatPenalty)
	case f.RepeatLast < -1 || f.RepeatLast > math.MaxInt32:
		return fmt.Errorf("--repeat-last %d: want 1 or more, 0 for none or -1 for all", f.RepeatLast)
	}
	return nil
}

// checkMaxTokens refuses a number of tokens that is out of range.
func checkMaxTokens(tokens int) error {
	if tokens < 1 || tokens > tandem.MaxAnswer {
		return fmt.Errorf("--max-tokens %d: want 1 to %d", tokens, tandem.MaxAnswer)
	}
	return nil
}

// answerFlags say how a question is answered. Flags with the tag hidden are for experiments; --help-all shows them.
type answerFlags struct {
	show showFlags `kong:"-"` // of commands that print answers

	documentFlags        `group:"Documents:"`
	pairFlags            `group:"The cloud:"`
	samplingFlags        `group:"The text:"`
	formFlags            `group:"The text:"`
	modelcmd.ModelFlags  `group:"Model and machine:"`
	modelcmd.LoraFlags   `group:"Model and machine:"`
	modelcmd.ReaderFlags `group:"Model and machine:"`
	cli.CacheFlags       `group:"Model and machine:"`
	phoneFlags           `group:"Model and machine:"`
	guessFlags           `group:"Model and machine:"`
	denoiseFlags         `group:"Model and machine:"`
}

// Validate is called by kong, which does not look into embedded structs that are not exported.
func (f answerFlags) Validate() error {
	return errors.Join(f.documentFlags.Validate(), f.CacheFlags.Validate(), f.PassageFlags.Validate())
}

// HelpLeavesOut names flags that --help shows only for other commands: how files are cut, and which, matters when they are
// indexed, and forms matter more where no document is read.
func (answerFlags) HelpLeavesOut() []string {
	return []string{"passage-words", "exclude", "grammar", "json-schema"}
}

// documentFlags choose the documents, and how they weigh.
type documentFlags struct {
	Notes     string `help:"Answer from this folder instead of the indexed documents, without what --exclude or its file .tandemignore leaves out. It is read at the start." type:"existingdir" placeholder:"DIR"`
	Public    string `help:"Give the cloud inside this process this folder to answer from." type:"existingdir" placeholder:"DIR" hidden:""`
	Sample    bool   `help:"Answer from the sample documents, even if others are indexed or a cloud is paired."`
	Side      string `help:"Whose documents answer: ${enum}." enum:"both,device,cloud" default:"both"`
	Grounded  bool   `help:"Write only function words, words of the question and whole words of the passages that are read." default:"true" negatable:"" hidden:""`
	Documents int    `help:"Passages that each side retrieves; 0 for 8, or 4 if a decoder reads them." default:"0" hidden:""`
	Contexts  int    `help:"Contexts to group a side's passages into; 0 for one per passage." default:"0" hidden:""`
	Weights   string `help:"How document weights follow the answer: reader (sentence weights and, if the model gives it, how well each passage supports the answer), sentence, static, rescore[:N[,M]], likelihood[:L[,keep]] or sentence+likelihood." default:"reader" hidden:""`
	indexcmd.PassageFlags
	indexcmd.ExcludeFlag
	modelcmd.ScorerFlag
}

// Validate refuses documents of two kinds at once.
func (f documentFlags) Validate() error {
	if f.Sample && (f.Notes != "" || f.Public != "") {
		return errors.New("--sample and --notes or --public: choose either the samples or folders")
	}
	return f.Check(f.Notes != "", "give it with --notes, or use edge index add --exclude")
}

// pairFlags choose the cloud, the path to it, and how the two sides agree on tokens.
type pairFlags struct {
	Cloud        string         `help:"The cloud to ask: the name or HOST:PORT of a paired one, or \"sample\" for the one inside this process. Default: the one paired last. If none is paired, the sample documents have the sample cloud, and your own have none." placeholder:"WHERE"`
	LocalOnly    bool           `help:"Answer on this machine alone. No socket is opened."`
	RequireCloud bool           `help:"Fail, with exit status 1, rather than answer without the cloud. It waits up to a minute for a busy cloud."`
	Wait         *time.Duration `help:"How long to wait for the cloud before answering alone. Default: 2s, or 300ms for a minute after it was missing; with --rtt, plus the three round trips until it joins." placeholder:"DURATION"`
	RTT          time.Duration  `name:"rtt" help:"Emulate a network with this round-trip time, such as 100ms; at most 4s." default:"0s"`
	Loss         float64        `help:"Emulate a network that loses this share of the packets (0 to 1)." default:"0" hidden:""`
	Private      bool           `help:"Send the cloud the question and the words of the answer, but no drafts from this device, which could show what else your documents say. Over a long distance this takes a little longer."`
	Method       string         `help:"How the sides share the work: ${enum}. All but tandem come from the DRAGON paper, as a baseline." enum:"tandem,dragon,crcg,drcg-text,drcg-kv,drdg-tw,drdg-sw" default:"tandem" hidden:""`
	Placement    string         `help:"Where drafts become tokens: ${enum}. auto is mirror, or greedy with the speculative coupling." enum:"auto,mirror,device,cloud,greedy,sync" default:"auto" hidden:""`
	Coupling     string         `help:"How two drafts become one token: ${enum}. shared draws both and the target from one race, leader also favours the side that is ahead, auto is the one of these two that is likely to be faster here (the text depends on it), speculative is the DRAGON paper's." enum:"shared,leader,auto,speculative" default:"shared" hidden:""`
	Gamma        string         `help:"With the speculative coupling: how often the device's draft decides instead of the cloud's, 0 to 1, or auto for the fastest choice at each token." default:"auto" placeholder:"auto|0..1" hidden:""`
	Nucleus      float64        `help:"Share of the probability that a draft carries." default:"0.8" hidden:""`
	Support      int            `help:"Maximum number of tokens in a draft's distribution." default:"256" hidden:""`
	Lookahead    int            `help:"Maximum number of tokens that a side drafts ahead of the agreed text; 0 for as many as a round trip needs." default:"0" hidden:""`
	Ahead        int            `help:"Rows in a pass: 1 decodes only the next draft. More also decode what follows the other side's drafts, guesses (see --draft) and runners-up (sent to the other side), as long as measurements show that this saves time: up to 32 rows, or with --draft off and a span reader as many as this. The text is the same." default:"4" placeholder:"N" hidden:""`

	SendDocuments bool `help:"With --method drcg-text and drcg-kv: let the cloud send its sample documents here. A paired cloud must allow it too." hidden:""`
}

// settings turns the flags into the settings of a node.
func (f answerFlags) settings() (tandem.Settings, error) {
	var s tandem.Settings
	sampling, err := f.sampling()
	if err != nil {
		return s, err
	}
	s.Sampling, s.Seed = sampling.Sampling, sampling.Seed
	if !f.choosesCoupling() {
		if s.Coupling, err = tandem.ParseCoupling(f.Coupling); err != nil {
			return s, err
		}
	}
	if s.Placement, err = placement(f.Placement, s.Coupling); err != nil {
		return s, err
	}
	if err = f.method(&s); err != nil {
		return s, err
	}
	if s.Gamma, err = gamma(f.Gamma); err != nil {
		return s, err
	}
	if f.Private {
		if !f.canBePrivate() {
			return s, errors.New("--private sets --placement and --coupling itself, for --method tandem: leave them out")
		}
		s.MakePrivate()
	}
	if s.Weights, err = canonicalWeights(f.Weights); err != nil {
		return s, err
	}
	s.Nucleus, s.Support, s.Lookahead = f.Nucleus, f.Support, f.Lookahead
	s.MaxTokens, s.Documents, s.Contexts, s.PassPlaces = f.MaxTokens, f.Documents, f.Contexts, f.Ahead
	s.Grounded = f.Grounded
	if s.Form, err = f.form(); err != nil {
		return s, err
	}
	if s.Form != "" && s.Want != tandem.WantDrafts {
		return s, fmt.Errorf("--method %s: it writes in no form: leave --grammar and --json-schema out", f.Method)
	}
	if f.Method != "tandem" {
		s.PassPlaces = 1 // the baselines decode only the next draft
	}
	if f.Method == "crcg" {
		s.Contexts = 1 // context aggregation
	}
	if _, err := f.drafts().Drafters(); err != nil {
		return s, err
	}
	if err := f.check(); err != nil {
		return s, err
	}
	if err := s.Check(); err != nil { // it names the flag
		return s, fmt.Errorf("--%w", err)
	}
	return s, nil
}

// canonicalWeights returns --weights as both sides write it.
func canonicalWeights(text string) (string, error) {
	weights, err := decoder.ParseWeights(text)
	if err != nil {
		return "", err
	}
	return weights.String(), nil
}

// check refuses flags that are out of range, and those that contradict each other.
func (f answerFlags) check() error {
	switch {
	case f.RTT < 0 || f.RTT > api.MaxRTT:
		return fmt.Errorf("--rtt %v: want 0 to %v, since a connection is given up when it takes longer", f.RTT, api.MaxRTT)
	case !(f.Loss >= 0 && f.Loss < 1):
		return fmt.Errorf("--loss %v: want 0 or more and less than 1", f.Loss)
	case f.Wait != nil && *f.Wait < 0:
		return fmt.Errorf("--wait %v: want 0s or more", *f.Wait)
	case f.Ahead < 1 || f.Ahead > tandem.MaxPassPlaces:
		return fmt.Errorf("--ahead %d: want 1 (none) to %d", f.Ahead, tandem.MaxPassPlaces)
	case f.phoneFlags.Switching != "" && !slices.Contains(strategies(), f.phoneFlags.Switching):
		return fmt.Errorf("--switching %s: not known, use one of %s", f.phoneFlags.Switching, strings.Join(strategies(), ", "))
	case f.phoneFlags.Switching != "" && f.SoC == "":
		return fmt.Errorf("--switching %s: it is for a simulated phone: add --soc CHIP, or leave it out", f.phoneFlags.Switching)
	case f.phoneFlags.Switching != "" && f.Memory > 0:
		return errors.New("--switching and --npu-memory: staged weights are no part of a graph that is switched, so leave one out")
	case f.RequireCloud && (f.LocalOnly || f.Side == "device"):
		return errors.New("--require-cloud and --local-only or --side device: leave one out")
	case f.Side == "cloud" && f.LocalOnly:
		return fmt.Errorf("--side cloud needs the cloud, --local-only forbids it: leave one out")
	}
	return nil
}

// choosesCoupling reports whether the coupling is chosen when an answer begins.
func (f answerFlags) choosesCoupling() bool { return f.Coupling == "auto" }

// canBePrivate reports whether the flags leave open what a private answer sets itself.
func (f answerFlags) canBePrivate() bool {
	return f.Placement == autoPlacement && f.Coupling == "shared" && f.Method == "tandem"
}

// autoPlacement lets the coupling decide the placement.
const autoPlacement = "auto"

// placement parses --placement. With shared randomness both sides can compute each target themselves (mirror). For the
// paper's coupling, the scheduler moves aggregation between the sides and chooses γ (DRAGON §5.1, Theorem 4.2).
func placement(name string, c tandem.Coupling) (tandem.Placement, error) {
	switch {
	case name != autoPlacement:
		return tandem.ParsePlacement(name)
	case c == tandem.CouplingSpeculative:
		return tandem.PlaceGreedy, nil
	default:
		return tandem.PlaceMirror, nil
	}
}

// gamma parses --gamma as a share of tandem.Mass.
func gamma(text string) (uint32, error) {
	if text == "auto" {
		return tandem.AutoGamma, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x <= 1) {
		return 0, fmt.Errorf("--gamma %q: want auto or a number from 0 to 1", text)
	}
	return uint32(math.Round(x * tandem.Mass)), nil
}

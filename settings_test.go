package tandem

import (
	"math"
	"strings"
	"testing"
)

// Check names the setting that is out of range, and accepts the bounds themselves.
func TestSettingsCheck(t *testing.T) {
	good := Settings{Nucleus: 0.8, Support: 64, MaxTokens: 32}
	for name, change := range map[string]func(*Settings){
		"nucleus 0":    func(s *Settings) { s.Nucleus = 0 },
		"nucleus NaN":  func(s *Settings) { s.Nucleus = math.NaN() },
		"support 1025": func(s *Settings) { s.Support = MaxSupport + 1 },
		"lookahead 65": func(s *Settings) { s.Lookahead = MaxLookahead + 1 },
		"max-tokens 0": func(s *Settings) { s.MaxTokens = 0 },
		"documents -1": func(s *Settings) { s.Documents = -1 },
		"contexts 257": func(s *Settings) { s.Contexts = MaxContexts + 1 },
		"ahead 9":      func(s *Settings) { s.PassPlaces = MaxPassPlaces + 1 },
		"gamma 65537":  func(s *Settings) { s.Gamma = Mass + 1 },
		"method 4":     func(s *Settings) { s.Want = WantAnswer + 1 },
		"placement(5)": func(s *Settings) { s.Placement = PlaceGreedy + 1 },
		"coupling(3)":  func(s *Settings) { s.Coupling = CouplingLeader + 1 },
		"":             func(*Settings) {},
		" (largest)": func(s *Settings) {
			s.Gamma, s.PassPlaces, s.Contexts, s.Documents = AutoGamma, MaxPassPlaces, MaxContexts, MaxDocuments
		},
		" (all the mass)": func(s *Settings) { s.Nucleus, s.Gamma, s.Lookahead, s.MaxTokens = 1, Mass, MaxLookahead, MaxAnswer },
	} {
		s := good
		change(&s)
		err := s.Check()
		if valid := name == "" || name[0] == ' '; valid != (err == nil) || !valid && !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

package rewrite

import "testing"

func TestKeeps(t *testing.T) {
	const sentence = "Send Ada's report to Mr Ruddle by 10:30, not 11."
	for version, want := range map[string]bool{
		"Could you please send Ada's report to Mr Ruddle by 10:30, not 11?":         true,
		"Please send the report of Ada to Mr Ruddle by 10:30, not 11.":              true,
		"Could you please send Ada's report to Mr Ruddle by 10:30?":                 false,
		"Could you please send Ida's report to Mr Ruddle by 10:30, not 11?":         false,
		"Send Ada's report to Mr Ruddle by 11, not 10:30.":                          true, // swapped numbers go unnoticed
		"Send Ada's report to Mr Ruddle by 10:30, not 11, at 11.":                   false,
		"Could you please send Adaline's report to Mr Ruddle by 10:30, not 11?":     false, // another name that begins like hers
		"Could you and Bob please send Ada's report to Mr Ruddle by 10:30, not 11?": false, // one more name
	} {
		if Keeps(sentence, version) != want {
			t.Errorf("%q: want %v", version, want)
		}
	}
	for _, c := range []struct {
		sentence, version string
		want              bool
	}{
		{"Bo is late.", "I just wanted to let you know that Bo is late.", true},
		{"Bo is late.", "I just wanted to let you know that he is late.", false}, // a short name, at the beginning
		{"Tell Al that I'm late.", "Could you please tell Al that I am late?", true},
		{"Tell Al that I'm late.", "Could you please tell him that I am late?", false},
		{"Where is plan B?", "Excuse me, where is plan B?", true},
		{"Where is plan B?", "Excuse me, where is plan C?", false},
		{"Thanks for the flowers.", "Thank you very much for the flowers.", true},
		{"See you on Monday.", "I look forward to seeing you on Monday.", true},
		{"He left.", "I would like to inform you that Tom left.", false},
		{"The soup is cold.", "Excuse me, the soup is cold. You are the best!", true},
	} {
		if Keeps(c.sentence, c.version) != c.want {
			t.Errorf("%q, %q: want %v", c.sentence, c.version, c.want)
		}
	}
}

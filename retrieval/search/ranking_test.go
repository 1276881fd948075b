package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"tandem/retrieval/passages"
)

// Misspelt words, parts of compounds and words of one sentence find the passage that answers.
func TestRanked(t *testing.T) {
	x := memoryOf(t, fstest.MapFS{
		"cabin.txt":            {Data: []byte("The cabin's wifi password is tumbral-5827.")},
		"piano.txt":            {Data: []byte("Telephone of the piano teacher: 0561 555.")},
		"tyres.txt":            {Data: []byte("The wintertyres are in rack B-17.")},
		"museum.txt":           {Data: []byte("The museum closes at five. Lamps are sold there.")},
		"harbour.txt":          {Data: []byte("The harbour closes at nine. A museum is near.")},
		"muller.txt":           {Data: []byte("Jürgen Müller has the key.")},
		"server.yaml":          {Data: []byte("max_upload_size: 20 MB\n")},
		"shop.txt":             {Data: []byte("In HullLength the site keeps metres.")},
		"rig.txt":              {Data: []byte("Call __mast__ before the mooring.")},
		"attic-notes_2024.txt": {Data: []byte("# Insulation\n\nThe wool is 20 cm thick.")},
		"hostel.txt":           {Data: []byte("X-Ray Hostel, no late checkin.")},
	})
	for question, want := range map[string]string{
		"wifi pasword of the cabbin":         "tumbral",
		"telefone nummber of pianno teahcer": "0561",
		"Where are the tyres?":               "B-17",
		"When does the museum close?":        "museum closes",
		"jurgen muller":                      "Jürgen",
		"What is the max upload size?":       "max_upload_size: 20",
		"max_upload_size":                    "max_upload_size: 20",
		"hull length in metres":              "HullLength",
		"What is the mast?":                  "__mast__",
		"attic":                              "20 cm",
		"xray":                               "X-Ray",
		"Is there a check‐in?":               "checkin",
	} {
		found, err := x.Search(t.Context(), passages.Query{Text: question}, 1)
		if err != nil || len(found) != 1 || !strings.Contains(found[0].Text, want) {
			t.Errorf("%q: %q, %v", question, found, err)
		}
	}
	if found, err := x.Search(t.Context(), passages.Query{Text: "What is it about, and how much?"}, 4); err != nil || len(found) > 0 {
		t.Errorf("without a word that names a topic: %q, %v", found, err)
	}
}

// Words that are related to the question's find passages, but count less than the words themselves.
func TestRankedByRelatedWords(t *testing.T) {
	related := func(word string) map[string]float64 {
		return map[string]map[string]float64{"rodents": {"rat": .8, "mice": .8}, "janitor": {"caretaker": .8}}[word]
	}
	for with, want := range map[bool]int{true: 1, false: 0} {
		o := Options{}
		if with {
			o.Related = related
		}
		x, err := Memory(o)
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		if _, err := x.AddFS(t.Context(), fstest.MapFS{
			"compost.txt": {Data: []byte("Marek saw rats near the compost.")},
			"gym.txt":     {Data: []byte("The caretaker has the gym's key. The janitor's bell is broken.")},
			"hall.txt":    {Data: []byte("The caretaker of the hall is Ms Ito.")},
		}, "."); err != nil {
			t.Fatal(err)
		}
		found, err := x.Search(t.Context(), passages.Query{Text: "Any rodents?"}, 1)
		if err != nil || len(found) != want || want > 0 && !strings.Contains(found[0].Text, "rats") {
			t.Errorf("related words %v: %q, %v, want %d", with, found, err, want)
		}
		if found, err = x.Search(t.Context(), passages.Query{Text: "janitor"}, 1); err != nil || len(found) != 1 || !strings.Contains(found[0].Text, "bell") {
			t.Errorf("the word itself, related words %v: %q, %v", with, found, err)
		}
	}
}

func TestAlike(t *testing.T) {
	for misspelt, terms := range map[string][2][]string{
		"pasword":  {{"password", "paswod"}, {"passwords1", "sword", "past"}},
		"teahcer":  {{"teacher"}, {"teaches", "beach"}},
		"nummber":  {{"number"}, {"numb", "lumber"}},
		"keyboadr": {{"keyboard", "keybord"}, {"key", "board"}},
		"kay":      {nil, {"key"}},
		"4417":     {nil, {"4418"}},
		"müller":   {{"muller"}, {"miller1"}},
	} {
		for i, list := range terms {
			for _, term := range list {
				if alike(misspelt, term) != (i == 0) {
					t.Errorf("%s, %s: %v", misspelt, term, i == 1)
				}
			}
		}
	}
}

// A word that is longer than words are is looked for as it is: an engine would need much memory to look for its misspellings.
func TestLongWord(t *testing.T) {
	x := memoryOf(t, fstest.MapFS{"a.txt": {Data: []byte("The museum opens at nine.")}})
	for _, q := range []string{"museun", "museum", "When does the museum " + strings.Repeat("ab", 2000) + " open?"} {
		if found, err := x.Search(t.Context(), passages.Query{Text: q}, 4); err != nil || len(found) != 1 {
			t.Errorf("%.40q: %d passages, %v", q, len(found), err)
		}
	}
}

// A passage shares with a query the words that it has in any form, but no function words and none that are only related.
func TestShared(t *testing.T) {
	p := passages.Passage{Title: "Boats", Text: "The bilge pumps of the Marigold."}
	for query, want := range map[string]string{"where is the pump of a boat": "pump boat", "Pump, pump": "pump", "engine": "", "the": ""} {
		if got := strings.Join(SharedWords(query, p), " "); got != want {
			t.Errorf("%q shares %q, want %q", query, got, want)
		}
	}
}

// However many passages have words that are related to the question's, the one that has these themselves comes first.
func TestRankedByRareWord(t *testing.T) {
	x, err := Memory(Options{Related: func(word string) map[string]float64 {
		return map[string]map[string]float64{"staff": {"worker": .9, "crew": .9}}[word]
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	all := fstest.MapFS{"groups.txt": {Data: []byte("Staff may add local modifications to the system without the rights of root. Compare with adm, which is for those who watch it.")}}
	for i := range 300 {
		all[fmt.Sprintf("worker-%d.txt", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "# Worker %d\n\nThe worker of group %d asks another worker of the crew.", i, i)}
	}
	if _, err := x.AddFS(t.Context(), all, "."); err != nil {
		t.Fatal(err)
	}
	found, err := x.Search(t.Context(), passages.Query{Text: "What is the staff group?"}, 4)
	if err != nil || len(found) == 0 || !strings.Contains(found[0].Text, "Staff") {
		t.Errorf("%q, %v", found, err)
	}
}

func TestNameOf(t *testing.T) {
	for source, want := range map[string]string{
		"home/plumber.eml": "plumber", "Scan_2024-03-10 garage door.pdf": "garag door", "IMG_2031.jpg": "", "README.md": "",
		"3f2a9c1e-77b0-4d2f.txt": "", "boatShed.2023.md": "boat shed boatsh",
	} {
		terms := Terms(nameOf(source))
		slices.Sort(terms)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if !slices.Equal(terms, wanted) {
			t.Errorf("%s: %q, want %q", source, terms, wanted)
		}
	}
}

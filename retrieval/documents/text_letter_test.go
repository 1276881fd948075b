package documents

import "testing"

// All passages of a letter name its sender.
func TestSenderOfLetters(t *testing.T) {
	const rest = "\n\nMs Ada Quinn\n27 Saltmarsh Row\n\n5 June 2024\n\nYour claim\n\nDear Ms Quinn,\n\nwe have decided.\n"
	for data, want := range map[string]string{
		"Harbour Mutual Insurance\nPO Box 318, Limerick" + rest:            "A, from Harbour Mutual Insurance",
		"Harbour Mutual Insurance\n\nPO Box 318" + rest:                    "Harbour Mutual Insurance",
		"PO Box 318, Limerick\nIreland" + rest:                             "A",
		"Ms Ada Quinn\n27 Saltmarsh Row\nGalway\n\nDear Ada,\n\nhello.\n":  "A",
		"Harbour Mutual Insurance\nPO Box 318, Limerick\nIreland\nText.\n": "A",
		"Ada Quinn\n27 Saltmarsh Row\nGalway\n\nDear Ada,\n\nhello.\n":     "A",
		"Dear Ada,\n\nthe house is sold.\n":                                "A",
	} {
		if doc, err := Parse(t.Context(), "a.txt", []byte(data)); doc.Title != want || err != nil {
			t.Errorf("%q: title %q, %v, want %q", data, doc.Title, err, want)
		}
	}
}

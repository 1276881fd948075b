package extract

import (
	"strings"
	"testing"

	"tandem/retrieval/passages"
)

// Which of two things has more is told by their numbers, in two rows of a table or after their names.
func TestOneOfTwo(t *testing.T) {
	const (
		offers = "Three offers came: Greenloo £1,950, Thronewell £2,480, and Fenwick & Son £1,780 (without delivery)."
		honey  = "8.6. spring honey: Rosa 9 kg, Gudrun 14 kg\n15.7. lime honey: Rosa 22 kg, Gudrun 19.5 kg"
		table  = "Tour | Price | Hours\nBoat tour | 14 € | 3\nRope garden | 17 € | 2\nRope garden at night | | 1"
	)
	for _, c := range []struct{ text, question, want string }{
		{offers, "Which offer was cheaper, Thronewell or Fenwick & Son?", "Fenwick & Son"},
		{offers, "Which offer was more expensive, Thronewell or Greenloo?", "Thronewell"},
		{offers, "Which offer was cheaper, Thronewell or Holm?", ""},
		{offers, "Which offer was heavier, Thronewell or Greenloo?", ""},
		{offers, "Which offer was cheapest?", ""},
		{honey, "Which hive gave more lime honey, Gudrun or Rosa?", "Rosa"},
		{honey, "Which hive gave more spring honey, Gudrun or Rosa?", "Gudrun"},
		{honey, "Which hive gave more honey, Gudrun or Rosa?", ""},
		{table, "What is more expensive, the boat tour or the rope garden at night?", ""},
		{table, "What is cheaper, the boat tour or the rope garden?", ""}, // two rows
		{"Lake Aur is 3 km from the town and 40 m deep. Lake Bor is 9 km from the town and 12 m deep.", "Which is deeper, Lake Aur or Lake Bor?", ""},
		{"Ada played 12 games and scored 3 goals. Bruno played 5 games and scored 9 goals.", "Who scored more goals, Ada or Bruno?", "Bruno"},
		{"Ada played 12 games and scored 3 goals. Bruno played 5 games and scored 9 goals.", "Who played fewer games, Ada or Bruno?", "Bruno"},
		{"Ada: 12 games, 3 goals\nBruno: 5 games, 9 goals", "Who scored more goals, Ada or Bruno?", "Bruno"},
		{"The morning walk at 9:00 is 4 km. The evening walk at 6:30 is 7 km.", "Which is longer, the morning walk or the evening walk?", ""},
		{"The morning walk is 4 km. The evening walk is 7 km.", "Which is longer, the morning walk or the evening walk?", "evening walk"},
		{"Finch: 0.125 kg\nThrush: 0.2 kg", "Which is heavier, the finch or the thrush?", "Thrush"},
		{"Ärmel: 14 €\nCafé: 17 €", "Which is cheaper, the Ärmel or the Café?", "Ärmel"},
		{"Ärmel: 14 €\nBärmel: 9 €\nCafé: 12 €", "Which is cheaper, the Ärmel or the Café?", "Café"},
		{"Camp Aur: 5 cadets\nCamp Bor: 9 cadets", "Which is cheaper, Camp Aur or Camp Bor?", ""}, // no Canadian dollars
		{"Rope garden: 14 €\nBus: 17 €", "Which is cheaper, the " + strings.Repeat("ab ", 20_000) + "or the bus?", ""},
		{"Tour | Price\nBoat tour | 14 €\nRope garden | 17 €", "What is more expensive, the boat tour or the rope garden?", "Rope garden"},
		{"Tour | Price\nBoat tour | 14 €\nRope garden | 17 £", "What is more expensive, the boat tour or the rope garden?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: "Notes", Text: c.text})
		if got := p.foundBy(passage.oneOfTwo, c.question); got != c.want {
			t.Errorf("%.80s: %q, want %q", c.question, got, c.want)
		}
	}
}

package sentences

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tandem/internal/cputime"
)

// A vertical bar marks each end of a sentence.
func TestSplit(t *testing.T) {
	for _, text := range []string{
		"It opens at 9:30",
		"Mr. Oduya has it.|The fee is 1.50 euros.|See Dr. A. Hale at St. Olan!",
		"Present: Prof. J. K. Lang (music), Ilse Tran|",
		"Herr Müller lives at Gärtnerstr. 11 in Kassel.|The caretaker has changed.",
		"We meet on the 3. Mai at noon.|It rains.", "Am 3. Stock vorbei, z. B. im Büro.|Der Ruderclub Fulda e. V. hat 214 Mitglieder.",
		"Cellar no. 6 is yours.|See No. 4 on p. 12, fig. 3.", "It opens at 6 p.m. and closes at 9 p.m.|The bar stays open.",
		"At 6 p.m. 30 people come.|Then they go.", "Bring nails, glue etc.|Nails are in the shed.",
		"The fee is 14 euros.|8 pounds is the deposit.|£3 more.", "The code is 4417.|Do not mix it up.", "The answer is 12.|It is not 13.",
		"It weighs approx. 5 kg.|Tel. 0561 555 7310 is new.", "Lund → Kiel, dep. 11:55, arr. 14:05.|Bring a hat.", "Mail to Ada.|ada@inn.example is new.",
		"So do I.|We go.", "J. K. Rowling wrote it.|She lives in the U.K. and in the U.S. Virgin Islands.",
		"1. From 1 July the rent is 1.234,50 €.|Please pay.", "\"Stop!\" she said.|\"Why?\"|He went.", "He said \"no.\"|She said yes (twice).|Then they left.",
		"Last time (Oct. 2023) with a remark.|Believe Yıldız.", "The bill is from the 14. Juni.|Pay it.",
		"Version 1.4.2 fixes it.|See example.com for more.", "Wait... what?|No…|Yes.", "今日は晴れです。|明日は雨です。", "Line one\n|Line two", "Hr. Wieczorek comes on Tue. and Fri. mornings.",
		"Wohnung im 2. Obergeschoss links.|Es gibt 3 Zimmer.", "Schlüssel bei Frau Lang, 2. Stock links.|Miete bis zum 3.", "The lease ends on 31 Dec. 2024.|No renewal.", "", "Use the VPN.|HTML works.",
		"The vet is Dra. Pilar Echeverría.|Write to Mme. Curie and to Mlle. Roux.|Ask Frau Dr. med. Anna Roth.",
		"The birthday is Di., 5. März 1968.|It sits at Bd. Voltaire 7.", "She is 9.|Leo is 12.", "Spare filter: part no. AD-FL-0207.|The answer is no.|We left.", "Open 8–18 h.|The warranty is new.",
		"The ticket costs 25 €.|Anna pays for it.", "The hose costs 8 $.|Karl sold it.|It costs 5 £.|Otto paid 12 %.|Leo did not.",
		"The fence is 30 m.|Emma painted it.|Add 5 g.|Otto stirs 2 l.|Paul drives 50 km/h.|Rita does 28 €/h.|Lena is in class 3 b.|Nils too.", "It needs 12 V.|Otto has 20 A.|Rita left.",
		"The house belongs to J. Smith.|In 1721 J. S. Bach wrote it, in 1999 A. Roth.|Then 2 K. M. Ohm lamps.", "He found E. coli and 5 E. faecalis.|Caesar died 44 v. Chr. in Rom.|So 10 n. Chr. Geburt.",
		"Oranges have vitamin C.|Emma eats them.|Otto waits at gate B.|Nils sits in hall D.|Rita came with K. Roth", "Wartung durch Fa. Huber.|Bezahlt.", "Ein Teleskop f. Jürgen vom Turnverein e. V. Kassel.", "문을 닫을 것.|창문도 닫는다.", "Звонил А. П. Чехов.|Он врач.", "د. أحمد هنا.|نعم.",
		"Requiem op. 48 is long.|We sang the Concerto Op. 3 Nr. 8, BWV 593.|The op. was fine.",
		"Call Mme Gagnebœuf, tél. 03 85 12 or tfno. 55.|Merci.", "The boiler code is 4711-B.|Call Jens.|Hans-J. Roth and J.-P. Sartre came.",
		"Permit from the office: ref. 2026/4417, till May.|See ref. AD-07.|He is the ref.|Bo pays.", "Max. Teilnehmerzahl: 12", "Max. temp. 30 °C, conc. 4 %.|Max.|He came with Max.|Otto left.",
		"The permit (cf. Annex B) is void.|It (from Bd. I and the app. Two) was new.", "We left (at last.|We were tired).|Then it rained.", "(It rained.|It snowed) and so on", "Bo came (see the note.|Bring it) .|So",
		"Zug ab Oslo 21.12. um 13:05, Bremen an 22.12. 11:17|", "It cost 31.20.|11:17 was the time.", "Bis 22.12.|Danach ist zu.", "It is due on 22.12.|12 people come.",
	} {
		var want []string
		for _, s := range strings.Split(text, "|") {
			if s = strings.TrimSpace(s); s != "" {
				want = append(want, s)
			}
		}
		if got := Split(strings.ReplaceAll(strings.ReplaceAll(text, "\n|", "\n"), "|", " ")); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	}
	if got := Split("今日は晴れです。明日は雨です。"); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// A short cell of a table does not end a sentence, as it may end with an abbreviation.
func TestSplitRows(t *testing.T) {
	for text, want := range map[string]int{
		"| primer conc. | 300 nM | 400 nM |": 1, "max. temp. | 30 °C": 1, "a | spec. vol. | 5": 1, "Dish | It is boiled for an hour. | 5 euros": 2, "Wait... | 5": 1, "why? | 5": 2,
	} {
		if got := Split(text); len(got) != want {
			t.Errorf("%q", got)
		}
	}
}

// A vertical bar marks the offset.
func TestBreaksOff(t *testing.T) {
	for marked, want := range map[string]bool{
		"Hr|. Weber": true, "Hr.| Weber": true, "3|. Mai 1950": true, "on 3.| Mai": true, "im 2|. Stock": true, "Frau Dr. med|. Anna": true,
		"by Dipl|.-Ing. Weber": true, "by Dipl.-Ing.| Weber": true, "at Bd|. Voltaire": true, "is Di|., 5. März": true, "J|. K. Rowling": true,
		"at Gärtnerstr|. 11": true, "Hr|.": false, "Hr|.\nWeber": false, "Hr| Weber": false, "at 6 p.m|. and": false, "glue etc|. The": false,
		"1|. Hold it": false, "1.| Hold it": false, "the shed|. Nails": false, "version 1|.4": false, "|": false, "|. a": false,
	} {
		at := strings.IndexByte(marked, '|')
		if got := BreaksOff(marked[:at]+marked[at+1:], at); got != want {
			t.Errorf("%q: %v", marked, got)
		}
	}
}

// No text takes time that is quadratic in its length: each of these would take many minutes.
func TestEndsAreLinear(t *testing.T) {
	for name, text := range map[string]string{
		"numbers":    strings.Repeat("no. 5 ", 1<<20),
		"tabs":       strings.Repeat("a.\tb", 1<<21),
		"initials":   strings.Repeat("5\u00a0C.\tX", 1<<20),
		"late start": strings.Repeat(" ", 1<<22) + strings.Repeat("B. ", 1<<20),
	} {
		done := make(chan []int, 1)
		ctx, stop := cputime.WithLimit(t.Context(), time.Minute)
		go func() { done <- Ends(text) }()
		select {
		case <-done:
		case <-ctx.Done():
			t.Errorf("%s: the ends of %d bytes took more than a minute of the processor", name, len(text))
		}
		stop()
	}
}

// Ends grow, lie between characters, and no word is cut in two.
func FuzzEnds(f *testing.F) {
	f.Add("Mr. A. B. said: \"So!\" 3. Mai… \n\n z. B. 1.234,50 €. ä. Ö")
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, end := range Ends(text) {
			if end <= last || end > len(text) || end < len(text) && utf8.ValidString(text) && !utf8.RuneStart(text[end]) {
				t.Fatalf("%d after %d of %d", end, last, len(text))
			}
			last = end
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		var joined strings.Builder
		for _, s := range Split(text) {
			joined.WriteString(squeeze(s)) // before joining, for bytes of two sentences may make a space together
		}
		if joined.String() != squeeze(text) {
			t.Fatalf("%q became %q", text, joined.String())
		}
	})
}

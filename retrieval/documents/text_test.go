package documents

import (
	"fmt"
	"strings"
	"testing"
)

// Lines that a program wrapped are joined, at any width of mail programs; lines that someone broke are not, though they are
// long and the next begins in lower case.
func TestWrappedLines(t *testing.T) {
	const mail = "Thank you for the offer that came on Monday. We have talked about it in the board, and most of us think that the " +
		"roof of the boat house should be done first, because rain gets in behind the stove. Could Mr. Baumgärtner come on 4 November, or " +
		"on one of the days after that? The key hangs at Renate Lindqvist's, who lives across the road in number 12."
	for width := 62; width <= 118; width += 4 {
		text := "Dear Ada,\n" + wrapped(mail, width) + "\n\n" + wrapped(mail, width) + "\n\nKind regards\nZoé Picard\nreception\n"
		doc, err := parseText(t.Context(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := show(doc)
		if strings.Count(got, "\np "+mail) != 2 || !strings.HasSuffix(got, "\np Zoé Picard\np reception") {
			t.Errorf("at %d:\n%s", width, got)
		}
	}
	table := strings.Repeat("23 September    Fauré, Requiem 5-7            all voices\n", 8) + "\n"
	if got := show(textDocument(t.Context(), splitLines(table+wrapped(mail, 70)), true)); !strings.HasSuffix(got, "\np "+mail) {
		t.Errorf("below a table:\n%s", got)
	}
	const notes = "Cat Müsli gets 2 x 60 g a day, vet: Dra. Pilar Echeverría, 0171 555 0199\n" +
		"electrician Hr. Baumgärtner, came on 4 Nov 2025, cost 186,40 €\nAunt Renate's birthday: 29 May\n" +
		"bike: blue, frame number WG 39058, insured with the\nHarbour Mutual since 2021\nwifi of the cabin tumbral-5827\n会议在北京饭店\n地点是三楼\n"
	want := "title \n" + "p " + strings.Replace(strings.ReplaceAll(strings.TrimSuffix(notes, "\n"), "\n", "\np "), "the\np Harbour", "the Harbour", 1)
	if got := show(textDocument(t.Context(), splitLines(notes), true)); got != want {
		t.Errorf("notes:\n%s\nwant\n%s", got, want)
	}
}

// Notes of a line each stay apart, also in lower case and below each other without a gap. Text that is wrapped, in lower case or
// in a narrow column, is joined.
func TestNotesOfOneLine(t *testing.T) {
	const notes = "Mr Ek (miller), Weir Road 6\ntel 555 66 118, only evenings\nlives in Orla\n\nrent due on the 1st, account 36 11\ndeposit: 22 200 for all three = 7400 each\n" +
		"notice period 2 months!\nboiler: reset button under the lid, hold 5 sec. The plumber he wants us to call: Orla VVS 55 20 77\nfuse box in the cellar, 2nd\nfloor\n"
	const lower = "hey ada, we have read the offer for the roof, and most of us think that it should be done first. rain gets in behind the stove and the boats " +
		"are wet, so the men could come on tuesday if they have the time. the key hangs in the mill, where ole keeps it."
	for _, c := range []struct{ name, text, want string }{
		{"notes", notes, "p " + strings.ReplaceAll(strings.ReplaceAll(strings.TrimSuffix(notes, "\n"), "\n\n", "\n"), "\n", "\np ")},
		{"a stop", "marking reports - 9 of 26 done.\nphysio at noon, 3 more to go.\n", "p marking reports - 9 of 26 done.\np physio at noon, 3 more to go."},
		{"an article", "salt every second week\nthe aqua stop was fitted in May\nif it beeps, the sieve is blocked\n", "p salt every second week\np the aqua stop was fitted in May\np if it beeps, the sieve is blocked"},
		{"a log", "29/3 leaking again, a drip every 2 sec or so\n30/3 Bo put in a new pipe\n", "p 29/3 leaking again, a drip every 2 sec or so\np 30/3 Bo put in a new pipe"},
		{"a log in German", "3.10. Der Kessel war undicht, so wie schon vor\n5.10.2026 Bo hat ihn repariert\n", "p 3.10. Der Kessel war undicht, so wie schon vor\np 5.10.2026 Bo hat ihn repariert"},
		{"a note that breaks off", "the big pan is in the\ncupboard below the stairs,\nnext to the vacuum clea-\nner (that is\nold)\n", "p the big pan is in the cupboard below the stairs, next to the vacuum cleaner (that is old)"},
		{"a contract", "between Ada Lund (\"the Tenant\")\nand Bo Ek (\"the Landlord\")\n", "p between Ada Lund (\"the Tenant\") and Bo Ek (\"the Landlord\")"},
		{"below a salutation", "Liebe Ada,\n\nvielen Dank für den Brief, wir haben\nuns sehr gefreut.\n", "p Liebe Ada,\np vielen Dank für den Brief, wir haben uns sehr gefreut."},
		{"a narrow column", "The mill stands by the river\nwhich turns its wheel.\n", "p The mill stands by the river which turns its wheel."},
		{"wrapped twice", strings.Repeat("The committee talked about the roof of the boat house, where rain gets\nin behind\nthe stove, and it was agreed that the roof should be done first.\n\n", 2),
			"p " + strings.Repeat("The committee talked about the roof of the boat house, where rain gets in behind the stove, and it was agreed that the roof should be done first.\np ", 2)},
		{"lower case, wrapped", wrapped(lower, 62), "p " + lower},
		{"dates in a wrapped sentence", "The wheel of the mill stood still in the winter of the flood, from 3/1 to\n5/2 in the end, and then it was turned again by hand for most of that\nspring.\n",
			"p The wheel of the mill stood still in the winter of the flood, from 3/1 to 5/2 in the end, and then it was turned again by hand for most of that spring."},
	} {
		if got := strings.TrimPrefix(show(textDocument(t.Context(), splitLines(c.text), false)), "title \n"); got != strings.TrimSuffix(c.want, "\np ") {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// In a text that is not wrapped, lines that begin with a figure or a sign stand alone. A quotation, a bracket or a dash goes on
// with the line above it.
func TestLinesThatBeginWithSigns(t *testing.T) {
	for text, want := range map[string]string{
		"shopping\n2 eggs\n½ lemon\n🍎 apples\n(the red ones)\n":                                                                            "p shopping\np 2 eggs\np ½ lemon\np 🍎 apples (the red ones)",
		"Hi Nev, thanks for the offer. We'll be 33 people for the provincial\ncontest on the 5th. Our draw is at 1\n":                      "p Hi Nev, thanks for the offer. We'll be 33 people for the provincial contest on the 5th. Our draw is at 1",
		"Zoé Picard\n+49 170 5550199\n@zoepicard\nOle Lund\n+49 341 5550\n":                                                                "p Zoé Picard\np +49 170 5550199\np @zoepicard\np Ole Lund\np +49 341 5550",
		"The big pan is in the cupboard below the stairs, next to the vacuum cleaner\n2 lids belong to it\n¿Dónde está la otra?\n— here\n": "p The big pan is in the cupboard below the stairs, next to the vacuum cleaner\np 2 lids belong to it\np ¿Dónde está la otra? — here",
		"The costs of the new roof were put at\n$400, and the old one went for\n«nothing».\n":                                              "p The costs of the new roof were put at $400, and the old one went for «nothing».",
	} {
		if got := show(textDocument(t.Context(), splitLines(text), true)); got != "title \n"+want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// A list item goes on in the next line, indented or not, if its line is full. Short items do not take in what is below them.
func TestWrappedItems(t *testing.T) {
	const lift = "1. Lift. It stopped four times in January. Rossdale quoted £4,350 for a new controller, and Owen found a second quote of £3,900."
	const money = "2. Money. Beatrix presented the accounts for last year. The reserve fund stands at £11,280, and nobody had any questions about it."
	for width := 62; width <= 118; width += 4 {
		got := show(textDocument(t.Context(), splitLines(wrapped(lift, width)+"\n\n"+wrapped(money, width)+"\n\n- milk\n- bread\nand a cake for Ada\n"), true))
		if !strings.HasPrefix(got, "title \nl "+lift+"\nl "+money+"\nl - milk\nl - bread\n") || strings.Contains(got, "bread and") {
			t.Errorf("at %d:\n%s", width, got)
		}
	}
}

// wrapped breaks the lines of a text as mail programs do.
func wrapped(text string, width int) string {
	var out []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && fits(line, word, width) {
			line += " " + word
			continue
		}
		if line != "" {
			out = append(out, line)
		}
		line = word
	}
	return strings.Join(append(out, line), "\n")
}

// Of the headers, footers and numbers of pages, only the first header is read. A sentence goes on over pages.
func TestPagesOfText(t *testing.T) {
	page := func(n int, text string) string {
		return fmt.Sprintf("Rowing club       Minutes       Page %d\n\n%s\n\n              - %d -\n", n, text, n)
	}
	text := page(1, "The committee met on Monday to talk about the roof of the boat house, as\nthe rain gets in behind the stove and the boats are wet. It was agreed\nthat the roof should be done first, and that Mr Lund should ask for the\nprice of the tiles, which") + "\f" +
		page(2, "he knows best. The next point was the summer party, which nobody wants to\nrun this year. Ada said that she would ask the young ones whether they\nwant to do it, and that she would tell the committee in June about what\nthey had said.") + "\f" +
		page(3, "Then the treasurer told them about the fees and the money that is left in\nthe bank. The meeting ended at nine.\n\nOle Lund\nsecretary")
	const want = "title Rowing club Minutes Page 1\np The committee met on Monday to talk about the roof of the boat house, as the rain gets in behind the stove and the boats are wet. It was agreed that the roof should be done first, and that Mr Lund should ask for the price of the tiles, which " +
		"he knows best. The next point was the summer party, which nobody wants to run this year. Ada said that she would ask the young ones whether they want to do it, and that she would tell the committee in June about what they had said.\n" +
		"p Then the treasurer told them about the fees and the money that is left in the bank. The meeting ended at nine.\np Ole Lund\np secretary"
	if doc, err := Parse(t.Context(), "a.txt", []byte(text)); err != nil || show(doc) != want {
		t.Errorf("%s (%v)\nwant\n%s", show(doc), err, want)
	}
}

// Words that are divided at the ends of lines are whole, also in a narrow column. The hyphen of a compound stays.
func TestDividedWords(t *testing.T) {
	for text, want := range map[string]string{
		"The society was founded in 1911, and since then it has published infor-\nmation about the mill on the river, which many well-known people have\nseen. The mill is a place that is visited by all of them, and it is well-\nknown for its wheel. It needs helpers for lunch- and dinnertime, lunch-\nor teatime, and was built at that time in the winter by Jean-\nPierre Roux.\n": "p The society was founded in 1911, and since then it has published information about the mill on the river, which many well-known people have seen. The mill is a place that is visited by all of them, and it is well-known for its wheel. It needs helpers for lunch- and dinnertime, lunch- or teatime, and was built at that time in the winter by Jean-Pierre Roux.",
		"The mill stands on the ri\u00ad\nver and is quite an attrac-\ntion for all - old or young -\nof the vil‐\nlage.\n":                                              "p The mill stands on the river and is quite an attraction for all - old or young - of the village.",
		"- Read the book about the mill, which has been in the library of the vil-\n  lage for long, and tell the others about it when they come to the mee-\n  ting.\n": "l - Read the book about the mill, which has been in the library of the village for long, and tell the others about it when they come to the meeting.",
	} {
		if got := show(textDocument(t.Context(), splitLines(text), true)); got != "title \n"+want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// A line that ends with a word such as "by" goes on in the next, whatever that begins with. A short note may end so.
func TestLinesThatCannotEnd(t *testing.T) {
	const text = "Rooms\n\nThe keys for the cellar are kept by the caretaker in\nRoom 12 of the annexe. The costs are put at\n£400 in total.\n\n" +
		"Der nächste Termin zur Ablesung ist am Freitag, dem\n11. Dezember, um neun.\n\nSwitch the lights on\nClose the windows\n"
	const want = "title Rooms\np The keys for the cellar are kept by the caretaker in Room 12 of the annexe. The costs are put at £400 in total.\n" +
		"p Der nächste Termin zur Ablesung ist am Freitag, dem 11. Dezember, um neun.\np Switch the lights on\np Close the windows"
	if got := show(textDocument(t.Context(), splitLines(text), true)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A heading has below it what it is about: the date of a letter, the line above a list, the last line of an entry and a line of
// several sentences head nothing.
func TestHeadingsOfText(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"letter", "Osk Tiles Ltd\n12 Kiln Road\n\n            Leeds, 7 March 2025\n\nDear Mr Aydın,\nYour order is ready.\n",
			"p Osk Tiles Ltd\np 12 Kiln Road\np Leeds, 7 March 2025\np Dear Mr Aydın,\np Your order is ready."},
		{"diary with text below its days", "Monday 3 Feb\nThe boiler leaks.\n\nFriday 7 Feb\nLunch with Ada.\n\nSunday 9 Feb\nMum is 74.\n", "# Monday 3 Feb\np The boiler leaks.\n# Friday 7 Feb\np Lunch with Ada.\n# Sunday 9 Feb\np Mum is 74."},
		{"diary in German", "Club\n\n3. März 2025, 9:30 Uhr:\nAlles trocken.\n\n5. März 2025:\nEs regnet.\n", "title Club\n# 3. März 2025, 9:30 Uhr\np Alles trocken.\n# 5. März 2025\np Es regnet."},
		{"signatures", "Both agree to the terms above.\n3 May 2025\nPaul Grass, owner\n\nThe same.\n4 May 2025\nIna Holm", ""},
		{"dates within sentences", "Register your stall by\n\n1 July 2025\nat the parish office, or by\n\n8 July 2025\nIn the shop.", ""},
		{"pages", "1/3\nThe boiler.\n\n2/3\nThe anode.\n", ""},
		{"date at the end of a wrapped sentence", "We moved here on\n3 May 2025\nand stayed. We leave on\n4 May 2026\nagain.", ""},
		{"diary", "My year\n\n3 May 2025\n\nIt rained.\n\n4 May 2025\n\nIt was dry.\n", "title My year\n# 3 May 2025\np It rained.\n# 4 May 2025\np It was dry."},
		{"list", "Outing\n\nMeet at the mill.\nTake with you:\n- a torch\n- gloves\nThe boat costs 4 euros.\n\nWays home:\n\nThe last bus leaves at 9 p.m.\n",
			"title Outing\np Meet at the mill.\np Take with you:\nl - a torch\nl - gloves\np The boat costs 4 euros.\n# Ways home\np The last bus leaves at 9 p.m."},
		{"list below an empty line", "Outing\n\nMeet at the mill.\n\nTo get there:\n\n1. Take the bus\n   to Orla.\n\n2. Walk.\n\nThe boat costs 4 euros.\n\nServices:\n\nMail: 25\nWeb: 80\n",
			"title Outing\np Meet at the mill.\np To get there:\nl 1. Take the bus to Orla.\nl 2. Walk.\np The boat costs 4 euros.\n# Services\nl Mail: 25\nl Web: 80"},
		{"lists below headings", "Outing\n\nMeet at the mill.\n\nClothes:\n\n- boots\n\nFood:\n\n- bread\n", "title Outing\np Meet at the mill.\n# Clothes\nl - boots\n# Food\nl - bread"},
		{"leaflet", "Saw S20\n\n1. Before the first use\nRead this leaflet.\n\n2) Safety\nWear gloves.\n- never saw alone\n\n3. Storing the saw\n9 months at most, in a dry place.\n",
			"title Saw S20\n# 1. Before the first use\np Read this leaflet.\n# 2) Safety\np Wear gloves.\nl - never saw alone\n# 3. Storing the saw\np 9 months at most, in a dry place."},
		{"articles", "Rowing club\n\nArticle 1 - Fees\nMembers pay 90 pounds.\n\nArticle 2 - Boats\n- single: after the test\n\nArticle 3\nGuests wear a vest.\n",
			"title Rowing club\n# Article 1 - Fees\np Members pay 90 pounds.\n# Article 2 - Boats\nl - single: after the test\n# Article 3\np Guests wear a vest."},
		{"drawn rules", "Plan\n────────\n\nWe row.\n\nMoney\n━━━━━\nIt costs 8 euros.\n\n═══════\n\nThat is all.\n", "title Plan\np We row.\n# Money\np It costs 8 euros.\np That is all."},
		{"letters within a list", "To do\n\n1. On the ground floor:\n   a) hold the rag\n   b) turn the key\n      - not too far\n   c) wipe it\n2. Go up.\n", "title To do\nl 1. On the ground floor:\nl a) hold the rag\nl b) turn the key\nl - not too far\nl c) wipe it\nl 2. Go up."},
		{"one room and a list of rooms", "Room 12\nBroken window.\n\nThe hall is clean.\n\nBed 1: Ada\nBed 2: Ole\n", ""},
		{"steps", "To do\n\n1. Ring Ole\n\n2. Paint the fence\n\n3. Buy oil\nand a brush\n", "title To do\nl 1. Ring Ole\nl 2. Paint the fence\nl 3. Buy oil\np and a brush"},
		{"entry", "Mon  Train 14   Ulm 7:05 - Wels 11:20\n          Pension Traun, 2 nights\nWed  Train 9    Wels 8:30 - Graz 11:40\nThu  Train 2    Graz 9:15 - Ulm 16:00\n", ""},
		{"sentences", "Fair\n\nMany thanks. Here is the plan:\n\nFri  9:00  Stalls open\nSat  8:00  Market\nSun  7:30  Race\n", ""},
	} {
		doc := textDocument(t.Context(), splitLines(c.text), true)
		if got := strings.TrimSpace(strings.TrimPrefix(show(doc), "title \n")); c.want != "" && got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		} else if c.want == "" && strings.Contains(got, "#") {
			t.Errorf("%s: a heading\n%s", c.name, got)
		}
	}
}

// Each value below a name, and each message of a chat, stands in its own line, though it begins in lower case, is
// indented, or ends like a sentence.
func TestLinesOfValues(t *testing.T) {
	for text, want := range map[string]string{
		"collected: in January and July\nhall rent: 60 an evening (15 evenings)\nconductor's fee: 320 a month. No fee in August.\nunpaid: Rolf (2 terms). Inge has paid!\n": "title \n" +
			"l collected: in January and July\nl hall rent: 60 an evening (15 evenings)\nl conductor's fee: 320 a month. No fee in August.\nl unpaid: Rolf (2 terms). Inge has paid!",
		"Contacts:\nplumber:\n  name: Ada Lund\n  phone: 0555 2231\n  note: not on Fridays\n": "title \n# Contacts\n# plumber\nl name: Ada Lund\nl phone: 0555 2231\nl note: not on Fridays",
		"12/04/2025, 18:02 - Messages and calls are end-to-end encrypted. No one outside of this chat can read or listen to them.\n12/04/2025, 18:07 - Idris: Yes! Where do we meet?\n12/04/2025, 18:09 - Gwen: At the car park by the Lion, at 8.30\n13/04/2025, 21:30 - Idris: a great day\n": "title \n" +
			"p 12/04/2025, 18:02 - Messages and calls are end-to-end encrypted. No one outside of this chat can read or listen to them.\np 12/04/2025, 18:07 - Idris: Yes! Where do we meet?\np 12/04/2025, 18:09 - Gwen: At the car park by the Lion, at 8.30\np 13/04/2025, 21:30 - Idris: a great day",
		"Please bring the\nfollowing things: a tent, a mat and\nwhat you need.\n": "title \np Please bring the following things: a tent, a mat and what you need.",
		"[12.03.24, 18:22:10] Anna: Kommst du?\n\u200e[12.03.24, 18:22:40] Anna: \u200eBild weggelassen\n[12.03.24, 18:23:01] Ben: ja, um 8\n": "title \n" +
			"p [12.03.24, 18:22:10] Anna: Kommst du?\np [12.03.24, 18:22:40] Anna: Bild weggelassen\np [12.03.24, 18:23:01] Ben: ja, um 8",
	} {
		if got := show(textDocument(t.Context(), splitLines(text), true)); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// What is to be done stands in a line of its own, with or without a bullet before the box.
func TestBoxesToTick(t *testing.T) {
	const text = "[ ] call the chimney sweep\n[x] renew Theo's passport\nand the visa\n- [ ] pay the dentist\n☐ book the train\n[sic] is no box\n"
	want := "title A\nl [ ] call the chimney sweep\nl [x] renew Theo's passport\np and the visa\nl - [ ] pay the dentist\nl ☐ book the train\np [sic] is no box"
	if doc, err := Parse(t.Context(), "a.txt", []byte(text)); err != nil || show(doc) != want {
		t.Errorf("%s (%v)\nwant\n%s", show(doc), err, want)
	}
	want = "title A\np [ ] call the chimney sweep\np [x] renew it"
	if doc, err := Parse(t.Context(), "a.md", []byte("[ ] call the chimney sweep\n[x] renew it\n")); err != nil || show(doc) != want {
		t.Errorf("%s (%v)\nwant\n%s", show(doc), err, want)
	}
}

// Numbered headings may have empty lines around them, as in manuals. Items with empty lines between them are none.
func TestNumberedHeadingsApart(t *testing.T) {
	manual := "VELORA 230\n\n1. Safety\n\nUnplug the machine before you open the lid. Keep away from the needle.\n\n2. Parts\n\nThe bobbin cover is transparent.\nIt is on the left.\n"
	if got, want := show(textDocument(t.Context(), splitLines(manual), true)), "# 1. Safety\np Unplug"; !strings.Contains(got, want) || !strings.Contains(got, "\n# 2. Parts\np The bobbin") {
		t.Errorf("%s", got)
	}
	for _, text := range []string{"Shopping\n\n1. Milk\n\n2. Eggs\n\n3. Bread\n", "Route\n\n1. Leave the house\n\n2. Cross the bridge\n\nThen you are there.\n"} {
		if got := show(textDocument(t.Context(), splitLines(text), true)); strings.Contains(got, "# 1.") {
			t.Errorf("%s", got)
		}
	}
}

// Lines that programs wrote stay as they are, in any text: trees and listings of files, and code with numbers of lines.
func TestLinesOfPrograms(t *testing.T) {
	const wrapped = "The wheel of the mill is driven by a small program, which runs on the\nboard in the shed and reads the height of the water every minute.\n"
	const said = "p The wheel of the mill is driven by a small program, which runs on the board in the shed and reads the height of the water every minute.\n"
	for _, c := range []struct{ name, text, want string }{
		{"drawn tree", "mill/\n├── src/\n│   ├── main.go   # starts\n│   └── wheel.go\n└── README.md\n", "p mill/\nc ├── src/\nc │   ├── main.go   # starts\nc │   └── wheel.go\nc └── README.md"},
		{"tree in ASCII", ".\n|-- src\n|   `-- main.go\n|-- docs\n`-- README.md\n", "p .\nc |-- src\nc |   `-- main.go\nc |-- docs\nc `-- README.md"},
		{"tree of Windows", "C:.\n+---src\n|       main.go\n|\n\\---docs\n", "p C:.\nc +---src\nc |       main.go\nc |\nc \\---docs"},
		{"table", "| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n", "h a | b | c\nr 1 | 2 | 3"},
		{"box", "┌───┬───┬───┐\n│ a │ b │ c │\n├───┼───┼───┤\n│ 1 │ 2 │ 3 │\n└───┴───┴───┘\n", "h a | b | c\nr 1 | 2 | 3"},
		{"files", wrapped + "-rw-r--r-- 1 root root 1204 May  3 09:00 notes-of-the-mill-and-of-the-river.txt\ndrwxr-xr-x 2 root root 4096 May  3 09:00 src\n", said + "c -rw-r--r-- 1 root root 1204 May  3 09:00 notes-of-the-mill-and-of-the-river.txt\nc drwxr-xr-x 2 root root 4096 May  3 09:00 src"},
		{"numbered code", wrapped + "\n 9 // run drives the wheel until the context ends, and returns the error.\n10 func run(gate *Gate) error {\n11\n12     return nil\n13 }\n", said + "c  9 // run drives the wheel until the context ends, and returns the error.\nc 10 func run(gate *Gate) error {\nc 11\nc 12     return nil\nc 13 }"},
		{"code behind bars", "1| #include <stdio.h>\n2| int main(void)\n3| {\n4| }\n", "c 1| #include <stdio.h>\nc 2| int main(void)\nc 3| {\nc 4| }"},
		{"numbered names", "1 Ada (from the mill)\n2 Bo\n3 Eva\n", "p 1 Ada (from the mill)\np 2 Bo\np 3 Eva"},
		{"numbered verses", "1 The river came; it turned the wheel.\n2 The miller ground; he sang.\n3 And it was good.\n", "p 1 The river came; it turned the wheel.\np 2 The miller ground; he sang.\np 3 And it was good."},
		{"measures", "1 cup = 240 ml\n2 cups = 480 ml\n3 cups = 720 ml\n", "p 1 cup = 240 ml\np 2 cups = 480 ml\np 3 cups = 720 ml"},
		{"numbered addresses", "1 Ada <ada@x.org>\n2 Bo <bo@x.org>\n3 Eva <eva@x.org>\n", "p 1 Ada <ada@x.org>\np 2 Bo <bo@x.org>\np 3 Eva <eva@x.org>"},
		{"numbered assignments", "1 gate = wheel.north\n2 height = 3\n3 turn(gate)\n", "c 1 gate = wheel.north\nc 2 height = 3\nc 3 turn(gate)"},
		{"negative numbers", "It was cold in the shed\n-5.20\n-6.10 at the gate\n–7 by the river\n", "p It was cold in the shed\np -5.20\np -6.10 at the gate\np –7 by the river"},
	} {
		if got := strings.TrimPrefix(show(textDocument(t.Context(), splitLines(c.text), false)), "title \n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// An entry of a list with hanging indents is a paragraph, whether its last line is full or not. Lines below a short line are none
// of its entry.
func TestHangingEntries(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"references", "Abbott, P. (2019). The wheels of the northern mills. Journal of\n    Water Power 12(3), 44-51. Leeds: The mill press of the north.\nBaker, L. and Cole, M. (2021). Restoring weirs. Penwick: Mill\n    Press.\nde Vries, J. (2018). Grain. Leiden: Molen.\nEk, B. (2017). Dams. Lund: Bo.\n",
			"p Abbott, P. (2019). The wheels of the northern mills. Journal of Water Power 12(3), 44-51. Leeds: The mill press of the north.\np Baker, L. and Cole, M. (2021). Restoring weirs. Penwick: Mill Press.\np de Vries, J. (2018). Grain. Leiden: Molen.\np Ek, B. (2017). Dams. Lund: Bo."},
		{"with empty lines", "Abbott, P. (2019). The wheels of the northern mills. Journal of\n\tWater Power 12(3), 44-51.\n\nBaker, L. and Cole, M. (2021). Restoring weirs. Penwick: Mill\n\tPress.\n",
			"p Abbott, P. (2019). The wheels of the northern mills. Journal of Water Power 12(3), 44-51.\np Baker, L. and Cole, M. (2021). Restoring weirs. Penwick: Mill Press."},
		{"in brackets", "[1] P. Abbott. The wheels of the northern mills. Journal of Water\n    Power 12(3), 2019.\n[2] L. Baker and M. Cole. Restoring weirs of the rivers in the north.\n    Mill Press, 2021.\n[3] B. Ek. Dams. 2017.\n",
			"p [1] P. Abbott. The wheels of the northern mills. Journal of Water Power 12(3), 2019.\np [2] L. Baker and M. Cole. Restoring weirs of the rivers in the north. Mill Press, 2021.\np [3] B. Ek. Dams. 2017."},
		{"in brackets without a hang", "[1] P. Abbott. The wheels of the mills. Power, 2019.\n[2] L. Baker. Weirs. Mill Press, 2021.\n", "p [1] P. Abbott. The wheels of the mills. Power, 2019.\np [2] L. Baker. Weirs. Mill Press, 2021."},
		{"a citation at the start of a line", "The wheels of the northern mills are older than those of the others\n[2] and turn more slowly, as Cole and others have shown in a paper of\n[3] last year.\n",
			"p The wheels of the northern mills are older than those of the others [2] and turn more slowly, as Cole and others have shown in a paper of [3] last year."},
		{"notes", "Kitchen\n    Paint the wall\n    Fix the tap, which has dripped since the beginning of the winter\nBathroom\n    Clean the tiles\n", "p Kitchen\np Paint the wall\np Fix the tap, which has dripped since the beginning of the winter\np Bathroom\np Clean the tiles"},
	} {
		if got := strings.TrimPrefix(show(textDocument(t.Context(), splitLines(c.text), false)), "title \n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

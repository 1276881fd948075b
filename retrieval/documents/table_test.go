package documents

import (
	"strings"
	"testing"

	"tandem/retrieval/documents/office/officetest"
)

// The same table in each format gives the same blocks.
func TestTables(t *testing.T) {
	want := "h Day | Opens | Closes\nr Monday | 9:40 | 17:20\nr Tuesday | | 18:00"
	rows := [][]string{{"Day", "Opens", "Closes"}, {"Monday", "9:40", "17:20"}, {"Tuesday", "", "18:00"}}
	for name, data := range map[string]string{
		"a.csv":   "Day,Opens,Closes\nMonday,9:40,17:20\nTuesday,,18:00\n",
		"b.csv":   "\"Day\";\"Opens\";\"Closes\"\r\n\"Monday\";9:40;17:20\r\n\"Tuesday\";;18:00",
		"c.csv":   "sep=;\nDay;Opens;Closes\nMonday;9:40;17:20\nTuesday;;18:00",
		"d.csv":   "sep=·\r\nDay·Opens·Closes\r\nMonday·9:40·17:20\r\nTuesday··18:00",
		"a.tsv":   "Day\tOpens\tCloses\nMonday\t9:40\t17:20\nTuesday\t\t18:00\n",
		"a.md":    "| Day | Opens | Closes |\n|---|--:|:-:|\n| Monday | 9:40 | 17:20 |\n| Tuesday | | 18:00 |\n",
		"b.md":    "Day | Opens | Closes\n--- | --- | ---\nMonday | 9:40 | 17:20\nTuesday | | 18:00\n",
		"a.html":  "<table><tr><th>Day<th>Opens<th>Closes<tr><td>Monday<td>9:40<td>17:20<tr><td>Tuesday<td><td>18:00</table>",
		"b.html":  "<table><thead><tr><td>Day<td>Opens<td>Closes</thead><tr><td>Monday<td>9:40<td><b>17:20</b><tr><td>Tuesday<td><td>18:00</table>",
		"a.txt":   "Day | Opens | Closes\n--- | --- | ---\nMonday | 9:40 | 17:20\nTuesday | | 18:00\n",
		"b.txt":   "Day;Opens;Closes\nMonday;9:40;17:20\nTuesday;;18:00",
		"a.docx":  string(officetest.DOCX(officetest.DOCXTable(rows, true), nil)),
		"b.docx":  string(officetest.DOCX(officetest.DOCXTable(rows, false), nil)),
		"a.odt":   string(officetest.ODT(officetest.ODTTable(rows), nil)),
		"a.eml":   "From: a@b\nContent-Type: text/html\n\n<table><tr><th>Day<th>Opens<th>Closes<tr><td>Monday<td>9:40<td>17:20<tr><td>Tuesday<td><td>18:00</table>",
		"a.epub":  string(officetest.EPUB("<table><tr><th>Day</th><th>Opens</th><th>Closes</th></tr><tr><td>Monday</td><td>9:40</td><td>17:20</td></tr><tr><td>Tuesday</td><td/><td>18:00</td></tr></table>")),
		"c.html":  "<table><tr><th rowspan=2>Day<th colspan=2>Hours<tr><th>Opens<th>Closes<tr><td>Monday<td>9:40<td>17:20<tr><td>Tuesday<td><td>18:00</table>",
		"any.md":  "text\n\n| Day | Opens | Closes | |\n|---|---|---|---|\n| Monday | 9:40 | 17:20 |\n| | |\n| Tuesday | | 18:00 | |\n",
		"low.txt": "Day      Opens   Closes\nMonday   9:40    17:20\nTuesday   -      18:00\n",
	} {
		want := want
		switch name {
		case "c.html":
			want = strings.Replace(want, "Day | Opens | Closes", "Day | Hours Opens | Hours Closes", 1)
		case "low.txt":
			want = strings.Replace(want, "| |", "| - |", 1)
		}
		doc, err := Parse(t.Context(), name, []byte(data))
		if got := show(doc); err != nil || !strings.HasSuffix(got, "\n"+want) {
			t.Errorf("%s: %s (%v)\nwant\n%s", name, got, err, want)
		}
	}
}

func TestTableShapes(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"a.csv", "2024-01-05,83.12\n2024-01-09,64.00\n", "l 2024-01-05: 83.12\nl 2024-01-09: 64.00"},
		{"a.csv", "Name,Phone\nAda,555\n", "h Name | Phone\nr Ada | 555"},
		{"a.csv", "Item;2023;2024\nBread;2,40;2,60\n", "h Item | 2023 | 2024\nr Bread | 2,40 | 2,60"},
		{"a.csv", "Price list\n\nItem;small;large\nTea;2,50;3,00\nMilk;\"1,00\";1,\"50\"\n", "l Price list\nh Item | small | large\nr Tea | 2,50 | 3,00\nr Milk | 1,00 | 1,\"50\""},
		{"a.csv", "one\ntwo\n", "l one\nl two"},
		{"a.csv", "Sports hall,,,\nAs of,12.3.2026,,\n,,,\nCourt,Tenant,Fee,Key\n1,Ana Brou,640,K3\n2,Luc Piz,655,K1\n,,,\nSum,,1295,\n",
			"l Sports hall\nl As of: 12.3.2026\nh Court | Tenant | Fee | Key\nr 1 | Ana Brou | 640 | K3\nr 2 | Luc Piz | 655 | K1\nl Sum: 1295"},
		{"a.csv", "Court,Tenant,Fee\n1,Ana Brou,640\n,,\n\n,,\n2,Luc Piz,655\n", "h Court | Tenant | Fee\nr 1 | Ana Brou | 640\nr 2 | Luc Piz | 655"},
		{"a.csv", "Name,Phone\nAda,555\n,\nBo,556\n", "h Name | Phone\nr Ada | 555\nr Bo | 556"},
		{"a.csv", "Expenses of the club;;\nAs of:;1 April;\n;;\nDate;For;Sum\n3.1.;Post;12,50\n", "l Expenses of the club\nl As of: 1 April\nh Date | For | Sum\nr 3.1. | Post | 12,50"},
		{"a.html", "<p>45 m<sup>2</sup>, the 3<sup>rd</sup> of 298 €<sup>1</sup></p><table><tr><th>a<th>b<th>c<tr><td>5 m<sup>2</sup><td>2<td>3</table>", "p 45 m², the 3rd of 298 €¹\nh a | b | c\nr 5 m² | 2 | 3"},
		{"a.csv", "a,b\n\"unclosed,1\n" + strings.Repeat("long,2\n", 4000), "h a | b\nr \"unclosed | 1\n" + strings.TrimSuffix(strings.Repeat("r long | 2\n", 4000), "\n")},
		{"a.html", "<table><tr><th>Wifi<td>heron<tr><th>Door<td>12</table>", "l Wifi: heron\nl Door: 12"},
		{"a.html", "<table><tr><th>Mon<td>1<td>2<tr><th>Tue<td>3<td>4</table>", "r Mon | 1 | 2\nr Tue | 3 | 4"},
		{"a.html", "<table><caption>Hours</caption><tr><td rowspan=2>Monday<td>9:00<td>a<tr><td>10:00<td>b</table>", "p Hours\nr Monday | 9:00 | a\nr Monday | 10:00 | b"},
		{"a.html", "<table><tr><th>For<th>Hours<th>Sum<tr><td>Hedge<td>6<td>288.00<tr><td>Way<td>2<td>30.00<tr><td><td>VAT 19 %<td>60.42<tr><td><td>Total<td>378.42</table>",
			"h For | Hours | Sum\nr Hedge | 6 | 288.00\nr Way | 2 | 30.00\nr VAT 19 % | | 60.42\nr Total | | 378.42"},
		{"a.html", "<table><tr><th>Kind<th>Boat<th>Seats<tr><td>Canoes<td>Ida<td>3<tr><td><td>Emma<td>2</table>", "h Kind | Boat | Seats\nr Canoes | Ida | 3\nr | Emma | 2"},
		{"a.html", "<table><tr><td><h2>Left</h2><p>One.<td><p>Two.</table>", "# Left\np One.\np Two."},
		{"a.txt", "Monday       closed\nTuesday      9:40 - 17:20\n\nText  with two  spaces.\n", "l Monday: closed\nl Tuesday: 9:40 - 17:20\np Text with two spaces."},
		{"a.txt", "One sentence ends here.  Two spaces follow.\nAnother one ends here.  And two again.\n", "p One sentence ends here. Two spaces follow.\np Another one ends here. And two again."},
		{"a.txt", "Boat           Seats  Hour   Day\n                      (EUR)  (EUR)\nRowing boat    4      12     55\nCanoe, with    2      9      38\n  paddles\nBoard          1      10     40\n",
			"h Boat | Seats | Hour (EUR) | Day (EUR)\nr Rowing boat | 4 | 12 | 55\nr Canoe, with paddles | 2 | 9 | 38\nr Board | 1 | 10 | 40"},
		{"a.txt", "Monday    9:00   yoga for all\n          10:30  pilates\nTuesday   9:00   gymnastics\n                 for beginners\n", "r Monday | 9:00 | yoga for all\nr | 10:30 | pilates\nr Tuesday | 9:00 | gymnastics for beginners"},
		{"a.txt", "Seehaus\n\n  Deposit:   20 EUR\n             (card or cash)\n  Phone:     08157 555 12\n", "title Seehaus\nl Deposit: 20 EUR (card or cash)\nl Phone: 08157 555 12"},
		{"a.txt", "Date    Details           Paid out   Paid in   Balance\n01 Mar  Brought forward                        1,204.55\n03 Mar  Direct debit         62.40             1,142.15\n        Severn Water Ltd\n        Ref 88120-3\n05 Mar  Salary                       2,310.00  3,452.15\n        Hollins\n",
			"h Date | Details | Paid out | Paid in | Balance\nr 01 Mar | Brought forward | | | 1,204.55\nr 03 Mar | Direct debit Severn Water Ltd Ref 88120-3 | 62.40 | | 1,142.15\nr 05 Mar | Salary | | 2,310.00 | 3,452.15\np Hollins"},
		{"a.txt", "Filesystem      Size  Used Avail Use% Mounted on\nudev            7.8G     0  7.8G   0% /dev\n/dev/nvme0n1p2  468G  391G   53G  89% /\n",
			"h Filesystem | Size | Used | Avail | Use% Mounted on\nr udev | 7.8G | 0 | 7.8G | 0% /dev\nr /dev/nvme0n1p2 | 468G | 391G | 53G | 89% /"},
		{"a.txt", "+-----+--------+\n| Day | Late   |\n+=====+========+\n| Mon | Sefa,  |\n|     | Malte  |\n+-----+--------+\n| Tue | Jonna  |\n+-----+--------+\n", "h Day | Late\nr Mon | Sefa, Malte\nr Tue | Jonna"},
		{"a.md", "+----+-------+\n| id | name  |\n+----+-------+\n| 1  | *Ada* |\n| 2  | Bo    |\n+----+-------+\nText.\n", "h id | name\nr 1 | Ada\nr 2 | Bo\np Text."},
		{"a.txt", "+------+-------+\n| name | phone |\n+------+-------+\n| Ada  | 555   |\n|      | 556   |\n| Bo   | 557   |\n+------+-------+\n3 rows in set\n", "h name | phone\nr Ada | 555\nr | 556\nr Bo | 557\np 3 rows in set"},
		{"a.txt", "┌─────┬───────┐\n│ Day │ Late  │\n├─────┼───────┤\n│ Mon │ Sefa, │\n│     │ Malte │\n├─────┼───────┤\n│ Tue │ Jonna │\n└─────┴───────┘\n", "l Day: Late\nl Mon: Sefa, Malte\nl Tue: Jonna"},
		{"a.txt", "╔═════╦═══════╗\n║ Day ║ Late  ║\n╠═════╬═══════╣\n║ Mon ║ Sefa  ║\n║     ║ Malte ║\n╚═════╩═══════╝\n", "h Day | Late\nr Mon | Sefa\nr | Malte"},
		{"a.txt", "┏━━━━━┳━━━━━━━┓\n┃ Day ┃ Late  ┃\n┡━━━━━╇━━━━━━━┩\n│ Mon │ Sefa  │\n│ Tue │ Jonna │\n└─────┴───────┘\n", "h Day | Late\nr Mon | Sefa\nr Tue | Jonna"},
		{"a.txt", "╭─────┬───────╮\n│ Day ┆ Late  │\n╞═════╪═══════╡\n│ Mon ┆ Sefa  │\n│ Tue ┆ Jonna │\n╰─────┴───────╯\n", "h Day | Late\nr Mon | Sefa\nr Tue | Jonna"},
		{"a.txt", "Club\n\n id │    name     │ joined \n────┼─────────────┼────────\n  1 │ Ada         │   2019\n  2 │ Bo          │   2021\n(2 rows)\n", "title Club\nh id | name | joined\nr 1 | Ada | 2019\nr 2 | Bo | 2021\np (2 rows)"},
		{"a.txt", "Item      │ Jan │ Feb\nRent      │ 640 │ 640\nHeating   │  88 │  71\n──────────┼─────┼────\nTotal     │ 728 │ 711\n", "h Item | Jan | Feb\nr Rent | 640 | 640\nr Heating | 88 | 71\nr Total | 728 | 711"},
		{"a.txt", "+------+------+\n| Item | Cost |\n+------+------+\n| Tile |  310 |\n| Nail |   22 |\n+------+------+\n| Sum  |  332 |\n+------+------+\n", "l Item: Cost\nl Tile: 310\nl Nail: 22\nl Sum: 332"},
		{"a.txt", "Item\tJan\tFeb\nRent\t640\t640\nHeating\t\t71\nWater\t12\t\n", "h Item | Jan | Feb\nr Rent | 640 | 640\nr Heating | | 71\nr Water | 12 |"},
		{"a.txt", "Name\t\tPhone\nBo\t\t556\nAlexander\t557\n", "l Name: Phone\nl Bo: 556\nl Alexander: 557"},
		{"a.md", "Pear\n:   A fruit,\n    from Stade.\n:   A tree.\n\nPlum\n\n:   Another.\n\nText.\n", "l Pear: A fruit, from Stade.; A tree.\nl Plum: Another.\np Text."},
		{"a.md", "Court     Tenant     Fee\n1         Ana        640\n2         Luc        655\n", "h Court | Tenant | Fee\nr 1 | Ana | 640\nr 2 | Luc | 655"},
		{"a.html", "<table><tr><td rowspan=2>Animal<td colspan=2>Stay<tr><td>from<td>to<tr><td>Cat<td>1 June 2026<td>15.6.<tr><td>Dog<td>2.6.<td>9.6.</table>", "h Animal | Stay from | Stay to\nr Cat | 1 June 2026 | 15.6.\nr Dog | 2.6. | 9.6."},
		{"a.md", "| a \\| b | `c` |\n|---|---|\n| 1 | 2 |\n", "h a|b | c\nr 1 | 2"},
	} {
		doc, err := Parse(t.Context(), c.name, []byte(c.data))
		if got := strings.TrimPrefix(show(doc), "title A\n"); err != nil || got != c.want {
			t.Errorf("%s %.60q: %.400s (%v)\nwant\n%.400s", c.name, c.data, got, err, c.want)
		}
	}
}

// A table with many columns is read without any of them being lost.
func TestWideTable(t *testing.T) {
	var names, cells []string
	for i := range 40 {
		names, cells = append(names, "n"+strings.Repeat("a", i+1)), append(cells, strings.Repeat("v", i+1))
	}
	doc, err := Parse(t.Context(), "a.csv", []byte(strings.Join(names, ",")+"\n"+strings.Join(cells, ",")+"\n"))
	text := show(doc)
	for i := range names[1:] {
		if !strings.Contains(text, names[i+1]+": "+cells[i+1]) {
			t.Errorf("%s is lost in %s (%v)", names[i+1], text, err)
		}
	}
	if _, err := Parse(t.Context(), "a.csv", []byte(strings.Repeat(",", 5000))); err != errManyFields {
		t.Errorf("5000 columns: %v", err)
	}
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "sep=;\na;b\n1;2", "\"a\nb\";c\n\"", "a\tb\tc\n1\t2", "x|y|z\n|||\n", "a\n", strings.Repeat("a,", 40) + "\n1,2"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.csv", data) })
}

package documents

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"tandem/retrieval/internal/blocks/blockstest"
)

// The variable names a folder in which the tests of several packages share the compiled code of PDFium.
func init() { SetPDFium(os.Getenv("TANDEM_TEST_PDFIUM"), nil) }

// show writes a document, one block on each line.
func show(d Document) string { return blockstest.Show(d) }

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain-notes_2.txt", "One sentence\nover two lines.\n\nSecond.\n", "title Plain notes 2\np One sentence over two lines.\np Second."},
		{"a.txt", "Uncle Bela\n\nThe number is 555.\n", "title Uncle Bela\np The number is 555."},
		{"a.txt", "Gym\n===\nLocker number: 118\n- one\n  goes on\n- two\n\n1. first\n", "title Gym\nl Locker number: 118\nl - one goes on\nl - two\nl 1. first"},
		{"a.txt", "\xef\xbb\xbfHello\r\nthere.\r\rNext.", "title A\np Hello there.\np Next."},
		{"a.txt", "The notes end.\nOrla rowing club\nIt meets on Mondays.\nMilk\nBread\nThe club is old.\n", "title A\np The notes end.\n# Orla rowing club\np It meets on Mondays.\np Milk\n# Bread\np The club is old."},
		{"a.txt", "Guide\n\nA.\n\nThe inn: overview\n\nIt is open.\n\nFee: 8 euros\nNo dogs.\n", "title Guide\np A.\n# The inn: overview\np It is open.\nl Fee: 8 euros\np No dogs."},
		{"a.txt", "[10:32] Ben: the key of the inn is kept in the top drawer of the desk.\n[10:33] Ada: thanks.\n", "title A\np [10:32] Ben: the key of the inn is kept in the top drawer of the desk.\np [10:33] Ada: thanks."},
		{"a.txt", "PRICES\nBread 2,40\n\n§ 3 Fees\n(1) One.\n(2) Two.\n\n[03.03.24, 18:02] Ada de Wit: hi\n[03.03.24, 18:05] Ben: hm\n", "title A\n# PRICES\np Bread 2,40\n# § 3 Fees\np (1) One.\np (2) Two.\np [03.03.24, 18:02] Ada de Wit: hi\np [03.03.24, 18:05] Ben: hm"},
		{"a.txt", "Monday 3 June\n\nRain.\n\n\nTuesday 4 June\n\nSun.\n", "title A\n# Monday 3 June\np Rain.\n# Tuesday 4 June\np Sun."},
		{"a.txt", "Power ........ 340 W\nNoise ........ 39 dB", "title A\nl Power: 340 W\nl Noise: 39 dB"},
		{"a.txt", "OPTIONS\n\n       -s size\n              Leave out files\n              below size.\n\n       -v     Say more.\n\nFILES\n\n       ~/.pail\n              Where it writes.\n\n   Note\n      No term hangs here.\n",
			"title A\n# OPTIONS\nl -s size: Leave out files below size.\nl -v: Say more.\n# FILES\nl ~/.pail: Where it writes.\np Note\np No term hangs here."},
		{"a.txt", "The pump hums.\n\n \n    It needs oil.\n", "title A\np The pump hums.\np It needs oil."},
		{"README", "Only this.", "title README\np Only this."},

		{"a.md", "# Town\n\nA mill.\nOrla *rowing* club\nIt meets on Mondays.\n", "title Town\np A mill.\n# Orla rowing club\np It meets on Mondays."},
		{"a.md", "# Lake *cabin*\n\nThe **wifi** password is `tumbral_5827`.\n", "title Lake cabin\np The wifi password is tumbral_5827."},
		{"a.md", "---\ntitle: \"From the front\"\ndate: 1\n---\n# First\ntext\n", "title From the front\nl date: 1\n# First\np text"},
		{"a.md", "Setext\n======\n\nSub\n---\ntext\n***\nmore", "title Setext\n# Sub\np text\np more"},
		{"a.md", "---\nby: Ada\n---\n## Plan\nRow.\n\n## Gear\n- oars\n", "title A\nl by: Ada\n# Plan\np Row.\n# Gear\nl - oars"},
		{"a.md", "## Minutes\n\n## Present\nAda.\n\n## Fees\n8 euros.\n", "title Minutes\n# Present\np Ada.\n# Fees\np 8 euros."},
		{"a.md", "## Minutes\nOf Monday.\n\n### Fees\n8 euros.\n", "title Minutes\np Of Monday.\n# Fees\np 8 euros."},
		{"a.md", "# Rowing\nRow.\n\n# Gear\nOars.\n", "title Rowing\np Row.\n# Gear\np Oars."},
		{"a.md", "Intro first.\n# Later\nx\n", "title A\np Intro first.\n# Later\np x"},
		{"a.md", "- [ ] buy [milk](http://x/y_z)\n* *two* items\n  and on\n+ three\n", "title A\nl - [ ] buy milk\nl - two items and on\nl - three"},
		{"a.md", "![the map](m.png) see [ref][1] and <https://x.org/a_b> [[Page|text]] a < b, 3 * 4, snake_case_name\n", "title A\np the map see ref and https://x.org/a_b text a < b, 3 * 4, snake_case_name"},
		{"a.md", "```go\nx := 1\n```\n~~~\ny_2\n~~~\nafter", "title A\nc x := 1\nc y_2\np after"},
		{"a.md", "| Name | Time |\n|---|:--|\n| Museum | 9:30 |\n| a | b | c |\n", "title A\nh Name | Time |\nr Museum | 9:30 |\nr a | b | c"},
		{"a.md", "a <!-- secret\nstill secret --> b &amp; c\\*\n> quoted\n", "title A\np a b & c*\np quoted"},
		{"a.md", "---\ntags:\n  - a\n  - 'b'\nauthor: Ada\n---\ntext", "title A\nl tags: a, b\nl author: Ada\np text"},
		{"a.md", "---\nNo front matter. It has: a colon.\n\n---\ntext", "title A\np No front matter. It has: a colon.\np text"},
		{"a.md", "1. one\n2. two\n- [x] three\n", "title A\nl 1. one\nl 2. two\nl - [x] three"},
		{"a.md", "# A\n## B\n**How much?**\nTwo.\n\n    go run .\n    go test\n\nOne  \ntwo\\\nthree", "title A\n# B\n# How much?\np Two.\nc go run .\nc go test\np One\np two\np three"},
		{"a.md", "Wifi password: **x-1**\nDoor code: 12\n", "title A\nl Wifi password: x-1\nl Door code: 12"},
		{"a.md", "Use:\n\n\tif ok {\n\t\tgo()\n\t}\n\n- item\n\n    goes on\n\n```\n    a\n\n  b  c\t\n```", "title Use\nc if ok {\nc     go()\nc }\nl - item\np goes on\nc   a\nc b  c"},
		{"a.md", "- Photos: ~~Ada Lund~~ *Per Holm*\n- a ~ b", "title A\nl - Photos: ~~Ada Lund~~ Per Holm\nl - a ~ b"},
		{"a.md", "# Server\n\n## Users\n\nTo add a *user*:\n\n1. Log in.\n2. Click it.\n\nThe disk is new.\n\nPacking list:\n- tent\n- torch\n\nThe cabin is old.\n\nServices:\n\nMail: 25\n\nFood:\n- bread\n\n## Next\nYes.",
			"title Server\n# Users\np To add a user:\nl 1. Log in.\nl 2. Click it.\np The disk is new.\np Packing list:\nl - tent\nl - torch\np The cabin is old.\n# Services\nl Mail: 25\n# Food\nl - bread\n# Next\np Yes."},
		{"a.md", "#hash is no heading\n####### nor this\n##\n", "title A\np #hash is no heading ####### nor this"},

		{"a.md", "The [plan] is new.\n\n[plan]: https://x.org/plan\n\n```\nx", "title A\np The plan is new.\nc x"},

		{"a.html", "<title>T &amp; U</title><script>x</script><nav>menu</nav><h1>T & U</h1><p>One <b>two</b>.<p>Three<br>four", "title T & U\np One two.\np Three four"},
		{"a.html", "<h1>Head</h1><ul><li><p>one</p></li><li>two</ul><table><tr><th>Open<td>9:30</table><dl><dt>Fee<dd>8 euros</dl>", "title Head\nl - one\nl - two\nl Open: 9:30\nl Fee: 8 euros"},
		{"a.html", "<p>Photos: <del>Ada <b>Lund</b></del> <s> </s><strike>Bo</strike> Per Holm", "title A\nl Photos: ~~Ada Lund~~ ~~Bo~~ Per Holm"},
		{"a.html", "<body><div>out</div><main><p>in</p><form>f</form><p hidden>h</main>", "title A\np in"},
		{"a.html", "<meta charset=iso-8859-1><p>caf\xe9", "title A\np café"},
		{"a.html", "<meta charset=iso-2022-jp><p>\x1b$B$\"\x1b(B", "title A\np あ"},
		{"a.html", strings.Repeat(" ", 1024) + "<p>The café is in Zürich.", "title A\np The café is in Zürich."},
		{"a.html", strings.Repeat(" ", 1024) + "<p>The caf\xe9 is in Z\xfcrich.", "title A\np The café is in Zürich."},
		{"a.txt", "Grüße aus M\xfcnchen.", "title A\np Grüße aus Mnchen."},
		{"a.txt", "\x93Viel Spa\xdf\x94 in M\xfcnchen.", "title A\np “Viel Spaß” in München."},
		{"a.html", "Wifi: x<br>Code: 1<br>", "title A\nl Wifi: x\nl Code: 1"},
		{"a.html", "<ol start=3><li>c<li>d<ul><li>e</ul></ol><pre>x  y\nz</pre>", "title A\nl 3. c\nl 4. d\nl - e\nc x  y\nc z"},
		{"a.html", "<article><p>one</article><article><p>two</article><footer><p>Phone 555 <a href=/>x</a></footer><footer><a>Home</a></footer>", "title A\np one\np two\np Phone 555 x"},
		{"a.html", "<form><p>All of it<input><select><option>a</select></form>", "title A\np All of it"},
		{"a.html", "<html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title/></head><body><p>in<a id='x'/>side</p>", "title A\np inside"},
		{"a.html", "", "title A"},
	} {
		doc, err := Parse(t.Context(), c.name, []byte(c.text))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s %q:\n%s (%v)\nwant\n%s", c.name, c.text, got, err, c.want)
		}
	}
}

// smallPDF is a PDF with a line of text, without a title.
const smallPDF = "%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n" +
	"2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj\n" +
	"3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R " +
	"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >> endobj\n" +
	"4 0 obj << /Length 36 >>\nstream\nBT /F1 12 Tf 72 700 Td (Text.) Tj ET\nendstream endobj\n" +
	"trailer << /Root 1 0 R >>\n%%EOF\n"

// A PDF without a title gets that of its file.
func TestPDFTitle(t *testing.T) {
	doc, err := Parse(t.Context(), "annual-report.pdf", []byte(smallPDF))
	if got, want := show(doc), "title Annual report\np Text."; got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

// check fails on what no parser may return.
func check(t *testing.T, name string, data []byte) {
	t.Helper()
	doc, err := Parse(t.Context(), name, data)
	if errors.As(err, new(*fault)) {
		t.Fatal(err)
	}
	blockstest.Check(t, doc, err, len(data))
}

// Parse does not wait for a parser once its context has ended.
func TestParseIsInterrupted(t *testing.T) {
	stop, left := make(chan struct{}), make(chan struct{})
	ctx, interrupt := context.WithCancel(t.Context())
	parsers = append(parsers, &parser{[]string{".slow"}, textLimit, func(context.Context, []byte) (Document, error) {
		interrupt()
		<-stop
		close(left)
		return Document{}, nil
	}})
	defer func() { parsers = parsers[:len(parsers)-1] }()
	if _, err := Parse(ctx, "a.slow", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(stop)
	<-left
}

// A parser's panic refuses its file and no more.
func TestParserPanics(t *testing.T) {
	parsers = append(parsers, &parser{[]string{".bad"}, textLimit, func(context.Context, []byte) (Document, error) { panic("no rows") }})
	defer func() { parsers = parsers[:len(parsers)-1] }()
	if _, err := Parse(t.Context(), "a.bad", nil); !errors.As(err, new(*fault)) || !strings.Contains(err.Error(), "the program made a mistake in reading it (no rows)") {
		t.Error(err)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"Title\n\nText. More.", "- a\n  b\n1) c", "\xff\xfea\x00", "caf\xe9", "a: b\n===\n\f", "- a\n  b\n  c\n  d", "A. B. C. D.", "0\x16\r\r0\n00\r\r000\n\n0", "1 A\n\na\n\n\n2 B\n\na", "old mill stone house garden wall gate lamp path"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.txt", data) })
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"# T\n\n*a* [b](c) `d`", "---\ntitle: x\n---\n", "|a|b|\n|-|-|", "```\nx", "<!-- a\n--> <b", "[[a|b]] ![x](y) \\*", "a\n==\n- x\n  - y", "[[[[[x](", "<a<a<a", "[x][[x][y]", "`a``b`c", "**a _b* c_ ==d==* e", "%%a\nb %%c%%\n> [!a] b\n^c-d\n![[e#f|3]]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.md", data) })
}

func FuzzHTML(f *testing.F) {
	for _, s := range []string{"<title>a</title><p>b", "<ul><li><p>x<li>y", "<table><tr><td>a<td>b", "<dl><dt>a<dd>b", "<main><svg><title>x", "<br>a: b<br>", "<p>a<br>b<br>c: d<br>e<br>", "<br><br>a<br> b: c", strings.Repeat(" ", 1024) + "é", "<meta charset=iso-2022-jp>\x1b$B"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.html", data) })
}

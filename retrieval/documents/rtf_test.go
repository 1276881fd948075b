package documents

import (
	"strings"
	"testing"
)

const richText = `{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fnil Times;}}{\*\generator Writer;}{\info{\title Draft}}
\f0\fs24 The piano\par\par Dear Lena,\par the tuner, Andr\'e9 Lef\u232?vre, comes on {\b 16 January} at 3 p.m. \endash  he takes 95\~\'80.{\v secret}{\footnote note}\par
\par Ada \uc2\u-10179??\u-8701??\{x\}\par
{\field{\*\fldinst HYPERLINK "x"}{\fldrslt link}}\par\par
\trowd Day\cell Time\cell Room\cell\row
Mon\cell 9:00\cell 2\cell\row}`

func TestRTF(t *testing.T) {
	want := "title The piano\np Dear Lena,\np the tuner, André Lefèvre, comes on 16 January at 3 p.m. – he takes 95 €.\np Ada 😃{x}\np link\nh Day | Time | Room\nr Mon | 9:00 | 2"
	doc, err := Parse(t.Context(), "a.rtf", []byte(richText))
	if got := show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
	doc, err = Parse(t.Context(), "a.rtf", []byte(`{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8\'e2\'e5\'f2.}`))
	if got, want := show(doc), "title A\np Привет."; got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
	for _, text := range []string{"hello", ""} {
		if _, err := Parse(t.Context(), "a.rtf", []byte(text)); err == nil || !strings.Contains(err.Error(), "not Rich Text") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Hidden text ends within its group; a group that is left out stays so.
func TestRTFHidden(t *testing.T) {
	for _, end := range []string{`\v secret\v0 `, `\deleted secret\deleted0 `, `\v secret\plain `, `{\*\x \plain\v0 secret}`} {
		doc, err := Parse(t.Context(), "a.rtf", []byte(`{\rtf1\ansi Visible one.\par `+end+`The key is in the shed.\par}`))
		if got, want := show(doc), "title A\np Visible one.\np The key is in the shed."; got != want || err != nil {
			t.Errorf("%s: %s (%v)\nwant\n%s", end, got, err, want)
		}
	}
}

// Each row of a table is a line, also where its cells have several paragraphs or a table.
func TestRTFCells(t *testing.T) {
	const row = `\trowd\cellx3000\cellx9000\pard\intbl `
	text := `{\rtf1\ansi ` + row + `Tenant:\cell Ada Lund\cell\row` + row + `Notice\par period\cell 14 Mill Lane\par Penwick\cell\trowd\row` + row + `Fees\cell May\nestcell 4\nestcell{\nonesttables\par}\nestrow\cell\row\pard Signed.\par Twice.\par}`
	doc, err := Parse(t.Context(), "a.rtf", []byte(text))
	if got, want := show(doc), "title A\nl Tenant: Ada Lund\nl Notice period: 14 Mill Lane Penwick\nl Fees: May 4\np Signed.\np Twice."; got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

// What is struck out is marked, raised figures stay apart, heads of pages are left out, and the mark before an item of a list is no cell of a table.
func TestRTFForms(t *testing.T) {
	const fonts = `{\fonttbl{\f0 Times;}{\f3\fcharset2 Symbol;}{\f4\fcharset2 Wingdings;}}`
	for text, want := range map[string]string{
		`{\header Boat Club\par}{\footerf Page 1\par}It holds 45 m{\super 3}.\par`: "p It holds 45 m³.",
		`It shuts at 22:00{\super 1}, H\sub 2\nosupersub O, 7{\super th}.`:         "p It shuts at 22:00¹, H2O, 7th.",
		`The rent is {\strike 900} 950 \u8364?.\par`:                               "p The rent is ~~900~~ 950 €.",
		`It was {\b\striked1 4\u8364?\striked0  5} EUR, \strike 6\plain  then 7.`:  "p It was ~~4€~~ 5 EUR, ~~6~~ then 7.",
		`{\strike It opens at nine.\par It shuts at ten.}\par It is open.\par`:     "p ~~It opens at nine.~~\np ~~It shuts at ten.~~\np It is open.",
		`\strike Gone now.`: "p ~~Gone now.~~",
		`{\listtext\pard\plain\f3 \'b7\tab}two ropes\par {\listtext\f4 \'d8\tab}a lamp\par`: "l • two ropes\nl • a lamp",
		`{\strike Old.\par{\pntext\strike 1.\tab}{\*\pn{\pntxtb\'b7}}walk\par}`:             "p ~~Old.~~\nl 1. ~~walk~~",
		`{\listtext\tab}plain text.\par`:                                                    "p plain text.",
	} {
		doc, err := Parse(t.Context(), "a.rtf", []byte(`{\rtf1\ansi`+fonts+text+`}`))
		if got, want := show(doc), "title A\n"+want; got != want || err != nil {
			t.Errorf("%s: %s (%v)\nwant\n%s", text, got, err, want)
		}
	}
}

// Characters that are bytes are in the encoding of their font, or in that of the document.
func TestRTFEncodings(t *testing.T) {
	const fonts = `{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204{\*\fname Arial;}Arial CYR;}{\f2\fcharset128 Mincho;}{\f3\fcharset238 Arial CE;}{\f4 Times;}}`
	for text, want := range map[string]string{
		`\ansicpg932 \'82\'a0\'83A`:                             "あア",
		`\ansicpg936 \'c4\'e3`:                                  "你",
		`\ansicpg949 \'c7\'d1`:                                  "한",
		`\ansicpg950 \'a7A`:                                     "你",
		`\ansicpg1252` + fonts + `\f1 \'cf\'f0\'e8\'e2\'e5\'f2`: "Привет",
		`\ansicpg1252\deff1` + fonts + `\'cf{\f3\'f8\f2\'82\'a0\plain\'f0}\'e8`:    "Пřあри",
		`\ansicpg1251` + fonts + `\'e9\f4\'e9`:                                     "йй",
		`\ansicpg1252{\fonttbl\f0\fswiss Geneva;\f7\fcharset77 Times;}\'e9\f7\'8e`: "éé",
		`\mac{\fonttbl{\f0\fcharset0 Times;}}\'8e`:                                 "é",
	} {
		doc, err := Parse(t.Context(), "a.rtf", []byte(`{\rtf1\ansi`+text+`.}`))
		if got, want := show(doc), "title A\np "+want+"."; got != want || err != nil {
			t.Errorf("%s: %s (%v)\nwant\n%s", text, got, err, want)
		}
	}
}

func FuzzRTF(f *testing.F) {
	for _, s := range []string{richText, `{\rtf1 \u`, `{\rtf1 \bin99999999 x`, `{\rtf\ansicpg932 \'82\'a0\u-1\'`, strings.Repeat(`{\rtf`, 2000), `{\rtf1\deff-1{\fonttbl\f-1\fcharset136\f99999999999\fcharset1}\'a7\f0 A`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.rtf", data) })
}

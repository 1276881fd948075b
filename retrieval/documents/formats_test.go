package documents

import (
	"strings"
	"testing"
)

const srtText = "\ufeff1\r\n00:00:01,000 --> 00:00:03,500\r\n<i>The old mill stands</i>\r\nby the river.\r\n\r\n2\r\n00:00:03,600 --> 00:00:06,000\r\n{\\an8}It was built in 1784,\r\n\r\n3\r\n00:00:06,100 --> 00:00:08,000\r\nand <font color=\"#ff0\">Ada Lund</font> owns it.\r\n\r\n" +
	"4\r\n00:00:20,000 --> 00:00:22,000\r\n- Who has the key?\r\n- Bo has it.\r\n\r\n5\r\n01:02:05,000 --> 01:02:07,000\r\nThe film ends here.\r\n"

const vttText = `WEBVTT - The mill
Kind: captions

STYLE
::cue { color: red }

NOTE
made by hand

intro
00:01.000 --> 00:04.000 align:start position:0%
<v Ada>The wheel <c.loud>turns</c> &amp; turns

00:04.000 --> 00:06.000
The wheel turns & turns
<v Ada>since <00:05.000>April.

00:06.500 --> 00:08.000
<v.loud Bo Lund>How much was it?
`

func TestSubtitles(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"film.srt": {srtText, "title Film\np The old mill stands by the river. It was built in 1784, and Ada Lund owns it.\np Who has the key?\np Bo has it.\n# At 1:02:05\np The film ends here."},
		"film.vtt": {vttText, "title Film\np Ada: The wheel turns & turns since April.\np Bo Lund: How much was it?"},
	} {
		doc, err := Parse(t.Context(), name, []byte(c.text))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s (%v)\nwant\n%s", got, err, c.want)
		}
	}
	if _, err := Parse(t.Context(), "a.srt", []byte("Hello.\n")); err == nil || !strings.Contains(err.Error(), "no subtitles, despite its name") {
		t.Error(err)
	}
}

const orgText = `# -*- mode: org -*-
#+TITLE: Mill notes
#+AUTHOR: Ada Lund
#+OPTIONS: toc:nil

* TODO [#A] Repair the wheel                                     :mill:work:
  DEADLINE: <2026-05-10 Sun> SCHEDULED: <2026-05-03 Sun 09:00 +1w>
  :PROPERTIES:
  :ID:       4b1d
  :Cost_limit: 900 €
  :END:
  :LOGBOOK:
  CLOCK: [2026-05-03 Sun 09:00]--[2026-05-03 Sun 10:00] =>  1:00
  :END:
  The *wheel* needs /new/ ~oak~ boards[fn:1], see [[https://mill.example/boards][the offer]]
  of <2026-04-02 Thu>. It was +900+ 950 €.
** Boards
   - [ ] order =oak= boards
     from Bo
   - size :: 40 by 200 mm
   1. measure
* Visitors
  #+CAPTION: Visitors by month
  |-------+----------|
  | Month | Visitors | Guide |
  |-------+----------|
  | May   |      812 | Bo    |
  | June  |      640 | Ada   |
  #+TBLFM: $2=vsum
  #+BEGIN_SRC sh
    mill --start
  ,* no heading
  #+END_SRC
  #+BEGIN_COMMENT
  gone
  #+END_COMMENT
  : fixed  width
# a remark

[fn:1] From the saw mill.
`

const orgShown = `title Mill notes
l author: Ada Lund
# TODO Repair the wheel
l Tags: mill, work
l Deadline: 2026-05-10 Sun
l Scheduled: 2026-05-03 Sun 09:00 +1w
l Cost_limit: 900 €
p The wheel needs new oak boards, see the offer of 2026-04-02 Thu. It was ~~900~~ 950 €.
# Boards
l - [ ] order oak boards from Bo
l - size: 40 by 200 mm
l 1. measure
# Visitors
p Visitors by month
h Month | Visitors | Guide
r May | 812 | Bo
r June | 640 | Ada
c   mill --start
c * no heading
c fixed  width
p [fn:1] From the saw mill.`

const rstText = `.. _mill:

========
The mill
========

:Author: Ada Lund
:Version: 3

.. comment that
   nobody reads

The *wheel* is **old**, see ` + "`the offer <https://mill.example>`_ and :ref:`boards <b>` or ``mill --start``" + `.

Boards
------

.. note::
   Order them from Bo,
   who has oak.

* one
  goes on
#. two

Size
   40 by 200 mm,
   or more
Price
   900 €

Start it::

    mill --start

.. code-block:: sh
   :linenos:

   mill --stop

Tables
------

=====  ========  =====
Month  Visitors  Guide
=====  ========  =====
May    812       Bo
June   640       Ada
                 Lund
=====  ========  =====

+-------+----------+-------+
| Day   | Visitors | Guide |
+=======+==========+=======+
| Mon   | 12       | Bo    |
+-------+----------+-------+

.. list-table:: Keys
   :header-rows: 1

   * - Door
     - Who
     - Since
   * - Shed
     - Ada
       Lund
     - May

.. csv-table:: Fees
   :header: "Who", "Fee", "Since"

   "Child, under 6", 0 €, 2020
   Adult, 8 €, 2024

.. image:: mill.png
   :alt: A mill

.. figure:: mill.png
   :width: 200px

   The mill in 1912.

.. container:: box

   The barn is new.

.. tip:: Come
   early.
`

const rstShown = `title The mill
l Author: Ada Lund
l Version: 3
p The wheel is old, see the offer and boards or mill --start.
# Boards
l Note: Order them from Bo, who has oak.
l - one goes on
l - two
l Size: 40 by 200 mm, or more
l Price: 900 €
# Start it
c mill --start
c mill --stop
# Tables
h Month | Visitors | Guide
r May | 812 | Bo
r June | 640 | Ada Lund
h Day | Visitors | Guide
r Mon | 12 | Bo
p Keys
h Door | Who | Since
r Shed | Ada Lund | May
p Fees
h Who | Fee | Since
r Child, under 6 | 0 € | 2020
r Adult | 8 € | 2024
p The mill in 1912.
p The barn is new.
l Tip: Come early.`

func TestMarkup(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{"a.org": {orgText, orgShown}, "a.rst": {rstText, rstShown},
		"b.org": {"* Monday\nRain.\n* Tuesday\nSun.\n", "title B\n# Monday\np Rain.\n# Tuesday\np Sun."},
		"d.org": {"- oak\n  boards\n  - new ones \\\\\n    from Bo\n  for the wheel\n- nails\nThe shed is full.\n", "title D\nl - oak boards\nl - new ones from Bo\np for the wheel\nl - nails\np The shed is full."},
		"c.org": {"# only a remark\n", "title C"},
		"b.rst": {"Monday\n======\nRain.\n\nTuesday\n=======\nSun.\n", "title B\n# Monday\np Rain.\n# Tuesday\np Sun."},
	} {
		doc, err := Parse(t.Context(), name, []byte(c.text))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s (%v)\nwant\n%s", got, err, c.want)
		}
	}
}

const jsonText = `{
  "museum": "Harbour museum", "openingHours": {"mon_fri": "9:30 to 17:00", "days": ["Sat", "Sun"], "closed": null},
  "free": true,
  "GitHub": "harbour", "eBay": "pier", "iPhone_app": "none",
  "about": "It stands by the old pier.\nThe ferry stops there.",
  "guides": [{"name": "Ada", "since": 2019, "tongues": ["en", "de"]}, {"name": "Bo", "since": 2021, "phone": "555 12"}],
  "rooms": [{"name": "Hall", "shows": [{"what": "boats"}, {"what": "ropes"}], "size": {"m2": 45}}, {"shows": [], "note": "empty"}],
  "codes": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
}`

const jsonShown = `title A
l museum: Harbour museum
l free: yes
l GitHub: harbour
l eBay: pier
l iPhone_app: none
p about: It stands by the old pier.
p The ferry stops there.
# opening hours
l mon_fri: 9:30 to 17:00
l days: Sat, Sun
# guides
h name | since | tongues | phone
r Ada | 2019 | en, de |
r Bo | 2021 | | 555 12
# rooms
# Hall
l name: Hall
# shows
l - what: boats
l - what: ropes
# size
l m2: 45
# rooms 2
l note: empty
# codes
l - 1`

const yamlText = `# settings
defaults: &all
  retries: 3
  debug: false
servers:
  - {name: mill, port: 4433}
  - {name: pier, port: 4434}
mill:
  <<: *all
  retries: 5
  text: |
    Two lines
    of text.
`

const yamlShown = `title A
# defaults
p settings
l retries: 3
l debug: no
# servers
h name | port
r mill | 4433
r pier | 4434
# mill
l retries: 5
p text: Two lines
p of text.
l debug: no`

const slackText = `[
  {"type": "message", "user": "U01ABCDEF", "text": "Who has the key, <@U02ABCDEF>? See <https://mill.example|the plan> &amp; <https://b.example>.", "ts": "1709290800.000100", "user_profile": {"real_name": "Ada Lund", "display_name": "ada"}},
  {"type": "message", "user": "U02ABCDEF", "text": "I have it.\nIt is blue.", "ts": "1709290860.000200", "user_profile": {"real_name": "Bo"}},
  {"type": "message", "user": "U01ABCDEF", "text": "Thanks.", "ts": "1709380860.000200"},
  {"type": "message", "subtype": "bot_message", "username": "clock", "text": "", "ts": "1709380861.000200"}]`

const telegramText = `{"name": "Mill", "type": "private_group", "id": 7, "messages": [
  {"id": 1, "type": "service", "date": "2024-03-01T10:00:00", "actor": "Ada", "action": "create_group", "text": ""},
  {"id": 2, "type": "message", "date": "2024-03-01T10:20:30", "date_unixtime": "1709284830", "from": "Ada", "text": ["See ", {"type": "link", "text": "https://mill.example"}, " now."]},
  {"id": 3, "type": "message", "date": "2024-03-02T08:00:00", "from": "Bo", "text": "Good."}]}`

const telegramShown = "# Friday, 1 March 2024\nl Ada: See https://mill.example now.\n# Saturday, 2 March 2024\nl Bo: Good."

func TestValues(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a.json":      {jsonText, jsonShown + "\nl - 2\nl - 3\nl - 4\nl - 5\nl - 6\nl - 7\nl - 8\nl - 9\nl - 10\nl - 11\nl - 12\nl - 13"},
		"a.jsonl":     {"{\"day\":\"Mon\",\"rain\":2}\n{\"day\":\"Tue\",\"rain\":0}\n", "title A\nh day | rain\nr Mon | 2\nr Tue | 0"},
		"chat.json":   {slackText, "title Chat\n# Friday, 1 March 2024\nl Ada Lund: Who has the key, @Bo? See the plan & https://b.example.\np Bo: I have it.\np It is blue.\n# Saturday, 2 March 2024\nl Ada Lund: Thanks."},
		"result.json": {telegramText, "title Mill\n" + telegramShown},
		"all.json":    {`{"about": "x", "chats": {"list": [{"name": "Empty", "messages": []}, ` + telegramText + `]}}`, "title All\n# Mill\n" + telegramShown},
		"none.json":   {`{"name": "Mill", "messages": [{"date": "2024-03-01", "from": "Ada", "text": "a"}]}`, "title None\nl name: Mill\n# messages\nl - date: 2024-03-01, from: Ada, text: a"},
		"a.yaml":      {yamlText, yamlShown},
		"c.yaml":      {"a: !!bool ''\nb: !!bool y\nc: True\n? {d: e}\n: f\n", "title C\nl b: y\nl c: yes\nl f"},
		"b.yaml":      {"a: 1\n---\nb: 2\n", "title B\nl - a: 1\nl - b: 2"},
	} {
		doc, err := Parse(t.Context(), name, []byte(c.text))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s (%v)\nwant\n%s", got, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"{\n\"a\": 1,\n\"b\" 2}": "damaged JSON (line 3: ", "[1,\n": "it ends within a value", "": "no text in it", "[1] ]": "damaged JSON", strings.Repeat("[", valueDepth+2): "within each other",
		"[" + strings.Repeat("{},", valueCount) + "1]": "values: divide it",
	} {
		if _, err := Parse(t.Context(), "a.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{"a: b: c\n": "damaged YAML (", "- [a\n": "damaged YAML (line", strings.Repeat("[", valueDepth+2) + strings.Repeat("]", valueDepth+2): "within each other", "": "no text"} {
		if _, err := Parse(t.Context(), "a.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func FuzzSubtitles(f *testing.F) {
	for _, s := range []string{srtText, vttText, "00:00:01,000 --> 00:00:02,000\n- a\n- b\n00:00:01.000 --> 999:59:59.0 x\n>> c"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.srt", data) })
}

func FuzzOrg(f *testing.F) {
	for _, s := range []string{orgText, "* a\n: b\n#+begin_src\n*/=a=/* [[b][c]]", ":a:\n- b :: c\n|-\n|a|", "#+title: a\n#+begin_quote\n+a+\n#+end_quote"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.org", data) })
}

func FuzzRST(f *testing.F) {
	for _, s := range []string{rstText, manualRST, "a\n=\nb\n-\n\n::\n\n  c", "= =\na b\n= =\n", ".. note::\n\n\ta\n.. x:: y\n:a: b\n| c", ":a:`b <c>`_ ``d`"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.rst", data) })
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{jsonText, slackText, telegramText, `[[[{"a":[{"b":1,"c":{}},{"b":2}]}]]]`, `{"a":{"b":{"c":{"d":{"e":{"f":{"g":{"h":[1]}}}}}}}}`, "1 2\n[3"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.json", data) })
}

func FuzzYAML(f *testing.F) {
	for _, s := range []string{yamlText, commentedYAML, "&a [*a]", "a: &x {b: c}\nd: [*x, *x, *x]\n<<: [*x]", "? a\n: b\n--- !!binary |\n  aaaa\n...\n- !!bool y", "a: >-\n  b\n\n  c\n# d"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.yaml", data) })
}

package documents

import (
	"slices"
	"strings"
	"testing"
)

// checkMarkdown checks what a file of Markdown, a.md, is read as.
func checkMarkdown(t *testing.T, text, want string) {
	t.Helper()
	doc, err := Parse(t.Context(), "a.md", []byte(text))
	if got := show(doc); got != want || err != nil {
		t.Errorf("%q:\n%s (%v)\nwant\n%s", text, got, err, want)
	}
}

// Unclosed opening marks do not each cause a search of the whole text.
func TestMarksAreSearchedForOnce(t *testing.T) {
	for _, s := range []string{"[", "[x", "[[", "![", "[x](", "[x][", "<", "<a", "`a ``", "[x]] [[", "[](", "a] [", "<a <!--"} {
		for _, end := range []string{"", "]", ")", ">", "`", "][x", "](x"} {
			text := strings.Repeat(s, 10000/len(s)) + end
			if _, searched := unmark(text); searched > 8*len(text) {
				t.Errorf("%q repeated, then %q: %d bytes searched in a text of %d", s, end, searched, len(text))
			}
		}
	}
}

// Runs of backticks of different lengths, none of which closes, do not each cause a search of the whole text.
func TestTicksAreSearchedForOnce(t *testing.T) {
	var b strings.Builder
	for n := 300; n > 0; n-- {
		b.WriteString(strings.Repeat("`", n) + "a")
	}
	text := b.String()
	if _, searched := unmark(text); searched > 8*len(text) {
		t.Errorf("%d bytes searched in a text of %d", searched, len(text))
	}
	for text, want := range map[string]string{"``a`b`": "ab", "`a``b``": "ab", "``a``` b": "a b", "```a `b` c": "a b c", "`": "", "a`": "a", "`*a*` *b*": "*a* b"} {
		if got := plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// An asterisk without another one is no emphasis.
func TestLoneAsterisk(t *testing.T) {
	for text, want := range map[string]string{"The PIN is *4711#.": "The PIN is *4711#.", "an *old* key": "an old key", "3 * 4 and *5*": "3 * 4 and 5",
		"Lehrer*innen, Schüler*innen": "Lehrer*innen, Schüler*innen", "2*3 and a*b": "2*3 and a*b", "f(*args, **kwargs)": "f(*args, **kwargs)", "*.txt or *.md": "*.txt or *.md",
		"_private and own_": "private and own", "_x, y": "_x, y", "a_ b": "a_ b", "see __init__ and snake_case": "see init and snake_case", "***both*** **a *b* c**": "both a b c", "**a* b": "*a b",
		"[*old* a*b](x) `*c*`": "old a*b *c*", "这是*强调*的": "这是强调的", "5 * *a": "5 * *a", "(*a*)": "(a)"} {
		if got := plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A link's text may have brackets, and code with one.
func TestBracketsInLinks(t *testing.T) {
	for text, want := range map[string]string{
		"[PATCH /config/[path]](#patch) and [@bot[bot]](x)": "PATCH /config/[path] and @bot[bot]",
		"[`a[0]`](x) [b] [c](d)":                            "a[0] [b] c",
		"[a [b](c)":                                         "[a b",
		"[a `]` b][c]":                                      "a ] b",
		`[a \] b](c)`:                                       "a ] b",
		"[![a [b]](c.png)](d) e":                            " e",
		strings.Repeat("[", 6) + "a" + strings.Repeat("](x)", 6): "[[[a](x)](x)](x)",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// READMEs have badges in their headings, marks for links, lines that say where links lead to, and sentences that a
// program wrapped.
func TestMarkdownOfReadmes(t *testing.T) {
	const text = `Ferry Tool [![Build Status](https://ci.example/b.svg)](https://ci.example/b) [![Docs][img]][docs] ![a map](map.png)
====
It plans crossings for small harbours. See the [Guide] and [issue tracker][tracker], or ask [the crew](mailto:a@b.example).

## Timetables {#times .wide}
Does it know the tides? Yes, for all harbours on the list (a
harbour outside is on the wish list: [#18]).
The tables come from the harbour office, which sends them each spring, and the
default is: the last one that was sent.

[guide]: https://ferry.example/guide "The guide"
[#18]: https://ferry.example/issues/18
[img]: https://ci.example/d.svg
[18:30]: Ada came late.
[^1]: A note at the end.

` + "```\n[guide]: https://kept.example/as-code\n```\n"
	doc, err := parseMarkdown(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range doc.Blocks {
		got = append(got, b.Text)
	}
	want := []string{
		"It plans crossings for small harbours. See the Guide and issue tracker, or ask the crew.",
		"Timetables",
		"Does it know the tides? Yes, for all harbours on the list (a harbour outside is on the wish list: #18).",
		"The tables come from the harbour office, which sends them each spring, and the default is: the last one that was sent.",
		"[18:30]: Ada came late.",
		"[^1]: A note at the end.",
		"[guide]: https://kept.example/as-code",
	}
	if doc.Title != "Ferry Tool a map" || !slices.Equal(got, want) {
		t.Errorf("%q:\n%s", doc.Title, strings.Join(got, "\n"))
	}
}

// A line that begins with what it is about in bold letters is a block, though no blank line stands before it; other
// bold words are not.
func TestMarkdownBoldLabels(t *testing.T) {
	const text = "# Heater\n\n**Error E4** – Fan stuck. Unplug it.\n**Error E5** – Door open.\n**Error E6** – No gas. Call the\nshop. Bring\n**this** paper, and **not** - never - another."
	doc, err := parseMarkdown(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range doc.Blocks {
		got = append(got, b.Text)
	}
	want := []string{"Error E4 – Fan stuck. Unplug it.", "Error E5 – Door open.", "Error E6 – No gas. Call the shop. Bring this paper, and not - never - another."}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Lines are code if nothing but code stands between them and a blank line. Each line is looked at once, however many
// are indented.
func TestCodeLines(t *testing.T) {
	for text, want := range map[string]string{
		"    a\n    b\nc\n    d\n    e":                                  "cc...",
		"a\n\n    b\n    c\n\n    d":                                     "..cc.c",
		"a\n    k: v\n    k: v\n\n\tb\n    - c":                          "....c.",
		"- a\n\n    b\n\n      c\n\n\td\n\t  e":                          "....c...",
		"1. a\n   - b\n\n       c\n\n           d\n\ne\n\n    f":         ".....c...c",
		"- a\n\n    ```\n    - b\n\n          c\n    ```\n\n          d": "........c",
		"": ".",
	} {
		got := ""
		for _, code := range codeLines(strings.Split(text, "\n")) {
			got += map[bool]string{true: "c", false: "."}[code]
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// What stands before the text is read as the YAML or the TOML that it is.
func TestFrontMatter(t *testing.T) {
	for text, want := range map[string]string{
		"---\nwith: [[Bo Lund]]\nsee:\n  - [[Mill|the mill]]\n  - weir\nby: \"[[Ann Ek]], [[Bo]]\"\nat: [[1, 2], [3, 4]]\nnote: \"a [[b\"\n---\nIt rains.\n":                                                                                     "title A\nl with: Bo Lund\nl see: the mill, weir\nl by: Ann Ek, Bo\nl at:\nl - 1, 2\nl - 3, 4\nl note: a [[b\np It rains.",
		"---\ntitle: Pump\ndescription: >\n  How the pump\n  is run.\nowner:\n  name: Bo Lund\n  phone: 555 12\ntags: [water, pump]\ndraft: false # not yet\nsteps:\n  first:\n    who: Bo\n  second:\n    who: Ann\n---\n\nThe pump is blue.\n": "title Pump\nl description: How the pump is run.\nl owner: name Bo Lund, phone 555 12\nl tags: water, pump\nl draft: no (not yet)\nl steps:\nl steps, first:\nl who: Bo\nl steps, second:\nl who: Ann\np The pump is blue.",
		"+++\ntitle = \"Pump\"\ntags = [\"water\", \"pump\"]\n[menu]\nweight = 3\n+++\nThe pump is blue.\n":                                                                                                                                      "title Pump\nl tags: water, pump\nl menu: weight 3\np The pump is blue.",
		"---\ntitle: Pump: the manual\nauthor: Ada\n---\nThe pump is blue.\n":                                                                                                                                                                    "title Pump: the manual\nl author: Ada\np The pump is blue.",
	} {
		checkMarkdown(t, text, want)
	}
}

// Obsidian marks what is highlighted, comments, notes, names of paragraphs, and files that are shown within others.
func TestObsidian(t *testing.T) {
	for text, want := range map[string]string{
		"The ==key== is old, a == b, x==1 and y==2.\n":                               "p The key is old, a == b, x==1 and y==2.",
		"One %%gone%% two, 50%% of %%d and %%s.\n":                                   "p One two, 50%% of %%d and %%s.",
		"One.\n\n%%\ngone\n\n# gone\n%%\nTwo.\n\n%% three\n":                         "p One.\np Two.\np %% three",
		"![[plan.png|300]] ![[Barn#Door]] [[Mill#^a1b2c3]] [[#Wheel]] [[Page|it]]\n": "p plan.png Barn, Door Mill Wheel it",
		"> [!warning]- Wet floor\n> It is slippery.\n\nDry.\n":                       "p Wet floor: It is slippery.\np Dry.",
		"> [!tip]\n> - one\n\nNext.\n":                                               "p Tip\nl - one\np Next.",
		"> [!my-note|wide] Only a title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n":        "p Only a title\nh a | b\nr 1 | 2",
		"> [!NOTE] Code\n> ```\n> x\n> ```\n":                                        "p Code\nc x",
		"The key is blue. ^37066d\n\n- one ^first-item\n- 2 ^ 3\n\n^tbl-1\n":         "p The key is blue.\nl - one\nl - 2 ^ 3",
	} {
		checkMarkdown(t, text, "title A\n"+want)
	}
}

func TestMarkdownSigns(t *testing.T) {
	text := "| Option | Meaning |\n|---|---|\n| `a\\|b` | either |\n| c \\| d | bar |\n\n> [!NOTE]\n> The key is\n> under the mat.\n"
	want := "title A\nh Option | Meaning\nr a|b | either\nr c|d | bar\np Note: The key is under the mat."
	checkMarkdown(t, text, want)
}

// What is indented below an item of a list as its text is, is text: marks are taken out, lines joined, and code within fences is code.
func TestMarkdownBelowItems(t *testing.T) {
	text := "- **Life** of a key:\n\n    It *must* be below\n    [three](x) days.\n\n    ```sh\n    key --days 2\n    ```\n\n\tThen `key` ends.\n\n1. One.\n\n        key\n"
	want := "title A\nl - Life of a key:\np It must be below three days.\nc key --days 2\np Then key ends.\nl 1. One.\nc key"
	checkMarkdown(t, text, want)
}

// What programs that make web sites read in Markdown is not shown, except what those programs show of it.
func TestSiteTags(t *testing.T) {
	for text, want := range map[string]string{
		"A {{< glossary_tooltip term_id=\"n\" text=\"node\" >}} runs.\n\n{{% include \"x.md\" %}}\n\n{{< img\n  src=\"a: b\"\n  alt=\"x\"\n>}}\n\nEnd {%- if a -%}of{% endif %} it.\n": "p A node runs.\np End of it.",
		"`sites`\n: {{< new-in 0.153.0 />}}\n: (`map`) A map.\n":                                                                                         "l sites: (new in 0.153.0); (map) A map.",
		"Use `{{< x >}}` or {{</* y */>}} or `{% raw %}{{ z }}{% endraw %}` or {% raw %}{% if %}{% endraw %}.\n":                                         "p Use {{< x >}} or {{< y >}} or {{ z }} or {% if %}.",
		"One.\n\n{{< code-toggle file=hugo >}}\ntitle = 'A'\n[params]\n{{< /code-toggle >}}\n\n{% highlight ruby %}\nputs 1\n{% endhighlight %}\nTwo.\n": "p One.\nc title = 'A'\nc [params]\nc puts 1\np Two.",
		"{{< code-tabs >}}\n```sh\ngo {{< a >}}\n```\n{{< /code-tabs >}}\n\n{% raw %}\n```\n{{ b }}\n```\n{% endraw %}\n":                                "c go {{< a >}}\nc {{ b }}",
		"One.\n\n## Two { #two }\n\nText.\n{: .note .info }\n\n## Three\n{: #three }\n\nMore.\n":                                                         "p One.\n# Two\np Text.\n# Three\np More.",
		"{{< code-toggle a=b />}}\n\nOne.\n\n{{< code-x >}}\n\nTwo.\n\n{{< code-x >}}\nx\n{{< /code-x >}}\n":                                             "p One.\np Two.\nc x",
		"A {{< x and {% y.\n": "p A {{< x and {% y.",
		"One.\n  \nTwo {{< a >}}.\n\n{% raw %}{{ b }}\n{% endraw %}\n\nThree {{< a >}}.\n": "p One.\np Two .\np {{ b }}\np Three .",
		"A {{< x `a` {{< y `b` z.\n": "p A {{< x a {{< y b z.",
		"{{< a\n\nText.\n\n{{< b >}}\n\n{% highlight a %}\n{% highlight b %}\nx\n{% endhighlight %}\n{% endcode %}\n": "p {{< a\np Text.\nc x",
	} {
		checkMarkdown(t, text, "title A\n"+want)
	}
}

// Notes that programs show in boxes are text, whatever marks them.
func TestSiteNotes(t *testing.T) {
	for text, want := range map[string]string{
		"One.\n\n!!! warning \"Wet floor\"\n\n    It is\n    slippery.\n\n    ```sh\n    mop\n    ```\n\nTwo.\n": "p One.\np Wet floor: It is slippery.\nc mop\np Two.",
		"??? note\n    - one\n    - two\n\n!!! tip\n    !!! danger\n        Deep.\n":                             "p Note\nl - one\nl - two\np Tip\np Danger: Deep.",
		"=== \"Linux\"\n\n    Run it.\n\n=== \"macOS\"\n\n        mill\n":                                        "p Linux:\np Run it.\np macOS:\nc mill",
		":::tip[Oil]\n\nUse *little*.\n\n:::\n\n::: info\nIt is old.\n:::\n\n:::: tabs\nText.\n::::\n":           "p Oil: Use little.\np Info: It is old.\np Text.",
		"/// note | Wet\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n///\n\n::: mill.wheel.Oil\n\nEnd.\n":               "p Wet\nh a | b\nr 1 | 2\np End.",
		"!!! Buy milk\n\n??? who has it\n\n/// call Ada\n\n!!! note\nText.\n":                                    "p !!! Buy milk\np ??? who has it\np /// call Ada\np !!! note\np Text.",
		"```\n!!! note\n:::\n```\n\nWhat!!! ::: a\n\n!!!\n":                                                      "c !!! note\nc :::\np What!!! ::: a\np !!!",
	} {
		checkMarkdown(t, text, "title A\n"+want)
	}
}

// Scripts, style sheets and comments are hidden, but not where they are shown as code.
func TestMarkdownHidden(t *testing.T) {
	for text, want := range map[string]string{
		"<script>\nlet a = 1;\n\n# b\n</script>\n\n# Mill\n\nText.\n<style>p { color: red }</style>\nEnd.\n": "title Mill\np Text.\np End.",
		"Put `<!--more-->` or `<!-- x` below. <!-- gone -->\n":                                               "title A\np Put <!--more--> or <!-- x below.",
		"Write a `<script>` tag.\n\n<script src=\"x\">\n\nText.\n":                                           "title A\np Write a <script> tag.\np Text.",
	} {
		checkMarkdown(t, text, want)
	}
}

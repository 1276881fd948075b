package documents

import (
	"strings"
	"testing"
)

const tomlText = `# How the mill is run.

title = "Mill" # of the house
flow_rate = 4.5
tags = ["water", 'wheel',
  # new
  "oak", ]
note = """
Two lines \
  in one.
And "more"."""
"odd key".sub = true

# where it listens
[server]
port = 4433
# debug = true
addr = { host = "mill.example", at = 2026-05-03 09:00:00 }

[[guides]]
name = "Ada"
since = 2019
[[guides]]
name = "Bo"
since = 2021
path = 'C:\new'
`

const tomlShown = `title A
p How the mill is run.
l title: Mill (of the house)
l flow_rate: 4.5
l tags: water, wheel, oak (new)
p note: Two lines in one.
p And "more".
# odd key
l sub: yes
# server
p where it listens
l port: 4433
# addr
l host: mill.example
l at: 2026-05-03 09:00:00
# guides
h name | since | path
r Ada | 2019 |
r Bo | 2021 | C:\new`

const iniText = `; Settings of the mill.

[server]
# where it listens
port = 4433
;debug = true
path: C:\mill
[remote "origin"]
	url = https://mill.example/a=b
	fetch = one
	  two
`

const xmlSample = `<?xml version="1.0" encoding="iso-8859-1"?>
<!-- a remark -->
<mill xmlns="urn:mill" version="2">
  <name>Old mill</name>
  <openingHours><day>Mon</day><day>Tue</day></openingHours>
  <fee currency="EUR">8</fee>
  <about>It is <em>old</em>, &amp; stands by the river M` + "\xfc" + `hl.&nbsp;<![CDATA[<b>]]></about>
  <guides><guide><name>Ada</name><since>2019</since></guide><guide><name>Bo</name><since>2021</since></guide></guides>
  <empty/>
</mill>`

func TestSettings(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.toml", tomlText, tomlShown},
		{"a.toml", strings.ReplaceAll(tomlText, "\n", "\r\n"), tomlShown},
		{"a.toml", "a = [\n  \"x\", # one\n  \"y\",\n  # three\n  \"z\" # and last\n]\n", "title A\nl a: x (one), y, z (three; and last)"},
		{"a.ini", iniText, "title A\np Settings of the mill.\n# server\nl port: 4433 (where it listens)\nl path: C:\\mill\n# remote origin\nl url: https://mill.example/a=b\np fetch: one\np two"},
		{"prod.env", "# keys\nexport API_KEY=\"a b\"\nEMPTY=\nTOKEN=x=#1\n", "title Prod\nl API_KEY: a b (keys)\nl TOKEN: x=#1"},
		{"a.properties", "mill.name = M\\u00fchle\\\n   am Fluss\n! remark\nport:80\n", "title A\nl mill.name: Mühle am Fluss\nl port: 80 (remark)"},
		{"a.cfg", "[metadata]\nname = mill\nclassifiers =\n    old\n    oak\n[flags]\nquiet\n", "title A\n# metadata\nl name: mill\np classifiers: old\np oak\n# flags\nl quiet"},
		{"a.ini", "[paths]\ndata=C:\\mill\\\ntemp=C:\\temp\\\n[log]\nto=:80\n", "title A\n# paths\nl data: C:\\mill\nl temp: C:\\temp\n# log\nl to: :80"},
		{"a.cfg", "[metadata]\nclassifiers =\n    Topic :: Mills\n    wheel==1.2\n", "title A\n# metadata\np classifiers: Topic :: Mills\np wheel==1.2"},
		{"nginx.conf", "server {\n    listen 80;\n    root /srv;\n}\n", "title Nginx\nc server {\nc     listen 80;\nc     root /srv;\nc }"},
		{"a.xml", xmlSample, "title A\nl version: 2\nl name: Old mill\nl opening hours: Mon, Tue\nl fee: 8 (currency: EUR)\nl about: It is old, & stands by the river Mühl. <b>\n# guides\nh name | since\nr Ada | 2019\nr Bo | 2021"},
		{"a.xml", "<r><h>One</h><p>a</p><p>b</p><h>Two</h><p>c <s><q>d</q></s></p></r>", "title A\nl h: One\nl p: a, b\nl h: Two\np p: c\np d"},
		{"a.xml", "<rss><item><title>Flood</title><content><![CDATA[<p>The <b>wheel</b> cost 4&nbsp;&euro;.</p><p>It turns.</p>]]></content></item></rss>", "title A\n# item\nl title: Flood\np content: The wheel cost 4 €.\np It turns."},
		{"a.xml", "<?xml version='1.0'?>\n<!DOCTYPE mill [\n<!ELEMENT mill ANY>\n<!ENTITY owner \"Ada <b>Lund</b>\">\n<!ENTITY fee '4&#8364;'>\n<!ENTITY rest SYSTEM \"file:///etc/passwd\">\n]>\n<mill><name>Mill of &owner;</name><fee>&fee;&rest;</fee></mill>", "title A\nl name: Mill of Ada Lund\nl fee: 4€"},
		{"a.xml", "<?xml-stylesheet href='a.xsl'?>\n<!DOCTYPE mill [<!ENTITY lt \"&#38;#60;\"><!ENTITY owner 'Ada'>]>\n<mill><fee>4 &lt; 5</fee><name>&owner;</name></mill>", "title A\nl fee: 4 < 5\nl name: Ada"},
		{"run.sh", "#!/bin/sh\nif x; then\n\n\tstart --now # go\nfi\n", "title Run\nc #!/bin/sh\nc if x; then\nc     start --now # go\nc fi"},
		{"home/.gitconfig", "[core]\n\teditor = vim\n\tbare\n[user]\n\tname = Ada\n", "title Gitconfig\n# core\nl editor: vim\nl bare\n# user\nl name: Ada"},
		{"mill.service", "[Unit]\nAfter=network.target\n[Service]\n# restarts\nExecStart=/bin/wheel \\\n    --gate north\nEnvironment=\"A=b\" \"C=d\"\n", "title Mill\n# Unit\nl After: network.target\n# Service\nl ExecStart: /bin/wheel --gate north (restarts)\nl Environment: \"A=b\" \"C=d\""},
		{"a/.env.local", "TOKEN=x\n", "title Env local\nl TOKEN: x"},
		{"site.css", "/* the page */\nbody {\n  color: red;\n}\n", "title Site\nc /* the page */\nc body {\nc   color: red;\nc }"},
		{"a/Dockerfile", "# The wheel.\nFROM scratch\nRUN mill \\\n    --start\n", "title Dockerfile\nc # The wheel.\nc FROM scratch\nc RUN mill \\\nc     --start"},
		{"Dockerfile.dev", "FROM scratch\n", "title Dockerfile dev\nc FROM scratch"},
		{"Makefile", "all: build\n\tgo test\n", "title Makefile\nc all: build\nc     go test"},
		{"docs/CMakeLists.txt", "project(mill)\n", "title CMakeLists\nc project(mill)"},
		{".gitignore", "# built\nbin/\n*.test\n", "title Gitignore\nc # built\nc bin/\nc *.test"},
	} {
		doc, err := Parse(t.Context(), c.name, []byte(c.text))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s %q:\n%s (%v)\nwant\n%s", c.name, c.text, got, err, c.want)
		}
	}
	deep := strings.Repeat("<a>", valueDepth+2) + strings.Repeat("</a>", valueDepth+2)
	for _, c := range []struct{ name, text, want string }{
		{"a.toml", "a = 1\nb = \n", "damaged TOML (line 2: a value was expected)"}, {"a.toml", "a = 1\na = 2\n", "a name has two values"}, {"a.toml", "a = 1\n[a.b]\n", "a name has two values"},
		{"a.toml", "a = [1\n", "has no end"}, {"a.toml", "a = \"x\n", "has no end"}, {"a.toml", "a = 1 2\nb", "has no value"}, {"a.toml", `a = "1" 2`, "more behind a value"}, {"a.toml", "[a\n", "has no end"},
		{"a.toml", "a = " + strings.Repeat("[", valueDepth+2), "within each other"}, {"a.toml", strings.Repeat("a.", valueDepth+2) + "a = 1", "within each other"}, {"a.toml", "", "no text in it"},
		{"a.xml", "<a><b></a>", "damaged XML (line 1"}, {"a.xml", deep, "within each other"}, {"a.xml", "<a/>", "no text in it"},
		{"a.xml", "<!DOCTYPE a [<!ENTITY b '&c;&c;'><!ENTITY c '&b;&b;'>]><a>&b;</a>", "damaged XML"},
		{"a.xml", "<!DOCTYPE a [<!ENTITY b '" + strings.Repeat("x", 1<<16) + "'>]><a>" + strings.Repeat("&b;", 1<<10) + "</a>", "16 MB of text"},
		{"a.xml", "<a>" + strings.Repeat("<b/>", valueCount) + "</a>", "values: divide it"}, {"a.go", "\x00", "binary"},
		{"photo.local", "x", "unsupported type .local"}, {".local", "x", "unsupported type .local"},
	} {
		if _, err := Parse(t.Context(), c.name, []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.40q: %v, want %q", c.name, c.text, err, c.want)
		}
	}
}

func FuzzTOML(f *testing.F) {
	for _, s := range []string{tomlText, "a.b.c=[[{d=1},\n'']]", "[[a]]\n[a.b]\n[[a.c]]\nd='''e''''", "a=\"\\u00fc\\\n  b\"", "[a]#b\nc={d.e=[]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.toml", data) })
}

func FuzzINI(f *testing.F) {
	for _, s := range []string{iniText, "a=b\\\nc\n  d\n[e]\nf", "export A='b'\n#c\n\n!d:e\\u00fc", "a {\nb;\n}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.ini", data) })
}

func FuzzXML(f *testing.F) {
	for _, s := range []string{xmlSample, "<a>b<c>d<e/></c>f</a>", "<a b='c'><d/><d e='f'>g</d></a>", "\xff\xfe<\x00a\x00/\x00>\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.xml", data) })
}

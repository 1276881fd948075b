package documents

import "testing"

const commentedYAML = `# yaml-language-server: $schema=queue.json
# Settings of the job queue.

# how often a job is tried again
retries: 5
timeout: 30  # seconds; 0 waits for ever
# Where the log goes.
log:
  # one of debug, info, error
  level: info
  path: /var/log/q.log # rotated daily
  #rotate: 7
tags: [night, mail] # for the search
servers:
  - name: mill # the old one
    port: 4433
  # behind the firewall
  - name: pier
    port: 4434
hosts:
  - alpha # in Oslo
  - beta
# ---------------
# Mail
# ---------------
mail:
  from: a@x.example
`

const commentedShown = `title Queue
p Settings of the job queue.
l retries: 5 (how often a job is tried again)
l timeout: 30 (seconds; 0 waits for ever)
l tags: night, mail (for the search)
l hosts: alpha (in Oslo), beta
# log
p Where the log goes.
l level: info (one of debug, info, error)
l path: /var/log/q.log (rotated daily)
# servers
h name | port | (comment)
r mill | 4433 | the old one
r pier | 4434 | behind the firewall
# mail
p Mail
l from: a@x.example`

// Comments say what a setting is for. Those that are settings out of use say nothing.
func TestYAMLComments(t *testing.T) {
	doc, err := Parse(t.Context(), "queue.yaml", []byte(commentedYAML))
	if got := show(doc); got != commentedShown || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, commentedShown)
	}
}

// A description that someone wrapped is read as Markdown. Lines of a script stay apart.
func TestYAMLDescriptions(t *testing.T) {
	const text = `run: |
    make build VERBOSE=yes TARGET=mill LIST=one,two,three,four,five,six
    make test
    cp -r build/mill /srv/mill/releases/current-version-of-the-mill
    rm -r build
body: |

    The **wheel** turns with the river. It is slower in summer than the
    one of the [pier](https://pier.example), which has no boards.

    ## Oil

    * ` + "`--oil` / `-o`" + `:

      Do not oil the wheel on Sundays. Instead, each of the boards is
      passed to Bo.

          mill --oil
`
	const want = `title A
p run: make build VERBOSE=yes TARGET=mill LIST=one,two,three,four,five,six
p make test
p cp -r build/mill /srv/mill/releases/current-version-of-the-mill
p rm -r build
p body: The wheel turns with the river. It is slower in summer than the one of the pier, which has no boards.
l Oil:
l - --oil / -o:
p Do not oil the wheel on Sundays. Instead, each of the boards is passed to Bo.
c mill --oil`
	doc, err := Parse(t.Context(), "a.yaml", []byte(text))
	if got := show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

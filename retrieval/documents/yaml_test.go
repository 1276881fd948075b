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
l retries: 5 – how often a job is tried again
l timeout: 30 – seconds; 0 waits for ever
l tags: night, mail – for the search
l hosts: alpha (in Oslo), beta
# log
p Where the log goes.
l level: info – one of debug, info, error
l path: /var/log/q.log – rotated daily
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

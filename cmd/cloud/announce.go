package main

import (
	"fmt"
	"net"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/node"
)

// addresses are where a cloud listens for devices, and for requests over HTTP and of its metrics, nil if it does not.
type addresses struct{ devices, http, metrics net.Addr }

// announceJSON says in JSON where the server listens and what it answers from.
func announceJSON(a *cli.App, l local, files int, at addresses, cloud *node.Cloud) {
	said := map[string]any{"listening": at.devices.String(), "model": l.model, "documents": files, "from": l.from, "titles": cloud.Titles, "quotes": cloud.Quotes}
	for name, also := range map[string]net.Addr{"http": at.http, "metrics": at.metrics} {
		if also != nil {
			said[name] = also.String()
		}
	}
	a.JSON(said)
}

// announce says where the server listens and what it answers from.
func (c *serveCmd) announce(a *cli.App, l local, at addresses, cloud *node.Cloud) {
	files, from := indexcmd.CountFiles(a, l.docs), l.from
	if a.Globals.JSON {
		announceJSON(a, l, files, at, cloud)
		return
	}
	what := cli.Count(files, "document")
	switch {
	case from == fromSamples:
		what = cli.Count(files, "sample document")
	case from == fromCluster:
		what += " of a cluster"
	case files == 0:
		what = "no documents (the index is empty)"
	}
	shown := "neither titles nor sentences are"
	switch {
	case cloud.Titles && cloud.Quotes:
		shown = "titles and sentences are"
	case cloud.Titles:
		shown = "titles, but no sentences, are"
	case cloud.Quotes:
		shown = "sentences, but no titles, are"
	}
	fmt.Fprintf(a.Out, "Serving %s with %s on %s; %s shown to devices.\n", what, l.model, at.devices, shown)
	switch {
	case from == fromSamples && !c.Sample:
		fmt.Fprintln(a.Out, "Serve your own: cloud index add FOLDER, then start cloud serve again.")
	case files == 0 && from == fromCluster:
		fmt.Fprintf(a.Out, "Add some, also while this runs: cloud index add --index %s FOLDER\n", c.Index)
	case files == 0:
		fmt.Fprintln(a.Out, "Add some, also while this runs: cloud index add FOLDER")
	}
	if c.MaxTokens < defaultTokens {
		fmt.Fprintf(a.Out, "Answers that it takes part in end at %d tokens (--max-tokens).\n", c.MaxTokens)
	}
	how := "cloud pair"
	if c.Service != "" {
		how += " --service " + cli.Escape(string(c.Service))
	}
	fmt.Fprintln(a.Out, "Pair a device with: "+how)
}

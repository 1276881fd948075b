package main

import (
	"context"
	"errors"
	"io"
	"os"

	"tandem/api"
	"tandem/cmd/internal/cli"
)

type mcpCmd struct{ answerFlags }

func (c *mcpCmd) Help() string {
	return `Examples:
  edge mcp
  edge mcp --notes ~/notes --local-only
  npx @modelcontextprotocol/inspector --cli edge mcp --method tools/list

Programs that speak the Model Context Protocol start this command and talk to it over its standard input and output. It has the tools ask, search_notes and list_documents. What search_notes and ask return goes to the program that calls them.`
}

func (c *mcpCmd) Run(a *cli.App) (err error) {
	a.Out = a.Aside // standard output is the protocol's
	s, err := newServing(a, c.answerFlags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	defer a.Register(cli.Process{Command: "mcp", Model: s.model().Name, Documents: s.now.answersFrom()})()
	cfg := s.config()
	cfg.Version, cfg.Log = cli.Version(), a.Log
	err = api.New(cfg).MCP().Run(a, api.Stdio(os.Stdin, os.Stdout))
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) && a.Err() != nil {
		return nil
	}
	return err
}

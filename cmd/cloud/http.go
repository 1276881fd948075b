package main

import (
	"context"
	"fmt"
	"net"

	"tandem"
	"tandem/api"
	"tandem/cmd/internal/cli"
	"tandem/decoder"
	"tandem/node"
)

// httpFlags let a cloud answer without a device.
type httpFlags struct {
	HTTP string `name:"http" help:"Also answer over HTTP on this address, from the cloud's documents alone, with the sentences that say the answers. Default: not." placeholder:"HOST:PORT"`
	cli.HTTPFlags
}

// serveHTTP starts to answer over HTTP, if the flags ask for it. The returned channel receives the error that ends it.
func (f httpFlags) serveHTTP(a *cli.App, cloud *node.Cloud, file string) (<-chan error, error) {
	ended := make(chan error, 1)
	if f.HTTP == "" {
		return ended, nil
	}
	local := cloud.Local
	if cloud.Batch != nil {
		local.Passes = cloud.Batch.Of("http")
	}
	alone := &alone{node.Device{Local: local, Log: a.Log}, cloud}
	weights, err := decoder.ParseWeights("reader")
	if err != nil {
		return nil, err
	}
	documents := cli.DecoderDocuments
	if local.Reader != nil {
		documents = cli.SpanDocuments
	}
	cfg := api.Config{
		Answers: alone, Model: cli.ModelInfo(local.Model, file), Tokens: local.Model.Tokenizer(), Pointing: local.Reader != nil,
		Defaults: tandem.Settings{
			Sampling: tandem.Sampling{TopP: 1, RepeatPenalty: 1}, Nucleus: decoder.DefaultTopP, Support: decoder.DefaultMaxSupport,
			Gamma: tandem.HalfGamma, MaxTokens: decoder.DefaultMaxTokens, Documents: documents, Weights: weights.String(), Grounded: true,
		},
	}
	if err := f.Guard(a, f.HTTP, &cfg); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", f.HTTP)
	if err != nil {
		return nil, fmt.Errorf("--http: %w", err)
	}
	a.Remark("answering on http://%s", l.Addr())
	go func() { ended <- a.RunHTTP(l, api.New(cfg).Handler()) }()
	return ended, nil
}

// alone answers from the cloud's documents, without a device.
type alone struct {
	device node.Device // in the sense of the pair: the side that answers alone
	cloud  *node.Cloud
}

// Answer implements api.Answerer.
func (s *alone) Answer(ctx context.Context, q api.Query, emit func(node.Token), record func(node.Line)) (node.Answer, error) {
	emitted := emit
	if emit != nil {
		emitted = func(t node.Token) { t.By = tandem.ByCloud; emit(t) }
	}
	recorded := record
	if record != nil {
		recorded = func(l node.Line) { record(lineOfCloud(l)) }
	}
	a, err := s.device.AskRecorded(ctx, q.Question, q.Settings, emitted, recorded)
	return ofCloud(a), err
}

// ofCloud names the cloud where node names the device, which is its word for the side that answers alone.
func ofCloud(a node.Answer) node.Answer {
	a.Documents[tandem.Device], a.Documents[tandem.Cloud] = a.Documents[tandem.Cloud], a.Documents[tandem.Device]
	a.Read[tandem.Device], a.Read[tandem.Cloud] = a.Read[tandem.Cloud], a.Read[tandem.Device]
	a.Prefill[tandem.Device], a.Prefill[tandem.Cloud] = a.Prefill[tandem.Cloud], a.Prefill[tandem.Device]
	for i := range a.Tokens {
		a.Tokens[i].By = tandem.ByCloud
	}
	for _, p := range a.Parts {
		for i := range p.Sources {
			p.Sources[i].Side = tandem.Cloud
		}
		for i := range p.Quotes {
			p.Quotes[i].Side = tandem.Cloud
		}
	}
	return a
}

func lineOfCloud(l node.Line) node.Line {
	device, cloud := tandem.Device.String(), tandem.Cloud.String()
	if l.Side == device {
		l.Side = cloud
	}
	if l.By == device {
		l.By = cloud
	}
	return l
}

// Sides implements api.Answerer.
func (s *alone) Sides() api.Sides {
	return api.Sides{Device: api.SideInfo{Name: cli.HostName("cloud"), Sample: s.cloud.Local.Mark != "", InUse: true}, Clouds: []api.SideInfo{}}
}

package main

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"tandem"
	"tandem/api"
	"tandem/api/page"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/modelcmd"
	"tandem/cmd/internal/server"
	"tandem/decoder"
	"tandem/node"
	"tandem/node/batch"
)

// httpFlags let a cloud answer without a device.
type httpFlags struct {
	HTTP string `name:"http" help:"Also answer over HTTP on this address, from the cloud's documents alone, with the titles and sentences that support the answers, unless --titles or --quotes is no. Default: off." placeholder:"HOST:PORT"`
	server.Flags
}

// hidden is what no answer over HTTP shows of the cloud's documents.
type hidden struct{ titles, quotes bool }

// web is a cloud's server over HTTP. Its zero value is none.
type web struct {
	at    net.Addr
	ended <-chan error // receives the error that ended it, once no request is left
	stop  func()
}

// end makes the server end. Its requests may continue for some time.
func (w web) end() {
	if w.stop != nil {
		w.stop()
	}
}

// close makes the server end and waits for that.
func (w web) close() error {
	if w.end(); w.ended == nil {
		return nil
	}
	return <-w.ended
}

// serveHTTP starts to answer over HTTP, if the flags ask for it, until it is told to end. Answers may
// continue for as long as drain after the program is told to end; new requests are then refused.
func (f httpFlags) serveHTTP(a *cli.App, cloud *node.Cloud, m modelcmd.ModelFlags, metrics *server.Metrics, drain time.Duration, hide hidden) (w web, err error) {
	if f.HTTP == "" {
		return w, nil
	}
	local := cloud.Local
	local.HideTitles, local.HideQuotes = hide.titles, hide.quotes
	if cloud.Batch != nil {
		local.Passes = cloud.Batch.NewPasses("http", batch.EqualShare)
	}
	answers := &alone{device: node.Device{Local: local, Log: a.Log}, cloud: cloud}
	weights, err := decoder.ParseWeights("reader")
	if err != nil {
		return w, err
	}
	documents := modelcmd.DecoderDocuments
	if local.Reader != nil {
		documents = modelcmd.SpanDocuments
	}
	cfg := api.Config{
		Answers: answers, Model: server.ModelInfo(local.Model, local.Reader, m.Model), Tokens: local.Model.Tokenizer(), Pointing: local.Reader != nil,
		Defaults: tandem.Settings{
			Sampling: tandem.Sampling{TopP: 1, RepeatPenalty: 1}, Nucleus: decoder.DefaultTopP, Support: decoder.DefaultMaxSupport,
			Gamma: tandem.HalfGamma, MaxTokens: decoder.DefaultMaxTokens, Documents: documents, Weights: weights.String(), Grounded: true,
		},
		Page: page.Handler(), Metrics: metrics, Requests: metrics.ObserveRequest, CanDraft: local.CanDraft,
	}
	if err := f.Configure(a, f.HTTP, &cfg); err != nil {
		return w, err
	}
	done, err := f.OpenEncoder(a, m, &cfg)
	if err != nil {
		return w, err
	}
	l, err := server.Listen("--http", f.HTTP)
	if err != nil {
		return w, errors.Join(err, done())
	}
	a.Remark("answering on %s", server.URL(l.Addr()))
	ctx, stop := context.WithCancel(context.WithoutCancel(a))
	ended := make(chan error, 1)
	last := sync.OnceValue(func() time.Time { return time.Now().Add(drain) })
	context.AfterFunc(a, func() { last() })
	left := func() time.Duration { return max(time.Second, time.Until(last())) }
	go func() { ended <- errors.Join(server.Run(ctx, l, api.New(cfg).Handler(), left), done()) }()
	w.at, w.ended, w.stop = l.Addr(), ended, stop
	return w, nil
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
	var a node.Answer
	err := s.cloud.Alone(ctx, q.Question, q.Settings, func(ctx context.Context, bounded tandem.Settings) (err error) {
		a, err = s.device.AskRecorded(ctx, q.Question, bounded, emitted, recorded)
		return err
	})
	if s.cloud.Observe != nil {
		s.cloud.Observe(node.Served{Pair: a.Pair, Took: a.Took, Error: api.Failure(ctx, err)})
	}
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
		for _, quotes := range [][]node.Quote{p.Quotes, p.Otherwise} {
			for i := range quotes {
				quotes[i].Side = tandem.Cloud
			}
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
	own := api.SideInfo{Name: cli.HostName("cloud"), Sample: s.cloud.Local.Mark != "", InUse: true}
	own.Documents = indexcmd.CountFiles(context.Background(), s.cloud.Local.Documents)
	return api.Sides{Device: own, Clouds: []api.SideInfo{}, Alone: true}
}

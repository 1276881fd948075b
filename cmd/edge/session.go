package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/modelcmd"
	"tandem/decoder/kvstore"
	"tandem/model"
	"tandem/model/sample"
	"tandem/model/span"
	"tandem/node"
	"tandem/npu/phone"
	"tandem/transport"
)

// session is a device that is ready to answer, with all that its flags ask for.
type session struct {
	app      *cli.App
	flags    answerFlags // with what the models have settled: see openModels
	settings tandem.Settings
	device   *node.Device
	model    *model.Model
	phone    *phone.Device  // what computes the model
	reader   *span.Reader   // answers with words of the documents; nil if the model writes the answers
	kv       *kvstore.Store // nil if KV caches are not kept
	own      ownDocuments
	cloud    askedCloud
	network  network // between device and cloud
	closers  closers

	kept      keptMeasurements
	denoising denoising // of a diffusion model
	cost      costJSON  // of the last answer

	recording func(node.Line) // receives what happens in an answer; nil for nobody
}

// closers close what was opened.
type closers []func() error

func (c *closers) add(x io.Closer) { *c = append(*c, x.Close) }

// Close closes everything, last first.
func (c closers) Close() error {
	var errs []error
	for _, end := range slices.Backward(c) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// Close closes everything that the session opened.
func (s *session) Close() error { return s.closers.Close() }

// openSession prepares to answer as the flags say.
func openSession(a *cli.App, f answerFlags) (s *session, err error) {
	if f.show.Quiet {
		a.Hush()
	}
	if f.Method == "crcg" && f.Side == "both" {
		f.Side = "device" // the baseline has one side only
	}
	s = &session{app: a, flags: f}
	s.network.rtt, s.network.loss = f.RTT, f.Loss
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := s.openModels(); err != nil {
		return s, err
	}
	adapter, err := f.MountAdapter(a, s.model)
	if err != nil {
		return s, err
	}
	if s.kv = f.OpenKV(a, s.reader); s.kv != nil {
		s.closers.add(s.kv)
	}
	if err := s.openScorer(); err != nil {
		return s, err
	}
	documents, err := s.openDocuments()
	if err != nil {
		return s, err
	}
	s.device = s.newDevice(documents)
	s.device.Local.Adapter = adapter
	if err := s.guess(f.guessFlags); err != nil {
		return s, err
	}
	if err := s.openCloud(); err != nil {
		return s, err
	}
	if err := s.checkEmpty(); err != nil {
		return s, err
	}
	s.closers = append(s.closers, s.network.Close, s.device.Close)
	s.loadMeasurements()
	return s, nil
}

// openModels opens the span reader and the model, and settles the flags and settings that depend on them.
func (s *session) openModels() (err error) {
	a, f := s.app, &s.flags
	if what := f.decodes(); what != "" {
		if f.By == "span" {
			return fmt.Errorf("--reader span: it points at words, and %s is for what decodes: leave one of them out", what)
		}
		if f.SoC != "" && f.Model == "" && f.By != "decoder" {
			a.Remark("--soc: the built-in decoder answers, not the reader; its answers from your own notes are poor")
		}
		f.By = "decoder"
	}
	if s.reader, err = f.OpenSpan(f.ModelFlags); err != nil {
		return err
	}
	if what := f.formFlags.given(); what != "" && s.reader != nil {
		return fmt.Errorf("%s: the built-in reader quotes documents and writes in no form: take a model that writes, such as --model qwen2.5:1.5b (first: edge models pull qwen2.5:1.5b)", what)
	}
	switch {
	case s.reader != nil:
		f.Documents = cmp.Or(f.Documents, modelcmd.SpanDocuments)
		f.Related = s.reader.Related
	case f.Model == "":
		f.PassageFlags = f.PassageFlags.BySentence()
	}
	f.Documents = cmp.Or(f.Documents, modelcmd.DecoderDocuments)
	if s.settings, err = f.settings(); err != nil {
		return cli.Usage(err)
	}
	f.Chip, f.ModelFlags.Switching = f.SoC, f.phoneFlags.Switching
	if s.model, s.phone, err = f.OpenWithDevice(a); err != nil {
		return err
	}
	s.closers.add(s.model)
	if !s.model.Config().Diffusion {
		return f.unused(s.model.Config().Arch)
	}
	if err = f.checkDiffusion(s.model); err == nil {
		s.denoising.method, err = f.technique()
	}
	return err
}

// openScorer opens the model of --scorer, which then chooses among the passages of the device and of a cloud in this process.
func (s *session) openScorer() error {
	rerank, done, err := s.flags.OpenScorer(s.app, s.flags.ModelFlags)
	if err != nil {
		return err
	}
	s.flags.Rerank = rerank
	s.closers = append(s.closers, done)
	return nil
}

// newDevice makes the node.
func (s *session) newDevice(documents node.Searcher) *node.Device {
	f := s.flags
	d := &node.Device{
		Local:     modelcmd.NewLocal(s.model, s.reader, documents, s.kv),
		Patience:  node.DefaultPatience,
		RetryWait: node.DefaultRetryWait,
		Mute:      f.Side == "cloud",
		Require:   f.Side == "cloud" || f.RequireCloud,
		Private:   f.Private,
		Log:       s.app.Log,
	}
	if s.own.sample {
		d.Local.Mark = indexcmd.SampleMark
	}
	if d.Require { // nothing else can answer, so a slow cloud is better than none
		d.Patience.Busy, d.Patience.Slow, d.Patience.Pace = time.Minute, time.Minute, 0
	}
	if f.Wait != nil {
		d.Patience.Join, d.Patience.Busy, d.RetryWait = *f.Wait, *f.Wait, 0
	}
	d.Patience = patienceOver(d.Patience, f.RTT)
	d.RetryWait = plusTrips(d.RetryWait, f.RTT)
	return d
}

// decodes returns a flag that asks for what only a decoder does: grouped contexts, KV caches that cross, the times of a phone's
// NPU, and adapters; "" for none.
func (f answerFlags) decodes() string {
	switch {
	case f.Method == "crcg" || f.Method == "drcg-kv":
		return "--method " + f.Method
	case f.Contexts > 0:
		return "--contexts"
	case f.SoC != "":
		return "--soc"
	case len(f.Lora) > 0:
		return "--lora"
	}
	return ""
}

// ask answers q until ctx ends. Unless JSON is asked for, it prints the tokens as they come.
func (s *session) ask(ctx context.Context, q node.Question) (node.Answer, error) {
	a := s.app
	q.ChooseCoupling = s.flags.choosesCoupling()
	cost, err := s.beginCost()
	if err != nil {
		return node.Answer{}, err
	}
	if s.flags.Model != "" { // which may take long
		a.Progress("reading")
		defer a.Clear()
	}
	var answer node.Answer
	text := &answerText{screen: a.Screen, hidden: a.Globals.JSON}
	switch {
	case !s.denoises():
		answer, err = s.device.AskRecorded(ctx, q, s.settings, text.print, s.recording)
	case s.flags.ShowDenoising: // the text comes at the end
		answer, err = s.denoise(ctx, q, s.settings, func(node.Token) {})
		text.printWhole(answer.Text)
	default:
		answer, err = s.denoise(ctx, q, s.settings, text.print)
	}
	cost.pair = answer.Pair
	s.cost = cost.end()
	s.noteAbsence()
	text.end()
	if !a.Globals.JSON || err != nil { // else they are part of the JSON report
		for _, r := range answer.Remarks {
			a.Remark("%s", cli.Escape(r)) // it may quote the cloud
		}
	}
	if errors.Is(err, node.ErrNoCloud) && s.cloud.paired() {
		err = s.missing(err)
	}
	return answer, err
}

// answerText prints the text of an answer, coloured by the sides that drafted it.
type answerText struct {
	screen *cli.Screen
	hidden bool // print nothing
	lead   sample.LeadingSpace
	begun  bool // something was printed
}

// print prints the text of a token.
func (t *answerText) print(token node.Token) {
	if t.hidden {
		return
	}
	text := t.lead.Cut(cli.StripControls(token.Text))
	if t.lead.Begun() && !t.begun {
		t.begun = true
		t.screen.Clear()
	}
	fmt.Fprint(t.screen.Out, t.screen.Tint(token.By, text))
}

// printWhole prints a text that came at once, if there is one.
func (t *answerText) printWhole(text string) {
	if !t.hidden && text != "" {
		t.begun = true
		fmt.Fprint(t.screen.Out, cli.StripControls(text))
	}
}

// end ends the line of the text, if there is one.
func (t *answerText) end() {
	if t.begun {
		fmt.Fprintln(t.screen.Out)
	}
}

// missing adds the name and addresses of the paired cloud to an error about its absence, and what to do.
func (s *session) missing(err error) error {
	dirs, e := s.app.Dirs()
	if e != nil {
		return err
	}
	p, e := transport.OpenPeers(dirs.Peers()).Lookup(s.cloud.peer)
	if e != nil { // err says so
		return fmt.Errorf("%w; %s", err, pairAgain)
	}
	err = fmt.Errorf("%s (%s): %w", cli.Escape(s.cloud.name), strings.Join(p.Addresses(), ", "), err)
	if way := wayBack(err); way != "" {
		err = fmt.Errorf("%w; %s", err, way)
	}
	return err
}

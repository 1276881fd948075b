package page_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"tandem"
	"tandem/api"
	"tandem/api/page"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/node"
	"tandem/npu/native"
	"tandem/pair"
	"tandem/retrieval/passages"
)

// hostile is what a document, an answer or a title may say to a careless page.
const hostile = `<img src=x onerror="document.title='hurt'"><script>document.title='hurt'</script>`

// sides answer each question by what it says: "wait" never ends, "lost" loses the cloud, "missing" has
// none, "fail" fails.
type sides struct {
	alone   bool // a cloud that answers without a device
	private bool // a device that is private with its cloud
	mu      sync.Mutex
	gone    int // answers that were stopped
	asked   []api.Query
}

func (s *sides) Sides() api.Sides {
	if s.alone {
		return api.Sides{Device: api.SideInfo{Name: "cellar" + hostile, Documents: 3, Sample: true, InUse: true}, Clouds: []api.SideInfo{}, Alone: true}
	}
	return api.Sides{
		Device: api.SideInfo{Name: "phone" + hostile, Documents: 2, Sample: true, InUse: true},
		Clouds: []api.SideInfo{{Name: "cellar", ID: "AB12", Addresses: []string{"10.0.0.2:4433"}, RTT: 31.5, InUse: true}, {Name: "attic"}},
	}
}

func (s *sides) Answer(ctx context.Context, q api.Query, emit func(node.Token), record func(node.Line)) (node.Answer, error) {
	s.mu.Lock()
	s.asked = append(s.asked, q)
	s.mu.Unlock()
	if strings.Contains(q.Text, "fail") {
		return node.Answer{}, errors.New("the index is damaged " + hostile)
	}
	a := node.Answer{Reason: pair.ReasonStop, Pair: pair.Stats{Together: 4}}
	if strings.Contains(q.Text, "missing") {
		a.Pair.Together = 0
	}
	a.Degraded = a.Pair.Together == 0 || strings.Contains(q.Text, "lost")
	a.Traffic.RTT = 30 * time.Millisecond
	tell := func(l node.Line) {
		if record != nil {
			record(l)
		}
	}
	tell(node.Line{Ms: 1, Event: "rtt", TookMs: 30})
	tell(node.Line{Ms: 9, Event: "note", Note: "joined"})
	for i, text := range []string{"It", " opens", " at", " 9:30", "."} {
		ms := 20 + 12*float64(i)
		step := tandem.Step(i)
		t := node.Token{ID: 65, Text: text, By: []tandem.By{tandem.ByBoth, tandem.ByDevice, tandem.ByCloud, tandem.ByCloud, tandem.ByNeither}[i], At: time.Duration(ms * float64(time.Millisecond))}
		if t.Alone = strings.Contains(q.Text, "lost") && i > 2; t.Alone {
			tell(node.Line{Ms: ms - 5, Event: "note", Note: "alone"})
		}
		tell(node.Line{Ms: ms - 4, Event: "decode", Side: "device", Step: step, TookMs: 6, IDs: []tandem.Token{65, 66}, Weights: []uint32{49152, 16384}})
		tell(node.Line{Ms: ms - 4, Event: "draft", Side: "device", Step: step, Token: 65})
		tell(node.Line{Ms: ms - 2, Event: "draft", Side: "cloud", Step: step, Token: 66, TookMs: 4, IDs: []tandem.Token{66, 67}, Weights: []uint32{32768, 32768}})
		if i == 2 {
			tell(node.Line{Ms: ms - 1, Event: "note", Note: "rejected", Side: "device", Step: step})
		}
		tell(node.Line{Ms: ms, Event: "target", Step: step, Token: 65, By: t.By.String()})
		emit(t)
		a.Tokens = append(a.Tokens, t)
		if strings.Contains(q.Text, "wait") && i == 1 {
			<-ctx.Done()
			s.mu.Lock()
			s.gone++
			s.mu.Unlock()
			return a, ctx.Err()
		}
	}
	text := "- The museum opens at 9:30. " + hostile
	a.Parts = []node.Part{{Text: "It opens at 9:30.", Quotes: []node.Quote{
		{Side: tandem.Cloud, Title: "Museum" + hostile, Text: text, From: 22, To: 26, Weight: 0.9, Relevance: 5},
		{Side: tandem.Device, Title: "Note", Source: "/notes/a.md", Text: "The museum is closed on Mondays.", Weight: 0, Relevance: -1},
	}}}
	if strings.Contains(q.Text, "surely") {
		a.Parts[0].Relevance = 9
	}
	if strings.Contains(q.Text, "unknown") {
		a.Parts[0].Text, a.Parts[0].Unknown = "I don't know.", 1
	}
	return a, nil
}

// papers are the documents.
type papers struct {
	mu   sync.Mutex
	held []api.Document
}

func (p *papers) List(context.Context) ([]api.Document, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]api.Document{}, p.held...), nil
}

func (p *papers) Add(_ context.Context, name string, r io.Reader) (api.Document, string, error) {
	b, err := io.ReadAll(r)
	if strings.HasSuffix(name, ".bin") {
		return api.Document{}, "no text in it", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = append(p.held, api.Document{Path: "/uploads/" + name, Title: strings.TrimSuffix(name, ".md") + hostile, Bytes: int64(len(b)), Modified: time.Now(), Passages: 1})
	return api.Document{}, "", err
}

func (p *papers) Remove(_ context.Context, path string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, d := range p.held {
		if d.Path == path {
			p.held = append(p.held[:i], p.held[i+1:]...)
			return nil
		}
	}
	return api.ErrNoDocument
}

func (p *papers) Search(_ context.Context, question string, k int) ([]api.Found, error) {
	return []api.Found{{Passage: passages.Passage{Title: "Note", Text: "Winter hours.\n" + question + "\nAsk for Ann. " + hostile}}}, nil
}

// browser is the context of the one browser of all tests, which takes seconds to start. It is nil where there is none.
var (
	browser     context.Context
	browserErr  error
	browserOnce sync.Once
)

func startBrowser() {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
			all, _ := chromedp.NewExecAllocator(context.Background(), options...)
			browser, _ = chromedp.NewContext(all, chromedp.WithErrorf(func(string, ...any) {})) // it does not know all events of dialogs
			browserErr = chromedp.Run(browser)
			return
		}
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser != nil {
		chromedp.Cancel(browser)
	}
	os.Exit(code)
}

// window opens a window with storage of its own, as in a browser that was never used before.
func window(t *testing.T) context.Context {
	t.Helper()
	if browserOnce.Do(startBrowser); browser == nil {
		t.Skip("no browser: install chromium")
	}
	err := browserErr
	var opened target.ID
	if err == nil {
		all := cdp.WithExecutor(browser, chromedp.FromContext(browser).Browser)
		var storage cdp.BrowserContextID
		if storage, err = target.CreateBrowserContext().WithDisposeOnDetach(true).Do(all); err == nil {
			opened, err = target.CreateTarget("about:blank").WithBrowserContextID(storage).WithNewWindow(true).Do(all)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(browser, time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithTargetID(opened))
	t.Cleanup(cancel)
	return ctx
}

// world is a server with a browser that shows its page.
type world struct {
	t      *testing.T
	ctx    context.Context
	sides  *sides
	papers *papers
	url    string
}

// open starts a device's server and a browser, or skips the test where there is no browser.
func open(t *testing.T, width, height int64, dark bool) *world {
	t.Helper()
	return openAt(t, &sides{}, width, height, dark)
}

func openAt(t *testing.T, from *sides, width, height int64, dark bool) *world {
	t.Helper()
	w := start(t, from, "", width, height, dark)
	w.do(chromedp.WaitVisible("#examples button"))
	return w
}

// start does not wait for the page to be ready. The server asks for key, if that is not empty.
func start(t *testing.T, from *sides, key string, width, height int64, dark bool) *world {
	t.Helper()
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, ctx: window(t), sides: from, papers: &papers{}}
	server := httptest.NewServer(api.New(api.Config{
		Answers: w.sides, Library: w.papers, Model: api.ModelInfo{Name: "reader"}, Tokens: m.Tokenizer(), Pointing: true,
		Defaults: tandem.Settings{MaxTokens: 64, Nucleus: 0.8, Support: 16}, Page: page.Handler(), Key: key, Private: func() bool { return from.private },
	}).Handler())
	t.Cleanup(server.Close)
	w.url = server.URL
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	w.do(emulation.SetDeviceMetricsOverride(width, height, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate(w.url))
	return w
}

func (w *world) do(actions ...chromedp.Action) {
	w.t.Helper()
	if err := chromedp.Run(w.ctx, actions...); err != nil {
		w.t.Fatal(err)
	}
}

// text returns the text of the first element that matches.
func (w *world) text(selector string) (s string) {
	w.t.Helper()
	w.do(chromedp.Text(selector, &s, chromedp.ByQuery))
	return s
}

// eval returns the value of an expression.
func eval[T any](w *world, expression string) (v T) {
	w.t.Helper()
	w.do(chromedp.Evaluate(expression, &v))
	return v
}

// ask asks a question and waits for the n-th answer's end.
func (w *world) ask(question string, n int) {
	w.t.Helper()
	w.do(chromedp.SendKeys("#question", question+"\r"), chromedp.WaitReady(fmt.Sprintf("article:nth-of-type(%d) .more, article:nth-of-type(%d) .bad", n, n), chromedp.ByQuery), chromedp.WaitVisible("#send"))
}

// unhurt fails if text of a document became part of the page.
func (w *world) unhurt() {
	w.t.Helper()
	if title := eval[string](w, "document.title"); title != "Tandem" {
		w.t.Errorf("the page's title became %q", title)
	}
	if n := eval[int](w, `document.querySelectorAll("main img, main script, #tip img").length`); n != 0 {
		w.t.Errorf("%d elements that a text brought along", n)
	}
}

// What comes close stands only below what is unknown or unsure.
func TestNearPassages(t *testing.T) {
	w := open(t, 800, 900, false)
	for n, c := range []struct {
		question string
		near     int
	}{{"When, surely?", 0}, {"When?", 1}, {"An unknown one?", 1}} {
		w.ask(c.question, n+1)
		cites := fmt.Sprintf("article:nth-of-type(%d) .cites li", n+1)
		if got := eval[int](w, fmt.Sprintf("document.querySelectorAll(%q).length", cites+".device")); got != c.near {
			t.Errorf("%s: %d sentences that come close, want %d", c.question, got, c.near)
		}
		if got := eval[int](w, fmt.Sprintf("document.querySelectorAll(%q).length", cites+".cloud")); got != 1 {
			t.Errorf("%s: %d sentences that say it", c.question, got)
		}
	}
}

func TestChat(t *testing.T) {
	w := open(t, 800, 900, false)
	w.ask("When?", 1)
	if got := w.text("article .text"); got != "It opens at 9:30." {
		t.Errorf("%q", got)
	}
	if got := eval[string](w, `[...document.querySelectorAll(".text .t")].map(e => e.className.slice(2)).join()`); got != "both,device,cloud,cloud,neither" {
		t.Errorf("drafted by %s", got)
	}
	if got := w.text(".cites li.cloud q"); !strings.HasPrefix(got, "The museum opens") {
		t.Errorf("a quote is shown with the bullet before it: %s", got)
	}
	if got := w.text(".cites li.cloud mark"); got != "9:30" {
		t.Errorf("marked in the citation: %q", got)
	}
	// The device's sentence opens in its passage; the cloud's does not.
	w.do(chromedp.Click(".cites li.device button"), chromedp.WaitVisible(".passage"))
	if got := w.text(".passage"); !strings.Contains(got, "Winter hours") || !strings.Contains(got, hostile) {
		t.Errorf("%q", got)
	}
	if n := eval[int](w, `document.querySelectorAll(".cites li.cloud button").length`); n != 0 {
		t.Error("the cloud's sentence has a button")
	}
	// Both distributions, by pointer and by keyboard.
	w.do(chromedp.Focus(".text .t:nth-child(3)"), chromedp.WaitVisible("#tip"))
	if tip := w.text("#tip"); !strings.Contains(tip, "device") || !strings.Contains(tip, "cloud") || !strings.Contains(tip, "50 %") || !strings.Contains(tip, "75 %") {
		t.Errorf("%q", tip)
	}
	w.ask("And an unknown one?", 2)
	if got := w.text("article:nth-of-type(2) .note"); !strings.Contains(got, "Not known") {
		t.Errorf("%q", got)
	}
	if h := w.sides.asked[1].History; len(h) != 2 || h[1].Content != "It opens at 9:30." {
		t.Errorf("the second question saw %v", h)
	}
	w.ask("lost", 3)
	// The end of an answer is not hidden behind the form.
	w.do(chromedp.WaitVisible("#send"))
	if hidden := eval[float64](w, `document.querySelector("article:last-of-type").getBoundingClientRect().bottom - document.getElementById("ask").getBoundingClientRect().top`); hidden > 0 {
		t.Errorf("%.0f pixels of the last answer are behind the form", hidden)
	}
	w.ask("fail", 4)
	if got := w.text("article:nth-of-type(4) .bad"); !strings.Contains(got, "the index is damaged") {
		t.Errorf("%q", got)
	}
	w.unhurt()
}

// An answer that had to do without the cloud says so, and does not say that both sides do not know.
func TestDegraded(t *testing.T) {
	w := open(t, 800, 900, false)
	for n, c := range []struct{ question, mark, unknown string }{
		{"lost", "The cloud was lost", ""},
		{"missing", "The cloud was missing", ""},
		{"unknown, lost", "The cloud was lost", "away for a part"},
		{"unknown, missing", "The cloud was missing", "took no part"},
		{"unknown", "", "neither side"},
		{"surely", "", ""},
	} {
		w.ask(c.question, n+1)
		got := eval[string](w, fmt.Sprintf(`Array.from(document.querySelectorAll("article:nth-of-type(%d) .note"), (n) => n.innerText).join("\n")`, n+1))
		if !strings.Contains(got, c.mark) || strings.Contains(got, "The cloud was") != (c.mark != "") || !strings.Contains(got, c.unknown) || strings.Contains(got, "neither side") != (c.question == "unknown") {
			t.Errorf("%s: %q", c.question, got)
		}
	}
}

func TestStop(t *testing.T) {
	w := open(t, 800, 900, false)
	w.do(chromedp.SendKeys("#question", "wait\r"), chromedp.WaitVisible(".text .t:nth-child(2)"), chromedp.Click("#stop"), chromedp.WaitVisible("#send"))
	if got := w.text("article .note"); got != "Stopped." {
		t.Errorf("%q", got)
	}
	for {
		w.sides.mu.Lock()
		gone := w.sides.gone
		w.sides.mu.Unlock()
		if gone == 1 {
			break
		}
		w.do(chromedp.Evaluate("1", nil)) // ends with the test's context
	}
}

func TestTimeline(t *testing.T) {
	w := open(t, 800, 900, true)
	w.ask("lost", 1)
	w.do(chromedp.Click(".more summary"), chromedp.WaitVisible(".timeline svg"))
	for selector, want := range map[string]int{".target": 5, ".way.device": 5, ".way.cloud": 5, ".bar.device": 5, ".bar.cloud": 5, ".cross": 1, ".event": 3} {
		if n := eval[int](w, fmt.Sprintf(`document.querySelectorAll(".timeline %s").length`, selector)); n != want {
			t.Errorf("%d of %s, want %d", n, selector, want)
		}
	}
	// The options travel with the question, and the placements stand side by side.
	w.do(chromedp.Click("#options summary"), chromedp.WaitVisible("#rtt"))
	w.do(chromedp.Evaluate(`{const r = document.getElementById("rtt"); r.value = 200; r.dispatchEvent(new Event("input"));
		document.getElementById("loss").value = 5; document.getElementById("seed").value = 7;}`, nil))
	w.do(chromedp.SendKeys("#question", "compare these"), chromedp.Click("#compare"), chromedp.WaitVisible(".comparison table"))
	if got := w.text(".comparison caption"); got != "The same text in every placement." {
		t.Errorf("%q", got)
	}
	seen := map[string]bool{}
	for _, q := range w.sides.asked[1:] {
		seen[q.Settings.Placement.String()] = true
		if q.RTT != 200*time.Millisecond || q.Loss != 0.05 || q.Settings.Seed != 7 {
			t.Errorf("asked with %v, %v, seed %d", q.RTT, q.Loss, q.Settings.Seed)
		}
	}
	if len(seen) != 5 {
		t.Errorf("placements %v", seen)
	}
	w.unhurt()
}

func TestDocuments(t *testing.T) {
	w := open(t, 800, 900, false)
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"boat.md", "photo.bin"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("The boat lies at pier 7."), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	w.do(chromedp.Click("#tab-documents"), chromedp.SetUploadFiles("#files", files, chromedp.ByQuery), chromedp.WaitVisible("#list tbody tr"))
	w.do(chromedp.WaitVisible("#uploads .skipped"))
	if got := w.text("#uploads"); !strings.Contains(got, "photo.bin: skipped, no text in it") || !strings.Contains(got, "boat.md: added") {
		t.Errorf("%q", got)
	}
	w.unhurt()
	w.do(chromedp.Click("#list tbody button"), chromedp.WaitNotPresent("#list tbody tr"))
	if list, _ := w.papers.List(t.Context()); len(list) != 0 {
		t.Errorf("%v", list)
	}
	// The tabs by keyboard.
	w.do(chromedp.Focus("#tab-documents"), chromedp.SendKeys("#tab-documents", "\u0303"), chromedp.WaitVisible(".side"))
	if got := w.text("#sides"); !strings.Contains(got, "cellar") || !strings.Contains(got, "31.5 ms") || !strings.Contains(got, "paired, not asked") {
		t.Errorf("%q", got)
	}
	w.unhurt()
}

// A server with a key asks for it until it is right, and for no more if nobody gives one.
func TestKey(t *testing.T) {
	w := start(t, &sides{}, "the right key of it", 380, 700, false)
	w.do(chromedp.WaitVisible("#login"))
	if eval[bool](w, `document.getElementById("wrong").checkVisibility()`) {
		t.Error("it complains of a key before one was given")
	}
	w.do(chromedp.SendKeys("#key", "a wrong key\r"), chromedp.WaitVisible("#wrong"))
	w.do(chromedp.SendKeys("#key", "the right key of it\r"), chromedp.WaitVisible("#examples button"))
	w.ask("When?", 1)
	if got := w.text("article .text"); got != "It opens at 9:30." {
		t.Errorf("%q", got)
	}
	w.do(chromedp.Evaluate("sessionStorage.clear()", nil), chromedp.Reload(), chromedp.WaitVisible("#login"), chromedp.KeyEvent("\x1b"),
		chromedp.Poll(`document.getElementById("state").textContent.includes("asks for its key")`, nil))
}

// A cloud that answers without a device has no other side, no emulated network and no documents to show.
func TestCloudAlone(t *testing.T) {
	w := openAt(t, &sides{alone: true}, 800, 900, false)
	if got := w.text("#state"); !strings.HasPrefix(got, "sample documents of cellar") {
		t.Errorf("%q", got)
	}
	if n := eval[int](w, `[...document.querySelectorAll("nav, #options")].filter(e => e.offsetParent).length`); n != 0 {
		t.Errorf("%d of the device's controls are shown", n)
	}
	w.ask("An unknown one?", 1)
	if got := w.text("article .note"); got != "Not known: the documents of this cloud do not clearly say it." {
		t.Errorf("%q", got)
	}
	w.unhurt()
}

// A device that is private sets the placement itself, so the page asks for none. Where it is refused for one, it
// compares nothing.
func TestPrivateDevice(t *testing.T) {
	w := openAt(t, &sides{private: true}, 800, 900, false)
	w.ask("When?", 1)
	if got := w.text("article .text"); got != "It opens at 9:30." {
		t.Errorf("%q, %q", got, w.text("article"))
	}
	w.do(chromedp.Click("#options summary"), chromedp.WaitVisible("#compare"), chromedp.Click("#compare"),
		chromedp.WaitReady("article:nth-of-type(2) .bad", chromedp.ByQuery), chromedp.WaitVisible("#send"))
	if eval[bool](w, `document.querySelector(".comparison") !== null`) {
		t.Errorf("it compares what was refused: %q", w.text(".comparison"))
	}
}

// Nothing is cut off or scrolls sideways at any width, nothing is loaded from elsewhere, and everything that can be operated
// has a name. With TANDEM_PICTURES=DIR the page's pictures are kept there.
func TestWidths(t *testing.T) {
	for _, width := range []int64{380, 800, 1600} {
		for _, dark := range []bool{false, true} {
			w := open(t, width, 900, dark)
			w.ask("When does the harbour museum open, and what does a ticket for a family with three children cost?", 1)
			w.do(chromedp.Click(".more summary"), chromedp.WaitVisible(".timeline svg"))
			name := fmt.Sprintf("%d-%v", width, map[bool]string{false: "light", true: "dark"}[dark])
			w.picture(name + "-chat")
			for _, tab := range []string{"chat", "documents", "pair"} {
				w.do(chromedp.Click("#tab-"+tab), chromedp.WaitVisible("#"+tab))
				if over := eval[int](w, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
					t.Errorf("%s, %s: %d pixels too wide", name, tab, over)
				}
				if bare := eval[string](w, `[...document.querySelectorAll("button, input, select, textarea")].filter(e => e.offsetParent
					&& !e.textContent.trim() && !e.labels?.length && !e.getAttribute("aria-label")).map(e => e.outerHTML).join()`); bare != "" {
					t.Errorf("%s: without a name: %s", tab, bare)
				}
				w.picture(name + "-" + tab)
			}
			if from := eval[string](w, `performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith(location.origin)).join()`); from != "" {
				t.Errorf("loaded from elsewhere: %s", from)
			}
		}
	}
}

// picture keeps a picture of the page, if the environment asks for it.
func (w *world) picture(name string) {
	w.t.Helper()
	dir := os.Getenv("TANDEM_PICTURES")
	if dir == "" {
		return
	}
	var b []byte
	w.do(chromedp.FullScreenshot(&b, 100))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), b, 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// A path without a page says where the pages are.
func TestNoSuchPage(t *testing.T) {
	for path, want := range map[string]int{"/": 200, "/style.css": 200, "/nothing": 404, "/docs/": 404, "/<b>": 404} {
		w := httptest.NewRecorder()
		page.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		said := strings.HasPrefix(w.Body.String(), "There is no page "+path+" here. The web page is at /.")
		if w.Code != want || said != (want == 404) || want == 404 && !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
		}
	}
}

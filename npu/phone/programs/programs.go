// Package programs measures compiled programs: their memory for weights and activations, the time to compile or load
// them, and the time of their runs.
package programs

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"tandem/npu"
	"tandem/npu/phone/memory"
)

// Cache is a device that compiles equal graphs once. Graphs are equal if their operations, shapes and parameters are, and
// if they share their weights.
type Cache struct {
	npu.Device

	mu    sync.Mutex
	byKey map[string]*program
	list  []*program
	hits  int
}

// New wraps a device.
func New(d npu.Device) *Cache { return &Cache{Device: d, byKey: map[string]*program{}} }

// Info says what a program takes on its device.
type Info struct {
	Compiled *npu.Graph `json:"-"`

	Device  string `json:"device"`
	Graph   string `json:"graph"`
	Chunk   int    `json:"chunk"`
	Nodes   int    `json:"nodes"`
	Weights int64  `json:"weight_bytes"`
	// Activations is the memory of a full chunk's values if values share memory that do not live at the same time.
	// Unshared is the memory if they do not share.
	Activations int64         `json:"activation_bytes"`
	Unshared    int64         `json:"unshared_bytes"`
	Load        time.Duration `json:"load_ns"` // time of Compile, which on this kind of device also loads
	Runs        int           `json:"runs"`
	Rows        int           `json:"rows"`   // of all runs
	Run         time.Duration `json:"run_ns"` // the mean
}

// Compile returns the program of an equal graph, or compiles it.
func (c *Cache) Compile(g *npu.Graph) (npu.Program, error) {
	k := key(g)
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.byKey[k]; p != nil {
		c.hits++
		return p, nil
	}
	start := time.Now()
	inner, err := c.Device.Compile(g)
	if err != nil {
		return nil, err
	}
	p := &program{Program: inner, info: describe(g)}
	p.info.Device, p.info.Load = c.Device.Name(), time.Since(start)
	c.byKey[k], c.list = p, append(c.list, p)
	return p, nil
}

// Programs returns the compiled programs, in the order of their compilation.
func (c *Cache) Programs() []Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Info, len(c.list))
	for i, p := range c.list {
		out[i] = p.Info()
	}
	return out
}

// Hits returns how often an equal graph had been compiled before.
func (c *Cache) Hits() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits
}

type program struct {
	npu.Program

	mu    sync.Mutex
	info  Info
	spent time.Duration
}

// Info returns what the program takes, as measured so far.
func (p *program) Info() Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.info
	if i.Runs > 0 {
		i.Run = p.spent / time.Duration(i.Runs)
	}
	return i
}

// Run implements npu.Program.
func (p *program) Run(a npu.Args) error {
	start := time.Now()
	err := p.Program.Run(a)
	took := time.Since(start)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.info.Runs, p.info.Rows, p.spent = p.info.Runs+1, p.info.Rows+a.Rows, p.spent+took
	}
	return err
}

func describe(g *npu.Graph) Info {
	i := Info{Compiled: g, Graph: g.Name, Chunk: g.Chunk, Nodes: len(g.Nodes), Weights: weightsOf(g, map[*npu.Tensor]bool{})}
	lives := memory.Lifetimes(g)
	for _, l := range lives {
		i.Unshared += l.Bytes
	}
	_, i.Activations = memory.Pack(lives)
	return i
}

// weightsOf returns the bytes of a graph's weights, those of experts included, that are not among the seen.
func weightsOf(g *npu.Graph, seen map[*npu.Tensor]bool) (bytes int64) {
	for _, n := range g.Nodes {
		for _, t := range []*npu.Tensor{n.Weight, n.Bias} {
			if t != nil && !seen[t] {
				seen[t] = true
				bytes += int64(len(t.Data))
			}
		}
		if n.Quantized != nil {
			bytes += int64(len(n.Quantized.Weights) + 4*len(n.Quantized.Scales))
		}
		if n.Experts != nil {
			for _, e := range n.Experts.Graphs {
				bytes += weightsOf(e, seen)
			}
		}
	}
	return bytes
}

// key describes everything that a graph's result depends on, with weights by identity.
func key(g *npu.Graph) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %d\n", g.Name, g.Chunk)
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "%d %v %d %x %x %d %d %d", n.Op, n.Args, n.Width, n.Eps, n.Scale, n.Every, n.Layer, n.Parts)
		for _, t := range []*npu.Tensor{n.Weight, n.Bias} {
			if t == nil {
				b.WriteString(" -")
			} else if len(t.Data) > 0 && !t.Staged {
				fmt.Fprintf(&b, " %p %d %d×%d", &t.Data[0], t.Type, t.Rows, t.Cols)
			} else {
				fmt.Fprintf(&b, " %p", t)
			}
		}
		if n.Rope != nil {
			fmt.Fprintf(&b, " %+v", *n.Rope)
		}
		if n.Attention != nil {
			fmt.Fprintf(&b, " %+v", *n.Attention)
		}
		if n.Factor != nil {
			fmt.Fprintf(&b, " %+v", *n.Factor)
		}
		if n.Quantized != nil {
			fmt.Fprintf(&b, " %p", n.Quantized)
		}
		if n.Experts != nil {
			fmt.Fprintf(&b, " %d %v", n.Experts.TopK, n.Experts.SoftmaxTopK)
			for _, e := range n.Experts.Graphs {
				fmt.Fprintf(&b, " %q", key(e))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupts turns signals into the end of a context. The second signal ends the process.
type interrupts struct {
	mu     sync.Mutex
	caught func() // what an interrupt does instead; nil for nothing
}

// watch returns a context that SIGTERM ends, the loss of the terminal (SIGHUP, unless nohup ignores it), and an
// interrupt that nobody catches.
func (i *interrupts) watch(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		defer signal.Stop(signals)
		defer cancel()
		for {
			select {
			case s := <-signals:
				if s != os.Interrupt || !i.take() {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, cancel
}

// take passes an interrupt to the function that catches it, once, and reports whether there is one.
func (i *interrupts) take() bool {
	i.mu.Lock()
	caught := i.caught
	i.caught = nil
	i.mu.Unlock()
	if caught == nil {
		return false
	}
	caught()
	return true
}

// CatchInterrupt makes the next interrupt (Ctrl-C) call f instead of ending the command, until release is called. An interrupt
// after that one ends the command, so that a command that does not end can be left.
func (a *App) CatchInterrupt(f func()) (release func()) {
	a.interrupts.mu.Lock()
	defer a.interrupts.mu.Unlock()
	a.interrupts.caught = f
	return func() {
		a.interrupts.mu.Lock()
		defer a.interrupts.mu.Unlock()
		a.interrupts.caught = nil
	}
}

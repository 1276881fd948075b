package transport

import (
	"context"
	"fmt"
	"net"

	"github.com/quic-go/quic-go"
)

// maxPaths bounds the sockets that a connection keeps.
const maxPaths = 8

// Migrate moves the connection to another socket, for example when a phone changes from Wi-Fi to mobile data. It uses pc,
// which the caller keeps, or a new socket if pc is nil. It takes one round trip on the new path, during which the
// exchanges continue over the old one. Only the side that dialed can migrate, and only a few times; after that it must
// dial again. On an error the connection stays on the old path.
func (c *Conn) Migrate(ctx context.Context, pc net.PacketConn) error {
	tr, err := c.addSocket(pc)
	if err != nil {
		return fmt.Errorf("transport: migrate: %w", err)
	}
	path, err := c.qc.AddPath(tr)
	if err != nil {
		return fmt.Errorf("transport: migrate: %w", err)
	}
	if err = path.Probe(ctx); err == nil {
		err = path.Switch()
	}
	if err != nil {
		path.Close()
		return fmt.Errorf("transport: migrate: the new path does not work: %w", err)
	}
	c.link.moved()
	signal(c.wake)
	return nil
}

// addSocket makes a transport on pc, or on a new socket. It stays open until the connection ends, because closing any
// transport that a connection has probed closes the connection.
func (c *Conn) addSocket(pc net.PacketConn) (*quic.Transport, error) {
	free := func() {}
	if pc == nil {
		s, err := openSocket(":0")
		if err != nil {
			return nil, err
		}
		pc, free = s, func() { s.Close() }
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.paths >= maxPaths {
		free()
		if c.err != nil {
			return nil, c.err
		}
		return nil, fmt.Errorf("%d paths have been tried already: dial again", c.paths)
	}
	c.paths++
	tr, before := &quic.Transport{Conn: pc}, c.release
	c.release = func() {
		before()
		tr.Close()
		free()
	}
	return tr, nil
}

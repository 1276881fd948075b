package node

import (
	"log/slog"

	"tandem/internal/sparing"
	"tandem/transport"
)

// nameOf returns what the operator calls a device, else what it calls itself.
func (c *Cloud) nameOf(conn *transport.Conn) string {
	if c.Name != nil {
		if name := c.Name(conn.Peer()); name != "" {
			return name
		}
	}
	return conn.Hello().Name
}

// logOf returns the log with what tells a device from others: names need not differ.
func (c *Cloud) logOf(conn *transport.Conn) *slog.Logger {
	return c.log().With("device", c.nameOf(conn), "key", conn.Peer().Short())
}

// warn logs what a device has caused. About one matter a device has a line each minute, however often it asks.
func (c *Cloud) warn(log *slog.Logger, conn *transport.Conn, text string, args ...any) {
	matter := deviceMatter{conn.Peer(), text}
	c.mu.Lock()
	if c.warnings[matter] == nil {
		c.warnings[matter] = new(sparing.Log)
	}
	spare := c.warnings[matter]
	c.mu.Unlock()
	spare.Add(log, slog.LevelWarn, text, args...)
}

// deviceMatter is something that a cloud logs about a device.
type deviceMatter struct {
	device transport.ID
	text   string
}

func (c *Cloud) log() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}

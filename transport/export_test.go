package transport

// Closed is closed when the connection has ended; Err then says why.
func (c *Conn) Closed() <-chan struct{} { return c.released }

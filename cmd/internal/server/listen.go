package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"

	"tandem/cmd/internal/cli"
)

// Listen listens at the address that a flag gave. At 0.0.0.0, package net would also listen over IPv6.
func Listen(flag, address string) (net.Listener, error) {
	network := "tcp"
	if host, _, err := net.SplitHostPort(address); err == nil {
		if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
			network = "tcp4"
		}
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, ListenError(flag, address, err)
	}
	return l, nil
}

// URL returns where a browser on this machine finds a server that listens at an address.
func URL(at net.Addr) string {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return "http://" + at.String()
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// ListenError describes err, why a server could not listen at the address that a flag gave. Packages of the net describe each of
// their layers; this leaves the cause, and says what to do. Other errors it returns as they are.
func ListenError(flag, address string, err error) error {
	var wrong *net.AddrError
	var name *net.DNSError
	var cause syscall.Errno
	example := "127.0.0.1:7470"
	if flag == "--listen" { // over UDP
		example = "127.0.0.1:4433"
	}
	switch {
	case errors.As(err, &wrong) && strings.HasSuffix(address, wrong.Addr): // not of another address
		return fmt.Errorf("%s %s: %s: give HOST:PORT, such as %s", flag, cli.Escape(address), wrong.Err, example)
	case errors.As(err, &name) && strings.HasSuffix(name.Err, "unknown port"): // the net package looks up ports, too
		return fmt.Errorf("%s %s: unknown port: give HOST:PORT, such as %s", flag, cli.Escape(address), example)
	case errors.As(err, &name):
		return fmt.Errorf("%s %s: %w: give an address of this machine", flag, cli.Escape(address), name)
	case errors.As(err, &cause):
		return fmt.Errorf("%s %s: %w%s", flag, cli.Escape(address), cause, wayToListen(cause))
	}
	return err
}

// wayToListen says what to do about the error of a system call; it is empty if nothing is known to help.
func wayToListen(cause error) string {
	switch {
	case errors.Is(cause, syscall.EADDRINUSE):
		return ": end the program that listens there, or give another port"
	case errors.Is(cause, syscall.EADDRNOTAVAIL):
		return ": this machine has no such address; leave out the host to listen at all that it has"
	case errors.Is(cause, syscall.EACCES):
		return ": ports below 1024 are for the administrator; give another port"
	}
	return ""
}

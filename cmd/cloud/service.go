package main

import (
	"errors"
	"fmt"
	"net"

	"tandem/cmd/internal/cli"
	"tandem/transport"
)

// serviceFlag names the folder that makes a cloud one of several.
type serviceFlag struct {
	Service cli.SharedFolder `help:"The folder that the replicas of a cloud share, with their key, pairings, codes and addresses." type:"path" placeholder:"DIR"`
}

// replicaFlags are for a cloud that serves as one of several.
type replicaFlags struct {
	serviceFlag
	Advertise string `help:"With --service: where devices reach this replica. Default: this machine's first address." placeholder:"HOST:PORT"`
}

// name returns the address by which this replica is known, "" without a service.
func (f replicaFlags) name(listen string) (string, error) {
	switch {
	case f.Service == "" && f.Advertise != "":
		return "", errors.New("--advertise is for replicas: give --service, too")
	case f.Advertise != "":
		host, _, err := net.SplitHostPort(f.Advertise)
		if ip := net.ParseIP(host); err != nil || host == "" || ip.IsUnspecified() {
			return "", fmt.Errorf("--advertise %s is not host:port where devices reach this replica: give one, such as cloud-b.example.net:4433", cli.Escape(f.Advertise))
		}
		return f.Advertise, nil
	case f.Service == "":
		return "", nil
	}
	if _, port, err := net.SplitHostPort(listen); err != nil || port == "0" {
		return "", fmt.Errorf("--listen %s: a replica needs a port that its devices know: set one, or give --advertise", listen)
	}
	own, err := ownAddresses(listen)
	if err != nil {
		return "", err
	}
	return own[0], nil
}

// enter adds this replica to the list of those that run.
func (f replicaFlags) enter(a *cli.App, name string) (leave func() error, err error) {
	if f.Service == "" {
		return func() error { return nil }, nil
	}
	return f.Service.Replicas().Enter(name, a.Log)
}

// addrs returns what tells the addresses of all replicas, nil without a service.
func (f replicaFlags) addrs(a *cli.App) func() []string {
	all := f.Service.Replicas()
	if all == nil {
		return nil
	}
	return func() []string {
		list, err := all.List()
		if err != nil {
			a.Log.Warn("the replicas cannot be listed", "error", err)
		}
		return list
	}
}

// codeAddresses returns where a code leads: the replicas that run, as many as a code holds. A device learns the others there.
func (f serviceFlag) codeAddresses(a *cli.App) ([]string, error) {
	all := f.Service.Replicas()
	if all == nil {
		return ownAddresses(a.ServerAddress())
	}
	list, err := all.List()
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("no replica of %s is running: start one with cloud serve --service, or name an address with --address", f.Service)
	}
	return list[:min(len(list), transport.MaxCodeAddrs)], err
}

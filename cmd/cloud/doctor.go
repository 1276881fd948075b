package main

import (
	"cmp"
	"fmt"
	"net"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/transport"
)

type doctorCmd struct {
	cli.DoctorFlags
	Listen string `help:"UDP address to check. Default: that of the running server of this user, or port 4433 on all addresses." placeholder:"HOST:PORT"`
	serviceFlag
}

func (c *doctorCmd) Help() string {
	return `Examples:
  cloud doctor
  cloud doctor --listen :5000 --model qwen2.5-1.5b-instruct-q4_k_m.gguf
  cloud doctor --json | jq '.checks[] | select(.state != "ok")'

Each line is ok, a note (something to know) or broken. The exit code is 1 if anything is broken.`
}

func (c *doctorCmd) Run(a *cli.App) error {
	return a.Doctor(c.DoctorFlags, func() []cli.Check {
		return append([]cli.Check{c.port(a.ServerAddress()), devices(a, c.Service)}, replicas(c.Service)...)
	})
}

// port tries to listen at the address. running is where a server of this user listens, "" for none.
func (c *doctorCmd) port(running string) cli.Check {
	if running != "" && (c.Listen == "" || c.Listen == running) {
		return cli.Check{Name: "port", State: cli.OK, Detail: fmt.Sprintf("cloud serve runs on UDP %s", running)}
	}
	at := cmp.Or(c.Listen, ":"+defaultPort)
	conn, err := net.ListenPacket("udp", at)
	if err != nil {
		return cli.Check{Name: "port", State: cli.Noted, Detail: err.Error(), Hint: "is cloud serve already running? If not, choose another port: cloud serve --listen"}
	}
	conn.Close()
	return cli.Check{Name: "port", State: cli.OK, Detail: fmt.Sprintf("UDP %s is free", at)}
}

func devices(a *cli.App, folder cli.SharedFolder) cli.Check {
	dirs, err := a.Dirs()
	if err != nil {
		return cli.Check{Name: "devices", State: cli.Broken, Detail: err.Error()}
	}
	list, err := transport.OpenPeers(folder.Peers(dirs)).List()
	switch {
	case err != nil:
		return cli.Check{Name: "devices", State: cli.Broken, Detail: err.Error()}
	case len(list) == 0:
		return cli.Check{Name: "devices", State: cli.Noted, Detail: "none is paired", Hint: "cloud pair"}
	}
	return cli.Check{Name: "devices", State: cli.OK, Detail: fmt.Sprintf("%d paired", len(list))}
}

// replicas lists the running replicas that share the folder, if there is one.
func replicas(folder cli.SharedFolder) []cli.Check {
	if folder == "" {
		return nil
	}
	if err := folder.Check(); err != nil {
		return []cli.Check{{Name: "service", State: cli.Broken, Detail: err.Error()}}
	}
	list, err := folder.Replicas().List()
	switch {
	case err != nil:
		return []cli.Check{{Name: "replicas", State: cli.Broken, Detail: err.Error()}}
	case len(list) == 0:
		return []cli.Check{{Name: "replicas", State: cli.Noted, Detail: "none is running", Hint: "cloud serve --service " + string(folder)}}
	}
	return []cli.Check{{Name: "replicas", State: cli.OK, Detail: fmt.Sprintf("%d run: %s", len(list), strings.Join(list, ", ")), Data: list}}
}

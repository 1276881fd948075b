package main

import (
	"cmp"
	"fmt"
	"net"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/doctor"
	"tandem/transport"
)

type doctorCmd struct {
	doctor.Flags
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
	return doctor.Run(a, c.Flags, func() []doctor.Check {
		return append([]doctor.Check{c.port(a.ServerAddress()), devices(a, c.Service)}, replicas(c.Service)...)
	})
}

// port tries to listen at the address. running is where a server of this user listens, "" for none.
func (c *doctorCmd) port(running string) doctor.Check {
	if running != "" && (c.Listen == "" || c.Listen == running) {
		return doctor.Check{Name: "port", State: doctor.OK, Detail: fmt.Sprintf("cloud serve runs on UDP %s", running)}
	}
	at := cmp.Or(c.Listen, ":"+defaultPort)
	conn, err := net.ListenPacket("udp", at)
	if err != nil {
		return doctor.Check{Name: "port", State: doctor.Noted, Detail: err.Error(), Hint: "is cloud serve already running? If not, choose another port: cloud serve --listen"}
	}
	conn.Close()
	return doctor.Check{Name: "port", State: doctor.OK, Detail: fmt.Sprintf("UDP %s is free", at)}
}

func devices(a *cli.App, folder cli.SharedFolder) doctor.Check {
	dirs, err := a.Dirs()
	if err != nil {
		return doctor.Failed("devices", err)
	}
	list, err := transport.OpenPeers(folder.Peers(dirs)).List()
	switch {
	case err != nil:
		return doctor.Failed("devices", err)
	case len(list) == 0:
		return doctor.Check{Name: "devices", State: doctor.Noted, Detail: "none is paired", Hint: "cloud pair"}
	}
	return doctor.Check{Name: "devices", State: doctor.OK, Detail: fmt.Sprintf("%d paired", len(list))}
}

// replicas lists the running replicas that share the folder, if there is one.
func replicas(folder cli.SharedFolder) []doctor.Check {
	if folder == "" {
		return nil
	}
	if err := folder.Check(); err != nil {
		return []doctor.Check{doctor.Failed("service", err)}
	}
	list, err := folder.Replicas().List()
	switch {
	case err != nil:
		return []doctor.Check{doctor.Failed("replicas", err)}
	case len(list) == 0:
		return []doctor.Check{{Name: "replicas", State: doctor.Noted, Detail: "none is running", Hint: "cloud serve --service " + string(folder)}}
	}
	return []doctor.Check{{Name: "replicas", State: doctor.OK, Detail: fmt.Sprintf("%d run: %s", len(list), strings.Join(list, ", ")), Data: list}}
}

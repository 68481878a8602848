package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/docker/cli/cli/connhelper" // speaks to an engine by the ssh program, as the vendor's own client does
	"github.com/moby/moby/client"
)

// The schemes of addresses of engines, with their separator.
const (
	unixScheme = "unix://"
	tcpScheme  = "tcp://"
	sshScheme  = "ssh://"
)

// sshOptions let the ssh program ask nobody anything, and have it notice that the other side is gone.
var sshOptions = []string{"-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2"}

// The files of Config.Certs.
const (
	caFile   = "ca.pem"
	certFile = "cert.pem"
	keyFile  = "key.pem"
)

// addressOf gives the address of an engine: without one that of DOCKER_HOST, as if the settings said it; empty: the usual socket.
func addressOf(host string) string { return cmp.Or(host, os.Getenv(client.EnvOverrideHost)) }

// Address gives the address of the engine that Config.Host means.
func Address(host string) (string, error) {
	host = addressOf(host)
	if strings.HasPrefix(host, sshScheme) {
		return host, nil
	}
	engine, err := dial(host, "")
	if err != nil {
		return "", err
	}
	return engine.DaemonHost(), engine.Close()
}

// dial makes the client of an engine, without speaking to it; an empty address is the usual socket.
func dial(address, certs string) (engine *client.Client, err error) {
	options := []client.Opt{client.FromEnv}
	switch {
	case strings.HasPrefix(address, sshScheme):
		options, err = overSSH(address)
	case certs != "" && strings.HasPrefix(address, tcpScheme):
		options = []client.Opt{
			client.WithHost(address),
			client.WithTLSClientConfig(filepath.Join(certs, caFile), filepath.Join(certs, certFile), filepath.Join(certs, keyFile)),
		}
	case address != "":
		options = append(options, client.WithHost(address))
	}

	if err == nil {
		engine, err = client.New(options...)
	}
	if err != nil {
		return nil, fmt.Errorf("docker: %w", err)
	}
	return engine, nil
}

func overSSH(address string) ([]client.Opt, error) {
	helper, err := connhelper.GetConnectionHelperWithSSHOpts(address, sshOptions)
	if err != nil {
		return nil, err
	}
	return []client.Opt{
		client.WithHost(helper.Host),
		client.WithDialContext(func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := helper.Dialer(context.WithoutCancel(ctx), network, addr) // the program lives as long as the connection, and not as the request
			if err != nil {
				return nil, err
			}
			return overProgram{conn}, nil
		}),
	}, nil
}

// overProgram is a connection to an engine by the ssh program. Its errors say that the connection failed: why, the program says for the log,
// with the engine's address.
type overProgram struct{ net.Conn }

// Read reads what the engine says.
func (c overProgram) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, ofConnection("read", err)
}

// Write says something to the engine.
func (c overProgram) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, ofConnection("write", err)
}

// CloseWrite tells the engine that nothing more comes.
func (c overProgram) CloseWrite() error { return closeWrite(c.Conn) }

// ofConnection makes the error of a program one of a connection. The end is none.
func ofConnection(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: "ssh", Err: err}
}

// closeWrite closes the direction to the other side, where that can be told; else it gives errors.ErrUnsupported.
func closeWrite(c net.Conn) error {
	if half, can := c.(interface{ CloseWrite() error }); can {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// checkEngine refuses an address of a host's engine that cannot be used. Whoever reaches an engine owns its machine: over a network it is
// spoken to with certificates, or by the ssh program.
func checkEngine(address, certs string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("it is no address like tcp://10.0.0.7:2376, ssh://user@box or unix:///run/docker.sock")
	}

	switch u.Scheme + "://" {
	case unixScheme:
		if u.Host != "" || u.Path == "" {
			return errors.New("it must be like unix:///run/docker.sock")
		}
	case tcpScheme:
		if u.Port() == "" || strings.Trim(u.Path, "/") != "" || u.User != nil {
			return errors.New("it must be like tcp://10.0.0.7:2376")
		}
		if ip, err := netip.ParseAddr(u.Hostname()); certs == "" && (err != nil || !ip.IsLoopback()) {
			return errors.New("an engine over TCP needs certificates, which --" + certsSetting + " names: whoever reaches it owns its machine")
		}
	case sshScheme:
		if _, err := exec.LookPath("ssh"); err != nil {
			return errors.New("the program ssh is not installed here")
		}
	default:
		return fmt.Errorf("it begins with %s://, and must begin with %s, %s or %s", u.Scheme, tcpScheme, sshScheme, unixScheme)
	}

	engine, err := dial(address, certs)
	if err != nil {
		return err
	}
	return engine.Close()
}

// certsOf gives the directory with the certificates for the engine of a host: one of its name in the directory of all, or else that one.
func certsOf(certs, hostID string) string {
	own := filepath.Join(certs, hostID)
	if certs == "" || !filepath.IsLocal(hostID) || !isDirectory(own) {
		return certs
	}
	return own
}

// machineOf gives the name or address of the machine of an engine; empty: it is this one.
func machineOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "unix" {
		return ""
	}
	return u.Hostname()
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

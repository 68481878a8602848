package kubernetes

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/berthdev/berth/impl/runtime"
)

// wrapped runs the command of its arguments after the first two, which are the mark and where it runs: the API takes neither variables nor a folder.
const wrapped = `export ` + runtime.EnvExec + `="$1"; [ -z "$2" ] || cd -- "$2" || exit ` + notRun + `; shift 2; exec "$@"`

const notRun = "126" // runtime.ExitNotRun

// errNotBegun says that the node could not begin a command: there is no such program, or the container has just ended.
var errNotBegun = errors.New("kubernetes: the node could not begin the command")

// Exec runs a command through the API server and the node. It goes by the sh of the image, if there is one: without it a command can have
// neither variables nor a folder of its own, and one that nobody waits for any more goes on until the Pod ends.
func (h *Runtime) Exec(ctx context.Context, id string, e runtime.Exec) (int, error) {
	if err := h.ready(ctx); err != nil {
		return 0, err
	}
	p, state, err := h.find(id)
	switch {
	case err != nil:
		return 0, err
	case state.Phase != runtime.Up:
		return 0, runtime.ErrNotUp
	}

	mark := rand.Text()
	shell, err := h.hasShell(ctx, p)
	if err != nil {
		return 0, err
	}
	if shell {
		e.Command = wrap(e, mark)
	} else if len(e.Env) > 0 || e.Dir != "" {
		return runtime.ExitNotFound, nil
	}

	code, err := h.client.attach(ctx, p.Metadata.Name, e)
	switch {
	case ctx.Err() != nil:
		h.hangUp(p, mark, shell)
		return 0, ctx.Err()
	case err == nil:
		return code, nil
	}
	if _, now, found := h.find(id); found != nil || now.Phase != runtime.Up || isGone(err) {
		return 0, fmt.Errorf("%w: %w", runtime.ErrNotUp, err)
	}
	if errors.Is(err, errNotBegun) {
		return runtime.ExitNotFound, nil
	}
	h.hangUp(p, mark, shell)
	return 0, err
}

// wrap gives the command that sets up another one and becomes it.
func wrap(e runtime.Exec, mark string) []string {
	command := []string{"sh", "-c", wrapped, "sh", mark, e.Dir}
	if len(e.Env) > 0 {
		command = append(append(command, "env"), e.Env...)
	}
	return append(command, e.Command...)
}

// hasShell reports whether the image has sh. It is asked once of each Pod.
func (h *Runtime) hasShell(ctx context.Context, p *pod) (bool, error) {
	h.mu.Lock()
	found := h.entries[p.Metadata.UID]
	known := found != nil && found.looked
	has := known && found.shell
	h.mu.Unlock()
	if known {
		return has, nil
	}

	code, err := h.client.attach(ctx, p.Metadata.Name, runtime.Exec{Command: []string{"sh", "-c", ":"}})
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case isGone(err):
		return false, fmt.Errorf("%w: %w", runtime.ErrNotUp, err)
	case err != nil && !errors.Is(err, errNotBegun):
		return false, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if found = h.entries[p.Metadata.UID]; found != nil {
		found.looked, found.shell = true, err == nil && code == 0
	}
	return err == nil && code == 0, nil
}

// hangUp ends the command with that mark, beside everything else.
func (h *Runtime) hangUp(p *pod, mark string, shell bool) {
	if !shell || h.ctx.Err() != nil {
		return
	}
	h.work.Go(func() {
		_, err := h.client.attach(h.ctx, p.Metadata.Name, runtime.Exec{Command: runtime.HangUp(mark)})
		if err != nil && h.ctx.Err() == nil {
			h.config.Log.Debug("a command that nobody waits for could not be ended", "error", err)
		}
	})
}

// execQuery says which command is to run, and which streams it has.
func execQuery(e runtime.Exec) url.Values {
	return url.Values{
		"container": {containerName}, "command": e.Command, "stdin": {strconv.FormatBool(e.Stdin != nil)}, "stdout": {"true"},
		"stderr": {strconv.FormatBool(e.TTY == nil)}, "tty": {strconv.FormatBool(e.TTY != nil)},
	}
}

// newSocketClient gives a client for websockets, which need HTTP/1.1.
func newSocketClient(t *http.Transport) *http.Client {
	t = t.Clone()
	t.ForceAttemptHTTP2, t.HTTP2, t.TLSNextProto = false, nil, map[string]func(string, *tls.Conn) http.RoundTripper{}
	if t.TLSClientConfig != nil {
		t.TLSClientConfig.NextProtos = []string{"http/1.1"}
	}
	return &http.Client{Transport: t}
}

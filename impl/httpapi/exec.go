package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/shell"
	"github.com/berthdev/berth/impl/shell/wire"
)

// The paths of commands.
const (
	execPodPath    = "/_berth/pods/{podId}/exec"
	execWorkerPath = "/_berth/endpoints/{endpointId}/workers/{workerId}/exec"
)

// runsCommands reports whether an operation of the controls runs commands: it takes the scope of who changes what they run in.
func runsCommands(path string) bool { return path == execPodPath || path == execWorkerPath }

// authorization gives the header that shows the key. Pages in browsers cannot send it with a websocket, and show the key otherwise.
func authorization(r *http.Request) string {
	sent := r.Header.Get(echo.HeaderAuthorization)
	if sent == "" && strings.HasPrefix(r.URL.Path, "/_berth/") && strings.HasSuffix(r.URL.Path, "/exec") {
		if key := wire.Key(r.Header); key != "" {
			return "Bearer " + key
		}
	}
	return sent
}

// ExecPod is GET /_berth/pods/{podId}/exec.
func (h controlsHandlers) ExecPod(c echo.Context, id string, p controls.ExecPodParams) error {
	if err := h.checkOrigin(c.Request()); err != nil {
		return err
	}
	target, err := h.Shells.Pod(contextOf(c), callerOf(c).UserID, compute.PodID(id))
	if err != nil {
		return err
	}
	return h.exec(c, target, p)
}

// ExecWorker is GET /_berth/endpoints/{endpointId}/workers/{workerId}/exec.
func (h controlsHandlers) ExecWorker(c echo.Context, endpoint, id string, p controls.ExecWorkerParams) error {
	if err := h.checkOrigin(c.Request()); err != nil {
		return err
	}
	target, err := h.Shells.Worker(contextOf(c), callerOf(c).UserID, compute.EndpointID(endpoint), compute.WorkerID(id))
	if err != nil {
		return err
	}
	return h.exec(c, target, controls.ExecPodParams(p))
}

// checkOrigin refuses what a page of another origin asks for (rule exec.origin).
func (h controlsHandlers) checkOrigin(r *http.Request) error {
	if origin := r.Header.Values(echo.HeaderOrigin); len(origin) > 0 {
		of, err := url.Parse(origin[0])
		if err != nil || len(origin) > 1 || of.Host == "" || !strings.EqualFold(of.Host, h.Proxies.Host(r)) {
			return compute.Errorf(compute.Forbidden, "the request is one of a page of another origin")
		}
	}
	return nil
}

// exec speaks of a command until it has ended.
func (h controlsHandlers) exec(c echo.Context, t shell.Target, p controls.ExecPodParams) error {
	r := requestOf(c)
	if err := wire.Check(r.Request()); err != nil {
		return err
	}
	key := r.caller.Key
	session, err := h.Shells.Begin(t, shell.By{User: r.caller.UserID, Through: "http", Of: string(key.ID), From: h.Proxies.Client(r.Request()), Request: r.Response().Header().Get(echo.HeaderXRequestID)})
	if err != nil {
		return err
	}
	defer session.End()
	r.isOver() // the clock need not wait for it

	var tty *wire.Size
	if value(p.Tty) {
		tty = &wire.Size{Width: uint16(value(p.Width)), Height: uint16(value(p.Height))}
	}
	shown := authorization(c.Request())
	still := func() bool {
		now, _, err := h.Keyring.Authenticate(context.WithoutCancel(contextOf(c)), shown, false)
		return err == nil && now.ID == key.ID && now.Role == key.Role || compute.CodeOf(err) == compute.Unavailable
	}
	wire.Serve(h.Shells.Ending, c.Response(), c.Request(), value(p.Stdin), tty, still, func(ctx context.Context, e runtime.Exec) (int, error) {
		if len(p.Command) > 1 || len(p.Command) == 1 && p.Command[0] != "" { // generated clients write an empty list as command=
			e.Command = p.Command
		}
		return session.Run(ctx, e)
	})
	return nil
}

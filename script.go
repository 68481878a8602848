package berth

import (
	"context"
	nethttp "net/http" // http is a name of the tests of this package

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/controlsclient"
)

// What a script is, as spec/controls.yaml describes it.
type (
	// Script is what the workers of an endpoint do that has no handler.
	Script = controls.Script
	// ScriptAnswer is what a worker does with the jobs that match it.
	ScriptAnswer = controls.ScriptAnswer
	// ScriptDelay is how long it works on one.
	ScriptDelay = controls.ScriptDelay
	// UniformDelay is a delay of which each is as likely as the others.
	UniformDelay = controls.UniformDelay
	// NormalDelay is a delay around a mean.
	NormalDelay = controls.NormalDelay
	// ExponentialDelay is a delay that is mostly short, and long now and then.
	ExponentialDelay = controls.ExponentialDelay
	// ScriptStep is a progress report or a chunk.
	ScriptStep = controls.ScriptStep
	// ScriptCrash is the end of the worker by itself.
	ScriptCrash = controls.ScriptCrash
	// ScriptRefresh ends the job and has its worker replaced.
	ScriptRefresh = controls.ScriptRefresh
	// ColdStart is how long the start of a worker takes.
	ColdStart = controls.ColdStart
	// ScriptedFlashBoot is how likely a start is a short one.
	ScriptedFlashBoot = controls.ScriptedFlashBoot
	// PlayedScript is a script with how often its answers were used.
	PlayedScript = controls.ShownScript
)

// EndpointScript is the script of one endpoint of a simulated server: what its workers do, without a handler.
type EndpointScript struct {
	s  *Server
	id string
}

// Script gives the script of the endpoint with that id, which was made over an API: those of Options.Endpoints have workers of their own. It
// panics unless the runtime is RuntimeSim: what really runs has no test controls.
func (s *Server) Script(endpointID string) EndpointScript {
	s.needControls("scripts")
	return EndpointScript{s, endpointID}
}

// Set sets the script, in place of the one that there was. The error is that of one that makes no sense, of an endpoint that can have none, or of
// ctx.
func (e EndpointScript) Set(ctx context.Context, script Script) error {
	return e.s.ask(nil, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.SetScript(ctx, e.id, script) })
}

// Get gives the script with its counts. The error is that there is none, or that of ctx.
func (e EndpointScript) Get(ctx context.Context) (script PlayedScript, err error) {
	err = e.s.ask(&script, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.GetScript(ctx, e.id) })
	return script, err
}

// Delete takes the script back; an endpoint without one is no error. The error is that there is no such endpoint, or that of ctx.
func (e EndpointScript) Delete(ctx context.Context) error {
	return e.s.ask(nil, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.DeleteScript(ctx, e.id) })
}

package berth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	nethttp "net/http" // http is a name of the tests of this package

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/controlsclient"
)

// needControls panics unless the server has test controls, which what really runs has not.
func (s *Server) needControls(what string) {
	if s.ControlsKey() == "" {
		panic("berth: only a simulated server has " + what)
	}
}

// Reset forgets everything but users, keys, endpoints of Options and the time of the clock, and has what the seed has there again. It panics unless the
// runtime is RuntimeSim.
func (s *Server) Reset(ctx context.Context) error {
	s.needControls("a reset")
	return s.ask(nil, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.ResetState(ctx) })
}

// ask makes a request to the test controls and reads the answer.
func (s *Server) ask(answer any, request func(*controlsclient.Client) (*nethttp.Response, error)) error {
	return s.askWith(s.ControlsKey(), answer, request)
}

// askWith is ask with a key.
func (s *Server) askWith(key string, answer any, request func(*controlsclient.Client) (*nethttp.Response, error)) (err error) {
	c, err := controlsclient.NewClient(s.URL(), controlsclient.WithHTTPClient(s.client), controlsclient.WithRequestEditorFn(func(_ context.Context, r *nethttp.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}))
	if err != nil {
		return err
	}
	res, err := request(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()

	text, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return err
	case res.StatusCode == nethttp.StatusNoContent:
		return nil
	case res.StatusCode != nethttp.StatusOK && res.StatusCode != nethttp.StatusCreated:
		return refused(res.Status, text)
	}
	return json.Unmarshal(text, answer)
}

// refused is the error of an answer that is a problem.
func refused(status string, text []byte) error {
	var p controls.Problem
	if err := json.Unmarshal(text, &p); err != nil {
		return fmt.Errorf("the server answers %s", status)
	}
	err := errors.New(p.Detail)
	for _, line := range p.Errors {
		err = fmt.Errorf("%w; %s", err, line)
	}
	return err
}

package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Suite is the rules beside a target.
type Suite struct {
	Target
	Beside    []Target // servers like the target, each with a clock of its own: rules that set clocks are checked beside all at the same time
	Documents *Documents
	Patience  time.Duration       // how long is waited for what happens unasked; 0: a minute
	RealTime  time.Duration       // for how long a rule may wait in real time for what the clock of test controls would bring at once
	Waits     func(time.Duration) // is called with how long the target takes no requests; may be nil

	noEndpoint string // why the target has no endpoint for the rules

	mu       sync.Mutex
	ended    error     // why the run ended before its rules; nil: it did not
	webhooks *bool     // whether webhooks of the target reach this machine; nil: not known yet
	waits    time.Time // until when is waited for the target to take requests

	calm map[string]bool // base addresses of targets with what Check.begin sets, and nothing else
}

// disturbed reports whether a rule may have changed what Check.begin sets at the target of that address.
func (s *Suite) disturbed(address string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.calm[address]
}

func (s *Suite) disturb(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calm, address)
}

func (s *Suite) undisturbed(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calm == nil {
		s.calm = map[string]bool{}
	}
	s.calm[address] = true
}

func (s *Suite) patience() time.Duration {
	if s.Patience == 0 {
		return patience
	}
	return s.Patience
}

// stop ends the run: the rules that have not begun are not run.
func (s *Suite) stop(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = why
	}
}

// wait reports that rules wait for so long for the target to take requests; several may wait for the same.
func (s *Suite) wait(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.After(s.waits) && s.Waits != nil {
		s.Waits(d)
	}
	s.waits = now.Add(d)
}

func (s *Suite) stopped() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// lost stops the run if the target answers nothing, not even when it is asked again: that it ended one connection says little.
func (s *Suite) lost(ctx context.Context, target Target) {
	for _, base := range []string{target.URL, target.QueueURL} {
		var err error
		for range 3 {
			if _, err = ask(ctx, http.MethodGet, base+"/v2/pods", "", ""); err == nil || ctx.Err() != nil {
				break
			}
			<-time.After(time.Second)
		}
		if err != nil && ctx.Err() == nil {
			s.stop(err)
			return
		}
	}
}

// ask makes a request outside of any rule, once. It fails with ErrUnreached if there is no answer.
func ask(ctx context.Context, method, address, key, body string) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // a machine may be slow
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}

	req.Close = true // a connection of its own
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}

	a, err := do(req)
	if err != nil {
		var cause *url.Error
		if errors.As(err, &cause) { // the method and the address are named anyway
			err = cause.Err
		}
		if errors.Is(err, errTooLong) {
			return Answer{}, fmt.Errorf("%w: %s: %w", ErrRefused, req.URL.Host, err)
		}
		return Answer{}, fmt.Errorf("%w: %s: %w", ErrUnreached, req.URL.Host, err)
	}

	return a, nil
}

// ask makes a request outside of any rule, once the limits of the target allow it. It fails with ErrUnreached if there is no
// answer, and with ErrRefused if the limits are in the way for longer than is waited.
func (s *Suite) ask(ctx context.Context, method, address, key, body string) (Answer, error) {
	for {
		a, err := ask(ctx, method, address, key, body)
		if err != nil || a.Status != http.StatusTooManyRequests {
			return a, err
		}
		wait := a.after()
		if wait > longest {
			return a, s.refusedFor(wait)
		}

		s.wait(wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return a, ctx.Err()
		}
	}
}

// refusedFor is the error of limits that refuse requests for so long.
func (*Suite) refusedFor(wait time.Duration) error {
	return fmt.Errorf("%w: its limits refuse requests for %s", ErrRefused, wait)
}

// prepare sees whether the target can be checked, and makes what the rules need of it; leave takes that back. It fails with
// ErrUnreached or ErrRefused.
func (s *Suite) prepare(ctx context.Context) (leave func(), err error) {
	leave = func() {}
	if err := s.admitted(ctx); err != nil {
		return leave, err
	}

	for _, id := range []string{s.Endpoint, s.Managed, s.Declared} {
		if id == "" {
			continue
		}
		if err := s.known(ctx, id); err != nil {
			return leave, err
		}
		if one := s.endpoint(ctx, id); s.Declared == "" && one != nil && one["disk"] == nil { // settings say nothing of hardware
			s.Declared = id
		}
	}

	if s.ControlsKey != "" {
		return s.unlimited(ctx)
	}
	if s.Endpoint == "" || s.served(ctx) {
		return s.lend(ctx)
	}

	return leave, nil
}

// admitted fails unless the target takes the keys.
func (s *Suite) admitted(ctx context.Context) error {
	for _, key := range []string{s.Key, cmp.Or(s.ExemptKey, s.Key)} {
		a, err := s.ask(ctx, http.MethodGet, s.URL+"/v2/pods", key, "")
		if err != nil {
			return err
		}
		if a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden {
			return fmt.Errorf("%w: the key: %s", ErrRefused, a.summary())
		}
	}

	if s.ControlsKey == "" {
		return nil
	}
	a, err := s.ask(ctx, http.MethodGet, s.URL+controlsPath+"clock", s.ControlsKey, "")
	if err != nil {
		return err
	}
	if a.Status != http.StatusOK {
		return fmt.Errorf("%w: the key of the test controls: %s", ErrRefused, a.summary())
	}

	return nil
}

// known fails unless the target knows the endpoint, by its queue or by REST: a target may have the one or the other alone.
func (s *Suite) known(ctx context.Context, id string) error {
	for _, address := range []string{s.QueueURL + "/v2/" + id + "/health", s.URL + serverless + "/" + id} {
		a, err := s.ask(ctx, http.MethodGet, address, s.Key, "")
		if err != nil {
			return err
		}
		if a.Status == http.StatusOK {
			return nil
		}
	}
	return fmt.Errorf("%w: it has no endpoint %s", ErrRefused, id)
}

// served reports whether the target starts workers of the endpoint, who would take the jobs that the rules play the worker of.
func (s *Suite) served(ctx context.Context) bool {
	workers, _ := s.endpoint(ctx, s.Endpoint)["workers"].(map[string]any)
	most, ok := workers["max"].(float64)
	return ok && most > 0
}

// endpoint reads an endpoint over REST; nil: it is not there, or the target has no such interface.
func (s *Suite) endpoint(ctx context.Context, id string) map[string]any {
	a, err := s.ask(ctx, http.MethodGet, s.URL+serverless+"/"+id, s.Key, "")
	if err != nil || a.Status != http.StatusOK {
		return nil
	}
	return a.object()
}

// lent is an endpoint without workers.
const lent = `{"name":"conformance","type":"QUEUE","image":"none",
	"cpu":[{"id":"cpu3g","vcpuCount":2}],"workers":{"max":0},"timeout":600000,"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`

// lend makes an endpoint without workers for the time of the run. One that was named and has workers is the managed one then.
func (s *Suite) lend(ctx context.Context) (leave func(), err error) {
	if s.Managed == "" {
		s.Managed = s.Endpoint
	}
	s.Endpoint = ""
	a, err := s.ask(ctx, http.MethodPost, s.URL+serverless, s.Key, lent)
	if err != nil {
		return func() {}, err
	}

	id, _ := a.object()["id"].(string)
	if a.Status != http.StatusCreated || id == "" {
		s.noEndpoint = "none was named, and the target makes none: " + a.summary()
		return func() {}, nil
	}

	s.Endpoint = id
	return func() {
		ctx := context.WithoutCancel(ctx)
		if _, err := s.ask(ctx, http.MethodDelete, s.URL+serverless+"/"+id, s.Key, ""); errors.Is(err, ErrRefused) { // GraphQL has no quota of requests
			_, _ = s.ask(ctx, http.MethodPost, s.URL+graphqlPath, s.Key, `{"query":"mutation{deleteEndpoint(id:\"`+id+`\")}"}`)
		}
	}, nil
}

// unlimited sees that the quotas, which the rules set, are again as they are now when the run ends.
func (s *Suite) unlimited(ctx context.Context) (leave func(), err error) {
	a, err := s.ask(ctx, http.MethodGet, s.URL+"/v2/pods", s.Key, "")
	if err != nil {
		return func() {}, err
	}
	quotas := policyOf(a)
	if quotas == nil {
		return func() {}, nil // an exempt key: no header shows them
	}
	return func() {
		body := fmt.Sprintf(`{"minute":%s,"hour":%s,"day":%s}`, quotas[0], quotas[1], quotas[2])
		_, _ = s.ask(context.WithoutCancel(ctx), http.MethodPut, s.URL+controlsPath+"quotas", s.ControlsKey, body)
	}, nil
}

// Select gives the rules of an edition of the contract (empty: the strict one) whose ids are named, or begin with a name and a dot,
// less those to be skipped; without names all are. Areas are the first parts of ids. It fails at a name that is of no rule.
func Select(edition string, only, skip, areas []string) ([]Rule, error) {
	all, err := RulesOf(edition)
	if err != nil {
		return nil, err
	}
	for flag, names := range map[string][]string{"only": only, "skip": skip, "area": areas} {
		for _, name := range names {
			if !slices.ContainsFunc(all, func(r Rule) bool { return named(r.ID, name) && (flag != "area" || !strings.Contains(name, ".")) }) {
				return nil, fmt.Errorf("--%s: there is no rule %q", flag, name)
			}
		}
	}

	among := func(id string, names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return named(id, name) })
	}
	wanted := slices.DeleteFunc(all, func(r Rule) bool {
		return len(only) > 0 && !among(r.ID, only) || len(areas) > 0 && !among(r.ID, areas) || among(r.ID, skip)
	})
	if len(wanted) == 0 {
		return nil, errors.New("no rule is left to be checked")
	}

	return wanted, nil
}

// named reports whether the name is the rule's id, or that of a group of rules that it is in.
func named(id, name string) bool { return id == name || strings.HasPrefix(id, name+".") }

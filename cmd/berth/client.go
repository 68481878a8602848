package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controlsclient"
	"github.com/berthdev/berth/gen/queueclient"
	"github.com/berthdev/berth/gen/restclient"
	"github.com/berthdev/berth/impl/record"
	"github.com/berthdev/berth/impl/setting"
)

// requestTime is how long an answer may take, beyond what the server was asked to wait.
const requestTime = 30 * time.Second

// longWork is how long a server may take for what grows with all that it has, such as a saved state.
const longWork = time.Hour

// slowLine is how many bytes a second the slowest line carries on which a long document is sent.
const slowLine = 16 << 10

// mostAnswer is how many bytes an answer may have that is read as a whole: no server is to take all memory.
const mostAnswer = 64 << 20

// mostRedirects is how many redirects of a request are followed.
const mostRedirects = 10

// addConnection adds the flags that say where the server is.
func addConnection(cmd *cobra.Command) {
	addSettings(cmd, cmd.PersistentFlags(), settingsFor(setting.Client))
}

// connection speaks to a server, with the generated clients: their paths and parameters are those of the documents.
type connection struct {
	rest     *restclient.Client
	queue    *queueclient.Client
	controls *controlsclient.Client
	server   string
	keyed    bool
	// authorize adds what shows who asks.
	authorize func(context.Context, *http.Request) error
}

// connect reads the flags; it does not speak to the server yet.
func connect(cmd *cobra.Command) (*connection, error) {
	flags := cmd.Flags()
	server, _ := flags.GetString("server")
	queueServer, _ := flags.GetString("queue-server")
	key, _ := flags.GetString("key")
	if !isBase(server) {
		return nil, misuse(fmt.Errorf("--server: %q is not an http or https URL", withoutPassword(server)), "")
	}
	if queueServer != "" && !isBase(queueServer) {
		return nil, misuse(fmt.Errorf("--queue-server: %q is not an http or https URL", withoutPassword(queueServer)), "")
	}
	return dial(server, queueServer, key)
}

// dial gives a connection to a server, whose queue is at the same address if none is given; it does not speak to it yet.
func dial(server, queueServer, key string) (*connection, error) {
	authorize := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(key))
		r.Header.Set("User-Agent", "berth/"+version)
		return nil
	}
	c := &connection{server: strings.TrimSuffix(server, "/"), keyed: key != "", authorize: authorize}
	doer := &http.Client{CheckRedirect: sameMethod}
	var err, err2, err3 error
	c.rest, err = restclient.NewClient(c.server, restclient.WithHTTPClient(doer), restclient.WithRequestEditorFn(authorize))
	c.queue, err2 = queueclient.NewClient(strings.TrimSuffix(cmp.Or(queueServer, server), "/"), queueclient.WithHTTPClient(doer), queueclient.WithRequestEditorFn(authorize))
	c.controls, err3 = controlsclient.NewClient(c.server, controlsclient.WithHTTPClient(doer), controlsclient.WithRequestEditorFn(authorize))
	return c, errors.Join(err, err2, err3)
}

// sameMethod follows redirects only with the method of the request. Where a DELETE would become a GET, as with 301, it would do nothing, and its
// answer would look as if all was done.
func sameMethod(to *http.Request, via []*http.Request) error {
	if len(via) >= mostRedirects || to.Method != via[0].Method {
		return http.ErrUseLastResponse
	}
	return nil
}

func isBase(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && slices.Contains([]string{"http", "https"}, u.Scheme)
}

// withoutPassword gives an address as it may be printed: without a password and keys that it has. Messages end in logs of others.
func withoutPassword(address string) string {
	if setting.HasPassword(address) {
		address = setting.Redacted(address)
	}
	if before, query, has := strings.Cut(address, "?"); has {
		return before + "?" + record.MaskedQuery(query)
	}
	return address
}

// request is one call of a generated client.
type request func(context.Context) (*http.Response, error)

// ask makes a request and gives the body of its answer, empty for 204. It fails with a failure: exitUnreached if there is
// no answer, exitRefused if it is an error.
func (c *connection) ask(ctx context.Context, r request) ([]byte, error) {
	return c.hold(ctx, 0, r)
}

// timeToSend is how long a document may take on its way to the server.
func timeToSend(document []byte) time.Duration {
	return time.Duration(len(document)) * time.Second / slowLine
}

// coming is an answer that comes, which has as long as the slowest line takes for it, and requestTime at most for the next piece.
type coming struct {
	io.Reader
	late  *time.Timer
	began time.Time
	bytes int64
}

func (r *coming) Read(p []byte) (int, error) {
	if r.began.IsZero() {
		r.began = time.Now()
		r.late.Reset(requestTime)
	}
	n, err := r.Reader.Read(p)
	if r.bytes += int64(n); n > 0 {
		r.late.Reset(min(requestTime, time.Until(r.began.Add(requestTime+time.Duration(r.bytes)*time.Second/slowLine))))
	}
	return n, err
}

// hold is ask for a request that the server was asked to hold so long, or whose work takes so long.
func (c *connection) hold(ctx context.Context, d time.Duration, r request) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(d+requestTime, func() { cancel(fmt.Errorf("%w within %s", errLate, d+requestTime)) })
	defer late.Stop()
	res, err := r(ctx)
	if err != nil {
		return nil, c.unreached(causeOf(ctx, err))
	}

	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(&coming{Reader: res.Body, late: late}, mostAnswer+1))
	if err != nil {
		return nil, c.unreached(causeOf(ctx, err))
	}
	if len(body) > mostAnswer {
		return nil, &failure{code: exitRefused, cause: fmt.Errorf("%s answered with more than %d MiB", withoutPassword(c.server), mostAnswer>>20), hint: "is it a berth?"}
	}
	if res.StatusCode/100 != 2 {
		return nil, c.refused(res, body)
	}

	return body, nil
}

// fetch is ask for a document of a type; the document as it came is given too.
func fetch[T any](ctx context.Context, c *connection, r request) (document T, body []byte, err error) {
	if body, err = c.ask(ctx, r); err == nil {
		document, err = parse[T](c, body)
	}
	return document, body, err
}

// parse reads a document.
func parse[T any](c *connection, body []byte) (document T, err error) {
	if err = json.Unmarshal(body, &document); err != nil {
		err = &failure{code: exitRefused, cause: fmt.Errorf("%s answered with something else than the document: %w", withoutPassword(c.server), err), hint: "is it a berth, and of this version?"}
	}
	return document, err
}

// unreached is the failure of a request without an answer. One of what was to be sent is given as it is.
func (c *connection) unreached(err error) error {
	var own *failure
	if errors.As(err, &own) {
		return own
	}
	var cause *url.Error
	if errors.As(err, &cause) { // it has the URL, which says nothing more
		err = cause.Err
	}
	return &failure{
		code: exitUnreached, cause: fmt.Errorf("%s was not reached: %w", withoutPassword(c.server), err),
		hint: "start a server with berth serve, or name another with --server or BERTH_SERVER",
	}
}

// refusal is an answer that is an error.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// isStatus reports whether the server refused with one of those statuses.
func isStatus(err error, statuses ...int) bool {
	var r *refusal
	return errors.As(err, &r) && slices.Contains(statuses, r.status)
}

// refused is the failure of a request that the server refused.
func (c *connection) refused(res *http.Response, body []byte) error {
	var problem struct {
		Title, Detail string
		Errors        []string
	}
	text := fmt.Sprintf("%d %s", res.StatusCode, http.StatusText(res.StatusCode))
	if json.Unmarshal(body, &problem) == nil && problem.Detail != "" {
		text += ": " + oneLine(problem.Detail)
	}
	f := &failure{code: exitRefused, cause: &refusal{status: res.StatusCode, text: text}}
	for _, violation := range problem.Errors {
		f.notes = append(f.notes, oneLine(violation))
	}

	switch status := res.StatusCode; {
	case status/100 == 3 && leadsTo(res) != nil:
		to := leadsTo(res)
		f.hint = fmt.Sprintf("it leads to %s: --server should name that address, %s://%s", oneLine(withoutPassword(to.String())), to.Scheme, oneLine(to.Host))
	case status == http.StatusUnauthorized && !c.keyed:
		f.hint = "no key is set: make one with berth keys create where the server's data is, and export it as BERTH_KEY"
	case status == http.StatusUnauthorized:
		f.hint = "make another key with berth keys create where the server's data is, and export it as BERTH_KEY"
	case status == http.StatusForbidden:
		f.hint = "the key lacks a scope: berth keys create --scope gives one to a new key"
	case status == http.StatusTooManyRequests:
		f.hint = fmt.Sprintf("try again in %s seconds", cmp.Or(res.Header.Get("Retry-After"), "some"))
	case status >= 500:
		f.hint = fmt.Sprintf("the log of the server says more; the request's id is %s", cmp.Or(res.Header.Get("X-Request-Id"), "not known"))
	case problem.Detail == "":
		f.hint = fmt.Sprintf("this is not how a berth answers: is one at %s?", withoutPassword(c.server))
	}

	return f
}

// leadsTo gives the address elsewhere that an answer leads to; nil if it leads to none.
func leadsTo(res *http.Response) *url.URL {
	to, err := res.Location()
	if err != nil || to.Host == "" {
		return nil
	}
	return to
}

// passing reports whether a request that failed so may succeed later. Proxies say by 502 and 504 that the server is away.
func passing(err error) bool {
	var f *failure
	return errors.As(err, &f) && f.code == exitUnreached ||
		isStatus(err, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout)
}

// endpoint gives the id of an endpoint that is named by it or by its name.
func (c *connection) endpoint(ctx context.Context, named string) (string, error) {
	return endpoints().kind().locate(ctx, c, named)
}

// pod gives the id of a pod that is named by it or by its name.
func (c *connection) pod(ctx context.Context, named string) (string, error) {
	return pods().kind().locate(ctx, c, named)
}

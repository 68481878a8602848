package graphql

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/problem"
	"github.com/berthdev/berth/impl/validate"
)

// The bounds of bodies that are no settings.
const (
	anonymousBody = 64 << 10    // bytes, without a key (rule graphql.anonymous.size)
	longBody      = time.Second // that one takes before its key is looked at again
	bodyValues    = 20_000      // of JSON: of all that a megabyte can have, they would take a hundred (rule graphql.size.values)
)

// read reads the request, or gives the status and the reason of its refusal. leave is to be called when the request needs no memory any more;
// it may be nil.
func (h *Handler) read(ctx context.Context, w http.ResponseWriter, r *http.Request) (params *graphql.RawParams, leave func(), status int, err error) {
	if r.Method != http.MethodPost {
		allow := http.MethodPost
		if h.Playground {
			allow = "GET, POST"
		}
		w.Header().Set("Allow", allow)
		return nil, nil, http.StatusMethodNotAllowed, compute.Errorf(compute.Rejected, "only POST is answered")
	}

	if fault := validate.ContentType(r.Header.Get("Content-Type")); fault != "" {
		return nil, nil, http.StatusUnsupportedMediaType, compute.Errorf(compute.Rejected, "%s", fault)
	}
	if fault := validate.ContentEncoding(r.Header.Values("Content-Encoding")); fault != "" {
		w.Header().Set("Accept-Encoding", "identity")
		return nil, nil, http.StatusUnsupportedMediaType, compute.Errorf(compute.Rejected, "%s", fault)
	}
	most, key := h.Limits.Body, keyOf(ctx)
	if key == "" {
		most = min(most, anonymousBody)
	}
	began := compute.SystemClock{}.Now()
	body, leave, err := h.Bodies.Read(ctx, key, r.Body, r.ContentLength, most)
	if err != nil {
		return nil, nil, statusOf(err), unread(err, most)
	}
	if key != "" && (compute.SystemClock{}).Now().Sub(began) >= longBody {
		if _, err := h.authenticate(r); compute.CodeOf(err) == compute.Unauthenticated { // the key may have been revoked meanwhile (rule auth.revoked.body)
			h.noteRefused(r, err)
			return nil, leave, statusOf(err), err
		}
	}

	callOf(ctx).body = body
	params, err = parse(body)
	return params, leave, http.StatusBadRequest, err
}

// unread is the failure of a body that could not be read.
func unread(err error, most int64) error {
	_, known := errors.AsType[*compute.Error](err)
	switch {
	case known || errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, limit.ErrTooLarge):
		return compute.Errorf(compute.Rejected, "the body is over the limit of %d bytes", most)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return compute.Errorf(compute.Rejected, "the body came too slowly")
	}
	return &compute.Error{Code: compute.Rejected, Detail: "the body ended early", Cause: err}
}

func statusOf(err error) int {
	switch own, known := errors.AsType[*compute.Error](err); {
	case known:
		return problem.Of(own).Status
	case errors.Is(err, limit.ErrTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}

// parse reads a body: an object with query and, if there are some, variables and operationName. Other members, which other
// servers know, have no effect. Rejected for what is not that or has too many values, Invalid for a member that appears twice.
func parse(body []byte) (*graphql.RawParams, error) {
	unreadable := compute.Errorf(compute.Rejected, "the body is not a JSON object with query, and variables where there are some")
	twice, err := validate.Check(body, bodyValues)
	switch {
	case errors.Is(err, validate.ErrValues):
		return nil, compute.Errorf(compute.Rejected, "the body has too many values; the limit is %d", bodyValues)
	case err != nil:
		return nil, unreadable
	case len(twice) > 0:
		return nil, compute.Errorf(compute.Invalid, "%s", twice[0])
	}

	var members map[string]json.RawMessage // exact names: fields of a struct would be found in any case
	if err := json.Unmarshal(body, &members); err != nil || members["query"] == nil {
		return nil, unreadable
	}

	params := &graphql.RawParams{}
	for name, to := range map[string]any{"query": &params.Query, "operationName": &params.OperationName, "variables": &params.Variables} {
		if members[name] == nil {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(members[name]))
		d.UseNumber() // keeps the digits
		if err := d.Decode(to); err != nil {
			return nil, unreadable
		}
	}

	if params.Query, err = withoutSurrogates(params.Query); err != nil {
		return nil, err
	}
	return params, nil
}

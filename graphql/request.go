package graphql

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"

	"github.com/berthdev/berth/impl/compute"
)

// read reads the request, or gives the status and the reason of its refusal.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, int, error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, http.StatusMethodNotAllowed, compute.Errorf(compute.Rejected, "only POST is answered")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, http.StatusUnsupportedMediaType, compute.Errorf(compute.Rejected, "the content type must be application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.Limits.Body))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, http.StatusRequestEntityTooLarge, compute.Errorf(compute.Rejected, "the body is over the limit of %d bytes", h.Limits.Body)
	}
	if err != nil {
		return nil, http.StatusBadRequest, &compute.Error{Code: compute.Rejected, Detail: "the body ended early", Cause: err}
	}
	params, err := parse(body)
	return params, http.StatusBadRequest, err
}

// parse reads a body: an object with query and, if there are some, variables and operationName. Other members, which other
// servers know, have no effect. Rejected for what is not that, Invalid for a member that appears twice.
func parse(body []byte) (*graphql.RawParams, error) {
	unreadable := compute.Errorf(compute.Rejected, "the body is not a JSON object with query, and variables where there are some")
	if !utf8.Valid(body) || !json.Valid(body) {
		return nil, unreadable
	}
	if place := twice(json.NewDecoder(bytes.NewReader(body)), ""); place != "" {
		return nil, compute.Errorf(compute.Invalid, "%s: appears twice", place)
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
	return params, nil
}

// twice gives the JSON Pointer of a member that appears twice in the next value; empty: there is none. The JSON is valid,
// and so not nested without end.
func twice(d *json.Decoder, at string) string {
	token, _ := d.Token()
	open, nested := token.(json.Delim)
	if !nested {
		return ""
	}
	seen := map[string]bool{}
	for i := 0; d.More(); i++ {
		place := at + "/" + strconv.Itoa(i)
		if open == '{' {
			name, _ := d.Token()
			place = at + "/" + name.(string)
			if seen[place] {
				return place
			}
			seen[place] = true
		}
		if found := twice(d, place); found != "" {
			return found
		}
	}
	_, _ = d.Token() // its end
	return ""
}

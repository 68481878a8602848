package journal

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Filter says which entries are meant: those that all of it matches. What is empty matches every entry.
type Filter struct {
	Operation   string // an operationId, graphql, or graphql. and a field of Query or Mutation
	Method      string
	PathPrefix  string
	KeyID       string
	Resource    string // an id in the path
	Status      string // a status, or a class such as 4xx
	Since       time.Time
	Until       time.Time // entries before it
	AfterNumber *int64
	Limit       int // 0: all
}

// OperationGraphQL is the operation of every document of GraphQL; with a point and a field it is that of documents that ask for it.
const OperationGraphQL = "graphql"

// The operations of requests that go to ports of pods and to workers of endpoints that balance load, which no document describes.
const (
	OperationProxyPod      = "proxyPod"
	OperationProxyEndpoint = "proxyEndpoint"
)

// check is one member of what is expected.
type check struct {
	member, expected string
	holds            func(*Entry) bool
	found            func(*Entry) string
}

// checks gives a check for each member of the filter that is there.
func (f Filter) checks() (all []check) {
	add := func(member, expected string, holds func(*Entry) bool, found func(*Entry) string) {
		all = append(all, check{member, expected, holds, found})
	}
	if f.Operation != "" {
		add("operation", f.Operation, func(e *Entry) bool { return slices.Contains(e.operations(), f.Operation) }, (*Entry).operationText)
	}
	if f.Method != "" {
		add("method", f.Method, func(e *Entry) bool { return e.Method == f.Method }, func(e *Entry) string { return e.Method })
	}
	if f.PathPrefix != "" {
		add("pathPrefix", f.PathPrefix, func(e *Entry) bool { return strings.HasPrefix(e.Path, f.PathPrefix) }, func(e *Entry) string { return e.Path })
	}
	if f.KeyID != "" {
		add("keyId", f.KeyID, func(e *Entry) bool { return string(e.KeyID) == f.KeyID }, func(e *Entry) string { return orNone(string(e.KeyID)) })
	}
	if f.Resource != "" {
		add("resource", f.Resource, func(e *Entry) bool {
			return slices.ContainsFunc(e.Resources, func(r Resource) bool { return r.ID == f.Resource })
		}, (*Entry).resourceText)
	}

	if f.Status != "" {
		add("status", f.Status, func(e *Entry) bool { return isStatus(f.Status, e.Status) }, func(e *Entry) string { return strconv.Itoa(e.Status) })
	}
	when := func(e *Entry) string { return e.Time.Format(time.RFC3339Nano) }
	if !f.Since.IsZero() {
		add("since", f.Since.Format(time.RFC3339Nano), func(e *Entry) bool { return !e.Time.Before(f.Since) }, when)
	}
	if !f.Until.IsZero() {
		add("until", f.Until.Format(time.RFC3339Nano), func(e *Entry) bool { return e.Time.Before(f.Until) }, when)
	}
	if f.AfterNumber != nil {
		add("afterNumber", strconv.FormatInt(*f.AfterNumber, 10), func(e *Entry) bool { return e.Number > *f.AfterNumber }, func(e *Entry) string {
			return strconv.FormatInt(e.Number, 10)
		})
	}

	return all
}

// operations gives the names by which the entry's operation can be asked for.
func (e *Entry) operations() []string {
	names := []string{e.Operation}
	if e.Document != nil {
		for _, field := range e.Document.Fields {
			names = append(names, OperationGraphQL+"."+field)
		}
	}
	return names
}

func (e *Entry) operationText() string {
	if names := e.operations(); len(names) > 1 {
		return strings.Join(names[1:], ", ")
	}
	return e.Operation
}

func (e *Entry) resourceText() string {
	var ids []string
	for _, r := range e.Resources {
		ids = append(ids, r.ID)
	}
	return orNone(strings.Join(ids, ", "))
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// isStatus reports whether the status is the one that is asked for, or of that class.
func isStatus(asked string, status int) bool {
	if class, ok := strings.CutSuffix(asked, "xx"); ok {
		return strconv.Itoa(status/100) == class
	}
	return asked == strconv.Itoa(status)
}

package conformance

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ownTarget starts a server of berth's own.
func ownTarget(t *testing.T) Target {
	target, stop, err := Own(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stop()) })
	return target
}

// suiteOf gives a suite for the target in an edition; empty: the strict one.
func suiteOf(t *testing.T, target Target, edition string) *Suite {
	documents, err := LoadDocuments(edition)
	require.NoError(t, err)
	target.Contract = edition
	return &Suite{Target: target, Documents: documents}
}

// holds runs a rule, with the client that is given.
func holds(t *testing.T, s *Suite, id string, client *http.Client) {
	for _, rule := range Rules() {
		if rule.ID == id {
			t.Run(id, func(t *testing.T) {
				c := s.NewCheck(t.Context(), t, func(why string) { require.Fail(t, "skipped on berth's own server", why) })
				c.client = client
				rule.Test(c)
			})
			return
		}
	}
	require.Fail(t, "there is no such rule", id)
}

// divided sends what is for REST and what is for the queue to the one server that has both, each from its own address alone.
type divided struct {
	server *url.URL
	rest   map[string]bool // the first segments, below /v2, of the paths of REST
}

const restHost, queueHost = "rest.invalid", "queue.invalid"

func (d divided) RoundTrip(r *http.Request) (*http.Response, error) {
	segments := strings.Split(r.URL.EscapedPath(), "/")
	queue := len(segments) > 3 && segments[1] == "v2" && !d.rest[segments[2]]
	if queue != (r.URL.Host == queueHost) {
		answer := &http.Response{StatusCode: http.StatusMisdirectedRequest, Header: http.Header{}, Request: r, ProtoMajor: 1, ProtoMinor: 1}
		answer.Body = io.NopCloser(strings.NewReader(r.Method + " " + r.URL.Path + " was asked for at " + r.URL.Host))
		return answer, nil
	}

	sent := r.Clone(r.Context())
	sent.URL.Scheme, sent.URL.Host, sent.Host = d.server.Scheme, d.server.Host, ""
	return http.DefaultTransport.RoundTrip(sent)
}

func TestCheck_AsksEachOperationAtTheAddressOfItsInterface(t *testing.T) {
	t.Parallel()
	target := ownTarget(t)
	server, err := url.Parse(target.URL)
	require.NoError(t, err)
	target.URL, target.QueueURL = "http://"+restHost, "http://"+queueHost
	s := suiteOf(t, target, "")

	d := divided{server, map[string]bool{}}
	for _, op := range s.Documents.Operations() {
		if op.Document == "rest" {
			d.rest[strings.Split(op.Path, "/")[2]] = true
		}
	}
	for _, id := range []string{
		"auth.required", "auth.scopes", "auth.scopes.admin", "auth.scopes.graphql", "auth.scopes.invoke", "auth.scopes.invoke.other", "auth.scopes.work",
		"auth.scopes.write", "controls.key", "errors.empty", "errors.malformed", "errors.media-type", "errors.media-type.absent", "errors.method",
		"errors.parameters", "errors.parameters.path", "errors.parameters.syntax", "errors.size", "hosts.scope", "queue.methods", "queue.unknown",
	} {
		holds(t, s, id, &http.Client{Transport: d})
	}
}

// What the user who is judged has is theirs: rules that set it give it back, and are alone while they have it.
func TestRules_GiveTheSSHKeysBack(t *testing.T) {
	t.Parallel()
	target := ownTarget(t)
	c := suiteOf(t, target, "").NewCheck(t.Context(), t, nil)
	for id, edition := range map[string]string{
		"clusters.create.ssh": "", "graphql.deploy.ssh": "", "graphql.settings": "", "public.create.ssh": "public-2026-10",
	} {
		require.Equal(t, 200, c.putKeys("", rsaKey+" mine", ecdsaKey).Status)
		holds(t, suiteOf(t, target, edition), id, nil)
		c.keysAre("", rsaKey+" mine", ecdsaKey)
		require.True(t, aloneRules[id], "%s sets what others have", id)
	}
}

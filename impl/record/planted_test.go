package record_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/record"
)

// plant is a difference that a proxy makes of an answer.
type plant struct {
	request string // method, path and the status of the answer, as a pattern
	change  func(res *http.Response, body map[string]any)

	operation, kind, place string // as what it is to be found
	rule                   string // what one of those begins with that are to be named
}

// member gives a change of a member of the body.
func member(name string, value any) func(*http.Response, map[string]any) {
	return func(_ *http.Response, body map[string]any) { body[name] = value }
}

var plants = []plant{
	{`^PATCH /v2/network-volumes/\w+ 200$`, func(res *http.Response, _ map[string]any) { res.StatusCode = 202 }, "updateNetworkVolume", record.Status, "status", "volumes.update"},
	{`^GET /v2/templates/\w+ 200$`, func(res *http.Response, _ map[string]any) { res.Header.Del("X-Request-Id") }, "getTemplate", record.Missing, "header X-Request-Id", "templates.get"},
	{`^POST /v2/\w+/cancel/\S+ 200$`, func(_ *http.Response, body map[string]any) { delete(body, "status") }, "cancel", record.Missing, "body /status", "queue.cancel"},
	{`^GET /v2/\w+/health 200$`, member("more", 1), "health", record.Extra, "body /more", "queue.health"},
	{`^PATCH /v2/pods/\w+ 200$`, member("name", 7), "updatePod", record.Type, "body /name", "pods.patch"},
	{`^POST /v2/registries 201$`, member("name", "other"), "createRegistry", record.Value, "body /name", "registries"},
	{`^POST /v2/templates 201$`, member("image", true), "createTemplate", record.Schema, "right", "templates"},
	{`^GET /v2/pods 200$`, func(_ *http.Response, body map[string]any) {
		if pods, ok := body["pods"].([]any); ok {
			slices.Reverse(pods)
		}
	}, "listPods", record.Order, "body /pods", "pods.list"},
	{`^GET /v2/pods/nosuchpod 404$`, member("detail", "it is gone"), "getPod", record.Value, "body /detail", "pods.get.unknown"},
	{`^POST /v2/templates 400$`, func(res *http.Response, _ map[string]any) { res.Header.Set("Content-Type", "application/json") }, "createTemplate", record.Value, "header Content-Type", "templates.create"},
	{`^POST /graphql 200$`, func(_ *http.Response, body map[string]any) {
		if data, _ := body["data"].(map[string]any); data["podStop"] != nil {
			data["podStop"].(map[string]any)["desiredStatus"] = nil
		}
	}, "graphql.podStop", record.Type, "body /data/podStop/desiredStatus", "graphql.stop"},
}

// planted starts a proxy that changes the answers of a service.
func planted(t *testing.T, upstream string) string {
	to := parsed(t, upstream)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, ModifyResponse: func(res *http.Response) error {
		named := res.Request.Method + " " + res.Request.URL.Path + " " + strconv.Itoa(res.StatusCode)
		i := slices.IndexFunc(plants, func(p plant) bool {
			return regexp.MustCompile(p.request).MatchString(named) && res.Request.URL.RawQuery == ""
		})
		if i < 0 {
			return nil
		}

		text, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		body := map[string]any{}
		if err := json.Unmarshal(text, &body); err != nil {
			return err
		}
		plants[i].change(res, body)
		if text, err = json.Marshal(body); err != nil {
			return err
		}
		res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		res.Header.Set("Content-Length", strconv.Itoa(len(text)))
		return nil
	}}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	return front.URL
}

func TestCompare_FindsPlantedDifferencesAndNamesThem(t *testing.T) {
	t.Parallel()
	server := serving(t)
	address, file := recorder(t, server.URL(), record.Settings{})
	(&client{T: t, address: address, key: server.FirstKey()}).session()

	left, right := serving(t), serving(t)
	c := &record.Comparison{
		Left: target(t, left.URL(), left.FirstKey()), Right: target(t, planted(t, right.URL()), right.FirstKey()), Patience: 8 * time.Second, Rules: rulesOf(t),
	}
	report, err := c.Run(t.Context(), loaded(t, file))
	require.NoError(t, err)

	exchanges := map[int64]bool{} // that have a planted difference
	for _, p := range plants {
		i := slices.IndexFunc(report.Differences, func(d record.Difference) bool {
			return d.Operation == p.operation && d.Kind == p.kind && d.Place == p.place
		})
		require.GreaterOrEqual(t, i, 0, "%s %s %s is not found: %v", p.operation, p.kind, p.place, report.Differences)
		found := report.Differences[i]
		exchanges[found.Exchange] = true
		require.Equal(t, "2.0.0", found.Edition)
		require.True(t, slices.ContainsFunc(found.Rules, func(id string) bool { return strings.HasPrefix(id, p.rule) }), "%v does not name %s", found, p.rule)
	}
	for _, d := range report.Differences {
		require.True(t, exchanges[d.Exchange], "%v was not planted", d)
	}
	require.Len(t, exchanges, len(plants))
}

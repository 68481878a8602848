package httpapi_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
)

func TestEditions_OfTheServerIsThatOfRequestsThatNameNone(t *testing.T) {
	t.Parallel()
	e := openWith(t, func(s *httpapi.Services) { s.Contract = "public" })
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	strict := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}, Contract: "2.0.0"})
	ask := func(method, path, token, edition, body string) *httptest.ResponseRecorder {
		req := with(method, path, token, body)
		if edition != "" {
			req.Header.Set("Berth-Contract", edition)
		}
		rec := httptest.NewRecorder()
		e.handler.ServeHTTP(rec, req)
		return rec
	}

	made := ask("POST", "/v2/pods", token, "", pod)
	require.Equal(t, 201, made.Code, made.Body)
	require.Equal(t, "public-2026-10", made.Header().Get("Berth-Contract"))
	require.Contains(t, made.Body.String(), `"ssh":`)
	for name, answer := range map[string]*httptest.ResponseRecorder{"key": ask("GET", "/v2/pods", strict, "", ""), "header": ask("GET", "/v2/pods", token, "2.0.0", "")} {
		require.Equal(t, "2.0.0", answer.Header().Get("Berth-Contract"), name)
		require.NotContains(t, answer.Body.String(), `"ssh":`, name)
	}
	require.Equal(t, "public-2026-10", ask("GET", "/v2/pods", strict, "public", "").Header().Get("Berth-Contract"), "the header comes first")
	require.Equal(t, 400, ask("GET", "/v2/pods", token, "1.0.0", "").Code)
	require.Equal(t, 400, ask("GET", "/v2/openapi.json", "", "1.0.0", "").Code)
}

func TestEditions_ServerOfAnUnknownOneDoesNotStart(t *testing.T) {
	t.Parallel()
	_, err := httpapi.New(httpapi.Services{Contract: "1.0.0"})
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, `there is no edition "1.0.0" of the contract; there are 2.0.0, public-2026-10, public`)
	require.Equal(t, []string{"2.0.0", "public-2026-10", "public"}, httpapi.Contracts())
	require.Equal(t, []string{"2.0.0", "public-2026-10"}, httpapi.Editions())
}

func TestPods_OfATemplateTakeItsImageUnlessTheyNameOne(t *testing.T) {
	t.Parallel()
	e := openWith(t, func(s *httpapi.Services) { s.Contract = "public" })
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	template := e.call("POST", "/v2/templates", token, `{"name":"t","image":"of-the-template","startSsh":false,"startJupyter":false}`)
	require.Equal(t, 201, template.Code, template.Body)
	var made rest.Template
	require.NoError(t, json.Unmarshal(template.Body.Bytes(), &made))
	for body, want := range map[string]string{`"image":"own",`: "own", ``: "of-the-template", `"image":"",`: ""} {
		answer := e.call("POST", "/v2/pods", token, `{"name":"a",`+body+`"templateId":"`+made.ID+`","cpu":{"id":"cpu3g","vcpuCount":2}}`)
		require.Equal(t, 201, answer.Code, answer.Body)
		var shown rest.Pod
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &shown))
		require.Equal(t, want, shown.Image, body)
	}
	missing := e.call("POST", "/v2/pods", token, `{"name":"a","cpu":{"id":"cpu3g","vcpuCount":2}}`)
	require.Equal(t, 422, missing.Code)
	require.Contains(t, missing.Body.String(), "/image: is required without a template that has one")
}

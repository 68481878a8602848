package record_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/record"
)

// What stands in the place of a secret may be longer than the secret, and so may be the body.
func TestCompare_BodiesWithShortSecretsAreCompared(t *testing.T) {
	t.Parallel()
	x := exchange(1, "GET", "/v2/templates/t", "", 200, `{"env":{"API_TOKEN":"***"},"name":"a"}`)
	x.Operation = "getTemplate"
	for _, secret := range []string{"", "k", "key"} {
		got, _ := found(t, record.Comparison{}, answering(`{"env":{"API_TOKEN":"`+secret+`"},"name":"b"}`), x)
		require.Contains(t, got, `value body /name "a" "b"`, "%q", secret)
		require.NotContains(t, strings.Join(got, "\n"), "API_TOKEN")
	}
}

// What stands in the place of a secret is no secret: who has one keeps it.
func TestCompare_WritesNothingOverSecrets(t *testing.T) {
	t.Parallel()
	graphql := func(fields, body string) record.Exchange {
		x := exchange(1, "POST", "/graphql", body, 200, `{}`)
		x.Operation, x.Fields = "graphql", strings.Fields(fields)
		return x
	}
	unknown := exchange(1, "POST", "/v1/pods/p/update", `{"env":{"API_KEY":"***"}}`, 200, `{}`)
	unknown.Operation = "unknown"
	asked := unknown
	asked.Method = "GET"
	plain := unknown
	plain.Request.Body = `{"name":"a"}`
	change := graphql("podEditJob", base64.StdEncoding.EncodeToString([]byte("{\"query\":\"mutation{podEditJob(input:{podId:\\\"\xff\\\",env:[{key:\\\"API_KEY\\\",value:\\\"***\\\"}]}){id}}\"}")))
	change.Request.Base64 = true

	for name, c := range map[string]struct {
		x    record.Exchange
		sent bool
	}{
		"PATCH":               {exchange(1, "PATCH", "/v2/secrets/s", `{"value":"***"}`, 200, `{}`), false},
		"PUT":                 {exchange(1, "PUT", "/v2/secrets/s", `{"value":"***"}`, 200, `{}`), false},
		"PATCH without":       {exchange(1, "PATCH", "/v2/secrets/s", `{"description":"*"}`, 200, `{}`), true},
		"POST":                {exchange(1, "POST", "/v2/secrets", `{"value":"***"}`, 201, `{}`), true},
		"POST of no document": {unknown, false},
		"GET of no document":  {asked, true},
		"POST without":        {plain, true},
		"a query":             {graphql("pod", `{"query":"{pod(input:{podId:\"***\"}){id}}"}`), true},
		"secretCreate":        {graphql("secretCreate", `{"query":"mutation{secretCreate(input:{name:\"a\",value:\"***\"}){id}}"}`), true},
		"a deploy":            {graphql("podFindAndDeployOnDemand", `{"query":"mutation{podFindAndDeployOnDemand(input:{env:[{key:\"API_KEY\",value:\"***\"}]}){id}}"}`), true},
		"a change":            {graphql("podEditJob", `{"query":"mutation{podEditJob(input:{podId:\"p\",env:[{key:\"API_KEY\",value:\"***\"}]}){id}}"}`), false},
		"a change, no UTF-8":  {change, false},
		"no field is known":   {graphql("", `{"query":"mutation{***}"}`), false},
		"no field of a query": {graphql("", `{"query":"query{***}"}`), true},
		"a change beside":     {graphql("secretCreate updateRegistryAuth", `{"query":"mutation{secretCreate{id} updateRegistryAuth(input:{password:\"***\"}){id}}"}`), false},
		"saves a new one":     {graphql("saveTemplate", `{"query":"mutation M($i:SaveTemplateInput){saveTemplate(input:$i){id name}}","variables":{"i":{"id":null,"env":[{"value":"***"}]}}}`), true},
		"saves an old one":    {graphql("saveTemplate", `{"query":"mutation M($i:SaveTemplateInput){saveTemplate(input:$i){id}}","variables":{"i":{"id":"t","env":[{"value":"***"}]}}}`), false},
		"saves by argument":   {graphql("saveEndpoint", `{"query":"mutation{saveEndpoint(input:{\nid:\"e\",template:{env:[{value:\"***\"}]}}){id}}"}`), false},
		"saves by a variable": {graphql("saveTemplate", `{"query":"mutation M($id:String){saveTemplate(input:{id:$id,env:[{value:\"***\"}]}){id}}","variables":{"id":"t"}}`), false},
	} {
		sent := false
		_, report := found(t, record.Comparison{}, func(w http.ResponseWriter, r *http.Request) {
			sent = true
			w.WriteHeader(c.x.Status)
		}, c.x)
		require.Equal(t, c.sent, sent, name)
		if !c.sent {
			require.Equal(t, []record.Skipped{{Exchange: 1, Why: "the body has a secret"}}, report.Skipped, name)
		}
	}
}

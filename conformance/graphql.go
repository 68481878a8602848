package conformance

import (
	"net/url"
	"strings"

	"github.com/stretchr/testify/require"
)

const (
	anyPod  = `{pod(input:{podId:"nosuchpod"}){id}}`
	stopPod = `mutation{podStop(input:{podId:"nosuchpod"}){id}}`
)

// byParameter sends a document with api_key alone.
func (c *Check) byParameter(key, document string) Answer {
	body := `{"query":` + quoted(document) + `}`
	return c.Send(Request{Method: "POST", URL: c.URL + graphqlPath + "?api_key=" + url.QueryEscape(key), Body: body, Key: "-"})
}

func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }

// raw sends a body as it is.
func (c *Check) raw(body string) Answer {
	return c.Send(Request{Method: "POST", URL: c.URL + graphqlPath, Body: body})
}

var _ = area(func() {
	add("graphql.path", nil, func(c *Check) {
		c.data(c.raw(`{"query":"{myself{id}}"}`))
		c.data(c.Send(Request{
			Method: "POST", URL: c.URL + graphqlPath, Body: `{"query":"{myself{id}}"}`, Header: map[string]string{"Content-Type": "application/json; charset=utf-8"},
		}))
	})

	add("graphql.answer", nil, func(c *Check) {
		require.Equal(c, []string{"data"}, keys(c.graphQL(`{myself{id}}`).JSON))
	})
	add("graphql.key.parameter", nil, func(c *Check) {
		require.NotNil(c, c.data(c.byParameter(c.Key, `{myself{id}}`))["myself"])
	})
	add("graphql.key.bearer", nil, func(c *Check) {
		require.NotNil(c, c.data(c.graphQLAs("Bearer "+c.Key, `{myself{id}}`, nil))["myself"])
		c.wrongly(c.graphQLAs(c.Key, `{myself{id}}`, nil), 401, "UNAUTHENTICATED")
	})

	add("graphql.key.both", nil, func(c *Check) {
		r := Request{Method: "POST", URL: c.URL + graphqlPath + "?api_key=nonsense", Body: `{"query":"{myself{id}}"}`}
		c.data(c.Send(r))
		r.URL, r.Key = c.URL+graphqlPath+"?api_key="+c.Key, "Bearer nonsense"
		c.wrongly(c.Send(r), 401, "UNAUTHENTICATED")
	})

	add("graphql.unauthenticated", nil, func(c *Check) {
		for _, document := range []string{anyPod, stopPod, `{gpuTypes{id} pod(input:{podId:"a"}){id}}`} {
			c.wrongly(c.graphQLAs("-", document, nil), 401, "UNAUTHENTICATED")
		}
		for _, document := range []string{anyPod, `{gpuTypes{id}}`} {
			for _, key := range []string{"nonsense", wrong(c.Key)} {
				c.wrongly(c.graphQLAs("Bearer "+key, document, nil), 401, "UNAUTHENTICATED")
				c.wrongly(c.byParameter(key, document), 401, "UNAUTHENTICATED")
			}
		}

		a := c.graphQLAs(c.key("expired"), anyPod, nil)
		c.wrongly(a, 401, "UNAUTHENTICATED")
		require.Equal(c, "Bearer", a.Header.Get("WWW-Authenticate"))
	})

	add("graphql.anonymous.gpu-types", nil, func(c *Check) {
		require.NotEmpty(c, c.data(c.graphQLAs("-", `{gpuTypes{id lowestPrice(input:{gpuCount:1}){stockStatus}}}`, nil))["gpuTypes"])
	})
	add("graphql.anonymous.myself", nil, func(c *Check) {
		require.Equal(c, map[string]any{"myself": nil}, c.data(c.graphQLAs("-", `{myself{id pods{id}}}`, nil)))
	})

	add("graphql.scopes.read", nil, func(c *Check) {
		_, write := c.newKey("", "graphql:write")
		for _, key := range []string{"Bearer " + write, c.key("read"), c.key("invoke")} {
			c.wrongly(c.graphQLAs(key, anyPod, nil), 200, "FORBIDDEN")
		}
		_, read := c.newKey("", "graphql:read")
		c.data(c.graphQLAs("Bearer "+read, anyPod, nil))
		c.data(c.graphQLAs(c.key("graphql"), anyPod, nil))
	})

	add("graphql.scopes.write", nil, func(c *Check) {
		_, read := c.newKey("", "graphql:read")
		for _, key := range []string{"Bearer " + read, c.key("write"), c.key("invoke")} {
			c.wrongly(c.graphQLAs(key, stopPod, nil), 200, "FORBIDDEN")
		}
		_, write := c.newKey("", "graphql:write")
		c.wrongly(c.graphQLAs("Bearer "+write, stopPod, nil), 200, "NOT_FOUND")
		c.wrongly(c.graphQLAs(c.key("graphql"), stopPod, nil), 200, "NOT_FOUND")
	})

	add("graphql.errors", nil, func(c *Check) {
		a := c.graphQL(stopPod)
		require.Contains(c, c.wrongly(a, 200, "NOT_FOUND"), "nosuchpod")
		require.Equal(c, map[string]any{"podStop": nil}, a.JSON["data"])
		require.Equal(c, []any{"podStop"}, a.JSON["errors"].([]any)[0].(map[string]any)["path"])
		c.wrongly(c.deploying(`gpuCount:0`), 200, "INVALID")
		c.wrongly(c.deploying(`gpuCount:1000`), 200, "REJECTED")
		id := c.exited()
		c.wrongly(c.graphQL(`mutation{podStop(input:{podId:"`+id+`"}){id}}`), 200, "CONFLICT")
	})

	add("graphql.malformed", nil, func(c *Check) {
		c.wrongly(c.graphQL(`{pod(input:`), 400, "REJECTED")
		for _, body := range []string{`{"query":`, `null`, `[]`, `[{"query":"{myself{id}}"}]`, `{"query":7}`, `{"query":"{myself{id}}"}{}`, "{\"query\":\"{myself{id}}\xff\"}"} {
			require.NotContains(c, c.wrongly(c.raw(body), 400, "REJECTED"), "myself", body)
		}
	})

	add("graphql.invalid", nil, func(c *Check) {
		for _, document := range []string{
			`{nosuchfield}`, `{myself{id nosuchfield}}`, `{myself}`, `{pod(input:{podId:7}){id}}`, `{pod(input:{nosuch:"a"}){id}}`,
			`mutation{podStop(input:{}){id}}`, `{...a} fragment a on Query{...a}`, ``,
		} {
			c.wrongly(c.graphQL(document), 400, "INVALID")
		}
	})

	add("graphql.variables", nil, func(c *Check) {
		const deploy = `mutation($i:PodFindAndDeployOnDemandInput!){podFindAndDeployOnDemand(input:$i){id}}`
		for field, values := range map[string][]any{
			"name": {5, true, []string{"a"}}, "gpuCount": {"1", 1.5, 3_000_000_000, true}, "deployCost": {"1.5", false}, "startSsh": {"true", 1},
			"cloudType": {"all", "NONE", 1}, "env": {"a", []any{map[string]any{"key": 1}}, []any{map[string]any{"other": "a"}}},
			"allowedCudaVersions": {[]any{12.8}}, "stopAfter": {"1h", 5, "2035-01-02T03:04:05,5Z", "2035-01-02T3:04:05Z"},
		} {
			for _, v := range values {
				a := c.graphQLAs("", deploy, map[string]any{"i": map[string]any{"imageName": "i", "gpuTypeId": "NVIDIA L4", field: v}})
				c.wrongly(a, 400, "INVALID")
			}
		}

		c.wrongly(c.graphQLAs("", `query($n:Int){gpuTypes{lowestPrice(input:{gpuCount:$n}){minVcpu}}}`, map[string]any{"n": "2"}), 400, "INVALID")
		c.wrongly(c.graphQLAs("", `query($n:String!){pod(input:{podId:$n}){id}}`, nil), 400, "INVALID")
		require.Contains(c, c.wrongly(c.deploying(`gpuCount:3000000000`), 400, "INVALID"), "input.gpuCount:")
	})

	add("graphql.directives", nil, func(c *Check) {
		name := c.own("never")
		deploy := `mutation($s:Boolean=true){podFindAndDeployOnDemand(input:{imageName:"i",gpuTypeId:"NVIDIA L4",name:"` + name + `"}){id @skip(if:$s)}}`
		for _, document := range []string{deploy, `query($s:Boolean=false){__typename ...on Query @include(if:$s){__typename}}`, `query($s:Boolean=false){__typename ...a @skip(if:$s)} fragment a on Query{__typename}`} {
			require.Contains(c, c.wrongly(c.graphQLAs("", document, map[string]any{"s": nil}), 400, "INVALID"), "if:")
		}
		require.NotContains(c, c.everyPod(), name)
		c.wrongly(c.graphQL(`{myself{id ...@defer{pods{id}}}}`), 400, "INVALID")
		require.Equal(c, map[string]any{}, c.data(c.graphQLAs("", `query($s:Boolean=true){__typename @skip(if:$s)}`, nil)))
	})

	add("graphql.variables.whole", nil, func(c *Check) {
		for number, want := range map[string]bool{`2.0`: true, `2e0`: true, `20e-1`: true, `2.5`: false, `1e10`: false, `1e400`: false} {
			for _, document := range []string{
				`"query($n:Int){gpuTypes{lowestPrice(input:{gpuCount:$n}){minVcpu}}}","variables":{"n":` + number + `}`,
				`"query($i:GpuLowestPriceInput){gpuTypes{lowestPrice(input:$i){minVcpu}}}","variables":{"i":{"gpuCount":` + number + `}}`,
			} {
				a := c.raw(`{"query":` + document + `}`)
				if !want {
					c.wrongly(a, 400, "INVALID")
					continue
				}
				c.data(a)
			}
		}
	})

	add("graphql.variables.more", nil, func(c *Check) {
		for _, variables := range []string{``, `,"variables":null`, `,"variables":{}`, `,"variables":{"stray":{"a":1}}`, `,"operationName":null,"extensions":{"a":1}`} {
			c.data(c.raw(`{"query":"{myself{id}}"` + variables + `}`))
		}
	})

	add("graphql.variables.twice", nil, func(c *Check) {
		for _, body := range []string{
			`{"query":"{myself{id}}","query":"{myself{id}}"}`, `{"query":"{myself{id}}","variables":{"a":[0,{"b":1,"c":{},"b":2}]}}`,
		} {
			require.Contains(c, c.wrongly(c.raw(body), 400, "INVALID"), "appears twice")
		}
		c.wrongly(c.raw(`{"Query":"{myself{id}}"}`), 400, "REJECTED")
	})

	add("graphql.depth", nil, func(c *Check) {
		nested := func(n int) string {
			return `{__type(name:"Pod"){` + strings.Repeat("ofType{", n) + "name" + strings.Repeat("}", n) + "}}"
		}
		require.Contains(c, c.wrongly(c.graphQL(nested(100)), 400, "REJECTED"), "deep")
		c.data(c.graphQL(`{myself{pods{runtime{ports{ip}}}}}`))
	})

	add("graphql.complexity", nil, func(c *Check) {
		c.wrongly(c.graphQL(`{gpuTypes{`+strings.Repeat("id ", 2_000)+`}}`), 400, "REJECTED")
		// What is not executed takes time, too, until it is found to be valid.
		apart := c.raw(`{"operationName":"a","query":"query a{gpuTypes{id}} query b{gpuTypes{` + strings.Repeat("id ", 2_000) + `}}"}`)
		require.Contains(c, c.wrongly(apart, 400, "REJECTED"), "too many fields")

		doubled := `{gpuTypes{...aa}} fragment ` + letters(50) + ` on GpuType{id}`
		for i := range 50 {
			doubled += ` fragment ` + letters(i) + ` on GpuType{...` + letters(i+1) + ` ...` + letters(i+1) + `}`
		}
		c.wrongly(c.graphQL(doubled), 400, "REJECTED")
		c.wrongly(c.graphQL(`{gpuTypes(input:{ids:[`+strings.Repeat(`"a" `, 20_000)+`]}){id}}`), 400, "REJECTED")
	})

	add("graphql.aliases", nil, func(c *Check) {
		aliased := `{`
		for i := range 200 {
			aliased += "a" + letters(i) + ":gpuTypes{id} "
		}
		require.Contains(c, c.wrongly(c.graphQL(aliased+`}`), 400, "REJECTED"), "aliases")
		data := c.data(c.graphQL(`{a:gpuTypes(input:{id:"nosuch"}){id} b:myself{id}}`))
		require.ElementsMatch(c, []string{"a", "b"}, keys(data))
	})

	add("graphql.size", nil, func(c *Check) {
		c.wrongly(c.raw(`{"query":"{myself{id}}","variables":{"a":"`+strings.Repeat("x", 2<<20)+`"}}`), 413, "REJECTED")
	})
	add("graphql.post-only", nil, func(c *Check) {
		a := c.Send(Request{Method: "GET", URL: c.URL + graphqlPath + "?query=" + url.QueryEscape(`{myself{id}}`)})
		allow := "GET, POST" // a playground, which executes nothing either
		if a.Status != 200 {
			c.wrongly(a, 405, "REJECTED")
			allow = "POST"
		}
		require.Nil(c, a.JSON["data"])

		for _, method := range []string{"PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "NOSUCH"} {
			a := c.Send(Request{Method: method, URL: c.URL + graphqlPath, Body: `{"query":"{myself{id}}"}`})
			c.wrongly(a, 405, "REJECTED")
			require.Equal(c, allow, a.Header.Get("Allow"), method)
		}

		for _, kind := range []string{"text/plain", "application/graphql", ""} {
			r := Request{Method: "POST", URL: c.URL + graphqlPath, Body: `{"query":"{myself{id}}"}`, Header: map[string]string{"Content-Type": kind}}
			c.wrongly(c.Send(r), 415, "REJECTED")
		}
	})

	add("graphql.playground", nil, func(c *Check) {
		a := c.Send(Request{Method: "GET", URL: c.URL + graphqlPath, Key: "-"})
		if a.Status == 405 || a.Status == 401 {
			c.Skip("the target is not for developing")
		}
		require.Equal(c, 200, a.Status)
		require.Contains(c, a.Header.Get("Content-Type"), "text/html")
		require.NotContains(c, string(a.Body), "://", "it needs nothing from elsewhere")
	})

	add("graphql.introspection", nil, func(c *Check) {
		a := c.graphQL(`{__schema{queryType{name}}}`)
		if a.Status != 200 {
			c.wrongly(a, 400, "REJECTED")
			c.wrongly(c.graphQL(`{...a} fragment a on Query{__type(name:"Pod"){name}}`), 400, "REJECTED")
			c.Skip("the target is not for developing: introspection is refused")
		}
		require.Equal(c, "Query", c.data(a)["__schema"].(map[string]any)["queryType"].(map[string]any)["name"])
		require.Equal(c, map[string]any{"__typename": "Query"}, c.data(c.graphQLAs("-", `{__typename}`, nil)))
	})

	add("graphql.deprecated", nil, func(c *Check) {
		a := c.graphQL(`{__type(name:"Pod"){fields(includeDeprecated:true){name isDeprecated deprecationReason}}}`)
		if a.Status != 200 {
			c.Skip("the target is not for developing: introspection is refused")
		}

		reasons := map[string]string{}
		for _, f := range c.data(a)["__type"].(map[string]any)["fields"].([]any) {
			if field := f.(map[string]any); field["isDeprecated"] == true {
				reasons[field["name"].(string)] = field["deprecationReason"].(string)
			}
		}

		require.Contains(c, reasons["volumeInGb"], "networkVolumeId")
		require.Contains(c, reasons["uptimeSeconds"], "runtime.uptimeInSeconds")
		id := c.data(c.deploying(`volumeInGb:20,cudaVersion:"12.8"`))["podFindAndDeployOnDemand"].(map[string]any)["id"].(string)
		require.Equal(c, map[string]any{"volumeInGb": 20.0}, c.data(c.graphQL(`{pod(input:{podId:"` + id + `"}){volumeInGb}}`))["pod"], "they work all the same")
	})

	add("graphql.suggestions", nil, func(c *Check) {
		for document, name := range map[string]string{
			`{gpuType{id}}`: "gpuTypes", `{gpuTypes(inpu:{}){id}}`: `"input"`, `{myself{...on Usr{id}}}`: `"User"`,
			`mutation{podFindAndDeployOnDemand(input:{cloudTyp:1}){id}}`: `"cloudType"`, `mutation{podFindAndDeployOnDemand(input:{cloudType:SECUR}){id}}`: "SECURE",
		} {
			require.NotContains(c, c.wrongly(c.graphQL(document), 400, "INVALID"), name)
		}
	})
	add("graphql.unversioned", nil, func(c *Check) {
		c.Refused(c.Send(Request{Method: "POST", URL: c.URL + "/v2/graphql", Body: `{"query":"{myself{id}}"}`}), 404)
		c.data(c.graphQL(`{myself{id}}`))
	})
})

// letters gives a name of letters for a number.
func letters(n int) string { return string(rune('a'+n/26)) + string(rune('a'+n%26)) }

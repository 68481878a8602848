package graphql_test

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/graphql"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/journal/bodies"
)

// asked makes the body of a document.
func asked(t *testing.T, query, variables string) string {
	body, err := json.Marshal(map[string]any{"query": query, "variables": json.RawMessage(variables)})
	require.NoError(t, err)
	return string(body)
}

func TestRecorded_HidesWhatIsSecret(t *testing.T) {
	t.Parallel()
	h := open(t, func(*graphql.Services) {}).handler
	const secret = "hunter22"
	for name, c := range map[string]struct {
		query, variables string
		kept             string // of what is left
	}{
		"literal":             {`mutation{secretCreate(input:{name:"a",value:"hunter22"}){id}}`, "null", `name:\"a\",value:\"***\"`},
		"block text":          {"mutation{secretCreate(input:{name:\"ä\",value:\"\"\"hunter22\nhunter22\"\"\"}){id}}", "null", `name:\"ä\",value:\"***\"}){id}}`},
		"escaped":             {`mutation{secretCreate(input:{name:"a\"b",value:"\"hunter22"}){id}}`, "null", `name:\"a\\\"b\",value:\"***\"}){id}}`},
		"two":                 {`mutation{a:secretCreate(input:{value:"hunter22"}){id} saveRegistryAuth(input:{password:"hunter22",username:"seen"}){id}}`, "null", `username:\"seen\"`},
		"variable":            {`mutation($p:String!){updateRegistryAuth(input:{id:"a",username:"u",password:$p}){id}}`, `{"p":"hunter22"}`, `{"p":"***"}`},
		"default":             {`mutation($p:String="hunter22"){updateRegistryAuth(input:{id:"a",username:"u",password:$p}){id}}`, `null`, `$p:String=\"***\"`},
		"input":               {`mutation($i:SecretCreateInput!){secretCreate(input:$i){id}}`, `{"i":{"name":"seen","value":"hunter22"}}`, `"name":"seen"`},
		"unknown member":      {`mutation($i:SecretCreateInput!){secretCreate(input:$i){id}}`, `{"i":{"name":"seen","valu":"hunter22"}}`, `"name":"seen"`},
		"of no operation":     {`{myself{id}}`, `{"other":"hunter22"}`, `{"other":"***"}`},
		"of no type":          {`query($p:Nothing){myself{id}}`, `{"p":"hunter22"}`, `{"p":"***"}`},
		"unknown argument":    {`{myself(a:"hunter22"){id}}`, `null`, `myself(a:\"***\")`},
		"unknown field":       {`{nosuch(a:{b:["hunter22"]}){id}}`, `null`, `nosuch(a:{b:[\"***\"]})`},
		"fragment":            {`mutation{...f} fragment f on Mutation{secretCreate(input:{value:"hunter22"}){id}}`, `null`, `fragment f`},
		"fragment in itself":  {`mutation{...f} fragment f on Mutation{...f secretCreate(input:{value:"hunter22"}){id}}`, `null`, `fragment f`},
		"inline fragment":     {`mutation{...on Mutation{secretCreate(input:{value:"hunter22"}){id}}}`, `null`, `secretCreate`},
		"environment":         {`mutation{podFindAndDeployOnDemand(input:{env:[{key:"A_KEY",value:"hunter22"},{key:"SEEN",value:"3"}]}){id}}`, `null`, `{key:\"SEEN\",value:\"3\"}`},
		"environment, one":    {`mutation{podFindAndDeployOnDemand(input:{env:{value:"hunter22",key:"A_KEY"}}){id}}`, `null`, `key:\"A_KEY\"`},
		"key by a variable":   {`mutation($k:String){podFindAndDeployOnDemand(input:{env:[{key:$k,value:"hunter22"}]}){id}}`, `{"k":"A_KEY"}`, `{"k":"A_KEY"}`},
		"environment, sent":   {`mutation($i:PodFindAndDeployOnDemandInput){podFindAndDeployOnDemand(input:$i){id}}`, `{"i":{"name":"seen","env":[{"key":"A_KEY","value":"hunter22"},{"key":"N","value":"3"}]}}`, `{"key":"N","value":"3"}`},
		"environment, keyles": {`mutation($i:PodFindAndDeployOnDemandInput){podFindAndDeployOnDemand(input:$i){id}}`, `{"i":{"env":[{"value":"hunter22"}]}}`, `"value":"***"`},
		"no document":         {`mutation{secretCreate(input:{value:"hunter22"}`, `null`, "***"},
	} {
		_, masked, _ := h.Recorded([]byte(asked(t, c.query, c.variables)))
		require.NotContains(t, string(masked), secret, name)
		require.Contains(t, string(masked), c.kept, name)
	}

	for _, body := range []string{`{"query":"{a(b:\"hunter22\")}"`, `{"query":7,"x":"hunter22"}`, "hunter22"} {
		document, masked, _ := h.Recorded([]byte(body))
		require.Nil(t, document)
		require.Equal(t, "***", string(masked))
	}
	_, masked, _ := h.Recorded(nil)
	require.Empty(t, masked)
}

func TestRecorded_HidesWhatIsSecretInTheAnswer(t *testing.T) {
	t.Parallel()
	h := open(t, func(*graphql.Services) {}).handler
	for query, c := range map[string]struct{ answer, want string }{
		`{myself{podTemplates{env{key value}}}}`:                                           {`{"env":[{"key":"A_KEY","value":"hunter22"},{"key":"N","value":"3"}]}`, `{"env":[{"key":"A_KEY","value":"***"},{"key":"N","value":"3"}]}`},
		`{myself{podTemplates{e:env{key value}}}}`:                                         {`{"e":[{"key":"A_KEY","value":"hunter22"},{"key":"N","value":"3"}]}`, `{"e":[{"key":"A_KEY","value":"***"},{"key":"N","value":"3"}]}`},
		`{myself{podTemplates{env{k:key v:value}}}}`:                                       {`{"env":[{"k":"A_KEY","v":"hunter22"}]}`, `{"env":[{"k":"A_KEY","v":"***"}]}`},
		`{myself{podTemplates{env{key v:value}}}}`:                                         {`{"env":[{"key":"A_KEY","v":"hunter22"}]}`, `{"env":[{"key":"A_KEY","v":"***"}]}`},
		`{myself{podTemplates{env{value:key key:value}}}}`:                                 {`{"env":[{"value":"A_KEY","key":"hunter22"}]}`, `{"env":[{"value":"***","key":"***"}]}`},
		`{myself{podTemplates{env{key:__typename value}}}}`:                                {`{"env":[{"key":"EnvironmentVariable","value":"hunter22"}]}`, `{"env":[{"key":"EnvironmentVariable","value":"***"}]}`},
		`{myself{podTemplates{...f}}} fragment f on PodTemplate{x:env{key value}}`:         {`{"x":[{"key":"A_KEY","value":"hunter22"}]}`, `{"x":[{"key":"A_KEY","value":"***"}]}`},
		`mutation{saveRegistryAuth(input:{name:"r",username:"u",password:987654321}){id}}`: {`{"errors":[{"message":"found 987654321"}]}`, `{"errors":[{"message":"***"}]}`},
		`mutation{secretCreate(input:{value:"hunter22"}`:                                   {`{"errors":[{"message":"hunter22"}],"a":"b"}`, `{"errors":[{"message":"***"}],"a":"b"}`},
		`{myself{id nosuch}}`:                                                              {`{"errors":[{"message":"nosuch"}]}`, `{"errors":[{"message":"nosuch"}]}`},
	} {
		e := journal.Exchange{Operation: journal.OperationGraphQL, Request: journal.Sent{Body: []byte(asked(t, query, "null"))}}
		bodies.Known().Conceal(&e, h.Recorded)
		require.Equal(t, c.want, string(e.Response.Mask([]byte(c.answer), false)), query)
	}
}

func TestRecorded_KeepsWhatIsNotSecret(t *testing.T) {
	t.Parallel()
	h := open(t, func(*graphql.Services) {}).handler
	body := ` {"variables": {"p": "x"}, "query": "query Mine($p: String!) { pod(input: {podId: $p}) { id } ...f } fragment f on Query { myself { id } }" } `
	document, masked, _ := h.Recorded([]byte(body))
	require.Equal(t, body, string(masked), "to the byte")
	require.Equal(t, "Mine", document.Name)
	require.Equal(t, []string{"pod", "myself"}, document.Fields)

	document, _, _ = h.Recorded([]byte(`{"query":"query A{myself{id}} query B{gpuTypes{id}}","operationName":"B"}`))
	require.Equal(t, "B", document.Name)
	require.Equal(t, []string{"gpuTypes"}, document.Fields)
	document, _, _ = h.Recorded([]byte(`{"query":"{a ...f} fragment f on Query{...f b}"}`))
	require.Equal(t, []string{"a", "b"}, document.Fields)
	document, _, _ = h.Recorded([]byte(`{"query":"{...f ...g} fragment f on Query{...on Query{...g}} fragment g on Query{a ...f b}"}`))
	require.Equal(t, []string{"a", "b"}, document.Fields, "a fragment in another one, which is in it")
}

// TestRecorded_KnowsEverySecretInput fails when the schema has a new field whose name says that it is secret.
func TestRecorded_KnowsEverySecretInput(t *testing.T) {
	t.Parallel()
	var found []string
	for name, definition := range graph.NewExecutableSchema(graph.Config{}).Schema().Types {
		for _, field := range definition.Fields {
			secret := strings.Contains(strings.ToLower(field.Name), "password") || strings.Contains(strings.ToLower(field.Name), "token") || strings.Contains(strings.ToLower(name), "secret") && field.Name == "value"
			if definition.Kind == ast.InputObject && secret {
				found = append(found, name+"."+field.Name)
			}
		}
	}
	slices.Sort(found)
	require.Equal(t, []string{"SaveRegistryAuthInput.password", "SecretCreateInput.value", "UpdateRegistryAuthInput.password"}, found)
}

func TestRecorded_HidesWhereverItStands(t *testing.T) {
	t.Parallel()
	h := open(t, nil).handler
	for name, c := range map[string]struct{ query, variables, kept string }{
		"below a field":       {`{myself{nosuch(a:"hunter22"){id}}}`, `null`, `myself{nosuch(a:\"***\"){id}}`},
		"side by side":        {`{nosuch(a:["hunter22""hunter22"]){id}}`, `null`, `nosuch(a:[\"***\"\"***\"]){id}`},
		"member of a literal": {`mutation{secretCreate(input:{name:"seen",valu:"hunter22"}){id}}`, `null`, `name:\"seen\",valu:\"***\"`},
		"in a fragment that is later": {
			`mutation{...f b:saveRegistryAuth(input:{username:"seen",password:"hunter22"}){id}} fragment f on Mutation{secretCreate(input:{name:"seen",value:"hunter22"}){id}}`,
			`null`, `username:\"seen\",password:\"***\"}){id}} fragment f on Mutation{secretCreate(input:{name:\"seen\",value:\"***\"}){id}}`,
		},
		"of any type":           {`mutation($m:JSON){updateFlashBuildManifest(input:{flashBuildId:"seen",manifest:$m}){id}}`, `{"m":{"x":"hunter22"}}`, `"m":{"x":"***"}`},
		"in an operation apart": {`query A{myself{id}} mutation B{secretCreate(input:{value:"hunter22"}){id}}`, `null`, `secretCreate(input:{value:\"***\"})`},
		"in a directive":        {`query A($p:String) @a(b:"hunter22"){myself @c(d:"hunter22"){...f @e(g:"hunter22") ...on User @h(i:$p){id @skip(if:false)}}} fragment f on User @j(k:"hunter22"){id}`, `{"p":"hunter22"}`, `@skip(if:false)`},
		"no text":               {`{nosuch(a:7,b:true,c:null,d:HUNTER22,e:"hunter22"){id}}`, `null`, `nosuch(a:\"***\",b:true,c:null,d:\"***\",e:\"***\")`},
		"of two operations":     {`mutation A($p:String!){updateRegistryAuth(input:{password:$p}){id}} query B($p:String!){pod(input:{podId:$p}){id}}`, `{"p":"hunter22"}`, `{"p":"***"}`},
	} {
		_, masked, _ := h.Recorded([]byte(asked(t, c.query, c.variables)))
		require.NotContains(t, strings.ToLower(string(masked)), "hunter22", name)
		require.Contains(t, string(masked), c.kept, name)
	}
}

func TestRecorded_KeepsTheRestAsItWasSent(t *testing.T) {
	t.Parallel()
	h := open(t, nil).handler
	for _, body := range []string{
		`{"query":"query($p:ID!,$q:String){pod(input:{podId:$p}){id}}","variables":{"p":"seen","q":"seen"}}`,
		`{"query":"{gpuTypes{lowestPrice(input:{dataCenterId:\"seen\",gpuCount:2}){minVcpu}}}"}`,
		`{"query":"{...on Query{gpuTypes(input:{ids:[\"seen\"]}){id}} ...f} fragment f on Query{pod(input:{podId:\"seen\"}){id}}"}`,
	} {
		_, masked, _ := h.Recorded([]byte(body))
		require.Equal(t, body, string(masked))
	}

	_, masked, _ := h.Recorded([]byte(`{"query":"mutation{secretCreate(input:{value:\"hunter22\"}){id}}","other":1}`))
	require.JSONEq(t, `{"query":"mutation{secretCreate(input:{value:\"***\"}){id}}","other":1}`, string(masked), "without variables")
}

func TestRecorded_NamesTheFieldsOfTheOperation(t *testing.T) {
	t.Parallel()
	h := open(t, nil).handler
	for document, want := range map[string][]string{
		`{myself{id} a:gpuTypes{id}}`:                                 {"myself", "gpuTypes"},
		`{...on Query{myself{id} ...on Query{gpuTypes{id}}} pod{id}}`: {"myself", "gpuTypes", "pod"},
		`{a ...nosuch}`: {"a"},
		`{...f} fragment f on Query{a ...g} fragment g on Query{b}`: {"a", "b"},
		`query A{myself{id}} query B{gpuTypes{id}}`:                 {},
	} {
		body, err := json.Marshal(map[string]string{"query": document})
		require.NoError(t, err)
		asked, _, _ := h.Recorded(body)
		require.Equal(t, want, asked.Fields, document)
	}

	asked, _, _ := h.Recorded([]byte(`{"query":"query A{a} query A{b}","operationName":"A"}`))
	require.Equal(t, []string{"a"}, asked.Fields)
}

func TestRecorded_LooksIntoNoLongerDocumentThanIsAnswered(t *testing.T) {
	t.Parallel()
	body := []byte(`{"query":"{myself{id} ...f} fragment f on Query{pod{id}}"}`)
	limits := graphql.Limits{Tokens: 100, Fields: 5}
	asked, _, _ := graphql.Recorded(body, limits)
	require.NotNil(t, asked)
	limits.Fields = 4
	asked, masked, _ := graphql.Recorded(body, limits)
	require.Nil(t, asked)
	require.NotContains(t, string(masked), "pod")
	asked, _, _ = graphql.Recorded(body, graphql.Limits{Tokens: 5, Fields: 5})
	require.Nil(t, asked)
}

// TestRecorded_KeepsNothingElseOfADocument holds on to what the journal does of documents that are long. Not beside other tests, whose memory it would measure.
func TestRecorded_KeepsNothingElseOfADocument(t *testing.T) {
	const documents, long = 64, 1 << 20
	h := open(t, nil).handler
	body := []byte(asked(t, `mutation Mine{secretCreate(input:{value:"`+strings.Repeat("x", long-1000)+`"}){id} myself{id} ...f} fragment f on Query{pod{id}}`, "null"))
	inUse := func() int64 {
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		return int64(memory.HeapAlloc)
	}
	before := inUse()
	var kept []*journal.Document
	for range documents {
		document, _, _ := h.Recorded(body)
		kept = append(kept, document)
	}
	require.Less(t, inUse()-before, int64(documents*long/2))
	require.Equal(t, &journal.Document{Name: "Mine", Fields: []string{"secretCreate", "myself", "pod"}}, kept[documents-1])
}

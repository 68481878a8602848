package graphql_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/graphql"
)

// fields gives a selection of n fields.
func fields(n int) string { return strings.Repeat("id ", n) }

func TestLimits_BoundTheFieldsOfADocument(t *testing.T) {
	t.Parallel()
	e := open(t, func(s *graphql.Services) { s.Limits.Fields = 100 })
	for document, refused := range map[string]bool{
		`{gpuTypes{` + fields(99) + `}}`:  false,
		`{gpuTypes{` + fields(100) + `}}`: true,
		// Asked for twice by a text that is short.
		`{a:gpuTypes{...f} b:gpuTypes{...f}} fragment f on GpuType{` + fields(49) + `}`: false,
		`{a:gpuTypes{...f} b:gpuTypes{...f}} fragment f on GpuType{` + fields(50) + `}`: true,
		// Long, though it does not ask for it.
		`query a{gpuTypes{id}} query b{gpuTypes{` + fields(97) + `}}`:                             false,
		`query a{gpuTypes{id}} query b{gpuTypes{` + fields(98) + `}}`:                             true,
		`query a{gpuTypes{id}} query b{gpuTypes{...f}} fragment f on GpuType{` + fields(95) + `}`: false,
		`query a{gpuTypes{id}} query b{gpuTypes{...f}} fragment f on GpuType{` + fields(97) + `}`: true,
		`query a{gpuTypes{id}} query b{gpuTypes{... on GpuType{` + fields(96) + `}}}`:             false,
		`query a{gpuTypes{id}} query b{gpuTypes{... on GpuType{` + fields(97) + `}}}`:             true,
	} {
		body, err := json.Marshal(map[string]any{"query": document, "operationName": map[bool]any{true: "a"}[strings.HasPrefix(document, "query a")]})
		require.NoError(t, err)
		status, answer := e.do(http.MethodPost, "/graphql?api_key="+e.token, string(body))
		if refused {
			require.Equal(t, 400, status, document)
			require.Contains(t, answer, "too many fields; the limit is 100", document)
		} else {
			require.Equal(t, 200, status, "%s: %s", document, answer)
		}
	}
}

func TestVariables_AreOfTheTypesOfTheOperationThatIsAskedFor(t *testing.T) {
	t.Parallel()
	e := open(t, func(*graphql.Services) {})
	const document = `mutation a($v:CloudTypeEnum){podFindAndDeployOnDemand(input:{imageName:"i",cloudType:$v}){id}}
		query b($v:String!){pod(input:{podId:$v}){id}}`
	ask := func(operation string, variables map[string]any) (int, string) {
		body, err := json.Marshal(map[string]any{"query": document, "operationName": operation, "variables": variables})
		require.NoError(t, err)
		return e.do(http.MethodPost, "/graphql?api_key="+e.token, string(body))
	}

	status, answer := ask("b", map[string]any{"v": ""})
	require.Equal(t, 200, status, answer)
	require.JSONEq(t, `{"data":{"pod":null}}`, answer)
	status, answer = ask("", nil)
	require.Equal(t, 400, status)
	require.Contains(t, answer, "operationName is missing")
}

func TestLimits_BoundFragmentsInFragmentsBeforeTheyAreValidated(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	chain := func(levels int, of, use, leaf string) string {
		var b strings.Builder
		for i := range levels {
			fmt.Fprintf(&b, " fragment F%d on %s{%s}", i, of, strings.ReplaceAll(use, "NEXT", fmt.Sprint("...F", i+1)))
		}
		fmt.Fprintf(&b, " fragment F%d on %s{%s}", levels, of, leaf)
		return b.String()
	}
	circle := func(n int) string { // of which each uses all
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " fragment F%d on __Schema{", i)
			for next := range n {
				fmt.Fprintf(&b, "...F%d ", next)
			}
			b.WriteString("}")
		}
		return b.String()
	}
	for document, words := range map[string]string{
		`{__schema{...F0}}` + chain(49, "__Schema", "NEXT NEXT", "types{name}"):                      "too many fields",
		`{__type(name:"Pod"){...F0}}` + chain(49, "__Type", "a:ofType{NEXT} b:ofType{NEXT}", "name"): "too many fields",
		`{myself{id}}` + chain(49, "User", "NEXT NEXT", "id"):                                        "too many fields", // nobody uses it
		`query a{myself{id}} query b{myself{...F0}}` + chain(20, "User", "NEXT NEXT", "id"):          "too many fields",
		`{__schema{...F0}}` + circle(9):                                                              "within itself",
		`{__schema{...F0}}` + chain(3, "__Schema", "NEXT", "...F0"):                                  "within itself",
	} {
		body, err := json.Marshal(map[string]any{"query": document, "operationName": map[bool]any{true: "a"}[strings.HasPrefix(document, "query a")]})
		require.NoError(t, err)
		status, answer := e.do(http.MethodPost, "/graphql", string(body))
		require.Equal(t, 400, status, document)
		require.Contains(t, answer, words, document)
	}
	status, answer := e.send(`{myself{...F0}}` + chain(8, "User", "NEXT NEXT", "id"))
	require.Equal(t, 200, status, answer)
}

func TestDirectives_AreHeldAgainstTheirTypes(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	ask := func(query, variables string) (int, string) {
		return e.do(http.MethodPost, "/graphql?api_key="+e.token, asked(t, query, variables))
	}
	for _, on := range []string{`{__typename @skip(if:$s)}`, `{...on Query @include(if:$s){__typename}}`, `{...f @skip(if:$s)} fragment f on Query{__typename}`} {
		status, answer := ask(`query($s:Boolean=true)`+on, `{"s":null}`)
		require.Equal(t, 400, status, on)
		require.Contains(t, answer, `"message":"if: must not be null"`, on)
		status, answer = ask(`query($s:Boolean=true)`+on, `null`)
		require.Equal(t, 200, status, answer)
	}
	status, _ := ask(`mutation($s:Boolean=true){podFindAndDeployOnDemand(input:{gpuTypeId:"NVIDIA L4",imageName:"u"}){id @skip(if:$s)}}`, `{"s":null}`)
	require.Equal(t, 400, status)
	_, answer := e.send(`{myself{pods{id}}}`)
	require.JSONEq(t, `{"data":{"myself":{"pods":[]}}}`, answer, "nothing was done")
	require.NotContains(t, e.log.String(), "panic")

	status, answer = e.send(`{myself{id ...@defer{pods{id}}}}`)
	require.Equal(t, 400, status)
	require.Contains(t, answer, `Unknown directive \"@defer\".`)
}

func TestRefusals_SuggestNoNames(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	for _, document := range []string{
		`{gpuTypes(inpu:{}){id}}`, `mutation{podFindAndDeployOnDemand(input:{cloudTyp:1}){id}}`, `mutation{podFindAndDeployOnDemand(input:{cloudType:SECUR}){id}}`,
		`query($i:PodFilte){myself{id}}`, `{myself{...on Usr{id}}}`, `{gpuType{id}}`,
	} {
		status, answer := e.send(document)
		require.Equal(t, 400, status, document)
		require.NotContains(t, answer, "Did you mean", document)
	}
}

func TestVariables_AreNamedWhereTheLibraryRefusesThem(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	for variables, words := range map[string]string{`{"i":{"gpuCount":1.5}}`: "$i.gpuCount: ", `{"i":{"nosuch":1}}`: "$i.nosuch: ", `{}`: "$i: must be defined", `{"i":null}`: "$i: cannot be null"} {
		status, answer := e.do(http.MethodPost, "/graphql?api_key="+e.token, asked(t, `query($i:GpuLowestPriceInput!){gpuTypes{lowestPrice(input:$i){minVcpu}}}`, variables))
		require.Equal(t, 400, status, variables)
		require.Contains(t, answer, `"message":"`+words, variables)
		require.NotContains(t, answer, `"path"`, variables)
	}
}

func TestLimits_BoundWhatADocumentRepeats(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	spreads := func(n int) string { return strings.Repeat("...f ", n) }
	for document, refused := range map[string]bool{
		`{myself{` + fields(101) + `}}`:                               false, // the first one repeats nothing
		`{myself{` + fields(102) + `}}`:                               true,
		`{myself{pods{` + fields(101) + `}}}`:                         false,
		`{myself{pods{` + fields(102) + `}}}`:                         true,
		`{myself{` + spreads(100) + `}} fragment f on User{id}`:       false,
		`{myself{` + spreads(101) + `}} fragment f on User{id}`:       true,
		`{myself{...f}} fragment f on User{` + fields(100) + `}`:      false,
		`{myself{...f}} fragment f on User{` + fields(101) + `}`:      true,
		`{myself{` + fields(51) + `... on User{` + fields(51) + `}}}`: true,
		`{myself{` + fields(51) + `... on User{` + fields(50) + `}}}`: false,
	} {
		status, answer := e.send(document)
		if refused {
			require.Equal(t, 400, status, document)
			require.Contains(t, answer, "repeats too many fields of a selection, or uses too many fragments; the limit is 100", document)
		} else {
			require.Equal(t, 200, status, "%s: %s", document, answer)
		}
	}
}

func TestVariables_AreReadWhateverTheOperationIsCalled(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	const price = `($n:Int){gpuTypes(input:{id:\"NVIDIA L4\"}){lowestPrice(input:{gpuCount:$n}){minVcpu}}}`
	for body, want := range map[string]int{
		`{"query":"query` + price + `","variables":{"n":2.0}}`:                                                                      200,
		`{"query":"query mine` + price + `","variables":{"n":2.0}}`:                                                                 200,
		`{"query":"query mine` + price + `","operationName":"mine","variables":{"n":2.0}}`:                                          200,
		`{"query":"query a{__typename} query b` + price + `","operationName":"b","variables":{"n":2.0}}`:                            200,
		`{"query":"query a` + price + ` query b($n:String!){pod(input:{podId:$n}){id}}","operationName":"b","variables":{"n":2.0}}`: 400,
		`{"query":"query mine` + price + `","operationName":"other","variables":{"n":2.0}}`:                                         400,
		`{"query":"query mine` + price + `","variables":{"n":2.5}}`:                                                                 400,
		`{"query":"query mine($n:Nothing){gpuTypes{id}}","variables":{"n":2.0}}`:                                                    400,
	} {
		w := e.ask(http.MethodPost, e.withKey(), body)
		require.Equal(t, want, w.Code, "%s: %s", body, w.Body)
		if want == 400 {
			require.Contains(t, w.Body.String(), `"code":"INVALID"`, body)
		}
	}
}

func TestVariables_OfIDsAreTextsWhereverTheyAreDeclared(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	const document = "# für alle\nquery a($p:ID!,$l:[ID],$q:ID){x:pod(input:{podId:$p}){id} gpuTypes(input:{ids:$l}){id} y:pod(input:{podId:$q}){id}}"
	body, err := json.Marshal(map[string]any{"query": document, "variables": map[string]any{"p": "nosuch", "q": "nosuch", "l": []string{"NVIDIA L4"}}})
	require.NoError(t, err)
	w := e.ask(http.MethodPost, e.withKey(), string(body))
	require.Equal(t, 200, w.Code, w.Body)
	require.JSONEq(t, `{"data":{"x":null,"gpuTypes":[{"id":"NVIDIA L4"}],"y":null}}`, w.Body.String())
}

func TestGate_LeavesWhatIsNoDocumentToTheParser(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	for _, document := range []string{`{`, `query a{__typename} query b{__typename} query c{`, `{myself{` + fields(200) + `}`} {
		status, answer := e.send(document)
		require.Equal(t, 400, status, document)
		message, extensions := firstError(t, answer)
		require.Equal(t, "REJECTED", extensions["code"], document)
		require.NotContains(t, message, "the limit is", document)
	}
}

package graphql_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// megabyte is an environment of about a megabyte.
var megabyte = map[string]string{"A": strings.Repeat("x", 1_000_000)}

// named gives a field so many times under different names, %d in it.
func named(n int, field string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" " + fmt.Sprintf(field, i))
	}
	return b.String()
}

// sendLarge sends a document with the variable $env, an environment of 900,000 bytes.
func (e *edge) sendLarge(document string) string {
	status, body := e.do(http.MethodPost, e.withKey(), `{"query":"`+strings.ReplaceAll(document, `"`, `\"`)+`","variables":{"env":[{"key":"A","value":"`+strings.Repeat("x", 900_000)+`"}]}}`)
	require.Equal(e, 200, status)
	return body
}

// pods gives the user's pods as they are stored.
func (e *edge) pods() (all []compute.Pod) {
	require.NoError(e, e.db.Read(e.Context(), func(tx store.Tx) (err error) {
		all, _, err = tx.PagePods("u", compute.Page{Limit: 1000})
		return err
	}))
	return all
}

// endpointOfWorkers stores an endpoint with so many workers, whose settings set changes.
func (e *edge) endpointOfWorkers(workers int, set func(*compute.Endpoint)) {
	require.NoError(e, e.db.Write(e.Context(), func(tx store.Tx) error {
		one := compute.Endpoint{
			ID: "busy", UserID: "u", Name: "n", Image: "i", Type: compute.QueueEndpoint, Scaler: compute.ByDelay, ScalerValue: 4, WorkersMax: 100, Version: 1,
			GPU: &compute.EndpointGPU{Pools: []string{"ADA_24"}, Count: 1}, CreatedAt: tx.Now(),
		}
		set(&one)
		if err := tx.InsertEndpoint(one); err != nil {
			return err
		}
		for i := range workers {
			if err := tx.InsertWorker(compute.Worker{ID: compute.WorkerID(fmt.Sprintf("w%d", i)), EndpointID: one.ID, Image: "i", CreatedAt: tx.Now()}); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestEndpoints_WorkersCountWithWhatTheyShow(t *testing.T) {
	t.Parallel()
	const instead = "read the workers of one with GET /v2/serverless/{id}/workers"
	e := open(t, nil)
	e.endpointOfWorkers(20, func(one *compute.Endpoint) { one.Env = megabyte })
	for _, fields := range []string{"endpoints{pods{env}}", `endpoint(id:"busy"){pods{env}}`, `endpoint(id:"busy"){pods{id} ...{more:pods{...{env}}}}`} {
		status, body := e.send(`{myself{` + fields + `}}`)
		require.Equal(t, 200, status)
		require.Contains(t, body, `"code":"REJECTED"`, fields)
		require.Contains(t, body, instead, fields)
	}
	for _, fields := range []string{"endpoints{env{key} pods{id dockerArgs}}", `endpoint(id:"busy"){pods{id}}`} {
		_, body := e.send(`{myself{` + fields + `}}`)
		require.NotContains(t, body, "errors", "without their environment they are small: %s", fields)
	}

	for name, set := range map[string]func(*compute.Endpoint){
		"args": func(one *compute.Endpoint) { one.Args = megabyte["A"] }, "name": func(one *compute.Endpoint) { one.Name = megabyte["A"] },
		"image": func(one *compute.Endpoint) { one.Image = megabyte["A"] }, "ports": func(one *compute.Endpoint) { one.Ports = []string{megabyte["A"]} },
	} {
		e := open(t, nil)
		e.endpointOfWorkers(20, set)
		_, body := e.send(`{myself{endpoints{pods{id}}}}`)
		require.Contains(t, body, instead, name)
		_, body = e.send(`{myself{endpoints{id}}}`)
		require.NotContains(t, body, "errors", name)
	}
}

func TestEndpoints_AreNotSavedWhereTheAnswerHasNoRoom(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	e.endpointOfWorkers(20, func(*compute.Endpoint) {})
	require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertTemplate(compute.Template{ID: "large", UserID: "u", Name: "large", Image: "i", Env: megabyte, Serverless: true, CreatedAt: tx.Now()})
	}))
	stored := func() (one compute.Endpoint) {
		require.NoError(t, e.db.Read(t.Context(), func(tx store.Tx) (err error) {
			one, err = tx.Endpoint("busy")
			return err
		}))
		return one
	}

	before := stored()
	for _, document := range []string{
		`mutation($env:[EnvironmentVariableInput]){saveEndpoint(input:{id:"busy",template:{name:"own",imageName:"i",env:$env}}){pods{env}}}`,
		`mutation{saveEndpoint(input:{id:"busy",name:"other",templateId:"large"}){pods{env}}}`,
		`mutation{updateEndpointTemplate(input:{endpointId:"busy",templateId:"large"}){pods{env}}}`,
	} {
		require.Contains(t, e.sendLarge(document), `"code":"REJECTED"`, document)
		require.Equal(t, before, stored(), "nothing was changed: %s", document)
	}
	e.largeOfEach(0, 17)
	require.Contains(t, e.sendLarge(`mutation{saveEndpoint(input:{id:"busy",name:"other"}){networkVolume{id}}}`), "GET /v2/network-volumes")
	require.Equal(t, before, stored(), "nor was it for the volumes that it would show")

	require.NotContains(t, e.sendLarge(`mutation{updateEndpointTemplate(input:{endpointId:"busy",templateId:"large"}){pods{id}}}`), "errors", "without their environment they are small")
	require.Equal(t, megabyte, stored().Env)
	body := e.sendLarge(`mutation($env:[EnvironmentVariableInput]){` + named(20, `x%d:saveEndpoint(input:{name:"n",gpuIds:"ADA_24",template:{name:"t%[1]d",imageName:"i",env:$env}}){id}`) + `}`)
	require.Contains(t, body, "save this one with REST, in /v2/serverless")
	require.Equal(t, 18, strings.Count(body, `"id"`), "about sixteen megabytes")
}

func TestPods_AreNotMadeWhereTheAnswerHasNoRoom(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertTemplate(compute.Template{ID: "large", UserID: "u", Name: "large", Image: "i", Env: megabyte, CreatedAt: tx.Now()})
	}))
	made := 0
	for _, document := range []string{
		`mutation($env:[EnvironmentVariableInput]){` + named(20, `x%d:podFindAndDeployOnDemand(input:{gpuTypeId:"NVIDIA L4",imageName:"i",env:$env}){id env}`) + `}`,
		`mutation{` + named(20, `x%d:podFindAndDeployOnDemand(input:{gpuTypeId:"NVIDIA L4",templateId:"large"}){id env}`) + `}`,
		`mutation{` + named(20, `x%d:podRentInterruptable(input:{gpuTypeId:"NVIDIA L4",bidPerGpu:1,templateId:"large"}){id ...{env}}`) + `}`,
		`mutation{` + named(20, `x%d:deployCpuPod(input:{templateId:"large"}){id env}`) + `}`,
	} {
		body := e.sendLarge(document)
		require.Contains(t, body, `"code":"REJECTED"`, document)
		require.Contains(t, body, "make this one with POST /v2/pods", document)
		fit := strings.Count(body, `"id"`)
		require.Greater(t, fit, 14, document)
		require.Less(t, fit, 19, document)
		made += fit
		require.Len(t, e.pods(), made, "those that were refused are not there: %s", document)
	}

	require.NotContains(t, e.sendLarge(`mutation{`+named(20, `x%d:deployCpuPod(input:{templateId:"large"}){id}`)+`}`), "errors", "without their environment they are small")
}

func TestPods_CountWithTheKeysThatTheyGet(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) error { return tx.SetSSHKeys("u", []string{megabyte["A"]}) }))
	document := func(field string) string {
		return `mutation{` + named(20, `x%d:deployCpuPod(input:{imageName:"i",startSsh:true}){`+field+`}`) + `}`
	}
	require.Contains(t, e.sendLarge(document("env")), "make this one with POST /v2/pods")
	require.NotContains(t, e.sendLarge(document("id")), "errors")
}

func TestPods_AreNotChangedWhereTheAnswerHasNoRoom(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	require.NotContains(t, e.sendLarge(`mutation($env:[EnvironmentVariableInput]){`+named(10, `x%d:deployCpuPod(input:{imageName:"i",env:$env}){id}`)+`}`), "errors")
	all := e.pods()
	require.Len(t, all, 10)
	const read, change = "do this one with POST /v2/pods/", "change this one with PATCH /v2/pods/"
	for _, of := range []struct{ field, instead string }{
		{`podStop(input:{podId:"%s"}){id env}`, read}, {`podResume(input:{podId:"%s"}){id env}`, read}, {`podRestart(input:{podId:"%s"}){id env}`, read},
		{`podBidResume(input:{podId:"%s",bidPerGpu:1,gpuCount:1}){id env}`, read}, {`podEditJob(input:{podId:"%s",dockerArgs:"a"}){id env}`, change},
	} {
		document := "mutation{"
		for i := range 20 { // each of them twice: the last one is met when there is no room any more
			document += fmt.Sprintf(" x%d:", i) + fmt.Sprintf(of.field, all[i%10].ID)
		}
		body := e.sendLarge(document + "}")
		require.Contains(t, body, of.instead, of.field)
		require.Contains(t, body, `"code":"REJECTED"`, of.field)
	}

	before, last := e.pods(), all[0].ID
	full := fmt.Sprintf(`mutation{%s y:podStop(input:{podId:"%s"}){env} z:podEditJob(input:{podId:"%[2]s",dockerArgs:"b"}){env}}`, named(18, `x%d:podEditJob(input:{podId:"`+string(all[9].ID)+`",ports:""}){env}`), last)
	require.Contains(t, e.sendLarge(full), "change this one with PATCH /v2/pods/"+string(last))
	for i, one := range e.pods() {
		if one.ID == last {
			require.Equal(t, before[i], one, "what was refused has done nothing")
		}
	}
	require.NotContains(t, e.sendLarge(strings.ReplaceAll(full, "{env}", "{id}")), "ask for fewer", "without their environment they are small")

	edit := `mutation($env:[EnvironmentVariableInput]){` + named(20, `x%d:podEditJob(input:{podId:"`+string(last)+`",env:$env}){env}`) + `}`
	require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) error {
		one, err := tx.Pod(last)
		if err != nil {
			return err
		}
		one.Env = nil
		_, err = tx.ChangePod(one)
		return err
	}))
	require.Contains(t, e.sendLarge(edit), change, "what they will have counts")
}

func TestClusters_AreNotMadeWhereTheAnswerHasNoRoom(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	document := func(fields string) string {
		return `mutation($env:[EnvironmentVariableInput]){createCluster(input:{gpuTypeId:"NVIDIA L4",podCount:20,imageName:"i",env:$env}){id ` + fields + `}}`
	}
	body := e.sendLarge(document("pods{id env}"))
	require.Contains(t, body, `"code":"REJECTED"`)
	require.Contains(t, body, "make this one with POST /v2/clusters")
	require.Empty(t, e.pods())
	_, body = e.send(`mutation{createCluster(input:{gpuTypeId:"NVIDIA L4",podCount:20,clusterName:"` + strings.Repeat("n", 900_000) + `",imageName:"i"}){pods{id}}}`)
	require.Contains(t, body, "make this one with POST /v2/clusters", "each pod has a name as long")
	require.Empty(t, e.pods())

	body = e.sendLarge(document("pods{id}"))
	require.NotContains(t, body, "errors", "without their environment they are small")
	require.Len(t, e.pods(), 20)
	require.Equal(t, 21, strings.Count(body, `"id"`))
	require.NotContains(t, e.sendLarge(document("podCount")), "errors", "without their pods, too")
}

func TestTemplates_AreNotSavedWhereTheAnswerHasNoRoom(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	body := e.sendLarge(`mutation($env:[EnvironmentVariableInput]){` + named(20, `x%d:saveTemplate(input:{name:"t%[1]d",imageName:"i",containerDiskInGb:10,volumeInGb:0,env:$env}){id}`) + `}`)
	require.Contains(t, body, "save this one with REST, in /v2/templates")
	require.Equal(t, 18, strings.Count(body, `"id"`), "about sixteen megabytes")

	require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertTemplate(compute.Template{ID: "large", UserID: "u", Name: "large", Image: "i", Readme: megabyte["A"], CreatedAt: tx.Now()})
	}))
	body = e.sendLarge(`mutation{` + named(20, `x%d:saveTemplate(input:{id:"large",name:"large",containerDiskInGb:10,volumeInGb:0}){id}`) + `}`)
	require.Contains(t, body, "save this one with REST, in /v2/templates", "as large as it was")
	require.Equal(t, 16, strings.Count(body, `"id"`))
}

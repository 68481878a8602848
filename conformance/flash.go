package conformance

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graphclient"
)

// flashApps is where the apps of flash would be listed by REST, which has none: cleaning up knows them by it.
const flashApps = graphqlPath + "/flash-apps"

// flashArtifact gives what a client would send.
func (c *Check) flashArtifact(text string) string {
	var sent bytes.Buffer
	w := gzip.NewWriter(&sent)
	_, err := io.WriteString(w, text)
	require.NoError(c, err)
	require.NoError(c, w.Close())
	return sent.String()
}

// flashApp makes an app of a name of the rule's own.
func (c *Check) flashApp(name string) graphclient.FlashAppFields {
	answer, err := graphclient.CreateFlashApp(context.Background(), c, &graphclient.CreateFlashAppInput{Name: c.own(name)})
	require.NoError(c, err)
	return answer.CreateFlashApp.FlashAppFields
}

func (c *Check) flashEnvironment(app, name string) graphclient.FlashEnvironmentFields {
	answer, err := graphclient.CreateFlashEnvironment(context.Background(), c, &graphclient.CreateFlashEnvironmentInput{FlashAppId: app, Name: name})
	require.NoError(c, err)
	return answer.CreateFlashEnvironment.FlashEnvironmentFields
}

// flashUpload prepares an upload and gives its URL and key.
func (c *Check) flashUpload(app string, size int) (url, key string) {
	answer, err := graphclient.PrepareFlashUpload(context.Background(), c, &graphclient.PrepareFlashArtifactUploadInput{FlashAppId: app, TarballSize: size})
	require.NoError(c, err)
	made := answer.PrepareFlashArtifactUpload
	return *made.UploadUrl, *made.ObjectKey
}

// flashPut sends an artifact as clients do: without a key.
func (c *Check) flashPut(url, artifact string) Answer {
	_, a := c.exchange(Request{Method: "PUT", URL: url, Body: artifact, Key: "-", Header: map[string]string{"Content-Type": "application/gzip"}})
	_ = json.Unmarshal(a.Body, &a.JSON) // one that was taken has no body
	return a
}

// flashPutSlowly begins to send an artifact, and returns once the server reads it. What it gives sends the rest, and gives the status.
func (c *Check) flashPutSlowly(url, artifact string) (end func() int) {
	begun, status := make(chan struct{}), make(chan int, 1)
	begin := sync.OnceFunc(func() { close(begun) })
	body, sent := io.Pipe()
	ctx := httptrace.WithClientTrace(c.context(), &httptrace.ClientTrace{Got1xxResponse: func(int, textproto.MIMEHeader) error { begin(); return nil }})
	req, err := http.NewRequestWithContext(ctx, "PUT", url, body)
	require.NoError(c, err)
	req.ContentLength = int64(len(artifact))
	req.Header.Set("Expect", "100-continue")
	go func() {
		a, err := do(req)
		_ = body.CloseWithError(err) // nobody reads the rest
		status <- a.Status
	}()

	select {
	case <-begun:
	case <-time.After(time.Second): // something between here and the server tells nobody
	}
	return func() int {
		_, _ = io.WriteString(sent, artifact)
		_ = sent.Close()
		return <-status
	}
}

func (c *Check) flashGet(url string) Answer {
	_, a := c.exchange(Request{Method: "GET", URL: url, Key: "-"})
	return a
}

// flashBuild makes a build of the artifact.
func (c *Check) flashBuild(app, artifact string) graphclient.FlashBuildFields {
	url, key := c.flashUpload(app, len(artifact))
	a := c.flashPut(url, artifact)
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return c.flashFinalized(app, key, nil)
}

func (c *Check) flashFinalized(app, key string, manifest *json.RawMessage) graphclient.FlashBuildFields {
	answer, err := graphclient.FinalizeFlashUpload(context.Background(), c, &graphclient.FinalizeFlashArtifactUploadInput{FlashAppId: app, ObjectKey: key, Manifest: manifest})
	require.NoError(c, err)
	return answer.FinalizeFlashArtifactUpload.FlashBuildFields
}

// flashFinalize sends finalizeFlashArtifactUpload.
func (c *Check) flashFinalize(app, key string) Answer {
	return c.graphQL(`mutation{finalizeFlashArtifactUpload(input:{flashAppId:` + quoted(app) + `,objectKey:` + quoted(key) + `}){id}}`)
}

func (c *Check) flashDeployed(environment, build string) graphclient.FlashEnvironmentFields {
	answer, err := graphclient.DeployFlashBuild(context.Background(), c, &graphclient.DeployBuildToEnvironmentInput{FlashEnvironmentId: environment, FlashBuildId: build})
	require.NoError(c, err)
	return answer.DeployBuildToEnvironment.FlashEnvironmentFields
}

// flashEndpoint makes an endpoint in the environment, with a template that outlives it.
func (c *Check) flashEndpoint(environment, name string) graphclient.EndpointFields {
	made := c.saveEndpoint(func(in *endpointInput) {
		in.Name, in.FlashEnvironmentId, in.InstanceIds = to(name), to(environment), []*string{to("cpu3g-2-8")}
		in.Template = &graphclient.EndpointTemplateInput{Name: to(c.own("flash")), ImageName: to("i")}
	})
	c.owns(templates+"/"+*made.TemplateId, "")
	return made
}

// readFlashApp gives an app as it is.
func (c *Check) readFlashApp(id string) graphclient.FlashAppFields {
	answer, err := graphclient.FlashApp(context.Background(), c, id)
	require.NoError(c, err)
	return answer.FlashApp.FlashAppFields
}

func (c *Check) readFlashEnvironment(id string) graphclient.FlashEnvironmentFields {
	answer, err := graphclient.FlashEnvironment(context.Background(), c, id)
	require.NoError(c, err)
	return answer.FlashEnvironment.FlashEnvironmentFields
}

// creatingApp sends createFlashApp.
func (c *Check) creatingApp(key, name string) Answer {
	return c.graphQLAs(key, `mutation($n:String!){createFlashApp(input:{name:$n}){id}}`, map[string]string{"n": name})
}

// preparing sends prepareFlashArtifactUpload.
func (c *Check) preparing(key, app string, size int) Answer {
	return c.graphQLAs(key, fmt.Sprintf(`mutation{prepareFlashArtifactUpload(input:{flashAppId:%s,tarballSize:%d}){objectKey}}`, quoted(app), size), nil)
}

var _ = area(func() {
	add("flash.apps", nil, func(c *Check) {
		first, second := c.flashApp("first"), c.flashApp("second")
		require.Equal(c, first, c.readFlashApp(*first.Id))
		require.Empty(c, first.FlashEnvironments)
		require.NotNil(c, first.FlashBuilds)
		answer, err := graphclient.FlashAppByName(context.Background(), c, *first.Name)
		require.NoError(c, err)
		require.Equal(c, first, answer.FlashAppByName.FlashAppFields)

		mine, err := graphclient.MyFlashApps(context.Background(), c)
		require.NoError(c, err)
		var order []string
		for _, app := range mine.Myself.FlashApps {
			order = append(order, *app.Id)
		}
		require.Less(c, indexOf(order, *second.Id), indexOf(order, *first.Id), "newest first")
		require.Contains(c, c.wrongly(c.creatingApp("", *first.Name), 200, "CONFLICT"), *first.Name)
	})

	add("flash.environments", nil, func(c *Check) {
		app := c.flashApp("app")
		made := c.flashEnvironment(*app.Id, "production")
		require.Equal(c, []string{"production", "PENDING"}, []string{*made.Name, *made.State})
		require.Nil(c, made.ActiveBuildId)
		require.Nil(c, made.ActiveArtifact)
		require.Equal(c, made, c.readFlashEnvironment(*made.Id))

		answer, err := graphclient.FlashEnvironmentByName(context.Background(), c, &graphclient.FlashEnvironmentByNameInput{FlashAppId: *app.Id, Name: "production"})
		require.NoError(c, err)
		require.Equal(c, made, answer.FlashEnvironmentByName.FlashEnvironmentFields)
		require.Len(c, c.readFlashApp(*app.Id).FlashEnvironments, 1)

		again := c.graphQL(`mutation{createFlashEnvironment(input:{flashAppId:` + quoted(*app.Id) + `,name:"production"}){id}}`)
		require.Contains(c, c.wrongly(again, 200, "CONFLICT"), "production")
		c.flashEnvironment(*c.flashApp("other").Id, "production")
	})

	add("flash.names", nil, func(c *Check) {
		app := c.flashApp("Ärger & Söhne")
		for _, name := range []string{"", " a", "a ", "a\nb", "a\x00b", strings.Repeat("ä", 192)} {
			require.Contains(c, c.wrongly(c.creatingApp("", name), 200, "REJECTED"), "name", "%q", name)
			a := c.graphQLAs("", `mutation($a:String!,$n:String!){createFlashEnvironment(input:{flashAppId:$a,name:$n}){id}}`, map[string]string{"a": *app.Id, "n": name})
			require.Contains(c, c.wrongly(a, 200, "REJECTED"), "name", "%q", name)
		}
		c.flashEnvironment(*app.Id, strings.Repeat("ä", 191))
	})

	add("flash.unknown", nil, func(c *Check) {
		app := quoted(*c.flashApp("app").Id)
		for document, words := range map[string]string{
			`{flashApp(flashAppId:"none"){id}}`:                                                             "app not found",
			`{flashAppByName(flashAppName:"none"){id}}`:                                                     "app not found",
			`mutation{deleteFlashApp(flashAppId:"none")}`:                                                   "app not found",
			`{flashEnvironment(flashEnvironmentId:"none"){id}}`:                                             "not found",
			`{flashEnvironmentByName(input:{flashAppId:` + app + `,name:"none"}){id}}`:                      "not found",
			`mutation{deleteFlashEnvironment(flashEnvironmentId:"none")}`:                                   "not found",
			`{flashBuild(flashBuildId:"none"){id}}`:                                                         "not found",
			`mutation{updateFlashBuildManifest(input:{flashBuildId:"none"}){id}}`:                           "not found",
			`mutation{finalizeFlashArtifactUpload(input:{flashAppId:` + app + `,objectKey:"none"}){id}}`:    "not found",
			`mutation{prepareFlashArtifactUpload(input:{flashAppId:"none",tarballSize:1}){uploadUrl}}`:      "app not found",
			`mutation{deployBuildToEnvironment(input:{flashEnvironmentId:"none",flashBuildId:"none"}){id}}`: "not found",
		} {
			require.Contains(c, c.wrongly(c.graphQL(document), 200, "NOT_FOUND"), words, document)
		}
	})

	add("flash.upload", nil, func(c *Check) {
		app := c.flashApp("app")
		environment, artifact := c.flashEnvironment(*app.Id, "production"), c.flashArtifact(c.name)
		url, key := c.flashUpload(*app.Id, len(artifact))
		require.Equal(c, 200, c.flashPut(url, artifact).Status)
		require.Equal(c, 200, c.flashPut(url, artifact).Status, "clients send it again when they got no answer")
		build := c.flashFinalized(*app.Id, key, nil)
		require.Equal(c, key, *build.ObjectKey)
		require.Equal(c, *build.Id, *c.readFlashApp(*app.Id).FlashBuilds[0].Id)

		active := c.flashDeployed(*environment.Id, *build.Id).ActiveArtifact
		require.Equal(c, key, *active.ObjectKey)
		got := c.flashGet(*active.DownloadUrl)
		require.Equal(c, []any{200, "application/gzip", artifact}, []any{got.Status, got.Header.Get("Content-Type"), string(got.Body)})
	})

	add("flash.upload.body", nil, func(c *Check) {
		app, artifact := c.flashApp("app"), c.flashArtifact(c.name)
		url, key := c.flashUpload(*app.Id, len(artifact))
		for _, body := range []string{artifact + "x", artifact[1:], strings.Repeat("x", len(artifact))} {
			require.Equal(c, 400, c.flashPut(url, body).Status)
		}
		require.Contains(c, c.wrongly(c.flashFinalize(*app.Id, key), 200, "REJECTED"), "objectKey")
		for _, size := range []int{0, -1, 1500<<20 + 1} {
			require.Contains(c, c.wrongly(c.preparing("", *app.Id, size), 200, "REJECTED"), "tarballSize")
		}
	})

	add("flash.links", nil, func(c *Check) {
		app, artifact := c.flashApp("app"), c.flashArtifact(c.name)
		url, _ := c.flashUpload(*app.Id, len(artifact))
		other, _ := c.flashUpload(*app.Id, len(artifact))
		path, query, _ := strings.Cut(url, "?")
		_, otherQuery, _ := strings.Cut(other, "?")
		for _, wrong := range []string{path, path + "?" + otherQuery, url + "x", strings.Replace(url, "expires=", "expires=9", 1), path[:len(path)-1] + "_?" + query} {
			require.Equal(c, 403, c.flashPut(wrong, artifact).Status, wrong)
		}
		require.Equal(c, 403, c.flashGet(url).Status, "it permits to send")
		require.Equal(c, 405, c.Send(Request{Method: "DELETE", URL: url, Key: "-"}).Status)
	})

	add("flash.finalize", nil, func(c *Check) {
		app, artifact := c.flashApp("app"), c.flashArtifact(c.name)
		url, key := c.flashUpload(*app.Id, len(artifact))
		c.wrongly(c.flashFinalize(*app.Id, key), 200, "REJECTED")
		require.Equal(c, 200, c.flashPut(url, artifact).Status)
		require.Empty(c, c.readFlashApp(*app.Id).FlashBuilds, "an upload is no build")
		c.wrongly(c.flashFinalize(*c.flashApp("other").Id, key), 200, "NOT_FOUND")
		end := c.flashPutSlowly(url, artifact[:len(artifact)-1]+"x")
		build := c.flashFinalized(*app.Id, key, nil)

		c.wrongly(c.flashFinalize(*app.Id, key), 200, "CONFLICT")
		require.Equal(c, 409, c.flashPut(url, artifact).Status)
		require.Equal(c, 409, end(), "it began before")
		environment := c.flashDeployed(*c.flashEnvironment(*app.Id, "production").Id, *build.Id)
		require.Equal(c, artifact, string(c.flashGet(*environment.ActiveArtifact.DownloadUrl).Body))
	})

	add("flash.manifest", nil, func(c *Check) {
		app, artifact := c.flashApp("app"), c.flashArtifact(c.name)
		url, key := c.flashUpload(*app.Id, len(artifact))
		require.Equal(c, 200, c.flashPut(url, artifact).Status)
		sent := json.RawMessage(`{"resources":{"a":{"n":12345678901234567890}}}`)
		build := c.flashFinalized(*app.Id, key, &sent)
		require.JSONEq(c, string(sent), string(*build.Manifest))
		require.Contains(c, string(*build.Manifest), "12345678901234567890", "digits are kept")

		set := func(manifest string) Answer {
			return c.graphQLAs("", `mutation($m:JSON){updateFlashBuildManifest(input:{flashBuildId:`+quoted(*build.Id)+`,manifest:$m}){manifest}}`, map[string]json.RawMessage{"m": json.RawMessage(manifest)})
		}
		c.data(set(`{"resources":{}}`))
		answer, err := graphclient.FlashBuild(context.Background(), c, *build.Id)
		require.NoError(c, err)
		require.JSONEq(c, `{"resources":{}}`, string(*answer.FlashBuild.Manifest))
		for _, wrong := range []string{`[]`, `"text"`, `7`, `{"a":"` + strings.Repeat("x", 256<<10) + `"}`} {
			require.Contains(c, c.wrongly(set(wrong), 200, "REJECTED"), "manifest")
		}
	})

	add("flash.deploy", []string{"getEndpoint", "listEndpointReleases"}, func(c *Check) {
		app := c.flashApp("app")
		environment := c.flashEnvironment(*app.Id, "production")
		endpoint := c.flashEndpoint(*environment.Id, "double")
		first, second := c.flashBuild(*app.Id, c.flashArtifact("1")), c.flashBuild(*app.Id, c.flashArtifact("2"))
		for _, b := range []graphclient.FlashBuildFields{first, second, first} {
			deployed := c.flashDeployed(*environment.Id, *b.Id)
			require.Equal(c, []string{*b.Id, "ACTIVE", *b.ObjectKey}, []string{*deployed.ActiveBuildId, *deployed.State, *deployed.ActiveArtifact.ObjectKey})
		}
		c.flashDeployed(*environment.Id, *first.Id)
		require.Equal(c, 4, *c.graphEndpoint(*endpoint.Id).Version, "a release with each other build")
		releases := c.read(serverless + "/" + *endpoint.Id + "/releases")["releases"].([]any)
		diff := c.parsed(`[{"field":"flashBuildId","old":"` + *second.Id + `","new":"` + *first.Id + `"}]`)
		require.Equal(c, diff, releases[0].(map[string]any)["diff"])

		theirs := c.flashBuild(*c.flashApp("other").Id, c.flashArtifact("3"))
		c.wrongly(c.graphQL(`mutation{deployBuildToEnvironment(input:{flashEnvironmentId:`+quoted(*environment.Id)+`,flashBuildId:`+quoted(*theirs.Id)+`}){id}}`), 200, "NOT_FOUND")
		require.Equal(c, *first.Id, *c.readFlashEnvironment(*environment.Id).ActiveBuildId)
	})

	add("flash.builds.kept", nil, func(c *Check) {
		app := c.flashApp("app")
		environment := c.flashEnvironment(*app.Id, "production")
		runs := c.flashBuild(*app.Id, c.flashArtifact("runs"))
		c.flashDeployed(*environment.Id, *runs.Id)
		var want []string
		for i := range 11 {
			want = append(want, *c.flashBuild(*app.Id, c.flashArtifact(fmt.Sprint(i))).Id)
		}

		ids := func() (have []string) {
			for _, b := range c.readFlashApp(*app.Id).FlashBuilds {
				have = append(have, *b.Id)
			}
			return have
		}
		have := ids()
		want = append([]string{*runs.Id}, want[1:]...)
		slices.Reverse(want)
		require.Equal(c, want, have, "newest first")
		require.Equal(c, 200, c.flashGet(*c.readFlashEnvironment(*environment.Id).ActiveArtifact.DownloadUrl).Status)

		slow := c.flashArtifact("slow")
		to, key := c.flashUpload(*app.Id, len(slow))
		for i := range 10 {
			c.flashBuild(*app.Id, c.flashArtifact(fmt.Sprint("later ", i)))
		}
		require.Equal(c, 200, c.flashPut(to, slow).Status)
		late := *c.flashFinalized(*app.Id, key, nil).Id
		require.Contains(c, ids(), late, "it is the newest, whenever its upload began")
		require.Len(c, ids(), 11)
	})
})

var _ = area(func() {
	add("flash.endpoints", nil, func(c *Check) {
		app := c.flashApp("app")
		production, staging := c.flashEnvironment(*app.Id, "production"), c.flashEnvironment(*app.Id, "staging")
		first, second := c.flashEndpoint(*production.Id, "first"), c.flashEndpoint(*production.Id, "second")
		in := func(environment string) (names []string) {
			for _, e := range c.readFlashEnvironment(environment).Endpoints {
				require.Equal(c, environment, *e.FlashEnvironmentId)
				names = append(names, *e.Name)
			}
			return names
		}

		require.Equal(c, []string{"second", "first"}, in(*production.Id))
		c.saveEndpoint(func(in *endpointInput) { in.Id, in.WorkersMax = first.Id, to(1) })
		require.Equal(c, []string{"second", "first"}, in(*production.Id), "it stays where it is")
		c.saveEndpoint(func(in *endpointInput) { in.Id, in.FlashEnvironmentId = second.Id, staging.Id })
		require.Equal(c, [][]string{{"first"}, {"second"}}, [][]string{in(*production.Id), in(*staging.Id)})
		a := c.savingEndpoint(`id:` + quoted(*first.Id) + `,flashEnvironmentId:"none"`)
		require.Contains(c, c.wrongly(a, 200, "NOT_FOUND"), "environment")

		one, two := c.flashBuild(*app.Id, c.flashArtifact("one")), c.flashBuild(*app.Id, c.flashArtifact("two"))
		c.flashDeployed(*production.Id, *one.Id)
		c.flashDeployed(*staging.Id, *two.Id)
		releases := func() []any { return c.read(endpointPath + "/" + *first.Id + "/releases")["releases"].([]any) }
		before := len(releases())
		c.saveEndpoint(func(in *endpointInput) { in.Id, in.FlashEnvironmentId = first.Id, staging.Id })
		require.Len(c, releases(), before+1, "its workers run another build now")
		require.Equal(c, c.parsed(`[{"field":"flashBuildId","old":`+quoted(*one.Id)+`,"new":`+quoted(*two.Id)+`}]`), releases()[0].(map[string]any)["diff"])
	})

	add("flash.delete", nil, func(c *Check) {
		app := c.flashApp("app")
		production, staging := c.flashEnvironment(*app.Id, "production"), c.flashEnvironment(*app.Id, "staging")
		first, second := c.flashEndpoint(*production.Id, "first"), c.flashEndpoint(*staging.Id, "second")
		build := c.flashBuild(*app.Id, c.flashArtifact(c.name))
		download := *c.flashDeployed(*production.Id, *build.Id).ActiveArtifact.DownloadUrl

		require.Equal(c, map[string]any{"deleteFlashEnvironment": nil}, c.data(c.graphQL(`mutation{deleteFlashEnvironment(flashEnvironmentId:`+quoted(*staging.Id)+`)}`)))
		require.Nil(c, c.graphEndpoint(*second.Id))
		require.NotNil(c, c.graphEndpoint(*first.Id))
		require.Len(c, c.readFlashApp(*app.Id).FlashEnvironments, 1)

		require.Equal(c, map[string]any{"deleteFlashApp": nil}, c.data(c.graphQL(`mutation{deleteFlashApp(flashAppId:`+quoted(*app.Id)+`)}`)))
		require.Nil(c, c.graphEndpoint(*first.Id))
		for _, gone := range []string{`{flashApp(flashAppId:` + quoted(*app.Id), `{flashEnvironment(flashEnvironmentId:` + quoted(*production.Id), `{flashBuild(flashBuildId:` + quoted(*build.Id)} {
			c.wrongly(c.graphQL(gone+`){id}}`), 200, "NOT_FOUND")
		}
		require.Equal(c, 404, c.flashGet(download).Status)
		require.Equal(c, 200, c.creatingApp("", *app.Name).Status, "the name is free again")
	})

	add("flash.ownership", nil, func(c *Check) {
		app := c.flashApp("app")
		environment, build := c.flashEnvironment(*app.Id, "production"), c.flashBuild(*app.Id, c.flashArtifact(c.name))
		_, upload := c.flashUpload(*app.Id, 100)
		_, other := c.newKey(`,"user":"somebody"`, "all")
		theirs := func(document string) Answer { return c.graphQLAs("Bearer "+other, document, nil) }
		id, where, what := quoted(*app.Id), quoted(*environment.Id), quoted(*build.Id)
		for _, document := range []string{
			`{flashApp(flashAppId:` + id + `){id}}`, `{flashAppByName(flashAppName:` + quoted(*app.Name) + `){id}}`, `mutation{deleteFlashApp(flashAppId:` + id + `)}`,
			`mutation{createFlashEnvironment(input:{flashAppId:` + id + `,name:"mine"}){id}}`, `{flashEnvironment(flashEnvironmentId:` + where + `){id}}`,
			`{flashEnvironmentByName(input:{flashAppId:` + id + `,name:"production"}){id}}`, `mutation{deleteFlashEnvironment(flashEnvironmentId:` + where + `)}`,
			`mutation{prepareFlashArtifactUpload(input:{flashAppId:` + id + `,tarballSize:1}){uploadUrl}}`,
			`mutation{finalizeFlashArtifactUpload(input:{flashAppId:` + id + `,objectKey:` + quoted(upload) + `}){id}}`, `{flashBuild(flashBuildId:` + what + `){id}}`,
			`mutation{updateFlashBuildManifest(input:{flashBuildId:` + what + `,manifest:{}}){id}}`,
			`mutation{deployBuildToEnvironment(input:{flashEnvironmentId:` + where + `,flashBuildId:` + what + `}){id}}`,
			`mutation{saveEndpoint(input:{name:"e",instanceIds:["cpu3g-2-8"],template:{name:` + quoted(c.own("theirs")) + `,imageName:"i"},flashEnvironmentId:` + where + `}){id}}`,
		} {
			c.wrongly(theirs(document), 200, "NOT_FOUND")
		}

		require.Equal(c, map[string]any{"myself": map[string]any{"flashApps": []any{}}}, c.data(theirs(`{myself{flashApps{id}}}`)))
		require.Len(c, c.readFlashApp(*app.Id).FlashEnvironments, 1)
	})

	add("flash.bounds", nil, func(c *Check) {
		_, key := c.newKey(`,"user":"busy"`, "all")
		key = "Bearer " + key
		var app string
		for i := range 50 {
			app = c.data(c.creatingApp(key, fmt.Sprint("app ", i)))["createFlashApp"].(map[string]any)["id"].(string)
		}
		require.Contains(c, c.wrongly(c.creatingApp(key, "one more"), 200, "REJECTED"), "50")

		environment := func(name string) Answer {
			return c.graphQLAs(key, `mutation{createFlashEnvironment(input:{flashAppId:`+quoted(app)+`,name:`+quoted(name)+`}){id}}`, nil)
		}
		for i := range 20 {
			c.data(environment(fmt.Sprint("environment ", i)))
		}
		require.Contains(c, c.wrongly(environment("one more"), 200, "REJECTED"), "20")

		for range 8 {
			c.data(c.preparing(key, app, 1500<<20))
		}
		require.Contains(c, c.wrongly(c.preparing(key, app, 1500<<20), 200, "REJECTED"), "bytes")
		for range 2 {
			c.data(c.preparing(key, app, 1))
		}
		require.Contains(c, c.wrongly(c.preparing(key, app, 1), 200, "REJECTED"), "uploads")
	})

	add("flash.leftovers", nil, func(c *Check) {
		app, artifact := c.flashApp("app"), c.flashArtifact(c.name)
		url, key := c.flashUpload(*app.Id, len(artifact))
		require.Equal(c, 200, c.flashPut(url, artifact).Status)
		kept := c.flashBuild(*app.Id, artifact)
		environment := c.flashEnvironment(*app.Id, "production")
		download := *c.flashDeployed(*environment.Id, *kept.Id).ActiveArtifact.DownloadUrl

		c.frozen(func() {
			c.advance(16 * time.Minute)
			require.Equal(c, 403, c.flashGet(download).Status, "it has expired")
			require.Equal(c, 200, c.flashGet(*c.readFlashEnvironment(*environment.Id).ActiveArtifact.DownloadUrl).Status)
			require.Equal(c, 200, c.flashPut(url, artifact).Status)
			c.advance(46 * time.Minute)
			require.Equal(c, 403, c.flashPut(url, artifact).Status, "it has expired")
			c.wrongly(c.flashFinalize(*app.Id, key), 200, "NOT_FOUND")
		})
		require.Equal(c, *kept.Id, *c.readFlashApp(*app.Id).FlashBuilds[0].Id)
	})
})

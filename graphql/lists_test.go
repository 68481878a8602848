package graphql_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/graphql"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/store"
)

// largeOfEach stores pods, templates, endpoints and network volumes that have about a megabyte each.
func (e *edge) largeOfEach(from, to int) {
	env := map[string]string{"A": strings.Repeat("x", 1_000_000)}
	for i := from; i < to; i++ {
		id := fmt.Sprintf("large%09d", i)
		require.NoError(e, e.db.Write(e.Context(), func(tx store.Tx) error {
			return errors.Join(
				tx.InsertPod(compute.Pod{
					ID: compute.PodID(id), UserID: "u", Env: env, GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}, Cloud: compute.Secure,
					Status: compute.PodExited, CreatedAt: tx.Now(), MovedAt: tx.Now(),
				}),
				tx.InsertTemplate(compute.Template{ID: compute.TemplateID(id), UserID: "u", Env: env}),
				tx.InsertVolume(compute.Volume{ID: compute.VolumeID(id), UserID: "u", Name: env["A"], DataCenterID: "EU-RO-1"}),
				tx.InsertEndpoint(compute.Endpoint{ID: compute.EndpointID(id), UserID: "u", Env: env, Type: compute.QueueEndpoint, Scaler: compute.ByDelay}),
			)
		}))
	}
}

func TestLists_TooLargeForADocumentAreRefusedByName(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(time.Minute)
	e := open(t, func(s *graphql.Services) { s.Answers = answers })
	e.largeOfEach(0, 9)
	for _, list := range []string{"pods{id}", "podTemplates{id}", "endpoints{id}", "networkVolumes{id}"} {
		status, body := e.send(`{myself{` + list + `}}`)
		require.Equal(t, 200, status)
		require.NotContains(t, body, "errors", "nine megabytes fit: %s", list)
		status, body = e.send(`{a:myself{` + list + `} b:myself{` + list + `}}`)
		require.Equal(t, 200, status)
		require.Contains(t, body, `"code":"REJECTED"`, "twice nine do not: %s", list)
		require.Contains(t, body, "read this one in pages, with GET /v2/", list)
	}

	_, body := e.send(`{myself{endpoints{networkVolume{id}}}}`)
	require.Contains(t, body, "read this one in pages, with GET /v2/network-volumes", "nine megabytes of endpoints, and nine of volumes")

	e.largeOfEach(9, 18)
	_, body = e.send(`{myself{podTemplates{id}}}`)
	require.Contains(t, body, `"message":"the lists of the document have over 16777216 bytes: ask for fewer, or read this one in pages, with GET /v2/templates"`)

	_, body = e.send(`{a:myself{currentSpendPerHr} b:myself{currentSpendPerHr}}`)
	require.NotContains(t, body, "errors", "a sum is no list")

	one := strings.Repeat(" x%d:podTemplate(id:\"large000000001\"){id}", 20)
	names := make([]any, 20)
	for i := range names {
		names[i] = i
	}
	_, body = e.send("{" + fmt.Sprintf(one, names...) + "}")
	require.Contains(t, body, "read this one with GET /v2/templates/large000000001", "one thing under twenty names is as large as a list")

	require.Eventually(t, func() bool {
		leave, free := answers.List("k", 20_000_000)
		if free {
			leave()
		}
		return free
	}, 10*time.Second, time.Millisecond, "what the answers had is given back")
}

func TestLists_WaitForNobodyWithWhatTheyHave(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(time.Minute)
	e := open(t, func(s *graphql.Services) { s.Answers = answers })
	e.largeOfEach(0, 3)
	leave, free := answers.List("one", 20_000_000)
	require.True(t, free)
	more, free := answers.List("other", 11_000_000)
	require.True(t, free)
	status, body := e.send(`{myself{podTemplates{id}}}`)
	require.Equal(t, 200, status, body)
	require.Contains(t, body, `"code":"UNAVAILABLE"`)
	require.Contains(t, body, "too many large answers are under way")

	leave()
	more()
	_, body = e.send(`{myself{podTemplates{id}}}`)
	require.NotContains(t, body, "errors")
}

func TestLists_WhatIsNamedIsAsLargeAsInAList(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	e.largeOfEach(0, 2)
	for field, where := range map[string]string{
		`x%d:pod(input:{podId:"large000000001"}){id}`:   "GET /v2/pods/large000000001",
		`x%d:myself{endpoint(id:"large000000001"){id}}`: "GET /v2/serverless/large000000001",
	} {
		for n, refused := range map[int]bool{1: false, 17: true} {
			document := "{"
			for i := range n {
				document += " " + fmt.Sprintf(field, i)
			}
			_, body := e.send(document + "}")
			if refused {
				require.Contains(t, body, "read this one with "+where, "about seventeen megabytes do not fit")
			} else {
				require.NotContains(t, body, "errors", "one fits: %s", field)
			}
		}
	}
}

func TestLists_CountAsOftenAsTheAnswerHasThem(t *testing.T) {
	t.Parallel()
	const pods, one, listed = `pod(input:{podId:"large000000001"})`, "read this one with GET", "read this one in pages, with GET"
	e := open(t, nil)
	e.largeOfEach(0, 2)
	for fields, instead := range map[string]string{
		"myself{pods{" + named(7, "x%d:env") + "}}":                                "",
		"myself{pods{" + named(9, "x%d:env") + "}}":                                listed,
		"myself{pods{" + named(3, "x%d:env ...{y%[1]d:env z%[1]d:env}") + "}}":     listed,
		"myself{" + named(9, "x%d:podTemplates{env{key}}") + "}":                   listed,
		"myself{podTemplates{" + named(9, "x%d:env{value}") + "}}":                 listed,
		"myself{podTemplates{env{" + named(9, "x%d:value") + "}}}":                 listed,
		"myself{podTemplates{" + named(3, "x%d:env{value y:value z:value}") + "}}": listed,
		"myself{podTemplates{id name imageName env{key value} readme}}":            "",
		pods + "{" + named(15, "x%d:env") + "}":                                    "",
		pods + "{" + named(18, "x%d:env") + "}":                                    one,
		pods + "{env id name" + named(18, "x%d:id") + "}":                          one, // about: not each of them has all
	} {
		_, body := e.send("{" + fields + "}")
		if instead == "" {
			require.NotContains(t, body, "errors", fields)
		} else {
			require.Contains(t, body, instead, fields)
		}
	}
}

func TestEndpoints_AreReadWithWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	e.largeOfEach(0, 2)
	for fields, want := range map[string]int64{
		"id name":                            1,
		"id networkVolume{id}":               2,
		"id networkVolumeIds{dataCenterId}":  2,
		"id pods{id}":                        2,
		"id pods{id} ...{networkVolume{id}}": 3,
	} {
		e.db.statements.Store(0)
		_, body := e.send(`{myself{endpoints{` + fields + `}}}`)
		require.NotContains(t, body, "errors")
		require.Equal(t, want, e.db.statements.Load(), fields)
	}
}

func TestLists_WithoutPagesAreRefusedToo(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	long := strings.Repeat("x", 1_000_000)
	for i := range 9 {
		id := fmt.Sprint(i)
		require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) error {
			return errors.Join(
				tx.InsertSecret(compute.Secret{ID: compute.SecretID(id), UserID: "u", Name: "n" + id, Description: long, CreatedAt: tx.Now()}, []byte("v")),
				tx.InsertRegistry(compute.Registry{ID: compute.RegistryID(id), UserID: "u", Name: long, CreatedAt: tx.Now()}),
			)
		}))
	}
	for _, list := range []string{"secrets{id}", "containerRegistryCreds{id}"} {
		_, body := e.send(`{myself{` + list + `}}`)
		require.NotContains(t, body, "errors", "nine megabytes fit: %s", list)
		_, body = e.send(`{a:myself{` + list + `} b:myself{` + list + `}}`)
		require.Contains(t, body, "the lists of the document have over 16777216 bytes: ask for fewer, or read this one alone", list)
	}
}

package graphql_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// withApp stores an app with two environments and so many builds, whose manifests have about 256 KB each.
func (e *edge) withApp(builds int) {
	manifest := json.RawMessage(`{"a":"` + strings.Repeat("x", 256_000) + `"}`)
	require.NoError(e, e.db.Write(e.Context(), func(tx store.Tx) error {
		err := errors.Join(
			tx.InsertFlashApp(compute.FlashApp{ID: "app", UserID: "u", Name: "app", CreatedAt: tx.Now()}),
			tx.InsertFlashEnvironment(compute.FlashEnvironment{ID: "env", AppID: "app", Name: "env", CreatedAt: tx.Now()}),
			tx.InsertFlashEnvironment(compute.FlashEnvironment{ID: "none", AppID: "app", Name: "none", CreatedAt: tx.Now()}),
		)
		for i := range builds {
			b := compute.FlashBuild{ID: compute.FlashBuildID(fmt.Sprintf("build%d", i)), AppID: "app", UserID: "u", PreparedAt: tx.Now(), CreatedAt: tx.Now()}
			err = errors.Join(err, tx.InsertFlashBuild(b), tx.SetFlashManifest(b.ID, manifest))
		}
		return err
	}))
}

func TestFlash_EndpointsCountAsOftenAsTheAnswerHasThem(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	e.withApp(0)
	require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) error {
		one := compute.Endpoint{ID: "a", UserID: "u", Env: megabyte, Type: compute.QueueEndpoint, Scaler: compute.ByDelay, Environment: "env"}
		other := one
		other.ID = "b"
		return errors.Join(tx.InsertEndpoint(one), tx.InsertEndpoint(other))
	}))

	const instead = "read them in pages, with GET /v2/serverless"
	for fields, refused := range map[string]bool{
		named(7, "x%d:endpoints{env{value}}"):                              false,
		named(9, "x%d:endpoints{env{value}}"):                              true,
		named(3, "x%d:endpoints{env{value} ...{y:env{value} z:env{key}}}"): true,
		named(30, "x%d:endpoints{id}"):                                     false,
	} {
		_, body := e.send(`{flashEnvironment(flashEnvironmentId:"env"){` + fields + `}}`)
		if refused {
			require.Contains(t, body, `"code":"REJECTED"`, fields)
			require.Contains(t, body, instead, fields)
		} else {
			require.NotContains(t, body, "errors", fields)
		}
	}

	_, body := e.send(`{flashApp(flashAppId:"app"){` + named(9, "x%d:flashEnvironments{endpoints{env{value}}}") + `}}`)
	require.Contains(t, body, instead, "in whichever list the environment is")
	_, body = e.send(`{flashEnvironment(flashEnvironmentId:"none"){` + named(20, "x%d:endpoints{env{value}}") + `}}`)
	require.NotContains(t, body, "errors", "those of another environment are not shown")
}

func TestFlash_ManifestsCount(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	e.withApp(10)
	for fields, refused := range map[string]bool{
		`flashBuild(flashBuildId:"build1"){` + named(49, "x%d:manifest") + `}`:             false,
		`flashApp(flashAppId:"app"){` + named(6, "x%d:flashBuilds{manifest}") + `}`:        false,
		`flashApp(flashAppId:"app"){` + named(7, "x%d:flashBuilds{manifest}") + `}`:        true,
		`flashApp(flashAppId:"app"){flashBuilds{` + named(7, "x%d:manifest") + `}}`:        true,
		`flashApp(flashAppId:"app"){flashBuilds{id objectKey ` + named(9, "x%d:id") + `}}`: false,
	} {
		_, body := e.send(`{` + fields + `}`)
		if refused {
			require.Contains(t, body, "the lists of the document have over 16777216 bytes: ask for fewer, or read this one alone", fields)
		} else {
			require.NotContains(t, body, "errors", fields)
		}
	}
}

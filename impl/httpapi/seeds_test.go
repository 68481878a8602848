package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/seed"
)

// nursery is a server with a seed, which a test may change.
type nursery struct {
	*edge
	tools   *tools
	seed    *seed.Seed
	control *control.Control
	faults  *fault.Script
	journal *journal.Journal
}

func newNursery(t *testing.T, text string) *nursery {
	n := &nursery{tools: &tools{}, seed: readSeed(t, text), faults: &fault.Script{}, journal: journal.New(journal.DefaultBounds())}
	n.edge = openWith(t, func(s *httpapi.Services) {
		s.Controls, s.Seed, s.Owner, s.Faults, s.Journal = n.tools, n.seed, "u", n.faults, n.journal
		n.control = s.Control
	})
	n.tools.reset = func(ctx context.Context) error { return n.control.SetSeeded(ctx, "") }
	return n
}

// readSeed reads a seed of one file.
func readSeed(t *testing.T, text string) *seed.Seed {
	path := filepath.Join(t.TempDir(), "seed.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	s, err := seed.Read(path)
	require.NoError(t, err)
	return s
}

// plant is the start of a server.
func (n *nursery) plant() error { return n.handler.(*httpapi.Handler).Plant(n.Context()) }

// status gives that of a resource to the key.
func (n *nursery) status(path, token string) int { return n.call("GET", "/v2/"+path, token, "").Code }

// user gives a user.
func (n *nursery) user(name compute.UserID) compute.User {
	users, err := n.keyring.Users(n.Context())
	require.NoError(n, err)
	i := slices.IndexFunc(users, func(u compute.User) bool { return u.Name == name })
	require.GreaterOrEqual(n, i, 0, name)
	return users[i]
}

// everything has something of each list.
const everything = `
users:
- {name: ada, role: reader, disabled: true}
- {name: bob}
keys:
- {name: of bob, key: a-token-of-bob-0123456789, user: bob, scopes: [all], exempt: true}
- {name: of the owner, key: a-token-of-the-owner-0123, scopes: [all], exempt: true}
sshKeys:
- {user: bob, keys: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHMAhJoqovDFGApqEiFxFTRKy0T4h3gKxFl8q+j4IuRs"]}
registries:
- {id: registry000001, user: bob, name: r, username: n, password: p}
delegations:
- {id: delegation0001, user: bob, name: d, resource: "arn:aws:ecr:eu-west-1:123456789012:repository/team/image:1.0"}
secrets:
- {id: secretofbob001, user: bob, name: s, value: v, description: of the seed}
networkVolumes:
- {id: volumeofbob001, user: bob, name: data, size: 10, dataCenter: EU-RO-1}
globalVolumes:
- {id: globalofbob001, user: bob, name: models}
templates:
- {id: templateofbob1, user: bob, name: t, image: i}
endpoints:
- {id: endpointofbob1, user: bob, name: e, type: QUEUE, image: i, cpu: [{id: cpu3g, vcpuCount: 2}], scaling: {type: QUEUE_DELAY, queueDelay: 4}}
clusters:
- {id: clusterofbob01, user: bob, name: c, type: TRAINING, image: i, compute: {gpuTypeId: NVIDIA L4, gpuCountPerPod: 2, podCount: 2}}
pods:
- {id: podofbob000001, user: bob, name: a, image: i, cpu: {id: cpu3g, vcpuCount: 2}}
- {id: podofbob000002, user: bob, name: b, image: i, cpu: {id: cpu3g, vcpuCount: 2}, state: stopped}
- {id: podoftheowner1, name: c, image: i, cpu: {id: cpu3g, vcpuCount: 2}}
quotas: {minute: 11, hour: 12, day: 13}
faults:
- {operation: getGpuType, status: 503}
`

// What everything has of one of its users.
const (
	tokenOfBob   = "a-token-of-bob-0123456789"
	tokenOfOwner = "a-token-of-the-owner-0123"
)

var pathsOfBob = []string{
	"registries/registry000001", "account/secrets/secretofbob001", "network-volumes/volumeofbob001", "global-volumes/globalofbob001", "templates/templateofbob1",
	"serverless/endpointofbob1", "clusters/clusterofbob01", "pods/podofbob000001", "pods/podofbob000002",
}

func TestPlant_CreatesWhatTheSeedHasOnce(t *testing.T) {
	t.Parallel()
	n := newNursery(t, everything)
	require.NoError(t, n.plant())
	require.Contains(t, n.log.String(), "created=18 known=0")
	for _, path := range pathsOfBob {
		require.Equal(t, 200, n.status(path, tokenOfBob), path)
	}
	require.Equal(t, 200, n.status("pods/podoftheowner1", tokenOfOwner), "whose is what names no user")
	require.Equal(t, 404, n.status("pods/podoftheowner1", tokenOfBob))
	text := func(path string) string { return n.call("GET", "/v2/"+path, tokenOfBob, "").Body.String() }
	require.Contains(t, text("registries/delegations"), `"delegation0001"`)
	require.Contains(t, text("registries/delegations"), `"name":"d"`)
	require.Contains(t, text("account/secrets/secretofbob001"), "of the seed")
	require.Contains(t, text("account/ssh-keys"), "AAAAC3NzaC1lZDI1NTE5")
	var pod struct{ Status string }
	require.NoError(t, json.Unmarshal([]byte(text("pods/podofbob000001")), &pod))
	require.NotEqual(t, "EXITED", pod.Status)
	require.NoError(t, json.Unmarshal([]byte(text("pods/podofbob000002")), &pod))
	require.Equal(t, "EXITED", pod.Status, "it is to be stopped")

	require.Equal(t, compute.RoleReader, n.user("ada").Role)
	require.True(t, n.user("ada").Disabled)
	require.Equal(t, compute.RoleMember, n.user("bob").Role)
	require.False(t, n.user("bob").Disabled)
	require.Equal(t, []string{"quotas 11 12 13"}, n.tools.told)
	require.Len(t, n.faults.List(), 1)
	require.Equal(t, 503, n.faults.List()[0].Status)

	// What has gone since does not come again, and what is not stored does.
	require.Equal(t, 204, n.call("DELETE", "/v2/templates/templateofbob1", tokenOfBob, "").Code)
	require.NoError(t, n.plant())
	require.Equal(t, 404, n.status("templates/templateofbob1", tokenOfBob))
	require.Equal(t, []string{"quotas 11 12 13", "quotas 11 12 13"}, n.tools.told)
	require.Len(t, n.faults.List(), 2)
	require.Equal(t, 1, strings.Count(n.log.String(), "what the seed has is there"), "it is said once")
}

func TestPlant_OfAChangedSeedCreatesWhatIsNotThere(t *testing.T) {
	t.Parallel()
	n := newNursery(t, everything)
	require.NoError(t, n.plant())
	require.NotContains(t, n.log.String(), "a pod of the seed is not created")
	for _, path := range []string{"/v2/templates/templateofbob1", "/v2/pods/podofbob000001"} {
		require.Equal(t, 204, n.call("DELETE", path, tokenOfBob, "").Code)
	}
	member, enabled := compute.RoleMember, false
	_, err := n.keyring.ChangeUser(t.Context(), "ada", compute.UserChange{Role: &member, Disabled: &enabled})
	require.NoError(t, err)
	require.NoError(t, n.control.SetSSHKeys(t.Context(), "bob", nil))

	*n.seed = *readSeed(t, strings.Replace(everything, "templates:\n", "templates:\n- {id: templateofbob2, user: bob, name: t, image: i}\n", 1))
	n.log.Reset()
	require.NoError(t, n.plant())
	require.Contains(t, n.log.String(), "created=7 known=12", "both templates, the SSH keys and the keys, the quotas and the fault, which may be the same as before")
	require.Equal(t, 200, n.status("templates/templateofbob1", tokenOfBob))
	require.Equal(t, 200, n.status("templates/templateofbob2", tokenOfBob))
	require.Equal(t, 404, n.status("pods/podofbob000001", tokenOfBob), "its id is taken for as long as it is kept")
	require.Equal(t, 1, strings.Count(n.log.String(), "a pod of the seed is not created"), "the others are there")
	require.Contains(t, n.log.String(), "pod=podofbob000001")
	require.Equal(t, compute.RoleMember, n.user("ada").Role, "a user who is there stays as they are")
	require.False(t, n.user("ada").Disabled)

	n.log.Reset()
	*n.seed = *readSeed(t, everything)
	require.NoError(t, n.plant())
	require.Contains(t, n.log.String(), "created=4 known=14", "the SSH keys are there")
}

// A key is known by its token: another one is another key, whatever other keys are called.
func TestPlant_OfAChangedSeedCreatesKeysOfOtherTokens(t *testing.T) {
	t.Parallel()
	const first, second = "{key: first-token-0123456789, scopes: [all]}", "{key: second-token-0123456789, scopes: [all]}"
	n := newNursery(t, "keys:\n- "+first+"\n")
	require.NoError(t, n.plant())
	for _, keys := range []string{second + "\n- " + first, "{id: keyofmine1, key: third-token-0123456789, scopes: [all]}"} {
		*n.seed = *readSeed(t, "keys:\n- "+keys+"\n")
		require.NoError(t, n.plant())
	}
	for _, token := range []string{"first-token-0123456789", "second-token-0123456789", "third-token-0123456789"} {
		require.Equal(t, 200, n.status("pods", token), token)
	}

	*n.seed = *readSeed(t, "keys:\n- {id: keyofmine1, key: fourth-token-0123456789, scopes: [all]}\n")
	require.ErrorContains(t, n.plant(), "another key, of another token, has the id keyofmine1")
}

func TestPlant_TellsAllThatIsRefused(t *testing.T) {
	t.Parallel()
	n := newNursery(t, "templates:\n- {name: a, image: i, registry: nosuchregistry}\n- {id: templateofown1, name: b, image: i}\nquotas: {minute: 1, hour: 1, day: 1, queue: published}\n")
	for range 2 { // it is not taken for planted
		var problems seed.Problems
		require.ErrorAs(t, n.plant(), &problems)
		require.Len(t, problems, 2)
		require.Equal(t, 2, problems[0].Line)
		require.Contains(t, problems[0].Message, "nosuchregistry")
		require.Equal(t, "there is no such preset", problems[1].Message)
	}
	require.NotContains(t, n.log.String(), "what the seed has is there")
	require.Equal(t, 200, n.status("templates/templateofown1", n.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})), "what is beside it is there")

	require.NoError(t, n.db.Close())
	err := n.plant()
	require.Equal(t, compute.Unavailable, compute.CodeOf(err))
}

func TestPlant_NeedsTestControlsForWhatIsForTests(t *testing.T) {
	t.Parallel()
	planted := readSeed(t, "templates:\n- {id: templateofown1, name: b, image: i}\nfaults:\n- {operation: run, status: 500}\n")
	e := openWith(t, func(s *httpapi.Services) { s.Seed, s.Owner = planted, "u" })
	var problems seed.Problems
	require.ErrorAs(t, e.handler.(*httpapi.Handler).Plant(t.Context()), &problems)
	require.Len(t, problems, 1)
	require.Equal(t, "faults are for tests: the server needs --test-controls", problems[0].Message)

	without := open(t)
	require.NoError(t, without.handler.(*httpapi.Handler).Plant(t.Context()), "there is no seed")
}

func TestReset_MakesUsersAndKeysOfTheSeedWhatTheyWere(t *testing.T) {
	t.Parallel()
	n := newNursery(t, everything)
	require.NoError(t, n.plant())
	controls := n.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeControls}})
	member, no, yes := compute.RoleMember, false, true
	_, err := n.keyring.ChangeUser(t.Context(), "ada", compute.UserChange{Role: &member, Disabled: &no})
	require.NoError(t, err)
	_, err = n.keyring.ChangeUser(t.Context(), "bob", compute.UserChange{Disabled: &yes})
	require.NoError(t, err)
	for _, k := range n.keyring.Keys(false) {
		if k.Name == "of bob" {
			require.NoError(t, n.keyring.Revoke(t.Context(), k.ID))
		}
	}
	require.Equal(t, 401, n.status("pods", tokenOfBob))
	entries, _ := n.journal.List(journal.Filter{})
	require.NotEmpty(t, entries)
	_, err = n.faults.Add(fault.Fault{Operation: "run", When: fault.Before, Drop: true})
	require.NoError(t, err)
	n.tools.told = nil

	require.Equal(t, 204, n.call("POST", "/_berth/reset", controls, "").Code)
	require.Equal(t, []string{"storage writable", "reset", "quotas 11 12 13"}, n.tools.told)
	entries, _ = n.journal.List(journal.Filter{})
	require.Empty(t, entries)
	require.Len(t, n.faults.List(), 1, "that of the seed")
	require.Equal(t, "getGpuType", n.faults.List()[0].Operation)
	require.Equal(t, 200, n.status("pods", tokenOfBob), "its key is good again")
	require.Equal(t, compute.RoleReader, n.user("ada").Role)
	require.True(t, n.user("ada").Disabled)
	require.False(t, n.user("bob").Disabled)

	refused := &compute.Error{Code: compute.Conflict, Detail: "not now"}
	n.tools.reset = func(context.Context) error { return refused }
	n.journal.Clear()
	require.Equal(t, 401, n.status("pods", ""))
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/_berth/reset", http.NoBody)
	req.Header.Set("Authorization", "Bearer "+controls)
	rec := httptest.NewRecorder()
	n.handler.ServeHTTP(rec, req)
	require.Equal(t, 409, rec.Code)
	entries, _ = n.journal.List(journal.Filter{})
	require.Len(t, entries, 1, "what it did not forget is there")
}

func TestReset_OfAClientThatIsGonePlantsAllTheSame(t *testing.T) {
	t.Parallel()
	n := newNursery(t, "templates:\n- {id: templateofown1, name: b, image: i}\n")
	controls, token := n.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeControls}}), n.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	ctx, hangUp := context.WithCancel(t.Context())
	n.tools.reset = func(context.Context) error {
		hangUp()
		return nil
	}
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/_berth/reset", http.NoBody)
	req.Header.Set("Authorization", "Bearer "+controls)
	n.handler.ServeHTTP(httptest.NewRecorder(), req)
	require.Error(t, ctx.Err(), "the client hung up")
	require.Equal(t, 200, n.status("templates/templateofown1", token))
}

package compute_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/spec"
)

func TestMachine_RefusesATableWithAFault(t *testing.T) {
	t.Parallel()
	type row = compute.Row[string, string]
	build := func(rows ...row) func() {
		return func() { compute.NewMachine("thing", "A", []string{"C"}, rows) }
	}
	require.NotPanics(t, build(row{"A", "go", "B", "r"}, row{"B", "go", "C", "r"}))
	require.PanicsWithValue(t, "thing: two rows for go in A", build(row{"A", "go", "B", "r"}, row{"A", "go", "C", "r"}))
	require.PanicsWithValue(t, "thing: X to B cannot be reached from A", build(row{"X", "go", "B", "r"}))
	require.PanicsWithValue(t, "thing: go leaves terminal C", build(row{"A", "go", "C", "r"}, row{"C", "go", "A", "r"}))
}

func TestMachine_UnlistedMoveIsAConflict(t *testing.T) {
	t.Parallel()
	next, err := compute.PodMachine.Next(compute.PodRunning, compute.PodRestart)
	require.NoError(t, err)
	require.Equal(t, compute.PodStarting, next)
	_, err = compute.PodMachine.Next(compute.PodExited, compute.PodStop)
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	require.Equal(t, []compute.PodEvent{"start", "terminate"}, compute.PodMachine.Allowed(compute.PodExited, compute.PodActions))
	require.Empty(t, compute.PodMachine.Allowed(compute.PodTerminated, compute.PodActions))
	_, err = compute.JobMachine.Next(compute.JobCompleted, compute.JobFail)
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
}

func TestMachine_EveryRowCitesADocumentedRule(t *testing.T) {
	t.Parallel()
	rules, err := spec.Rules()
	require.NoError(t, err)
	for _, id := range slices.Concat(compute.PodMachine.Rules(), compute.JobMachine.Rules(), compute.BuildMachine.Rules()) {
		require.True(t, slices.ContainsFunc(rules, func(r spec.Rule) bool { return r.ID == id }), id)
	}
}

// The pictures in STATUSES.md are drawn from the tables; `make rules` draws them again.
func TestMachine_PicturesAreUpToDate(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	fmt.Fprint(&b, "# How statuses move\n\nDrawn from the tables of this package.\n\n## Pods\n\n```mermaid\n")
	require.NoError(t, compute.PodMachine.WriteMermaid(&b))

	fmt.Fprint(&b, "```\n\n## Jobs\n\n```mermaid\n")
	require.NoError(t, compute.JobMachine.WriteMermaid(&b))
	fmt.Fprint(&b, "```\n\n## Builds\n\n```mermaid\n")
	require.NoError(t, compute.BuildMachine.WriteMermaid(&b))
	fmt.Fprint(&b, "```\n")
	if os.Getenv("BERTH_GOLDEN") == "write" {
		require.NoError(t, os.WriteFile("STATUSES.md", b.Bytes(), 0o600))
	}
	golden, err := os.ReadFile("STATUSES.md")
	require.NoError(t, err)
	require.Equal(t, string(golden), b.String())
}

func TestIDs_JobsAreOrderedAndUnique(t *testing.T) {
	t.Parallel()
	ids := compute.NewIDs(rand.Reader, compute.SystemClock{})
	var made []string
	for range 5000 {
		made = append(made, string(ids.Job(false)))
	}
	require.True(t, slices.IsSorted(made))
	require.Len(t, slices.Compact(made), 5000)
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, made[0])
	require.True(t, strings.HasPrefix(string(ids.Job(true)), "sync-"))
}

func TestIDs_ResourcesAreOrderedAndHaveTheirShape(t *testing.T) {
	t.Parallel()
	clock := compute.NewFrozenClock(time.UnixMilli(1_577_836_800_000))
	ids := compute.NewIDs(rand.Reader, clock)
	last := ids.Pod()
	require.Equal(t, "a0000000", string(last[:8]))

	for _, d := range []time.Duration{time.Millisecond, 8 * time.Millisecond, time.Millisecond, 25 * time.Millisecond, time.Minute, 1e15, 1e18} {
		clock.Advance(d)
		next := ids.Pod()
		require.Regexp(t, "^[a-z][a-z0-9]{13}$", next)
		require.Greater(t, next, last)
		last = next
	}

	clock.Advance(0)
	require.NotEqual(t, ids.Pod(), ids.Pod(), "in the same millisecond")
}

func TestIDs_JobsFollowThoseOfAClockAhead(t *testing.T) {
	t.Parallel()
	const last = "ffffffff-0000-7abc-8000-000000000000"
	ids := compute.NewIDs(rand.Reader, compute.SystemClock{})
	ids.Follow("no-id")
	require.Less(t, string(ids.Job(false)), last)
	ids.Follow("sync-" + last)
	ids.Follow("01900000-0000-7000-8000-000000000000")
	next := string(ids.Job(false))
	require.True(t, strings.HasPrefix(next, "ffffffff-0000-7a"), next)
	require.Greater(t, next[:18], last[:18])
}

func TestIDs_JobsOfTwoSourcesAreNumberedApart(t *testing.T) {
	t.Parallel()
	clock := compute.NewFrozenClock(time.UnixMilli(1_577_836_800_000))
	source := func(seed byte) *compute.IDs { return compute.NewIDs(mathrand.NewChaCha8([32]byte{seed}), clock) }
	number := func(id compute.JobID) string { return string(id[:18]) } // what the row is numbered by
	numbers := map[string]bool{}
	a, b := source(1), source(2)
	for range 10_000 {
		numbers[number(a.Job(false))], numbers[number(b.Job(false))] = true, true
	}
	require.Len(t, numbers, 20_000)

	a, b = source(1), source(1)
	require.Equal(t, a.Job(false), b.Job(false), "of equal randomness")
	b.Meet()
	met := b.Job(false)
	require.NotEqual(t, number(a.Job(false)), number(met))
	require.Greater(t, b.Job(false), met, "and still in order")
}

func TestKey_MatchesItsTokenOnly(t *testing.T) {
	t.Parallel()
	ids := compute.NewIDs(rand.Reader, compute.SystemClock{})
	token := compute.NewToken(ids, ids.Key())
	id, ok := compute.ParseToken(token)
	require.True(t, ok)
	key := compute.Key{ID: id, Hash: sha256.Sum256([]byte(token))}
	require.True(t, key.Matches(token))
	require.False(t, key.Matches(compute.NewToken(ids, id)))
	for _, bad := range []string{"", "brt_", token[1:], token + "x", "brt_abc_def"} {
		_, ok := compute.ParseToken(bad)
		require.False(t, ok, bad)
	}
}

func TestKey_AllowsItsScopesAndTheirWildcards(t *testing.T) {
	t.Parallel()
	one := compute.Key{Scopes: []compute.Scope{compute.ScopeInvoke("abc"), compute.ScopeRESTRead}}
	require.True(t, one.Allows(compute.ScopeInvoke("abc")))
	require.False(t, one.Allows(compute.ScopeInvoke("abd")))
	require.False(t, one.Allows(compute.ScopeWork("abc")))
	require.False(t, one.Allows(compute.ScopeRESTWrite))

	every := compute.Key{Scopes: []compute.Scope{"queue:*:invoke"}}
	require.True(t, every.Allows(compute.ScopeInvoke("abd")))
	require.False(t, every.Allows(compute.ScopeWork("abd")))
	require.True(t, compute.Key{Scopes: []compute.Scope{compute.ScopeAll}}.Allows(compute.ScopeWork("x")))

	worker := compute.Key{Scopes: []compute.Scope{compute.ScopeWork("abc")}}
	require.True(t, worker.Allows(compute.ScopeWork("abc")))
	require.False(t, worker.Allows(compute.ScopeWork("abd")))
	require.False(t, worker.Allows(compute.ScopeInvoke("abc")))
	require.False(t, worker.HasPods())
}

func TestKey_OfAPodAsksForItsPodAlone(t *testing.T) {
	t.Parallel()
	key := compute.Key{UserID: "u", Scopes: []compute.Scope{compute.ScopePod("one")}}
	require.True(t, key.HasPods())
	require.Equal(t, compute.UserID("u"), key.UserFor("one", compute.ScopeRESTRead))
	require.Empty(t, key.UserFor("two", compute.ScopeRESTRead))
	key.Scopes = append(key.Scopes, compute.ScopeRESTRead)
	require.Equal(t, compute.UserID("u"), key.UserFor("two", compute.ScopeRESTRead))
	require.Empty(t, key.UserFor("two", compute.ScopeRESTWrite))
}

func TestPodKeys_KnowOnlyTokensOfTheirSecret(t *testing.T) {
	t.Parallel()
	keys := compute.NewPodKeys([]byte("secret"))
	pod := compute.Pod{ID: compute.NewIDs(rand.Reader, compute.SystemClock{}).Pod(), RestartAt: time.UnixMilli(1_800_000_000_123)}
	token := keys.Token(pod)
	require.True(t, compute.IsPodToken(token))

	id, run, ok := keys.Parse(token)
	require.True(t, ok)
	require.Equal(t, pod.ID, id)
	require.Equal(t, int64(1_800_000_000_123), run)
	require.Equal(t, token, keys.Token(pod), "it is the same each time")

	for i := range token {
		changed := []byte(token)
		changed[i] ^= 1
		_, _, ok := keys.Parse(string(changed))
		require.False(t, ok, i)
	}

	_, _, ok = compute.NewPodKeys([]byte("another")).Parse(token)
	require.False(t, ok)
	_, known := compute.ParseToken(token)
	require.False(t, known, "it is taken for no other kind of key")

	ids := compute.NewIDs(rand.Reader, compute.SystemClock{})
	require.False(t, compute.IsPodToken(compute.NewToken(ids, ids.Key())))
	pod.RestartAt = time.Time{}
	require.NotEqual(t, token, keys.Token(pod), "each run has its own")
}

func TestError_KeepsItsCauseInside(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk full")
	err := fmt.Errorf("while writing: %w", &compute.Error{Code: compute.Unavailable, Detail: "later", Cause: cause})
	require.Equal(t, compute.Unavailable, compute.CodeOf(err))
	require.ErrorIs(t, err, cause)
	require.Equal(t, compute.Internal, compute.CodeOf(cause))
	require.Empty(t, compute.CodeOf(nil))
}

func TestQueueQuotas_RejectsAnUnknownPreset(t *testing.T) {
	t.Parallel()
	_, err := compute.QueueQuotas("many")
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	for _, p := range []compute.QueuePreset{"", compute.QueueUnlimited} {
		quotas, err := compute.QueueQuotas(p)
		require.NoError(t, err)
		require.Empty(t, quotas)
	}
}

func TestJobKey_IsTheIDIn16Bytes(t *testing.T) {
	t.Parallel()
	ids := compute.NewIDs(rand.Reader, compute.SystemClock{})
	for i := range 1000 {
		id := ids.Job(i%2 == 0)
		key, ok := id.Key()
		require.True(t, ok)
		require.Equal(t, id, key.ID())
	}

	run, _ := compute.JobID("0190a5c4-8f0e-7abc-9def-0123456789ab").Key()
	sync, _ := compute.JobID("sync-0190a5c4-8f0e-7abc-9def-0123456789ab").Key()
	require.NotEqual(t, run, sync)
	for _, id := range []compute.JobID{
		"", "sync-", "nosuchjob", "0190A5C4-8f0e-7abc-9def-0123456789ab", "0190a5c4-8f0e-4abc-9def-0123456789ab",
		"0190a5c4-8f0e-7abc-ddef-0123456789ab", "0190a5c4-8f0e-7abc-9def-0123456789a", "0190a5c4-8f0e-7abc-9def-0123456789ab0",
		"0190a5c4-8f0e-7abc-9def00123456789ab", "0190a5c4-8f0e-7abc-9def-0123456789ag", "sync-sync-0190a5c4-8f0e-7abc-9def-012345",
	} {
		_, ok := id.Key()
		require.False(t, ok, "%q", id)
	}
}

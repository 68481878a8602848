package kubernetes

import (
	"context"
	"log/slog"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// copied gives a runtime that has a copy of no cluster yet.
func copied() *Runtime {
	return &Runtime{
		cache: newCache(), config: Config{Clock: compute.SystemClock{}, Log: slog.New(slog.DiscardHandler)}, ends: runtime.NewEnds(),
		hosts: make(chan struct{}, 1), kick: make(chan struct{}, 1), nodes: &reflector[node]{clock: compute.SystemClock{}}, ctx: context.Background(),
	}
}

func podOf(id, uid string, version int) *pod {
	return &pod{Metadata: meta{
		Name: nameOf(id) + "-" + uid, UID: uid, ResourceVersion: strconv.Itoa(version), Labels: map[string]string{labelAllocation: id, labelGeneration: "1"},
	}}
}

func serviceOf(id, uid string, version int) *service {
	return &service{Metadata: meta{Name: nameOf(id), UID: uid, ResourceVersion: strconv.Itoa(version), Labels: map[string]string{labelAllocation: id}}}
}

func knows(h *Runtime, id string) bool {
	_, _, err := h.find(id)
	return err == nil
}

func TestCache_OldNewsOfAPodThatBerthLetGoAreNotTaken(t *testing.T) {
	t.Parallel()
	h := copied()
	h.replacePods([]pod{*podOf("a", "u1", 5)}, "10")
	require.True(t, knows(h, "a"))
	h.letGo(podOf("a", "u1", 12))
	require.False(t, knows(h, "a"))
	h.changePod("MODIFIED", podOf("a", "u1", 11))
	require.False(t, knows(h, "a"), "an event that was on its way")
	h.replacePods([]pod{*podOf("a", "u1", 11)}, "11")
	require.False(t, knows(h, "a"), "a list that was on its way")

	h.wrote(podOf("a", "u2", 13))
	require.True(t, knows(h, "a"), "the next one is another Pod")
	h.changePod(eventDeleted, podOf("a", "u1", 14))
	require.True(t, knows(h, "a"))
	require.Empty(t, h.let)

	h.letGo(podOf("a", "u2", 15))
	h.replacePods(nil, "14")
	require.Len(t, h.let, 1, "the list is older")
	h.replacePods(nil, "16")
	require.Empty(t, h.let, "nothing is kept for ever")
}

func TestCache_AListTakesAwayNothingThatWasMadeAfterIt(t *testing.T) {
	t.Parallel()
	h := copied()
	h.replacePods(nil, "10")
	h.wrote(podOf("a", "u1", 12))
	h.wroteService(serviceOf("a", "s1", 12))
	h.replacePods(nil, "11")
	h.replaceServices(nil, "11")
	require.True(t, knows(h, "a"))
	require.NotNil(t, h.serviceOf("a"))
	h.replacePods(nil, "12")
	h.replaceServices(nil, "12")
	require.False(t, knows(h, "a"))
	require.Nil(t, h.serviceOf("a"))
}

func TestCache_OldNewsOfAServiceAreNotTaken(t *testing.T) {
	t.Parallel()
	h := copied()
	h.changeService("ADDED", serviceOf("a", "s1", 5))
	h.wroteService(serviceOf("a", "s1", 7))
	h.changeService("MODIFIED", serviceOf("a", "s1", 6))
	require.Equal(t, "7", h.serviceOf("a").Metadata.ResourceVersion)

	h.dropService(serviceOf("a", "s1", 7))
	h.changeService("MODIFIED", serviceOf("a", "s1", 8))
	require.Nil(t, h.serviceOf("a"))
	h.wroteService(serviceOf("a", "s2", 9))
	h.changeService(eventDeleted, serviceOf("a", "s1", 10))
	require.Equal(t, "s2", h.serviceOf("a").Metadata.UID)
	require.Empty(t, h.dropped)
}

func TestCache_TheLatestRunCounts(t *testing.T) {
	t.Parallel()
	h := copied()
	older, newer := podOf("a", "u1", 5), podOf("a", "u2", 4)
	newer.Metadata.Labels[labelGeneration] = "2"
	h.replacePods([]pod{*older, *newer}, "10")
	p, state, err := h.find("a")
	require.NoError(t, err)
	require.Equal(t, "u2", p.Metadata.UID)
	require.Equal(t, int64(2), state.Generation)
}

func TestCache_ANodeThatIsBackIsNotLost(t *testing.T) {
	t.Parallel()
	h := copied()
	n := node{Metadata: meta{Name: "n1"}}
	h.replaceNodes([]node{n}, "1")
	h.replacePods([]pod{*podOf("a", "u1", 5)}, "10")
	lost := podOf("b", "u2", 6)
	lost.Spec.NodeName = "n1"
	h.wrote(lost)

	h.replaceNodes(nil, "2")
	require.True(t, h.lost["n1"])
	_, state, err := h.find("b")
	require.NoError(t, err)
	require.Equal(t, runtime.Ended, state.Phase)

	h.changeNode("ADDED", &n)
	require.Empty(t, h.lost)
	_, again, err := h.find("b")
	require.NoError(t, err)
	require.Equal(t, state, again, "what has ended stays so")
	h.letGo(lost)
	h.changeNode(eventDeleted, &n)
	h.replaceNodes(nil, "3")
	require.Empty(t, h.lost, "nothing is kept for ever")
}

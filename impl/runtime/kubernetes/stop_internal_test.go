package kubernetes

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/kubernetes/kubetest"
)

// answers is a server that gives every request the same answer.
type answers string

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// The lock of the allocation is held meanwhile, and the loop has others to see to.
func TestEnd_IsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := copied()
		h.client = newClient(credentials{transport: newTransport(nil, nil), authorize: bearer(nil)}, compute.SystemClock{})
		h.client.http.Transport = answers("{}")
		p := podOf("a", "u1", 5)
		h.wrote(p)
		began := time.Now()
		require.ErrorIs(t, h.end(t.Context(), p, time.Minute), runtime.ErrUnavailable)
		require.Equal(t, time.Minute+lostBound+endSlack, time.Since(began))

		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, h.end(short, p, time.Minute), context.DeadlineExceeded)
	})
}

func TestState_AnOverduePodIsLostWhereTheNodesMayNotBeRead(t *testing.T) {
	t.Parallel()
	overdue := func(h *Runtime, by time.Duration) bool {
		p := podOf("a", "u1", 5)
		p.Spec.NodeName, p.Metadata.DeletionTimestamp = "n1", h.config.Clock.Wall().Add(-by)
		return h.isLost(p)
	}
	h := copied()
	require.False(t, overdue(h, time.Hour), "no list has come yet")
	h.nodes.cause = &apiError{Code: http.StatusForbidden, Reason: "Forbidden"}
	require.False(t, overdue(h, blindBound-time.Minute))
	require.True(t, overdue(h, blindBound+time.Second))
	h.nodes.cause, h.nodes.synced, h.nodes.open = nil, true, true
	require.False(t, overdue(h, time.Hour), "it is asked for")
}

// A proxy in front of the server has a 404 of its own.
func TestSeek_OnlyTheServerKnowsThatANodeIsGone(t *testing.T) {
	t.Parallel()
	s := kubetest.New(t)
	h := copied()
	h.client = narrow(s, mostBody)
	defer h.client.close()
	s.Break(kubetest.Fault{Times: 1, Code: http.StatusNotFound})
	h.seek("n1")
	require.True(t, s.Broke())
	require.Empty(t, h.lost)
	h.seek("n1")
	require.True(t, h.lost["n1"])
}

package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/kubernetes"
	"github.com/berthdev/berth/impl/runtime/kubernetes/kubetest"
)

// mounted is an allocation with something in all that a Pod takes.
func mounted(id string) runtime.Allocation {
	a := playing(id, "say hello", "stay")
	a.Env["KEY"], a.Ports, a.Credential = "s3cret", []string{"80/tcp"}, login
	a.Persistent = &compute.PersistentMount{SizeGB: 10, Path: "/kept"}
	return a
}

func TestWatch_ThatIsCutGoesOn(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	for i := range 5 {
		id := fmt.Sprint("a", i)
		start(t, h, playing(id, "stay"))
		s.CutWatches()
		s.Exhaust("berth-" + id + "-0")
		reported(t, h, id)
		require.True(t, state(t, h, id).OOM)
	}
	clears(t, s, h, "a0", "a1", "a2", "a3", "a4")
}

func TestWatch_WhoseVersionIsTooOldBeginsWithAList(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	start(t, h, playing("a", "stay"))
	start(t, h, playing("b", "stay"))
	require.Eventually(t, func() bool { return s.Watches() == 3 }, patience, look)

	s.Down(true)
	s.Exhaust("berth-a-0")
	require.Eventually(t, func() bool { return s.Watches() == 0 }, patience, look)
	s.Expire()
	s.Down(false)
	reported(t, h, "a")
	require.Equal(t, runtime.Up, state(t, h, "b").Phase)
	clears(t, s, h, "a", "b")
}

func TestWatch_APodThatIsGoneIsReportedAndUnknown(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	start(t, h, playing("a", "stay"))
	start(t, h, playing("b", "stay"))
	s.Erase("pods", "berth-a-0")
	reported(t, h, "a")
	_, err := h.Inspect(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrUnknown)

	s.Down(true)
	s.Erase("pods", "berth-b-0")
	require.Eventually(t, func() bool { return s.Watches() == 0 }, patience, look)
	s.Expire()
	s.Down(false)
	reported(t, h, "b")
	_, err = h.Inspect(t.Context(), "b")
	require.ErrorIs(t, err, runtime.ErrUnknown)
	clears(t, s, h, "a", "b")
}

func TestCache_AnswersWithoutAskingAnybody(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	start(t, h, mounted("a"))
	require.Eventually(t, func() bool { return s.Watches() == 3 }, patience, look)
	s.Requests()
	for range 100 {
		require.NotZero(t, state(t, h, "a").Ports[0].Public)
		_, err := h.Hosts(t.Context())
		require.NoError(t, err)
	}
	require.Empty(t, s.Requests())
}

func TestServer_ThatGoesAndComesBackLosesNothing(t *testing.T) {
	t.Parallel()
	s, c := cluster(t), &clock{}
	h := open(t, s, kubernetes.Config{Clock: c})
	up := start(t, h, playing("a", "stay"))
	require.Eventually(t, func() bool { return s.Watches() == 3 }, patience, look)
	s.Down(true)
	require.Equal(t, up, state(t, h, "a"), "for a moment the copy is good")
	require.ErrorIs(t, h.Start(t.Context(), playing("b", "stay")), runtime.ErrUnavailable)
	require.ErrorIs(t, h.Stop(t.Context(), "a", grace), runtime.ErrUnavailable)

	require.Eventually(t, func() bool { return s.Watches() == 0 }, patience, look)
	c.on.Add(int64(time.Minute))
	require.Eventually(t, func() bool {
		_, err := h.Inspect(t.Context(), "a")
		return errors.Is(err, runtime.ErrUnavailable)
	}, patience, look)
	_, err := h.List(t.Context())
	require.ErrorIs(t, err, runtime.ErrUnavailable)
	_, err = h.Hosts(t.Context())
	require.ErrorIs(t, err, runtime.ErrUnavailable)
	require.ErrorIs(t, h.Remove(t.Context(), "a"), runtime.ErrUnavailable)

	s.Down(false)
	require.Eventually(t, func() bool {
		after, err := h.Inspect(t.Context(), "a")
		return err == nil && after.Phase == up.Phase && after.StartedAt.Equal(up.StartedAt)
	}, patience, look)
	clears(t, s, h, "a", "b")
}

func TestServer_ThatIsNotThereShowsNothing(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Down(true)
	h := open(t, s, kubernetes.Config{})
	_, err := h.Inspect(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrUnavailable)
	require.NotErrorIs(t, err, runtime.ErrUnknown)
	require.ErrorIs(t, h.Start(t.Context(), playing("a")), runtime.ErrUnavailable)
	require.ErrorIs(t, h.Logs(t.Context(), "a", runtime.LogQuery{}, nil), runtime.ErrUnavailable)
	_, err = h.Stats(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrUnavailable)
	require.ErrorIs(t, h.Sweep(t.Context()), runtime.ErrUnavailable)
	require.ErrorIs(t, h.Ping(t.Context()), runtime.ErrUnavailable)
}

func TestServer_ThatIsSlowIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Slow(50 * time.Millisecond)
	h := open(t, s, kubernetes.Config{})
	_, err := h.Inspect(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrUnknown)
	start(t, h, mounted("a"))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, h.Ping(ctx), context.DeadlineExceeded)
	clears(t, s, h, "a")
}

func TestServer_ThatRefusesThePodsShowsNothing(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Forbid("list", "pods")
	h := open(t, s, kubernetes.Config{})
	_, err := h.Inspect(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrUnavailable)
	require.ErrorContains(t, err, "pods is forbidden")
}

func TestCache_KnowsWhatBerthItselfWrote(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	for i := range 20 {
		a := playing("a", "stay")
		a.Generation = int64(i + 1)
		require.NoError(t, h.Start(t.Context(), a))
		require.Equal(t, a.Generation, state(t, h, "a").Generation)
		require.NoError(t, h.Stop(t.Context(), "a", 0))
		require.Equal(t, runtime.Ended, state(t, h, "a").Phase)
		if i%2 == 0 {
			require.NoError(t, h.Remove(t.Context(), "a"))
			_, err := h.Inspect(t.Context(), "a")
			require.ErrorIs(t, err, runtime.ErrUnknown)
		}
	}
	clears(t, s, h, "a")
}

func TestCache_ReadsMoreThanAPage(t *testing.T) {
	t.Parallel()
	s := kubetest.New(t)
	for i := range 1200 {
		s.AddNode(t, kubetest.Node{Name: fmt.Sprintf("n%04d", i), CPUs: 1, MemoryGB: 1, DiskGB: 1})
	}
	hosts, err := open(t, s, kubernetes.Config{}).Hosts(t.Context())
	require.NoError(t, err)
	require.Len(t, hosts, 1200)
}

func TestOwners_DoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h, other := open(t, s, kubernetes.Config{Owner: "one"}), open(t, s, kubernetes.Config{Owner: "two"})
	start(t, h, mounted("a"))
	ids, err := other.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, ids)
	require.NoError(t, other.Remove(t.Context(), "a"))
	require.NoError(t, other.Sweep(t.Context()))
	require.ErrorContains(t, other.Start(t.Context(), mounted("a")), "is somebody else's")
	require.Equal(t, runtime.Up, state(t, h, "a").Phase)
	require.Len(t, s.Left(), 5)
	clears(t, s, h, "a")
}

func TestStats_WithoutTheMetricsAPIAreNotMeasured(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Metrics(false)
	h := open(t, s, kubernetes.Config{})
	start(t, h, playing("a", "stay"))
	_, err := h.Stats(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrNoStats)
}

func TestLogs_OfALongLineAndOfOneThatComesLater(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Refuse(image, "not yet")
	h := open(t, s, kubernetes.Config{})
	long := make([]byte, runtime.LogLimit+10)
	for i := range long {
		long[i] = 'x'
	}
	require.NoError(t, h.Start(t.Context(), playing("a", "say "+string(long), "tick 3")))
	require.Empty(t, logs(t, h, "a"))

	var texts []string
	followed := make(chan error, 1)
	go func() {
		followed <- h.Logs(t.Context(), "a", runtime.LogQuery{Follow: true}, func(l runtime.Line) error {
			texts = append(texts, l.Text)
			return nil
		})
	}()
	s.Refuse(image, "")
	require.NoError(t, <-followed)
	require.Equal(t, []string{string(long[:runtime.LogLimit]), "xxxxxxxxxx", "tick 0", "tick 1", "tick 2"}, texts)
}

func TestLogs_ThatAreCutGoOnWhereTheyWere(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	start(t, h, playing("a", "tick 40"))
	var texts []string
	var last int64
	for cuts := 0; ; cuts++ {
		n := 0
		err := h.Logs(t.Context(), "a", runtime.LogQuery{Follow: true, After: last}, func(l runtime.Line) error {
			texts, last = append(texts, l.Text), l.Position
			if n++; n == 5 && cuts < 3 {
				s.Down(true)
				s.Down(false)
			}
			return nil
		})
		if err == nil {
			break
		}
		require.ErrorIs(t, err, runtime.ErrUnavailable)
	}
	require.Len(t, texts, 40)
	for i := range texts {
		require.Equal(t, fmt.Sprint("tick ", i), texts[i])
	}
}

func TestLogs_OfALostNodeEnd(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{Clock: &clock{fast: true}})
	start(t, h, playing("a", "say hello", "stay"))
	lines, followed := make(chan string, 10), make(chan error, 1)
	go func() {
		followed <- h.Logs(t.Context(), "a", runtime.LogQuery{Follow: true}, func(l runtime.Line) error {
			lines <- l.Text
			return nil
		})
	}()
	require.Equal(t, "hello", <-lines)
	s.RemoveNode("n1")
	reported(t, h, "a")
	select {
	case err := <-followed:
		require.NoError(t, err)
	case <-time.After(patience):
		require.Fail(t, "it is followed for ever")
	}
	clears(t, s, h, "a")
}

func TestVolumes_AreThoseOfTheVolumeOwner(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h, workers := open(t, s, kubernetes.Config{Owner: "o"}), open(t, s, kubernetes.Config{Owner: "o-workers", VolumeOwner: "o"})
	a := playing("a", "write /net/x one", "say written", "stay")
	a.Network, a.NetworkGB = &compute.NetworkMount{VolumeID: "v", Path: "/net"}, 7
	start(t, h, a)
	require.Eventually(t, func() bool { return logs(t, h, "a") == "written\n" }, patience, look)
	w := playing("w", "read /net/x", "stay")
	w.Network = a.Network
	start(t, workers, w)
	require.Eventually(t, func() bool { return logs(t, workers, "w") == "/net/x: one\n" }, patience, look)

	for _, one := range []*kubernetes.Runtime{h, workers} {
		ids, err := one.Volumes(t.Context())
		require.NoError(t, err)
		require.Equal(t, []compute.VolumeID{"v"}, ids)
	}
	spec := s.Object("persistentvolumeclaims", "berth-volume-v")["spec"].(map[string]any)
	require.Equal(t, []any{"ReadWriteMany"}, spec["accessModes"])
	require.Equal(t, map[string]any{"requests": map[string]any{"storage": "7Gi"}}, spec["resources"])
	require.NoError(t, h.Remove(t.Context(), "a"))
	require.NoError(t, workers.Remove(t.Context(), "w"))
	require.NoError(t, workers.RemoveVolume(t.Context(), "v"))
	require.NoError(t, h.RemoveVolume(t.Context(), "v"))
	require.Empty(t, s.Left())
}

func TestVolumes_GrowWithTheNextStart(t *testing.T) {
	t.Parallel()
	for _, forbidden := range []bool{false, true} {
		s := cluster(t)
		h := open(t, s, kubernetes.Config{Owner: "o"})
		size := func(claim string) any {
			return s.Object("persistentvolumeclaims", claim)["spec"].(map[string]any)["resources"].(map[string]any)["requests"].(map[string]any)["storage"]
		}
		a := playing("a", "stay")
		a.Network, a.Persistent = &compute.NetworkMount{VolumeID: "v", Path: "/net"}, &compute.PersistentMount{Path: "/own", SizeGB: 3}
		run := func(volumeGB, ownGB int64) {
			a.Generation++
			a.NetworkGB, a.Persistent.SizeGB = volumeGB, ownGB
			start(t, h, a)
			require.NoError(t, h.Stop(t.Context(), "a", 0))
		}

		run(7, 3)
		want := []any{"9Gi", "4Gi"}
		if forbidden {
			s.Forbid("patch", "persistentvolumeclaims")
			want = []any{"7Gi", "3Gi"}
		}
		run(9, 4)
		require.Equal(t, want, []any{size("berth-volume-v"), size("berth-a")}, "forbidden: %v", forbidden)
		run(0, 1)
		require.Equal(t, want, []any{size("berth-volume-v"), size("berth-a")}, "nothing gets smaller, nor as large as the settings say: forbidden: %v", forbidden)
		require.NoError(t, h.Remove(t.Context(), "a"))
		require.NoError(t, h.RemoveVolume(t.Context(), "v"))
		require.Empty(t, s.Left())
	}
}

func TestServer_AnswersThatAreNoneAreErrors(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	listed(t, s, h)
	s.Break(kubetest.Fault{Times: 1, Code: http.StatusTeapot})
	err := h.Ping(t.Context())
	require.EqualError(t, err, "kubernetes: get the version: the server cannot answer now (418)")
	require.NotErrorIs(t, err, runtime.ErrUnavailable)
}

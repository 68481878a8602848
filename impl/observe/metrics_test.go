package observe_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/observe"
	"github.com/berthdev/berth/impl/queue"
)

var start = time.UnixMilli(1_700_000_000_000).UTC()

// used answers with metrics all of whose series have been counted.
func used(t *testing.T, pods error) http.Handler {
	m := observe.NewMetrics("v1")
	m.Operation("run").Answered(200, time.Millisecond)
	e := m.Endpoint("one")
	e.Submitted()
	e.Submitted()
	e.Taken(300 * time.Millisecond)
	e.Lost()
	e.Ended(compute.JobCompleted, true, 2*time.Second)
	e.Ended(compute.JobCancelled, false, 0)
	m.Committed(3, time.Millisecond)
	m.Placed("pod", control.Full)
	m.Posted(true)
	m.Posted(false)

	m.Watch(&observe.Sources{
		Dispatchers: func() []queue.DispatcherView {
			return []queue.DispatcherView{
				{Endpoint: "one", Waiting: 5, InProgress: 2, Oldest: start.Add(-3 * time.Second), Workers: map[compute.WorkerStatus]int64{compute.WorkerIdle: 4}},
				{Endpoint: "two"},
			}
		},
		Trouble: func() error { return pods }, Dropped: func() int64 { return 9 },
		Backup: func() observe.Backup {
			return observe.Backup{Age: 1500 * time.Millisecond, Bytes: 1000, Failures: 2, Ended: 1}
		},
		Held: func() int { return 7 },
		Pods: func(context.Context) (map[compute.PodStatus]int64, error) {
			return map[compute.PodStatus]int64{compute.PodRunning: 6}, pods
		},
		Supply: func() []control.Supply {
			return []control.Supply{{DataCenterID: "EU", Total: 64, Free: 60}, {GPU: "NVIDIA \"L4\"", DataCenterID: "EU", Total: 8, Free: 1}}
		},
		Clock: compute.NewFrozenClock(start), Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	m.ShowReplica(func() (bool, int64) { return true, 3 })
	return m.Handler()
}

// scrape gives the lines that a scraper gets.
func scrape(t *testing.T, metrics http.Handler) []string {
	answer := httptest.NewRecorder()
	metrics.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	require.Equal(t, 200, answer.Code)
	return strings.Split(answer.Body.String(), "\n")
}

func TestMetrics_ShowWhatWasCounted(t *testing.T) {
	t.Parallel()
	lines := scrape(t, used(t, nil))
	for _, line := range []string{
		`berth_build_info{version="v1"} 1`,
		`berth_http_requests_total{operation="run",status="2xx"} 1`,
		`berth_http_request_duration_seconds_bucket{operation="run",le="0.001"} 1`,
		`berth_http_requests_held 7`,
		`berth_jobs_submitted_total{endpoint="one"} 2`,
		`berth_jobs_ended_total{endpoint="one",status="COMPLETED"} 1`,
		`berth_jobs_ended_total{endpoint="one",status="CANCELLED"} 1`,
		`berth_jobs_ended_total{endpoint="one",status="FAILED"} 0`,
		`berth_job_leases_lost_total{endpoint="one"} 1`,
		`berth_job_execution_seconds_count{endpoint="one"} 1`,
		`berth_queue_delay_seconds_sum{endpoint="one"} 0.3`,
		`berth_jobs{endpoint="one",status="IN_QUEUE"} 5`,
		`berth_jobs{endpoint="one",status="IN_PROGRESS"} 2`,
		`berth_queue_oldest_age_seconds{endpoint="one"} 3`,
		`berth_queue_oldest_age_seconds{endpoint="two"} 0`,
		`berth_workers{endpoint="one",status="IDLE"} 4`,
		`berth_workers{endpoint="two",status="IDLE"} 0`,
		`berth_pods{status="RUNNING"} 6`,
		`berth_pods{status="ERROR"} 0`,
		`berth_gpus{data_center="EU",gpu="NVIDIA \"L4\""} 8`,
		`berth_gpus_free{data_center="EU",gpu="NVIDIA \"L4\""} 1`,
		`berth_vcpus_free{data_center="EU"} 60`,
		`berth_placements_total{for="pod",outcome="full"} 1`,
		`berth_placements_total{for="worker",outcome="placed"} 0`,
		`berth_store_commit_writes_sum 3`,
		`berth_store_commit_seconds_count 1`,
		`berth_webhook_tries_total{outcome="failed"} 1`,
		`berth_store_writable 1`,
		`berth_log_lines_dropped_total 9`,
		`berth_backup_age_seconds 1.5`,
		`berth_backup_bytes_total 1000`,
		`berth_backup_failures_total 2`,
		`berth_backup_generations_ended_total 1`,
		`berth_replica_owner 1`,
		`berth_replica_epoch 3`,
	} {
		require.Contains(t, lines, line)
	}
}

func TestMetrics_PassTheLinterOfPrometheus(t *testing.T) {
	t.Parallel()
	problems, err := promlint.New(strings.NewReader(strings.Join(scrape(t, used(t, nil)), "\n"))).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
}

func TestMetrics_OmitWhatCannotBeFoundOut(t *testing.T) {
	t.Parallel()
	text := strings.Join(scrape(t, used(t, context.DeadlineExceeded)), "\n")
	require.NotContains(t, text, "berth_pods{")
	require.Contains(t, text, "berth_gpus{")
	require.Contains(t, text, "berth_store_writable 0\n", "it is the store that fails")
}

// series gives the type and the names of the labels of each of our metrics, as a row of the table has them.
func series(lines []string) map[string]string {
	rows := map[string]string{}
	kinds := map[string]string{}
	for _, line := range lines {
		var name, kind string
		if n, _ := fmt.Sscanf(line, "# TYPE %s %s", &name, &kind); n == 2 {
			kinds[name] = kind
			continue
		}
		if !strings.HasPrefix(line, "berth_") {
			continue
		}

		name, rest, _ := strings.Cut(line, " ")
		name, labels, labelled := strings.Cut(name+" "+rest, "{")
		if !labelled {
			name, _, _ = strings.Cut(line, " ")
		}

		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base, ok := strings.CutSuffix(name, suffix); ok && kinds[base] == "histogram" {
				name = base
			}
		}

		var names []string
		for part := range strings.SplitSeq(labels, ",") {
			if label, _, ok := strings.Cut(part, "="); ok && label != "le" {
				names = append(names, "`"+label+"`")
			}
		}

		slices.Sort(names)
		rows["`"+name+"`"] = kinds[name] + " " + strings.Join(names, ", ")
	}

	return rows
}

func TestMetrics_TableListsThoseThatAreServed(t *testing.T) {
	t.Parallel()
	f, err := os.Open("METRICS.md")
	require.NoError(t, err)
	defer func() { _ = f.Close() }()

	listed := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		cells := strings.Split(s.Text(), "|")
		if len(cells) < 6 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`berth_") {
			continue
		}
		labels := strings.Split(strings.TrimSpace(cells[3]), ", ")
		slices.Sort(labels)
		listed[strings.TrimSpace(cells[1])] = strings.TrimSpace(cells[2]) + " " + strings.Join(labels, ", ")
	}

	require.Equal(t, series(scrape(t, used(t, nil))), listed)
	require.Greater(t, len(slices.Collect(maps.Keys(listed))), 20)
}

func TestMetrics_DeletedEndpointHasNoSeries(t *testing.T) {
	t.Parallel()
	m := observe.NewMetrics("v1")
	e, other := m.Endpoint("gone"), m.Endpoint("stays")
	e.Submitted()
	other.Submitted()
	e.Forget()
	e.Forget()
	text := strings.Join(scrape(t, m.Handler()), "\n")
	require.NotContains(t, text, `"gone"`)
	require.Contains(t, text, `berth_jobs_submitted_total{endpoint="stays"} 1`)
}

func TestMetrics_CountingAllocatesNothing(t *testing.T) {
	m := observe.NewMetrics("v1")
	o, e := m.Operation("run"), m.Endpoint("one")
	count := func() {
		o.Answered(200, time.Millisecond)
		o.Answered(999, time.Millisecond)
		e.Submitted()
		e.Taken(time.Millisecond)
		e.Ended(compute.JobCompleted, true, time.Millisecond)
		m.Committed(1, time.Millisecond)
	}
	count()
	require.Zero(t, testing.AllocsPerRun(100, count))
}

func BenchmarkARequestIsCounted(b *testing.B) {
	o := observe.NewMetrics("v1").Operation("run")
	for b.Loop() {
		o.Answered(200, time.Millisecond)
	}
}

func BenchmarkAJobIsCounted(b *testing.B) {
	e := observe.NewMetrics("v1").Endpoint("one")
	for b.Loop() {
		e.Submitted()
		e.Taken(time.Millisecond)
		e.Ended(compute.JobCompleted, true, time.Millisecond)
	}
}

func TestMetrics_OwnerAgainShowsItsGaugesAgain(t *testing.T) {
	t.Parallel()
	m := observe.NewMetrics("v1")
	handler := m.Handler()
	for _, waiting := range []int{1, 2} {
		require.NotContains(t, strings.Join(scrape(t, handler), "\n"), "berth_jobs{")
		m.Watch(&observe.Sources{
			Trouble: func() error { return nil }, Held: func() int { return 0 }, Supply: func() []control.Supply { return nil }, Clock: compute.SystemClock{},
			Dispatchers: func() []queue.DispatcherView { return []queue.DispatcherView{{Endpoint: "e", Waiting: waiting}} },
			Pods:        func(context.Context) (map[compute.PodStatus]int64, error) { return nil, nil },
		})
		require.Contains(t, scrape(t, handler), fmt.Sprintf(`berth_jobs{endpoint="e",status="IN_QUEUE"} %d`, waiting))
		m.Watch(nil)
	}
}

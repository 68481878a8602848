package httpapi

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/rest"
	taker "github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/changes"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/history"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/nullable"
	jobs "github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/why"
)

// filled gives a T in which every field that a row can have is set, through pointers, slices and maps.
func filled[T any]() T {
	var v T
	fill(reflect.ValueOf(&v).Elem())
	return v
}

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.UnixMilli(1_700_000_000_000)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("1")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8:
		v.SetUint('1')
	case reflect.Float64:
		v.SetFloat(1)
	}
}

// missing names the fields of a view that are empty.
func missing(view any) []string {
	var names []string
	v := reflect.ValueOf(view)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			names = append(names, v.Type().Name()+"."+v.Type().Field(i).Name)
		}
	}
	return names
}

func TestViews_FillEveryFieldOfTheirModels(t *testing.T) {
	t.Parallel()
	cost := filled[control.Cost]()
	cost.Ran = time.Millisecond
	require.Empty(t, missing(costView(cost)))
	pod := filled[compute.Pod]()
	pod.Status = compute.PodRunning
	live := filled[compute.PodRuntime]()
	require.ElementsMatch(t, []string{"Pod.Cluster", "Pod.Cmd", "Pod.CudaVersion", "Pod.Entrypoint", "Pod.SSH"}, missing(podView(pod, live, pod.StartedAt)), "other editions' alone")
	require.NotEqual(t, nullable.NewNullNullable[time.Time](), podView(pod, live, pod.StartedAt).StartedAt)

	running := runtimeView(pod, live, pod.StartedAt)
	require.Empty(t, missing(running))
	for _, part := range []any{running.Ports[0], running.Gpus[0], *running.CPU, *running.Memory, podView(pod, live, pod.StartedAt).GlobalNetworking} {
		require.Empty(t, missing(part))
	}
	require.Empty(t, missing(gpuTypeView(filled[control.GPUTypeStock]())))
	require.Empty(t, missing(cpuTypeView(filled[control.CPUFlavorStock]())))
	require.Empty(t, missing(dataCenterView(filled[control.DataCenterStock]())))
	require.Empty(t, missing(publicTemplateView(filled[control.PublicTemplate]())))
	require.Empty(t, missing(volumeView(filled[compute.Volume]())))
	require.Empty(t, missing(registryView(filled[compute.Registry]())))
	require.Empty(t, missing(delegationView(filled[compute.Delegation]())))

	template := filled[compute.Template]()
	require.Empty(t, missing(templateView(template, template.UserID)))
	cluster := clusterView(filled[control.Cluster]())
	require.Empty(t, missing(cluster))

	for _, part := range []any{cluster.Compute, cluster.Pods, *cluster.Primary} {
		require.Empty(t, missing(part))
	}
	endpoint := filled[compute.Endpoint]()
	endpoint.Type, endpoint.Scaler, endpoint.Timeout = compute.QueueEndpoint, compute.ByDelay, time.Second
	shown := restHandlers{&Services{QueueURL: func(*http.Request) string { return "http://queue" }}}.endpointView(echo.New().NewContext(nil, nil), endpoint)
	require.Empty(t, missing(shown))

	gpu, err := shown.Gpu.Get()
	require.NoError(t, err)
	for _, part := range []any{gpu, shown.Workers, shown.CPU[0]} {
		require.Empty(t, missing(part))
	}
	require.Equal(t, []string{"EndpointRequestUrls.Base"}, missing(*shown.RequestUrls), "a queue has none")
	endpoint.DiskGB = 0
	require.Nil(t, restHandlers{&Services{QueueURL: func(*http.Request) string { return "http://queue" }}}.endpointView(echo.New().NewContext(nil, nil), endpoint).Disk, "of the server's settings")

	worker := filled[control.EndpointWorker]()
	require.Empty(t, missing(endpointWorkerView(worker, worker.StartedAt)))
	require.NotEqual(t, nullable.NewNullNullable[string](), endpointWorkerView(worker, worker.StartedAt).GpuTypeID)
	require.Empty(t, missing(endedWorkerView(filled[compute.EndedWorker]())))

	release := releaseView(filled[control.EndpointRelease]())
	require.Empty(t, missing(release))
	require.Empty(t, missing(release.Diff[0]))
	job := filled[compute.Job]()
	job.Status = compute.JobFailed
	document, err := JobDocument(job)
	require.NoError(t, err)

	var status queue.Job
	require.NoError(t, json.Unmarshal(document, &status))
	require.Empty(t, missing(status))
	var taken taker.TakenJob
	d := (&Services{}).takenDocument(nil, &jobs.Taken{Job: job, Input: []byte("{}")})
	require.NoError(t, json.Unmarshal(slices.Concat(d.head, d.raw, d.tail), &taken))
	require.Empty(t, missing(taken))

	health := jobs.Health{Jobs: filled[compute.JobCounts](), Workers: map[compute.WorkerStatus]int64{}, Ready: []compute.WorkerID{"w"}}
	for _, s := range []compute.WorkerStatus{
		compute.WorkerInitializing, compute.WorkerIdle, compute.WorkerRunning, compute.WorkerThrottled, compute.WorkerUnhealthy,
	} {
		health.Workers[s] = 1
	}

	require.Empty(t, missing(healthView(health).Jobs))
	require.Empty(t, missing(healthView(health).Workers))
}

func TestViews_JobsHaveAllThatIsKnown(t *testing.T) {
	t.Parallel()
	job := filled[compute.Job]()
	job.TakenAt, job.ExecutionTimeout, job.TTL = job.QueuedAt.Add(time.Second), time.Second, time.Second
	job.EndedAt = job.TakenAt.Add(time.Second)
	require.Empty(t, missing(listedJobView(job)))

	text := jobs.Excerpt{Text: []byte("é")[:1], Size: 2}
	shown := jobDetailView(jobs.ShownJob{Job: job, Input: text, Output: text})
	require.Empty(t, missing(shown))
	require.Equal(t, controls.JobText{Text: "", Length: 2, Truncated: true}, shown.Input, "not cut within a character")
}

func TestViews_EventsHaveAllThatIsKnown(t *testing.T) {
	t.Parallel()
	e := filled[changes.Event]()
	e.Kind = changes.Job
	require.Empty(t, missing(eventView(e)))
}

func TestViews_KeysHaveAllThatIsKnown(t *testing.T) {
	t.Parallel()
	require.Empty(t, missing(keyView(filled[compute.Key]())))
}

func TestViews_SamplesHaveAllThatIsKnown(t *testing.T) {
	t.Parallel()
	require.Empty(t, missing(fleetSampleView(filled[history.Sample[history.Fleet]]())))
	require.Empty(t, missing(endpointSampleView(filled[history.Sample[history.Endpoint]]())))
	require.Empty(t, missing(podSampleView(filled[history.Sample[compute.PodRuntime]]())))
}

func TestViews_WhyHasAllOfAReason(t *testing.T) {
	t.Parallel()
	view := whyView(filled[why.Answer](), func(port int) string { return strconv.Itoa(port) })
	require.Empty(t, missing(view))
	require.Empty(t, missing(view.Details))
}

func TestViews_BalancedWorkersHaveAllThatIsKnown(t *testing.T) {
	t.Parallel()
	require.Empty(t, missing(balancedView(filled[jobs.Balanced](), "127.0.0.1:80")))
}

func TestViews_JournalHasAllOfAnEntry(t *testing.T) {
	t.Parallel()
	e := filled[journal.Entry]()
	e.Duration, e.Fault.Latency = time.Second, time.Second
	view := journalView(&e)
	require.Empty(t, missing(view))
	for _, part := range []any{view.Request, view.Response, view.Request.Body, view.Request.Headers[0], *view.Graphql, *view.Fault} {
		require.Empty(t, missing(part))
	}
	require.Empty(t, missing(failureView(filled[journal.Failure]())))
	require.Empty(t, missing(failureView(filled[journal.Failure]()).Nearest.Differences[0]))

	har := harView(&e)
	require.Empty(t, missing(har))
	require.ElementsMatch(t, []string{"HarResponse.RedirectURL"}, slices.DeleteFunc(missing(har.Response), func(name string) bool { return name == "HarResponse.StatusText" }))
	require.Empty(t, missing(har.Request))
}

func TestViews_ExpectationHasEveryMember(t *testing.T) {
	t.Parallel()
	x := expectation(filled[controls.Expectation]())
	x.Limit = 1 // it is for lists alone
	require.Empty(t, missing(x))
	require.Empty(t, missing(x.Filter))
}

func TestViews_WidePodHasWhatOtherEditionsHave(t *testing.T) {
	t.Parallel()
	pod, live := filled[compute.Pod](), filled[compute.PodRuntime]()
	pod.Status = compute.PodRunning
	live.Ports[0] = compute.PublishedPort{Private: 22, Public: 40022, Type: "tcp", IP: "1.2.3.4"}
	pod.Name, pod.ClusterType = "cluster-1", compute.RayCluster
	wide := podView(pod, live, pod.StartedAt)
	widePodView(&wide, pod, live, control.Place{CUDAVersion: "12.8", VCPUs: 8, MemoryGB: 32}, "host", 2222)
	require.Empty(t, missing(wide))
	direct, err := wide.SSH.Direct.Get()
	require.NoError(t, err)
	require.Equal(t, rest.PodSSHEndpoint{Host: "1.2.3.4", Port: 40022, Username: "root", Command: "ssh root@1.2.3.4 -p 40022"}, direct)
	for _, part := range []any{*wide.SSH, *wide.Cluster, *wide.Gpu} {
		require.Empty(t, missing(part))
	}
}

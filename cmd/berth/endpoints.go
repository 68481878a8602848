package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/restclient"
)

// endpointFields are those of creating and changing endpoints.
func endpointFields() []field {
	return append(container(),
		naming(text("template", "/templateId", "the template for everything that is not given, by id or name"), templates),
		list("gpu-pool", "/gpu/pools", "an acceptable pool of GPU types; see berth catalog gpus"),
		list("gpu-exclude", "/gpu/excludedTypes", "a GPU type of a pool that will not do"),
		number("gpu-count", "/gpu/count", "how many GPUs a worker has"),
		list("cuda-version", "/gpu/allowedCudaVersions", "a CUDA version that will do, like 12.8"),
		text("min-cuda-version", "/gpu/minCudaVersion", "the oldest acceptable CUDA version"),
		made("cpu", "/cpu", "CPU flavor and vCPUs of a worker without GPU, like cpu3g:2; several after commas", cpuList),
		list("data-center", "/dataCenterIds", "a data center that will do").offering(idsOf(dataCenters)),
		naming(list("volume", "/networkVolumes", "a network volume to mount, by id or name"), volumes),
		naming(made("global-volume", "/mounts/global", "a global volume to mount, by id or name, in place of network volumes; empty: none any more", globalVolume), globalVolumes),
		number("workers-min", "/workers/min", "the minimum number of workers"),
		number("workers-max", "/workers/max", "the maximum number of workers"),
		span("idle-timeout", "/workers/idleTimeout", "how long a worker idles before it is stopped, like 10s", time.Second),
		made("queue-delay", "/scaling", "start a worker when jobs wait this long, like 4s", queueDelay),
		made("request-count", "/scaling", "start one worker for this many jobs", requestCount),
		span("execution-timeout", "/timeout", "how long a job may be in progress, like 5m; 0: as long as it takes", time.Millisecond),
		choice("flashboot", "/flashboot", "OFF, FLASHBOOT or PRIORITY_FLASHBOOT", "OFF", "FLASHBOOT", "PRIORITY_FLASHBOOT"),
	)
}

func cpuList(text string) (any, error) {
	var all []map[string]any
	for one := range strings.SplitSeq(text, ",") {
		id, count, _ := strings.Cut(one, ":")
		vcpus, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not FLAVOR:VCPUS", one)
		}
		all = append(all, map[string]any{"id": id, "vcpuCount": vcpus})
	}
	return all, nil
}

// globalVolume is the list of what is mounted.
func globalVolume(id string) (any, error) {
	if id == "" {
		return []map[string]string{}, nil
	}
	return []map[string]string{{"volumeId": id}}, nil
}

func queueDelay(text string) (any, error) {
	d, err := time.ParseDuration(text)
	return map[string]any{"type": "QUEUE_DELAY", "queueDelay": d.Seconds()}, err
}

// endpointAddress gives where requests to an endpoint go: to its workers, or to its queue.
func endpointAddress(e rest.Endpoint) string {
	switch u := e.RequestUrls; {
	case u == nil:
		return "-"
	case u.Base != nil:
		return *u.Base
	case u.Run != nil:
		return *u.Run
	}
	return "-"
}

func requestCount(text string) (any, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	return map[string]any{"type": "REQUEST_COUNT", "requestCount": n}, err
}

// workerMachines says what the workers of an endpoint run on.
func workerMachines(e rest.Endpoint) string {
	if g := e.Gpu.Pointer(); g != nil {
		return fmt.Sprintf("%d × %s", g.Count, strings.Join(g.Pools, " or "))
	}
	var all []string
	for _, c := range e.CPU {
		all = append(all, cpus(c))
	}
	return orDash(strings.Join(all, " or "))
}

func scaling(e rest.Endpoint) string {
	var s struct {
		Type         string
		QueueDelay   float64
		RequestCount int64
	}
	if text, err := json.Marshal(e.Scaling); err != nil || json.Unmarshal(text, &s) != nil {
		return "-"
	}
	if s.Type == "REQUEST_COUNT" {
		return fmt.Sprintf("%s %d", s.Type, s.RequestCount)
	}
	return fmt.Sprintf("%s %gs", s.Type, s.QueueDelay)
}

func endpoints() *resource[rest.Endpoint] {
	return &resource[rest.Endpoint]{
		noun: "endpoint", article: "an", nouns: "endpoints",
		examples: map[string]string{
			"create": `  berth endpoints create --name words --image acme/words:1.0 --cpu cpu3g:2 --workers-max 5
  berth endpoints create --name images --image acme/images:4 --gpu-pool ADA_24 --workers-min 1 --wait
  berth endpoints create --file endpoint.json`,
			"list":   "  berth endpoints list",
			"get":    "  berth endpoints get words --json",
			"update": "  berth endpoints update words --image acme/words:1.1 --wait",
			"delete": "  berth endpoints delete words",
		},
		columns: []column[rest.Endpoint]{
			{head: "ID", value: func(e rest.Endpoint) string { return e.ID }},
			{head: "NAME", value: func(e rest.Endpoint) string { return e.Name }},
			{head: "TYPE", value: func(e rest.Endpoint) string { return string(e.Type) }},
			{head: "WORKERS", value: func(e rest.Endpoint) string { return fmt.Sprintf("%d-%d", e.Workers.Min, e.Workers.Max) }},
			{head: "SCALING", value: scaling},
			{head: "MACHINE", value: workerMachines},
			{head: "IMAGE", value: func(e rest.Endpoint) string { return orDash(e.Image) }},
			{head: "CREATED", value: func(e rest.Endpoint) string { return textOf(e.CreatedAt) }},
			{head: "ADDRESS", value: endpointAddress, wide: true},
			{head: "ARGS", value: func(e rest.Endpoint) string { return orDash(e.Args) }, wide: true},
			{head: "ENV", value: func(e rest.Endpoint) string { return textOf(e.Env) }, wide: true},
			{head: "PORTS", value: func(e rest.Endpoint) string { return textOf(e.Ports) }, wide: true},
			{head: "IDLE TIMEOUT", value: func(e rest.Endpoint) string { return pointed(e.Workers.IdleTimeout) + " s" }, wide: true},
			{head: "EXECUTION TIMEOUT", value: func(e rest.Endpoint) string { return (time.Duration(e.Timeout) * time.Millisecond).String() }, wide: true},
			{head: "DATA CENTERS", value: func(e rest.Endpoint) string { return textOf(e.DataCenterIds) }, wide: true},
			{head: "VOLUMES", value: func(e rest.Endpoint) string { return textOf(e.NetworkVolumes) }, wide: true},
			{head: "GLOBAL VOLUMES", value: func(e rest.Endpoint) string {
				var ids []string
				for _, one := range e.Mounts.Global {
					ids = append(ids, one.VolumeID)
				}
				return textOf(ids)
			}, wide: true},
			{head: "REGISTRY", value: func(e rest.Endpoint) string { return pointed(e.Registry.Pointer()) }, wide: true},
			{head: "FLASHBOOT", value: func(e rest.Endpoint) string { return string(e.Flashboot) }, wide: true},
		},

		id:   func(e rest.Endpoint) string { return e.ID },
		name: func(e rest.Endpoint) string { return e.Name },
		create: body{
			fields: append(endpointFields(), choice("type", "/type", "QUEUE, which is the default, or LOAD_BALANCER", "QUEUE", "LOAD_BALANCER")),
			defaults: map[string]any{
				"type": "QUEUE", "scaling": map[string]any{"type": "QUEUE_DELAY", "queueDelay": 4},
			},
		},
		update: body{fields: endpointFields()},

		listing: func(ctx context.Context, c *restclient.Client, cursor *string) (*http.Response, error) {
			return c.ListEndpoints(ctx, &rest.ListEndpointsParams{Cursor: cursor})
		},
		items: func(c *connection, document []byte) ([]rest.Endpoint, error) {
			list, err := parse[rest.EndpointList](c, document)
			return list.Endpoints, err
		},
		getting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.GetEndpoint(ctx, id)
		},
		creating: func(ctx context.Context, c *restclient.Client, contentType string, body io.Reader) (*http.Response, error) {
			return c.CreateEndpointWithBody(ctx, contentType, body)
		},
		updating: func(ctx context.Context, c *restclient.Client, id, contentType string, body io.Reader) (*http.Response, error) {
			return c.UpdateEndpointWithBody(ctx, id, contentType, body)
		},
		deleting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.DeleteEndpoint(ctx, id)
		},
		wait:  awaitWorkers,
		until: "its least number of workers is up, on the latest release",
	}
}

func newEndpointsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "endpoints",
		Aliases: []string{"endpoint"},
		Short:   "Create, list, change and delete serverless endpoints, and look at their workers",
		Long:    `Create, list, change and delete serverless endpoints, and look at their workers and releases.`,
	}
	r := endpoints()
	cmd.AddCommand(r.commands()...)
	for _, sub := range []*cobra.Command{
		newWorkersCommand(r), newReleasesCommand(r), newWorkerLogsCommand(r), newBuildsCommand(r), newBuildLogsCommand(r), newEndpointsWhyCommand(),
		newWorkerExecCommand(r), newEndpointHistoryCommand(r),
	} {
		cmd.AddCommand(r.kind().again(sub))
	}
	return cmd
}

// below makes a command that shows a list of an endpoint, read by read, and after it more. Beside its columns are those for which the server is
// asked.
func below[L, T any](r *resource[rest.Endpoint], what, short string, columns []column[T], items func(L) []T,
	more func(cmd *cobra.Command, endpoint string, list L) error, read func(ctx context.Context, c *restclient.Client, id string, cursor *string) (*http.Response, error),
	asked ...func(ctx context.Context, c *connection, id string) []column[T]) *cobra.Command {
	return &cobra.Command{
		Use:               what + " ENDPOINT",
		Short:             short,
		Example:           fmt.Sprintf("  berth endpoints %s words", what),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: r.ids().first().values,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			id, err := c.endpoint(cmd.Context(), args[0])
			if err != nil {
				return err
			}

			document, err := c.pages(cmd.Context(), func(ctx context.Context, c *restclient.Client, cursor *string) (*http.Response, error) {
				return read(ctx, c, id, cursor)
			})
			if err != nil {
				return r.hint(err)
			}

			if asJSON(cmd) {
				return printDocument(cmd, document)
			}
			list, err := parse[L](c, document)
			if err != nil {
				return err
			}
			all := slices.Clone(columns)
			for _, one := range asked {
				all = append(all, one(cmd.Context(), c, id)...)
			}
			if err := printTable(cmd, all, items(list)); err != nil {
				return err
			}

			return more(cmd, args[0], list)
		},
	}
}

func newWorkersCommand(r *resource[rest.Endpoint]) *cobra.Command {
	return below(r, "workers", "List the workers of an endpoint, the newest first, and those that have ended", []column[rest.Worker]{
		{head: "ID", value: func(w rest.Worker) string { return w.ID }},
		{head: "STATUS", value: func(w rest.Worker) string { return string(w.Status) }},
		{head: "VERSION", value: func(w rest.Worker) string { return pointed(w.Version.Pointer()) }},
		{head: "STALE", value: func(w rest.Worker) string { return textOf(w.IsStale) }},
		{head: "GPUS", value: func(w rest.Worker) string { return textOf(w.GpuCount) }},
		{head: "IMAGE", value: func(w rest.Worker) string { return pointed(w.Image.Pointer()) }},
		{head: "DATA CENTER", value: func(w rest.Worker) string { return pointed(w.DataCenterID.Pointer()) }},
		{head: "STARTED", value: func(w rest.Worker) string { return pointed(w.StartedAt.Pointer()) }},
		{head: "REASON", value: func(w rest.Worker) string {
			reason, _ := w.Reason.Get()
			return orDash(brief(reason))
		}},
	}, func(l rest.WorkerList) []rest.Worker { return l.Workers }, printEnded,
		func(ctx context.Context, c *restclient.Client, id string, _ *string) (*http.Response, error) {
			return c.ListEndpointWorkers(ctx, id)
		}, balancedColumns)
}

// balancedColumns gives where the workers of an endpoint that balances load listen, and how each is; none for an endpoint that has a queue.
func balancedColumns(ctx context.Context, c *connection, id string) []column[rest.Worker] {
	list, _, err := fetch[controls.BalancedWorkers](ctx, c, func(ctx context.Context) (*http.Response, error) { return c.controls.GetBalancedWorkers(ctx, id) })
	if err != nil || len(list.Workers) == 0 {
		return nil // it is another server, or another kind of endpoint
	}
	of := func(value func(controls.BalancedWorker) string) func(rest.Worker) string {
		return func(w rest.Worker) string {
			i := slices.IndexFunc(list.Workers, func(b controls.BalancedWorker) bool { return b.ID == w.ID })
			if i < 0 {
				return "-"
			}
			return value(list.Workers[i])
		}
	}

	return []column[rest.Worker]{
		{head: "HEALTH", value: of(func(b controls.BalancedWorker) string { return string(b.Health) })},
		{head: "REQUESTS", value: of(func(b controls.BalancedWorker) string { return textOf(b.Requests) })},
		{head: "ADDRESS", value: of(func(b controls.BalancedWorker) string { return pointed(b.Address) })},
	}
}

func newReleasesCommand(r *resource[rest.Endpoint]) *cobra.Command {
	return below(r, "releases", "List the releases of an endpoint, the newest first", []column[rest.Release]{
		{head: "ID", value: func(l rest.Release) string { return l.ID }},
		{head: "VERSION", value: func(l rest.Release) string { return pointed(l.Version.Pointer()) }},
		{head: "WORKERS", value: func(l rest.Release) string { return textOf(l.WorkerCount) }},
		{head: "CREATED", value: func(l rest.Release) string { return textOf(l.CreatedAt) }},
		{head: "CHANGED", value: func(l rest.Release) string {
			var all []string
			for _, d := range l.Diff {
				all = append(all, d.Field)
			}
			return textOf(all)
		}},
	}, func(l rest.ReleaseList) []rest.Release { return l.Releases }, func(*cobra.Command, string, rest.ReleaseList) error { return nil },
		func(ctx context.Context, c *restclient.Client, id string, cursor *string) (*http.Response, error) {
			return c.ListEndpointReleases(ctx, id, &rest.ListEndpointReleasesParams{Cursor: cursor})
		})
}

// awaitWorkers waits until as many workers as there are to be at least are up, and none is of a release before the latest.
func awaitWorkers(cmd *cobra.Command, w *waiting, c *connection, id string) error {
	hint := "berth endpoints workers " + id + " shows them"
	return w.await(cmd, fmt.Sprintf("endpoint %s has no workers up", id), hint, func(ctx context.Context) (string, bool, error) {
		e, _, err := fetch[rest.Endpoint](ctx, c, func(ctx context.Context) (*http.Response, error) { return c.rest.GetEndpoint(ctx, id) })
		if isStatus(err, http.StatusNotFound) {
			return "", false, &failure{code: exitEnded, cause: fmt.Errorf("endpoint %s was deleted", id)}
		}
		if err != nil {
			return "", false, err
		}

		list, _, err := fetch[rest.WorkerList](ctx, c, func(ctx context.Context) (*http.Response, error) {
			return c.rest.ListEndpointWorkers(ctx, id)
		})
		if err != nil {
			return "", false, err
		}

		var up, stale int64
		for _, worker := range list.Workers {
			switch {
			case worker.IsStale:
				stale++
			case worker.Status == rest.WorkerStatusRUNNING, worker.Status == rest.WorkerStatusIDLE:
				up++
			}
		}

		state := fmt.Sprintf("endpoint %s has %d of %d workers up, and %d of an earlier release", id, up, e.Workers.Min, stale)
		return state, up >= e.Workers.Min && stale == 0, nil
	})
}

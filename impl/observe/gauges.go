package observe

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/queue"
)

// scrapeTimeout bounds what one look at the store may take: a scraper waits for about 10 s.
const scrapeTimeout = 5 * time.Second

// Sources show how things stand when somebody looks. Each must be cheap: it is asked at every scrape.
type Sources struct {
	Trouble     func() error                                               // why the store takes no writes; nil: it does
	Dropped     func() int64                                               // lines of the log that were dropped; may be nil
	Dispatchers func() []queue.DispatcherView                              // of the endpoints that have a queue
	Held        func() int                                                 // requests
	Pods        func(context.Context) (map[compute.PodStatus]int64, error) // that are not TERMINATED
	Supply      func() []control.Supply                                    // of the hosts
	Backup      func() Backup                                              // nil: there is none that goes on
	Clock       compute.Clock                                              // for ages
	Log         *slog.Logger
}

// Backup is how the continuous backup stands.
type Backup struct {
	Age      time.Duration // what was written before may be lost with the disk no more
	Bytes    int64         // that the target took
	Failures int64         // of requests to it
	Ended    int64         // generations that ended before the server did
}

// workerStatuses are always all shown: a series that comes and goes is hard to alert on.
var workerStatuses = []compute.WorkerStatus{
	compute.WorkerInitializing, compute.WorkerIdle, compute.WorkerRunning, compute.WorkerThrottled, compute.WorkerUnhealthy,
}

var podStatuses = []compute.PodStatus{compute.PodProvisioning, compute.PodStarting, compute.PodRunning, compute.PodExited, compute.PodError}

// gauges asks the sources of the metrics at each scrape.
type gauges struct{ metrics *Metrics }

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	jobsGauge    = gauge("berth_jobs", "Jobs that have not ended; those IN_QUEUE are the depth of the queue.", "endpoint", "status")
	oldestGauge  = gauge("berth_queue_oldest_age_seconds", "Time for which the job has waited that waits longest; 0 if none does.", "endpoint")
	workersGauge = gauge("berth_workers", "Workers by what they do.", "endpoint", "status")
	heldGauge    = gauge("berth_http_requests_held", "Requests that wait for a job, for its end or for its chunks.")
	podsGauge    = gauge("berth_pods", "Pods that are not TERMINATED.", "status")
	gpusGauge    = gauge("berth_gpus", "GPUs of the hosts.", "gpu", "data_center")
	gpusFree     = gauge("berth_gpus_free", "GPUs of the hosts that nobody holds.", "gpu", "data_center")
	vcpusGauge   = gauge("berth_vcpus", "vCPUs of the hosts.", "data_center")
	vcpusFree    = gauge("berth_vcpus_free", "vCPUs of the hosts that nobody holds.", "data_center")
	writable     = gauge("berth_store_writable", "1 while writes of the store succeed; 0 while its disk is full, fails or is locked.")
	backupAge    = gauge("berth_backup_age_seconds", "Age of the moment up to which the target of the continuous backup has everything.")
	backupBytes  = gauge("berth_backup_bytes_total", "Bytes that the target of the continuous backup took.")
	backupFails  = gauge("berth_backup_failures_total", "Requests to the target of the continuous backup that failed.")
	backupEnds   = gauge("berth_backup_generations_ended_total", "Generations of the continuous backup that ended before the server did: another base is made.")
	linesDropped = gauge("berth_log_lines_dropped_total", "Lines of the log that were dropped, since nobody read it.")
)

// Describe is for the registry.
func (gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{jobsGauge, oldestGauge, workersGauge, heldGauge, podsGauge, gpusGauge, gpusFree, vcpusGauge, vcpusFree, writable, linesDropped, backupAge, backupBytes, backupFails, backupEnds} {
		to <- d
	}
}

// Collect is for the registry. What cannot be found out is left out, and the log says why.
func (g gauges) Collect(to chan<- prometheus.Metric) {
	if s := g.metrics.sources.Load(); s != nil {
		s.collect(to)
	}
}

func (s *Sources) collect(to chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}

	now := s.Clock.Now()
	for _, l := range s.Dispatchers() {
		id := string(l.Endpoint)
		send(jobsGauge, float64(l.Waiting), id, string(compute.JobInQueue))
		send(jobsGauge, float64(l.InProgress), id, string(compute.JobInProgress))
		age := 0.0
		if !l.Oldest.IsZero() {
			age = max(0, now.Sub(l.Oldest).Seconds())
		}
		send(oldestGauge, age, id)
		for _, status := range workerStatuses {
			send(workersGauge, float64(l.Workers[status]), id, string(status))
		}
	}

	send(heldGauge, float64(s.Held()))
	s.collectServer(to, send)
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()

	pods, err := s.Pods(ctx)
	if err != nil {
		s.Log.Error("metrics: pods could not be counted", "error", err)
	} else {
		for _, status := range podStatuses {
			send(podsGauge, float64(pods[status]), string(status))
		}
	}

	for _, r := range s.Supply() {
		if r.GPU != "" {
			send(gpusGauge, float64(r.Total), r.GPU, r.DataCenterID)
			send(gpusFree, float64(r.Free), r.GPU, r.DataCenterID)
		} else {
			send(vcpusGauge, float64(r.Total), r.DataCenterID)
			send(vcpusFree, float64(r.Free), r.DataCenterID)
		}
	}
}

// collectServer reports how what the server stands on does.
func (s *Sources) collectServer(to chan<- prometheus.Metric, send func(d *prometheus.Desc, value float64, labels ...string)) {
	takesWrites, dropped := 1.0, 0.0
	if s.Trouble() != nil {
		takesWrites = 0
	}
	if s.Dropped != nil {
		dropped = float64(s.Dropped())
	}
	send(writable, takesWrites)
	to <- prometheus.MustNewConstMetric(linesDropped, prometheus.CounterValue, dropped)
	if s.Backup == nil {
		return
	}

	b := s.Backup()
	send(backupAge, b.Age.Seconds())
	to <- prometheus.MustNewConstMetric(backupBytes, prometheus.CounterValue, float64(b.Bytes))
	to <- prometheus.MustNewConstMetric(backupFails, prometheus.CounterValue, float64(b.Failures))
	to <- prometheus.MustNewConstMetric(backupEnds, prometheus.CounterValue, float64(b.Ended))
}

package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

const workerColumns = `id, endpoint_id, version, image, gpu_id, gpu_count, cpu_id, cpu_vcpus, cpu_memory_gb, disk_gb, data_center_id, host_id,
devices, cost_per_hour, created_at, started_at`

const (
	insertWorker    = `INSERT INTO workers (` + workerColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectWorkers   = `SELECT ` + workerColumns + ` FROM workers ORDER BY seq`
	selectWorker    = `SELECT ` + workerColumns + ` FROM workers WHERE id = ?`
	selectWorkersOf = `SELECT ` + workerColumns + ` FROM workers WHERE endpoint_id = ? ORDER BY seq`
	startWorker     = `UPDATE workers SET started_at = ? WHERE id = ?`
	deleteWorker    = `DELETE FROM workers WHERE id = ?`
)

// InsertWorker stores a new worker. Conflict when the id is taken.
func (tx *Tx) InsertWorker(w compute.Worker) error {
	var gpuID, gpuCount, cpuID, vcpus, memory any
	if g := w.GPU; g != nil {
		gpuID, gpuCount = g.ID, g.Count
	}
	if c := w.CPU; c != nil {
		cpuID, vcpus, memory = c.ID, c.VCPUCount, c.MemoryGB
	}
	_, err := tx.exec("insert worker "+string(w.ID), insertWorker, string(w.ID), string(w.EndpointID), w.Version, w.Image, gpuID, gpuCount,
		cpuID, vcpus, memory, w.DiskGB, w.DataCenterID, w.HostID, text(w.Devices), w.CostPerHour, millis(w.CreatedAt), millis(w.StartedAt))
	return err
}

func scanWorker(row scanner) (w compute.Worker, err error) {
	var (
		gpu, cpu                optional[string]
		gpuCount, vcpus, memory optional[int64]
	)
	err = row.Scan(&w.ID, &w.EndpointID, &w.Version, &w.Image, &gpu, &gpuCount, &cpu, &vcpus, &memory, &w.DiskGB, &w.DataCenterID, &w.HostID,
		words[[]string]{&w.Devices}, &w.CostPerHour, instant{&w.CreatedAt}, instant{&w.StartedAt})
	if gpu.Valid {
		w.GPU = &compute.GPU{ID: gpu.V, Count: gpuCount.V}
	}
	if cpu.Valid {
		w.CPU = &compute.CPU{ID: cpu.V, VCPUCount: vcpus.V, MemoryGB: memory.V}
	}
	return w, err
}

// Worker gives one worker. NotFound for an unknown id.
func (tx *Tx) Worker(id compute.WorkerID) (w compute.Worker, err error) {
	found, err := tx.one("read worker "+string(id), func(row scanner) (err error) {
		w, err = scanWorker(row)
		return err
	}, selectWorker, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "worker %q does not exist", id)
	}
	return w, err
}

// ListWorkers gives all workers, oldest first.
func (tx *Tx) ListWorkers() ([]compute.Worker, error) {
	return list(tx, "list workers", scanWorker, selectWorkers)
}

// ListWorkersOf gives the endpoint's workers, oldest first.
func (tx *Tx) ListWorkersOf(id compute.EndpointID) ([]compute.Worker, error) {
	return list(tx, "list workers of "+string(id), scanWorker, selectWorkersOf, string(id))
}

// SetWorkerStarted writes when the worker's container came up; it tells whether there is such a worker.
func (tx *Tx) SetWorkerStarted(id compute.WorkerID, at time.Time) (bool, error) {
	return tx.changed("start worker "+string(id), startWorker, millis(at), string(id))
}

// DeleteWorker removes the worker, known or not.
func (tx *Tx) DeleteWorker(id compute.WorkerID) error {
	_, err := tx.exec("delete worker "+string(id), deleteWorker, string(id))
	return err
}

package sqldb

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berthdev/berth/impl/compute"
)

const endpointColumns = `id, user_id, name, type, declared, image, args, disk_gb, ports, env, registry_id, gpu_pools, gpu_excluded,
gpu_count, cuda_versions, least_cuda, cpus, data_center_ids, compliance, volume_ids, template_id, workers_min, workers_max, idle_timeout, scaler,
scaler_value, timeout, flashboot, version, created_at, deleted_at`

const (
	insertEndpoint = `INSERT INTO endpoints (` + endpointColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectEndpoint         = `SELECT ` + endpointColumns + ` FROM endpoints WHERE id = ?`
	selectDeclaredEndpoint = `SELECT ` + endpointColumns + ` FROM endpoints WHERE declared AND user_id = ? AND name = ?`
	selectEndpoints        = `SELECT ` + endpointColumns + ` FROM endpoints ORDER BY created_at, seq`
	selectEndpointsOf      = `SELECT ` + endpointColumns + ` FROM endpoints WHERE user_id = ? AND deleted_at IS NULL ORDER BY created_at DESC, seq DESC`
	updateEndpoint         = `UPDATE endpoints SET name = ?, image = ?, args = ?, disk_gb = ?, ports = ?, env = ?, registry_id = ?, gpu_pools = ?,
gpu_excluded = ?, gpu_count = ?, cuda_versions = ?, least_cuda = ?, cpus = ?, data_center_ids = ?, compliance = ?, volume_ids = ?, template_id = ?,
workers_min = ?, workers_max = ?, idle_timeout = ?, scaler = ?, scaler_value = ?, timeout = ?, flashboot = ?, version = ?, deleted_at = ?
WHERE id = ?`
	deleteEndpoint      = `DELETE FROM endpoints WHERE id = ?`
	deleteReleases      = `DELETE FROM releases WHERE endpoint_id = ?`
	selectEndpointsWith = `SELECT id FROM endpoints WHERE deleted_at IS NULL AND (template_id = ? AND template_id <> '' OR
registry_id = ? AND registry_id <> '' OR EXISTS (SELECT 1 FROM json_each(volume_ids) WHERE value = ?)) ORDER BY seq`
)

// endpointMaking are the values of what the workers are made of, in the order of the columns.
func endpointMaking(e compute.Endpoint) []any {
	var pools, excluded, count, versions, least any
	if g := e.GPU; g != nil {
		pools, excluded, count, versions, least = text(g.Pools), text(g.Excluded), g.Count, text(g.CUDAVersions), g.LeastCUDA
	}
	return []any{
		e.Image, e.Args, e.DiskGB, text(e.Ports), text(e.Env), string(e.RegistryID), pools, excluded, count, versions, least,
		text(cpuWords(e.CPUs)), text(e.DataCenterIDs), text(e.Compliance), text(convert[string](e.VolumeIDs)), string(e.TemplateID),
	}
}

// endpointBounds are the values of what acts at once, in the order of the columns.
func endpointBounds(e compute.Endpoint) []any {
	return []any{
		e.WorkersMin, e.WorkersMax, e.IdleTimeout.Milliseconds(), string(e.Scaler), e.ScalerValue, e.Timeout.Milliseconds(),
		string(e.FlashBoot), e.Version,
	}
}

// InsertEndpoint stores a new endpoint. Conflict when the id is taken, or a declared name.
func (tx *Tx) InsertEndpoint(e compute.Endpoint) error {
	args := []any{string(e.ID), string(e.UserID), e.Name, string(e.Type), e.Declared}
	args = append(append(args, endpointMaking(e)...), endpointBounds(e)...)
	if _, err := tx.exec("insert endpoint "+e.Name, insertEndpoint, append(args, millis(e.CreatedAt), millis(e.DeletedAt))...); err != nil {
		return err
	}
	_, err := tx.exec("insert counts of "+e.Name, insertCounts, string(e.ID))
	return err
}

func scanEndpoint(row scanner) (e compute.Endpoint, err error) {
	var (
		pools, excluded, versions, least optional[string]
		count                            optional[int64]
		cpus, volumes                    []string
	)
	err = row.Scan(&e.ID, &e.UserID, &e.Name, &e.Type, &e.Declared, &e.Image, &e.Args, &e.DiskGB, words[[]string]{&e.Ports},
		words[map[string]string]{&e.Env}, &e.RegistryID, &pools, &excluded, &count, &versions, &least, words[[]string]{&cpus},
		words[[]string]{&e.DataCenterIDs}, words[[]string]{&e.Compliance}, words[[]string]{&volumes}, &e.TemplateID, &e.WorkersMin, &e.WorkersMax, span{&e.IdleTimeout},
		&e.Scaler, &e.ScalerValue, span{&e.Timeout}, &e.FlashBoot, &e.Version, instant{&e.CreatedAt}, instant{&e.DeletedAt})
	if err != nil {
		return e, err
	}
	e.VolumeIDs = convert[compute.VolumeID](volumes)
	if pools.Valid {
		e.GPU = &compute.EndpointGPU{Count: count.V, LeastCUDA: least.V}
		for _, column := range []struct {
			text string
			to   *[]string
		}{{pools.V, &e.GPU.Pools}, {excluded.V, &e.GPU.Excluded}, {versions.V, &e.GPU.CUDAVersions}} {
			if err := (words[[]string]{column.to}).Scan(column.text); err != nil {
				return e, err
			}
		}
	}
	e.CPUs, err = cpusOf(cpus)
	return e, err
}

// cpuWords writes each CPU as "flavor vcpus memory".
func cpuWords(cpus []compute.CPU) (all []string) {
	for _, c := range cpus {
		all = append(all, fmt.Sprintf("%s %d %d", c.ID, c.VCPUCount, c.MemoryGB))
	}
	return all
}

func cpusOf(all []string) (cpus []compute.CPU, err error) {
	for _, one := range all {
		rest, memory := cutLast(one)
		id, vcpus := cutLast(rest)
		c := compute.CPU{ID: id}
		if c.VCPUCount, err = strconv.ParseInt(vcpus, 10, 64); err != nil {
			return nil, err
		}
		if c.MemoryGB, err = strconv.ParseInt(memory, 10, 64); err != nil {
			return nil, err
		}
		cpus = append(cpus, c)
	}
	return cpus, nil
}

// cutLast cuts at the last space: the id of a flavor may have some.
func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, ' ')
	return s[:max(0, i)], s[i+1:]
}

// convert gives strings of another type; nil stays nil.
func convert[To, From ~string](from []From) (to []To) {
	if from != nil {
		to = make([]To, len(from))
	}
	for i, s := range from {
		to[i] = To(s)
	}
	return to
}

func (tx *Tx) endpoint(name, query string, args ...any) (e compute.Endpoint, err error) {
	found, err := tx.one("read endpoint "+name, func(row scanner) (err error) {
		e, err = scanEndpoint(row)
		return err
	}, query, args...)
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "endpoint %q does not exist", name)
	}
	return e, err
}

// Endpoint gives one endpoint. NotFound for an unknown id.
func (tx *Tx) Endpoint(id compute.EndpointID) (compute.Endpoint, error) {
	return tx.endpoint(string(id), selectEndpoint, string(id))
}

// DeclaredEndpoint gives the user's declared endpoint of that name. NotFound for an unknown one.
func (tx *Tx) DeclaredEndpoint(user compute.UserID, name string) (compute.Endpoint, error) {
	return tx.endpoint(name, selectDeclaredEndpoint, string(user), name)
}

// UpdateEndpoint writes all but the user, the type, whether it is declared and CreatedAt. NotFound for an unknown id,
// Conflict for a declared name that is taken.
func (tx *Tx) UpdateEndpoint(e compute.Endpoint) error {
	args := append(append([]any{e.Name}, endpointMaking(e)...), endpointBounds(e)...)
	ok, err := tx.changed("update endpoint "+string(e.ID), updateEndpoint, append(args, millis(e.DeletedAt), string(e.ID))...)
	if err == nil && !ok {
		err = compute.Errorf(compute.NotFound, "endpoint %q does not exist", e.ID)
	}
	return err
}

// ListEndpoints gives all endpoints, oldest first.
func (tx *Tx) ListEndpoints() ([]compute.Endpoint, error) {
	return list(tx, "list endpoints", scanEndpoint, selectEndpoints)
}

// ListEndpointsOf gives the user's endpoints that are not being deleted, newest first.
func (tx *Tx) ListEndpointsOf(user compute.UserID) ([]compute.Endpoint, error) {
	return list(tx, "list endpoints", scanEndpoint, selectEndpointsOf, string(user))
}

// DeleteEndpoint removes the endpoint with its releases, its counts and what is kept of its workers that ended, known or not.
func (tx *Tx) DeleteEndpoint(id compute.EndpointID) error {
	for _, query := range []string{deleteReleases, deleteCounts, deleteEnded, deleteEndpoint} {
		if _, err := tx.exec("delete endpoint "+string(id), query, string(id)); err != nil {
			return err
		}
	}
	return nil
}

// EndpointsWith gives the endpoints that last and name the template, the credential or the volume, oldest first.
func (tx *Tx) EndpointsWith(t compute.TemplateID, r compute.RegistryID, v compute.VolumeID) ([]compute.EndpointID, error) {
	return list(tx, "list endpoints with", func(row scanner) (id compute.EndpointID, err error) {
		err = row.Scan(&id)
		return id, err
	}, selectEndpointsWith, string(t), string(r), string(v))
}

package sqldb

import (
	"slices"
	"strings"
)

// FlawRule finds one kind of what no write leaves in the rows: something that belongs to what is gone, or two rows that contradict each
// other.
type FlawRule struct {
	Kind string
	Find string   // gives of each its id and what more there is to say of it
	Mend []string // statements after which Find gives none; empty: nobody but a person knows what to do
	Does string   // what mending does, or what a person can do
}

// FlawRules gives all rules, in the order in which they are mended: what belongs to something comes after it, and sums after what they
// count.
func FlawRules() []FlawRule {
	return slices.Concat(endpointFlaws(), jobFlaws, hostFlaws, podFlaws)
}

const (
	noEndpoint = `endpoint_id NOT IN (SELECT id FROM endpoints)`
	noUser     = `worker_id = '' AND revoked_at IS NULL AND user_id NOT IN (SELECT name FROM users)`
	lasts      = `gone = 0` // of a pod that is not TERMINATED
	runsOrLogs = `id NOT IN (SELECT id FROM pods WHERE ` + lasts + `) AND id NOT IN (SELECT id FROM workers)`
)

// endpointFlaws are what an endpoint leaves behind that was not deleted as a whole. Its workers are none: they end after it, and where the server
// was killed meanwhile, after the next start.
func endpointFlaws() (all []FlawRule) {
	for _, one := range []struct{ table, what, id string }{
		{"releases", "release", "id"}, {"builds", "build", "id"}, {"ended_workers", "log of an ended worker", "id"},
		{"scripts", "script", "endpoint_id"}, {"job_counts", "count of jobs", "endpoint_id"},
	} {
		all = append(all, FlawRule{
			Kind: one.what + " of an endpoint that is gone",
			Find: `SELECT ` + one.id + `, 'endpoint ' || endpoint_id FROM ` + one.table + ` WHERE ` + noEndpoint,
			Mend: []string{`DELETE FROM ` + one.table + ` WHERE ` + noEndpoint},
			Does: "deletes the row",
		})
	}
	return append(all, FlawRule{
		Kind: "endpoint without a count of jobs",
		Find: `SELECT id, name FROM endpoints WHERE id NOT IN (SELECT endpoint_id FROM job_counts)`,
		Mend: []string{`INSERT INTO job_counts (endpoint_id, in_queue, in_progress, completed, failed, retried)
SELECT id, 0, 0, 0, 0, 0 FROM endpoints WHERE id NOT IN (SELECT endpoint_id FROM job_counts)`},
		Does: "begins the count; completed and failed jobs of before are not in it",
	}, FlawRule{
		Kind: "key of a worker that is gone",
		Find: `SELECT id, 'worker ' || worker_id FROM keys WHERE worker_id <> '' AND worker_id NOT IN (SELECT id FROM workers)`,
		Mend: []string{`DELETE FROM keys WHERE worker_id <> '' AND worker_id NOT IN (SELECT id FROM workers)`},
		Does: "deletes the key",
	}, FlawRule{
		Kind: "key of a user that there is not",
		Find: `SELECT id, 'user ' || user_id FROM keys WHERE ` + noUser,
		Mend: []string{`INSERT INTO users (name, role, disabled, created_at) SELECT user_id, 'member', 0, min(created_at) FROM keys WHERE ` + noUser + ` GROUP BY user_id`},
		Does: "makes the user, as a member",
	})
}

const (
	open    = `status IN ('IN_QUEUE', 'IN_PROGRESS')`
	heldBad = `status = 'IN_PROGRESS' AND (worker_id = '' OR taken_at IS NULL)`
	endBad  = `NOT ` + open + ` AND (ended_at IS NULL OR expires_at IS NULL)`
	openBad = open + ` AND ended_at IS NOT NULL`

	// What is open by endpoint, which the index of open jobs serves.
	openCounts = `(SELECT endpoint_id AS of, sum(CASE WHEN status = 'IN_QUEUE' THEN 1 ELSE 0 END) AS waiting,
sum(CASE WHEN status = 'IN_PROGRESS' THEN 1 ELSE 0 END) AS held FROM jobs WHERE ended_at IS NULL GROUP BY endpoint_id)`
	countBad = `FROM job_counts c LEFT JOIN ` + openCounts + ` o ON o.of = c.endpoint_id
WHERE c.in_queue <> coalesce(o.waiting, 0) OR c.in_progress <> coalesce(o.held, 0)`
)

// jobFlaws are jobs that would wait, be held or be kept for ever, and what is left of others.
var jobFlaws = []FlawRule{
	{
		Kind: "job that has not ended and has an end",
		Find: `SELECT id, status FROM jobs WHERE ` + openBad,
		Mend: []string{`UPDATE jobs SET ended_at = NULL WHERE ` + openBad},
		Does: "forgets the end",
	},
	{
		Kind: "job that has ended and is kept for ever",
		Find: `SELECT id, status FROM jobs WHERE ` + endBad,
		Mend: []string{
			`UPDATE jobs SET ended_at = coalesce(ended_at, taken_at, queued_at, created_at, 0) WHERE ` + endBad,
			`UPDATE jobs SET expires_at = ended_at + retention WHERE ` + endBad,
		},
		Does: "keeps it for its retention",
	},
	{
		Kind: "job that has not ended of an endpoint that is gone",
		Find: `SELECT id, 'endpoint ' || endpoint_id FROM jobs WHERE ended_at IS NULL AND ` + noEndpoint,
		Mend: []string{`DELETE FROM jobs WHERE ended_at IS NULL AND ` + noEndpoint},
		Does: "deletes the job, which nothing could end",
	},
	{
		Kind: "job in progress that nobody holds",
		Find: `SELECT id, 'endpoint ' || endpoint_id FROM jobs WHERE ended_at IS NULL AND ` + heldBad,
		Mend: []string{`UPDATE jobs SET status = 'IN_QUEUE', worker_id = '', taken_at = NULL WHERE ended_at IS NULL AND ` + heldBad},
		Does: "puts it back into the queue",
	},
	{
		Kind: "job without its input",
		Find: `SELECT id, 'endpoint ' || endpoint_id FROM jobs WHERE ended_at IS NULL AND seq NOT IN (SELECT seq FROM job_inputs)`,
		Does: "a worker gets null: cancel it, and submit it again",
	},
	pieceFlaw("chunks", "chunk", "job_seq"), pieceFlaw("job_inputs", "input", "seq"), pieceFlaw("job_pieces", "piece of a long value", "job_seq"),
	{
		Kind: "count of jobs that is wrong",
		Find: `SELECT c.endpoint_id, 'counted ' || c.in_queue || ' and ' || c.in_progress || ', there are ' || coalesce(o.waiting, 0) || ' and ' || coalesce(o.held, 0) ` + countBad,
		Mend: []string{
			`UPDATE job_counts SET in_queue = coalesce((SELECT waiting FROM ` + openCounts + ` o WHERE o.of = job_counts.endpoint_id), 0),
in_progress = coalesce((SELECT held FROM ` + openCounts + ` o WHERE o.of = job_counts.endpoint_id), 0)`,
		},
		Does: "counts again",
	},
}

func pieceFlaw(table, what, seq string) FlawRule {
	orphans := ` FROM ` + table + ` WHERE ` + seq + ` NOT IN (SELECT seq FROM jobs)`
	return FlawRule{
		Kind: what + " of a job that is gone",
		Find: `SELECT DISTINCT CAST(` + seq + ` AS TEXT), ''` + orphans,
		Mend: []string{`DELETE` + orphans},
		Does: "deletes the row",
	}
}

const (
	noHolder = `holder_id NOT IN (SELECT id FROM pods WHERE ` + lasts + `) AND holder_id NOT IN (SELECT id FROM workers)
AND holder_id NOT IN (SELECT id FROM volumes) AND holder_id NOT IN (SELECT id FROM global_volumes)`
	idlePods = `SELECT id FROM pods WHERE status NOT IN ('PROVISIONING', 'STARTING', 'RUNNING')`
	unbilled = `ended_at IS NULL AND holder_id NOT IN (SELECT id FROM pods WHERE status = 'RUNNING') AND holder_id NOT IN (SELECT id FROM workers)
AND holder_id NOT IN (SELECT id FROM volumes)`

	heldOf = `(SELECT host_id, count(device) AS gpus, sum(vcpus) AS vcpus, sum(memory_gb) AS memory_gb, sum(disk_gb) AS disk_gb FROM claims GROUP BY host_id)`
	sumBad = `SELECT s.host_id, 'the sum says ' || s.gpus || ' GPUs, ' || s.vcpus || ' vCPUs, ' || s.memory_gb || ' GB of memory and ' || s.disk_gb || ' GB of disk'
FROM claim_sums s LEFT JOIN ` + heldOf + ` c ON c.host_id = s.host_id
WHERE s.gpus <> coalesce(c.gpus, 0) OR s.vcpus <> coalesce(c.vcpus, 0) OR s.memory_gb <> coalesce(c.memory_gb, 0) OR s.disk_gb <> coalesce(c.disk_gb, 0)
UNION ALL SELECT host_id, 'there is no sum' FROM ` + heldOf + ` c WHERE host_id NOT IN (SELECT host_id FROM claim_sums)
AND (gpus <> 0 OR vcpus <> 0 OR memory_gb <> 0 OR disk_gb <> 0)`
)

// hostFlaws are what nobody holds of hosts and what is billed to nobody.
var hostFlaws = []FlawRule{
	{
		Kind: "claim of a host that nobody holds",
		Find: `SELECT DISTINCT holder_id, 'on host ' || host_id FROM claims WHERE ` + noHolder,
		Mend: []string{`DELETE FROM claims WHERE ` + noHolder},
		Does: "releases it",
	},
	{
		Kind: "claim of a pod that does not run",
		Find: `SELECT DISTINCT holder_id, 'on host ' || host_id FROM claims WHERE kept = 0 AND holder_id IN (` + idlePods + `)`,
		Mend: []string{`DELETE FROM claims WHERE kept = 0 AND holder_id IN (` + idlePods + `)`},
		Does: "releases it",
	},
	{
		Kind: "sum of the claims of a host that is wrong",
		Find: sumBad,
		Mend: []string{`DELETE FROM claim_sums`, sumClaims},
		Does: "adds them up again",
	},
	{
		Kind: "open charge of what does not run",
		Find: `SELECT holder_id, item FROM charges WHERE ` + unbilled,
		Mend: []string{`UPDATE charges SET ended_at = coalesce(seen_at, began_at) WHERE ` + unbilled},
		Does: "ends it when what it is for was seen last, or began",
	},
	{
		Kind: "sum of charges that no charge makes",
		Find: `SELECT resource_id, item FROM charge_sums WHERE day % 86400000 <> 0 OR amount < 0 OR ran <= 0`,
		Does: "a bill has it: restore a backup",
	},
	{
		Kind: "log of a pod or worker that is gone",
		Find: `SELECT DISTINCT id, '' FROM system_lines WHERE ` + runsOrLogs,
		Mend: []string{`DELETE FROM system_lines WHERE ` + runsOrLogs},
		Does: "deletes it",
	},
}

// podFlaws are pods and templates that name what is gone.
var podFlaws = []FlawRule{
	named("pods", "pod", "network_volume_id", "volumes", "network volume", "terminate it, or restore a backup"),
	named("pods", "pod", "registry_id", "registries", "registry credential", "change the pod to another one"),
	named("pods", "pod", "cluster_id", "clusters", "cluster", "terminate it"),
	named("templates", "template", "registry_id", "registries", "registry credential", "change the template to another one"),
	named("endpoints", "endpoint", "registry_id", "registries", "registry credential", "change the endpoint to another one"),
}

// named finds rows that name what is gone; nobody but a person knows what they should name instead.
func named(table, what, column, of, thing, advice string) FlawRule {
	where := column + ` <> '' AND ` + column + ` NOT IN (SELECT id FROM ` + of + `)`
	switch table {
	case "pods":
		where += ` AND ` + lasts
	case "endpoints":
		where += ` AND deleted_at IS NULL`
	}
	return FlawRule{
		Kind: what + " that names a " + thing + " that is gone",
		Find: `SELECT id, ` + column + ` FROM ` + table + ` WHERE ` + where,
		Does: advice,
	}
}

// Mendable reports whether there is a way to mend it that loses nothing that anybody could use.
func (r FlawRule) Mendable() bool { return len(r.Mend) > 0 }

// Most gives Find with at most so many rows.
func (r FlawRule) Most(rows string) string {
	return strings.Join([]string{`SELECT * FROM (`, r.Find, `) found LIMIT `, rows}, "")
}

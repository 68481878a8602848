package sqlite

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMigrate_SecondForgetsWhatOutlivedItsOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	pool, err := sql.Open("sqlite", dsn(path, true, full))
	require.NoError(t, err)

	defer func() { require.NoError(t, pool.Close()) }()
	pool.SetMaxOpenConns(1)
	_, err = pool.Exec(migrations()[0].text + `;
INSERT INTO pods SELECT NULL, 'up', 'u', 'n', 'i', 'args', 1, '[]', '{"A":"secret"}', '', NULL, NULL, NULL, NULL, NULL, NULL, 'c', 2, 4,
'SECURE', '', '', '', '', '[]', 0, 0, 0, 0.1, 'RUNNING', 0, '', 1, 1, 1, NULL, 1;
INSERT INTO pods SELECT NULL, 'gone', user_id, name, image, args, disk_gb, ports, env, registry_id, persistent_gb, persistent_path,
network_volume_id, network_path, gpu_id, gpu_count, cpu_id, cpu_vcpus, cpu_memory_gb, cloud, data_center_id, host_id, template_id, cluster_id,
devices, network_address, global_networking, locked, cost_per_hour, 'TERMINATED', 1, reason, version, created_at, started_at, restart_at, moved_at FROM pods;
INSERT INTO endpoints SELECT NULL, id, 'u', id, 'QUEUE', 0, 'i', '', 1, '[]', '{}', '', NULL, NULL, NULL, NULL, NULL, '[]', '[]', '[]', '', 0, 1, 1,
'QUEUE_DELAY', 4, 1, 'OFF', 1, 1, NULL FROM (SELECT 'counted' AS id UNION ALL SELECT 'uncounted');
INSERT INTO job_counts VALUES ('counted', 1, 2, 3, 4, 5), ('deleted', 1, 2, 3, 4, 5);
INSERT INTO releases VALUES (NULL, 'r', 'counted', 1, '', '[]', '[]', '[]', 1), (NULL, 's', 'deleted', 1, '', '[]', '[]', '[]', 1);
INSERT INTO workers VALUES (NULL, 'worker', 'counted', 1, 'i', NULL, NULL, NULL, NULL, NULL, 1, '', '', '[]', 0, 1, NULL);
INSERT INTO system_lines VALUES ('up', 1, 'x'), ('gone', 1, 'x'), ('worker', 1, 'x'), ('nobody', 1, 'x');
PRAGMA user_version = 1`)
	require.NoError(t, err)

	c, err := pool.Conn(t.Context())
	require.NoError(t, err)
	require.NoError(t, migrate(t.Context(), c, migrations()))
	require.NoError(t, c.Close())

	for query, want := range map[string]string{
		"SELECT group_concat(id || env || args) FROM pods":                        `up{"A":"secret"}args,gone{}`,
		"SELECT group_concat(endpoint_id || in_queue || retried) FROM job_counts": "counted15,uncounted00",
		"SELECT group_concat(id) FROM releases":                                   "r",
		"SELECT group_concat(id) FROM (SELECT id FROM system_lines ORDER BY id)":  "up,worker",
		"SELECT count(*) FROM runtimes":                                           "0",
	} {
		var got string
		require.NoError(t, pool.QueryRow(query).Scan(&got), query)
		require.Equal(t, want, got, query)
	}
}

package app_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// charged is a server on a frozen clock, beside its database.
type charged struct {
	life

	data string
}

func newCharged(t *testing.T, retention string) *charged {
	data := t.TempDir()
	s := start(t, app.Config{Data: data, TestControls: true, ChargeRetention: retention})
	s.Clock().Freeze()
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &charged{life{T: t, s: s, key: s.FirstKey()}, data}
}

// rows counts those of a table. The database is open no longer: the load of a state puts another one in its place.
func (c *charged) rows(table string) (n int) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(c.data, "berth.db"))
	require.NoError(c, err)
	defer func() { require.NoError(c, db.Close()) }()
	require.NoError(c, db.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
	return n
}

// control asks the test controls.
func (c *charged) control(want int, method, path, body string) map[string]any {
	return c.askAs(c.s.ControlsKey(), want, method, "/_berth/"+path, body)
}

// bills gives what is billed by the month, in detail, and what all cost.
func (c *charged) bills() any {
	const always = "&startTime=2000-01-01T00:00:00Z&endTime=2300-01-01T00:00:00Z"
	month := c.ask(200, "GET", "/v2/billing/pods?bucketSize=month"+always, "")
	volumes := c.ask(200, "GET", "/v2/billing/network-volumes?bucketSize=year"+always, "")
	costs := c.control(200, "GET", "costs?by=user", "")
	return []any{month, volumes["records"], costs["costs"], costs["total"]}
}

func TestChargeRetention_IsOnTheClockOfTests(t *testing.T) {
	t.Parallel()
	c := newCharged(t, "720h")
	pod := c.make("/v2/pods", `{"name":"p","image":"i","cpu":{"id":"cpu3g","vcpuCount":2}}`)
	volume := c.make("/v2/network-volumes", `{"name":"v","size":10,"dataCenter":"EU-RO-1"}`)
	c.advance(50 * time.Hour)
	c.ask(204, "DELETE", pod, "")
	c.ask(204, "DELETE", volume, "")
	c.advance(24 * time.Hour)
	require.Equal(t, []int{2, 0}, []int{c.rows("charges"), c.rows("charge_sums")})
	before := c.bills()

	c.advance(10 * 24 * time.Hour)
	require.Equal(t, 2, c.rows("charges"), "not yet")
	c.control(204, "PUT", "states/before", "")
	c.advance(20 * 24 * time.Hour)
	require.Zero(t, c.rows("charges"))
	require.GreaterOrEqual(t, c.rows("charge_sums"), 2*3, "a pod and a volume, three or four days each")
	require.Equal(t, before, c.bills())

	c.control(204, "PUT", "states/after", "")
	c.control(204, "POST", "reset", "")
	require.Zero(t, c.rows("charge_sums"))
	require.NotEqual(t, before, c.bills())
	c.control(204, "POST", "states/after/load", "")
	require.Equal(t, before, c.bills())
	c.control(204, "POST", "states/before/load", "")
	require.Equal(t, 2, c.rows("charges"))
	require.Zero(t, c.rows("charge_sums"))
	require.Equal(t, before, c.bills())
}

func TestChargeRetention_Forever(t *testing.T) {
	t.Parallel()
	c := newCharged(t, "forever")
	pod := c.make("/v2/pods", `{"name":"p","image":"i","cpu":{"id":"cpu3g","vcpuCount":2}}`)
	c.advance(time.Hour)
	c.ask(204, "DELETE", pod, "")
	for range 3 {
		c.advance(300 * 24 * time.Hour)
	}
	require.Equal(t, []int{1, 0}, []int{c.rows("charges"), c.rows("charge_sums")})

	for _, wrong := range []string{"0", "0s", "-1h", "always", "90"} {
		_, err := app.Start(t.Context(), app.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", ChargeRetention: wrong})
		require.ErrorContains(t, err, "charge-retention")
		require.ErrorContains(t, err, "it must be a duration longer than 0, such as 2160h, or forever")
	}
}

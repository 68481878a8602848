package control

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// endpointWrites is a store that counts how often an endpoint that there is is written.
type endpointWrites struct {
	store.Store
	count int
}

func (s *endpointWrites) Write(ctx context.Context, f func(store.Tx) error) error {
	return s.Store.Write(ctx, func(tx store.Tx) error { return f(endpointWriter{tx, s}) })
}

type endpointWriter struct {
	store.Tx
	of *endpointWrites
}

func (tx endpointWriter) UpdateEndpoint(e compute.Endpoint) error {
	tx.of.count++
	return tx.Tx.UpdateEndpoint(e)
}

func TestEndpoints_DeclareMakesAnEndpointOnce(t *testing.T) {
	t.Parallel()
	n, q, clock := openEndpoints(t)
	writes := &endpointWrites{Store: n.store}
	n.store = writes
	ctx := t.Context()
	d := NewEndpoint{Name: "one", Image: "first", WorkersMin: 1, WorkersMax: 4, IdleTimeout: 7 * time.Second}
	e, err := n.Declare(ctx, "u", d)
	require.NoError(t, err)
	require.NoError(t, compute.CheckEndpointID(e.ID))
	require.Equal(t, compute.Endpoint{
		ID: e.ID, UserID: "u", Name: "one", Type: compute.QueueEndpoint, Declared: true, Image: "first", Ports: []string{}, Env: map[string]string{},
		DataCenterIDs: []string{}, Compliance: []string{}, VolumeIDs: []compute.VolumeID{}, WorkersMin: 1, WorkersMax: 4, IdleTimeout: 7 * time.Second,
		Scaler: compute.ByDelay, ScalerValue: 4, Timeout: 600 * time.Second, FlashBoot: compute.FlashBootOff, Version: 1, CreatedAt: clock.Wall(),
	}, e)
	stored, err := n.Get(ctx, "u", e.ID)
	require.NoError(t, err)
	require.Equal(t, e, stored)

	clock.Advance(time.Hour)
	again, err := n.Declare(ctx, "u", d)
	require.NoError(t, err)
	require.Equal(t, e, again)
	require.Zero(t, writes.count, "a start without a change needs no room on the disk")
	require.Len(t, n.releases(t, e.ID), 1)

	d.WorkersMax, d.Scaler, d.ScalerValue = 9, compute.ByCount, 2
	again, err = n.Declare(ctx, "u", d)
	require.NoError(t, err)
	require.Equal(t, []any{e.ID, 9, compute.ByCount, 2.0, int64(1)}, []any{again.ID, again.WorkersMax, again.Scaler, again.ScalerValue, again.Version})
	require.Equal(t, 1, writes.count)
	require.Len(t, n.releases(t, e.ID), 1, "its workers are made of the same")

	d.Image, d.Env = "second", map[string]string{"A": "1"}
	again, err = n.Declare(ctx, "u", d)
	require.NoError(t, err)
	require.EqualValues(t, 2, again.Version)
	require.Equal(t, e.CreatedAt, again.CreatedAt)
	releases := n.releases(t, e.ID)
	require.Len(t, releases, 2)
	require.Equal(t, []any{int64(2), compute.UserID("")}, []any{releases[0].Version, releases[0].CreatedBy}, "nobody but the operator made it")
	require.Equal(t, []compute.FieldChange{
		{Field: "image", Old: []byte(`"first"`), New: []byte(`"second"`)}, {Field: "env", Old: []byte(`{}`), New: []byte(`{"A":"1"}`)},
	}, releases[0].Diff)
	require.Empty(t, releases[1].CreatedBy)

	require.Len(t, q.endpoints, 4, "the queue is told each time: it may have been started just now")
	require.Equal(t, "second", q.endpoints[3].Image)
}

func TestEndpoints_DeclareGivesTheIDThatIsAskedFor(t *testing.T) {
	t.Parallel()
	n, q, _ := openEndpoints(t)
	ctx := t.Context()
	id, other := compute.EndpointID(compute.FixedID("one")), compute.EndpointID(compute.FixedID("other"))
	e, err := n.Declare(ctx, "u", NewEndpoint{ID: id, Name: "one", Image: "i"})
	require.NoError(t, err)
	require.Equal(t, id, e.ID)
	for _, same := range []compute.EndpointID{id, ""} {
		e, err = n.Declare(ctx, "u", NewEndpoint{ID: same, Name: "one", Image: "i"})
		require.NoError(t, err)
		require.Equal(t, id, e.ID)
	}
	created := n.created(t, cpuEndpoint("of a user"))
	q.endpoints = nil

	for says, d := range map[string]NewEndpoint{
		"the declared endpoint one has the id " + string(id) + " since it was made, and cannot get " + string(other): {ID: other, Name: "one"},
		"cannot get the id " + string(id) + ": the endpoint one has it":                                              {ID: id, Name: "two"},
		"cannot get the id " + string(created.ID) + ": the endpoint of a user has it":                                {ID: created.ID, Name: "two"},
	} {
		_, err := n.Declare(ctx, "u", d)
		require.Equal(t, compute.Conflict, compute.CodeOf(err))
		require.ErrorContains(t, err, says)
	}
	_, err = n.Declare(ctx, "u", NewEndpoint{ID: "short", Name: "two"})
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.Empty(t, q.endpoints)

	theirs, err := n.Declare(ctx, "v", NewEndpoint{Name: "one", Image: "j"})
	require.NoError(t, err)
	require.NotEqual(t, id, theirs.ID, "each user has names of their own")
	second, err := n.Declare(ctx, "u", NewEndpoint{ID: other, Name: "two", Image: "i"})
	require.NoError(t, err)
	require.Equal(t, other, second.ID)
}

func TestEndpoints_DeclaredOnesChangeInWhatActsAtOnceAlone(t *testing.T) {
	t.Parallel()
	n, _, _ := openEndpoints(t)
	ctx := t.Context()
	e, err := n.Declare(ctx, "u", NewEndpoint{Name: "one", Image: "i", WorkersMax: 3})
	require.NoError(t, err)
	_, err = n.Update(ctx, "u", e.ID, EndpointChange{Image: new("evil"), WorkersMax: new(int64(5))})
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	changed, err := n.Update(ctx, "u", e.ID, EndpointChange{Image: new("i"), WorkersMax: new(int64(5))})
	require.NoError(t, err)
	require.Equal(t, 5, changed.WorkersMax)
	require.EqualValues(t, 1, changed.Version)
	require.Nil(t, changed.GPU)
	require.Empty(t, changed.CPUs)
}

func TestCheckDeclared_NamesEachFieldThatWouldChange(t *testing.T) {
	t.Parallel()
	e := compute.Endpoint{
		Name: "n", Image: "i", Args: "-a", DiskGB: 5, Ports: []string{"80/http"}, Env: map[string]string{"A": "1"}, RegistryID: "r", TemplateID: "t",
		DataCenterIDs: []string{"d"}, Compliance: []string{"GDPR"}, VolumeIDs: []compute.VolumeID{"v"}, Environment: "f",
	}
	same := EndpointChange{
		Name: &e.Name, Image: &e.Image, Args: &e.Args, DiskGB: &e.DiskGB, Ports: slices.Clone(e.Ports), Env: maps.Clone(e.Env), RegistryID: &e.RegistryID,
		TemplateID: &e.TemplateID, DataCenterIDs: slices.Clone(e.DataCenterIDs), Compliance: slices.Clone(e.Compliance), VolumeIDs: slices.Clone(e.VolumeIDs),
		GlobalIDs: []compute.VolumeID{}, Environment: &e.Environment,
	}
	require.NoError(t, checkDeclared(e, same))
	require.NoError(t, checkDeclared(e, EndpointChange{WorkersMax: new(int64(1)), IdleTimeout: new(time.Second)}))

	for name, x := range map[string]EndpointChange{
		"name": {Name: new("m")}, "image": {Image: new("j")}, "args": {Args: new("-b")}, "disk": {DiskGB: new(int64(6))}, "ports": {Ports: []string{}},
		"env": {Env: map[string]string{}}, "registry": {RegistryID: new(compute.RegistryID(""))}, "template": {TemplateID: new(compute.TemplateID("x"))},
		"gpu": {GPU: &EndpointGPUChange{}}, "cpu": {CPUs: []compute.CPU{}}, "dataCenterIds": {DataCenterIDs: []string{}}, "compliance": {Compliance: []string{}},
		"networkVolumes": {VolumeIDs: []compute.VolumeID{}}, "mounts.global": {GlobalIDs: []compute.VolumeID{"g"}},
		"flashEnvironmentId": {Environment: new(compute.FlashEnvironmentID(""))}, "image, template": {Image: new("j"), Template: &TemplateChange{}},
	} {
		err := checkDeclared(e, x)
		require.EqualError(t, err, "CONFLICT: "+name+": the endpoint is declared by the server's settings, which alone change it")
	}
}

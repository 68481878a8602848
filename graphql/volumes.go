package graphql

import (
	"context"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// CreateNetworkVolume is the mutation createNetworkVolume.
func (m mutations) CreateNetworkVolume(ctx context.Context, input graph.CreateNetworkVolumeInput) (*graph.NetworkVolume, error) {
	n := control.NewVolume{Name: value(input.Name), SizeGB: int64(value(input.Size)), DataCenterID: value(input.DataCenterID)}
	var bad violations
	bad.must(n.Name != "", "name", "is required")
	volumeSize(&bad, n.SizeGB)
	bad.must(n.DataCenterID != "", "dataCenterId", "is required")
	if err := bad.err(); err != nil {
		return nil, err
	}
	return m.showVolume(m.Control.CreateVolume(ctx, user(ctx), n))
}

// UpdateNetworkVolume is the mutation updateNetworkVolume.
func (m mutations) UpdateNetworkVolume(ctx context.Context, input graph.UpdateNetworkVolumeInput) (*graph.NetworkVolume, error) {
	change := control.VolumeChange{Name: input.Name}
	var bad violations
	bad.must(input.Name == nil || *input.Name != "", "name", "must not be empty")
	if input.Size != nil {
		size := int64(*input.Size)
		volumeSize(&bad, size)
		change.SizeGB = &size
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	return m.showVolume(m.Control.UpdateVolume(ctx, user(ctx), compute.VolumeID(input.ID), change))
}

// volumeSize holds the size against what REST has.
func volumeSize(bad *violations, gb int64) {
	bad.must(gb >= 10 && gb <= 4096, "size", "must be 10 to 4096")
}

// DeleteNetworkVolume is the mutation deleteNetworkVolume. A client looks for the words for a volume that does not exist
// (rule graphql.volumes.delete.unknown).
func (m mutations) DeleteNetworkVolume(ctx context.Context, input graph.DeleteNetworkVolumeInput) (*bool, error) {
	err := m.Control.DeleteVolume(ctx, user(ctx), compute.VolumeID(input.ID))
	if compute.CodeOf(err) == compute.NotFound {
		err = compute.Errorf(compute.NotFound, "Tried to delete nonexistent network volume %q", input.ID)
	}
	return nil, err
}

// NetworkVolumes is User.networkVolumes: one read, however many there are.
func (u users) NetworkVolumes(ctx context.Context, _ *graph.User) ([]*graph.NetworkVolume, error) {
	volumes, err := u.volumes(ctx)
	return views(volumes, u.volumeView), err
}

// volumes reads the user's volumes, as far as the document has room.
func (s Services) volumes(ctx context.Context) ([]compute.Volume, error) {
	return listed(ctx, s.Answers, "/v2/network-volumes", s.Control.ListVolumes)
}

func (s Services) showVolume(v compute.Volume, err error) (*graph.NetworkVolume, error) {
	if err != nil {
		return nil, err
	}
	return s.volumeView(v), nil
}

func (s Services) volumeView(v compute.Volume) *graph.NetworkVolume {
	id := string(v.ID)
	one := &graph.NetworkVolume{ID: &id, Name: &v.Name, Size: number(v.SizeGB), DataCenterID: &v.DataCenterID}
	if d, ok := s.Control.Catalog().DataCenter(v.DataCenterID); ok { // else the catalog does not have it any more
		one.DataCenter = dataCenterView(d)
	}
	return one
}

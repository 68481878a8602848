package httpapi

import (
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

func newVolume(r rest.CreateNetworkVolumeRequest) control.NewVolume {
	return control.NewVolume{Name: r.Name, SizeGB: r.Size, DataCenterID: r.DataCenter, Type: compute.VolumeType(value(r.Type))}
}

func volumeChange(r rest.UpdateNetworkVolumeRequest) control.VolumeChange {
	return control.VolumeChange{Name: r.Name, SizeGB: r.Size}
}

// volumeView fills every field of the published network volume.
func volumeView(v compute.Volume) rest.NetworkVolume {
	return rest.NetworkVolume{ID: string(v.ID), Name: v.Name, Size: v.SizeGB, DataCenter: v.DataCenterID, Type: rest.VolumeType(v.Type)}
}

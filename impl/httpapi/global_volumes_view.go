package httpapi

import (
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
)

// globalVolumeView fills every field of the published global volume.
func globalVolumeView(v compute.GlobalVolume) rest.GlobalVolume {
	return rest.GlobalVolume{ID: string(v.ID), Name: v.Name, CreatedAt: v.CreatedAt, CreatedByUserID: orNull(v.UserID)}
}

package httpapi

import (
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
)

// registryView fills every field of the published credential, which does not show what it holds.
func registryView(r compute.Registry) rest.Registry {
	return rest.Registry{ID: string(r.ID), Name: r.Name}
}

// delegationView fills every field of the published delegation.
func delegationView(d compute.Delegation) rest.EcrDelegation {
	host := d.Host()
	return rest.EcrDelegation{
		ID: string(d.ID), Name: orNull(d.Name), DelegatorUserID: string(d.UserID), AwsUser: d.Account, AwsRegion: d.Region,
		Repository: d.Repository, Tag: d.Tag, DockerRegistryURI: &host, CreatedAt: d.CreatedAt,
	}
}

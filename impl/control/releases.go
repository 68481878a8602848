package control

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// EndpointReleases are a page of the releases of an endpoint, and how far its workers have taken the latest one by now.
type EndpointReleases struct {
	Latest    int64 // version
	Releases  []EndpointRelease
	Next      compute.Position // where the next page begins; zero: there is none
	Workers   int64            // of all releases
	OfTheLast int64            // workers of the latest one
}

// EndpointRelease is a release with the number of workers that are made of it.
type EndpointRelease struct {
	compute.Release
	Workers int64
}

// Releases gives a page of the releases of the user's endpoint, newest first. NotFound as for Get.
func (n *Endpoints) Releases(ctx context.Context, user compute.UserID, id compute.EndpointID, p compute.Page) (all EndpointReleases, err error) {
	err = n.store.Read(ctx, func(tx store.Tx) error {
		e, err := ownEndpoint(tx, user, id)
		if err != nil {
			return err
		}
		releases, next, err := tx.PageReleases(id, p)
		if err != nil {
			return err
		}

		workers, err := tx.ListWorkersOf(id)
		if err != nil {
			return err
		}
		count := map[int64]int64{}
		for _, w := range workers {
			count[w.Version]++
		}

		all = EndpointReleases{Latest: e.Version, Next: next, Workers: int64(len(workers)), OfTheLast: count[e.Version]}
		for _, r := range releases {
			all.Releases = append(all.Releases, EndpointRelease{r, count[r.Version]})
		}

		return nil
	})

	return all, err
}

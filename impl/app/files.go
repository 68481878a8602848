package app

import (
	"context"

	"github.com/berthdev/berth/impl/control"
)

// prepareFleet reads the catalog and the hosts beside what else a start does: it takes milliseconds. The data directory must exist.
func prepareFleet(ctx context.Context, c Config) *beside[control.PreparedFleet] {
	return makeBeside(func() (control.PreparedFleet, error) {
		catalog, fleet, err := catalogAndFleet(ctx, c)
		if err != nil {
			return control.PreparedFleet{}, err
		}
		return control.PrepareFleet(catalog, fleet), nil
	})
}

func catalogAndFleet(ctx context.Context, c Config) (catalog control.Catalog, fleet []control.Host, err error) {
	if c.Catalog == "" {
		catalog, err = control.BuiltInCatalog()
	} else {
		catalog, err = control.LoadCatalog(c.Catalog)
	}
	if err != nil {
		return catalog, nil, err
	}

	switch c.Fleet {
	case "":
		return catalog, control.SimulatedFleet(catalog), nil
	case FleetMachine:
		host, err := machine(ctx, c.Data, catalog)
		return catalog, []control.Host{host}, err
	default:
		fleet, err = control.LoadFleet(c.Fleet, catalog)
		return catalog, fleet, err
	}
}

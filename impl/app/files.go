package app

import (
	"context"
	"errors"

	"github.com/berthdev/berth/impl/control"
)

// files are what a start reads besides the database.
type files struct {
	placement *control.Placement // by the catalog and the fleet, not open
	secret    []byte             // key of what is stored encrypted
	made      bool               // the secret is a new one
	err       error
}

// readFiles reads them beside what else a start does: each of the two takes milliseconds. The data directory must exist.
func readFiles(ctx context.Context, c Config) <-chan files {
	read := make(chan files, 1)
	go func() {
		defer close(read)
		var f files
		var noSecret error
		catalog, fleet, noFleet := catalogAndFleet(ctx, c)
		f.secret, f.made, noSecret = secretKey(c.Data)
		if f.err = errors.Join(noFleet, noSecret); f.err == nil {
			f.placement = control.PreparePlacement(catalog, fleet)
		}
		read <- f
	}()
	return read
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

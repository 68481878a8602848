package app

import (
	"context"
	"fmt"

	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/setting"
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
		err = ofSetting("catalog", c.Catalog, err)
	}
	if err != nil {
		return catalog, nil, err
	}

	kind, err := runtime.Find(c.Runtime)
	switch {
	case err != nil:
		return catalog, nil, err
	case kind.Can.Schedules && c.Fleet != "":
		return catalog, nil, ofSetting("fleet", c.Fleet, fmt.Errorf("the runtime %s has hosts of its own, and takes no others", kind.Name))
	case kind.Can.Schedules:
		return catalog, nil, nil // it reports them
	}

	switch c.Fleet {
	case "":
		return catalog, control.SimulatedFleet(catalog), nil
	case FleetMachine:
		host, err := machine(ctx, c.Data, catalog)
		return catalog, []control.Host{host}, err
	default:
		if fleet, err = control.LoadFleet(c.Fleet, catalog); err == nil {
			err = rulesOf(kind, c.RuntimeSettings, nil).CheckEngines(fleet)
		}
		return catalog, fleet, ofSetting("fleet", c.Fleet, err)
	}
}

// ofSetting names the setting whose value cannot be used, such as a file, or not beside another setting.
func ofSetting(name, value string, err error) error {
	if err == nil {
		return nil
	}
	return &setting.Error{Name: name, Value: value, Cause: err}
}

package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store/postgres"
)

// examineStore reports how the database stands that the servers share, and which of them owns it.
func examineStore(ctx context.Context, url string) Finding {
	f := findingOf("store", runtime.Report{})
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	s, err := postgres.Examine(ctx, url)
	f.Detail = s.Where
	if err != nil {
		f.Detail += ": " + err.Error()
		return f
	}

	f.Available = s.Schema <= s.Known && !s.ReadOnly
	f.Detail = fmt.Sprintf("PostgreSQL %s at %s, schema %d of %d", s.Version, s.Where, s.Schema, s.Known)
	switch {
	case s.Owner.ID == "":
		f.Detail += "; no server has owned it yet"
	case s.Owner.Left <= 0:
		f.Detail += fmt.Sprintf("; no server owns it now (epoch %d)", s.Owner.Epoch)
	default:
		f.Detail += fmt.Sprintf("; the server at %s owns it (epoch %d, for %s more)", s.Owner.Address, s.Owner.Epoch, s.Owner.Left.Round(time.Second/10))
	}

	var addresses []string
	for _, r := range s.Replicas {
		addresses = append(addresses, r.Address)
	}
	if len(addresses) > 0 {
		f.Detail += "; servers: " + strings.Join(addresses, ", ")
	}

	if s.Schema > s.Known {
		f.Warnings = append(f.Warnings, "a newer berth wrote it: this program refuses it")
	}
	if s.ReadOnly {
		f.Warnings = append(f.Warnings, "it is a standby, which takes no writes")
	}
	if s.Standbys == "" {
		f.Warnings = append(f.Warnings, "what is acknowledged is on this one server: synchronous_standby_names is empty")
	}
	return f
}

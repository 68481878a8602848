package berth

import (
	"context"
	nethttp "net/http" // http is a name of the tests of this package

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/controlsclient"
)

// Who changed what, as spec/controls.yaml describes it.
type (
	// AuditFilter says which changes are meant, and which page of them. What is nil matches all.
	AuditFilter = controls.ListAuditParams
	// AuditPage is a page of changes, the last one first.
	AuditPage = controls.AuditList
	// AuditEntry is a change: who made it by which operation, and of what, never to what.
	AuditEntry = controls.AuditEntry
	// RefusalFilter says which refusals are meant, and which page of them. What is nil matches all.
	RefusalFilter = controls.ListRefusalsParams
	// RefusalPage is a page of refusals, the last minute first.
	RefusalPage = controls.RefusalList
	// Refusal says how often a key was refused in a minute, why, and whom: never the key itself.
	Refusal = controls.Refusal
)

// Audit gives a page of the changes that the filter matches, of all accounts, the last one first, on any runtime. The error is that of a filter
// that makes no sense, or of ctx.
func (s *Server) Audit(ctx context.Context, f AuditFilter) (page AuditPage, err error) {
	err = s.askWith(s.key, &page, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.ListAudit(ctx, &f) })
	return page, err
}

// Refusals gives a page of who was refused that the filter matches, the last minute first, on any runtime. Errors as for Audit.
func (s *Server) Refusals(ctx context.Context, f RefusalFilter) (page RefusalPage, err error) {
	err = s.askWith(s.key, &page, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.ListRefusals(ctx, &f) })
	return page, err
}

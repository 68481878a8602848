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
)

// Audit gives a page of the changes that the filter matches, of all accounts, the last one first, on any runtime. The error is that of a filter
// that makes no sense, or of ctx.
func (s *Server) Audit(ctx context.Context, f AuditFilter) (page AuditPage, err error) {
	err = s.askWith(s.key, &page, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.ListAudit(ctx, &f) })
	return page, err
}

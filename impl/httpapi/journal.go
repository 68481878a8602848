package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/changes"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
)

// ListJournal is GET /_berth/journal.
func (h controlsHandlers) ListJournal(c echo.Context, p controls.ListJournalParams) error {
	entries, dropped := h.Journal.List(journalFilter(p))
	return c.JSON(http.StatusOK, controls.Journal{Entries: views(entries, journalView), Dropped: dropped})
}

// ClearJournal is DELETE /_berth/journal.
func (h controlsHandlers) ClearJournal(c echo.Context) error {
	h.Journal.Clear()
	h.Changes.Note(changes.Event{Kind: changes.Journal, Change: changes.Deleted})
	return c.NoContent(http.StatusNoContent)
}

// GetJournalEntry is GET /_berth/journal/{number}.
func (h controlsHandlers) GetJournalEntry(c echo.Context, number int64) error {
	e, err := h.Journal.Get(number)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, journalView(e))
}

// ExportJournal is GET /_berth/journal.har.
func (h controlsHandlers) ExportJournal(c echo.Context, p controls.ExportJournalParams) error {
	entries, _ := h.Journal.List(journalFilter(controls.ListJournalParams(p)))
	return c.JSON(http.StatusOK, controls.Har{Log: controls.HarLog{
		Version: controls.HarLogVersionN12, Creator: controls.HarCreator{Name: "berth", Version: h.Version}, Entries: views(entries, harView),
	}})
}

// VerifyJournal is POST /_berth/journal/verify.
func (h controlsHandlers) VerifyJournal(c echo.Context) error {
	v := bodyOf[controls.Verification](c)
	var expectations []journal.Expectation
	for i, x := range v.Expectations {
		t := value(x.Times)
		if t.Exactly != nil && (t.AtLeast != nil || t.AtMost != nil) {
			return compute.Errorf(compute.Rejected, "/expectations/%d/times: exactly stands alone", i)
		}
		if t.AtLeast != nil && t.AtMost != nil && *t.AtLeast > *t.AtMost {
			return compute.Errorf(compute.Rejected, "/expectations/%d/times: atLeast is more than atMost", i)
		}
		expectations = append(expectations, expectation(x))
	}

	failures, dropped, err := h.Journal.Verify(contextOf(c), expectations, value(v.InOrder))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, controls.VerificationResult{Ok: len(failures) == 0, Failures: views(failures, failureView), Dropped: dropped})
}

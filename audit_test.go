package berth_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

func TestAudit_SaysWhoMadeWhat(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	status, answer := send(t, "PUT", s.URL()+"/v2/account/ssh-keys", s.Key(), `{"keys":[]}`)
	require.Equal(t, 200, status, answer)
	page, err := s.Audit(t.Context(), berth.AuditFilter{Operation: new("updateSshKeys")})
	require.NoError(t, err)
	require.Len(t, page.Entries, 1)
	require.EqualValues(t, "ssh-keys", page.Entries[0].Kind)
	require.EqualValues(t, "changed", page.Entries[0].Change)
	require.NotEmpty(t, page.Entries[0].Client)
	_, err = s.Audit(t.Context(), berth.AuditFilter{Cursor: new("none")})
	require.Error(t, err)
}

func TestRefusals_CountsWhoWasRefused(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	for range 2 {
		status, _ := send(t, "GET", s.URL()+"/v2/pods", "nonsense", "")
		require.Equal(t, 401, status)
	}
	page, err := s.Refusals(t.Context(), berth.RefusalFilter{})
	require.NoError(t, err)
	counted := int64(0)
	for _, r := range page.Refusals { // two, if a minute began between them
		require.EqualValues(t, "malformed", r.Reason)
		counted += r.Count
	}
	require.EqualValues(t, 2, counted)
	_, err = s.Refusals(t.Context(), berth.RefusalFilter{Cursor: new("none")})
	require.Error(t, err)
}

package httpapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/validate"
)

func TestNear_NamesTheMemberThatMayHaveBeenMeant(t *testing.T) {
	t.Parallel()
	script := &controls.Script{}
	unknown := func(where string) validate.Violation { return validate.Violation{Where: where, Unknown: true} }
	for where, want := range map[string]string{
		"/answer":                     "; the closest is answers",
		"/answers/0/delais":           "; the closest is delay",
		"/answers/12/delay/fixd":      "; the closest is fixed",
		"/coldStart/flashboot":        "; the closest is flashBoot",
		"/answers/0/progress/0/aftre": "; the closest is after",
		"/answers/0/nosuch/member":    "",
		"/seed/member":                "",
		"/coldStart/flashBoot/chanse": "; the closest is chance",
	} {
		require.Equal(t, want, near(unknown(where), script), where)
	}
	require.Empty(t, near(validate.Violation{Where: "/answers/0/delay/fixed", Message: "must be an integer"}, script), "it is there")
	require.Empty(t, near(unknown("/minute"), &controls.Quotas{}), "other bodies are short")
	require.Empty(t, near(unknown("/minute"), nil))
}

func TestRefusals_AreOfTakesAlone(t *testing.T) {
	t.Parallel()
	for route, want := range map[string]bool{
		"/v2/:endpointId/job-take/:workerId": true, "/v2/:endpointId/job-take-batch/:workerId": true, "/v2/:endpointId/job-stop/:workerId": false,
		"/v2/:endpointId/run": false, "/v2/pods/:id": false, "/job-take": false, "": false,
	} {
		require.Equal(t, want, isTake(route), route)
	}
}

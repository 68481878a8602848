package httpapi_test

import (
	"encoding/json"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/limit"
)

func TestLongOutputs_ComeInPiecesWhereThereIsNoRoomForAllOfThem(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(time.Second)
	e := openWith(t, func(s *httpapi.Services) { s.Answers = answers })
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	base := "/v2/" + string(e.endpoint) + "/"
	var job struct{ ID string }
	require.NoError(t, json.Unmarshal(e.call("POST", base+"run", token, `{"input":{}}`).Body.Bytes(), &job))
	require.Equal(t, 200, e.call("GET", base+"job-take/w", token, "").Code)
	output := `"` + strings.Repeat("0123456789", 70_000) + `"`
	require.Equal(t, 200, e.call("POST", base+"job-done/w/"+job.ID, token, `{"output":`+output+`}`).Code)

	read := func() *httptest.ResponseRecorder { return e.call("GET", base+"status/"+job.ID, token, "") }
	requireWhole := func(answer *httptest.ResponseRecorder, how string) {
		require.Equal(t, 200, answer.Code, how)
		require.Equal(t, strconv.Itoa(answer.Body.Len()), answer.Header().Get("Content-Length"), how)
		var status struct {
			Status string
			Output json.RawMessage
		}
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &status), how)
		require.Equal(t, "COMPLETED", status.Status, how)
		require.True(t, string(status.Output) == output, how)
	}
	requireWhole(read(), "all of it is in memory")

	whole, err := answers.Whole(t.Context(), "others", 32_000_000)
	require.NoError(t, err, "what it had is given back")
	pieces, err := answers.Piece(t.Context(), "others", 48_000_000-compute.PieceSize)
	require.NoError(t, err)
	for range 2 {
		requireWhole(read(), "there is memory for one piece")
	}
	last, err := answers.Piece(t.Context(), "one", compute.PieceSize)
	require.NoError(t, err, "it is given back")
	busy := read()
	require.Equal(t, 503, busy.Code)
	require.Equal(t, limit.RetryAfter, busy.Header().Get("Retry-After"))

	for _, leave := range []func(){whole, pieces, last} {
		leave()
	}
	requireWhole(read(), "there is room again")
}

package graphql

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

func TestUnread_SaysWhyABodyWasNotRead(t *testing.T) {
	t.Parallel()
	full := &compute.Error{Code: compute.Unavailable, Detail: "too many large bodies come at once", Cause: limit.ErrBusy}
	for _, of := range []struct {
		err    error
		status int
		code   compute.Code
		detail string
	}{
		{full, http.StatusServiceUnavailable, compute.Unavailable, full.Detail},
		{limit.ErrTooLarge, http.StatusRequestEntityTooLarge, compute.Rejected, "the body is over the limit of 10 bytes"},
		{fmt.Errorf("read: %w", os.ErrDeadlineExceeded), http.StatusRequestTimeout, compute.Rejected, "the body came too slowly"},
		{io.ErrUnexpectedEOF, http.StatusBadRequest, compute.Rejected, "the body ended early"},
	} {
		require.Equal(t, of.status, statusOf(of.err), "%v", of.err)
		err := unread(of.err, 10)
		require.Equal(t, of.code, compute.CodeOf(err), "%v", of.err)
		requireDetail(t, of.detail, err, of.detail)
	}
	require.ErrorIs(t, unread(full, 10), limit.ErrBusy)
	require.ErrorIs(t, unread(io.ErrUnexpectedEOF, 10), io.ErrUnexpectedEOF)
	require.Equal(t, context.Canceled, unread(context.Canceled, 10), "nobody waits for an answer")
}

func TestParse_BodyHasItsMostValues(t *testing.T) {
	t.Parallel()
	body := func(n int) []byte { // of so many values with the object itself, query, variables and a
		return []byte(`{"query":"{a}","variables":{"a":[` + strings.TrimSuffix(strings.Repeat("0,", n-4), ",") + `]}}`)
	}
	params, err := parse(body(20_000))
	require.NoError(t, err)
	require.Equal(t, "{a}", params.Query)
	require.Len(t, params.Variables["a"], 19_996)
	_, err = parse(body(20_001))
	requireDetail(t, "the body has too many values; the limit is 20000", err)
}

func TestParse_TakesAnObjectWithAQuery(t *testing.T) {
	t.Parallel()
	const unreadable = "the body is not a JSON object with query, and variables where there are some"
	for body, want := range map[string]string{
		`{"query":""}`: "", `{"query":"{a}","operationName":null,"variables":null,"other":[{}]}`: "", `{"query":"{a}","operationName":"b","variables":{"c":1}}`: "",
		`{}`: unreadable, `{"Query":"{a}"}`: unreadable, `7`: unreadable, `"query"`: unreadable, `["query"]`: unreadable, ``: unreadable, `{"query":"{a}"`: unreadable,
		`{"query":7}`: unreadable, `{"query":"{a}","operationName":7}`: unreadable, `{"query":"{a}","variables":[]}`: unreadable, `{"query":"{a}","variables":"b"}`: unreadable,
	} {
		_, err := parse([]byte(body))
		requireDetail(t, want, err, body)
	}
	for _, body := range []string{`{"query":"{a}","query":"{a}"}`, `{"query":"{a}","variables":{"b":1,"b":2}}`} {
		_, err := parse([]byte(body))
		require.Equal(t, compute.Invalid, compute.CodeOf(err), body)
		require.ErrorContains(t, err, "appears twice", body)
	}

	params, err := parse([]byte(`{"query":"{a}","operationName":"b","variables":{"c":12345678901234567890}}`))
	require.NoError(t, err)
	require.Equal(t, "b", params.OperationName)
	require.Equal(t, "12345678901234567890", fmt.Sprint(params.Variables["c"]), "with all its digits")
}

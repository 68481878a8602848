package httpapi

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/validate"
)

func TestReports_NotNumbersAreFoundOutsideOfTexts(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"output":NaN}`:                      `{"output":###}`,
		`[-Infinity,"NaN \" Infinity",NaN]`:   `[-########,"NaN \" Infinity",###]`,
		`["\\",NaN]`:                          `["\\",###]`,
		`[NaN,NaN]NaN`:                        `[###,###]###`,
		`NaNInfinityNaN`:                      `##############`,
		`{"a":N,"b":Inf,"c":Nan,"d":infinity`: `{"a":N,"b":Inf,"c":Nan,"d":infinity`,
		`""NaN`:                               `""###`,
		`"NaN`:                                `"NaN`,
		`NaN"\`:                               `###"\`,
		``:                                    ``,
	} {
		marked := []byte(raw)
		for _, at := range notNumbers([]byte(raw)) {
			marked[at] = '#'
		}
		require.Equal(t, want, string(marked))
	}

	// Each is found as a whole, so there may be two letters more than there is room for.
	require.Len(t, notNumbers(bytes.Repeat([]byte("NaN,"), 400_000)), 1<<20+2)
}

func TestReports_WithNaNWouldBeResults(t *testing.T) {
	t.Parallel()
	finish, stream := worker.Ops[finishJob], worker.Ops[streamJob]
	for raw, want := range map[string]bool{
		`{"output":NaN}`: true,
		`{"output":[NaN,-Infinity,{"a":Infinity}]}`: true,
		`{"output":1}`:                                 false,
		`{"output":NaN`:                                false,
		`{"output":NaN,"stopPod":"yes"}`:               false,
		`{"status":"IN_PROGRESS","output":NaN}`:        false,
		`{"status":"COMPLETED","output":NaN}`:          true,
		`{"status":"IN_PROGRESS","output":"NaN"} true`: false,
	} {
		body := []byte(raw)
		require.Equal(t, want, hasNaN(&finish, body), raw)
		require.Equal(t, raw, string(body), "it is as it was")
	}
	require.True(t, hasNaN(&stream, []byte(`{"output":[NaN]}`)))
	require.False(t, hasNaN(&stream, []byte(`{"output":[NaN]`)))
}

func TestReports_OfProgressAreKnownByTheirBeginning(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"status":"IN_PROGRESS","output":1}`:                 true,
		"{ \"status\" :\n\t\"IN_PROGRESS\"\r , \"output\":1}": true,
		`{"status":"IN_PROGRES","output":1}`:                  false,
		`{"status":"COMPLETED","output":1}`:                   false,
		`{"output":1,"status":"IN_PROGRESS"}`:                 false,
		``:                                                    false,
		strings.Repeat(" ", 23) + `{"status":"IN_PROGRESS","output"`: true,
		strings.Repeat(" ", 24) + `{"status":"IN_PROGRESS","output"`: false,
	} {
		asked := beginning{ReadCloser: io.NopCloser(strings.NewReader(text))}
		require.Equal(t, want, asked.isProgress(true), text)

		read := beginning{ReadCloser: io.NopCloser(strings.NewReader(text))}
		all, err := io.ReadAll(&read)
		require.NoError(t, err)
		require.Equal(t, text, string(all), "what is read passes")
		require.Equal(t, want, read.isProgress(false), text)
		require.LessOrEqual(t, len(read.first), 2*len(progressBegins))
	}

	// A client that waits to be asked for the body is not asked, and what somebody has begun to read is theirs.
	waits := strings.NewReader(`{"status":"IN_PROGRESS"}`)
	require.False(t, (&beginning{ReadCloser: io.NopCloser(waits)}).isProgress(false))
	require.Equal(t, 24, waits.Len())
	begun := &beginning{ReadCloser: io.NopCloser(waits)}
	_, err := io.ReadFull(begun, make([]byte, 5))
	require.NoError(t, err)
	require.False(t, begun.isProgress(true))
	require.Equal(t, 19, waits.Len())
}

func TestReports_RefusedOnesAreResultsToOtherReaders(t *testing.T) {
	t.Parallel()
	schema := func(lines ...string) error {
		return &compute.Error{Code: compute.Invalid, Detail: "it breaks its schema", Fields: lines}
	}
	op := worker.Ops[finishJob]
	noJSON := func(raw string) error {
		_, _, err := op.Decode([]byte(raw))
		require.Error(t, err, raw)
		return &compute.Error{Code: compute.Rejected, Cause: err}
	}
	deep := strings.Repeat("[", 20_000)
	finish, stream := &front{id: finishJob}, &front{id: streamJob}
	for _, c := range []struct {
		err                error
		raw                string
		ofFinish, ofStream bool
	}{
		{schema("/output: is required"), `{"status":"COMPLETED"}`, true, true},
		{schema("query.isStream: must be a boolean", "/output: is required"), `{}`, true, true},
		{schema(": must be an object"), `[1]`, true, true},
		{schema("/status: must be a string"), `{"status":7}`, true, true},
		{schema("/nosuch: is not a known member"), `{"status":"IN_PROGRESS"}`, false, true},
		{schema("query.isStream: must be a boolean"), `{}`, false, false},
		{schema(), `{}`, false, false},
		{&compute.Error{Code: compute.Rejected, Fields: []string{"/output: is wrong"}}, `{}`, false, false},
		{errors.New("another one"), `{}`, false, false},
		{validate.ErrUTF8, `{"output":"\ud800"}`, true, true},
		{validate.ErrUTF8, `{"status":"IN_PROGRESS","output":"\ud800"}`, false, true},
		{validate.ErrUTF8, "{\"output\":\"cut \xe2\x82", true, true},
		{validate.ErrUTF8, "{\"status\":\"IN_PROGRESS\",\"output\":\"cut \xe2\x82", false, true},
		{noJSON(`{"output":`), `{"output":`, true, true},
		{noJSON(``), ``, true, true},
		{noJSON(`<html>`), `<html>`, true, true},
		{noJSON(`{"output":1}}`), `{"output":1}}`, true, true},
		{noJSON(`{"status":"IN_PROGRESS","output":`), `{"status":"IN_PROGRESS","output":`, false, true},
		{validate.ErrDeep, `{"output":` + deep, true, true},
		{validate.ErrDeep, `{"status":"IN_PROGRESS","output":` + deep, false, true},
		{validate.ErrDeep, strings.Repeat(" ", 23) + `{"status":"IN_PROGRESS","output":` + deep, false, true},
		{validate.ErrDeep, strings.Repeat(" ", 24) + `{"status":"IN_PROGRESS","output":` + deep, true, true},
		{validate.ErrDeep, `{"output":[[1]]}`, true, true},
		{validate.ErrDeep, `{"status":"IN_PROGRESS","output":[[1]]}`, false, true},
	} {
		about := c.raw[:min(len(c.raw), 50)]
		require.Equal(t, c.ofFinish, finish.isResult(c.err, []byte(c.raw)), "%v %s", c.err, about)
		require.Equal(t, c.ofStream, stream.isResult(c.err, []byte(c.raw)), "%v %s", c.err, about)
	}
}

func TestReports_ErrorsBecomeTexts(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		``: "", `null`: "", `"boom"`: "boom", `""`: "the handler failed without a message", `{"a":1}`: `{"a":1}`, `7`: "7", `["x"]`: `["x"]`,
	} {
		require.Equal(t, want, errorText([]byte(raw)), raw)
	}
	require.Nil(t, present([]byte("null")))
	require.Equal(t, "nul", string(present([]byte("nul"))))

	for most, want := range map[int]string{0: "", 1: "a", 2: "a", 3: "aé", 4: "aéz", 5: "aéz"} {
		require.Equal(t, want, begin("aéz", most), most)
	}
}

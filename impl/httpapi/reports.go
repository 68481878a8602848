package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/compute"
	jobs "github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/validate"
)

// finishJob and streamJob are the operations by which a worker reports a result and a part of one. Workers do not send a report
// again that was refused: the job would run again on other workers, with the same result, and fail without the reason, or be
// COMPLETED without a part of its stream.
const (
	finishJob = "finishJob"
	streamJob = "streamJob"
)

// reported is checked for the report of a worker. One that is too long to be read is refused and fails its job (rules
// queue.output.limit.report, queue.stream.refused), and so is one with what handlers give and other readers take: NaN or Infinity, which JSON
// does not have, half of a surrogate pair, or values nested too deeply (rules queue.done.nan, queue.done.refused, queue.stream.refused), what
// is JSON and breaks the schema (rules queue.done.schema, queue.stream.refused), or what came whole and is no JSON (rules queue.done.broken,
// queue.stream.refused). What shows progress is only refused, and so is what a connection that broke left incomplete: that is sent again.
func (f *front) reported(op *validate.Op, r *request) error {
	sent, begin := r.Request(), (*beginning)(nil)
	if sent.ContentLength < 0 { // it is read before it shows that it is too long
		begin = &beginning{ReadCloser: sent.Body}
		sent.Body = begin
	}

	err := f.checked(op, r)
	switch {
	case err == nil:
		return nil
	case f.tooLong(op, r):
		if begin == nil {
			begin = &beginning{ReadCloser: sent.Body}
		}
		if !begin.isProgress(sent.Header.Get("Expect") == "") {
			f.failReport(r, fmt.Sprintf("a report of %d bytes is over the limit of %d bytes", max(sent.ContentLength, op.MaxBody+1), op.MaxBody))
		}
	case r.read && compute.CodeOf(err) == compute.Rejected && hasNaN(op, r.raw):
		f.failReport(r, "the output has NaN or Infinity, which JSON does not have")
	case r.read && f.isResult(err, r.raw):
		refused, _ := errors.AsType[*compute.Error](err)
		why := refused.Detail
		if len(refused.Fields) > 0 {
			why = strings.Join(refused.Fields, ", ")
		}
		f.failReport(r, "the report was refused: "+why)
	}

	return err
}

// tooLong reports whether a report was not read because of its length alone.
func (f *front) tooLong(op *validate.Op, r *request) bool {
	e, is := errors.AsType[*echo.HTTPError](r.unread)
	return is && e.Code == http.StatusRequestEntityTooLarge && len(op.Params(r.Param, r.Request().URL.RawQuery, r.Request().Header.Values)) == 0
}

// failReport fails the job of a report that is refused all the same, also if its worker has hung up: the report does not come again.
func (f *front) failReport(r *request, why string) {
	job := compute.JobID(bareID(r.Param("jobId")))
	user, id, err := seatOf(r, r.Param("workerId"))
	if err == nil {
		report := jobs.Report{Error: why}
		err = f.Queue.Finish(context.WithoutCancel(contextOf(r)), user, compute.EndpointID(r.Param("endpointId")), id, job, report)
	}
	if err != nil {
		f.Log.Warn("the job of a report that was refused did not fail", "job", job, "err", err)
	}
}

// isResult reports whether a body that came whole and was refused with the error is a result, or a part of one: nobody sends it again.
func (f *front) isResult(err error, raw []byte) bool {
	shape := breaksSchema(err)
	if !shape && !errors.Is(err, validate.ErrDeep) && !errors.Is(err, validate.ErrUTF8) && !validate.NoJSON(err) {
		return false
	}

	var report struct{ Status json.RawMessage }
	switch broken := json.Unmarshal(raw, &report) != nil; {
	case f.id == streamJob, broken && shape: // no object, which progress is
		return true
	case broken: // or deeper than what reads it here goes, too
		begins := beginning{first: raw[:min(len(raw), 2*len(progressBegins))]}
		return !begins.isProgress(false)
	}
	return string(report.Status) != `"`+string(compute.JobInProgress)+`"`
}

// breaksSchema reports whether the error is about a body that is JSON, and not what it is to be.
func breaksSchema(err error) bool {
	refused, is := errors.AsType[*compute.Error](err)
	return is && refused.Code == compute.Invalid && slices.ContainsFunc(refused.Fields, func(line string) bool {
		return strings.HasPrefix(line, "/") || strings.HasPrefix(line, ":") // a JSON Pointer, and no name of a parameter
	})
}

// hasNaN reports whether a body that is no JSON would be a result, or a part of one, if there were numbers in place of NaN and
// Infinity. The body is as it was afterwards.
func hasNaN(op *validate.Op, raw []byte) bool {
	places := notNumbers(raw)
	if len(places) == 0 {
		return false
	}
	was := make([]byte, len(places))
	for i, at := range places {
		was[i] = raw[at]
	}
	defer func() {
		for i, at := range places {
			raw[at] = was[i]
		}
	}()
	for i, at := range places {
		raw[at] = ' '
		if i == 0 || places[i-1] != at-1 {
			raw[at] = '0'
		}
	}

	decoded, violations, err := op.Decode(raw)
	if err != nil || len(violations) > 0 {
		return false
	}
	report, ok := decoded.(*worker.Report)
	return !ok || value(report.Status) != string(compute.JobInProgress)
}

// notNumbers gives the places of the letters of NaN and Infinity that are outside of texts; a minus before them may stay. It
// gives at most mostNotNumbers: the rest is no better.
func notNumbers(raw []byte) (places []int) {
	for i := 0; i < len(raw) && len(places) < mostNotNumbers; i++ {
		switch raw[i] {
		case '"':
			i = endOfText(raw, i)
		case 'N', 'I':
			for _, word := range []string{"NaN", "Infinity"} {
				if bytes.HasPrefix(raw[i:], []byte(word)) {
					for range word {
						places = append(places, i)
						i++
					}
					i--
				}
			}
		}
	}
	return places
}

const mostNotNumbers = 1 << 20

// endOfText gives the place of the quote that ends the text that begins at i, or the end of the body.
func endOfText(raw []byte, i int) int {
	for i++; i < len(raw) && raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i
}

// beginning remembers how a body begins.
type beginning struct {
	io.ReadCloser
	first []byte
}

// progressBegins is how the reports of progress begin that workers of the SDK send, without blanks.
const progressBegins = `{"status":"IN_PROGRESS"`

func (b *beginning) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if room := 2*len(progressBegins) - len(b.first); room > 0 {
		b.first = append(b.first, p[:min(n, room)]...)
	}
	return n, err
}

// isProgress reports whether the body is one of progress. It reads the beginning if nobody did and it may: a client that waits to be asked
// for the body does not send it in vain.
func (b *beginning) isProgress(mayRead bool) bool {
	if len(b.first) == 0 && mayRead {
		_, _ = io.ReadFull(b, make([]byte, 2*len(progressBegins))) // too little is no beginning
	}
	bare := bytes.Map(func(c rune) rune {
		if c == ' ' || c == '\n' || c == '\r' || c == '\t' {
			return -1
		}
		return c
	}, b.first)
	return bytes.HasPrefix(bare, []byte(progressBegins))
}

package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/impl/compute"
)

// longText is an input or an output that the store keeps in pieces, on its way to a client. It is in memory as a whole if there is
// room, and else a piece at a time, so that clients that do not read hold little. A short input of a large batch is one, too, of one piece.
type longText struct {
	*Services
	job  compute.Job
	of   compute.JobText
	size int

	text  []byte // all of it, or the first piece
	leave func() // gives the memory of text back
}

// long gives a text of the job; nil if it is none of those that are kept in pieces.
func (s *Services) long(j *compute.Job, of compute.JobText, size int) *longText {
	if size == 0 {
		return nil
	}
	return &longText{Services: s, job: *j, of: of, size: size}
}

// open reads what is to be written first, before there is an answer, so that a failure can still be one. An output that a worker
// sent in between may be replaced soon, and so is read as a whole.
func (l *longText) open(ctx context.Context, key compute.KeyID) (err error) {
	count := compute.Pieces(l.size)
	lasting := l.of == compute.JobInput || l.job.Status.Ended()
	leave, ok := l.Answers.Try(key, int64(l.size))
	switch {
	case ok:
		l.leave = leave
	case lasting:
		count = 1
		l.leave, err = l.Answers.Piece(ctx, key, compute.PieceSize)
	default:
		l.leave, err = l.Answers.Whole(ctx, key, int64(l.size))
	}
	if err != nil {
		return err
	}

	l.text, err = l.read(ctx, 0, count)
	if l.of == compute.JobOutput && (compute.CodeOf(err) == compute.NotFound || err == nil && !lasting && len(l.text) != l.size) {
		err = errReplaced
	}
	if err != nil {
		l.close()
	}
	return err
}

// read reads count pieces, from the first on.
func (l *longText) read(ctx context.Context, first, count int) (json.RawMessage, error) {
	if l.of == compute.JobInput && l.size <= compute.PieceSize {
		return l.Queue.Input(ctx, l.job)
	}
	return l.Queue.Pieces(ctx, l.job, l.of, first, count)
}

// errReplaced is that of an output that is another one, or none, since its job was read.
var errReplaced error = &compute.Error{Code: compute.Unavailable, Detail: "the output changes faster than it can be read: ask again", RetryAfter: time.Second}

// write writes the text, which was opened. An error of the store means that the client gets less than was announced, and sees that.
func (l *longText) write(c echo.Context) error {
	defer l.close()
	for n, written := 1, 0; ; n++ {
		if _, err := c.Response().Write(l.text); err != nil {
			return err
		}
		if written += len(l.text); written >= l.size {
			return nil
		}

		l.close()
		var err error
		if l.leave, err = l.Answers.Piece(contextOf(c), callerOf(c).ID, compute.PieceSize); err != nil {
			return err
		}
		if l.text, err = l.read(contextOf(c), n, 1); err != nil {
			return err
		}
	}
}

func (l *longText) close() {
	l.text = nil
	if l.leave != nil {
		l.leave()
	}
}

// document is JSON with one value in it that is carried as it came. It is put together by hand: encoding/json takes the value
// apart to compact it, and copies it twice, which 20 MB notice.
type document struct {
	head, raw, tail []byte
	long            *longText // in place of raw; nil: raw has the value
}

func (d *document) size() int {
	size := len(d.head) + len(d.raw) + len(d.tail)
	if d.long != nil {
		size += d.long.size
	}
	return size
}

// jsonType is the header Content-Type of JSON, which nobody changes in place.
var jsonType = []string{echo.MIMEApplicationJSON}

// writeDocuments answers 200 with the documents one after the other, as they stand. Of several long texts the first is opened before there
// is an answer, and each other one when it is its turn: an answer that held memory for one while it waits for that of another could wait for
// itself.
func writeDocuments(c echo.Context, documents ...document) error {
	size, opened := 0, false
	for i := range documents {
		d := &documents[i]
		size += d.size()
		if d.long == nil || opened {
			continue
		}
		opened = true
		if err := d.long.open(contextOf(c), callerOf(c).ID); err != nil {
			return err
		}
		defer d.long.close() // where one before it fails
	}

	c.Response().Header()[echo.HeaderContentType] = jsonType
	requestOf(c).head.set(c, echo.HeaderContentLength, strconv.Itoa(size))
	c.Response().WriteHeader(http.StatusOK)

	for i := range documents {
		if err := documents[i].write(c); err != nil {
			return err
		}
	}

	return nil
}

func (d *document) write(c echo.Context) error {
	for _, part := range [][]byte{d.head, d.raw} {
		if _, err := c.Response().Write(part); err != nil {
			return err
		}
	}
	if d.long != nil {
		if d.long.text == nil {
			if err := d.long.open(contextOf(c), callerOf(c).ID); err != nil {
				return err
			}
		}
		if err := d.long.write(c); err != nil {
			return err
		}
	}
	_, err := c.Response().Write(d.tail)
	return err
}

// whole gives the job with its output, and what gives the memory of a long one back.
func (s *Services) whole(ctx context.Context, key compute.KeyID, j compute.Job) (_ compute.Job, leave func(), err error) {
	if j.Output != nil || j.OutputSize == 0 {
		return j, func() {}, nil
	}
	if leave, err = s.Answers.Whole(ctx, key, int64(j.OutputSize)); err != nil {
		return j, nil, err
	}
	if j.Output, err = s.Queue.Pieces(ctx, j, compute.JobOutput, 0, compute.Pieces(j.OutputSize)); err != nil {
		leave()
	}
	return j, leave, err
}

// JobDocument gives the status document as JSON: what a webhook gets.
func JobDocument(j compute.Job) (json.RawMessage, error) {
	d := documentOf(make([]byte, 0, 256), &j)
	return bytes.Join([][]byte{d.head, d.raw, d.tail}, nil), nil
}

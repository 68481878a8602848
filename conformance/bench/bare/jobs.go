package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/labstack/echo/v4"
)

// endpoint is the address of the queue, as berth has one of each endpoint.
const endpoint = "/v2/bench/"

// job is a submission that waits for its result.
type job struct {
	body []byte
	done chan []byte
}

// least does no more than /runsync must: a submission is appended to the file and on disk before the worker that waits gets it, and is
// answered with what the worker reports. It is for one job at a time, and knows neither keys nor documents.
func least(e *echo.Echo, path string) {
	file, err := os.Create(path)
	check(err)
	waiting, running := make(chan job), make(chan job, 1)

	e.POST(endpoint+"runsync", func(c echo.Context) error {
		body, err := io.ReadAll(c.Request().Body)
		if err != nil {
			return err
		}
		if _, err := file.Write(body); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}

		one := job{body, make(chan []byte, 1)}
		select {
		case waiting <- one:
		case <-c.Request().Context().Done():
			return nil
		}
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, <-one.done)
	})

	e.GET(endpoint+"job-take/:worker", func(c echo.Context) error {
		select {
		case one := <-waiting:
			running <- one
			return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, append([]byte(`{"id":"1",`), one.body[1:]...))
		case <-c.Request().Context().Done():
			return nil
		}
	})

	e.POST(endpoint+"job-done/:worker/:id", func(c echo.Context) error {
		body, err := io.ReadAll(c.Request().Body)
		if err != nil {
			return err
		}
		(<-running).done <- body
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, answer)
	})
}

// endless has a job for whoever asks, and counts those that are done: as fast as a worker can be.
func endless(e *echo.Echo) {
	var taken, done atomic.Int64
	one := func() string { return fmt.Sprintf(`{"id":"%d","input":{"prompt":"bench"}}`, taken.Add(1)) }

	e.GET(endpoint+"job-take/:worker", func(c echo.Context) error {
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, []byte(one()))
	})
	e.GET(endpoint+"job-take-batch/:worker", func(c echo.Context) error {
		n, err := strconv.Atoi(c.QueryParam("batch_size"))
		if err != nil {
			return err
		}
		all := make([]string, n)
		for i := range all {
			all[i] = one()
		}
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, []byte("["+strings.Join(all, ",")+"]"))
	})

	e.POST(endpoint+"job-done/:worker/:id", func(c echo.Context) error {
		if _, err := io.Copy(io.Discard, c.Request().Body); err != nil {
			return err
		}
		done.Add(1)
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, answer)
	})
	e.GET(endpoint+"ping/:worker", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.GET(endpoint+"health", func(c echo.Context) error {
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, fmt.Appendf(nil, `{"jobs":{"completed":%d}}`, done.Load()))
	})
}

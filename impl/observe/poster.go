package observe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/berthdev/berth/impl/compute"
)

// How often a batch is sent, and what passes between the tries of a receiver that is busy or away.
const (
	postTries   = 3
	postPause   = time.Second
	postTimeout = 10 * time.Second
)

// poster sends spans by OTLP over HTTP. It stands in for OpenTelemetry's otlptracehttp, which brings gRPC into the program:
// 9.6 MB more of 23, for these lines. All else of the exporter is OpenTelemetry's.
type poster struct {
	address *url.URL // may hold a password, or a key in its query
	headers map[string]string
	log     *slog.Logger
	client  *http.Client
	failing atomic.Bool // the last batch was lost
}

var _ otlptrace.Client = (*poster)(nil)

// newPoster gives one that follows no redirect: that would take the headers, with their keys, elsewhere, or make a GET of the batch.
func newPoster(address *url.URL, headers map[string]string, log *slog.Logger) *poster {
	client := &http.Client{Timeout: postTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &poster{address: address, headers: headers, log: log, client: client}
}

// Start is for the exporter.
func (*poster) Start(context.Context) error { return nil }

// Stop ends idle connections.
func (p *poster) Stop(context.Context) error {
	p.client.CloseIdleConnections()
	return nil
}

// UploadTraces sends spans. It logs the first batch that is lost, and the first one after it that is not; the error
// goes no further, since the SDK would print it.
func (p *poster) UploadTraces(ctx context.Context, spans []*traces.ResourceSpans) error {
	// TracesData is ExportTraceServiceRequest byte for byte, whose package is that of gRPC.
	body, err := proto.Marshal(&traces.TracesData{ResourceSpans: spans})
	if err == nil {
		err = p.send(ctx, body)
	}
	switch failed := err != nil; {
	case p.failing.Swap(failed) == failed:
	case failed:
		p.log.Warn("traces are lost", "host", p.address.Host, "error", err)
	default:
		p.log.Info("traces are received again", "host", p.address.Host)
	}

	return nil
}

// errBusy says that a try may be repeated.
var errBusy = errors.New("the receiver is busy")

func (p *poster) send(ctx context.Context, body []byte) error {
	for try := 1; ; try++ {
		err := p.post(ctx, body)
		if !errors.Is(err, errBusy) || try == postTries {
			return err
		}

		passed, stop := compute.SystemClock{}.After(postPause << (try - 1))
		select {
		case <-passed:
		case <-ctx.Done():
			stop()
			return err
		}
	}
}

func (p *poster) post(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.address.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range p.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("User-Agent", "berth")

	res, err := p.client.Do(r)
	if err != nil {
		if of, ok := errors.AsType[*url.Error](err); ok {
			err = of.Err // without the address
		}
		return fmt.Errorf("%w: %w", errBusy, err)
	}

	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) // so that the connection can be used again
	_ = res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fmt.Errorf("%w: it answered %d", errBusy, res.StatusCode)
	}

	return fmt.Errorf("the receiver answered %d", res.StatusCode)
}

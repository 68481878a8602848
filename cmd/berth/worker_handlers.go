package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/berthdev/berth/impl/worker"
)

// handling is what a handler has besides its input.
type handling struct {
	*workerSettings
	emit worker.Emit
	exit func(code int)
}

// handler works on a job: it gives the job's output, or the error that fails it. It ends soon after ctx does.
type handler func(ctx context.Context, input json.RawMessage, h handling) (json.RawMessage, error)

var handlers = map[string]handler{
	"echo":        handleEcho,
	"sleep":       handleSleep,
	"fail":        handleFail,
	handlerStream: handleStream,
	"crash":       handleCrash,
}

// handlerStream is the one whose last report is marked as that of a stream.
const handlerStream = "stream"

func handleEcho(_ context.Context, input json.RawMessage, _ handling) (json.RawMessage, error) {
	return input, nil
}

// pauseInput is the input of the handlers that wait.
type pauseInput struct {
	MS float64 `json:"ms"`
}

func (p pauseInput) pause(ctx context.Context) error {
	if !(p.MS >= 0 && p.MS <= math.MaxInt32) { // 24 days: what is longer is a mistake
		return fmt.Errorf("input.ms: %v is not a number of milliseconds", p.MS)
	}
	return worker.Pause(ctx, time.Duration(p.MS*float64(time.Millisecond)))
}

func handleSleep(ctx context.Context, input json.RawMessage, _ handling) (json.RawMessage, error) {
	var in pauseInput
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	if err := in.pause(ctx); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]float64{"slept": in.MS})
}

func handleFail(_ context.Context, input json.RawMessage, h handling) (json.RawMessage, error) {
	var in struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(input, &in) != nil || in.Error == "" { // any input will do
		return nil, errors.New(h.errorText)
	}
	return nil, errors.New(in.Error)
}

func handleStream(ctx context.Context, input json.RawMessage, h handling) (json.RawMessage, error) {
	var in struct {
		pauseInput
		Chunks json.RawMessage `json:"chunks"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}

	chunks, err := readChunks(in.Chunks)
	if err != nil {
		return nil, err
	}

	for i, value := range chunks {
		if i > 0 {
			if err := in.pause(ctx); err != nil {
				return nil, err
			}
		}
		if err := h.emit(ctx, value); err != nil {
			return nil, fmt.Errorf("chunk %d: %w", i, err)
		}
	}

	if !h.aggregate {
		return json.RawMessage("[]"), nil
	}
	return json.Marshal(chunks)
}

// readChunks reads a list of values, or the number of them.
func readChunks(text json.RawMessage) ([]json.RawMessage, error) {
	chunks := []json.RawMessage{}
	if bytes.HasPrefix(text, []byte{'['}) {
		err := json.Unmarshal(text, &chunks)
		return chunks, err
	}

	n := 3
	if text != nil {
		if err := json.Unmarshal(text, &n); err != nil || n < 0 || n > 1_000_000 {
			return nil, errors.New("input.chunks: neither a list nor a number of chunks")
		}
	}

	for i := range n {
		chunks = append(chunks, json.RawMessage(strconv.Itoa(i)))
	}
	return chunks, nil
}

func handleCrash(ctx context.Context, input json.RawMessage, h handling) (json.RawMessage, error) {
	var in pauseInput
	_ = json.Unmarshal(input, &in) // any input will do
	if err := in.pause(ctx); err != nil {
		return nil, err
	}
	h.exit(exitCrash)
	return nil, errors.New("still there after the crash")
}

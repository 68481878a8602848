package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// mostDocument is how long a file may be whose JSON document is sent, in bytes.
const mostDocument = 1 << 20

// readFile reads a file of at most so many bytes, or as many of the command's standard input if the path is -.
func readFile(cmd *cobra.Command, path string, most int) (text []byte, err error) {
	if path == "-" {
		text, err = readInput(cmd.Context(), io.LimitReader(cmd.InOrStdin(), int64(most)+1))
	} else {
		var file *os.File
		if file, err = os.Open(path); err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		text, err = io.ReadAll(io.LimitReader(file, int64(most)+1))
	}
	if err == nil && len(text) > most {
		err = fmt.Errorf("%s has more than the %d bytes that there may be", path, most)
	}
	return text, err
}

// readInput reads the standard input to its end, or until the command is interrupted, which ends no read of it.
func readInput(ctx context.Context, in io.Reader) ([]byte, error) {
	type all struct {
		text []byte
		err  error
	}
	read := make(chan all, 1)
	go func() {
		text, err := io.ReadAll(in)
		read <- all{text, err}
	}()
	select {
	case a := <-read:
		return a.text, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readDocument reads a JSON document from the file, or from the command's standard input.
func readDocument(cmd *cobra.Command, path string) (string, error) {
	text, err := readFile(cmd, path, mostDocument)
	if err == nil && !json.Valid(text) {
		err = fmt.Errorf("%s is not JSON", path)
	}
	return string(text), err
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// mostDocument is how long a file may be whose JSON document is sent, in bytes.
const mostDocument = 1 << 20

// readFile reads a file of at most so many bytes, or as many of in if the path is -.
func readFile(in io.Reader, path string, most int) ([]byte, error) {
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		in = file
	}

	text, err := io.ReadAll(io.LimitReader(in, int64(most)+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("%s has more than the %d bytes that there may be", path, most)
	}
	return text, err
}

// readDocument reads a JSON document from the file, or from in.
func readDocument(in io.Reader, path string) (string, error) {
	text, err := readFile(in, path, mostDocument)
	if err == nil && !json.Valid(text) {
		err = fmt.Errorf("%s is not JSON", path)
	}
	return string(text), err
}

package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// prism measures createPod beside Prism, which mocks the document that berth serves: it checks a body by it, too, and stores
// nothing. It is one process of Node with one thread.
func (b *bench) prism() error {
	berth, err := b.serve(b.directory())
	if err != nil {
		return err
	}
	defer berth.stop()
	document, err := berth.once(request(http.MethodGet, "/v2/openapi.json", "", nil))
	if err != nil {
		return err
	}

	path := filepath.Join(b.tmp, "openapi.json")
	if err := os.WriteFile(path, document, 0o600); err != nil {
		return err
	}

	var mock *server
	rows := []row{
		{name: "createPod stored", measured: b.pods(berth, http.StatusCreated, goodPod), unit: "requests/s", asked: atLeast(10),
			reference: func() (reading, error) { return b.constant(mock, http.StatusCreated, mock.createPod(goodPod))() }},
		{name: "createPod refused", measured: b.pods(berth, http.StatusUnprocessableEntity, badPod), unit: "requests/s", asked: atLeast(40),
			reference: func() (reading, error) {
				return b.constant(mock, http.StatusUnprocessableEntity, mock.createPod(badPod))()
			}},
		{name: "first answer after the start", unit: "ms", asked: atMost(0.02),
			measured: func() (reading, error) {
				took, _, err := firstAnswer(b.fresh(), 0)
				return reading{value: took}, err
			},
			reference: func() (reading, error) {
				node, dir, err := b.npm("prism")
				return b.firstOf(err, node, filepath.Join(dir, prismProgram), "mock", "--host", "%h", "--port", "%p", "--verboseLevel", "silent", path)
			}},
	}

	b.heading()
	if mock, err = b.mock(path); err != nil {
		for _, r := range rows {
			b.skipped(r.name, err.Error())
		}
		return nil
	}
	defer mock.stop()

	for _, r := range rows {
		if strings.HasPrefix(r.name, "first answer") {
			mock.stop()
		}
		if err := r.print(b); err != nil {
			return err
		}
	}

	return nil
}

// prismProgram is where npm puts Prism.
const prismProgram = "node_modules/@stoplight/prism-cli/dist/index.js"

// mock starts Prism for a document.
func (b *bench) mock(document string) (*server, error) {
	node, dir, err := b.npm("prism")
	if err != nil {
		return nil, err
	}
	host, port, err := freeAddress()
	if err != nil {
		return nil, err
	}

	s, err := external(exec.Command(node, filepath.Join(dir, prismProgram), "mock",
		"--host", host, "--port", port, "--verboseLevel", "silent", document), net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("prism: %w", err)
	}

	s.key = "any" // the document asks for one
	return s, nil
}

// Command validgen generates, from an OpenAPI document, the validators that check a request in one pass over its bytes and
// decode it straight into the models that oapi-codegen made, and the encoders of answers, with their tests. A keyword that it does not know stops it: nothing may be
// silently unchecked. kin-openapi checks that the document is valid OpenAPI; the schemas are read from the YAML nodes,
// which know their lines.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/getkin/kin-openapi/openapi3"
)

func main() {
	spec := flag.String("spec", "", "the OpenAPI document")
	model := flag.String("model", "", "the Go file with the models of the document")
	pkg := flag.String("package", "", "the package of the models")
	out := flag.String("o", "", "the file to write")
	flag.Parse()
	if err := run(*spec, *model, *pkg, *out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(spec, model, pkg, out string) error {
	text, err := os.ReadFile(filepath.Clean(spec))
	if err != nil {
		return err
	}
	doc, err := parseDocument(spec, text)
	if err != nil {
		return err
	}
	if err := doc.checkKeywords(); err != nil {
		return err
	}
	loaded, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return fmt.Errorf("%s: %w", spec, err)
	}
	if err := loaded.Validate(context.Background()); err != nil {
		return fmt.Errorf("%s: %w", spec, err)
	}
	models, err := parseModels(model)
	if err != nil {
		return err
	}
	source := filepath.ToSlash(spec)
	code, err := generate(doc, models, pkg, source)
	if err != nil {
		return err
	}
	if err := encoders(doc, models, pkg, source, filepath.Dir(out)); err != nil {
		return err
	}
	return os.WriteFile(out, code, 0o644) //nolint:gosec // source code is for everybody
}

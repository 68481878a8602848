package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// moduleName is the path of the program's module.
const moduleName = "github.com/berthdev/berth"

// writeBill writes what a program is made of, as CycloneDX, from what the compiler wrote into the program itself.
func (r *release) writeBill(b build) error {
	made, err := buildinfo.ReadFile(b.path)
	if err != nil {
		return err
	}
	sum, err := sumOf(b.path)
	if err != nil {
		return err
	}

	name := fmt.Sprintf("pkg:golang/%s@v%s", moduleName, r.version)
	parts := []cdx.Component{{
		BOMRef: "std", Type: cdx.ComponentTypeLibrary, Name: "std", Version: made.GoVersion,
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(made.GoVersion, "go"),
	}}
	for _, m := range made.Deps {
		part, err := partOf(m)
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}

	bill := cdx.NewBOM()
	bill.Metadata = &cdx.Metadata{
		Timestamp: r.time.Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: name, Type: cdx.ComponentTypeApplication, Name: "berth", Version: "v" + r.version.String(), Description: summary, PackageURL: name,
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}}, Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
			Properties: &[]cdx.Property{{Name: "system", Value: b.String()}},
		},
	}
	bill.Components = &parts

	path := filepath.Join(r.dist, fmt.Sprintf("berth_%s_%s_%s.cdx.json", r.version, b.os, b.arch))
	return create(path, func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bill)
	})
}

// partOf is a module that is part of the program; its hash is the one of go.sum.
func partOf(m *debug.Module) (cdx.Component, error) {
	if m.Replace != nil {
		m = m.Replace
	}
	name := fmt.Sprintf("pkg:golang/%s@%s", m.Path, m.Version)
	part := cdx.Component{BOMRef: name, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: name}

	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
	if err != nil || len(sum) == 0 {
		return part, fmt.Errorf("%s has no checksum in the program: %q", name, m.Sum)
	}
	part.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	return part, nil
}

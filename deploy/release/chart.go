package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

var (
	chartVersion = regexp.MustCompile(`(?m)^version: .*$`)
	appVersion   = regexp.MustCompile(`(?m)^appVersion: .*$`)
)

// writeChart packs the chart, as helm package --version --app-version does.
func (r *release) writeChart() error {
	folder := filepath.Join(r.root, "deploy", "helm")
	files := []file{}
	err := fs.WalkDir(os.DirFS(folder), "berth", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		f := file{name: name, from: filepath.Join(folder, filepath.FromSlash(name))}
		if name != "berth/Chart.yaml" {
			files = append(files, f)
			return nil
		}

		text, err := f.read()
		if err != nil {
			return err
		}
		if !chartVersion.Match(text) || !appVersion.Match(text) {
			return fmt.Errorf("%s has no version or no appVersion", f.from)
		}
		text = chartVersion.ReplaceAll(text, []byte("version: "+r.version.String()))
		text = appVersion.ReplaceAll(text, []byte("appVersion: "+r.version.String()))
		files = append([]file{{name: name, text: text}}, files...)
		return nil
	})
	if err != nil {
		return err
	}
	return writeTar(filepath.Join(r.dist, "helm", "berth-"+r.version.String()+".tgz"), r.time, files)
}

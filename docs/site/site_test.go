package site_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/docs/site"
)

const (
	repository = "../.."
	built      = "../built"
)

// inside gives what a built file has, or nothing.
func inside(t *testing.T, file string) []byte {
	packed, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	r, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	return text
}

// TestSite_IsUpToDate holds the built files against the pages; make rules writes them. What is inside is compared, since two versions of Go
// may compress differently.
func TestSite_IsUpToDate(t *testing.T) {
	t.Parallel()
	files, err := site.Build(os.DirFS(repository))
	require.NoError(t, err)
	has, err := filepath.Glob(built + "/*.gz")
	require.NoError(t, err)

	if os.Getenv("BERTH_GOLDEN") == "write" {
		for name, text := range files {
			write(t, filepath.Join(built, name+".gz"), text)
		}
		for _, file := range has {
			if files[strings.TrimSuffix(filepath.Base(file), ".gz")] == nil {
				require.NoError(t, os.Remove(file))
			}
		}
		return
	}

	require.Len(t, has, len(files), "docs/built has files that are no pages: run make rules")
	for name, text := range files {
		require.True(t, bytes.Equal(text, inside(t, filepath.Join(built, name+".gz"))), "docs/built/%s.gz is not what the pages give: run make rules", name)
	}
}

// write writes a built file, unless it has the same inside.
func write(t *testing.T, file string, text []byte) {
	if bytes.Equal(text, inside(t, file)) {
		return
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(file, packed.Bytes(), 0o600))
}

// TestSite_IsSmall bounds what the site adds to the program.
func TestSite_IsSmall(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(built + "/*.gz")
	require.NoError(t, err)
	var sum int64
	for _, file := range files {
		of, err := os.Stat(file)
		require.NoError(t, err)
		sum += of.Size()
	}
	require.Less(t, sum, int64(400_000))
}

var (
	loads = regexp.MustCompile(`(?:src|<link[^>]*href|action)="([^"]*)"`)
	links = regexp.MustCompile(`<a [^>]*href="(/[^"#]*)(?:#([^"]*))?"`)
	ids   = regexp.MustCompile(` id="([^"]*)"`)
)

// TestSite_LeadsToWhatThereIs checks the built pages as a browser has them: each address below /docs that they load or lead to is served, each
// anchor is there, none of them is there twice, and nothing comes from elsewhere.
func TestSite_LeadsToWhatThereIs(t *testing.T) {
	t.Parallel()
	files, err := site.Build(os.DirFS(repository))
	require.NoError(t, err)
	anchors := map[string][]string{"/docs/reference": nil} // which package reference serves
	for name, text := range files {
		path := "/docs/" + strings.TrimSuffix(name, ".html")
		if name == "index.html" {
			path = "/docs"
		}
		anchors[path] = []string{""}
		for _, id := range ids.FindAllStringSubmatch(string(text), -1) {
			require.NotContains(t, anchors[path], id[1], "%s has two of them", path)
			anchors[path] = append(anchors[path], id[1])
		}
	}

	for name, text := range files {
		if filepath.Ext(name) != ".html" {
			continue
		}
		require.NotRegexp(t, `<script>|<style|style=|\son[a-z]+="`, string(text), name) // the policy would forbid it
		for _, load := range loads.FindAllStringSubmatch(string(text), -1) {
			require.True(t, load[1] == "data:," || anchors[load[1]] != nil, "%s loads %s", name, load[1])
		}
		for _, link := range links.FindAllStringSubmatch(string(text), -1) {
			require.Contains(t, anchors, link[1], name)
			if link[2] != "" {
				require.Contains(t, anchors[link[1]], link[2], "%s leads to %s", name, link[1])
			}
		}
	}
}

// TestSite_PagesAreListedOnce holds the list of pages.
func TestSite_PagesAreListedOnce(t *testing.T) {
	t.Parallel()
	sources := site.Sources()
	require.Len(t, slices.Compact(slices.Clone(sources)), len(sources))
}

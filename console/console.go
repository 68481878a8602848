// Package console serves the web console: a page for people, which speaks the published interfaces and those below /_berth/ alone. What
// it is built of is beside this file; the built files are embedded compressed and are sent as they are (make console writes them).
package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/reference"
)

// Root is the path of the console. What is below it is the console, too: it finds by the path which of its pages is meant.
const Root = "/console"

// assets is the path of its files, whose names change with what is in them.
const assets = Root + "/assets/"

//go:embed built/*.gz
var files embed.FS

// IsPath reports whether the path is one of the console.
func IsPath(p string) bool { return p == Root || strings.HasPrefix(p, Root+"/") }

// policy lets the page load from this server, and ask it, alone: no inline script or style, no frame around it, nothing from elsewhere. Its
// icon is in the page itself. The shell of a pod is a socket to this server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// file is what is sent for a path.
type file struct {
	text []byte // compressed
	etag string
	kind string // its media type
}

// types are the media types of the built files.
var types = map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}

// New makes the handler of Root and of all below it. It answers every method as GET.
func New() http.Handler {
	built, err := files.ReadDir("built")
	if err != nil {
		panic(err) // it is embedded
	}
	all := map[string]file{}
	for _, entry := range built {
		text, err := files.ReadFile(path.Join("built", entry.Name()))
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(text)
		name := strings.TrimSuffix(entry.Name(), ".gz")
		all[name] = file{text: text, etag: hex.EncodeToString(sum[:16]), kind: types[path.Ext(name)]}
	}

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		name, isAsset := strings.CutPrefix(r.URL.Path, assets)
		if !isAsset {
			page(w, r, all["index.html"])
			return
		}

		f, ok := all[name]
		if !ok || name == "index.html" {
			w.Header().Set("Cache-Control", "no-store")
			http.Error(w, "the console has no such file: reload its page", http.StatusNotFound)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		f.send(w, r)
	})
}

// page sends the page, which asks at every load whether it is still the same: another berth may have another one.
func page(w http.ResponseWriter, r *http.Request, f file) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	f.send(w, r)
}

// send sends a file as it is kept, unless the client cannot read that.
func (f file) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept-Encoding")
	if reference.AcceptsGzip(r.Header.Values("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		h.Set("ETag", strconv.Quote(f.etag))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.text))
		return
	}

	h.Set("ETag", strconv.Quote(f.etag+"-plain"))
	inside, err := gzip.NewReader(bytes.NewReader(f.text))
	if err != nil {
		panic(err) // pack.mjs wrote it
	}
	text, err := io.ReadAll(inside) // of at most a few hundred KB, which are ours
	if err != nil {
		panic(err)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

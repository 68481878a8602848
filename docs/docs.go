// Package docs serves these pages: the Markdown beside this file and some of other rooms, with a list and a search. Package site builds the
// files of built (make rules), which are embedded compressed and are sent as they are. Nothing of them comes from another server.
package docs

import (
	"embed"
	"net/http"
	"path"
	"strings"

	"github.com/berthdev/berth/impl/reference"
)

// Root is the path of the first page; the others are below it, beside those that send requests.
const Root = reference.Site

//go:embed built/*.gz
var files embed.FS

// types are the media types of the built files.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".png": "image/png",
}

// policy lets a page load from this server, and read it, alone: no inline script or style, no frame around it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handlers gives the pages and what they load, by path. Each answers GET, whatever it is sent beside it.
func Handlers() map[string]http.Handler {
	built, err := files.ReadDir("built")
	if err != nil {
		panic(err) // it is embedded
	}
	all := map[string]http.Handler{Root + "/": http.RedirectHandler(Root, http.StatusMovedPermanently)}
	for _, entry := range built {
		name := strings.TrimSuffix(entry.Name(), ".gz")
		at := Root + "/" + strings.TrimSuffix(name, ".html")
		if name == "index.html" {
			at = Root
		}
		all[at] = file("built/"+entry.Name(), types[path.Ext(name)])
	}
	return all
}

// file sends a built file. A browser asks at every load whether it is still the same: another berth may have another one.
func file(name, kind string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // the names are those of embedded files
		}
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		reference.SendCompressed(w, r, text, kind)
	})
}

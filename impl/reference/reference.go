// Package reference serves pages to read the documents and to send requests from. The viewer is Swagger UI: of those that are well
// kept, read OpenAPI 3.1 and send requests, the smallest, and it asks no other server for anything. Its files come from npm
// (viewer/vendor.sh), are embedded compressed and are sent as they are.
package reference

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Site is the path of the documentation, whose pages are beside these (package docs).
const Site = "/docs"

// Root is the path of the page that lists those of the documents.
const Root = Site + "/reference"

//go:embed *.html page.css page.js viewer/*.gz
var files embed.FS

// document is what one page shows.
type document struct {
	page  string // its path
	path  string // that of the document; none for the playground, which is listed alone
	title string
	says  string
}

var (
	documents = []document{
		{Site + "/rest", "/v2/openapi.json", "REST", "pods, serverless endpoints, templates, volumes, catalog, billing"},
		{Site + "/queue", "/openapi/queue.json", "Queue", "jobs of an endpoint, and the OpenAI API before its workers"},
		{Site + "/worker", "/openapi/worker.json", "Workers", "how a worker takes jobs and reports on them"},
	}
	controls   = document{Site + "/controls", "/openapi/controls.json", "Test controls", "the clock, reset, keys, quotas, faults; they have a key of their own"}
	playground = document{"/graphql", "", "GraphQL", "a page to try documents on"}
)

// Settings say what the server has beside REST and the queue.
type Settings struct {
	Controls   bool     // test controls
	Playground bool     // GET /graphql answers a page
	Editions   []string // of the contract, that of the documents themselves first; which one a page shows its query says, as contract
}

// Handlers gives the pages and what they load, by path. Each answers GET, whatever it is sent beside it.
func Handlers(s Settings) map[string]http.Handler {
	listed := slices.Clone(documents)
	if s.Controls {
		listed = append(listed, controls)
	}
	if s.Playground {
		listed = append(listed, playground)
	}

	all := map[string]http.Handler{
		Root:                           s.page("index.html", listed, document{}),
		Site + "/page.css":             plain("page.css", "text/css; charset=utf-8"),
		Site + "/page.js":              plain("page.js", "text/javascript; charset=utf-8"),
		Site + "/swagger-ui.css":       compressed("viewer/swagger-ui.css.gz", "text/css; charset=utf-8"),
		Site + "/swagger-ui-bundle.js": compressed("viewer/swagger-ui-bundle.js.gz", "text/javascript; charset=utf-8"),
		Site + "/licenses":             compressed("viewer/licenses.html.gz", "text/html; charset=utf-8"),
	}

	for _, d := range listed {
		if d.path != "" {
			all[d.page] = s.page("document.html", listed, d)
		}
	}

	return all
}

// policy lets a page load from this server, and send requests to it, alone. The viewer sets styles on its elements and draws
// with images that it holds.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func headers(w http.ResponseWriter, contentType string) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache") // ask whether it is still the same: another berth may have another viewer
}

// page fills in a page as it is asked for: a start costs nothing. It needs no template engine, which would make the program
// larger by a fifth (its reflection keeps every method that there is): all that it fills in is ours.
func (s Settings) page(name string, listed []document, shown document) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		edition, query := s.edition(r.URL.Query().Get("contract"))
		var links, rows, editions strings.Builder
		for _, e := range s.Editions {
			current := ""
			if e == edition {
				current = ` aria-current="page"`
			}
			fmt.Fprintf(&editions, "  <a href=\"?contract=%s\"%s>%[1]s</a>\n", e, current)
		}
		for _, d := range listed {
			current := ""
			if d == shown {
				current = ` aria-current="page"`
			}
			fmt.Fprintf(&links, "  <a href=%q%s>%s</a>\n", d.page+query, current, d.title)
			fmt.Fprintf(&rows, "    <tr><td><a href=%q>%s</a></td><td>%s</td><td><a href=%q>%s</a></td></tr>\n", d.page+query, d.title, d.says, d.path+query, d.path)
		}

		headers(w, "text/html; charset=utf-8")
		_, _ = strings.NewReplacer("LINKS\n", links.String(), "ROWS\n", rows.String(), "EDITIONS\n", editions.String(), "TITLE", shown.title, "PATH", shown.path+query, "EDITION", edition).
			WriteString(w, string(embedded(name))) // the client has gone
	})
}

// edition gives the edition that a page is to show, and the query by which other pages show it too: none for the first. What is no
// edition is the first.
func (s Settings) edition(asked string) (name, query string) {
	if at := slices.Index(s.Editions, asked); at > 0 {
		return asked, "?contract=" + asked
	}
	if len(s.Editions) > 0 {
		name = s.Editions[0]
	}
	return name, ""
}

func embedded(name string) []byte {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the names are those of embedded files
	}
	return text
}

func plain(name, contentType string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := embedded(name)
		headers(w, contentType)
		w.Header().Set("ETag", fmt.Sprintf(`"%08x"`, crc32.ChecksumIEEE(text)))
		http.ServeContent(w, r, path.Base(name), time.Time{}, bytes.NewReader(text))
	})
}

// compressed answers a file that is kept compressed, as it is kept unless the client cannot read that.
func compressed(name, contentType string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers(w, contentType)
		SendCompressed(w, r, embedded(name), contentType)
	})
}

// SendCompressed sends a file of ours that is kept compressed, as it is kept unless the client cannot read that.
func SendCompressed(w http.ResponseWriter, r *http.Request, text []byte, contentType string) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Vary", "Accept-Encoding")

	sum := text[len(text)-8 : len(text)-4] // a gzip file ends in the checksum and the size of what is inside
	if AcceptsGzip(r.Header.Values("Accept-Encoding")) {
		h.Set("ETag", fmt.Sprintf(`"%x-gzip"`, sum))
		h.Set("Content-Encoding", "gzip")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
		return
	}

	h.Set("ETag", fmt.Sprintf(`"%x"`, sum))
	inside, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}

	_, _ = io.Copy(w, inside) //nolint:gosec // the file is ours; the client may have gone
}

// AcceptsGzip reads the values of Accept-Encoding: lists of codings, each perhaps with a weight, of which 0 refuses it.
func AcceptsGzip(values []string) bool {
	for coding := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, parameter, _ := strings.Cut(coding, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		key, weight, weighted := strings.Cut(strings.TrimSpace(parameter), "=")
		q, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
		return !weighted || !strings.EqualFold(strings.TrimSpace(key), "q") || err == nil && q > 0
	}
	return false
}

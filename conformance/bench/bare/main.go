// Command bare is the reference: an echo server with one SQLite table, which reads a body, answers, and does nothing else.
// With net/http as its second argument it is the same without echo, with proxy and a URL it is net/http/httputil's proxy before that,
// and with list and a file it answers what stands in the file. With least it has one queue that does no more than /runsync must, and with
// endless one whose jobs never end.
package main

import (
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"

	"github.com/labstack/echo/v4"
	_ "modernc.org/sqlite"
)

// answer is as long as the answer to /run.
var answer = []byte(`{"id":"01a2b3c4-d5e6-7f80-9102-030405060708","status":"IN_QUEUE"}`)

func main() {
	db, err := sql.Open("sqlite", "file:"+os.Args[1]+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	check(err)
	_, err = db.Exec("CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY KEY, body BLOB)")
	check(err)

	e := echo.New()
	e.GET("/healthz", func(c echo.Context) error {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM jobs").Scan(&n); err != nil {
			return err
		}
		return c.NoContent(http.StatusOK)
	})

	e.POST("/", func(c echo.Context) error {
		if _, err := io.Copy(io.Discard, c.Request().Body); err != nil {
			return err
		}
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, answer)
	})

	e.GET("/", func(c echo.Context) error { return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, answer) })
	switch {
	case len(os.Args) > 3 && os.Args[2] == "list":
		list(e, os.Args[3])
	case len(os.Args) > 2 && os.Args[2] == "least":
		least(e, os.Args[1]+".jobs")
	case len(os.Args) > 2 && os.Args[2] == "endless":
		endless(e)
	}
	var handler http.Handler = e
	if len(os.Args) > 2 && os.Args[2] == "net/http" {
		handler = http.HandlerFunc(plain)
	}
	if len(os.Args) > 3 && os.Args[2] == "proxy" {
		to, err := url.Parse(os.Args[3])
		check(err)
		handler = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: &http.Transport{MaxIdleConnsPerHost: 512}}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("{\"url\":\"http://%s\",\"endpoints\":{\"bench\":\"bench\"}}\n", l.Addr())
	check(http.Serve(l, handler))
}

// plain is the handler of POST and GET / without echo.
func plain(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

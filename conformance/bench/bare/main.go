// Command bare is the reference: an echo server with one SQLite table, and nothing else.
package main

import (
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
	_ "modernc.org/sqlite"
)

func main() {
	db, err := sql.Open("sqlite", "file:"+os.Args[1]+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	check(err)
	_, err = db.Exec("CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY KEY, body BLOB)")
	check(err)
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/healthz", func(c echo.Context) error {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM jobs").Scan(&n); err != nil {
			return err
		}
		return c.NoContent(http.StatusOK)
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	e.Listener = l
	fmt.Printf("{\"url\":\"http://%s\"}\n", l.Addr())
	check(e.Start(""))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

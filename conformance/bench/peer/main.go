// Command peer is a reference: a queue of somebody else behind the same bare echo server, with 64 workers of its own that do
// nothing. POST / enqueues the body and answers once it is stored; GET / tells how many jobs are done.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const workers = 64

var done atomic.Int64

func main() {
	enqueue := map[string]func(string) func(context.Context, []byte) error{"asynq": onRedis, "river": onPostgreSQL}[os.Args[1]](os.Args[2])
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.POST("/", func(c echo.Context) error {
		body, err := io.ReadAll(c.Request().Body)
		if err == nil {
			err = enqueue(c.Request().Context(), body)
		}
		if err != nil {
			return err
		}
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, []byte(`{"status":"IN_QUEUE"}`))
	})
	e.GET("/", func(c echo.Context) error { return c.String(http.StatusOK, strconv.FormatInt(done.Load(), 10)) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	e.Listener = l
	fmt.Printf("{\"url\":\"http://%s\"}\n", l.Addr())
	check(e.Start(""))
}

// onRedis is asynq. It looks for jobs every 5 ms; its default is a second.
func onRedis(address string) func(context.Context, []byte) error {
	redis := asynq.RedisClientOpt{Addr: address, PoolSize: 2 * workers}
	client := asynq.NewClient(redis)
	mux := asynq.NewServeMux()
	mux.HandleFunc("job", func(context.Context, *asynq.Task) error { done.Add(1); return nil })
	server := asynq.NewServer(redis, asynq.Config{Concurrency: workers, TaskCheckInterval: 5 * time.Millisecond, LogLevel: asynq.ErrorLevel})
	check(server.Start(mux))
	return func(ctx context.Context, body []byte) error {
		_, err := client.EnqueueContext(ctx, asynq.NewTask("job", body))
		return err
	}
}

type job struct {
	Body []byte `json:"body"`
}

// Kind names the jobs.
func (job) Kind() string { return "job" }

type worker struct{ river.WorkerDefaults[job] }

// Work does nothing.
func (worker) Work(context.Context, *river.Job[job]) error { done.Add(1); return nil }

// onPostgreSQL is River. It fetches every millisecond; its default is every 100 ms.
func onPostgreSQL(url string) func(context.Context, []byte) error {
	ctx := context.Background()
	config, err := pgxpool.ParseConfig(url)
	check(err)
	config.MaxConns = workers
	pool, err := pgxpool.NewWithConfig(ctx, config)
	check(err)
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New[pgx.Tx](driver, nil)
	check(err)
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	check(err)
	kinds := river.NewWorkers()
	river.AddWorker(kinds, &worker{})
	client, err := river.NewClient(driver, &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}}, Workers: kinds,
		FetchCooldown: time.Millisecond, FetchPollInterval: time.Millisecond,
	})
	check(err)
	check(client.Start(ctx))
	return func(ctx context.Context, body []byte) error {
		_, err := client.Insert(ctx, job{body}, nil)
		return err
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Command peer is a reference: a queue of somebody else behind the same bare echo server, with workers of its own that do
// nothing. Its arguments are the kind of queue, the address of its store, the name of the queue and how many workers it has.
// POST / enqueues the body and answers once it is stored; POST /done answers once a worker has done it, for one job at a
// time; GET / reports how many jobs are done.
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

// clients is how many connections to its store a front has for enqueueing.
const clients = 64

var (
	done     atomic.Int64
	finished = make(chan struct{}, 1) // has something once a job was done since it was emptied
)

// work is what a worker does.
func work() {
	done.Add(1)
	select {
	case finished <- struct{}{}:
	default:
	}
}

type enqueuer func(ctx context.Context, body []byte) error

func main() {
	workers, err := strconv.Atoi(os.Args[4])
	check(err)
	enqueue := map[string]func(address, queue string, workers int) enqueuer{"asynq": onRedis, "river": onPostgreSQL}[os.Args[1]](os.Args[2], os.Args[3], workers)
	post := func(c echo.Context) error {
		body, err := io.ReadAll(c.Request().Body)
		if err == nil {
			err = enqueue(c.Request().Context(), body)
		}
		if err != nil {
			return err
		}
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, []byte(`{"status":"IN_QUEUE"}`))
	}

	e := echo.New()
	e.POST("/", post)
	e.POST("/done", func(c echo.Context) error {
		select {
		case <-finished:
		default:
		}
		err := post(c)
		<-finished
		return err
	})

	e.GET("/", func(c echo.Context) error { return c.String(http.StatusOK, strconv.FormatInt(done.Load(), 10)) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("{\"url\":\"http://%s\"}\n", l.Addr())
	check(http.Serve(l, e))
}

// onRedis is asynq. It looks for jobs every 5 ms; its default is a second.
func onRedis(address, queue string, workers int) enqueuer {
	redis := asynq.RedisClientOpt{Addr: address, PoolSize: clients + workers}
	client := asynq.NewClient(redis)
	if workers > 0 {
		mux := asynq.NewServeMux()
		mux.HandleFunc("job", func(context.Context, *asynq.Task) error { work(); return nil })
		server := asynq.NewServer(redis, asynq.Config{
			Concurrency: workers, TaskCheckInterval: 5 * time.Millisecond, LogLevel: asynq.ErrorLevel, Queues: map[string]int{queue: 1},
		})
		check(server.Start(mux))
	}

	return func(ctx context.Context, body []byte) error {
		_, err := client.EnqueueContext(ctx, asynq.NewTask("job", body), asynq.Queue(queue))
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
func (worker) Work(context.Context, *river.Job[job]) error { work(); return nil }

// onPostgreSQL is River. It fetches every millisecond; its default is every 100 ms.
func onPostgreSQL(url, queue string, workers int) enqueuer {
	ctx := context.Background()
	config, err := pgxpool.ParseConfig(url)
	check(err)
	config.MaxConns = clients
	pool, err := pgxpool.NewWithConfig(ctx, config)
	check(err)
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New[pgx.Tx](driver, nil)
	check(err)
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	check(err)

	kinds := river.NewWorkers()
	river.AddWorker(kinds, &worker{})
	settings := &river.Config{Workers: kinds, FetchCooldown: time.Millisecond, FetchPollInterval: time.Millisecond}
	if workers > 0 {
		settings.Queues = map[string]river.QueueConfig{queue: {MaxWorkers: workers}}
	}
	client, err := river.NewClient(driver, settings)
	check(err)
	if workers > 0 {
		check(client.Start(ctx))
	}

	return func(ctx context.Context, body []byte) error {
		_, err := client.Insert(ctx, job{body}, &river.InsertOpts{Queue: queue})
		return err
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

package app

import (
	"io"
	"log/slog"
	"time"

	"github.com/berthdev/berth/graphql"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/setting"
)

// Config is what a server is started with. The zero value of a field is its default, which stands in the table of settings.
type Config struct {
	Data             string              // directory of the database and of what belongs to it; required
	Store            string              // URL of a PostgreSQL database that keeps everything; empty: a file in the data directory
	SecretKey        string              // file with the key of what is stored encrypted; empty: secret.key in the data directory
	BackupTo         string              // folder or s3://BUCKET/PREFIX to which the file is shipped as it is written; empty: nowhere
	BackupEndpoint   string              // URL of what speaks the interface of S3; empty: what the environment says, or Amazon's
	BackupEvery      time.Duration       // how often that is; 1 s
	BackupKeep       time.Duration       // how far back one can go; 72 h
	BackupWithKey    bool                // the key of what is stored encrypted is shipped, too
	FirstKey         string              // token of a key with every scope, which is made if there is none of it; empty: a new directory gets one of its own
	Seed             string              // file or directory with what there is from the start and after a reset, see package seed; empty: nothing
	ReplicaURL       string              // base under which the other servers of that database reach this one; empty: the address
	Ephemeral        bool                // the directory is thrown away afterwards: no write waits for the disk
	Listen           string              // address of all interfaces; 127.0.0.1:0 picks a port
	TLSCert          string              // file of the certificate of Listen, in PEM; empty: it is plain HTTP
	TLSKey           string              // file of its key
	ACMEHosts        []string            // for which an authority is asked for certificates; none: TLSCert, or plain HTTP
	ACMEEmail        string              // that the authority writes to
	ACMEDirectory    string              // URL of the authority's directory; empty: Let's Encrypt
	ACMEListen       string              // address of plain HTTP that answers the authority, and sends all else to HTTPS; empty: none
	QueueListen      string              // a second address, for the queue and the workers; empty: none
	SSHListen        string              // address at which users log in to their pods by ssh; empty: none
	Endpoints        []Endpoint          // declared at the start; jobs of others are kept
	Drain            time.Duration       // how long requests may take to end at shutdown; 10 s
	MaxConnections   int                 // over all addresses; 0: 4096, or three quarters of the files that the process may have open
	StallTimeout     time.Duration       // in which a client that is waited for must send, or take, 64 KB; 20 s
	AllowedHosts     []string            // names under which pages are shown that ask for no key, besides those that can only be meant; see limit.Hosts
	PublicURL        string              // base under which clients reach the server, such as https://pods.example.com; empty: what a trusted proxy says, or the address
	Domain           string              // below which pods and endpoints are shown; empty: localhost
	PodPaths         bool                // pods are shown below /proxy/pods/, too
	RequestWait      time.Duration       // how long a request to an endpoint that balances load waits for a worker; 2 min
	TrustedProxies   []string            // addresses and networks of proxies whose X-Forwarded-Proto and X-Forwarded-Host are believed; none: nobody's
	PodRetention     time.Duration       // how long the row of a terminated pod is kept; 24 h
	WebhookRetention time.Duration       // how long a delivery of a webhook that is over stays in the log; 24 h
	KeyRetention     time.Duration       // how long a key that was revoked or has expired stays listed; 30 days
	AuditRetention   time.Duration       // how long it is kept who changed what, and who was refused; 90 days
	ChargeRetention  string              // how long a charge is kept that has ended, before it is summed by day: a duration, or forever; 2160h
	InterruptAfter   time.Duration       // that an interruptible pod runs on average; 0: until somebody interrupts it
	InterruptSeed    int64               // what these times are drawn from
	Contract         string              // the edition of the contract for requests and keys that name none; empty: 2.0.0, the strict one
	Quotas           Quotas              // of REST requests for each user
	QueueRates       compute.QueuePreset // limits on requests of the queue; empty: none
	Catalog          string              // file of the catalog; empty: the built-in one
	Placement        string              // how hosts are chosen: a runtime.Policy; empty: pack
	Fleet            string              // file of the hosts that pods are placed on, or FleetMachine; empty: a simulated fleet that has plenty of everything
	TestControls     bool                // serve /_berth/ and run on a clock that it can set
	PrivateWebhooks  bool                // permit webhooks on loopback and private addresses
	GraphQL          GraphQL             // bounds of documents, and what helps in developing
	Docs             bool                // serve pages at /docs to read the documents and to send requests from
	Console          bool                // serve the web console at /console
	Runtime          string              // name of what pods run on, see package runtime; empty: the default one
	RuntimeSettings  setting.Values      // of all kinds of runtimes
	WorkerURL        string              // base of the queue as workers reach it that are not processes of this machine; empty: worked out
	WorkerOutput     io.Writer           // gets what workers print; nil: kept for their logs only
	Lease            time.Duration       // how long the worker of a job may be silent before another one gets the job; 30 s, at least 3 s
	Log              *slog.Logger        // nil: silent
	LogDropped       func() int64        // how many lines of the log were dropped; nil: none is

	MetricsListen  string            // address of /metrics, which asks for no key; empty: nothing is measured
	TracesEndpoint string            // URL of a receiver of OTLP over HTTP; without a path its /v1/traces; empty: nothing is traced
	TracesHeaders  map[string]string // sent there with every batch
	DrainNotice    time.Duration     // how long /readyz says at shutdown that the server leaves before it does; 0: not at all
	Version        string            // of the program, for metrics, traces and who finds the directory in use; empty: dev

	clock compute.Clock // nil: the machine's, or with TestControls one that can be set
	probe probe         // what tests see of the start

	controlsKey string    // token of the test controls, which the rows have already; empty: a new one is made
	frozen      bool      // the clock that tests set begins to stand still
	frozenAt    time.Time // and this is its time; zero: it goes on from where the rows say
}

// Endpoint is a serverless endpoint whose workers are processes on this machine.
type Endpoint struct {
	ID          compute.EndpointID // 14 lower-case letters and digits; empty: one is made, and kept
	Name        string
	Command     []string // program and arguments of one worker; none: workers are started by somebody else
	WorkersMax  int      // 0: 3
	WorkersMin  int
	IdleTimeout time.Duration  // 0: 10 s
	Scaler      compute.Scaler // empty: QUEUE_DELAY
	ScalerValue int            // seconds or jobs; 0: 4
}

// Quotas are how many REST requests a user may make. Zero means the default: 1,000 a minute, 30,000 an hour, 500,000 a day.
type Quotas struct{ Minute, Hour, Day int64 }

// GraphQL is how the GraphQL interface is set. A limit that is zero means its default.
type GraphQL struct {
	Limits        graphql.Limits
	Introspection bool // clients may read the schema; they always may with TestControls
	Playground    bool // GET /graphql answers a page to try queries on
}

// What a declared endpoint has that says nothing else.
const (
	defaultWorkersMax  = 3
	defaultIdleTimeout = 10 * time.Second
)

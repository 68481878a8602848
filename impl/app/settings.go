package app

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/berthdev/berth/impl/certificate"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/observe"
	"github.com/berthdev/berth/impl/proxy"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/setting"
	"github.com/berthdev/berth/store/ship"
)

// LeastLease has room for three pings of whole seconds, which is how often an unmodified worker can ping.
const LeastLease = 3 * time.Second

// row is a setting, and where a Config has it.
type row struct {
	setting.Setting
	field func(*Config) any // a *string, *[]string, *bool, *int64 or *time.Duration; nil: who starts the server deals with it
}

// table has every setting but those of runtimes, which these bring along. Flags, variables, the configuration file, the help, the page
// docs/settings.md and berth.Options are made from it.
var table = []row{
	{setting.Setting{Name: "data", Default: "berth-data", Help: "directory of the database; a server makes it if it does not exist"}, func(c *Config) any { return &c.Data }},
	{setting.Setting{
		Name: "store", Option: "Store", Check: storeURL, CheckFlag: noPassword,
		Help: "postgres://user@host/database that keeps everything, for several servers together; a password may be in this variable or the configuration file, but not in the flag, or in PGPASSWORD, PGPASSFILE or ~/.pgpass; without it, a file in the data directory",
	}, func(c *Config) any { return &c.Store }},
	{setting.Setting{
		Name: "replica-url", Option: "ReplicaURL", Check: replicaURL,
		Help: "base URL at which the other servers of one --store reach this one, such as http://10.0.0.7:8765; an IPv6 address before a port needs no brackets; without it the address",
	}, func(c *Config) any { return &c.ReplicaURL }},
	{setting.Setting{
		Name: "secret-key", Option: "SecretKey",
		Help: "file with the 32 bytes that are the key of what is stored encrypted, which all servers of one --store share; without it, secret.key of the data directory",
	}, func(c *Config) any { return &c.SecretKey }},
	{setting.Setting{
		Name: "backup-to", Option: "BackupTo", Check: ship.CheckPlace,
		Help: "folder, or s3://BUCKET/PREFIX, to which the database is copied as it is written, for berth restore; keys of S3 are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, its region in AWS_REGION; one for each server; not with --store",
	}, func(c *Config) any { return &c.BackupTo }},
	{setting.Setting{
		Name: "backup-endpoint", Option: "BackupEndpoint",
		Help: "URL of a server with the interface of S3, such as http://10.0.0.9:9000; without it AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or Amazon's",
	}, func(c *Config) any { return &c.BackupEndpoint }},
	{setting.Setting{
		Name: "backup-every", Kind: setting.Duration, Default: "1s", Option: "BackupEvery", Check: positive,
		Help: "how often new writes are copied to --backup-to: about this much may be lost with the disk",
	}, func(c *Config) any { return &c.BackupEvery }},
	{setting.Setting{
		Name: "backup-keep", Kind: setting.Duration, Default: "72h0m0s", Option: "BackupKeep", Check: positive,
		Help: "how far back berth restore --at can go",
	}, func(c *Config) any { return &c.BackupKeep }},
	{setting.Setting{
		Name: "backup-with-key", Kind: setting.Switch, Option: "BackupWithKey",
		Help: "also copy the key that encrypts values in the database to --backup-to, which is then as secret as the key",
	}, func(c *Config) any { return &c.BackupWithKey }},
	{setting.Setting{
		Name: "listen", Default: "127.0.0.1:8765", Option: "Listen", OptionDefault: "127.0.0.1:0", Check: address,
		Help: "address at which all interfaces are served; port 0 picks a free one",
	}, func(c *Config) any { return &c.Listen }},
	{setting.Setting{
		Name: "tls-cert", Option: "TLSCert",
		Help: "file of a certificate, in PEM, followed by those between it and its authority; --listen then speaks HTTPS; it is read again when it changes. --queue-listen and --metrics-listen are plain HTTP",
	}, func(c *Config) any { return &c.TLSCert }},
	{setting.Setting{
		Name: "tls-key", Option: "TLSKey", Help: "file of the key of --tls-cert, in PEM",
	}, func(c *Config) any { return &c.TLSKey }},
	{setting.Setting{
		Name: "acme-hosts", Kind: setting.List, Option: "ACMEHosts",
		Help: "host names that lead to the server, for which it gets certificates from an authority by ACME; you thereby agree to the terms of the authority; --listen then speaks HTTPS; repeatable; names of pods need a wildcard certificate, by --tls-cert",
	}, func(c *Config) any { return &c.ACMEHosts }},
	{setting.Setting{
		Name: "acme-email", Option: "ACMEEmail", Help: "address that the authority writes to when something is wrong with a certificate",
	}, func(c *Config) any { return &c.ACMEEmail }},
	{setting.Setting{
		Name: "acme-directory", Default: certificate.LetsEncrypt, Option: "ACMEDirectory", Check: baseURL, Help: "URL of the authority's directory",
	}, func(c *Config) any { return &c.ACMEDirectory }},
	{setting.Setting{
		Name: "acme-listen", Option: "ACMEListen", Check: address,
		Help: "address of plain HTTP, such as 0.0.0.0:80, that answers the requests of the authority and redirects all others to HTTPS; without it the authority must reach --listen at port 443",
	}, func(c *Config) any { return &c.ACMEListen }},
	{setting.Setting{
		Name: "queue-listen", Option: "QueueListen", Check: address,
		Help: "a second address, for clients of the queue and workers",
	}, func(c *Config) any { return &c.QueueListen }},
	{setting.Setting{
		Name: "ssh-listen", Option: "SSHListen", Check: address,
		Help: "address at which users log in to their pods by ssh, as ssh POD@HOST with a key of their account; without it nobody can",
	}, func(c *Config) any { return &c.SSHListen }},
	{setting.Setting{
		Name: "public-url", Option: "PublicURL", Check: ownURL,
		Help: "base URL at which clients reach the server, such as https://pods.example.com of a proxy in front of it: every URL that the server gives out begins with it, and its host is allowed",
	}, func(c *Config) any { return &c.PublicURL }},
	{setting.Setting{
		Name: "worker-url", Option: "WorkerURL", Check: baseURL,
		Help: "base URL at which workers in containers reach the queue; without it the queue's own address, or the name of this machine inside of them where that is a loopback one",
	}, func(c *Config) any { return &c.WorkerURL }},
	{setting.Setting{
		Name: "domain", Default: proxy.DefaultDomain, Option: "Domain", Check: proxy.CheckDomain,
		Help: "domain below which pods and endpoints are shown: {podId}-{port}.DOMAIN, at the port of all interfaces, leads to an http port of the pod, and {endpointId}.DOMAIN to the workers of an endpoint that balances load; its names must lead to the server, as those below localhost do on the machine itself",
	}, func(c *Config) any { return &c.Domain }},
	{setting.Setting{
		Name: "pod-paths", Kind: setting.Switch, Option: "PodPaths",
		Help: "show http ports of pods at /proxy/pods/{podId}/{port}/, too, for clients that cannot resolve names below the domain; off by default, because pages of pods are then on the origin of the interfaces, though sandboxed and without cookies",
	}, func(c *Config) any { return &c.PodPaths }},
	{setting.Setting{
		Name: "request-wait", Kind: setting.Duration, Default: "2m0s", Option: "RequestWait", Check: positive,
		Help: "how long a request to an endpoint that balances load waits for a worker, such as one that is being started",
	}, func(c *Config) any { return &c.RequestWait }},
	{setting.Setting{
		Name: "allowed-host", Kind: setting.List, Option: "AllowedHosts", Check: hosts,
		Help: "a host name of the server, such as that of a proxy in front of it: pages that need no key are served only under such names; .example.com for all below, * for any; repeatable",
	}, func(c *Config) any { return &c.AllowedHosts }},
	{setting.Setting{
		Name: "trusted-proxies", Kind: setting.List, Option: "TrustedProxies", Check: proxies,
		Help: "addresses or networks, such as 10.0.0.0/8, of proxies whose X-Forwarded-Proto, X-Forwarded-Host and, in the audit log, X-Forwarded-For are believed; repeatable; without it nobody's are",
	}, func(c *Config) any { return &c.TrustedProxies }},
	{setting.Setting{
		Name: "max-connections", Kind: setting.Number, Default: "0", Option: "MaxConnections", Check: notNegative,
		Help: "the maximum number of connections; 0: 4096, or three quarters of the files that the process may have open if that is less",
	}, func(c *Config) any { return &c.MaxConnections }},
	{setting.Setting{
		Name: "stall-timeout", Kind: setting.Duration, Default: limit.DefaultSpan.String(), Option: "StallTimeout", Check: positive,
		Help: "how long a client may take for each 64 KB that it sends or reads",
	}, func(c *Config) any { return &c.StallTimeout }},
	{setting.Setting{
		Name: "docs", Kind: setting.Switch, Default: "true", Option: "Docs",
		Help: "serve pages at /docs to read the documents and to send requests from",
	}, func(c *Config) any { return &c.Docs }},
	{setting.Setting{
		Name: "console", Kind: setting.Switch, Default: "true", Option: "Console",
		Help: "serve the web console at /console, and redirect browsers from / to it",
	}, func(c *Config) any { return &c.Console }},

	{setting.Setting{Use: setting.Serve, Name: "endpoint", Kind: setting.List, Help: "NAME=COMMAND: an endpoint whose workers are processes of the command, or workers of your own if it is empty; ID:NAME=COMMAND has it get that id, of 14 lower-case letters and digits; repeatable"}, nil},
	{setting.Setting{
		Use: setting.Serve, Name: "first-key",
		Help: "token of a key with every scope, which is made at the start if there is none of it, or with a slash in it the file that has the token; 16 characters at least; better a file or BERTH_FIRST_KEY, since others see command lines",
	}, nil},
	{setting.Setting{
		Use: setting.Serve, Name: "ephemeral", Kind: setting.Switch,
		Help: "keep nothing, for tests: the database is in a temporary directory that is removed at the end, and no write waits for the disk; not with --data or --store",
	}, nil},
	{setting.Setting{
		Name: runtimeRow, Option: "Runtime", Help: "what pods and workers run on: %s; see berth doctor",
	}, func(c *Config) any { return &c.Runtime }},
	{setting.Setting{
		Name: "catalog", Option: "Catalog",
		Help: "file with the GPU types, CPU flavors, data centers and public templates; without it the built-in one",
	}, func(c *Config) any { return &c.Catalog }},
	{setting.Setting{
		Name: "fleet", Option: "Fleet",
		Help: "file with the hosts that pods are placed on, or the word machine for this one; without it a simulated fleet with plenty of everything",
	}, func(c *Config) any { return &c.Fleet }},
	{setting.Setting{
		Name: "seed", Option: "Seed",
		Help: "file, or directory of files, of what the server has from the start and after a reset of the test controls: users, keys, pods, endpoints and the like, in YAML; see docs/contract.md",
	}, func(c *Config) any { return &c.Seed }},
	{setting.Setting{
		Name: "placement", Option: "Placement", Default: string(runtime.PolicyPack), Choices: runtime.Policies(),
		Help: "how hosts are chosen: pack fills one before the next, spread takes the one with the most left, spread-data-centers that of the data center with the most left; kubernetes chooses by itself",
	}, func(c *Config) any { return &c.Placement }},

	{setting.Setting{
		Name: "interrupt-after", Kind: setting.Duration, Default: "0s", Option: "InterruptAfter", Check: notNegative,
		Help: "how long an interruptible pod runs on average until it is interrupted; 0s: until a test asks for it",
	}, func(c *Config) any { return &c.InterruptAfter }},
	{setting.Setting{
		Name: "interrupt-seed", Kind: setting.Number, Default: "0", Option: "InterruptSeed",
		Help: "seed of the random times of interruptions: the same seed gives the same times, one pod after the other",
	}, func(c *Config) any { return &c.InterruptSeed }},

	{setting.Setting{
		Name: "lease", Kind: setting.Duration, Default: "30s", Option: "Lease", Check: longEnough,
		Help: "how long the worker of a job may be silent before another one gets the job; at least " + LeastLease.String(),
	}, func(c *Config) any { return &c.Lease }},
	{setting.Setting{
		Name: "pod-retention", Kind: setting.Duration, Default: "24h", Option: "PodRetention", Check: positive,
		Help: "how long the row of a terminated pod is kept; its environment, arguments and log are removed at once",
	}, func(c *Config) any { return &c.PodRetention }},
	{setting.Setting{
		Name: "webhook-retention", Kind: setting.Duration, Default: "24h", Option: "WebhookRetention", Check: positive,
		Help: "how long a finished delivery of a webhook stays in the log",
	}, func(c *Config) any { return &c.WebhookRetention }},
	{setting.Setting{
		Name: "key-retention", Kind: setting.Duration, Default: "720h", Option: "KeyRetention", Check: positive,
		Help: "how long a revoked or expired key stays listed",
	}, func(c *Config) any { return &c.KeyRetention }},
	{setting.Setting{
		Name: "audit-retention", Kind: setting.Duration, Default: "2160h", Option: "AuditRetention", Check: positive,
		Help: "how long to keep who changed what and who was refused, for berth audit; at most the last 100000 changes and 50000 refusals",
	}, func(c *Config) any { return &c.AuditRetention }},
	{setting.Setting{
		Name: "charge-retention", Default: "2160h", Option: "ChargeRetention", Check: durationOrForever,
		Help: "how long the bill of what has ended keeps its exact times, before it is summed by day; a duration such as 2160h, or " + forever,
	}, func(c *Config) any { return &c.ChargeRetention }},
	{setting.Setting{
		Name: "drain", Kind: setting.Duration, Default: "10s", Option: "Drain", Check: positive, Help: "how long requests may take to finish at shutdown",
	}, func(c *Config) any { return &c.Drain }},
	{setting.Setting{
		Name: "drain-notice", Kind: setting.Duration, Default: "0s", Option: "DrainNotice", Check: notNegative,
		Help: "how long /readyz says at shutdown that the server is leaving, before it stops listening",
	}, func(c *Config) any { return &c.DrainNotice }},
	{setting.Setting{Name: "private-webhooks", Kind: setting.Switch, Help: "permit webhooks on loopback and private addresses"}, func(c *Config) any { return &c.PrivateWebhooks }},

	{setting.Setting{
		Name: "contract", Default: Contracts()[0], Choices: Contracts(), Option: "Contract",
		Help: "the edition of the contract for requests that choose none by the header Berth-Contract or by their key; 2.0.0 is the strict one, public what today's clients of the public service speak",
	}, func(c *Config) any { return &c.Contract }},
	{setting.Setting{
		Name: "quota-minute", Kind: setting.Number, Default: "1000", Option: "QuotaMinute", Check: atLeastOne, Help: "REST requests that a user may make in a minute",
	}, func(c *Config) any { return &c.Quotas.Minute }},
	{setting.Setting{
		Name: "quota-hour", Kind: setting.Number, Default: "30000", Option: "QuotaHour", Check: atLeastOne, Help: "REST requests that a user may make in an hour",
	}, func(c *Config) any { return &c.Quotas.Hour }},
	{setting.Setting{
		Name: "quota-day", Kind: setting.Number, Default: "500000", Option: "QuotaDay", Check: atLeastOne, Help: "REST requests that a user may make in a day",
	}, func(c *Config) any { return &c.Quotas.Day }},
	{setting.Setting{
		Name: "queue-rates", Default: string(compute.QueueUnlimited), Choices: []string{string(compute.QueueUnlimited), string(compute.QueuePublished)}, Option: "QueueRates",
		Help: "limits on the requests of queues: none, or published for the published numbers in 10 s",
	}, func(c *Config) any { return (*string)(&c.QueueRates) }},
	{setting.Setting{
		Name: "graphql-depth", Kind: setting.Number, Default: "20", Option: "GraphQLDepth", Check: atLeastOne, Help: "how deep the fields of a GraphQL document may nest",
	}, func(c *Config) any { return &c.GraphQL.Limits.Depth }},
	{setting.Setting{
		Name: "graphql-fields", Kind: setting.Number, Default: "500", Option: "GraphQLFields", Check: atLeastOne, Help: "how many fields a GraphQL document may ask for",
	}, func(c *Config) any { return &c.GraphQL.Limits.Fields }},
	{setting.Setting{
		Name: "graphql-aliases", Kind: setting.Number, Default: "50", Option: "GraphQLAliases", Check: atLeastOne, Help: "how many aliases a GraphQL document may have",
	}, func(c *Config) any { return &c.GraphQL.Limits.Aliases }},
	{setting.Setting{Name: "graphql-introspection", Kind: setting.Switch, Help: "let clients of GraphQL read the schema"}, func(c *Config) any { return &c.GraphQL.Introspection }},

	{setting.Setting{
		Name: "log-level", Default: "info", Check: func(value string) error {
			_, err := observe.ParseLevels(value)
			return err
		},
		Help: "the lowest level that is logged: debug, which has every request, info, warn or error; or ROOM=LEVEL for one room, separated by commas: loop=debug,warn",
	}, nil},
	{setting.Setting{Name: "log-format", Default: "text", Choices: []string{"text", "json"}, Help: "how the log is written: text or json"}, nil},
	{setting.Setting{Name: "verbose", Short: "v", Kind: setting.Switch, Help: "log every request: --log-level debug"}, nil},
	{setting.Setting{
		Name: "metrics-listen", Option: "MetricsListen", Check: address,
		Help: "address of /metrics for Prometheus, which needs no key; without it nothing is measured",
	}, func(c *Config) any { return &c.MetricsListen }},
	{setting.Setting{
		Name: "traces-endpoint", Option: "TracesEndpoint", Check: baseURL,
		Help: "URL of a receiver of OpenTelemetry traces by OTLP over HTTP; without it OTEL_EXPORTER_OTLP_ENDPOINT",
	}, func(c *Config) any { return &c.TracesEndpoint }},
	{setting.Setting{Name: "test-controls", Kind: setting.Switch, Help: "serve /_berth/ for tests: the clock, reset, keys, quotas, faults, the journal of requests; its key is printed"}, func(c *Config) any { return &c.TestControls }},

	{setting.Setting{Use: setting.Client, Name: "server", Default: "http://127.0.0.1:8765", Help: "base address of the server"}, nil},
	{setting.Setting{Use: setting.Client, Name: "queue-server", Help: "base address of its queue, if it is another one"}, nil},
	{setting.Setting{Use: setting.Client, Name: "key", Help: "API key; better given as BERTH_KEY, since others see command lines"}, nil},
}

// runtimeRow names the setting of the kind of runtime.
const runtimeRow = "runtime"

// rows gives the table with the names of the kinds of runtimes in it.
func rows() []row {
	all := slices.Clone(table)
	at := slices.IndexFunc(all, func(r row) bool { return r.Name == runtimeRow })
	names := runtime.Names()
	all[at].Default, all[at].Choices, all[at].Help = names[0], names, fmt.Sprintf(all[at].Help, setting.Or(names))
	return all
}

// RuntimeSettings gives the settings of all kinds of runtimes.
func RuntimeSettings() (all []setting.Setting) {
	for _, k := range runtime.Kinds() {
		all = append(all, k.Settings...)
	}
	return all
}

// Settings gives all settings, those of runtimes too.
func Settings() (all []setting.Setting) {
	for _, r := range rows() {
		all = append(all, r.Setting)
		if r.Name == runtimeRow {
			all = append(all, RuntimeSettings()...)
		}
	}
	return all
}

// NewConfig makes a Config of values. What has no value has its default, and a name that is no setting is passed over. The error is a
// *setting.Error.
func NewConfig(v setting.Values) (c Config, err error) {
	for _, r := range rows() {
		values, err := valuesOf(r.Setting, v)
		if err != nil {
			return c, err
		}
		if r.field != nil {
			assign(r.field(&c), values)
		}
	}

	c.RuntimeSettings = setting.Values{}
	for _, s := range RuntimeSettings() {
		if c.RuntimeSettings[s.Name], err = valuesOf(s, v); err != nil {
			return c, err
		}
	}

	return c, nil
}

// valuesOf gives the values of a setting, or its default.
func valuesOf(s setting.Setting, v setting.Values) ([]string, error) {
	values, given := v[s.Name]
	if !given && s.Default != "" {
		return []string{s.Default}, nil
	}
	return values, check(s, values)
}

// check refuses values that make no sense. An empty text is none.
func check(s setting.Setting, values []string) error {
	if len(values) == 1 && values[0] == "" && s.Choices == nil {
		return nil
	}
	return s.Validate(values)
}

// withDefaults puts the default in place of each zero, but of a switch: one that is not set is off.
func (c Config) withDefaults() Config {
	for _, r := range rows() {
		if r.field == nil || r.Option == "" || r.Kind == setting.Switch || r.Default == "" {
			continue
		}
		if to := r.field(&c); isZero(to) {
			assign(to, []string{r.Default})
		}
	}

	c.Version = cmp.Or(c.Version, "dev")
	c.GraphQL.Limits = c.GraphQL.Limits.WithDefaults()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// validate refuses values that make no sense with a *setting.Error.
func (c Config) validate() error {
	for _, r := range rows() {
		if r.field == nil {
			continue
		}
		if err := check(r.Setting, texts(r.field(&c))); err != nil {
			return err
		}
	}

	for _, s := range RuntimeSettings() {
		if err := check(s, c.RuntimeSettings[s.Name]); err != nil {
			return err
		}
	}

	return nil
}

// assign sets a field to values that were validated.
func assign(to any, values []string) {
	text := setting.Values{"": values}.Text("")
	switch to := to.(type) {
	case *string:
		*to = text
	case *[]string:
		*to = values
	case *bool:
		*to = text == "true"
	case *int:
		n, _ := strconv.ParseInt(text, 10, 0)
		*to = int(n)
	case *int64:
		*to, _ = strconv.ParseInt(text, 10, 64)
	case *time.Duration:
		*to, _ = time.ParseDuration(text)
	}
}

// texts gives the values of a field as they would be written.
func texts(of any) []string {
	switch of := of.(type) {
	case *string:
		return []string{*of}
	case *[]string:
		return *of
	case *bool:
		return []string{strconv.FormatBool(*of)}
	case *int:
		return []string{strconv.Itoa(*of)}
	case *int64:
		return []string{strconv.FormatInt(*of, 10)}
	case *time.Duration:
		return []string{of.String()}
	}

	return nil
}

func isZero(field any) bool {
	switch field := field.(type) {
	case *string:
		return *field == ""
	case *int:
		return *field == 0
	case *int64:
		return *field == 0
	case *time.Duration:
		return *field == 0
	}
	return false
}

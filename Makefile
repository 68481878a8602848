# The targets; `make help` lists them.
SHELL := /bin/sh
# Git refuses to read a checkout of another user, such as one that root builds in a container: this option permits it. The
# version is stamped here, so that go need not ask git, which would end the build there.
VERSION := $(shell git -c safe.directory="$(CURDIR)" describe --always --dirty 2>/dev/null || echo dev)
GO := $(shell sed -n 's/^go //p' go.mod)
FUZZTIME ?= 10m
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.12.2

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-16s %s\n", $$1, $$2}' Makefile

.PHONY: go
go:
	@command -v go >/dev/null || { echo "There is no go here, and berth is built with Go $(GO) or newer: https://go.dev/dl/" >&2; exit 1; }
	@go list -m >/dev/null 2>&1 || { echo "berth is built with Go $(GO) or newer: https://go.dev/dl/. Here is $$(cd / && GOTOOLCHAIN=local go version), which says:" >&2; \
		go list -m >&2; exit 1; }

.PHONY: build
build: go ## build bin/berth, one static binary
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$(VERSION)" -o bin/berth ./cmd/berth

.PHONY: run
run: go ## serve on a new database, which is removed at the end: create a pod, run a job through a real worker, keep serving
	@echo "Compiling bin/berth: the first time it takes about two minutes, and downloads what it needs."
	@$(MAKE) --no-print-directory build
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && { bin/berth serve --demo --data "$$data/berth-data" & }; pid=$$!; \
	trap 'kill -TERM $$pid 2>/dev/null' INT TERM HUP; \
	while kill -0 $$pid 2>/dev/null; do wait $$pid; code=$$?; done; exit $$code

.PHONY: test
test: ## run all tests (without the profile, which would compile everything once more)
	go test -pgo=off -timeout 40m ./...
	cd conformance/bench && go test -pgo=off -timeout 40m .

.PHONY: race
# Generators, what compares documents, compiles or counts statements have one goroutine.
race: ## run the tests of all that is concurrent under the race detector (PACKAGES="./impl/queue" for some)
	BERTH_FAULTS=few BERTH_SEEDS=$(or $(SEEDS),100) go test -race -pgo=off -timeout 40m -skip 'InEveryEdition|OnThreeReplicas|IsTakenOrNamed|TestContributing|TenThousandOfEach|Kubernetes_Rules' \
		$(or $(PACKAGES),$$(go list ./... | grep -vE '/(cmd/validgen|conformance/mutate|spec/diff|gen/.*)$$'))

.PHONY: model
model: ## hold the queue against its reference, and placement against its rows, in 10,000 random lives each (SEEDS=n; BERTH_SEED=n replays one)
	BERTH_SEEDS=$(or $(SEEDS),10000) go test -count=1 -timeout 60m -run Model ./impl/queue ./impl/control

.PHONY: model-replicas
model-replicas: ## hold what clients of three replicas see against one queue, while the owner is killed 100 times (KILLS=n; BERTH_SEED=n replays one)
	BERTH_KILLS=$(or $(KILLS),100) go test -count=1 -timeout 60m -v -run Histories_Across ./impl/queue

.PHONY: faults
faults: ## fail every call to the disk, and lose power at each: the whole of what make test does in part (with root also on a real file system)
	BERTH_FAULTS=all go test -count=1 -pgo=off -timeout 20m ./store/faulttest
	BERTH_FAULTS=all go test -count=1 -pgo=off -timeout 20m -run 'Disk|Power' ./impl/app

.PHONY: cuts
cuts: ## cut the connection to PostgreSQL at every byte of a group, which make test does at some (needs PostgreSQL)
	BERTH_CUTS=all go test -count=1 -pgo=off -timeout 20m -run CutAtAnyByte ./store/postgres

.PHONY: generate
generate: ## generate what is not yet made of spec/ in gen/, and what validgen is tested with (GENERATE=all: all of it); if it fails, nothing has changed
	@kept=$$(mktemp -d) && cp -Rp gen cmd/validgen/testdata "$$kept" && \
	trap 'code=$$?; [ $$code = 0 ] || { rm -rf gen cmd/validgen/testdata; cp -Rp "$$kept/gen" .; cp -Rp "$$kept/testdata" cmd/validgen; }; rm -rf "$$kept"; exit $$code' EXIT && \
	trap 'exit 130' INT TERM && go generate ./gen

.PHONY: check-generate
check-generate: export GENERATE = all
check-generate: generate ## fail if gen/ is not what spec/ generates
	@set -- gen cmd/validgen/testdata; test -z "$$(git status --porcelain -- $$@)" || { git status --short -- $$@; git --no-pager diff -- $$@ | head -50; echo "gen/ is not what spec/ generates: run make generate and commit"; exit 1; }

.PHONY: check-spec
check-spec: ## lint the documents, and fail at a change that breaks clients and is not in spec/breaking.txt (needs Node)
	spec/check.sh

.PHONY: check-drift
check-drift: build ## hold spec/ against a public document, DOC=public.json, and write the skeleton of an edition for it: NAME=acme
	@test -n "$(DOC)" || { echo "which document? make check-drift DOC=public.json" >&2; exit 2; }
	@mkdir -p artefacts
	bin/berth spec drift "$(DOC)" --expected spec/differences.yaml --name $(or $(NAME),drift) --overlay artefacts/$(or $(NAME),drift).overlay.yaml

.PHONY: rules
rules: ## write RULES.md, the pages of settings, commands and errors, the options, the pictures of statuses and rooms, the schema of new databases and the pages in docs/built from their sources
	BERTH_GOLDEN=write go test -count=1 -run 'TestSchema_Is' ./store/sqlite
	BERTH_GOLDEN=write go test -count=1 -run 'RULES' ./conformance
	BERTH_GOLDEN=write go test -count=1 -run 'TestReference' ./cmd/berth
	BERTH_GOLDEN=write go test -count=1 -run 'TestSettings' ./impl/app
	BERTH_GOLDEN=write go test -count=1 -run 'TestKnown' ./impl/journal/bodies
	BERTH_GOLDEN=write go test -count=1 -run 'Pictures' ./impl/compute .
	BERTH_GOLDEN=write go test -count=1 -run 'TestErrors' ./docs/site
	BERTH_GOLDEN=write go test -count=1 -run 'TestSite_IsUpToDate' ./docs/site

.PHONY: fixture
fixture: ## write a database of this release, from which upgrades are tested: once for each release whose schema is a new one
	BERTH_GOLDEN=release go test -count=1 -pgo=off -run 'FixtureOfThisRelease' ./store/sqlite

.PHONY: lint
lint: ## gofmt, go vet, golangci-lint, go.mod as the code asks for it
	go mod tidy -diff
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go vet ./...
	cd conformance/bench && go vet ./... && go mod tidy -diff
	cd deploy/testcontainers && go vet ./... && go mod tidy -diff
	cd deploy/release && go vet ./... && go mod tidy -diff
	go run $(GOLANGCI) run ./...

.PHONY: judge
judge: build ## berth conformance beside a default server, a mock of the document (needs Node) and wrong arguments (needs Python); GOLDEN=write keeps how rules fare beside the mock
	GOLDEN=$(GOLDEN) conformance/target.sh

.PHONY: mutate
mutate: ## plant MUTANTS=200 random changes in what people wrote, by SEED=1, and see which no test notices (an hour or two; FROM=place to go on, ROOMS=impl/queue for some)
	go run ./conformance/mutate -mutants $(or $(MUTANTS),200) -seed $(or $(SEED),1) $(if $(FROM),-from $(FROM)) $(if $(ROOMS),-rooms $(ROOMS))

.PHONY: newcomer
newcomer: build ## the second step of somebody new: a handler that crashes, berth dev twice, an edit, a browser (needs Python with venv)
	conformance/newcomer.sh

# REPLICAS=3 has clients and fuzz-contract run against so many servers over one PostgreSQL, each connection to any of them.
several = $(if $(REPLICAS),BERTH=$(CURDIR)/bin/replicas BERTH_PROGRAM=$(CURDIR)/bin/berth BERTH_REPLICAS=$(REPLICAS))

.PHONY: replicas
replicas: build
	go build -trimpath -o bin/replicas ./conformance/replicas

.PHONY: clients
clients: $(if $(REPLICAS),replicas) ## the unmodified SDK clients and workers against a server, or REPLICAS=3 of one PostgreSQL (needs Python and Node)
	$(several) conformance/clients/run.sh

.PHONY: suites
suites: build ## the test suites that public client libraries ship, unmodified, against a seeded server (needs Python, Node, unshare)
	conformance/clients/suites.sh

.PHONY: viewer
viewer: ## take the viewer of the reference pages from npm, at the version in impl/reference/viewer
	impl/reference/viewer/vendor.sh

.PHONY: pages
pages: build ## the pages in headless Chromium, against the viewer of the lockfile; screenshots in artefacts/ (needs Node and Chromium)
	impl/reference/viewer/vendor.sh --check
	conformance/pages/run.sh

.PHONY: console
console: ## build the web console from its sources: types from spec/, and the files that are embedded (needs Node)
	console/build.sh

.PHONY: check-console
check-console: build ## the console: built files as its sources give them, its unit tests, each page in headless Chromium; screenshots in artefacts/ (needs Node and Chromium; ONLY="pods jobs" for some)
	console/build.sh --check
	console/tests/run.sh

.PHONY: examples
examples: build ## tests of clients in Go, Python and JavaScript, each test with a server of its own (needs Python and Node)
	examples/run.sh

.PHONY: compare
compare: build ## record what a client does with a berth, play it back, and compare two others by it (needs curl)
	conformance/compare.sh

.PHONY: packages
packages: build ## build pytest-berth and berth-test with the program inside, install them from the built files, and test them there (needs Python and Node)
	deploy/check-packages.sh

.PHONY: thousand
thousand: build ## 1,000 tests in Go and in pytest, each with a server of its own: how long one takes, and that nothing is left of them; then beside moto and stripe-mock (TESTS=n; needs Python with venv)
	conformance/thousand/run.sh $(or $(TESTS),1000)
	cd conformance/bench && go run . -berth ../../bin/berth -tests $(or $(TESTS),1000) tests

.PHONY: readme
readme: ## run the quick starts, docs/start*.md, word for word, each in a clean clone; START=spec for some (needs Python, port 8765, an engine)
	.ci/readme $(START)

.PHONY: blocks
blocks: build ## run the code blocks of all other pages, or see why one cannot run; PAGES="docs/shells.md README.md" for some (needs Python with venv, Node, PostgreSQL)
	.ci/blocks $(PAGES)

.PHONY: check-links
check-links: ## ask for each address elsewhere that pages, help and packages name, and fail at one that answers 404 or 410 twice (needs Python; SKIPPED without a network)
	.ci/links $(PAGES)

.PHONY: fuzz-contract
fuzz-contract: $(if $(REPLICAS),replicas) ## fuzz a server, or REPLICAS=3 of one PostgreSQL, over its documents: FUZZ_EXAMPLES=300 of each operation, FUZZ_SEEDS='1 2 3' (needs Python)
	$(several) conformance/fuzz/run.sh

.PHONY: fuzz-plain
fuzz-plain: ## a schemathesis without any configuration of ours; it fails at what conformance/fuzz/plain.yaml does not list (needs Python, unshare)
	conformance/fuzz/plain.sh

.PHONY: generated-clients
generated-clients: build ## clients that four tools generate from the served documents create a pod and get it (needs Python, Node, Maven)
	conformance/generated/run.sh

.PHONY: containers
containers: ## the tests that need a Docker Engine; without one they fail (RUN=pattern for some)
	BERTH_TEST_DOCKER=1 .ci/go-test -count=1 -pgo=off $(if $(RUN),-run '$(RUN)') ./impl/runtime/docker ./impl/app ./cmd/berth

.PHONY: shown
shown: ## web servers in pods, asked through the proxy, also behind Caddy and nginx: websockets, 100 MB both ways, what is killed, and events for a minute, which make test has for seconds (needs both; RUN=pattern)
	BERTH_SHOWN=all go test -count=1 -pgo=off -timeout 10m -run '$(or $(RUN),^TestShown_)' ./impl/app

.PHONY: engines
engines: ## three Docker Engines as on three machines: what they share, and how hosts are lost, come back, come and go (needs root; RUN=pattern)
	.ci/with-engines env BERTH_TEST_DOCKER=1 .ci/go-test -count=1 -pgo=off -p 1 -timeout 15m -run '$(or $(RUN),^TestFleet_|^TestEngines_)' ./impl/runtime/docker ./impl/app

.PHONY: crash
crash: build ## kill the server and workers under load, 20 times each (ROUNDS=n WORKERS=n SEED=n)
	go run ./conformance/crash -berth bin/berth -rounds $(or $(ROUNDS),20) -workers $(or $(WORKERS),20) $(if $(SEED),-seed $(SEED))

.PHONY: pause
pause: build ## pause servers and step their clocks under load, 100 times each, 4 servers side by side (PAUSES=n LEASE=30s SERVERS=n SEED=n)
	go run ./conformance/crash -berth bin/berth -rounds 0 -workers 0 -pauses $(or $(PAUSES),100) -lease $(or $(LEASE),30s) -servers $(or $(SERVERS),4) $(if $(SEED),-seed $(SEED))

.PHONY: check-upgrades
check-upgrades: build ## a database of every earlier schema, as kept, is upgraded, says what it said and keeps the rules about what reads (needs git, Python, PostgreSQL)
	python3 conformance/upgrades/upgrades.py --kept bin/berth

.PHONY: upgrades
upgrades: build ## the same with databases that every earlier commit that changed the schema makes anew, of which it keeps what is not kept yet (needs half an hour; COMMITS="a b" for some)
	python3 conformance/upgrades/upgrades.py bin/berth $(COMMITS)

# A server of S3 that others wrote, which go.mod knows nothing of. Building it takes a minute.
bin/versitygw: conformance/s3/go.mod conformance/s3/go.sum
	cd conformance/s3 && CGO_ENABLED=0 go build -trimpath -pgo=off -ldflags "-s -w" -o ../../$@ github.com/versity/versitygw/cmd/versitygw

.PHONY: backup
backup: build bin/versitygw ## backups of a server under load, killed in every other one, and what servers ship that lose their disks, to folders and to S3, served elsewhere, 20 times each (ROUNDS=n SEED=n)
	BERTH_TEST_S3=$(CURDIR)/bin/versitygw go test -count=1 -pgo=off -run Versity ./store/ship
	go run ./conformance/crash -berth bin/berth -rounds 0 -workers 0 -backups $(or $(ROUNDS),20) -lost $(or $(ROUNDS),20) -s3 bin/versitygw $(if $(SEED),-seed $(SEED))

.PHONY: cluster
cluster: build ## pods on Kubernetes: a real API server, scheduler and controller manager, which are built once (10 minutes), with simulated nodes; CACHE=directory of them
	conformance/cluster/run.sh bin/berth $(CACHE)

.PHONY: crash-replicas
crash-replicas: build ## three replicas over one PostgreSQL: kill the owner 20 times under load, stop it, restart all (ROUNDS=n STOPS=n STOP=30s ROLLS=n OTHER=program SEED=n)
	go run ./conformance/crash -berth bin/berth -rounds 0 -workers 0 -replica-kills $(or $(ROUNDS),20) -replica-stops $(or $(STOPS),3) -replica-stop $(or $(STOP),30s) \
		-replica-rolls $(or $(ROLLS),3) $(if $(OTHER),-replica-other $(abspath $(OTHER))) $(if $(SEED),-seed $(SEED))

.PHONY: abuse
abuse: build ## do to a server what clients can that mean it ill, and measure its memory (QUICK=1 in about a minute)
	go run ./conformance/abuse -berth bin/berth $(if $(QUICK),-quick) $(if $(ONLY),-only "$(ONLY)")

.PHONY: bench
bench: build ## speed beside references, as ratios, to BENCH.md; only printed: PARTS="requests peers", ROW="/run, 64"
	cd conformance/bench && go run . -berth ../../bin/berth $(if $(ROW),-row "$(ROW)") $(PARTS)

.PHONY: bench-compare
bench-compare: build ## which rows of make bench have moved beyond their noise since BASE=commit; fails if one is worse (PARTS="start requests lists proxy" ROW="/run, 64" ROUNDS=12 LENGTH=500ms; OUT=file for Markdown too)
	@test -n "$(BASE)" || { echo "beside which commit? make bench-compare BASE=main" >&2; exit 2; }
	cd conformance/bench && go run . -berth ../../bin/berth -base "$(BASE)" $(if $(ROW),-row "$(ROW)") $(if $(ROUNDS),-rounds $(ROUNDS)) \
		$(if $(LENGTH),-length $(LENGTH)) $(if $(OUT),-out "$(abspath $(OUT))") $(PARTS)

.PHONY: profile
profile: ## write cmd/berth/default.pgo, the profile that the compiler reads, from a server under load
	conformance/bench/profile.sh

.PHONY: bench-validate
bench-validate: ## the generated validators beside encoding/json and kin-openapi: medians and ratios
	go test ./cmd/validgen -run '^$$' -bench 'Ratios' -benchtime 100x
	go test ./cmd/validgen -run '^$$' -bench 'CreatePodBody' -benchmem

.PHONY: check-metrics
check-metrics: build ## hold the metrics of a running server, the alerts and the dashboard against promtool (needs it, Debian's package prometheus, and jq)
	.ci/check-metrics

.PHONY: fuzz
fuzz: ## every fuzz test, FUZZTIME (10m) each
	@for package in ./impl/validate ./cmd/validgen; do \
		for test in $$(go test $$package -list '^Fuzz' | grep '^Fuzz'); do \
			go test $$package -run '^$$' -fuzz "^$$test\$$" -fuzztime $(FUZZTIME) || exit 1; \
		done; \
	done

.PHONY: image
image: build ## pack bin/berth, or on another system the same for Linux, into the container image berth (needs a Docker Engine)
	deploy/image.sh berth $(VERSION)

.PHONY: check-image
check-image: build ## build the container image, run it, and see it healthy and its data kept (needs a Docker Engine)
	deploy/check-image.sh

.PHONY: testcontainers
testcontainers: build ## the image as the modules for testcontainers of Go and Python start it (needs a Docker Engine, Python)
	deploy/check-testcontainers.sh

# A release has the version of its tag; what has no tag is counted by its commits. Every time in it is that of the commit.
git = git -c safe.directory="$(CURDIR)"
RELEASE ?= $(shell $(git) describe --exact-match --tags --match 'v[0-9]*' 2>/dev/null || echo v0.0.0-dev.$$($(git) rev-list --count HEAD))
SOURCE_DATE_EPOCH ?= $(shell $(git) log -1 --format=%ct)

.PHONY: release
release: go ## everything that a release has, in dist/: archives, deb, rpm, wheels, npm, Homebrew, the chart, SBOMs, checksums (RELEASE=v1.2.3 TARGETS=linux/amd64,…)
	@case $(RELEASE) in *-dev.*) ;; *) test -z "$$($(git) status --porcelain)" || { echo "there are changes that are not committed: $(RELEASE) is a commit" >&2; exit 1; } ;; esac
	cd deploy/release && go run . -root ../.. -dist ../../dist -version $(RELEASE) -time $(SOURCE_DATE_EPOCH) $(if $(TARGETS),-targets $(TARGETS))
	@cd dist && ls -lh . python npm helm | awk 'NF > 8 {print $$5, $$9}'

.PHONY: check-release
check-release: ## the release, built twice to the same bytes, its files installed in clean Debian systems and used (QUICK=1: one system, from the cache; needs root, apt)
	deploy/check-release.sh

.PHONY: check-deploy
check-deploy: build ## the action, the unit, the Compose files and the chart, by the tools that read them; what an embedder requires; two replicas behind a balancer (needs Python, PostgreSQL, Caddy)
	deploy/check.sh

.PHONY: ci
ci: ## everything that must hold before a change lands
	.ci/run

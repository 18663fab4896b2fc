# Everything a developer or a build machine does with Mneme. `make` alone lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
# Images of Python often set it. Without bytecode each process compiles all modules anew, and the tests start many.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
PYTHON_PATHS := $(wildcard services clients/python tests bench tools)

# Settings of single targets, for example `make test PYTEST_ARGS="tests/unit -x"`.
PYTEST_ARGS ?=
TEST_WORKERS ?= 2
RUN_ARGS ?=
BENCH_ARGS ?=
SIZES ?= 1000,10000
DATA ?=
OUT ?=
RANKED ?=
ENGINES ?=
JUDGEMENTS ?=
TARGET ?=

# The benchmarks start engines of their own, and a process for each service beside them.
BENCH_ENGINES = $(if $(ENGINES),--engines "$(ENGINES)" --processes)
WANTED_ENGINES := $(patsubst all,redis postgres pgbouncer neo4j,$(ENGINES))

.PHONY: help setup run test test-frameworks test-slow-fsync test-proofs lint type imports proto proto-lint proto-publish proto-check proto-languages conformance-connect conformance-mcp client client-check fmt check docs helm-e2e lease-e2e replicas-e2e console-e2e tools lock image image-check clean helm-check deploy-check \
	engines engines-stop engines-clean engines-install \
	bench-recall bench-gate bench-latency bench-memory bench-load bench-durability bench-outage bench-stalls bench-fairness bench-rates bench-outbox bench-console bench-http bench-start bench-erase bench-soak bench-hostile bench-knowledge bench-updates bench-consolidation bench-extraction bench-code bench-code-agent bench-code-speed bench-activity fit refit prove-erase prove-interleavings prove-kills prove-year fuzz bench-clusters

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: ## create .venv and install the locked requirements (PYTHON=/path/to/python3 chooses the interpreter)
	@PYTHON="$(PYTHON)" tools/setup.sh

run: setup ## start all services on embedded engines, with a demo to look at (RUN_ARGS)
	@$(BIN)/mneme demo --serve $(RUN_ARGS)

test: setup ## run the tests (PYTEST_ARGS, TEST_WORKERS); PYTEST_ARGS=--ci: all of them; ENGINES=all or "redis neo4j" installs these engines and demands them
	@$(if $(ENGINES),$(BIN)/python -m tools.engines run $(WANTED_ENGINES) --,tools/report_engines.sh &&) \
		$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder \
		$(addprefix --require=,$(WANTED_ENGINES)) $(PYTEST_ARGS)

test-frameworks: setup ## the adapters of clients/frameworks with the real frameworks, which it installs pinned (MNEME_FRAMEWORKS_DIR)
	@tools/frameworks.sh
	@$(BIN)/python -m pytest tests/e2e/test_frameworks.py --require=frameworks $(PYTEST_ARGS)

engines: setup ## install and start production engines for `mneme up` (ENGINES="redis postgres", MNEME_ENGINES_DIR)
	@$(BIN)/python -m tools.engines start $(WANTED_ENGINES)

engines-stop: ## stop them; their data stay
	@python3 -m tools.engines stop $(WANTED_ENGINES)

engines-clean: ## stop them and remove their data
	@python3 -m tools.engines clean $(WANTED_ENGINES)

engines-install: setup ## install the engines alone
	@$(BIN)/python -m tools.engines install $(WANTED_ENGINES)

check: setup lint type proto-lint proto-check client-check ## all static checks: style, types, architecture, protos, client

test-slow-fsync: setup ## the tests that write to disk, with 50 ms more for every fsync: [TESTS="tests/integration tests/e2e"] [SLEEPERS=8] (needs a C compiler)
	@mkdir -p .cache
	@$(CC) -shared -fPIC -O2 -o .cache/slow_fsync.so bench/slow_fsync.c -ldl
	@LD_PRELOAD="$(CURDIR)/.cache/slow_fsync.so" SLOW_FSYNC_MICROSECONDS=50000 \
		$(BIN)/python -m pytest -q --ci -n $(or $(SLEEPERS),8) --dist loadfile --no-loadscope-reorder $(or $(TESTS),tests/integration tests/e2e)

test-proofs: setup ## the slow proofs that `make test` and CI leave out: scans of servers' files, more kills, outages of Neo4j
	@$(BIN)/python -m tools.engines run redis postgres neo4j -- $(BIN)/python -m pytest --ci --proofs -m proof $(PYTEST_ARGS)

lint: setup imports ## ruff, formatting and import rules
	@$(BIN)/ruff check $(PYTHON_PATHS) clients/frameworks
	@$(BIN)/ruff format --check $(PYTHON_PATHS) clients/frameworks

imports: setup ## which module may import which
	@$(BIN)/lint-imports --no-logo

type: setup ## mypy --strict over services, client, tests, benchmarks and tools
	@$(BIN)/mypy $(PYTHON_PATHS)

fmt: setup ## format, and fix what can be fixed without thought
	@$(BIN)/ruff check --fix-only $(PYTHON_PATHS)
	@$(BIN)/ruff format $(PYTHON_PATHS)

docs: setup ## write docs/configuration.md from the settings' classes
	@PYTHONPATH=.:proto/gen $(BIN)/python tools/describe_configuration.py

proto: setup ## generate the Python stubs in proto/gen
	@$(BIN)/python -m tools.generate_stubs

proto-check: setup ## fail when proto/gen is not what the protos say
	@$(BIN)/python -m tools.generate_stubs --check

client: setup ## generate the blocking Python client from the asyncio one
	@$(BIN)/python -m tools.generate_blocking_client

client-check: setup ## fail when the blocking Python client is not what the asyncio one says
	@$(BIN)/python -m tools.generate_blocking_client --check

proto-languages: setup ## generate stubs, compile and test the clients in Go, Java, TypeScript; C# (LANGUAGES="go java", --require)
	@$(BIN)/python tools/languages.py $(LANGUAGES)

conformance-connect: setup ## the Connect project's conformance suite against the stack of the HTTP port (needs Go)
	@tools/connect_conformance.sh

conformance-mcp: setup ## the Model Context Protocol's conformance suite against the MCP server (needs npm)
	@tools/mcp_conformance.sh

proto-lint: ## buf lint and buf breaking (installs buf when it is not there)
	@tools/install_tools.sh buf
	@tools/check_protos.sh

proto-publish: ## make the contracts of now those that breaking changes are judged against
	@tools/install_tools.sh buf
	@tools/check_protos.sh --publish

tools: setup ## install buf and grpcurl, pinned, into the user's cache (MNEME_TOOLS_DIR)
	@tools/install_tools.sh

helm-check: setup ## check the Helm chart: lint, golden templates, schema, policies, three Kubernetes versions
	@tools/install_tools.sh helm kubeconform kubernetes_schemas
	@$(BIN)/python -m pytest tests/unit/deploy/chart tests/golden/helm --require=helm --require=kubeconform $(PYTEST_ARGS)

helm-e2e: setup ## install, upgrade, drain, scale and uninstall the chart on a real control plane (compiles it once: 10 minutes)
	@tools/install_tools.sh helm kubeconform kubernetes_schemas control-plane
	@$(BIN)/python -m tools.cluster run -- $(BIN)/python -m pytest tests/cluster/test_chart.py --require=helm $(PYTEST_ARGS)

lease-e2e: setup ## elections against a real Kubernetes API server (compiles it once: 10 minutes)
	@tools/install_tools.sh helm control-plane
	@$(BIN)/python -m tools.cluster run -- $(BIN)/python -m pytest tests/cluster/test_lease.py tests/contract/test_election_kubernetes.py $(PYTEST_ARGS)

deploy-check: setup ## check the Dockerfile with hadolint, the Compose file with Compose's parser, the alerts with promtool
	@tools/install_tools.sh hadolint compose-spec promtool
	@$(BIN)/python -m pytest tests/unit/deploy/test_image.py tests/unit/deploy/test_compose.py tests/unit/deploy/monitoring \
		--require=hadolint --require=compose-spec --require=promtool $(PYTEST_ARGS)

console-e2e: setup ## drive the console and the TypeScript client in a headless browser (Debian: apt install chromium; MNEME_BROWSER=/path/to/chromium; SHOTS=folder)
	@MNEME_SCREENSHOTS="$(SHOTS)" $(BIN)/python -m pytest tests/e2e/test_console.py tests/e2e/test_browser_client.py --ci --require=chromium $(PYTEST_ARGS)

lock: ## resolve requirements/*.in into the locked files (needs uv; LOCK_ARGS=--upgrade for newer versions)
	@tools/lock.sh $(LOCK_ARGS)

image: ## build the container image with docker, podman or buildah (IMAGE=name:tag BASE=image BUILDER=program)
	@IMAGE="$(IMAGE)" BASE="$(BASE)" BUILDER="$(BUILDER)" deploy/docker/build.sh

image-check: setup ## build the image with buildah and start every service from it (root; [BASE=image])
	@$(BIN)/python -m tools.engines install redis postgres neo4j
	@nice $(BIN)/python -m tools.check_image $(if $(BASE),--base "$(BASE)")

bench-recall: setup ## recall quality: DATA=folder OUT=file [RANKED=file] [ENGINES=all]
	@test -n "$(DATA)" -a -n "$(OUT)" || { echo "usage: make bench-recall DATA=folder OUT=file [RANKED=file]" >&2; exit 2; }
	@$(BIN)/python -m bench.recall --data "$(DATA)" --out "$(OUT)" $(if $(RANKED),--ranked "$(RANKED)") $(BENCH_ENGINES) $(BENCH_ARGS)

bench-code: setup ## which files are found for issues and questions: DATA=folder OUT=file
	@test -n "$(DATA)" -a -n "$(OUT)" || { echo "usage: make bench-code DATA=folder OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.code --data "$(DATA)" --out "$(OUT)" $(BENCH_ARGS)

bench-code-agent: setup ## calls and tokens until an agent has seen the file of an issue, with and without PrepareContext: DATA=folder OUT=file
	@test -n "$(DATA)" -a -n "$(OUT)" || { echo "usage: make bench-code-agent DATA=folder OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.code_agent --data "$(DATA)" --out "$(OUT)" $(BENCH_ARGS)

bench-code-speed: setup ## index, update and query times of a source tree on embedded engines: TREE=folder OUT=file
	@test -n "$(TREE)" -a -n "$(OUT)" || { echo "usage: make bench-code-speed TREE=folder OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.code_speed --tree "$(TREE)" --out "$(OUT)" $(BENCH_ARGS)

bench-activity: setup ## records a second that the activity log takes, and times of its queries: OUT=file [BENCH_ARGS="--records 100000"]
	@test -n "$(OUT)" || { echo "usage: make bench-activity OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.activity --out "$(OUT)" $(BENCH_ARGS)

bench-consolidation: setup ## a round of maintenance on one user: its time, stalls, Recall meanwhile: [BENCH_ARGS="--episodes 10000"]
	@$(BIN)/python -m bench.consolidation $(BENCH_ARGS)

bench-extraction: setup ## precision and recall of facts on labelled turns: [BENCH_ARGS="--mistakes"]
	@$(BIN)/python -m bench.extraction $(BENCH_ARGS)

bench-knowledge: setup ## what holds after updates, corrections, removals: DATA=file OUT=file [PAIRS=folder]
	@test -n "$(DATA)" -a -n "$(OUT)" || { echo "usage: make bench-knowledge DATA=cases.jsonl OUT=file [PAIRS=folder]" >&2; exit 2; }
	@$(BIN)/python -m bench.knowledge --data "$(DATA)" --out "$(OUT)" $(if $(PAIRS),--pairs "$(PAIRS)") $(BENCH_ARGS)

bench-clusters: setup ## time and memory of one step of the clusters of episodes: [BENCH_ARGS="--episodes 4000"]
	@$(BIN)/python -m bench.clusters $(BENCH_ARGS)

bench-updates: setup ## which of an old and a new statement is found and marked: DATA=folder of conversations with pairs.jsonl OUT=file
	@test -n "$(DATA)" -a -n "$(OUT)" || { echo "usage: make bench-updates DATA=folder OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.knowledge --pairs "$(DATA)" --out "$(OUT)" $(BENCH_ARGS)

bench-gate: setup ## what the write gate drops: [DATA="folder folder"] [OUT=file]
	@$(BIN)/python -m bench.gate $(addprefix --data ,$(DATA)) $(if $(OUT),--out "$(OUT)")

fit: setup ## fit the rankers: DATA="folder folder" OUT=folder [BENCH_ARGS="--install --ablations"]
	@test -n "$(DATA)" -a -n "$(OUT)" || { echo 'usage: make fit DATA="folder folder" OUT=folder' >&2; exit 2; }
	@$(BIN)/python -m bench.fit $(addprefix --data ,$(DATA)) --out "$(OUT)" $(BENCH_ARGS)

refit: setup ## fit the ranker to your own judgements: JUDGEMENTS=file TARGET=host:port OUT=file [BENCH_ARGS]
	@test -n "$(JUDGEMENTS)" -a -n "$(TARGET)" -a -n "$(OUT)" || \
		{ echo "usage: make refit JUDGEMENTS=file.jsonl TARGET=host:port OUT=file.json" >&2; exit 2; }
	@$(BIN)/python -m bench.fit.refit --judgements "$(JUDGEMENTS)" --target "$(TARGET)" --out "$(OUT)" $(BENCH_ARGS)

bench-latency: setup ## time of Recall and Remember by store size: OUT=file [SIZES=1000,10000] [ENGINES=all]
	@test -n "$(OUT)" || { echo "usage: make bench-latency OUT=file [SIZES=1000,10000]" >&2; exit 2; }
	@$(BIN)/python -m bench.latency --sizes "$(SIZES)" --out "$(OUT)" $(BENCH_ENGINES) $(if $(ENGINES),--beside-embedded) $(BENCH_ARGS)

bench-memory: setup ## memory of a process after many users were searched: OUT=file [BENCH_ARGS="--memories 20000 --users 2000"]
	@test -n "$(OUT)" || { echo "usage: make bench-memory OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.cache_memory --out "$(OUT)" $(BENCH_ARGS)

bench-load: setup ## throughput of a mixed load at 1, 8 and 32 clients: OUT=file
	@test -n "$(OUT)" || { echo "usage: make bench-load OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.load --out "$(OUT)" $(BENCH_ARGS)

bench-durability: setup ## nothing acknowledged is lost when processes are killed: OUT=file
	@test -n "$(OUT)" || { echo "usage: make bench-durability OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.durability --out "$(OUT)" $(BENCH_ARGS)

bench-outage: setup ## engines that are killed under load and come back: OUT=file [ENGINES="redis neo4j"]
	@test -n "$(OUT)" || { echo "usage: make bench-outage OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.outage --out "$(OUT)" $(BENCH_ENGINES) $(BENCH_ARGS)

bench-stalls: setup ## how long an unrelated call waits while long turns are imported on a slow disk: OUT=file (needs gcc)
	@test -n "$(OUT)" || { echo "usage: make bench-stalls OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.slow_disk --out "$(OUT)" $(BENCH_ARGS)

bench-fairness: setup ## what one tenant's flood costs another: OUT=file
	@test -n "$(OUT)" || { echo "usage: make bench-fairness OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.fairness --out "$(OUT)" $(BENCH_ARGS)

bench-rates: setup ## what a tenant at ten times its rate limit costs another: OUT=file
	@test -n "$(OUT)" || { echo "usage: make bench-rates OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.rates --out "$(OUT)" $(BENCH_ARGS)

bench-outbox: setup ## the outbox alone at 1,000 turns a second: OUT=file [BENCH_ARGS="--rate 2000"]
	@test -n "$(OUT)" || { echo "usage: make bench-outbox OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.outbox --out "$(OUT)" $(BENCH_ARGS)

bench-http: setup ## what HTTP adds to a Recall: OUT=file
	@test -n "$(OUT)" || { echo "usage: make bench-http OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.http_overhead --out "$(OUT)" $(BENCH_ARGS)

bench-start: setup ## time of `make run` until it serves, with HTTP and without it: OUT=file [BENCH_ARGS="--starts 5"]
	@test -n "$(OUT)" || { echo "usage: make bench-start OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.start --out "$(OUT)" $(BENCH_ARGS)

bench-console: setup ## time of the console's pages for a user with 100,000 memories, in a headless browser: OUT=file [BENCH_ARGS="--store folder"]
	@test -n "$(OUT)" || { echo "usage: make bench-console OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.console --out "$(OUT)" $(BENCH_ARGS)

bench-erase: setup ## erase a user with 100,000 memories beside another one, purge, and search the files: OUT=file [BENCH_ARGS="--store folder"]
	@test -n "$(OUT)" || { echo "usage: make bench-erase OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.erasing --out "$(OUT)" $(BENCH_ARGS)

bench-soak: setup ## 30 minutes of mixed load: memory, descriptors, processor time a call: OUT=file [BENCH_ARGS="--seconds 300"]
	@test -n "$(OUT)" || { echo "usage: make bench-soak OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.soak --out "$(OUT)" $(BENCH_ARGS)

replicas-e2e: setup ## two replicas of every service: killed at random, and restarted one by one under load (CALLS_PER_SECOND)
	@$(BIN)/python -m tools.engines install redis postgres neo4j
	@MNEME_REPLICAS_CALLS_PER_SECOND=$(or $(CALLS_PER_SECOND),20) MNEME_REPLICAS_KILLS=20 $(BIN)/python -m pytest --ci tests/e2e/test_replicas.py $(PYTEST_ARGS)

prove-interleavings: setup ## another process erases, forgets and corrects amid 500 cases of jobs on notes, facts, statements, episodes and activity records each
	@MNEME_INTERLEAVINGS=500 MNEME_INTERLEAVINGS_STEP=1 $(BIN)/python -m pytest -q --ci -n 0 -rP tests/property/test_maintenance_interleavings.py

prove-year: setup ## a year of a user, 20,000 turns, with a clock that jumps: caps, fading, what is important, logs: [BENCH_ARGS]
	@$(BIN)/python -m bench.prove_year $(BENCH_ARGS)

prove-kills: setup ## kill every maintenance job before each of its writes and reads: nothing is lost, each run comes to its end
	@MNEME_KILLS=0 $(BIN)/python -m pytest -q --ci -n 2 tests/integration/maintenance/test_kills.py

prove-erase: setup ## erase a user, purge, and search every byte of the engines for what was said: [BENCH_ARGS=--servers]
	@$(BIN)/python -m bench.prove_erase $(BENCH_ARGS)

fuzz: setup ## made-up and damaged requests to every RPC: no fault, no hang, nothing of another tenant: OUT=file [BENCH_ARGS="--calls 100000"]
	@test -n "$(OUT)" || { echo "usage: make fuzz OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.fuzz --out "$(OUT)" $(BENCH_ARGS)

bench-hostile: setup ## what 1,000 hostile connections cost a normal client, and what they leave behind: OUT=file
	@test -n "$(OUT)" || { echo "usage: make bench-hostile OUT=file" >&2; exit 2; }
	@$(BIN)/python -m bench.hostile --out "$(OUT)" $(BENCH_ARGS)

clean: ## remove caches and build products (.venv and data stay)
	@rm -rf build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

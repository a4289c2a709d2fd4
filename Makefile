# The one place to start anything. packages/cli/node brings Node and the npm packages when they are missing.
run := packages/cli/node
stack := $(run) packages/cli/src/cli.ts
bin := $(run) node_modules/.bin
# Node's own tracing would show what is sent.
release := env -u NODE_DEBUG $(run) packages/release/src/cli.ts

.DEFAULT_GOAL := help
.PHONY: help

# A line that begins with ##@ names a group. NAME stands for each service.
help: ## List the targets, those that a newcomer wants first
	@awk -F ':.*## ' '/^##@ / { print "\n" substr($$0, 5) ":" } /^([a-z-]+|[$$]\(addprefix .*\)):.*## / { \
		if (sub(/.*addprefix /, "", $$1)) sub(/,.*/, "NAME", $$1); printf "make %-18s %s\n", $$1, $$2 }' Makefile
	@echo 'NAME is one of: $(released)'

##@ Run it
.PHONY: up demo observe status logs down clean

up: ## Start everything, in containers where Docker is at hand; STACK=docker or local decides (again: start what is missing)
	@$(stack) up

demo: ## Place an order and watch its events until it is paid
	@$(stack) demo

observe: ## Start everything, or go on, with what watches it: traces, metrics, alerts, and where to look (docs/observability.md)
	@$(stack) observe

status: ## Show what should run, how it is and since when; fails when something of it does not run
	@$(stack) status

# With exec, for a shell in between would make a failure of Ctrl-C.
logs: ## Follow all logs, or one: [SERVICE=order-service] [FOLLOW=0 shows their end only, as it does outside a terminal]
	@exec $(stack) logs $${SERVICE:+"$$SERVICE"}

down: ## Stop all of it; data stays
	@$(stack) down

clean: ## Remove the data and logs of a stopped stack
	@$(stack) clean

##@ First run, in steps
.PHONY: doctor provision engine images

doctor: ## Say what this machine lacks, for what, and how to bring it: [INSTALL=1 brings what the tests need, as root on Debian]
	@$(stack) doctor

provision: ## Build or download daprd and Kafka into the cache
	@$(stack) provision

engine: ## Install and start a Docker engine and Docker Compose where they are missing
	@$(stack) engine

images: ## Bring every image: pull or build here what others make, and build those of the services
	@$(stack) images

##@ Look after it
.PHONY: publish envelope publisher acls dead-letters rebuild retention scale restart partitions api-key

publish: ## Publish an event as an outside publisher: FILE=event.json [KEY=...] [RAW=1 skips validation]
	@$(stack) publish "$${FILE-}" $${KEY:+"$$KEY"}

# As a shell reads them: ARGS="new OrderCreated --data '{...}'".
envelope: ## Validate, make, publish or follow envelopes, as an application outside does: [ARGS="validate event.json"]
	@eval "exec $(run) envelope-schema/src/cli/main.ts $${ARGS:---help}"

publisher: ## Let an application outside publish: NAME=legacy [ROTATE=1: another password] [REMOVE=1]; without NAME list them
	@$(stack) publisher $${NAME:+"$$NAME"}

acls: ## Print the commands that let each service, and nobody else, use a Kafka of yours: [NAME=legacy: an application outside]
	@$(stack) acls $${NAME:+"$$NAME"}

dead-letters: ## Events that failed, by reason: LIST=group, SHOW=id [VALUES=1], RESEND=id|group|all [DRY_RUN=1] [EDIT=1|FILE=... [ATTEMPT=...]]
	@$(stack) dead-letters $${LIST:+list "$$LIST"} $${SHOW:+show "$$SHOW"} $${VALUES:+"--values=$$VALUES"} \
		$${RESEND:+resend "$$RESEND"} $${DRY_RUN:+"--dry-run=$$DRY_RUN"} $${EDIT:+"--edit=$$EDIT"} $${FILE:+--file "$$FILE"} \
		$${ATTEMPT:+--attempt "$$ATTEMPT"}

rebuild: ## Rebuild a service's store from the log: SERVICE=... [FROM=2026-11-21T10:00Z] [TO=...] [TOPIC=...]
	@$(stack) rebuild "$${SERVICE-}" $${TOPIC:+--topic "$$TOPIC"} $${FROM:+--from "$$FROM"} $${TO:+--to "$$TO"}

retention: ## Say for how long events and dead letters are kept, or have them kept for some time: [DAYS=30, or forever]
	@$(stack) retention $${DAYS:+"$$DAYS"}

scale: ## Run a service N times, in containers: SERVICE=payment-service N=3
	@$(stack) scale "$${SERVICE-}" "$${N-}"

restart: ## Restart a service, one replica after the other: SERVICE=payment-service
	@$(stack) restart "$${SERVICE-}"

api-key: ## Make an API key, list them, or revoke one: [NAME=shop SCOPES="orders:read orders:write" [TENANT=acme] | REVOKE=prefix]
	@$(stack) api-key

partitions: ## Add the partitions that services.json says and topics lack, while everything runs
	@$(stack) partitions

##@ Work on it
.PHONY: check compat envelope-package unit unit-tests test-local test-page test-containers test acceptance test-growth test-examples test-observe test-stores test-security test-release coverage mutation model chaos format hashes sbom

check: ## Lint (scripts, Dockerfiles and workflows, too), types, and schemas beside the last release
	@$(bin)/biome check
	@$(bin)/tsc --noEmit
	@$(bin)/tsc --noEmit -p packages/event-monitor/page
	@$(stack) lint
	@$(MAKE) --no-print-directory compat

compat: ## Refuse a schema that changed under its Version: [AGAINST=a folder or a commit, in place of the last release]
	@$(run) envelope-schema/src/cli/main.ts compat $${AGAINST:+--against "$$AGAINST"}

envelope-package: ## Build envelope-schema as others install it: dist/orderflow-envelope-schema-VERSION.tgz
	@$(run) envelope-schema/build.ts

unit: ## Lint, types and the unit tests, side by side (20 seconds)
	@$(MAKE) --no-print-directory -j2 check unit-tests

# The long ones first, here and below, so that all processes end at the same time.
unit-tests: ## The unit tests alone
	@$(bin)/mocha --parallel --jobs 3 '{test,tools}/**/*.unit.test.ts' '{*,packages/*}/test/**/*.unit.test.ts'

test-local: ## The tests that start programs, and need no containers (6 minutes)
	@$(stack) provision browser
	@$(bin)/mocha --parallel --jobs 2 --ignore 'packages/release/test/*.e2e.test.ts' --ignore 'packages/event-monitor/test/page/**' \
		--ignore 'test/{testcontainers,postgresql}.e2e.test.ts' --ignore 'test/{examples,growth,observe,security}/**' \
		'{test,tools}/**/*.{int,e2e}.test.ts' '{*,packages/*}/test/**/*.{int,e2e}.test.ts'

# What the page is made of, and what its tests use.
page_parts := packages/event-monitor envelope-schema packages/cli/src/browser.ts packages/cli/src/provision/browser.ts package-lock.json ':!*.md'

test-page: ## The event monitor's page in a browser; not again where it passed and nothing of it has changed (2 minutes)
	@$(run) test/unless-passed.ts 'the page of event-monitor' $(page_parts) -- $(bin)/mocha 'packages/event-monitor/test/page/*.int.test.ts'

test-containers: ## The tests that need containers: images, network, MongoDB, kills, the commands of an operator (5 minutes)
	@$(bin)/mocha test/testcontainers.e2e.test.ts

test: ## All of that, with everything it needs: before a merge (8 minutes; 10 where nothing is remembered, at first 20)
	@$(run) test/side-by-side.ts unit,test-local test-page test-containers

acceptance: ## Try the running stack from outside, by HTTP, Kafka and commands (2 minutes): [PART=flow, or release: rehearses one]
	@$(bin)/mocha "test/acceptance/$${PART:-!(release)}.acceptance.test.ts"

test-growth: ## Grow copies of the repository: a second version of an event, a service made and told of by docs/new-service.md (3 minutes)
	@$(bin)/mocha 'test/growth/*.{int,e2e}.test.ts'

test-examples: ## Publish from Python, Go, Java and the shell, and hold their validators against ours (4 minutes; at first 6): [SEED=1 repeats a corpus]
	@$(bin)/mocha 'test/examples/*.e2e.test.ts'

test-stores: ## The tests that run the system, with PostgreSQL as its store, as processes and in containers (10 minutes)
	@$(bin)/mocha test/postgresql.e2e.test.ts
	@STORE=postgresql $(bin)/mocha test/local.e2e.test.ts test/testcontainers.e2e.test.ts

test-observe: ## The tests of make observe: traces, metrics, and a stack that is broken until each alert fires (5 minutes; at first 12)
	@$(stack) provision browser jaeger prometheus
	@$(bin)/mocha 'test/observe/*.test.ts'

test-security: ## Look for weaknesses, with tools: code, history, operations, TLS, events (20 minutes)
	@$(stack) provision browser testssl
	@$(bin)/mocha 'test/security/*.e2e.test.ts'

test-release: ## Rehearse whole releases, on a real registry and with real containers (10 minutes)
	@$(bin)/mocha 'packages/release/test/*.e2e.test.ts'

coverage: ## Run the unit tests and say which lines they reach
	@$(run) test/measure/coverage.ts

mutation: ## Change the source in small ways and count what no unit test notices: [PART=contract|domains|state|trust|stream]
	@$(run) test/measure/mutation.ts $${PART-}

model: ## Check the protocol's models, and that each guard is needed (2 minutes): [MODEL=Batch] [WITHOUT=Etag shows the counterexample]
	@$(run) tools/docs/model/main.ts $${MODEL-} $${WITHOUT:+"--without=$$WITHOUT"}

chaos: ## Break everything at random under load and count what came of it: [MINUTES=10] [SEED=1] [RATE=200] [REPLICAS=2] [STORE=...]
	@$(run) tools/chaos/main.ts

format: ## Format all files and apply safe lint fixes
	@$(bin)/biome check --write

hashes: ## Write packages/cli/hashes.json, what each download must be: after a change of versions
	@$(stack) hashes

sbom: ## Write what the system is made of (CycloneDX), and the licenses of what its images hold, to dist/
	@$(stack) sbom

##@ A service of your own
.PHONY: new-service generate

new-service: ## Make a service that runs, to go on from: NAME=shipping-service (docs/new-service.md)
	@$(stack) new-service "$${NAME-}"

generate: ## Write what follows from services.json: components, subscriptions, parts of docker-compose.yml
	@$(stack) generate

##@ Measure and show
.PHONY: bench bench-report pictures

bench: ## Measure, beside other ways to do the same (an hour): PART="post latency" for some parts, QUICK=1 to try it
	@$(run) tools/bench/main.ts $${PART-}

bench-report: ## Write the figures of the last make bench into docs/performance.md
	@$(run) tools/bench/report.ts

pictures: ## Make the README's pictures from a real run, on the ports of make up, which must be free
	@$(run) tools/docs/pictures/main.ts

##@ Releases to a hosting platform (docs/release.md)
.PHONY: release-rehearsal release-topics

release-rehearsal: ## Run a platform, registry, Kafka and MongoDB here, to try releases on
	@$(run) packages/release/test/rehearsal/main.ts

release-topics: ## Create the topics on the hosted Kafka that the services are set to: [SERVICE=order-service: whose settings]
	@$(release) $@

# Every service there is can be released: a folder more is a target more of each kind.
released := $(patsubst %-service,%,$(notdir $(patsubst %/package.json,%,$(wildcard *-service/package.json packages/event-*/package.json))))

$(addprefix export-,$(released)): ## Write config-vars.json and the steps of a release by hand

$(addprefix release-,$(released)): ## Release to the hosting platform: APP=... [DRY_RUN=1 shows what it would do]

$(addprefix rollback-,$(released)): ## Go back to before the last release: APP=... [DRY_RUN=1]

$(addprefix ps-,$(released)): ## List an app's processes: APP=...

$(addprefix stop-,$(released)): ## Stop an app: APP=...

$(addprefix start-,$(released)): ## Start an app: APP=...

$(addprefix open-,$(released)): ## Show an app's address, and open it on a desktop: APP=...

$(addprefix logs-,$(released)): ## Follow an app's log: APP=...

release_targets := $(foreach command,export release rollback ps stop start open logs,$(addprefix $(command)-,$(released)))
.PHONY: $(release_targets)
$(release_targets):
	@$(release) $@

# The one place to start anything. stack/node brings Node and the npm packages when they are missing.
run := stack/node
stack := $(run) stack/src/cli.ts
bin := $(run) node_modules/.bin
# Node's own tracing would show what is sent.
release := env -u NODE_DEBUG $(run) release/src/cli.ts

.DEFAULT_GOAL := help
.PHONY: help up down status logs clean scale demo publish dead-letters rebuild test test-release coverage mutation check format generate new-service engine images provision chaos bench bench-report

help: ## List the targets
	@awk -F ':.*## ' '/^([a-z-]+|[$$]\(addprefix .*\)):.*## / { \
		if (sub(/.*addprefix /, "", $$1)) sub(/,.*/, "NAME", $$1); printf "make %-18s %s\n", $$1, $$2 }' Makefile
	@echo 'NAME is one of: $(released)'

up: ## Start everything, in containers where Docker is at hand; STACK=docker or local decides (again: start what is missing)
	@$(stack) up

down: ## Stop all of it; data stays
	@$(stack) down

status: ## Show what should run: state and uptime, of processes their memory too
	@$(stack) status

logs: ## Show the end of each log; SERVICE=order-service follows one
	@$(stack) logs $${SERVICE:+"$$SERVICE"}

clean: ## Remove the data and logs of a stopped stack
	@$(stack) clean

scale: ## Run a service N times, in containers: SERVICE=payment-service N=3
	@$(stack) scale "$${SERVICE-}" "$${N-}"

demo: ## Place an order and watch its events until it is paid
	@$(stack) demo

publish: ## Publish an event as an outside publisher: FILE=event.json [KEY=...] [RAW=1 skips validation]
	@$(stack) publish "$${FILE-}" $${KEY:+"$$KEY"}

dead-letters: ## Events that failed, by reason: LIST=group, SHOW=id [VALUES=1], RESEND=id|group|all [DRY_RUN=1] [EDIT=1|FILE=...]
	@$(stack) dead-letters $${LIST:+list "$$LIST"} $${SHOW:+show "$$SHOW"} $${VALUES:+"--values=$$VALUES"} \
		$${RESEND:+resend "$$RESEND"} $${DRY_RUN:+"--dry-run=$$DRY_RUN"} $${EDIT:+"--edit=$$EDIT"} $${FILE:+--file "$$FILE"}

rebuild: ## Rebuild a service's store from the log: SERVICE=... [FROM=2026-11-21T10:00Z] [TO=...] [TOPIC=...]
	@$(stack) rebuild "$${SERVICE-}" $${TOPIC:+--topic "$$TOPIC"} $${FROM:+--from "$$FROM"} $${TO:+--to "$$TO"}

test: ## Lint, types and all tests but test-release, with everything they need (25 minutes)
	@$(stack) provision browser
	@$(MAKE) --no-print-directory check
	@$(bin)/mocha --ignore 'release/test/*.e2e.test.ts' '*/test/**/*.test.ts' '{test,chaos}/**/*.test.ts'

test-release: ## Rehearse whole releases, on a real registry and with real containers (10 minutes)
	@$(bin)/mocha 'release/test/*.e2e.test.ts'

coverage: ## Run the unit tests and say which lines they reach; ALL=1 adds those that start programs on this machine
	@$(run) test/measure/coverage.ts

mutation: ## Change the source in small ways and count what no unit test notices: [PART=contract|domains|state|stream]
	@$(run) test/measure/mutation.ts $${PART-}

check: ## Lint and types
	@$(bin)/biome check
	@$(bin)/tsc --noEmit

format: ## Format all files and apply safe lint fixes
	@$(bin)/biome check --write

generate: ## Write what follows from services.json: components, subscriptions, parts of docker-compose.yml
	@$(stack) generate

new-service: ## Make a service that runs, to go on from: NAME=shipping-service (docs/new-service.md)
	@$(stack) new-service "$${NAME-}"

engine: ## Install and start a Docker engine and Docker Compose where they are missing
	@$(stack) engine

images: ## Pull the images that others make, or build them here where Docker Hub is out of reach
	@$(stack) images

provision: ## Build or download daprd and Kafka into the cache
	@$(stack) provision

chaos: ## Break everything at random under load and count what came of it: [MINUTES=10] [SEED=1] [RATE=200] [REPLICAS=2]
	@$(run) chaos/main.ts

bench: ## Measure, beside other ways to do the same (15 minutes): PART="post latency" for some parts, QUICK=1 to try it
	@$(run) bench/main.ts $${PART-}

bench-report: ## Write the figures of the last make bench into docs/performance.md
	@$(run) bench/report.ts

release-topics: ## Create the topics on the hosted Kafka that the services are set to: [SERVICE=order-service: whose settings]
	@$(release) $@

# Every service there is can be released: a folder more is a target more of each kind.
released := $(patsubst %-service/package.json,%,$(wildcard *-service/package.json))

$(addprefix export-,$(released)): ## Write config-vars.json and the steps of a release by hand

$(addprefix release-,$(released)): ## Release to the hosting platform: APP=... [DRY_RUN=1 shows what it would do]

$(addprefix rollback-,$(released)): ## Go back to before the last release: APP=... [DRY_RUN=1]

$(addprefix ps-,$(released)): ## List an app's processes: APP=...

$(addprefix stop-,$(released)): ## Stop an app: APP=...

$(addprefix start-,$(released)): ## Start an app: APP=...

$(addprefix open-,$(released)): ## Show an app's address, and open it on a desktop: APP=...

$(addprefix logs-,$(released)): ## Follow an app's log: APP=...

release_targets := $(foreach command,export release rollback ps stop start open logs,$(addprefix $(command)-,$(released)))
.PHONY: $(release_targets) release-topics release-rehearsal
$(release_targets):
	@$(release) $@

release-rehearsal: ## Run a platform, registry, Kafka and MongoDB here, to try releases on
	@$(run) release/test/rehearsal/main.ts

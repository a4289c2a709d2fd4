# The first commands. All others are those of ./orderflow, and maintainers' targets are in tools/Makefile.
# packages/cli/node brings Node and the npm packages when they are missing.
run := packages/cli/node
orderflow := ./orderflow
bin := $(run) node_modules/.bin

.DEFAULT_GOAL := help
.PHONY: help

# A line that begins with ##@ names a group. NAME stands for each service.
help: ## List the targets, those that a newcomer wants first
	@awk -F ':.*## ' '/^##@ / { print "\n" substr($$0, 5) ":" } /^([a-z-]+|[$$]\(addprefix .*\)):.*## / { \
		if (sub(/.*addprefix /, "", $$1)) sub(/,.*/, "NAME", $$1); printf "make %-18s %s\n", $$1, $$2 }' Makefile
	@echo 'NAME is one of: $(released)'
	@echo
	@echo './orderflow help lists all commands, and make -C tools help the targets of maintainers.'

##@ Run it
.PHONY: up demo observe status logs down

up: ## Start everything, in containers where Docker is at hand; STACK=docker or local decides (again: start what is missing)
	@$(orderflow) up

demo: ## Send the demo request of services.json and show its events
	@$(orderflow) demo

observe: ## Start everything, or go on, with what watches it: traces, metrics, alerts, and where to look (docs/observability.md)
	@$(orderflow) observe

status: ## Show what should run, how it is and since when; fails when something of it does not run
	@$(orderflow) status

# With exec, for a shell in between would make a failure of Ctrl-C.
logs: ## Follow all logs, or one: [SERVICE=...] [FOLLOW=0 shows their end only, as it does outside a terminal]
	@exec $(orderflow) logs $${SERVICE:+"$$SERVICE"} $${FOLLOW:+"--follow=$$FOLLOW"}

down: ## Stop all of it; data stays
	@$(orderflow) down

##@ Look after it
.PHONY: dead-letters rebuild

dead-letters: ## Events that failed, by reason: LIST=group, SHOW=id [VALUES=1], REPLAY=id|group|all [DRY_RUN=1] [EDIT=1|FILE=... [ATTEMPT=...]]
	@$(orderflow) dead-letters $${LIST:+list "$$LIST"} $${SHOW:+show "$$SHOW"} $${VALUES:+"--values=$$VALUES"} \
		$${REPLAY:+replay "$$REPLAY"} $${DRY_RUN:+"--dry-run=$$DRY_RUN"} $${EDIT:+"--edit=$$EDIT"} $${FILE:+--file "$$FILE"} \
		$${ATTEMPT:+--attempt "$$ATTEMPT"}

rebuild: ## Rebuild a service's store from the log: SERVICE=... [FROM=2026-11-21T10:00Z] [TO=...] [TOPIC=...]
	@$(orderflow) rebuild "$${SERVICE-}" $${TOPIC:+--topic "$$TOPIC"} $${FROM:+--from "$$FROM"} $${TO:+--to "$$TO"}

##@ Work on it
.PHONY: check test new-service generate

check: ## Lint (scripts, Dockerfiles, workflows and language, too), types, and schemas against the last release: [AGAINST=a folder or a commit]
	@$(bin)/biome check
	@$(bin)/tsc --noEmit
	@$(bin)/tsc --noEmit -p packages/envelope
	@$(bin)/tsc --noEmit -p packages/event-monitor/page
	@$(orderflow) lint
	@$(orderflow) envelope compat $${AGAINST:+--against "$$AGAINST"}
ifneq ($(wildcard tools/language),)
	@$(run) tools/language/main.ts --converted
endif

# An application of its own has neither tools/ nor the tests of this repository (docs/own-domain.md).
test: ## All tests, with everything they need: before a merge (8 minutes; 10 where nothing is remembered, at first 20)
ifneq ($(wildcard tools/Makefile),)
	@$(run) test/side-by-side.ts -C tools unit,test-local test-page test-containers
else
	@$(MAKE) --no-print-directory check
	@$(bin)/mocha '*-service/test/**/*.test.ts'
endif

new-service: ## Make a service that runs, to go on from: NAME=my-service [EVENT=...] (docs/new-service.md)
	@$(orderflow) new-service "$${NAME-}" $${EVENT:+--event "$$EVENT"}

generate: ## Write what follows from services.json: components, subscriptions, parts of docker-compose.yml
	@$(orderflow) generate

##@ Release it to a hosting platform (docs/release.md)

# Every service there is can be released: a folder more is a target more of each kind.
released := $(patsubst %-service,%,$(notdir $(patsubst %/package.json,%,$(wildcard *-service/package.json packages/event-*/package.json))))

$(addprefix release-,$(released)): ## Release to the hosting platform: APP=... [DRY_RUN=1 shows what it would do]
	@$(orderflow) release $(@:release-%=%)

$(addprefix rollback-,$(released)): ## Go back to before the last release: APP=... [DRY_RUN=1]
	@$(orderflow) rollback $(@:rollback-%=%)

.PHONY: $(addprefix release-,$(released)) $(addprefix rollback-,$(released))

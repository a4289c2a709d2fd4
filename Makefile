# The most important commands. `./orderflow` has the other commands, and tools/Makefile has targets for maintainers.
# `packages/cli/node` installs missing versions of Node and of npm packages.
run := packages/cli/node
orderflow := ./orderflow
bin := $(run) node_modules/.bin

include packages/cli/mistakes.mk

.DEFAULT_GOAL := help
.PHONY: help

# Lists the targets, the most important first. A line that begins with ##@ is the title of a group of targets. NAME in a target stands for the name of
# a service.
help:
	@awk -F ':.*## ' '/^##@ / { print "\n" substr($$0, 5) ":" } /^([a-z-]+|[$$]\(addprefix .*\)):.*## / { \
		if (sub(/.*addprefix /, "", $$1)) sub(/,.*/, "NAME", $$1); printf "make %-18s %s\n", $$1, $$2 }' Makefile
	@echo 'NAME is one of: $(released)'
	@echo
	@echo './orderflow help lists all commands, and make -C tools help the targets of maintainers.'

##@ Run it
.PHONY: up demo observe status logs down

up: ## Start everything, or missing parts of it, in containers if Docker is available: [STACK=docker|local|kubernetes] [REBUILD=1 first rebuilds the stores]
	@$(orderflow) up $${REBUILD:+"--rebuild=$$REBUILD"}

demo: ## Send the demo request of services.json and show its events
	@$(orderflow) demo

observe: ## Start everything with traces, metrics and alerts, and print their addresses (docs/observability.md)
	@$(orderflow) observe

status: ## Show the state and uptime of each part; fail if a part does not run
	@$(orderflow) status

# Uses exec, because a shell between make and the command would report Ctrl-C as a failure.
logs: ## Follow all logs, or those of one service: [SERVICE=...] [FOLLOW=0 only prints the last lines]
	@exec $(orderflow) logs $${SERVICE:+"$$SERVICE"} $${FOLLOW:+"--follow=$$FOLLOW"}

down: ## Stop everything; data stays
	@$(orderflow) down

##@ Operate it
.PHONY: dead-letters rebuild

dead-letters: ## List events that failed, by reason: LIST=group, SHOW=id [VALUES=1], REPLAY=id|group|all [DRY_RUN=1] [EDIT=1|FILE=... [ATTEMPT=...]]
	@$(orderflow) dead-letters $${LIST:+list "$$LIST"} $${SHOW:+show "$$SHOW"} $${VALUES:+"--values=$$VALUES"} \
		$${REPLAY:+replay "$$REPLAY"} $${DRY_RUN:+"--dry-run=$$DRY_RUN"} $${EDIT:+"--edit=$$EDIT"} $${FILE:+--file "$$FILE"} \
		$${ATTEMPT:+--attempt "$$ATTEMPT"}

rebuild: ## Rebuild a service's store from the log: SERVICE=... [FROM=2026-11-21T10:00Z] [TO=...] [TOPIC=...]
	@$(orderflow) rebuild "$${SERVICE-}" $${TOPIC:+--topic "$$TOPIC"} $${FROM:+--from "$$FROM"} $${TO:+--to "$$TO"}

##@ Work on it
.PHONY: dev check test new-service generate new-app docs

dev: ## Restart services at each change of their code, with logs and type errors: [SERVICE='...'] [INSPECT=1 for a debugger] (docs/develop.md)
	@exec $(orderflow) dev $${SERVICE-} $${INSPECT:+"--inspect=$$INSPECT"}

check: ## Run linters, check types and language, and compare schemas with the last release: [AGAINST=folder or commit]
	@$(bin)/biome check
	@$(bin)/tsc --noEmit
	@$(bin)/tsc --noEmit -p packages/envelope
	@$(bin)/tsc --noEmit -p packages/event-monitor/page
	@$(run) tools/programs/lint.ts
	@$(orderflow) check-demo
	@$(orderflow) envelope compat $${AGAINST:+--against "$$AGAINST"}
	@$(run) tools/language/main.ts

test: ## Install the tools of tests and run all tests, before a merge (18 minutes)
	@$(run) test/repository/side-by-side.ts -C tools unit,test-local test-page test-containers

new-service: ## Create a working service to start from: NAME=my-service [EVENT=...] (docs/new-service.md)
	@$(orderflow) new-service "$${NAME-}" $${EVENT:+--event "$$EVENT"}

generate: ## Generate files from services.json and the schemas of events
	@$(orderflow) generate

new-app: ## Create the repository of your own application: DIR=../my-company [EMPTY=1 leaves out orders and payments] (docs/own-application.md)
	@$(run) --disable-warning=ExperimentalWarning tools/new-app/main.ts

# Uses exec, because a shell between make and the server would report Ctrl-C as a failure.
docs: ## Build the documentation site and serve it: [PORT=5050]
	@exec $(run) tools/site/main.ts --serve="$${PORT:-5050}"

##@ Release to a hosting platform (docs/release.md)

# Every service has a target for its release and one for its rollback.
released := $(patsubst %-service,%,$(notdir $(patsubst %/package.json,%,$(wildcard *-service/package.json packages/event-*/package.json))))

# A line of the help describes both.
$(addprefix release-,$(released)): ## Release to the hosting platform, or undo the last release with rollback-NAME: APP=... [DRY_RUN=1 only shows the changes]
	@$(orderflow) release $(@:release-%=%)

$(addprefix rollback-,$(released)):
	@$(orderflow) rollback $(@:rollback-%=%)

.PHONY: $(addprefix release-,$(released)) $(addprefix rollback-,$(released))

# Reports unknown targets and variables, because GNU make ignores a misspelt variable. The Makefile of each application includes this file.
.DEFAULT:
	$(error there is no target $@: make help lists all)

# The commands read these variables, too, and those of the help. Names with __ are settings of services.
ifeq ($(MAKELEVEL),0)
ifneq ($(MAKEOVERRIDES),)
variables := $(sort ACCESS_TOKEN API_KEY BROKERS CI CONFIRM KUBECONFIG NAMESPACE NO_COLOR ORDERFLOW_CACHE PORT_OFFSET REGISTRY STACK STORE \
	$(shell grep -oE '[A-Z_]+=' Makefile | tr -d =))
others := %_PASSWORD %_PORT %_TOKEN COMPOSE_% KAFKA_% OTEL_% SIGNED_SINCE SIGNING_KEYS bin node orderflow run
given := $(foreach word,$(subst \ ,,$(MAKEOVERRIDES)),$(firstword $(subst =, ,$(word))))
unknown := $(strip $(foreach name,$(filter-out $(variables) $(others),$(given)),$(if $(findstring __,$(name)),,$(name))))
$(if $(unknown),$(error there is no variable $(unknown): choose from $(variables). Write variables of other programs before make))
endif
endif

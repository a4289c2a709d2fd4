"""A service with its sidecar, and their calls to Kafka and the store."""

from collections.abc import Generator
from random import Random

import simpy

from .batcher import Batch, Batcher
from .machine import Machine, Thread
from .rules import Costs, Rules
from .stream import Topic


class Group:
    """Events that were delivered together, or one request. `done` succeeds when none of them is open."""

    def __init__(self, env: simpy.Environment, events: int) -> None:
        self.open = events
        self.done = env.event()

    def finish(self, events: int) -> None:
        self.open -= events
        if self.open == 0:
            self.done.succeed()


# The shares of Kafka's processor time per event. An event is written once, and read by one group or more.
KAFKA = {"read": 0.4, "write": 0.6}


class Platform:
    """The shared parts: the machine, Kafka and the store."""

    def __init__(self, machine: Machine, costs: Costs, rules: Rules, random: Random) -> None:
        self.machine = machine
        self.env = machine.env
        self.costs = costs
        self.rules = rules
        self.random = random
        machine.load("others", costs.others.idle)
        machine.load("kafka", costs.kafka_alone_ms)
        machine.load("store", costs.store.idle)

    def kafka(self, events: int, direction: str) -> Generator:
        cost = self.costs.kafka
        yield from self.machine.compute("kafka", cost.call + events * cost.event * KAFKA[direction])

    def commit(self, documents: int) -> Generator:
        cost = self.costs.store
        yield from self.machine.compute("store", cost.call + documents * cost.event)
        yield self.env.timeout(self.costs.commit_ms)


class Service:
    """A replica. Subclasses define the stages of an event.

    The shares of the processor time per event by stage are assumptions. They move work in time, and keep its sum.
    """

    name = ""
    program_shares: dict[str, float] = {}
    sidecar_shares: dict[str, float] = {}

    def __init__(self, platform: Platform, output: Topic) -> None:
        self.platform = platform
        self.env = platform.env
        self.output = output
        self.costs = platform.costs.services[self.name]
        self.deliveries = 0
        self.thread = Thread(platform.machine, self.name, self.costs.main_share)
        self.list = simpy.Resource(self.env, 1)
        rules = platform.rules
        pace = {"interval_ms": rules.flush_interval_ms}
        self.saves = Batcher(self.env, self._save, max_items=rules.save_items, in_flight=rules.saves_in_flight, **pace)
        self.publishes = Batcher(
            self.env, self._publish, max_items=rules.publish_items, in_flight=rules.publishes_in_flight, **pace
        )
        platform.machine.load(self.name, self.costs.program.idle)
        platform.machine.load(f"{self.name}-sidecar", self.costs.sidecar.idle)
        platform.machine.load("kafka", platform.costs.kafka.idle)

    def saved(self, group: Group, events: int) -> None:
        group.finish(events)

    def published(self, group: Group, events: int) -> None:
        group.finish(events)

    def receive(self, events: int, stage: str) -> Generator:
        """Takes a delivery from Kafka. The client of the sidecar reads records ahead, so the delivery does not wait for the broker."""
        self.deliveries += 1
        self.env.process(self.platform.kafka(events, "read"))
        yield from self.call(events, stage)

    def call(self, events: int, stage: str) -> Generator:
        """Takes the processor time of a call in the program and in its sidecar."""
        yield from self.work(events, stage, calls=1)
        cost = self.costs.sidecar
        ms = cost.call + events * cost.event * self.sidecar_shares[stage]
        yield from self.platform.machine.compute(f"{self.name}-sidecar", ms)
        yield self.env.timeout(events * self.platform.costs.event_wait_ms)

    def work(self, events: int, stage: str, calls: int = 0) -> Generator:
        cost = self.costs.program
        yield from self.thread.compute(calls * cost.call + events * cost.event * self.program_shares[stage])

    def _save(self, batch: Batch, events: int) -> Generator:
        """Saves a chunk of the list, and then the documents. A replica saves its chunks one after the other."""
        with self.list.request() as turn:
            yield turn
            yield from self.call(0, "save")
            yield from self.platform.commit(0)
        yield from self.call(events, "save")
        yield from self.platform.commit(events)
        for group, count in batch:
            self.saved(group, count)

    def _publish(self, batch: Batch, events: int) -> Generator:
        yield from self.call(events, "publish")
        yield from self.platform.kafka(events, "write")
        self.output.write(events)
        for group, count in batch:
            self.published(group, count)

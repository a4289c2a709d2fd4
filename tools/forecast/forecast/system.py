"""The system on one machine, and its runs. The runs correspond to those of `make -C tools bench PART=capacity`."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from itertools import count
from random import Random

import simpy

from .machine import Machine
from .rules import Costs, Rules
from .service import Platform, Service
from .services import OrderService, PaymentService
from .stream import Topic, consume


@dataclass(frozen=True)
class Setup:
    payment_replicas: int = 1
    # Without a replica of order-service, events come from outside, as in the measured runs of payments.
    order_replicas: int = 0
    cores: int = 2
    partitions: int = 12
    rules: Rules = Rules()
    seed: int = 1


@dataclass(frozen=True)
class Run:
    events: int
    seconds: float
    # The busy share of the cores, which the cores themselves report.
    busy: float
    # Milliseconds of processor time by part.
    used: dict[str, float]
    deliveries: int
    saves: int
    publishes: int

    @property
    def per_second(self) -> float:
        return self.events / self.seconds

    def since(self, before: "Run") -> "Run":
        seconds = self.seconds - before.seconds
        return Run(
            events=self.events - before.events,
            seconds=seconds,
            busy=(self.busy * self.seconds - before.busy * before.seconds) / seconds,
            used={part: ms - before.used.get(part, 0.0) for part, ms in self.used.items()},
            deliveries=self.deliveries - before.deliveries,
            saves=self.saves - before.saves,
            publishes=self.publishes - before.publishes,
        )


class System:
    def __init__(self, costs: Costs, setup: Setup) -> None:
        self.env = simpy.Environment()
        self.setup = setup
        self.random = Random(setup.seed)
        self.machine = Machine(self.env, setup.cores)
        self.platform = Platform(self.machine, costs, setup.rules, self.random)
        self.orders = Topic(self.env, setup.partitions, self.random)
        self.payments = Topic(self.env, setup.partitions, self.random)
        self.payment_services = [PaymentService(self.platform, self.payments) for _ in range(setup.payment_replicas)]
        self.order_services = [OrderService(self.platform, self.orders) for _ in range(setup.order_replicas)]
        # The events of which payment-service and order-service have finished the last step.
        self.paid = 0
        self.stored = 0
        rules = setup.rules
        self._subscribe(self.orders, self.payment_services, self._pay, rules.prompt_ticker_ms)
        if self.order_services:
            self._subscribe(self.payments, self.order_services, self._store, rules.prompt_ticker_ms)
            self._subscribe(self.orders, self.order_services, OrderService.on_own_orders, rules.background_ticker_ms, shared=True)

    def _subscribe(
        self,
        topic: Topic,
        services: list,
        deliver: Callable[..., Generator],
        ticker_ms: float,
        shared: bool = False,
    ) -> None:
        """Gives each replica its share of the partitions. With `shared`, a replica has one consumer for all of its partitions."""
        turns = [simpy.Resource(self.env, 1) for _ in services]
        for index, partition in enumerate(topic.subscribe()):
            number = index % len(services)
            service = services[number]
            turn = turns[number] if shared else simpy.Resource(self.env, 1)
            consumer = consume(
                self.env,
                partition,
                lambda events, service=service: deliver(service, events),
                ticker_ms=ticker_ms,
                most=self.setup.rules.delivery_events,
                random=self.random,
                turn=turn,
            )
            self.env.process(consumer)

    def _pay(self, service: PaymentService, events: int) -> Generator:
        if not self.order_services:
            self.env.process(self.machine.compute("others", events * self.platform.costs.others.event))
        yield from service.on_orders(events)
        self.paid += events

    def _store(self, service: OrderService, events: int) -> Generator:
        yield from service.on_payments(events)
        self.stored += events

    def so_far(self, events: int) -> Run:
        services: list[Service] = [*self.payment_services, *self.order_services]
        return Run(
            events=events,
            seconds=self.env.now / 1_000,
            busy=self.machine.busy_share(),
            used=dict(self.machine.used),
            deliveries=sum(service.deliveries for service in services),
            saves=sum(service.saves.batches for service in services),
            publishes=sum(service.publishes.batches for service in services),
        )


def backlog(costs: Costs, setup: Setup, events: int) -> Run:
    """Lets payment-service pay events that already wait in Kafka, until all payments are published."""
    system = System(costs, setup)
    env = system.env
    system.orders.write(events)

    def until_published() -> Generator:
        while system.payments.written < events:
            yield env.timeout(1)

    env.run(env.process(until_published()))
    return system.so_far(events)


def median_backlog(costs: Costs, setup: Setup, events: int, seeds: int = 5) -> Run:
    """Returns the run with the median rate of several seeds. The measured rates are medians, too."""
    runs = [backlog(costs, replace(setup, seed=seed), events) for seed in range(1, seeds + 1)]
    return sorted(runs, key=lambda run: run.per_second)[seeds // 2]


def steady(costs: Costs, setup: Setup, rate: float, seconds: float, warm_up: float = 2.0) -> Run:
    """Lets events arrive at a steady rate, as requests if there is an order-service. Returns the figures of the seconds after the warm-up."""
    system = System(costs, setup)
    env = system.env

    def arrive() -> Generator:
        sent = 0
        for turn in count():
            yield env.timeout(5)
            due = int(env.now * rate / 1_000) - sent
            sent += due
            services = system.order_services
            if not services:
                system.orders.write(due)
            for number, service in enumerate(services):
                # The remainder of a division goes to another replica each time.
                share = due // len(services) + ((number + turn) % len(services) < due % len(services))
                if share > 0:
                    env.process(service.post(share))

    def done() -> Run:
        return system.so_far(system.stored if system.order_services else system.payments.written)

    env.process(arrive())
    env.run(until=warm_up * 1_000)
    before = done()
    env.run(until=(warm_up + seconds) * 1_000)
    return done().since(before)


def loop(costs: Costs, setup: Setup, orders: int, connections: int) -> Run:
    """Lets clients post orders, each after its last answer, until all payments are stored."""
    system = System(costs, setup)
    env = system.env
    posted = 0

    def client(service: OrderService) -> Generator:
        nonlocal posted
        while posted < orders:
            posted += 1
            yield from service.post(1)

    def until_stored() -> Generator:
        while system.stored < orders:
            yield env.timeout(1)

    for number in range(connections):
        env.process(client(system.order_services[number % len(system.order_services)]))
    env.run(env.process(until_stored()))
    return system.so_far(orders)

"""The system on one machine, and its runs. The runs correspond to those of `make -C tools bench PART=capacity`."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
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

    def finish(self, events: int) -> Run:
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
    return system.finish(events)


def steady(costs: Costs, setup: Setup, rate: float, seconds: float) -> Run:
    """Lets events arrive at a steady rate, as requests if there is an order-service. Returns the figures of the seconds after the first one."""
    system = System(costs, setup)
    env = system.env

    def arrive() -> Generator:
        sent = 0
        while env.now < seconds * 1_000:
            yield env.timeout(5)
            due = int(env.now * rate / 1_000) - sent
            sent += due
            if system.order_services:
                env.process(system.order_services[sent % len(system.order_services)].post(due))
            else:
                system.orders.write(due)

    env.run(env.process(arrive()))
    return system.finish(system.stored if system.order_services else system.payments.written)


def loop(costs: Costs, setup: Setup, orders: int, connections: int = 256) -> Run:
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
    return system.finish(orders)

"""Topics, and the consumers of Dapr's Kafka component."""

from collections.abc import Callable, Generator
from math import ceil
from random import Random

import simpy


class Partition:
    """The unread events of a partition for one consumer group."""

    def __init__(self, env: simpy.Environment) -> None:
        self.env = env
        self.unread = 0
        self._waiters: list[tuple[int, simpy.Event]] = []

    def add(self, events: int) -> None:
        self.unread += events
        for waiter in [each for each in self._waiters if self.unread >= each[0]]:
            self._waiters.remove(waiter)
            waiter[1].succeed()

    def take(self, events: int) -> int:
        taken = min(self.unread, events)
        self.unread -= taken
        return taken

    def has(self, events: int) -> simpy.Event:
        """Returns an event for the time when this number of events is unread."""
        event = self.env.event()
        if self.unread >= events:
            event.succeed()
        else:
            self._waiters.append((events, event))
        return event

    def forget(self, event: simpy.Event) -> None:
        self._waiters = [each for each in self._waiters if each[1] is not event]


class Topic:
    """A topic with random keys. Each consumer group reads all events."""

    def __init__(self, env: simpy.Environment, partitions: int, random: Random) -> None:
        self.env = env
        self.size = partitions
        self.random = random
        self.groups: list[list[Partition]] = []
        self.written = 0

    def subscribe(self) -> list[Partition]:
        self.groups.append([Partition(self.env) for _ in range(self.size)])
        return self.groups[-1]

    def write(self, events: int) -> None:
        self.written += events
        counts = [0] * self.size
        for _ in range(events):
            counts[self.random.randrange(self.size)] += 1
        for group in self.groups:
            for partition, count in zip(group, counts):
                if count > 0:
                    partition.add(count)


def consume(
    env: simpy.Environment,
    partition: Partition,
    deliver: Callable[[int], Generator],
    *,
    ticker_ms: float,
    most: int,
    random: Random,
    turn: simpy.Resource,
) -> Generator:
    """Delivers events when a delivery is full, and then restarts the ticker; or at the next tick.

    If another tick passed during a delivery of the second kind, the component chooses at random between this tick and the next record. So it then takes
    only a few records (components-contrib 1.18.3, kafka/consumer.go). Partitions that share a component share its turn.
    """
    tick = env.now + random.uniform(0, ticker_ms)
    while True:
        if partition.unread == 0:
            yield partition.has(1)
            tick += max(0, ceil((env.now - tick) / ticker_ms)) * ticker_ms
        size = most
        if env.now > tick:
            size = 0
            while size < most and random.random() < 0.5:
                size += 1
        elif partition.unread < most:
            full = partition.has(most)
            yield full | env.timeout(tick - env.now)
            partition.forget(full)
        with turn.request() as mine:
            yield mine
            events = partition.take(size)
            if events < most:
                tick += (int((env.now - tick) / ticker_ms) + 1) * ticker_ms if env.now >= tick else 0
            if events > 0:
                yield from deliver(events)
            if events == most:
                tick = env.now + ticker_ms

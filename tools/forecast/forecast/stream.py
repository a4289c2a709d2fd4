"""Topics, and the consumers of Dapr's Kafka component."""

from collections.abc import Callable, Generator
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
    """Delivers events when a delivery is full, or at the next tick.

    If a tick passed during a delivery, the component chooses at random between this tick and the next record. So it then takes only a few records.
    Partitions that share a component share its turn.
    """
    phase = random.uniform(0, ticker_ms)

    def ticks() -> int:
        return int((env.now - phase) // ticker_ms)

    last = ticks()
    while True:
        if partition.unread == 0:
            yield partition.has(1)
            last = ticks()
        if ticks() > last:
            last = ticks()
            size = 0
            while size < most and random.random() < 0.5:
                size += 1
        else:
            full = partition.has(most)
            yield full | env.timeout(max((last + 1) * ticker_ms + phase - env.now, 0.001))
            partition.forget(full)
            if partition.unread < most:
                last = ticks()
            size = most
        with turn.request() as mine:
            yield mine
            events = partition.take(size)
            if events > 0:
                yield from deliver(events)

"""The queue of packages/service-kit/src/sidecar/batcher.ts, which collects items into batches."""

from collections import deque
from collections.abc import Callable, Generator
from typing import Any

import simpy

Batch = list[tuple[Any, int]]


class Batcher:
    """Flushes batches. A flush begins at least `interval_ms` after the previous one, unless a batch is full."""

    def __init__(
        self,
        env: simpy.Environment,
        flush: Callable[[Batch, int], Generator],
        *,
        max_items: int,
        in_flight: int,
        interval_ms: float,
    ) -> None:
        self.env = env
        self.flush = flush
        self.max_items = max_items
        self.max_in_flight = in_flight
        self.interval_ms = interval_ms
        self.items = 0
        self.batches = 0
        self._waiting: deque[tuple[Any, int]] = deque()
        self._flights = 0
        self._landed = env.event()
        self._begun = float("-inf")
        self._running = False

    def put(self, owner: Any, count: int) -> None:
        """Adds items of one owner."""
        self._waiting.append((owner, count))
        self.items += count
        if not self._running:
            self._running = True
            self.env.process(self._run())

    def _run(self) -> Generator:
        while self.items > 0:
            pause = self._begun + self.interval_ms - self.env.now
            if pause > 0 and self.items < self.max_items:
                yield self.env.timeout(pause)
            batch, count = self._next()
            self._begun = self.env.now
            self._flights += 1
            self.batches += 1
            self.env.process(self._fly(batch, count))
            while self._flights >= self.max_in_flight:
                yield self._landed
        self._running = False

    def _fly(self, batch: Batch, count: int) -> Generator:
        yield from self.flush(batch, count)
        self._flights -= 1
        landed, self._landed = self._landed, self.env.event()
        landed.succeed()

    def _next(self) -> tuple[Batch, int]:
        batch: Batch = []
        room = self.max_items
        while room > 0 and self._waiting:
            owner, count = self._waiting.popleft()
            taken = min(room, count)
            batch.append((owner, taken))
            room -= taken
            if taken < count:
                self._waiting.appendleft((owner, count - taken))
        taken = self.max_items - room
        self.items -= taken
        return batch, taken

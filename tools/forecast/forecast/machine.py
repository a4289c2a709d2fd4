"""Cores that programs share."""

from collections import defaultdict
from collections.abc import Generator

import simpy

# The length of a turn on a core in milliseconds. Waiting programs then take their turns.
TURN_MS = 1.0


class Machine:
    """Gives turns on cores to programs, and counts the processor time of each part, in milliseconds."""

    def __init__(self, env: simpy.Environment, cores: int) -> None:
        self.env = env
        self.size = cores
        self.cores = simpy.Resource(env, cores)
        self.used: dict[str, float] = defaultdict(float)
        # The sum of the times for which cores were busy. It does not depend on `used`.
        self.busy_ms = 0.0
        self._busy = 0
        self._changed = 0.0

    def compute(self, part: str, ms: float) -> Generator:
        """Takes processor time for one thread of this part."""
        self.used[part] += ms
        while ms > 0:
            turn = min(ms, TURN_MS)
            with self.cores.request() as core:
                yield core
                self._count(1)
                yield self.env.timeout(turn)
                self._count(-1)
            ms -= turn

    def load(self, part: str, ms_per_second: float, every_ms: float = 20.0) -> None:
        """Takes this processor time all the time."""
        if ms_per_second > 0:
            self.env.process(self._load(part, ms_per_second * every_ms / 1_000, every_ms))

    def busy_share(self) -> float:
        self._count(0)
        return self.busy_ms / self.env.now / self.size

    def _load(self, part: str, ms: float, every_ms: float) -> Generator:
        while True:
            yield self.env.timeout(every_ms)
            yield from self.compute(part, ms)

    def _count(self, change: int) -> None:
        self.busy_ms += self._busy * (self.env.now - self._changed)
        self._changed = self.env.now
        self._busy += change


class Thread:
    """The main thread of a service. Other threads of the process take the rest of its processor time, such as those of the garbage collector."""

    def __init__(self, machine: Machine, part: str, main_share: float) -> None:
        self.machine = machine
        self.part = part
        self.main_share = main_share
        self.turn = simpy.Resource(machine.env, 1)

    def compute(self, ms: float) -> Generator:
        self.machine.env.process(self.machine.compute(self.part, ms * (1 - self.main_share)))
        with self.turn.request() as turn:
            yield turn
            yield from self.machine.compute(self.part, ms * self.main_share)

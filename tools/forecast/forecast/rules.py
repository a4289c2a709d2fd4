"""The limits of the code, and the costs that calibration finds. All times are in milliseconds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    # components/subscriptions.*.yaml
    delivery_events: int = 200
    prompt_ticker_ms: float = 60.0
    background_ticker_ms: float = 200.0
    # packages/service-kit/src/state/unit-of-work.ts
    save_items: int = 400
    saves_in_flight: int = 4
    # packages/service-kit/src/stream/publish.ts: 192 KiB, with 600 bytes for each event
    publish_items: int = 320
    publishes_in_flight: int = 2
    # writeIntervalMs of packages/service-kit/src/sidecar
    flush_interval_ms: float = 20.0


@dataclass(frozen=True)
class Cost:
    """Processor time: for each second, for each call, and for each event."""

    idle: float = 0.0
    call: float = 0.0
    event: float = 0.0


@dataclass(frozen=True)
class ServiceCosts:
    program: Cost
    sidecar: Cost
    # The part of the program's processor time that its main thread takes.
    main_share: float


@dataclass(frozen=True)
class Costs:
    services: dict[str, ServiceCosts]
    # A call is a request of a sidecar. An event is written once and read once. The idle time is for each replica.
    kafka: Cost
    # A call is a statement with a commit. An event is a document.
    store: Cost
    # Everything else on the machine: the benchmark, its clients, and the system.
    others: Cost
    kafka_alone_ms: float
    # The time for which a commit waits for the disk.
    commit_ms: float
    # The time that each event of a call waits in addition to processor time, such as pauses of V8's garbage collector. A call's events wait one after
    # the other.
    event_wait_ms: float = 0.0

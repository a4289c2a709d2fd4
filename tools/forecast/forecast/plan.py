"""Predictions for rates that this machine cannot reach: the needed cores, replicas, partitions, brokers and stores."""

from dataclasses import dataclass
from math import ceil
from typing import Any

from .calibrate import ORDER, PAYMENT
from .rules import Costs
from .system import Run, Setup, backlog, steady

PARTS = [ORDER, f"{ORDER}-sidecar", PAYMENT, f"{PAYMENT}-sidecar", "kafka", "store"]


@dataclass(frozen=True)
class Hardware:
    """A server of the plan. docs/forecast.md names the sources."""

    cores: int = 32
    # 10 Gbit/s in each direction.
    network_bytes: float = 1.25e9
    # 1,000 MiB/s.
    disk_bytes: float = 1_048_576_000.0
    # The planned utilisation of every part.
    share: float = 0.6


@dataclass(frozen=True)
class Limits:
    """Limits of this system: max_connections of the store, and the connections of a sidecar (docs/stores.md)."""

    store_connections: int = 400
    sidecar_connections: int = 16
    # The sidecar's clients for Kafka (docs/adr/0018).
    kafka_clients: int = 26
    consumers: int = 12
    # The measured speed of event-monitor's index (docs/performance.md). An order has two events.
    monitor_events: float = 47_157.0
    replication: int = 3


@dataclass(frozen=True)
class Demand:
    """The needs of an order: milliseconds of processor time by part, milliseconds of main threads, and bytes."""

    used: dict[str, float]
    threads: dict[str, float]
    kafka_in: float
    kafka_out: float
    store_log: float
    store_data: float
    # The events per second of one consumer with its partition, without a limit of cores.
    lane: float


def demand_of(run: Run, costs: Costs, measured: dict[str, Any], lane: float) -> Demand:
    size = measured["bytes"]
    used = {part: run.used.get(part, 0.0) / run.events for part in PARTS}
    return Demand(
        used=used,
        threads={name: used[name] * costs.services[name].main_share for name in (ORDER, PAYMENT)},
        kafka_in=size["orderevents"] + size["paymentevents"],
        # Both services read orders, and order-service reads payments.
        kafka_out=2 * size["orderevents"] + size["paymentevents"],
        store_log=size["storeLog"],
        store_data=size["databases"],
        lane=lane,
    )


def lane_of(costs: Costs, partitions: int) -> float:
    """Returns the events per second of one consumer, if each partition has a replica of its own and cores are no limit."""
    run = backlog(costs, Setup(partitions, 0, 4 * partitions, partitions), 2_000 * partitions)
    return run.per_second / partitions


def reference(costs: Costs, rate: float, hardware: Hardware, seconds: float = 4.0) -> tuple[Setup, Run]:
    """Simulates a system for this rate, event by event, with as many replicas as the plan needs."""
    setup = Setup(payment_replicas=2, order_replicas=5, cores=32, partitions=12)
    for _ in range(3):
        run = steady(costs, setup, min(rate, 10_000), seconds)
        orders = replicas_for(run.used[ORDER] / run.events * costs.services[ORDER].main_share, min(rate, 10_000), hardware)
        payments = replicas_for(run.used[PAYMENT] / run.events * costs.services[PAYMENT].main_share, min(rate, 10_000), hardware)
        setup = Setup(payments, orders, 32, 12)
    factor = round(rate / min(rate, 10_000))
    whole = Setup(setup.payment_replicas * factor, setup.order_replicas * factor, setup.cores * factor, setup.partitions * factor)
    return whole, steady(costs, whole, rate, seconds)


def replicas_for(thread_ms: float, rate: float, hardware: Hardware) -> int:
    return max(1, ceil(rate * thread_ms / 1_000 / hardware.share))


@dataclass(frozen=True)
class Unit:
    """One unit of a resource, and the orders per second with which it is full."""

    name: str
    orders: float


def units_of(demand: Demand, hardware: Hardware, limits: Limits) -> list[Unit]:
    """Lists the first units that are full, if there is one of each and every part has enough cores."""
    replicas = limits.replication
    cores = hardware.cores * 1_000
    units = [
        Unit("main thread of an order-service", 1_000 / demand.threads[ORDER]),
        Unit("main thread of a payment-service", 1_000 / demand.threads[PAYMENT]),
        Unit(f"{limits.consumers} consumers with a partition each", limits.consumers * demand.lane),
        Unit("event-monitor's index", limits.monitor_events / 2),
        Unit("a PostgreSQL server: cores", cores / demand.used["store"]),
        Unit("a PostgreSQL server: disk of its log", hardware.disk_bytes / demand.store_log),
        Unit("three brokers: cores", replicas * cores / (demand.used["kafka"] * replicas)),
        Unit("three brokers: network", replicas * hardware.network_bytes / network_of(demand, limits)),
        Unit("three brokers: disks", hardware.disk_bytes / demand.kafka_in),
    ]
    return sorted(units, key=lambda unit: unit.orders)


def network_of(demand: Demand, limits: Limits) -> float:
    """The bytes of an order in the busier direction of all brokers together. A leader sends each record to the other replicas, and to each group."""
    copies = limits.replication - 1
    return max(demand.kafka_in * (1 + copies), demand.kafka_in * copies + demand.kafka_out)


@dataclass(frozen=True)
class Plan:
    rate: float
    cores: dict[str, int]
    order_replicas: int
    payment_replicas: int
    partitions: int
    brokers: int
    brokers_by: str
    stores: int
    stores_by: str
    members: int
    kafka_connections: int
    terabytes_a_day: float


def plan_for(rate: float, demand: Demand, hardware: Hardware, limits: Limits) -> Plan:
    usable = hardware.cores * 1_000 * hardware.share
    orders = replicas_for(demand.threads[ORDER], rate, hardware)
    payments = replicas_for(demand.threads[PAYMENT], rate, hardware)
    # Each further copy of a record is an estimate: it costs as much as the first one.
    kafka_ms = demand.used["kafka"] * limits.replication
    brokers = {
        "cores": rate * kafka_ms / usable,
        "network": rate * network_of(demand, limits) / (hardware.network_bytes * hardware.share),
        "disks": rate * demand.kafka_in * limits.replication / (hardware.disk_bytes * hardware.share),
    }
    sidecars = (orders + payments) * limits.sidecar_connections
    stores = {
        "cores": rate * demand.used["store"] / usable,
        "log": rate * demand.store_log / (hardware.disk_bytes * hardware.share),
        "connections": sidecars / limits.store_connections,
    }
    brokers_by, stores_by = max(brokers, key=brokers.__getitem__), max(stores, key=stores.__getitem__)
    needed = max(limits.replication, ceil(brokers[brokers_by]))
    used = {**demand.used, "kafka": kafka_ms}
    return Plan(
        rate=rate,
        cores={part: max(1, ceil(rate * ms / 1_000 / hardware.share)) for part, ms in used.items()},
        order_replicas=orders,
        payment_replicas=payments,
        partitions=partitions_for(rate, demand, hardware, limits, max(orders, payments)),
        brokers=needed,
        brokers_by=brokers_by if needed > limits.replication else "replication",
        stores=max(1, ceil(stores[stores_by])),
        stores_by=stores_by,
        members=(orders + payments) * limits.consumers,
        kafka_connections=(orders + payments) * limits.kafka_clients,
        terabytes_a_day=rate * 86_400 * (demand.kafka_in * limits.replication + demand.store_data) / 1e12,
    )


def partitions_for(rate: float, demand: Demand, hardware: Hardware, limits: Limits, replicas: int) -> int:
    """Returns a multiple of the default, so that each consumer is below the planned utilisation and each replica has a partition."""
    needed = max(rate / demand.lane / hardware.share, replicas)
    return limits.consumers * max(1, ceil(needed / limits.consumers))

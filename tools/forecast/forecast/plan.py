"""Predictions for rates that this machine cannot reach: the needed cores, replicas, partitions, brokers and stores."""

from dataclasses import dataclass
from math import ceil
from typing import Any

from .calibrate import ORDER, PAYMENT
from .rules import Costs
from .system import Run, Setup, backlog, loop, steady

# The default number of partitions (docs/adr/0018).
PARTITIONS = 12
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
    # The measured speed of event-monitor's index (docs/performance-findings.md). An order has two events.
    monitor_events: float = 47_157.0
    replication: int = 3


@dataclass(frozen=True)
class Demand:
    """The needs of an order: milliseconds of processor time by part, and bytes."""

    used: dict[str, float]
    kafka_in: float
    kafka_out: float
    store_log: float
    store_data: float


@dataclass(frozen=True)
class Most:
    """The largest rates in the simulation, if cores are no limit."""

    order_service: float
    payment_service: float
    # One consumer with its partition.
    consumer: float


def demand_of(run: Run, measured: dict[str, Any]) -> Demand:
    size = measured["bytes"]
    return Demand(
        used={part: run.used.get(part, 0.0) / run.events for part in PARTS},
        kafka_in=size["orderevents"] + size["paymentevents"],
        # Both services read orders, and order-service reads payments.
        kafka_out=2 * size["orderevents"] + size["paymentevents"],
        store_log=size["storeLog"],
        store_data=size["databases"],
    )


def most_of(costs: Costs) -> Most:
    """Simulates one replica of each service, and then one replica for each partition."""
    requests = loop(costs, Setup(4, 1, 64, PARTITIONS), 20_000, connections=1_000)
    payments = backlog(costs, Setup(1, 0, 64, PARTITIONS), 48_000)
    consumers = backlog(costs, Setup(PARTITIONS, 0, 64, PARTITIONS), 24_000)
    return Most(requests.per_second, payments.per_second, consumers.per_second / PARTITIONS)


# The rate of a slice. Larger rates are simulated as several slices that share Kafka and the cores.
SLICE = 10_000


def reference(costs: Costs, rate: float, most: Most, hardware: Hardware, seconds: float = 5.0) -> tuple[Setup, Run]:
    """Simulates a system for this rate, event by event, with the replicas and partitions of its plan."""
    orders, payments, partitions = parts_for(SLICE, most, hardware)
    slices = round(rate / SLICE)
    setup = Setup(payments * slices, orders * slices, hardware.cores * slices, partitions * slices)
    return setup, steady(costs, setup, rate, seconds)


def parts_for(rate: float, most: Most, hardware: Hardware) -> tuple[int, int, int]:
    """Returns the replicas of both services, and the partitions: a multiple of the default, and at least one for each replica."""
    orders = ceil(rate / most.order_service / hardware.share)
    payments = ceil(rate / most.payment_service / hardware.share)
    consumers = ceil(rate / most.consumer / hardware.share)
    return orders, payments, PARTITIONS * ceil(max(orders, payments, consumers) / PARTITIONS)


@dataclass(frozen=True)
class Unit:
    """One unit of a resource, and the orders per second with which it is full."""

    name: str
    orders: float


def units_of(demand: Demand, most: Most, hardware: Hardware, limits: Limits) -> list[Unit]:
    """Lists the first units that are full, if there is one of each and every part has enough cores."""
    replicas = limits.replication
    cores = hardware.cores * 1_000
    units = [
        Unit("a replica of order-service", most.order_service),
        Unit("a replica of payment-service", most.payment_service),
        Unit(f"{PARTITIONS} consumers with a partition each", PARTITIONS * most.consumer),
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
    # The needed servers by the resource that they are counted for.
    brokers: dict[str, int]
    stores: dict[str, int]
    terabytes_a_day: float


def plan_for(rate: float, demand: Demand, most: Most, hardware: Hardware, limits: Limits) -> Plan:
    share = hardware.share
    usable = hardware.cores * 1_000 * share
    orders, payments, partitions = parts_for(rate, most, hardware)
    # The cost of each further copy of a record is an estimate: that of the first one.
    kafka_ms = demand.used["kafka"] * limits.replication
    brokers = {
        "cores": rate * kafka_ms / usable,
        "network": rate * network_of(demand, limits) / (hardware.network_bytes * share),
        "disks": rate * demand.kafka_in * limits.replication / (hardware.disk_bytes * share),
    }
    stores = {
        "cores": rate * demand.used["store"] / usable,
        "disk": rate * demand.store_log / (hardware.disk_bytes * share),
        "connections": (orders + payments) * limits.sidecar_connections / limits.store_connections,
    }
    return Plan(
        rate=rate,
        cores={part: max(1, ceil(rate * ms / 1_000 / share)) for part, ms in {**demand.used, "kafka": kafka_ms}.items()},
        order_replicas=orders,
        payment_replicas=payments,
        partitions=partitions,
        brokers={resource: max(limits.replication, ceil(count)) for resource, count in brokers.items()},
        stores={resource: ceil(count) for resource, count in stores.items()},
        terabytes_a_day=rate * 86_400 * (demand.kafka_in * limits.replication + demand.store_data) / 1e12,
    )

"""Finds the costs from the measured runs with one replica. No run with more replicas is used."""

from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

from .fit import fit
from .rules import Cost, Costs, ServiceCosts
from .system import Setup, median_backlog

Cell = dict[str, Any]

PAYMENT, ORDER = "payment-service", "order-service"
CONNECTIONS = 256


def medians(cells: list[Cell], load: str, replicas: int) -> Cell:
    """Returns a cell with the median of each figure."""
    chosen = [cell for cell in cells if cell["load"] == load and cell["replicas"] == replicas]
    if not chosen:
        raise ValueError(f"the run {load} with {replicas} replicas is not measured: run make -C tools bench PART=capacity")
    return merged(chosen)


def merged(values: list[Any]) -> Any:
    first = values[0]
    if isinstance(first, dict):
        return {key: merged([value[key] for value in values]) for key in first}
    return median(values) if isinstance(first, int | float) else first


def calls_of(calls: dict[str, float]) -> float:
    """The calls between a service and its sidecar. A save consists of two calls: the list's chunk, and the documents."""
    return calls["deliveries"] + 2 * calls["saves"] + calls["publishes"]


def cost_of(idle: Cell, cells: list[Cell], used: Callable[[Cell], float], calls: Callable[[Cell], float]) -> Cost:
    """Fits the cost of a call and of an event. The cost without events is measured, and is subtracted before."""
    idle_ms = used(idle) / idle["seconds"]
    rows = [[calls(cell), cell["events"]] for cell in cells]
    call, event = fit(rows, [max(used(cell) - idle_ms * cell["seconds"], 0.001) for cell in cells])
    return Cost(idle_ms, call, event)


def service_costs(idle: Cell, cells: list[Cell], name: str) -> ServiceCosts:
    def fitted(part: str) -> Cost:
        return cost_of(idle, cells, lambda cell: cell["used"][part], lambda cell: calls_of(cell["calls"][name]))

    full = cells[-1]
    sidecar = f"{name.removesuffix('-service')}-sidecar"
    return ServiceCosts(fitted(name), fitted(sidecar), full["mainThread"][name] / full["used"][name])


def others_cost(idle: Cell, full: Cell, cores: int) -> Cost:
    """The processor time that belongs to none of the measured programs."""

    def used(cell: Cell) -> float:
        return max(cell["busy"] * cores * cell["seconds"] * 1_000 - sum(cell["used"].values()), 0.0)

    return cost_of(idle, [full], used, lambda cell: 0)


def calibrate(measured: dict[str, Any]) -> Costs:
    """Returns the costs of the payments' runs. The last unknown, the wait of an event in a call, is chosen so that one replica reaches its measured rate."""
    cells, cores = measured["payments"], measured["cores"]
    alone, idle = medians(cells, "none", 0), medians(cells, "idle", 1)
    busy = [medians(cells, load, 1) for load in ("small deliveries", "backlog")]
    full = busy[-1]
    kafka_alone = alone["used"]["kafka"] / alone["seconds"]

    def kafka_calls(cell: Cell) -> float:
        return cell["calls"][PAYMENT]["deliveries"] + cell["calls"][PAYMENT]["publishes"]

    kafka = cost_of(idle, busy, lambda cell: cell["used"]["kafka"], kafka_calls)
    store = cost_of(idle, busy, lambda cell: cell["used"]["postgresql"], lambda cell: 2 * cell["calls"][PAYMENT]["saves"])
    costs = Costs(
        services={PAYMENT: service_costs(idle, busy, PAYMENT)},
        kafka=replace(kafka, idle=max(kafka.idle - kafka_alone, 0.0)),
        store=store,
        others=others_cost(idle, full, cores),
        kafka_alone_ms=kafka_alone,
        commit_ms=max(measured["times"]["commitMs"] - measured["times"]["queryMs"], 0.0),
    )
    return with_event_wait(costs, full, cores, measured["partitions"])


def with_event_wait(costs: Costs, one: Cell, cores: int, partitions: int) -> Costs:
    """Halves an interval until the model's rate with one replica is the measured one."""
    low, high = 0.0, 0.5
    for _ in range(12):
        middle = replace(costs, event_wait_ms=(low + high) / 2)
        if median_backlog(middle, Setup(1, 0, cores, partitions), round(one["events"])).per_second > one["perSecond"]:
            low = middle.event_wait_ms
        else:
            high = middle.event_wait_ms
    return replace(costs, event_wait_ms=low)


def with_orders(costs: Costs, measured: dict[str, Any]) -> Costs:
    """Adds the costs of order-service, and of the clients for each order."""
    cells = measured["orders"]
    idle = medians(cells, "idle", 1)
    busy = [medians(cells, f"{count} connections", 1) for count in (64, CONNECTIONS)]
    return replace(
        costs,
        services={**costs.services, ORDER: service_costs(idle, busy, ORDER)},
        others=others_cost(idle, busy[-1], measured["cores"]),
    )

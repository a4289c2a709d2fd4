"""Finds the costs from the measured runs with one replica. No run with more replicas is used."""

from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

from .fit import fit
from .rules import Cost, Costs, ServiceCosts
from .system import Setup, backlog

Cell = dict[str, Any]

PAYMENT, ORDER = "payment-service", "order-service"


def medians(cells: list[Cell], load: str, replicas: int) -> Cell:
    """Returns a cell with the median of each figure."""
    chosen = [cell for cell in cells if cell["load"] == load and cell["replicas"] == replicas]
    if not chosen:
        raise ValueError(f"the run {load} with {replicas} replicas is not measured: run make -C tools bench PART=capacity")
    return merged(chosen)


def merged(values: list[Any]) -> Any:
    first = values[0]
    if isinstance(first, dict):
        keys = [key for key in first if all(key in value for value in values)]
        return {key: merged([value[key] for value in values]) for key in keys}
    return median(values) if isinstance(first, int | float) else first


def calls_of(calls: dict[str, float]) -> float:
    """The calls between a service and its sidecar. A save consists of two calls: the list's chunk, and the documents."""
    return calls["deliveries"] + 2 * calls["saves"] + calls["publishes"]


def cost_of(cells: list[Cell], used: Callable[[Cell], float], calls: Callable[[Cell], float], idle: float) -> Cost:
    """Fits the cost of a call and of an event. The idle cost is measured, and is subtracted before."""
    busy = [cell for cell in cells if cell["events"] > 0]
    rows = [[calls(cell), cell["events"]] for cell in busy]
    call, event = fit(rows, [max(used(cell) - idle * cell["seconds"], 0.001) for cell in busy])
    return Cost(idle, call, event)


def idle_of(cells: list[Cell], used: Callable[[Cell], float]) -> float:
    idle = next(cell for cell in cells if cell["load"] == "0")
    return used(idle) / idle["seconds"]


def others(cell: Cell, cores: int) -> float:
    """Milliseconds of processor time that belong to none of the measured programs."""
    return max(cell["busy"] * cores * cell["seconds"] * 1_000 - sum(cell["used"].values()), 0.0)


def service_costs(cells: list[Cell], name: str) -> ServiceCosts:
    def fitted(part: str) -> Cost:
        return cost_of(
            cells,
            lambda cell: cell["used"][part],
            lambda cell: calls_of(cell["calls"][name]),
            idle_of(cells, lambda cell: cell["used"][part]),
        )

    last = cells[-1]
    return ServiceCosts(fitted(name), fitted(f"{name.removesuffix('-service')}-sidecar"), last["mainThread"][name] / last["used"][name])


def calibrate(measured: dict[str, Any]) -> Costs:
    """Returns the costs of the payments' runs. The last unknown, the wait of a call, is chosen so that one replica reaches its measured rate."""
    cells, cores = measured["payments"], measured["cores"]
    loads = list(dict.fromkeys(cell["load"] for cell in cells if cell["replicas"] == 1))
    one = [medians(cells, load, 1) for load in sorted(loads, key=lambda load: (load == "backlog", load))]
    alone = medians(cells, "none", 0)
    kafka_alone = alone["used"]["kafka"] / alone["seconds"]
    calls = lambda cell: cell["calls"][PAYMENT]  # noqa: E731

    def fitted(used: Callable[[Cell], float], count: Callable[[Cell], float]) -> Cost:
        return cost_of(one, used, count, idle_of(one, used))

    kafka = fitted(lambda cell: cell["used"]["kafka"], lambda cell: calls(cell)["deliveries"] + calls(cell)["publishes"])
    costs = Costs(
        services={PAYMENT: service_costs(one, PAYMENT)},
        kafka=replace(kafka, idle=max(kafka.idle - kafka_alone, 0.0)),
        store=fitted(lambda cell: cell["used"]["postgresql"], lambda cell: 2 * calls(cell)["saves"]),
        others=fitted(lambda cell: others(cell, cores), lambda cell: 0),
        kafka_alone_ms=kafka_alone,
        commit_ms=max(measured["times"]["commitMs"] - measured["times"]["queryMs"], 0.0),
    )
    return with_call_wait(costs, one[-1], cores, measured["partitions"])


def with_call_wait(costs: Costs, one: Cell, cores: int, partitions: int) -> Costs:
    """Halves an interval until the model's rate with one replica is the measured one."""
    low, high = 0.0, 64.0
    for _ in range(12):
        middle = replace(costs, call_wait_ms=(low + high) / 2)
        run = backlog(middle, Setup(1, 0, cores, partitions), round(one["events"]))
        if run.per_second > one["perSecond"]:
            low = middle.call_wait_ms
        else:
            high = middle.call_wait_ms
    return replace(costs, call_wait_ms=low)


def with_orders(costs: Costs, measured: dict[str, Any]) -> Costs:
    """Adds the costs of order-service. Clients take processor time of their own, for each order."""
    cells, cores = measured["orders"], measured["cores"]
    loads = list(dict.fromkeys(cell["load"] for cell in cells))
    one = [medians(cells, load, 1) for load in sorted(loads, key=lambda load: (load == "loop", load))]
    idle = idle_of(one, lambda cell: others(cell, cores))
    return replace(
        costs,
        services={**costs.services, ORDER: service_costs(one, ORDER)},
        others=cost_of([one[-1]], lambda cell: others(cell, cores), lambda cell: 0, idle),
    )

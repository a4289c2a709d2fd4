"""Tables and charts, in the form of tools/bench/report/findings.ts."""

from typing import Any

from .calibrate import ORDER, PAYMENT
from .plan import PARTS, Demand, Plan, Unit
from .rules import Cost, Costs
from .system import Run, Setup

Table = dict[str, Any]

LABELS = {
    ORDER: "order-service",
    f"{ORDER}-sidecar": "its sidecar",
    PAYMENT: "payment-service",
    f"{PAYMENT}-sidecar": "its sidecar ",
    "kafka": "Kafka, with two more copies",
    "store": "PostgreSQL",
}


def number(value: float, digits: int = 0) -> str:
    return f"{value:,.{digits}f}"


def rounded(value: float) -> str:
    """Returns two significant digits, because predictions are not more exact."""
    digits = len(str(int(value))) - 2
    return number(round(value, -digits)) if digits > 0 else number(value)


def check_table(compared: list[tuple[int, Any, Run]], closed: Any, closed_run: Run) -> Table:
    def row(name: str, cell: Any, run: Run, what: str) -> list[str]:
        micros = sum(cell["used"].values()) * 1_000 / cell["events"]
        predicted = (sum(run.used.values()) - run.used["others"]) * 1_000 / run.events
        difference = run.per_second / cell["perSecond"] - 1
        return [
            name,
            what,
            number(cell["perSecond"]),
            number(run.per_second),
            f"{difference:+.1%}".replace("%", " %"),
            number(cell["busy"], 2),
            number(run.busy, 2),
            number(micros),
            number(predicted),
        ]

    rows = [
        row(str(replicas), cell, run, "calibrated" if replicas == 1 else "predicted") for replicas, cell, run in compared
    ]
    rows.append(row("1, whole loop", closed, closed_run, "predicted"))
    names = [row[0] for row in rows[:-1]]
    return {
        "title": "Payments per second on two cores, by replicas of payment-service; last row: orders per second from POST to Paid",
        "head": ["replicas", "", "measured", "model", "difference", "busy", "model", "µs each", "model"],
        "rows": rows,
        "chart": {
            "name": "check",
            "title": "Payments per second on two cores, by replicas of payment-service",
            "unit": "events/s",
            "categories": names,
            "series": [
                {"name": "measured", "values": [cell["perSecond"] for _, cell, _ in compared]},
                {"name": "model, calibrated with one replica", "values": [run.per_second for _, _, run in compared]},
            ],
        },
    }


def costs_table(costs: Costs) -> Table:
    def row(name: str, cost: Cost, main: float | None = None) -> list[str]:
        share = "-" if main is None else number(main, 2)
        return [name, number(cost.idle, 1), number(cost.call * 1_000), number(cost.event * 1_000, 1), share]

    rows = []
    for name, service in sorted(costs.services.items()):
        rows.append(row(name, service.program, service.main_share))
        rows.append(row(f"{name}, sidecar", service.sidecar))
    rows.append(row("Kafka", costs.kafka))
    rows.append(row("PostgreSQL", costs.store))
    rows.append(row("clients, and the rest of the machine", costs.others))
    return {
        "title": f"Costs from the runs with one replica; each event of a call also waits {costs.event_wait_ms * 1_000:.0f} µs, and a commit {costs.commit_ms:.1f} ms",
        "head": ["", "ms in each second", "µs for each call", "µs for each event or order", "share of the main thread"],
        "rows": rows,
    }


def units_table(units: list[Unit]) -> Table:
    return {
        "title": "The orders per second at which one unit of each resource is full",
        "head": ["", "orders/s"],
        "rows": [[unit.name, rounded(unit.orders)] for unit in units],
    }


def plan_tables(plans: list[Plan]) -> list[Table]:
    rates = [number(plan.rate) for plan in plans]
    total = [rounded(sum(plan.cores.values())) for plan in plans]
    counts = [
        ("replicas of order-service", lambda plan: plan.order_replicas),
        ("replicas of payment-service", lambda plan: plan.payment_replicas),
        ("partitions of each topic, and consumers of each group", lambda plan: plan.partitions),
        ("brokers, by cores", lambda plan: plan.brokers["cores"]),
        ("brokers, by network", lambda plan: plan.brokers["network"]),
        ("brokers, by disks", lambda plan: plan.brokers["disks"]),
        ("PostgreSQL servers, by cores", lambda plan: plan.stores["cores"]),
        ("PostgreSQL servers, by the disk of the log", lambda plan: plan.stores["disk"]),
        ("PostgreSQL servers, by connections", lambda plan: plan.stores["connections"]),
        ("new data in TB each day", lambda plan: plan.terabytes_a_day),
    ]
    return [
        {
            "title": "Cores at 60 % utilisation, by orders per second",
            "head": ["", *rates],
            "rows": [
                *[[LABELS[part].strip(), *[rounded(plan.cores[part]) for plan in plans]] for part in PARTS],
                ["all", *total],
            ],
        },
        {
            "title": "Numbers of parts, by orders per second",
            "head": ["", *rates],
            "rows": [[name, *[rounded(of(plan)) for plan in plans]] for name, of in counts],
        },
    ]


def plan_chart(plans: list[Plan]) -> Table:
    return {
        "name": "plan",
        "title": "Predicted cores at 60 % utilisation",
        "unit": "cores",
        "categories": [f"{number(plan.rate)} orders/s" for plan in plans],
        "logarithmic": True,
        "series": [{"name": LABELS[part].strip(), "values": [plan.cores[part] for plan in plans]} for part in PARTS],
    }


def law_table(references: list[tuple[float, Setup, Run]], demand: Demand, costs: Costs) -> Table:
    """Compares the simulated utilisation with the law: the rate times the demand of an order at the lowest rate."""
    rows = []
    for _, setup, run in references:
        ms = sum(demand.used.values()) + costs.others.event
        law = run.per_second * ms / 1_000 / setup.cores
        rows.append(
            [
                number(run.per_second),
                number(setup.order_replicas),
                number(setup.payment_replicas),
                number(setup.partitions),
                number(run.busy * setup.cores, 1),
                number(law * setup.cores, 1),
                f"{law / run.busy - 1:+.1%}".replace("%", " %"),
            ]
        )
    return {
        "title": "Busy cores in the simulation, and by the law that plans use: rate × demand of an order",
        "head": ["orders/s", "order-service", "payment-service", "partitions", "simulated", "by the law", "difference"],
        "rows": rows,
    }

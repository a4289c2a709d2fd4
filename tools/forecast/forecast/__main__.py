"""Reads the measured figures, and prints the check and the predictions as JSON: `python3 -m forecast FILE`."""

import json
import sys
from typing import Any

from .calibrate import CONNECTIONS, calibrate, medians, with_orders
from .plan import Hardware, Limits, demand_of, most_of, plan_for, reference, units_of
from .report import check_table, costs_table, law_table, plan_chart, plan_tables, units_table
from .rules import Costs
from .system import Run, Setup, loop, median_backlog

TOLERANCE = 0.15
RATES = [10_000, 100_000, 1_000_000]
# The largest rate that is simulated event by event.
SIMULATED = 100_000


def compare(costs: Costs, measured: dict[str, Any]) -> list[tuple[int, dict[str, Any], Run]]:
    """Returns the measured and the predicted run for each number of replicas."""
    counts = sorted({cell["replicas"] for cell in measured["payments"] if cell["load"] == "backlog"})
    found = []
    for replicas in counts:
        cell = medians(measured["payments"], "backlog", replicas)
        run = median_backlog(costs, Setup(replicas, 0, measured["cores"], measured["partitions"]), round(cell["events"]))
        found.append((replicas, cell, run))
    return found


def main(file: str) -> None:
    with open(file, encoding="utf-8") as source:
        measured = json.load(source)["figures"]
    costs = calibrate(measured)
    compared = compare(costs, measured)
    all_costs = with_orders(costs, measured)
    closed = medians(measured["orders"], f"{CONNECTIONS} connections", 1)
    closed_run = loop(all_costs, Setup(1, 1, measured["cores"], measured["partitions"]), round(closed["events"]), CONNECTIONS)
    hardware, limits = Hardware(), Limits()
    most = most_of(all_costs)
    references = [(rate, *reference(all_costs, rate, most, hardware)) for rate in RATES if rate <= SIMULATED]
    demand = demand_of(references[0][2], measured)
    plans = [plan_for(rate, demand, most, hardware, limits) for rate in RATES]
    differences = [run.per_second / cell["perSecond"] - 1 for _, cell, run in [*compared, (1, closed, closed_run)]]
    check = check_table(compared, closed, closed_run)
    result = {
        "sections": {
            "check": [check],
            "costs": [costs_table(all_costs)],
            "limits": [units_table(units_of(demand, most, hardware, limits))],
            "plan": plan_tables(plans),
            "law": [law_table(references, demand, all_costs)],
        },
        "charts": [check["chart"], plan_chart(plans)],
        "failed": [f"{difference:+.0%}" for difference in differences if abs(difference) > TOLERANCE],
    }
    del check["chart"]
    json.dump(result, sys.stdout, indent=2)


main(sys.argv[1])

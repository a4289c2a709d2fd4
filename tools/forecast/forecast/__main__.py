"""Reads the measured figures, and prints the check and the predictions as JSON: `python3 -m forecast FILE`."""

import json
import sys
from typing import Any

from .calibrate import calibrate, medians, with_orders
from .plan import Hardware, Limits, demand_of, lane_of, plan_for, reference, units_of
from .report import check_table, costs_table, law_table, plan_chart, plan_tables, units_table
from .rules import Costs
from .system import Run, Setup, backlog, loop

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
        run = backlog(costs, Setup(replicas, 0, measured["cores"], measured["partitions"]), round(cell["events"]))
        found.append((replicas, cell, run))
    return found


def main(file: str) -> None:
    with open(file, encoding="utf-8") as source:
        measured = json.load(source)
    costs = calibrate(measured)
    compared = compare(costs, measured)
    all_costs = with_orders(costs, measured)
    closed = medians(measured["orders"], "loop", 1)
    closed_run = loop(all_costs, Setup(1, 1, measured["cores"], measured["partitions"]), round(closed["events"]))
    hardware, limits = Hardware(), Limits()
    lane = lane_of(all_costs, measured["partitions"])
    references = [(rate, *reference(all_costs, rate, hardware)) for rate in RATES if rate <= SIMULATED]
    demand = demand_of(references[0][2], all_costs, measured, lane)
    plans = [plan_for(rate, demand, hardware, limits) for rate in RATES]
    differences = [run.per_second / cell["perSecond"] - 1 for _, cell, run in [*compared, (1, closed, closed_run)]]
    check = check_table(compared, closed, closed_run)
    result = {
        "check": [check],
        "costs": [costs_table(all_costs)],
        "limits": [units_table(units_of(demand, hardware, limits))],
        "plan": plan_tables(plans),
        "law": [law_table(references, demand, all_costs)],
        "charts": [check["chart"], plan_chart(plans)],
        "failed": [f"{difference:+.0%}" for difference in differences if abs(difference) > TOLERANCE],
    }
    del check["chart"]
    json.dump(result, sys.stdout, indent=2)


main(sys.argv[1])

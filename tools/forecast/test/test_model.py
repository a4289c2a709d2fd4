"""Rules that hold for every system, whatever its costs are."""

import unittest

import simpy

from forecast.batcher import Batcher
from forecast.fit import fit
from forecast.machine import Machine
from forecast.rules import Cost, Costs, ServiceCosts
from forecast.system import Setup, System, backlog, steady


def costs() -> Costs:
    return Costs(
        services={
            "payment-service": ServiceCosts(Cost(5, 0.4, 0.05), Cost(10, 0.4, 0.02), 0.8),
            "order-service": ServiceCosts(Cost(5, 0.4, 0.2), Cost(10, 0.4, 0.05), 0.8),
        },
        kafka=Cost(2, 0.4, 0.01),
        store=Cost(2, 0.4, 0.01),
        others=Cost(10, 0, 0.01),
        kafka_alone_ms=20,
        commit_ms=1,
        event_wait_ms=0.02,
    )


class Conservation(unittest.TestCase):
    def test_publishes_each_event_once(self) -> None:
        system = System(costs(), Setup(payment_replicas=3))
        system.orders.write(5_000)
        system.env.run(until=20_000)
        self.assertEqual(system.payments.written, 5_000)
        self.assertEqual(system.paid, 5_000)

    def test_stores_the_payment_of_each_posted_order(self) -> None:
        system = System(costs(), Setup(payment_replicas=2, order_replicas=2))
        for _ in range(40):
            system.env.process(system.order_services[0].post(25))
        system.env.run(until=20_000)
        self.assertEqual((system.orders.written, system.payments.written, system.stored), (1_000, 1_000, 1_000))

    def test_events_in_flight_are_the_difference_of_both_topics(self) -> None:
        system = System(costs(), Setup())
        system.orders.write(5_000)
        system.env.run(until=200)
        (group,) = system.orders.groups
        unread = sum(partition.unread for partition in group)
        self.assertLess(0, system.payments.written)
        self.assertLessEqual(unread + system.payments.written, 5_000)

    def test_a_batcher_flushes_each_item_once_and_keeps_its_limits(self) -> None:
        env = simpy.Environment()
        flushed: list[tuple[float, int]] = []

        def flush(batch, count):
            flushed.append((env.now, count))
            self.assertEqual(sum(each for _, each in batch), count)
            yield env.timeout(5)

        batcher = Batcher(env, flush, max_items=100, in_flight=2, interval_ms=20)
        for count in (30, 250, 7):
            batcher.put("owner", count)
        env.run()
        self.assertEqual(sum(count for _, count in flushed), 287)
        self.assertLessEqual(max(count for _, count in flushed), 100)


class Cores(unittest.TestCase):
    def test_more_cores_are_never_slower(self) -> None:
        for replicas in (1, 3):
            rates = [backlog(costs(), Setup(replicas, 0, cores), 12_000).per_second for cores in (1, 2, 4, 8)]
            for fewer, more in zip(rates, rates[1:]):
                self.assertGreaterEqual(more, fewer)

    def test_two_threads_on_one_core_take_the_sum_of_their_times(self) -> None:
        env = simpy.Environment()
        machine = Machine(env, 1)
        env.process(machine.compute("a", 7))
        env.process(machine.compute("b", 5))
        env.run()
        self.assertAlmostEqual(env.now, 12)
        self.assertEqual(dict(machine.used), {"a": 7, "b": 5})


class Laws(unittest.TestCase):
    def test_the_utilisation_is_the_rate_times_the_demand(self) -> None:
        # The demand follows from costs and the numbers of calls, and the utilisation is the time for which cores were busy.
        run = steady(costs(), Setup(payment_replicas=2), rate=2_000, seconds=20)
        known = costs()
        payment = known.services["payment-service"]
        calls = run.deliveries + 2 * run.saves + run.publishes
        ms = (
            calls * (payment.program.call + payment.sidecar.call)
            + (run.deliveries + run.publishes) * known.kafka.call
            + 2 * run.saves * known.store.call
            + run.events * (payment.program.event + payment.sidecar.event + known.kafka.event + known.store.event + known.others.event)
            + run.seconds * (2 * (payment.program.idle + payment.sidecar.idle + known.kafka.idle) + known.kafka_alone_ms)
            + run.seconds * (known.store.idle + known.others.idle)
        )
        law = run.per_second * ms / run.events / 1_000 / 2
        self.assertLess(abs(run.busy / law - 1), 0.01)

    def test_the_time_of_an_order_is_the_number_of_clients_divided_by_the_rate(self) -> None:
        """Little's law for clients that wait for each answer. The last orders have fewer clients, so the rate is a little smaller."""
        times: list[float] = []
        system = System(costs(), Setup(1, 1))

        def client():
            while len(times) < 4_000:
                begun = system.env.now
                yield from system.order_services[0].post(1)
                times.append(system.env.now - begun)

        clients = [system.env.process(client()) for _ in range(64)]
        system.env.run(simpy.AllOf(system.env, clients))
        per_ms = len(times) / system.env.now
        self.assertLess(abs(per_ms * sum(times) / len(times) / 64 - 1), 0.02)

    def test_runs_with_the_same_seed_are_equal(self) -> None:
        self.assertEqual(backlog(costs(), Setup(2), 4_000), backlog(costs(), Setup(2), 4_000))
        self.assertNotEqual(backlog(costs(), Setup(2), 4_000), backlog(costs(), Setup(2, seed=2), 4_000))


class Fit(unittest.TestCase):
    def test_finds_the_coefficients_of_exact_values(self) -> None:
        rows = [[100.0, 1_000.0], [400.0, 2_000.0], [50.0, 9_000.0]]
        found = fit(rows, [0.4 * calls + 0.05 * events for calls, events in rows])
        self.assertAlmostEqual(found[0], 0.4)
        self.assertAlmostEqual(found[1], 0.05)

    def test_returns_no_negative_coefficients(self) -> None:
        self.assertGreaterEqual(min(fit([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]], [9.0, 5.0, 1.0])), 0)


if __name__ == "__main__":
    unittest.main()

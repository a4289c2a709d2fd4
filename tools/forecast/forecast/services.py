"""The two services of the example."""

from collections.abc import Generator

from .service import Group, Service


class PaymentService(Service):
    """Saves a payment for each order, and then publishes it."""

    name = "payment-service"
    program_shares = {"deliver": 0.5, "save": 0.25, "publish": 0.25}
    sidecar_shares = {"deliver": 0.4, "save": 0.3, "publish": 0.3}

    def on_orders(self, events: int) -> Generator:
        yield from self.receive(events, "deliver")
        group = Group(self.env, events)
        self.saves.put(group, events)
        yield group.done

    def saved(self, group: Group, events: int) -> None:
        self.publishes.put(group, events)


class OrderService(Service):
    """Publishes an order, saves it, and answers. Later it receives the order, and its payment, which it saves, too.

    Each order is saved twice, so the shares of "save" apply twice.
    """

    name = "order-service"
    program_shares = {"request": 0.4, "publish": 0.1, "save": 0.1, "own": 0.1, "deliver": 0.2}
    sidecar_shares = {"publish": 0.2, "save": 0.2, "own": 0.15, "deliver": 0.25}

    def post(self, orders: int) -> Generator:
        """Handles requests that arrive together. Ends when all of them are answered."""
        others = self.platform.costs.others
        yield from self.platform.machine.compute("others", orders * others.event)
        yield from self.work(orders, "request")
        group = Group(self.env, orders)
        self.publishes.put(group, orders)
        yield group.done

    def published(self, group: Group, events: int) -> None:
        self.saves.put(group, events)

    def on_own_orders(self, events: int) -> Generator:
        """Receives orders that are still in the service's memory, so it saves nothing."""
        yield from self.receive(events, "own")

    def on_payments(self, events: int) -> Generator:
        yield from self.receive(events, "deliver")
        group = Group(self.env, events)
        self.saves.put(group, events)
        yield group.done

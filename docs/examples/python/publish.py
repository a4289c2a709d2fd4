"""Publishes an event to orderevents: python publish.py event.json"""

import json
import os
import sys

from confluent_kafka import KafkaException, Producer

from envelope import check


def settings() -> dict:
    """Returns the settings of the Kafka client."""
    brokers = {"bootstrap.servers": os.environ.get("KAFKA_BROKERS", "localhost:9092"), "message.timeout.ms": 10_000}
    user = os.environ.get("KAFKA_USER")
    if not user:
        return brokers
    return brokers | {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": user,
        "sasl.password": os.environ["KAFKA_PASSWORD"],
        "ssl.ca.location": os.environ["KAFKA_CA"],
    }


def publish(value: bytes) -> str:
    """Returns the position of the new record. Raises KafkaException if Kafka did not confirm the record."""
    errors, places = [], []

    def delivered(error, message):
        errors.append(error)
        places.append(f"{message.topic()}, partition {message.partition()}, offset {message.offset()}")

    problems = []
    producer = Producer(settings() | {"error_cb": problems.append}, logger=_Quiet())
    producer.produce("orderevents", value, key=json.loads(value)["Payload"]["OrderId"], on_delivery=delivered)
    producer.flush(15)
    if not places or errors[0] is not None:
        raise KafkaException(problems[0] if problems else errors[0] if errors else "no answer")
    return places[0]


class _Quiet:
    """Ignores librdkafka's log lines, one for each attempt to connect. publish.py prints the first problem at its end."""

    def log(self, *_):
        pass


def main(files: list[str]) -> int:
    if len(files) != 1:
        print("usage: python publish.py event.json", file=sys.stderr)
        return 2
    try:
        with open(files[0], "rb") as file:
            value = file.read()
    except OSError as error:
        print(f"cannot read {files[0]}: {error.strerror}", file=sys.stderr)
        return 1
    code, pointers = check(value)
    if code != "ok":
        places = ", ".join(pointer or "the document" for pointer in pointers)
        print(f"not published: {code}, wrong at {places}", file=sys.stderr)
        return 1
    try:
        print(f"published to {publish(value)}")
    except KeyError as error:
        print(f"not published: {error.args[0]} is not set", file=sys.stderr)
        return 1
    except KafkaException as error:
        print(f"not published: {error.args[0]}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

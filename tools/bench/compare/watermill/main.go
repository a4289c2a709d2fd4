// Payments with Watermill: the router of its guide, Kafka for input and output, and pgx. Run it with BROKER, INPUT, GROUP, TOPIC (to publish
// to), PARTITIONS, SESSION_TIMEOUT_MS, DEAD_LETTERS and the PG variables. It validates only with SCHEMA, the file of a JSON Schema.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-kafka/v3/pkg/kafka"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	"github.com/ThreeDotsLabs/watermill/message/router/plugin"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func main() {
	if err := run(context.Background()); err != nil {
		slog.Error("ended", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	logger := watermill.NewSlogLogger(slog.Default())
	brokers := []string{os.Getenv("BROKER")}

	pool, err := pgxpool.New(ctx, "pool_max_conns="+os.Getenv("PARTITIONS"))
	if err != nil {
		return err
	}
	defer pool.Close()

	subscriber, err := kafka.NewSubscriber(kafka.SubscriberConfig{
		Brokers:               brokers,
		Unmarshaler:           kafka.DefaultMarshaler{},
		OverwriteSaramaConfig: subscriberConfig(),
		ConsumerGroup:         os.Getenv("GROUP"),
	}, logger)
	if err != nil {
		return err
	}
	publisher, err := kafka.NewPublisher(kafka.PublisherConfig{
		Brokers:               brokers,
		Marshaler:             kafka.NewWithPartitioningMarshaler(partitionKey),
		OverwriteSaramaConfig: publisherConfig(),
	}, logger)
	if err != nil {
		return err
	}

	router, err := message.NewRouter(message.RouterConfig{}, logger)
	if err != nil {
		return err
	}
	router.AddPlugin(plugin.SignalsHandler)
	router.AddMiddleware(middleware.Recoverer)
	p := payments{pool: pool}
	if file := os.Getenv("SCHEMA"); file != "" {
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		if p.schema, err = compiler.Compile(file); err != nil {
			return err
		}
		poison, err := middleware.PoisonQueueWithFilter(publisher, os.Getenv("DEAD_LETTERS"), func(err error) bool {
			return errors.Is(err, errInvalid)
		})
		if err != nil {
			return err
		}
		router.AddMiddleware(poison)
	}
	// An event is acknowledged after the handler’s result was published.
	router.AddHandler("payments", os.Getenv("INPUT"), subscriber, os.Getenv("TOPIC"), publisher, p.pay)
	return router.Run(ctx)
}

func subscriberConfig() *sarama.Config {
	config := kafka.DefaultSaramaSubscriberConfig()
	// Brokers from 4.0 on do not support Watermill’s default protocol version.
	config.Version = sarama.V3_6_0_0
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	milliseconds, _ := strconv.Atoi(os.Getenv("SESSION_TIMEOUT_MS"))
	config.Consumer.Group.Session.Timeout = time.Duration(milliseconds) * time.Millisecond
	config.Consumer.Group.Heartbeat.Interval = time.Second
	return config
}

func publisherConfig() *sarama.Config {
	config := kafka.DefaultSaramaSyncPublisherConfig()
	config.Version = sarama.V3_6_0_0
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Idempotent = true
	config.Net.MaxOpenRequests = 1
	return config
}

func partitionKey(_ string, msg *message.Message) (string, error) {
	return msg.Metadata.Get("partition"), nil
}

const approveUpTo = 10_000

type envelope struct {
	Headers       map[string]string
	ID            string `json:"Id"`
	CorrelationID string `json:"CorrelationId"`
	TraceID       string `json:"TraceId"`
	AppID         string `json:"AppId"`
	AppName       string
	Version       int
	Name          string
	CreationDate  time.Time
	Payload       json.RawMessage
}

type order struct {
	OrderID uuid.UUID `json:"OrderId"`
	Total   float64
}

type payment struct {
	PaymentID uuid.UUID `json:"PaymentId"`
	OrderID   uuid.UUID `json:"OrderId"`
	Amount    float64
	Policy    string
	Source    string
	Reason    string `json:",omitempty"`
}

type payments struct {
	pool   *pgxpool.Pool
	schema *jsonschema.Schema
}

var errInvalid = errors.New("invalid event")

const insert = `INSERT INTO payment (order_id, payment_id, amount, status, created_at)
	VALUES ($1, $2, $3, $4, $5) ON CONFLICT (order_id) DO NOTHING`

func (p payments) pay(msg *message.Message) ([]*message.Message, error) {
	event, o, err := p.read(msg.Payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInvalid, err)
	}
	if event.Name != "OrderCreated" {
		return nil, nil
	}
	paid := payment{
		PaymentID: uuid.NewSHA1(o.OrderID, []byte("payment")),
		OrderID:   o.OrderID,
		Amount:    o.Total,
		Policy:    "amount-limit@1",
		Source:    "OrderCreated",
	}
	status := "Approved"
	if o.Total > approveUpTo {
		status = "Rejected"
		paid.Reason = fmt.Sprintf("the amount is above the limit of %d", approveUpTo)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	if _, err := p.pool.Exec(msg.Context(), insert, paid.OrderID, paid.PaymentID, paid.Amount, status, now); err != nil {
		return nil, err
	}
	announcement, err := announce(event, paid, status, now)
	if err != nil {
		return nil, err
	}
	out := message.NewMessage(watermill.NewUUID(), announcement)
	out.Metadata.Set("partition", o.OrderID.String())
	return []*message.Message{out}, nil
}

// read returns an error if the event is malformed or breaks the schema. It ignores events with other names.
func (p payments) read(value []byte) (event envelope, o order, err error) {
	if err = json.Unmarshal(value, &event); err != nil {
		return event, o, err
	}
	if event.Name != "" && event.Name != "OrderCreated" {
		return event, o, nil
	}
	if p.schema != nil {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
		if err != nil {
			return event, o, err
		}
		if err := p.schema.Validate(document); err != nil {
			return event, o, err
		}
	}
	err = json.Unmarshal(event.Payload, &o)
	return event, o, err
}

func announce(cause envelope, paid payment, status string, at time.Time) ([]byte, error) {
	payload, err := json.Marshal(paid)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{}
	if cause.ID != "" {
		headers["CausationId"] = cause.ID
	}
	return json.Marshal(envelope{
		Headers:       headers,
		ID:            uuid.NewSHA1(paid.PaymentID, []byte(status)).String(),
		CorrelationID: firstOf(cause.CorrelationID, paid.PaymentID.String()),
		TraceID:       firstOf(cause.TraceID, paid.PaymentID.String()),
		AppID:         "5d1c5a0e-0a53-4b7e-a4d5-6c55f1c8e012",
		AppName:       "watermill-payments",
		Version:       1,
		Name:          "Payment" + status,
		CreationDate:  at,
		Payload:       payload,
	})
}

func firstOf(value, fallback string) string {
	if value != "" {
		return value
	}
	return fallback
}

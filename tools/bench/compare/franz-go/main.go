// Payments with franz-go and pgx: a consumer group as in franz-go’s examples, and pgx’s batches. Run it with BROKER, INPUT, GROUP, TOPIC (to
// publish to), PARTITIONS, SESSION_TIMEOUT_MS, DEAD_LETTERS and the PG variables. It validates only with SCHEMA, the file of a JSON Schema.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx); err != nil && ctx.Err() == nil {
		slog.Error("ended", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, "pool_max_conns="+os.Getenv("PARTITIONS"))
	if err != nil {
		return err
	}
	defer pool.Close()
	client, err := kgo.NewClient(options()...)
	if err != nil {
		return err
	}
	defer client.Close()
	partitions, _ := strconv.Atoi(os.Getenv("PARTITIONS"))
	p := payments{
		pool:        pool,
		client:      client,
		topic:       os.Getenv("TOPIC"),
		deadLetters: os.Getenv("DEAD_LETTERS"),
		maxRecords:  500 * partitions,
	}
	if file := os.Getenv("SCHEMA"); file != "" {
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		if p.schema, err = compiler.Compile(file); err != nil {
			return err
		}
	}
	for {
		if err := p.payNext(ctx); err != nil {
			return err
		}
	}
}

func options() []kgo.Opt {
	milliseconds, _ := strconv.Atoi(os.Getenv("SESSION_TIMEOUT_MS"))
	return []kgo.Opt{
		kgo.SeedBrokers(os.Getenv("BROKER")),
		kgo.ConsumerGroup(os.Getenv("GROUP")),
		kgo.ConsumeTopics(os.Getenv("INPUT")),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(time.Duration(milliseconds) * time.Millisecond),
		kgo.HeartbeatInterval(time.Second),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		// The limit of the topics, which store batches without compression.
		kgo.ProducerBatchMaxBytes(262_144),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		// Each batch is complete before it is published.
		kgo.ProducerLinger(0),
	}
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
	pool        *pgxpool.Pool
	client      *kgo.Client
	schema      *jsonschema.Schema
	topic       string
	deadLetters string
	maxRecords  int
}

// payNext takes the next events, handles the partitions at the same time, and commits the offsets at the end.
func (p payments) payNext(ctx context.Context) error {
	defer p.client.AllowRebalance()
	fetches := p.client.PollRecords(ctx, p.maxRecords)
	if err := fetches.Err(); err != nil {
		return err
	}
	// A signal stops the program between two polls.
	ctx = context.WithoutCancel(ctx)
	var group errgroup.Group
	fetches.EachPartition(func(partition kgo.FetchTopicPartition) {
		group.Go(func() error { return p.pay(ctx, partition.Records) })
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return p.client.CommitUncommittedOffsets(ctx)
}

const insert = `INSERT INTO payment (order_id, payment_id, amount, status, created_at)
	VALUES ($1, $2, $3, $4, $5) ON CONFLICT (order_id) DO NOTHING`

func (p payments) pay(ctx context.Context, events []*kgo.Record) error {
	now := time.Now().UTC().Truncate(time.Millisecond)
	var rows pgx.Batch
	var records []*kgo.Record
	for _, record := range events {
		event, o, err := p.read(record.Value)
		if err != nil && p.schema != nil {
			records = append(records, &kgo.Record{Topic: p.deadLetters, Key: record.Key, Value: record.Value, Headers: []kgo.RecordHeader{
				{Key: "reason", Value: []byte(err.Error())},
			}})
			continue
		}
		if err != nil {
			return err
		}
		if event.Name != "OrderCreated" {
			continue
		}
		paid, status := decide(o)
		rows.Queue(insert, paid.OrderID, paid.PaymentID, paid.Amount, status, now)
		announcement, err := announce(event, paid, status, now)
		if err != nil {
			return err
		}
		records = append(records, &kgo.Record{Topic: p.topic, Key: []byte(o.OrderID.String()), Value: announcement})
	}
	if err := p.pool.SendBatch(ctx, &rows).Close(); err != nil {
		return err
	}
	return p.client.ProduceSync(ctx, records...).FirstErr()
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

func decide(o order) (payment, string) {
	paid := payment{
		PaymentID: uuid.NewSHA1(o.OrderID, []byte("payment")),
		OrderID:   o.OrderID,
		Amount:    o.Total,
		Policy:    "amount-limit@1",
		Source:    "OrderCreated",
	}
	if o.Total <= approveUpTo {
		return paid, "Approved"
	}
	paid.Reason = fmt.Sprintf("the amount is above the limit of %d", approveUpTo)
	return paid, "Rejected"
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
		AppID:         "5d1c5a0e-0a53-4b7e-a4d5-6c55f1c8e014",
		AppName:       "franz-go-payments",
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

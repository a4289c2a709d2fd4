package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func publish(ctx context.Context, value []byte) (string, error) {
	var event struct {
		Payload struct{ OrderId string }
	}
	if err := json.Unmarshal(value, &event); err != nil {
		return "", err
	}
	options, err := connection()
	if err != nil {
		return "", err
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return "", err
	}
	defer client.Close()
	if err := client.Ping(ctx); err != nil {
		return "", err
	}
	record := &kgo.Record{Topic: "orderevents", Key: []byte(event.Payload.OrderId), Value: value}
	sent, err := client.ProduceSync(ctx, record).First()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, partition %d, offset %d", sent.Topic, sent.Partition, sent.Offset), nil
}

func connection() ([]kgo.Opt, error) {
	options := []kgo.Opt{kgo.SeedBrokers(strings.Split(setting("KAFKA_BROKERS", "localhost:9092"), ",")...)}
	user := os.Getenv("KAFKA_USER")
	if user == "" {
		return options, nil
	}
	for _, name := range []string{"KAFKA_PASSWORD", "KAFKA_CA"} {
		if os.Getenv(name) == "" {
			return nil, fmt.Errorf("%s is not set", name)
		}
	}
	certificate, err := os.ReadFile(os.Getenv("KAFKA_CA"))
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(certificate) {
		return nil, fmt.Errorf("%s holds no certificate", os.Getenv("KAFKA_CA"))
	}
	mechanism := scram.Auth{User: user, Pass: os.Getenv("KAFKA_PASSWORD")}.AsSha512Mechanism()
	return append(options, kgo.SASL(mechanism), kgo.DialTLSConfig(&tls.Config{RootCAs: trusted})), nil
}

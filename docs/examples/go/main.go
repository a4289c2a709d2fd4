// Publishes an event to orderevents: go run . event.json
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: go run . event.json")
	}
	contract, err := LoadContract(setting("SCHEMAS", "../../../envelope-schema/schemas"))
	if err != nil {
		return fmt.Errorf("cannot read the schemas: %w", err)
	}
	if args[0] == "--check" {
		return checkLines(contract)
	}
	value, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	if code, pointers := contract.Check(value, "received"); code != "ok" {
		return fmt.Errorf("not published: %s, wrong at %s", code, strings.Join(pointers, ", "))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	place, err := publish(ctx, value)
	if err != nil {
		return fmt.Errorf("not published: %w", err)
	}
	fmt.Println("published to", place)
	return nil
}

func setting(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}

// checkLines is for the conformance test. It reads lines {"check", "base64"} and writes a line {"code", "pointers"} for each.
func checkLines(contract *Contract) error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		var given struct {
			Check  string `json:"check"`
			Base64 []byte `json:"base64"`
		}
		if err := json.Unmarshal(lines.Bytes(), &given); err != nil {
			return err
		}
		code, pointers := contract.Check(given.Base64, given.Check)
		line, err := json.Marshal(map[string]any{"code": code, "pointers": pointers})
		if err != nil {
			return err
		}
		out.Write(append(line, '\n'))
	}
	return lines.Err()
}

// Package postgresql adds a BulkSet to the state store state/postgresql/v2 of Dapr's components-contrib (../README.md).
package postgresql

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/dapr/components-contrib/state"
	stateutils "github.com/dapr/components-contrib/state/utils"
)

// A database is a *pgxpool.Pool. It runs all statements of a batch in one transaction and one round trip.
type database interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// BulkSetter saves many documents at once.
type BulkSetter struct {
	db    database
	table string
	// Saves one document: the method Set of the store.
	set func(ctx context.Context, req *state.SetRequest) error
}

type guard int

const (
	unguarded guard = iota
	ifAbsent
	ifETag
	guards
)

// The largest number of attempts for a transaction that ends with deadlocks.
const attempts = 3

var errNotUpdated = errors.New("no item was updated")

// The documents of a request that have the same guard, as columns.
type columns struct {
	keys   []string
	values [][]byte
	ttls   []*int32
	etags  []string
}

// BulkSet saves all documents in one transaction, with one statement for each kind of guard. A failed guard affects only its own document. The
// returned error contains a state.BulkStoreError for each document that is not saved.
func (b *BulkSetter) BulkSet(ctx context.Context, req []state.SetRequest, opts state.BulkStoreOpts) error {
	if hasDuplicates(req) {
		// A statement can change each row only once.
		return state.DoBulkSetDelete(ctx, req, b.set, opts)
	}

	var groups [guards]columns
	var errs []error
	for i := range req {
		if !addTo(&groups, &req[i]) {
			// Set reports the reason.
			errs = append(errs, bulkError(req[i].Key, b.set(ctx, &req[i])))
		}
	}

	saved, err := b.save(ctx, &groups)
	if err != nil && concernsDocuments(err) {
		return state.DoBulkSetDelete(ctx, req, b.set, opts)
	}
	for kind, group := range groups {
		for _, key := range group.keys {
			_, isSaved := saved[key]
			switch {
			case err != nil:
				errs = append(errs, bulkError(key, err))
			case !isSaved && guard(kind) == ifETag:
				errs = append(errs, bulkError(key, state.NewETagError(state.ETagMismatch, nil)))
			case !isSaved:
				errs = append(errs, bulkError(key, errNotUpdated))
			}
		}
	}
	return errors.Join(errs...)
}

func hasDuplicates(req []state.SetRequest) bool {
	keys := make(map[string]struct{}, len(req))
	for i := range req {
		keys[req[i].Key] = struct{}{}
	}
	return len(keys) < len(req)
}

func bulkError(key string, err error) error {
	if err == nil {
		return nil
	}
	return state.NewBulkStoreError(key, err)
}

// Adds a request to the group of its guard. Returns false if the request is invalid.
func addTo(groups *[guards]columns, req *state.SetRequest) bool {
	ttl, err := stateutils.ParseTTL(req.Metadata)
	if err != nil || req.Key == "" || state.CheckRequestOptions(req.Options) != nil {
		return false
	}
	value, isBytes := req.Value.([]byte)
	if !isBytes {
		if value, err = json.Marshal(req.Value); err != nil {
			return false
		}
	}

	group := &groups[unguarded]
	switch {
	case req.HasETag():
		etag, err := uuid.Parse(*req.ETag)
		if err != nil {
			return false
		}
		group = &groups[ifETag]
		group.etags = append(group.etags, etag.String())
	case req.Options.Concurrency == state.FirstWrite:
		group = &groups[ifAbsent]
	}

	var seconds *int32
	if ttl != nil && *ttl > 0 {
		// ParseTTL limits the value to 32 bits.
		limited := int32(*ttl) //nolint:gosec
		seconds = &limited
	}
	group.keys = append(group.keys, req.Key)
	group.values = append(group.values, value)
	group.ttls = append(group.ttls, seconds)
	return true
}

// Returns the keys of the saved documents. Repeats a transaction that a deadlock ended.
func (b *BulkSetter) save(ctx context.Context, groups *[guards]columns) (saved map[string]struct{}, err error) {
	for range attempts {
		saved, err = b.send(ctx, groups)
		if sqlState(err) != "40P01" {
			break
		}
	}
	return saved, err
}

func (b *BulkSetter) send(ctx context.Context, groups *[guards]columns) (map[string]struct{}, error) {
	batch := &pgx.Batch{}
	saved := make(map[string]struct{})
	collect := func(rows pgx.Rows) error {
		for rows.Next() {
			var key string
			if err := rows.Scan(&key); err != nil {
				return err
			}
			saved[key] = struct{}{}
		}
		return rows.Err()
	}
	for kind, group := range groups {
		if len(group.keys) == 0 {
			continue
		}
		args := []any{group.keys, group.values, group.ttls}
		if guard(kind) == ifETag {
			args = append(args, group.etags)
		}
		batch.Queue(b.statement(guard(kind)), args...).Query(collect)
	}
	if batch.Len() == 0 {
		return nil, nil
	}
	// Close reads all results. It returns an error, too, if the transaction did not commit.
	err := b.db.SendBatch(ctx, batch).Close()
	return saved, err
}

// All statements lock rows in the order of their keys. So requests that save the same documents wait for each other, but rarely deadlock.
func (b *BulkSetter) statement(kind guard) string {
	if kind == ifETag {
		return `WITH locked AS MATERIALIZED (
  SELECT stored.key, new.value, new.ttl
  FROM unnest($1::text[], $2::bytea[], $3::integer[], $4::text[]::uuid[]) AS new (key, value, ttl, etag)
  JOIN ` + b.table + ` AS stored ON stored.key = new.key AND stored.etag = new.etag
  WHERE stored.expires_at IS NULL OR stored.expires_at >= now()
  ORDER BY stored.key FOR NO KEY UPDATE OF stored
)
UPDATE ` + b.table + ` AS stored
SET value = locked.value, etag = gen_random_uuid(), updated_at = now(), expires_at = now() + locked.ttl * interval '1 second'
FROM locked WHERE stored.key = locked.key
RETURNING stored.key`
	}

	insert := `INSERT INTO ` + b.table + ` AS stored (key, value, expires_at)
SELECT new.key, new.value, now() + new.ttl * interval '1 second'
FROM unnest($1::text[], $2::bytea[], $3::integer[]) AS new (key, value, ttl)
ORDER BY new.key
ON CONFLICT (key) DO UPDATE
SET value = excluded.value, etag = excluded.etag, updated_at = now(), expires_at = excluded.expires_at`
	if kind == ifAbsent {
		// An expired document is treated as absent, even before its deletion.
		insert += "\nWHERE stored.expires_at < now()"
	}
	return insert + "\nRETURNING stored.key"
}

// Returns true if separate statements may still save some documents. The server refused the data of a document (classes 22, 23 and 54), or ended
// the transaction because of concurrent transactions (class 40).
func concernsDocuments(err error) bool {
	code := sqlState(err)
	if len(code) != 5 {
		return false
	}
	switch code[:2] {
	case "22", "23", "40", "54":
		return true
	}
	return false
}

// Returns an empty text for errors that are not from the server.
func sqlState(err error) string {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return server.Code
	}
	return ""
}

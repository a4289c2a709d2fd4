package postgresql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dapr/components-contrib/metadata"
	"github.com/dapr/components-contrib/state"
	upstream "github.com/dapr/components-contrib/state/postgresql/v2"
	"github.com/dapr/kit/logger"
)

// A store of components-contrib with a table of its own, and the BulkSetter under test on this table.
type testStore struct {
	*upstream.PostgreSQL
	bulk  *BulkSetter
	table string
	pool  *pgxpool.Pool
	// Counts the transactions and statements of the BulkSetter.
	batches, statements atomic.Int32
	alone               sync.Map
}

// TraceBatchStart implements pgx.BatchTracer.
func (s *testStore) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	s.batches.Add(1)
	s.statements.Add(int32(data.Batch.Len()))
	return ctx
}

func (s *testStore) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (s *testStore) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}
func (s *testStore) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (s *testStore) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func uri(t *testing.T) string {
	t.Helper()
	address := os.Getenv("POSTGRESQL_URI")
	require.NotEmpty(t, address, "POSTGRESQL_URI is not set: run make -C tools test-upstream")
	return address
}

// Options change the connections of the BulkSetter.
func open(t *testing.T, options ...func(*pgxpool.Config)) *testStore {
	t.Helper()
	prefix := fmt.Sprintf("t%d_", rand.Uint64())
	store := upstream.NewPostgreSQLStateStore(logger.NewLogger("test")).(*upstream.PostgreSQL)
	properties := map[string]string{"connectionString": uri(t), "tablePrefix": prefix, "maxConns": "20"}
	require.NoError(t, store.Init(t.Context(), state.Metadata{Base: metadata.Base{Properties: properties}}))
	t.Cleanup(func() { _ = store.Close() })

	s := &testStore{PostgreSQL: store, table: prefix + "state"}
	config, err := pgxpool.ParseConfig(uri(t))
	require.NoError(t, err)
	config.ConnConfig.Tracer = s
	for _, option := range options {
		option(config)
	}
	s.pool, err = pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(s.pool.Close)
	s.bulk = &BulkSetter{db: s.pool, table: s.table, set: func(ctx context.Context, req *state.SetRequest) error {
		s.alone.Store(req.Key, true)
		return store.Set(ctx, req)
	}}
	return s
}

// Returns the error of each key.
func (s *testStore) save(t *testing.T, req ...state.SetRequest) map[string]error {
	return byKey(t, s.bulk.BulkSet(t.Context(), req, state.BulkStoreOpts{}))
}

func byKey(t *testing.T, err error) map[string]error {
	lost := make(map[string]error)
	if err == nil {
		return lost
	}
	var several interface{ Unwrap() []error }
	require.ErrorAs(t, err, &several)
	for _, each := range several.Unwrap() {
		var of state.BulkStoreError
		if errors.As(each, &of) {
			lost[of.Key()] = errors.Unwrap(of)
			continue
		}
		maps.Copy(lost, byKey(t, each))
	}
	return lost
}

func keysOf[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

func (s *testStore) savedAlone() (keys []string) {
	s.alone.Range(func(key, _ any) bool {
		keys = append(keys, key.(string))
		return true
	})
	slices.Sort(keys)
	return keys
}

func (s *testStore) etag(t *testing.T, key string) *string {
	response, err := s.Get(t.Context(), &state.GetRequest{Key: key})
	require.NoError(t, err)
	return response.ETag
}

// A row without the values that differ between two equal stores.
type row struct {
	Value            string
	Seconds          *int
	IsNew, IsUpdated bool
	IsCreatedBefore  bool
	HasExpired       bool
}

func (s *testStore) rows(t *testing.T, etags map[string]string) map[string]row {
	rows, err := s.GetDB().Query(t.Context(), `SELECT key, encode(value, 'escape'), etag::text,
  round(extract(epoch FROM expires_at - coalesce(updated_at, created_at)))::int, updated_at IS NOT NULL,
  created_at < now() - interval '30 minutes', expires_at < now() IS TRUE FROM `+s.table)
	require.NoError(t, err)
	found := make(map[string]row)
	var key, etag string
	var each row
	_, err = pgx.ForEachRow(rows, []any{&key, &each.Value, &etag, &each.Seconds, &each.IsUpdated, &each.IsCreatedBefore, &each.HasExpired}, func() error {
		each.IsNew = etag != etags[key]
		if each.HasExpired {
			each.Seconds = nil
		}
		found[key] = each
		return nil
	})
	require.NoError(t, err)
	return found
}

func ref[T any](value T) *T { return &value }

// Returns a request for each combination of guard, state of the document before, TTL and value. The key names the combination.
func combinations(etagOf func(key string) *string) (req []state.SetRequest) {
	type request = state.SetRequest
	guards := map[string]func(r *request){
		"unguarded": func(*request) {},
		"absent":    func(r *request) { r.Options.Concurrency = state.FirstWrite },
		"last":      func(r *request) { r.Options.Concurrency = state.LastWrite },
		"empty":     func(r *request) { r.ETag = ref(""); r.Options.Concurrency = state.FirstWrite },
		"etag":      func(r *request) { r.ETag = etagOf(r.Key) },
		"capital":   func(r *request) { r.ETag = ref(strings.ToUpper(*etagOf(r.Key))) },
		"stale":     func(r *request) { r.ETag = ref("8f6bf7a5-3a4c-4d1e-9f6e-1e2d3c4b5a69") },
		"malformed": func(r *request) { r.ETag = ref("1") },
	}
	values := map[string]any{
		"bytes":   []byte("{\x00\xff'\\"),
		"empty":   []byte{},
		"text":    `a "text"`,
		"object":  map[string]any{"a": []int{1}},
		"null":    nil,
		"channel": make(chan int),
	}
	for guard, apply := range guards {
		for _, before := range []string{"missing", "present", "expired"} {
			for _, ttl := range []string{"", "60", "2147483647", "0", "-1", "-2", "x"} {
				for name, value := range values {
					r := request{Key: strings.Join([]string{guard, before, ttl, name}, "||"), Value: value}
					if ttl != "" {
						r.Metadata = map[string]string{"ttlInSeconds": ttl}
					}
					apply(&r)
					req = append(req, r)
				}
			}
		}
	}
	return append(req, request{Key: "", Value: "no key"},
		request{Key: "options", Options: state.SetStateOption{Concurrency: "x"}},
		request{Key: "consistency", Options: state.SetStateOption{Consistency: "x"}})
}

// Creates the documents that exist before, and returns their etags.
func (s *testStore) prepare(t *testing.T) map[string]string {
	var req []state.SetRequest
	for _, each := range combinations(func(string) *string { return ref("") }) {
		if strings.Contains(each.Key, "||present||") || strings.Contains(each.Key, "||expired||") {
			req = append(req, state.SetRequest{Key: each.Key, Value: []byte("before")})
		}
	}
	require.NoError(t, s.PostgreSQL.BulkSet(t.Context(), req, state.BulkStoreOpts{Parallelism: 10}))
	_, err := s.GetDB().Exec(t.Context(), `UPDATE `+s.table+` SET created_at = now() - interval '1 hour',
  expires_at = CASE WHEN key LIKE '%||expired||%' THEN now() - interval '1 minute' END`)
	require.NoError(t, err)
	rows, err := s.GetDB().Query(t.Context(), `SELECT key, etag::text FROM `+s.table)
	require.NoError(t, err)
	etags := make(map[string]string)
	var key, etag string
	_, err = pgx.ForEachRow(rows, []any{&key, &etag}, func() error {
		etags[key] = etag
		return nil
	})
	require.NoError(t, err)
	return etags
}

func TestSavesAndRefusesTheSameDocumentsAsSet(t *testing.T) {
	modes := []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec,
		pgx.QueryExecModeSimpleProtocol,
	}
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			theirs, ours := open(t), open(t, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode })
			requests := func(etags map[string]string) []state.SetRequest {
				return combinations(func(key string) *string {
					if etag, isPresent := etags[key]; isPresent {
						return &etag
					}
					return ref(uuid.NewString())
				})
			}
			theirEtags, ourEtags := theirs.prepare(t), ours.prepare(t)
			expected := byKey(t, theirs.PostgreSQL.BulkSet(t.Context(), requests(theirEtags), state.BulkStoreOpts{Parallelism: 10}))
			actual := ours.save(t, requests(ourEtags)...)

			assert.Equal(t, keysOf(expected), keysOf(actual))
			for key, reason := range expected {
				require.EqualError(t, actual[key], reason.Error(), key)
				assert.IsType(t, reason, actual[key], key)
			}
			assert.Equal(t, theirs.rows(t, theirEtags), ours.rows(t, ourEtags))
			assert.Equal(t, int32(1), ours.batches.Load())
			for _, key := range ours.savedAlone() {
				assert.Error(t, expected[key], "%q is valid, so it needs no statement of its own", key)
			}
		})
	}
}

func documents(count int, change func(*state.SetRequest)) []state.SetRequest {
	req := make([]state.SetRequest, count)
	for i := range req {
		req[i] = state.SetRequest{Key: fmt.Sprintf("%04d", i), Value: []byte(`{"a":1}`)}
		change(&req[i])
	}
	return req
}

func TestNeedsOneStatementForEachKindOfGuard(t *testing.T) {
	s := open(t)
	require.Empty(t, s.save(t, documents(100, func(*state.SetRequest) {})...))
	assert.Equal(t, int32(1), s.statements.Swap(0))

	etags := make([]*string, 100)
	for i := range etags {
		etags[i] = s.etag(t, fmt.Sprintf("%04d", i))
	}
	i := -1
	mixed := documents(300, func(r *state.SetRequest) {
		i++
		switch {
		case i < 100:
			r.ETag = etags[i]
		case i < 200:
			r.Options.Concurrency = state.FirstWrite
		}
	})
	s.batches.Store(0)
	require.Empty(t, s.save(t, mixed...))
	assert.Equal(t, int32(1), s.batches.Load())
	assert.Equal(t, int32(3), s.statements.Load())
	assert.Empty(t, s.savedAlone())
}

func TestNeedsNoStatementWithoutDocuments(t *testing.T) {
	s := open(t)
	require.NoError(t, s.bulk.BulkSet(t.Context(), nil, state.BulkStoreOpts{}))
	assert.Zero(t, s.batches.Load())
}

func TestSavesTheOthersIfTheServerRefusesADocument(t *testing.T) {
	longKey := make([]byte, 0, 20_000)
	for len(longKey) < cap(longKey) {
		longKey = append(longKey, byte('!'+rand.IntN(90)))
	}
	for code, refused := range map[string]state.SetRequest{
		"22021": {Key: "a\x00b", Value: []byte("a")},
		"23502": {Key: "null", Value: []byte(nil)},
		"54000": {Key: string(longKey), Value: []byte("a")},
	} {
		t.Run(code, func(t *testing.T) {
			s := open(t)
			lost := s.save(t, append(documents(10, func(r *state.SetRequest) { r.Options.Concurrency = state.FirstWrite }), refused)...)
			require.Equal(t, []string{refused.Key}, keysOf(lost))
			assert.Equal(t, code, sqlState(lost[refused.Key]))
			assert.Len(t, s.rows(t, nil), 10)
		})
	}
}

func TestSavesADocumentThatARequestContainsTwice(t *testing.T) {
	s := open(t)
	twice := documents(2, func(r *state.SetRequest) {
		r.Key = "same"
		r.Options.Concurrency = state.FirstWrite
	})
	require.Equal(t, []string{"same"}, keysOf(s.save(t, twice...)))
	assert.Len(t, s.rows(t, nil), 1)
}

// Begins a transaction that changes a document.
func (s *testStore) blocker(t *testing.T, key string) pgx.Tx {
	tx, err := s.GetDB().Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	// Only the server process of the BulkSetter searches for deadlocks, so PostgreSQL ends its transaction.
	_, err = tx.Exec(t.Context(), `SET LOCAL deadlock_timeout = '1h'`)
	require.NoError(t, err)
	s.touch(t, tx, key)
	return tx
}

func (s *testStore) touch(t *testing.T, tx pgx.Tx, key string) {
	_, err := tx.Exec(t.Context(), `UPDATE `+s.table+` SET updated_at = now() WHERE key = $1`, key)
	require.NoError(t, err)
}

// Waits until a server process waits for a lock of `tx`, and returns its id.
func (s *testStore) waiter(t *testing.T, tx pgx.Tx) (pid int) {
	require.Eventually(t, func() bool {
		query := `SELECT pid FROM pg_stat_activity WHERE $1::int = ANY (pg_blocking_pids(pid))`
		return s.GetDB().QueryRow(t.Context(), query, int32(tx.Conn().PgConn().PID())).Scan(&pid) == nil
	}, 20*time.Second, 10*time.Millisecond)
	return pid
}

func (s *testStore) start(t *testing.T, req ...state.SetRequest) <-chan map[string]error {
	done := make(chan map[string]error, 1)
	go func() { done <- byKey(t, s.bulk.BulkSet(context.Background(), req, state.BulkStoreOpts{})) }()
	return done
}

func TestRepeatsATransactionThatADeadlockEnded(t *testing.T) {
	s := open(t)
	require.Empty(t, s.save(t, documents(2, func(*state.SetRequest) {})...))
	s.batches.Store(0)

	blocker := s.blocker(t, "0001")
	done := s.start(t, documents(2, func(*state.SetRequest) {})...)
	s.waiter(t, blocker)
	s.touch(t, blocker, "0000")
	require.NoError(t, blocker.Commit(t.Context()))

	assert.Empty(t, <-done)
	assert.Equal(t, int32(2), s.batches.Load())
	assert.Empty(t, s.savedAlone())
}

func TestSavesDocumentsOneByOneIfTheyCannotBeSerialized(t *testing.T) {
	s := open(t, func(c *pgxpool.Config) {
		c.ConnConfig.RuntimeParams["default_transaction_isolation"] = "repeatable read"
	})
	require.Empty(t, s.save(t, documents(3, func(*state.SetRequest) {})...))
	blocker := s.blocker(t, "0001")
	done := s.start(t, documents(3, func(r *state.SetRequest) { r.Value = []byte("after") })...)
	s.waiter(t, blocker)
	require.NoError(t, blocker.Commit(t.Context()))
	assert.Empty(t, <-done)
	for _, row := range s.rows(t, nil) {
		assert.Equal(t, "after", row.Value)
	}
}

func TestReportsAllDocumentsIfItsConnectionBreaks(t *testing.T) {
	s := open(t)
	require.Empty(t, s.save(t, documents(1, func(*state.SetRequest) {})...))
	blocker := s.blocker(t, "0000")
	done := s.start(t, documents(3, func(r *state.SetRequest) { r.Value = []byte("after") })...)
	_, err := s.GetDB().Exec(t.Context(), `SELECT pg_terminate_backend($1)`, s.waiter(t, blocker))
	require.NoError(t, err)
	lost := <-done
	assert.Equal(t, []string{"0000", "0001", "0002"}, keysOf(lost))
	assert.Equal(t, "57P01", sqlState(lost["0002"]))
	assert.Empty(t, s.savedAlone())
	require.NoError(t, blocker.Rollback(t.Context()))
	assert.Equal(t, []string{"0000"}, keysOf(s.rows(t, nil)))
}

func TestReportsTheLosersOfConcurrentWrites(t *testing.T) {
	const writers, count, rounds = 4, 100, 10
	s := open(t)
	for round := range rounds {
		etags := make([]*string, count)
		if round > 0 {
			for i := range etags {
				etags[i] = s.etag(t, fmt.Sprintf("%04d", i))
			}
		}
		var results [writers]map[string]error
		var wait sync.WaitGroup
		for writer := range writers {
			i := -1
			req := documents(count, func(r *state.SetRequest) {
				i++
				r.Value = []byte(fmt.Sprintf("%d by %d", round, writer))
				if r.ETag = etags[i]; r.ETag == nil {
					r.Options.Concurrency = state.FirstWrite
				}
			})
			// Half of the writers send the documents in the opposite order, and one uses Set.
			if writer%2 == 1 {
				slices.Reverse(req)
			}
			save := s.bulk.BulkSet
			if writer == 3 {
				save = s.PostgreSQL.BulkSet
			}
			wait.Go(func() { results[writer] = byKey(t, save(t.Context(), req, state.BulkStoreOpts{Parallelism: 8})) })
		}
		wait.Wait()
		for key, row := range s.rows(t, nil) {
			var winners []string
			for writer, lost := range results {
				if lost[key] == nil {
					winners = append(winners, fmt.Sprintf("%d by %d", round, writer))
				}
			}
			require.Equal(t, []string{row.Value}, winners, key)
		}
	}
	assert.Len(t, s.rows(t, nil), count)
}

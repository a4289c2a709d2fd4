package mongodb

import (
	"bytes"
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
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/event"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"github.com/dapr/components-contrib/metadata"
	"github.com/dapr/components-contrib/state"
	upstream "github.com/dapr/components-contrib/state/mongodb"
	"github.com/dapr/kit/logger"
)

// A store of components-contrib with a collection of its own, and the BulkSetter under test on this collection.
type testStore struct {
	*upstream.MongoDB
	bulk       *BulkSetter
	collection *mongo.Collection
	// Counts the commands of the BulkSetter that write.
	commands atomic.Int32
	alone    sync.Map
}

func open(t *testing.T) *testStore {
	t.Helper()
	host := os.Getenv("MONGODB_HOST")
	require.NotEmpty(t, host, "MONGODB_HOST is not set: run make -C tools test-upstream")
	name := fmt.Sprintf("t%d", rand.Uint64())
	store := upstream.NewMongoDB(logger.NewLogger("test")).(*upstream.MongoDB)
	properties := map[string]string{"host": host, "collectionName": name, "databaseName": "test", "params": "?directConnection=true"}
	require.NoError(t, store.Init(t.Context(), state.Metadata{Base: metadata.Base{Properties: properties}}))
	t.Cleanup(func() { _ = store.Close() })

	s := &testStore{MongoDB: store}
	started := func(_ context.Context, e *event.CommandStartedEvent) {
		if e.CommandName == "insert" || e.CommandName == "update" {
			s.commands.Add(1)
		}
	}
	client, err := mongo.Connect(t.Context(), options.Client().
		ApplyURI("mongodb://"+host+"/?directConnection=true").SetMonitor(&event.CommandMonitor{Started: started}))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	s.collection = client.Database("test").Collection(name)
	// Keeps expired documents during a test.
	_, err = s.collection.Indexes().DropAll(t.Context())
	require.NoError(t, err)
	s.bulk = &BulkSetter{collection: s.collection, set: func(ctx context.Context, req *state.SetRequest) error {
		s.alone.Store(req.Key, true)
		return store.Set(ctx, req)
	}}
	return s
}

// Returns the error of each key.
func (s *testStore) save(t *testing.T, req ...state.SetRequest) map[string]error {
	return byKey(t, s.bulk.BulkSet(t.Context(), req, state.BulkStoreOpts{Parallelism: 4}))
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
		if errors.As(each, &of) && fmt.Sprintf("%T", each) == fmt.Sprintf("%T", of) {
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

type document struct {
	Key   string     `bson:"_id"`
	Value any        `bson:"value"`
	Etag  string     `bson:"_etag"`
	TTL   *time.Time `bson:"_ttl"`
}

func (s *testStore) documents(t *testing.T) map[string]document {
	cursor, err := s.collection.Find(t.Context(), bson.D{})
	require.NoError(t, err)
	var all []document
	require.NoError(t, cursor.All(t.Context(), &all))
	found := make(map[string]document, len(all))
	for _, each := range all {
		found[each.Key] = each
	}
	return found
}

func ref[T any](value T) *T { return &value }

// Returns a request for each combination of guard, state of the document before, TTL and value. The key names the combination.
func combinations(etagOf func(key string) string) (req []state.SetRequest) {
	type request = state.SetRequest
	guards := map[string]func(r *request){
		"unguarded": func(*request) {},
		"absent":    func(r *request) { r.Options.Concurrency = state.FirstWrite },
		"last":      func(r *request) { r.Options.Concurrency = state.LastWrite },
		"empty":     func(r *request) { r.ETag = ref(""); r.Options.Concurrency = state.FirstWrite },
		"etag":      func(r *request) { r.ETag = ref(etagOf(r.Key)); r.Options.Concurrency = state.FirstWrite },
		"stale":     func(r *request) { r.ETag = ref("another") },
	}
	values := map[string]any{
		"bytes":   []byte(`{"a":1}`),
		"text":    `a "text"`,
		"object":  map[string]any{"a": []any{"b", 1.5}},
		"number":  17,
		"null":    nil,
		"channel": make(chan int),
	}
	for guard, apply := range guards {
		for _, before := range []string{"missing", "present", "expired"} {
			for _, ttl := range []string{"", "600", "2147483647", "0", "-1", "-2", "x"} {
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
	return append(req, request{Key: "", Value: "no key"}, request{Key: "options", Options: state.SetStateOption{Concurrency: "x"}})
}

// Creates the documents that exist before, and returns their etags.
func (s *testStore) prepare(t *testing.T) map[string]string {
	var stored []any
	etags := make(map[string]string)
	for _, each := range combinations(func(string) string { return "" }) {
		if !strings.Contains(each.Key, "||present||") && !strings.Contains(each.Key, "||expired||") {
			continue
		}
		each := document{Key: each.Key, Value: "before", Etag: uuid.NewString()}
		if strings.Contains(each.Key, "||expired||") {
			each.TTL = ref(time.Now().Add(-time.Hour))
		}
		etags[each.Key] = each.Etag
		stored = append(stored, each)
	}
	_, err := s.collection.InsertMany(t.Context(), stored)
	require.NoError(t, err)
	s.commands.Store(0)
	return etags
}

// A document without the values that differ between two equal stores.
type outcome struct {
	Value   any
	IsNew   bool
	Minutes *int
}

func (s *testStore) outcomes(t *testing.T, etags map[string]string) map[string]outcome {
	now := time.Now()
	found := make(map[string]outcome)
	for key, each := range s.documents(t) {
		result := outcome{Value: each.Value, IsNew: each.Etag != etags[key]}
		if each.TTL != nil {
			result.Minutes = ref(int(each.TTL.Sub(now).Round(10 * time.Minute).Minutes()))
		}
		found[key] = result
	}
	return found
}

func TestSavesAndRefusesTheSameDocumentsAsSet(t *testing.T) {
	theirs, ours := open(t), open(t)
	requests := func(etags map[string]string) []state.SetRequest {
		return combinations(func(key string) string {
			if etag, isPresent := etags[key]; isPresent {
				return etag
			}
			return "missing"
		})
	}
	theirEtags, ourEtags := theirs.prepare(t), ours.prepare(t)
	expected := byKey(t, theirs.MongoDB.BulkSet(t.Context(), requests(theirEtags), state.BulkStoreOpts{Parallelism: 4}))
	actual := ours.save(t, requests(ourEtags)...)

	assert.Equal(t, keysOf(expected), keysOf(actual))
	for key, reason := range expected {
		assert.IsType(t, reason, actual[key], key)
		var etagError *state.ETagError
		if errors.As(reason, &etagError) {
			assert.Equal(t, etagError.Kind(), actual[key].(*state.ETagError).Kind(), key)
		}
	}
	assert.Equal(t, theirs.outcomes(t, theirEtags), ours.outcomes(t, ourEtags))
	assert.Equal(t, int32(2), ours.commands.Load())
	for _, key := range ours.savedAlone() {
		assert.Error(t, expected[key], "%q is valid, so it needs no command of its own", key)
	}
}

func requests(count int, change func(i int, r *state.SetRequest)) []state.SetRequest {
	req := make([]state.SetRequest, count)
	for i := range req {
		req[i] = state.SetRequest{Key: fmt.Sprintf("%04d", i), Value: []byte(`{"a":1}`)}
		change(i, &req[i])
	}
	return req
}

func TestNeedsOneCommandForInsertsAndOneForUpdates(t *testing.T) {
	s := open(t)
	req := requests(100, func(i int, r *state.SetRequest) {
		if i%3 == 0 {
			r.Options.Concurrency = state.FirstWrite
		}
	})
	require.Empty(t, s.save(t, req...))
	assert.Equal(t, int32(2), s.commands.Load())
	assert.Len(t, s.documents(t), 100)
	assert.Empty(t, s.savedAlone())

	require.NoError(t, s.bulk.BulkSet(t.Context(), nil, state.BulkStoreOpts{}))
	assert.Equal(t, int32(2), s.commands.Load())
}

func TestStoresValuesThatLookLikeExpressions(t *testing.T) {
	s := open(t)
	before := state.SetRequest{Key: "object", Value: map[string]any{"old": 1}}
	require.Empty(t, s.save(t, before))
	values := []state.SetRequest{
		{Key: "field", Value: []byte("$_etag")},
		{Key: "object", Value: map[string]any{"new": 1}},
		{Key: "operator", Value: map[string]any{"$add": 1}},
	}
	require.Empty(t, s.save(t, values...))
	stored := s.documents(t)
	assert.Equal(t, "$_etag", stored["field"].Value)
	assert.Equal(t, bson.D{{Key: "new", Value: int32(1)}}, stored["object"].Value)
	assert.Equal(t, bson.D{{Key: "$add", Value: int32(1)}}, stored["operator"].Value)
}

func TestSavesLargeDocumentsAlone(t *testing.T) {
	s := open(t)
	large := func(key string, mebibytes int) state.SetRequest {
		return state.SetRequest{Key: key, Value: bytes.Repeat([]byte("a"), mebibytes<<20+1)}
	}
	lost := s.save(t, append(requests(3, func(int, *state.SetRequest) {}), large("large", 15), large("too large", 16))...)
	assert.Equal(t, []string{"too large"}, keysOf(lost))
	assert.Equal(t, []string{"large", "too large"}, s.savedAlone())
	assert.Equal(t, []string{"0000", "0001", "0002", "large"}, keysOf(s.documents(t)))
}

func TestInsertsOnceADocumentThatARequestContainsTwice(t *testing.T) {
	s := open(t)
	twice := requests(2, func(_ int, r *state.SetRequest) {
		r.Key = "same"
		r.Options.Concurrency = state.FirstWrite
	})
	assert.Equal(t, []string{"same"}, keysOf(s.save(t, twice...)))
	assert.Len(t, s.documents(t), 1)
}

// A collection whose writes are not confirmed by enough members.
type unconfirmed struct{ collection }

func (u unconfirmed) BulkWrite(ctx context.Context, models []mongo.WriteModel, opts ...*options.BulkWriteOptions) (*mongo.BulkWriteResult, error) {
	result, err := u.collection.BulkWrite(ctx, models, opts...)
	var refused mongo.BulkWriteException
	errors.As(err, &refused)
	refused.WriteConcernError = &mongo.WriteConcernError{Code: 64, Message: "waiting for replication timed out"}
	return result, refused
}

func TestReportsAllDocumentsIfTheirWritesAreUnconfirmed(t *testing.T) {
	s := open(t)
	first := func(_ int, r *state.SetRequest) { r.Options.Concurrency = state.FirstWrite }
	require.Empty(t, s.save(t, requests(1, first)...))
	s.bulk.collection = unconfirmed{s.collection}
	lost := s.save(t, requests(3, first)...)
	assert.Equal(t, []string{"0000", "0001", "0002"}, keysOf(lost))
	var mismatch *state.ETagError
	assert.ErrorAs(t, lost["0000"], &mismatch)
	assert.ErrorContains(t, lost["0001"], "waiting for replication timed out")
}

func TestReportsAllDocumentsIfItCannotWrite(t *testing.T) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	lost := byKey(t, s.bulk.BulkSet(ctx, requests(3, func(int, *state.SetRequest) {}), state.BulkStoreOpts{}))
	assert.Equal(t, []string{"0000", "0001", "0002"}, keysOf(lost))
	assert.ErrorIs(t, lost["0001"], context.Canceled)
}

func TestReportsTheLosersOfConcurrentWrites(t *testing.T) {
	const writers, count, rounds = 4, 50, 5
	s := open(t)
	for round := range rounds {
		stored := s.documents(t)
		var results [writers]map[string]error
		var wait sync.WaitGroup
		for writer := range writers {
			req := requests(count, func(_ int, r *state.SetRequest) {
				r.Value = []byte(fmt.Sprintf("%d by %d", round, writer))
				r.Options.Concurrency = state.FirstWrite
				if before, isStored := stored[r.Key]; isStored {
					r.ETag = &before.Etag
				}
			})
			// Half of the writers send the documents in the opposite order, and one uses Set.
			if writer%2 == 1 {
				slices.Reverse(req)
			}
			save := s.bulk.BulkSet
			if writer == 3 {
				save = s.MongoDB.BulkSet
			}
			wait.Go(func() { results[writer] = byKey(t, save(t.Context(), req, state.BulkStoreOpts{Parallelism: 4})) })
		}
		wait.Wait()
		for key, document := range s.documents(t) {
			var winners []any
			for writer, lost := range results {
				if lost[key] == nil {
					winners = append(winners, fmt.Sprintf("%d by %d", round, writer))
				}
			}
			require.Equal(t, []any{document.Value}, winners, key)
		}
	}
	assert.Len(t, s.documents(t), count)
}

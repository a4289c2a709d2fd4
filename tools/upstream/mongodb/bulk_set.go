// Package mongodb adds a BulkSet to the state store state/mongodb of Dapr's components-contrib (../README.md).
package mongodb

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"github.com/dapr/components-contrib/state"
	stateutils "github.com/dapr/components-contrib/state/utils"
)

const (
	id    = "_id"
	value = "value"
	etag  = "_etag"
	ttl   = "_ttl"
)

// The largest value in a command with other documents, in bytes. The driver refuses the whole command if a document has more than 16 MiB.
const largest = 15 << 20

// A collection is a *mongo.Collection.
type collection interface {
	BulkWrite(ctx context.Context, models []mongo.WriteModel, opts ...*options.BulkWriteOptions) (*mongo.BulkWriteResult, error)
}

// BulkSetter saves many documents at once.
type BulkSetter struct {
	collection collection
	// Saves one document: the method Set of the store.
	set func(ctx context.Context, req *state.SetRequest) error
}

// The writes of one command, and the keys of their documents.
type command struct {
	models []mongo.WriteModel
	keys   []string
}

// BulkSet saves all documents with at most two commands: one inserts, one updates. A failed guard affects only its own document. The returned
// error contains a state.BulkStoreError for each document that is not saved.
func (b *BulkSetter) BulkSet(ctx context.Context, req []state.SetRequest, opts state.BulkStoreOpts) error {
	var inserts, updates command
	var alone []state.SetRequest
	for i := range req {
		switch model := modelOf(&req[i]).(type) {
		case *mongo.InsertOneModel:
			inserts.add(model, req[i].Key)
		case *mongo.UpdateOneModel:
			updates.add(model, req[i].Key)
		default:
			alone = append(alone, req[i])
		}
	}
	// One BulkWrite for both kinds would lose errors: the driver returns the write concern error only of the last command.
	return errors.Join(
		b.write(ctx, &inserts),
		b.write(ctx, &updates),
		state.DoBulkSetDelete(ctx, alone, b.set, opts),
	)
}

func (c *command) add(model mongo.WriteModel, key string) {
	c.models = append(c.models, model)
	c.keys = append(c.keys, key)
}

// Returns nil for invalid requests and large documents, which Set saves or refuses.
func modelOf(req *state.SetRequest) mongo.WriteModel {
	seconds, err := stateutils.ParseTTL(req.Metadata)
	if err != nil {
		return nil
	}
	content, err := contentOf(req.Value)
	if err != nil || len(content.Value) > largest {
		return nil
	}

	isCreated := !req.HasETag() && req.Options.Concurrency == state.FirstWrite
	if isCreated && seconds == nil {
		document := bson.D{{Key: id, Value: req.Key}, {Key: value, Value: content}, {Key: etag, Value: uuid.NewString()}, {Key: ttl, Value: nil}}
		return mongo.NewInsertOneModel().SetDocument(document)
	}

	filter := bson.D{{Key: id, Value: req.Key}}
	switch {
	case req.HasETag():
		filter = append(filter, bson.E{Key: etag, Value: *req.ETag})
	case isCreated:
		// No document has this etag, so an existing document is a duplicate key.
		filter = append(filter, bson.E{Key: etag, Value: uuid.NewString()})
	}
	var expires any
	if seconds != nil {
		// The server's clock applies, as in Set.
		expires = bson.D{{Key: "$add", Value: bson.A{"$$NOW", int64(*seconds) * 1000}}}
	}
	fields := bson.D{
		// Without $literal, the server would evaluate values that begin with a dollar sign, and merge documents.
		{Key: value, Value: bson.D{{Key: "$literal", Value: content}}},
		{Key: etag, Value: uuid.NewString()},
		{Key: ttl, Value: expires},
	}
	return mongo.NewUpdateOneModel().SetFilter(filter).SetUpdate(mongo.Pipeline{{{Key: "$set", Value: fields}}}).SetUpsert(true)
}

// Returns the value in the form of Set: JSON texts as strings, other values as BSON.
func contentOf(content any) (bson.RawValue, error) {
	switch typed := content.(type) {
	case nil:
		content = primitive.Null{}
	case []byte:
		content = string(typed)
	case string:
		content = fmt.Sprintf("%q", typed)
	}
	kind, encoded, err := bson.MarshalValue(content)
	return bson.RawValue{Type: kind, Value: encoded}, err
}

// Returns an error for each document that is perhaps not saved.
func (b *BulkSetter) write(ctx context.Context, c *command) error {
	if len(c.models) == 0 {
		return nil
	}
	_, err := b.collection.BulkWrite(ctx, c.models, options.BulkWrite().SetOrdered(false))
	if err == nil {
		return nil
	}

	errs := make([]error, len(c.models))
	var refused mongo.BulkWriteException
	if !errors.As(err, &refused) || refused.WriteConcernError != nil {
		for i, key := range c.keys {
			errs[i] = state.NewBulkStoreError(key, fmt.Errorf("error in updating documents: %w", err))
		}
	}
	for _, each := range refused.WriteErrors {
		var reason error = fmt.Errorf("error in updating document: %w", each)
		if mongo.IsDuplicateKeyError(each) {
			reason = state.NewETagError(state.ETagMismatch, each)
		}
		errs[each.Index] = state.NewBulkStoreError(c.keys[each.Index], reason)
	}
	return errors.Join(errs...)
}

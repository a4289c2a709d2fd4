export const tables = `
  CREATE TABLE consumer (topic TEXT, app TEXT);
  CREATE TABLE attempt (
    name TEXT PRIMARY KEY, source TEXT, total REAL, id TEXT, at INTEGER, -- at: milliseconds since 1970, as in event
    accepted INTEGER DEFAULT 0, gave_up INTEGER DEFAULT 0,
    cancel INTEGER DEFAULT 0 -- 1: asked for, 2: accepted
  ) WITHOUT ROWID;
  CREATE TABLE poison (name TEXT PRIMARY KEY, topic TEXT, accepted INTEGER DEFAULT 0) WITHOUT ROWID;
  CREATE TABLE surprise (what TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE event (
    topic TEXT, part INTEGER, offset INTEGER, name TEXT, event_id TEXT, order_id TEXT, amount REAL, digest TEXT,
    poison TEXT, at INTEGER,
    PRIMARY KEY (topic, part, offset)
  ) WITHOUT ROWID;
  CREATE TABLE dead_letter (id TEXT, app TEXT, topic TEXT, part INTEGER, offset INTEGER, reason TEXT);
  CREATE TABLE stored_order (view TEXT, id TEXT, name TEXT, total REAL, status TEXT, charged REAL);
  CREATE TABLE stored_payment (view TEXT, id TEXT, order_id TEXT, amount REAL, status TEXT);
  CREATE INDEX attempt_by_id ON attempt (id);
  CREATE INDEX event_by_order ON event (order_id, name);
  CREATE INDEX event_by_poison ON event (poison) WHERE poison IS NOT NULL;
  CREATE INDEX dead_letter_by_origin ON dead_letter (topic, part, offset, app);
  CREATE INDEX order_by_id ON stored_order (view, id);
  CREATE INDEX order_by_name ON stored_order (view, name);
  CREATE INDEX payment_by_order ON stored_payment (view, order_id);
  -- Healthy records only: what a refused one says counts for nothing.
  CREATE VIEW told AS SELECT * FROM event WHERE poison IS NULL;
`

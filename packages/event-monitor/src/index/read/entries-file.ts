import { rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { isDamaged, openDatabase, Statements, transaction, versionOf } from '../sqlite.ts'

/**
 * The list of dead letters, which derives from the segments of dead letters. Their bodies stay in these segments.
 *
 * `items` are dead letters and notes, by their sequence numbers. Items with a common link (`linksOf` in dead-letters.ts)
 * are one component: only they decide about the entries of their records. So a new item changes the `causes` of its
 * component only. `first` is the sequence number of the oldest dead letter of a cause, and its key on pages. `ids`
 * finds a cause by the id of each service's dead letter. Triggers count the causes of each group in `tallies`, so the
 * time for a page does not depend on their number. `source` is the segment with the row `seq`, the last that was read.
 */
const schema = `
CREATE TABLE state (seq INTEGER NOT NULL, others INTEGER NOT NULL, source TEXT NOT NULL, readUpTo TEXT NOT NULL) STRICT;
INSERT INTO state VALUES (0, 0, '', '[]');
CREATE TABLE items (seq INTEGER PRIMARY KEY, component INTEGER NOT NULL) STRICT;
CREATE INDEX itemsOf ON items (component);
CREATE TABLE links (hash INTEGER PRIMARY KEY, component INTEGER NOT NULL) STRICT;
CREATE INDEX linksOf ON links (component);
CREATE TABLE groups (id TEXT PRIMARY KEY, fields TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE causes (first INTEGER PRIMARY KEY, component INTEGER NOT NULL, groupId TEXT NOT NULL, isOpen INTEGER NOT NULL, services TEXT NOT NULL,
  id TEXT NOT NULL, attempt TEXT NOT NULL, oldest TEXT NOT NULL, newest TEXT NOT NULL) STRICT;
CREATE INDEX causesOf ON causes (component);
CREATE INDEX pages ON causes (isOpen, first);
CREATE INDEX groupPages ON causes (groupId, isOpen, first);
CREATE INDEX oldestOf ON causes (groupId, oldest);
CREATE INDEX newestOf ON causes (groupId, newest);
CREATE TABLE ids (first INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (first, id)) STRICT, WITHOUT ROWID;
CREATE INDEX firstOf ON ids (id);
CREATE TABLE tallies (groupId TEXT NOT NULL, services TEXT NOT NULL, isOpen INTEGER NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (groupId, services, isOpen)) STRICT, WITHOUT ROWID;
CREATE TRIGGER added AFTER INSERT ON causes BEGIN
  INSERT INTO tallies VALUES (new.groupId, new.services, new.isOpen, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER removed AFTER DELETE ON causes BEGIN
  DELETE FROM ids WHERE first = old.first;
  UPDATE tallies SET count = count - 1 WHERE groupId = old.groupId AND services = old.services AND isOpen = old.isOpen;
  DELETE FROM tallies WHERE groupId = old.groupId AND services = old.services AND isOpen = old.isOpen AND count = 0;
END;
PRAGMA user_version = 1;
`
const version = 1

type Value = string | number

export interface EntriesFile {
  all<Row>(sql: string, ...values: Value[]): Row[]
  run(sql: string, ...values: Value[]): void
  change(work: () => void): void
  close(): void
}

/** Opens the file, or creates it. Replaces a damaged file, and a file of another version. */
export function openEntriesFile(file: string): EntriesFile {
  const database = opened(file)
  const statements = new Statements(database)
  return {
    all: <Row>(sql: string, ...values: Value[]) => statements.get(sql).all(...values) as Row[],
    run: (sql, ...values) => void statements.get(sql).run(...values),
    change: (work) => transaction(database, work),
    close: () => database.close(),
  }
}

function opened(file: string): DatabaseSync {
  try {
    const database = openDatabase(file, prepare)
    if (versionOf(database) === version) return database
    database.close()
  } catch (error) {
    if (!isDamaged(error)) throw error
  }
  removeEntriesFile(file)
  return openDatabase(file, prepare)
}

function prepare(database: DatabaseSync): void {
  // Without a write-ahead log, the file can be read on a full disk.
  database.exec('PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4000')
  if (versionOf(database) === 0) transaction(database, () => database.exec(schema))
}

export function removeEntriesFile(file: string): void {
  for (const end of ['', '-journal']) rmSync(`${file}${end}`, { force: true })
}

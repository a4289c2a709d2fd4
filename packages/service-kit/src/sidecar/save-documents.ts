import type { Write } from './sidecar.ts'

/** The columns of the table `state` that the functions below know: those of Dapr 1.18 (components-contrib 1.18.3, state/postgresql/v2). */
const columns = [
  'created_at timestamp with time zone',
  'etag uuid',
  'expires_at timestamp with time zone',
  'key text',
  'row_id bigint',
  'updated_at timestamp with time zone',
  'value bytea',
]

/** The tables that Dapr creates for the state store (components-contrib 1.18.3, state/postgresql/v2). */
export const documentTables = ['state', 'dapr_metadata'] as const

/** The functions that `databaseFunctions` creates. */
export const functionNames = ['save_documents', 'check_state_table'] as const

/**
 * The SQL that creates the functions of a service's database. Dapr's `state.postgresql` saves each document with a statement of its own.
 * `save_documents` saves all documents of a batch in one transaction, with the same guards (docs/adr/0046). It adds the caller's user to
 * each key, as Dapr adds the AppId, so callers can only change documents of their own service. All
 * saved documents get the same etag. It returns the keys of the saved documents. If a guard of the first
 * `needed` documents fails, the whole call fails.
 */
export const databaseFunctions = `
CREATE OR REPLACE FUNCTION public.save_documents(keys text[], documents text[], guards text[], needed integer, new_etag uuid) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
-- Forbids plans that read the whole table. A connection would make such a plan while the table is empty, and keep it for a minute.
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $function$
DECLARE
  prefix text := session_user || '||';
  unguarded text[] := ARRAY(SELECT prefix || write.key FROM unnest(keys, guards) AS write (key, guard) WHERE write.guard = '');
  saved text[];
BEGIN
  -- Both statements lock rows in the order of their keys. So batches that write the same documents wait, but rarely block each other.
  WITH written AS (
    INSERT INTO public.state AS stored (key, value, etag)
    SELECT prefix || write.key, convert_to(write.document, 'UTF8'), new_etag
    FROM unnest(keys, documents, guards) AS write (key, document, guard)
    WHERE write.guard IN ('', 'absent') ORDER BY write.key
    ON CONFLICT (key) DO UPDATE
    SET value = excluded.value, etag = new_etag, updated_at = now(), expires_at = NULL
    WHERE stored.key = ANY (unguarded) OR stored.expires_at < now()
    RETURNING stored.key
  )
  SELECT coalesce(array_agg(written.key), '{}') INTO saved FROM written;
  IF EXISTS (SELECT FROM unnest(guards) AS guard WHERE guard NOT IN ('', 'absent')) THEN
    WITH locked AS MATERIALIZED (
      SELECT stored.key, write.document
      FROM unnest(keys, documents, guards) AS write (key, document, guard)
      JOIN public.state AS stored ON stored.key = prefix || write.key AND stored.etag::text = write.guard
      WHERE write.guard NOT IN ('', 'absent') ORDER BY stored.key FOR UPDATE OF stored
    ), written AS (
      UPDATE public.state AS stored
      SET value = convert_to(locked.document, 'UTF8'), etag = new_etag, updated_at = now(), expires_at = NULL
      FROM locked WHERE stored.key = locked.key
      RETURNING stored.key
    )
    SELECT saved || coalesce(array_agg(written.key), '{}') INTO saved FROM written;
  END IF;
  IF EXISTS (SELECT FROM unnest(keys[:needed]) AS key WHERE prefix || key <> ALL (saved)) THEN
    RAISE EXCEPTION 'etag mismatch: a needed document was not saved';
  END IF;
  RETURN QUERY SELECT unnest(saved);
END
$function$;

CREATE OR REPLACE FUNCTION public.check_state_table() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
  expected text := '${columns.join(', ')}';
  actual text;
BEGIN
  SELECT string_agg(attribute.attname || ' ' || format_type(attribute.atttypid, NULL), ', ' ORDER BY attribute.attname)
  INTO actual FROM pg_attribute AS attribute
  WHERE attribute.attrelid = to_regclass('public.state') AND attribute.attnum > 0 AND NOT attribute.attisdropped;
  IF actual IS DISTINCT FROM expected THEN
    RAISE EXCEPTION 'unknown version of the table state: it has the columns %, but save_documents knows %', actual, expected;
  END IF;
END
$function$;

REVOKE ALL ON FUNCTION ${functionNames.join(', ')} FROM PUBLIC;
`

/** A statement with its parameters, for the operation `exec` of Dapr's `bindings.postgresql`. */
export type Statement = Record<'sql' | 'params', string>

/** The time at which the server started, in seconds since 1970, whatever the time zone of the connection is. */
const serverStart = 'extract(epoch FROM pg_postmaster_start_time())::text'

/** The statement that returns the start of the server. It differs between a server and its standby. */
export const serverStatement: Statement = { sql: `SELECT ${serverStart}`, params: '[]' }

/**
 * Creates the statement that saves documents. The number of its rows is the number of saved documents.
 * @param server the result of `serverStatement` on the only server that may save them; undefined for any server. PostgreSQL evaluates this condition
 * once, before it calls the function
 */
export function savingStatement(writes: Write[], etag: string, needed: number, server?: string): Statement {
  const guards = writes.map(({ guard = '' }) => (typeof guard === 'object' ? guard.etag : guard))
  const params = [writes.map(({ key }) => key), writes.map(({ value }) => value), guards, needed, etag]
  const sql = 'SELECT FROM save_documents($1, $2, $3, $4, $5)'
  if (server === undefined) return { sql, params: JSON.stringify(params) }
  return { sql: `${sql} WHERE ${serverStart} = $6`, params: JSON.stringify([...params, server]) }
}

/** The statement that fails if Dapr's table is unknown. */
export const checkingStatement: Statement = { sql: 'SELECT check_state_table()', params: '[]' }

/** Matches the error of `checkingStatement` about an unknown table. */
export const unknownTable = /unknown version of the table state: .*(?= \(SQLSTATE)/

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

/**
 * The SQL that creates the functions of a service's database. Dapr's `state.postgresql` saves each document with a statement of its own.
 * `save_documents` saves all documents of a batch in one transaction, with the same guards (docs/adr/0046). It adds the caller's user to
 * each key, as Dapr adds the AppId, so callers can only change documents of their own service. All
 * saved documents get the same etag. It returns the keys of the saved documents.
 */
export const databaseFunctions = `
CREATE OR REPLACE FUNCTION public.save_documents(keys text[], documents text[], guards text[], new_etag uuid) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
  prefix text := session_user || '||';
  unguarded text[] := ARRAY(SELECT prefix || write.key FROM unnest(keys, guards) AS write (key, guard) WHERE write.guard = '');
BEGIN
  -- Both statements lock rows in the order of their keys. So batches that write the same documents wait, but rarely block each other.
  RETURN QUERY INSERT INTO public.state AS stored (key, value, etag)
    SELECT prefix || write.key, convert_to(write.document, 'UTF8'), new_etag
    FROM unnest(keys, documents, guards) AS write (key, document, guard)
    WHERE write.guard IN ('', 'absent') ORDER BY write.key
    ON CONFLICT (key) DO UPDATE
    SET value = excluded.value, etag = new_etag, updated_at = now(), expires_at = NULL
    WHERE stored.key = ANY (unguarded) OR stored.expires_at < now()
    RETURNING stored.key;
  IF EXISTS (SELECT FROM unnest(guards) AS guard WHERE guard NOT IN ('', 'absent')) THEN
    RETURN QUERY WITH locked AS MATERIALIZED (
      SELECT stored.key, write.document
      FROM unnest(keys, documents, guards) AS write (key, document, guard)
      JOIN public.state AS stored ON stored.key = prefix || write.key AND stored.etag::text = write.guard
      ORDER BY stored.key FOR UPDATE OF stored
    )
    UPDATE public.state AS stored
    SET value = convert_to(locked.document, 'UTF8'), etag = new_etag, updated_at = now(), expires_at = NULL
    FROM locked WHERE stored.key = locked.key
    RETURNING stored.key;
  END IF;
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

REVOKE ALL ON FUNCTION public.save_documents, public.check_state_table FROM PUBLIC;
`

/** A statement with its parameters, for the operation `exec` of Dapr's `bindings.postgresql`. */
export interface Statement {
  sql: string
  params: string
}

/** Creates the statement that saves documents. The number of its rows is the number of saved documents. */
export function savingStatement(writes: Write[], etag: string): Statement {
  const guards = writes.map(({ guard = '' }) => (typeof guard === 'object' ? guard.etag : guard))
  const params = [writes.map(({ key }) => key), writes.map(({ value }) => value), guards, etag]
  return { sql: 'SELECT FROM save_documents($1, $2, $3, $4)', params: JSON.stringify(params) }
}

/** The statement that fails if Dapr's table is unknown. */
export const checkingStatement: Statement = { sql: 'SELECT check_state_table()', params: '[]' }

/** Matches the error of `checkingStatement` about an unknown table. */
export const unknownTable = /unknown version of the table state: .*(?= \(SQLSTATE)/

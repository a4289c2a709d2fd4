import type { Book, View } from './book.ts'
import { checks, differences, type Kind } from './checks.ts'
import { type Expiry, expiryChecks } from './expiries.ts'

/** A result of the audit that should not exist. */
export interface Finding {
  kind: Kind
  what: string
  /** The source of the stored documents, if the finding is about them. */
  view?: View
  /** OrderIds, names of poison records, or record positions. */
  ids: string[]
}

export interface AuditOptions {
  views: View[]
  approveUpTo: number
  /** If it is missing, expired orders are not checked. */
  expiry?: Expiry
}

export function audit(book: Book, { views, approveUpTo, expiry }: AuditOptions): Finding[] {
  const questions = [...checks, ...(expiry ? expiryChecks : []), ...(views.length > 1 ? differences : [])]
  const findings = questions.flatMap(({ kind, what, sql }): Finding[] => {
    const ask = (view: View | null) =>
      book.query<{ id: string }>(sql, { view, approveUpTo, ...expiry }).map(({ id }) => id)
    if (!sql.includes(':view')) return [{ kind, what, ids: ask(null) }]
    return views.map((view) => ({ kind, what, view, ids: ask(view) }))
  })
  return findings.filter(({ ids }) => ids.length > 0)
}

export function totals(findings: Finding[]): Record<Kind, number> {
  const count = (kind: Kind) => new Set(findings.filter((found) => found.kind === kind).flatMap(({ ids }) => ids)).size
  return { lost: count('lost'), duplicated: count('duplicated'), stuck: count('stuck'), wrong: count('wrong') }
}

/** Returns everything in the ledger about an id, name or position. */
export function evidence(book: Book, id: string): Record<string, object[]> {
  const ids = `(SELECT id FROM attempt WHERE name = :id UNION SELECT id FROM stored_order WHERE name = :id UNION SELECT :id)`
  const events = `SELECT * FROM event WHERE order_id IN ${ids} OR poison = :id OR topic || ' ' || part || ':' || offset = :id`
  return {
    attempts: book.query(`SELECT * FROM attempt WHERE id IN ${ids} OR name = :id`, { id }),
    log: book.query(events, { id }),
    deadLetters: book.query(`SELECT l.* FROM dead_letter l JOIN (${events}) e USING (topic, part, offset)`, { id }),
    orders: book.query(`SELECT * FROM stored_order WHERE id IN ${ids}`, { id }),
    payments: book.query(`SELECT * FROM stored_payment WHERE order_id IN ${ids}`, { id }),
  }
}

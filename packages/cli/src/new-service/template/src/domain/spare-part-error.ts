/** A request that breaks a rule of this service: `not-found` when nothing is known of what it asks for (yet). */
export class SparePartError extends Error {
  readonly code = 'not-found'
}

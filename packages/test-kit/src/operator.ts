import { type RunningStack, storedServices } from '@orderflow/cli'

export type Documents = Record<string, unknown>

/** Actions of an operator on the stores of a running stack. */
export interface Operator {
  documents: (role: string) => Documents | Promise<Documents>
  /** Restarts the services with these roles, or all services, with empty stores. */
  loseStores: (...roles: string[]) => Promise<void>
  /** Runs `make rebuild` for a service and returns the output. */
  rebuild: (role: string, ...args: string[]) => Promise<string>
}

export interface TestStack extends RunningStack {
  operator: Operator
}

/**
 * Returns a service’s documents by key. Leaves out the documents that do not come from the log: the list, the fence, and the claims of
 * Idempotency-Keys.
 */
export function domainDocuments(stored: [key: string, json: string][]): Documents {
  const documents = stored.map(([key, json]) => {
    const { listed, ...document } = JSON.parse(json) as { listed?: string }
    // Dapr puts the application’s name in front of each key.
    return [key.split('||').at(-1) ?? key, document] as const
  })
  const own = documents.filter(([key]) => !key.startsWith('list/') && !key.endsWith('/claim') && key !== 'fence')
  return Object.fromEntries(own.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Returns the name of a service with a store. @throws {Error} for an unknown role */
export function nameOf(role: string): string {
  const service = storedServices.find((each) => each.role === role)
  if (service) return service.name
  throw new Error(`no service with a store has the role ${role}`)
}

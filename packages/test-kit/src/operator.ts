import { type RunningStack, storedServices } from '@orderflow/cli'
import type { Documents } from './domain-documents.ts'

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

/** Returns the name of a service with a store. @throws {Error} for an unknown role */
export function nameOf(role: string): string {
  const service = storedServices.find((each) => each.role === role)
  if (service) return service.name
  throw new Error(`no service with a store has the role ${role}`)
}

import { type RunningStack, storedServices, urlOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import type { Documents } from './domain-documents.ts'

/** Actions of an operator on the stores of a running stack. */
export interface Operator {
  documents: (role: string) => Documents | Promise<Documents>
  /** Restarts the services with these roles, or all services, with empty stores. */
  loseStores: (...roles: string[]) => Promise<void>
  /** Copies all stores. The returned function replaces the stores with the copies, so that later writes are lost. Processes restart. */
  copyStores: () => Promise<() => Promise<void>>
  /** Runs `make rebuild` for a service and returns the output. */
  rebuild: (role: string, ...args: string[]) => Promise<string>
}

export interface TestStack extends RunningStack {
  operator: Operator
}

/** Returns true for a rebuild after which a service still treats its store as incomplete. */
export const isPartial = (range: readonly string[]): boolean => range.some((each) => ['--topic', '--to'].includes(each))

/** Waits until a service uses its rebuilt store. */
export async function untilComplete(stack: Pick<RunningStack, 'services'>, name: string): Promise<void> {
  const isReady = async () =>
    (await fetch(`${urlOf(stack, name)}/readyz?exclude=stream`).catch(() => undefined))?.ok ?? false
  await eventually(isReady, `${name} to use its rebuilt store`)
}

/** Returns the name of a service with a store. @throws {Error} for an unknown role */
export function nameOf(role: string): string {
  const service = storedServices.find((each) => each.role === role)
  if (service) return service.name
  throw new Error(`no service with a store has the role ${role}`)
}

import { type RunningStack, storedServices, urlOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { type Documents, domainDocuments } from './domain-documents.ts'
import type { Stores } from './stacks/stores.ts'

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

interface OperatorParts {
  withStores: <Result>(work: (stores: FilledStores) => Promise<Result>) => Promise<Result>
  /** Stops services during `work` if their stores cannot change while they run. */
  whileStopped: (services: typeof storedServices, work: () => Promise<unknown>) => Promise<unknown>
  rebuild: (service: string, args: string[]) => Promise<string>
}

/** The stores that an operator changes. */
export type FilledStores = Pick<Stores, 'read' | 'empty' | 'copy' | 'putBack'>

export function createOperator(
  stack: Pick<RunningStack, 'services'>,
  { withStores, whileStopped, rebuild }: OperatorParts,
): Operator {
  const names = storedServices.map(({ name }) => name)
  return {
    documents: (role) => withStores(async ({ read }) => domainDocuments(await read(nameOf(role)))),
    async loseStores(...roles) {
      const lost = storedServices.filter(({ role }) => roles.length === 0 || roles.includes(role))
      await whileStopped(lost, () => withStores(({ empty }) => Promise.all(lost.map(({ name }) => empty(name)))))
    },
    async copyStores() {
      await withStores(({ copy }) => Promise.all(names.map(copy)))
      const putBack = () => withStores((stores) => Promise.all(names.map(stores.putBack)))
      return async () => void (await whileStopped(storedServices, putBack))
    },
    async rebuild(role, ...range) {
      const printed = await rebuild(nameOf(role), range)
      if (!isPartial(range)) await untilComplete(stack, nameOf(role))
      return printed
    },
  }
}

export interface TestStack extends RunningStack {
  operator: Operator
}

/** Returns true for a rebuild after which a service still treats its store as incomplete. */
const isPartial = (range: readonly string[]): boolean => range.some((each) => ['--topic', '--to'].includes(each))

/** Waits until a service uses its rebuilt store. */
async function untilComplete(stack: Pick<RunningStack, 'services'>, name: string): Promise<void> {
  const isReady = async () =>
    (await fetch(`${urlOf(stack, name)}/readyz?exclude=stream`).catch(() => undefined))?.ok ?? false
  await eventually(isReady, `${name} to use its rebuilt store`)
}

/** Returns the name of a service with a store. @throws {Error} for an unknown role */
function nameOf(role: string): string {
  const service = storedServices.find((each) => each.role === role)
  if (service) return service.name
  throw new Error(`no service with a store has the role ${role}`)
}

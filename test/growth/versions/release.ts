import { readFileSync } from 'node:fs'
import type { RepositoryCopy } from '../../support/checkouts/repository-copy.ts'

// All that it takes to release a second version of OrderCreated, in the order of envelope-schema/README.md.

const fixture = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

/** The schema alone, with what follows from it. */
export async function addSchema({ run, write, replace }: RepositoryCopy): Promise<void> {
  write('envelope-schema/schemas/events/OrderCreated.2.json', fixture('OrderCreated.2.json'))
  const types = await run('npm', ['run', 'types', '-w', '@orderflow/envelope-schema'])
  if (types.code !== 0) throw new Error(types.stderr)
  const rest = await run('make', ['generate'])
  if (rest.code !== 0) throw new Error(rest.stderr)
  const versions = 'known versions of OrderCreated: 1'
  replace('envelope-schema/fixtures/invalid/unknown-version.json', versions, `${versions}, 2`)
}

/** payment-service takes both versions; its logic goes on to see one. */
export function teachPayments({ write, replace }: RepositoryCopy): void {
  write('payment-service/src/domain/order-created.ts', fixture('order-created.ts'))
  const file = 'payment-service/src/reactions.ts'
  replace(file, `import { type Cause, `, `${importOf('asVersion1')}import { type Cause, `)
  replace(
    file,
    `  return { [orderEvents]: { 'OrderCreated@1': charge, 'OrderCancelled@1': cancel } }`,
    `  return {
    [orderEvents]: {
      'OrderCreated@1': charge,
      'OrderCreated@2': (event) => charge(asVersion1(event)),
      'OrderCancelled@1': cancel,
    },
  }`,
  )
}

/** order-service takes both, and stores them as it always did. */
export function teachOrders({ write, replace }: RepositoryCopy): void {
  write('order-service/src/domain/order-created.ts', fixture('order-created.ts'))
  const file = 'order-service/src/reactions.ts'
  replace(file, 'import type { OrderStore }', `${importOf('asVersion1')}import type { OrderStore }`)
  replace(
    file,
    `    [orderEvents]: { 'OrderCreated@1': saveFact, 'OrderCancelled@1': saveFact },`,
    `    [orderEvents]: {
      'OrderCreated@1': saveFact,
      'OrderCreated@2': (event) => saveFact(asVersion1(event)),
      'OrderCancelled@1': saveFact,
    },`,
  )
}

/** The publisher, once every receiver takes both. */
export function publishVersion2({ replace }: RepositoryCopy): void {
  const file = 'order-service/src/commands.ts'
  replace(file, 'import { OrderError }', `${importOf('asVersion2')}import { OrderError }`)
  replace(
    file,
    `    await publish(orderEvents, orderId, event)`,
    `    const told = event.Name === 'OrderCreated' ? asVersion2(event) : event
    await publish(orderEvents, orderId, told)`,
  )
}

const importOf = (name: string) => `import { ${name} } from './domain/order-created.ts'\n`

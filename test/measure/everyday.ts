/** `make -C tools everyday` measures the waiting times of a developer, in a copy of this repository. docs/develop.md shows them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { anOrder, orderUrl, orderWith, post } from '@orderflow/chaos/clients/api'
import type { Order } from '@orderflow/order-service/order'
import { eventually } from '@orderflow/stack/base'
import { claimFolder, createPlan, runningStack } from '@orderflow/stack/internals'
import { checkoutOfRepository } from '../support/checkouts/checkout.ts'
import { type LocalCheckout, localCheckout } from '../support/checkouts/local-checkout.ts'
import type { RepositoryCopy } from '../support/checkouts/repository-copy.ts'
import { startWatching } from '../support/programs/watching-program.ts'

const service = 'payment-service'
const rounds = 5

console.log(`${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores: ${cpus()[0]?.model}`)
const copy = checkoutOfRepository()
try {
  await commands(copy)
} finally {
  copy.remove()
}
const checkout = await localCheckout('everyday')
try {
  await changes(checkout)
} finally {
  await checkout.remove()
}

async function commands({ run }: RepositoryCopy): Promise<void> {
  const file = `${service}/test/scenarios.unit.test.ts`
  for (const args of [['test', '--', file], ['test'], ['run', 'lint']]) {
    await timed(`npm ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await run('npm', args)
      if (code !== 0) throw new Error((stdout + stderr).slice(-2_000))
    })
  }
}

/** Changes the version of a policy, and waits for a payment by this version. */
async function changes({ folder, ports, environment }: LocalCheckout): Promise<void> {
  const stackFolder = join(folder, '.stack')
  await claimFolder(stackFolder)
  const dev = await timed('make dev, until it watches all services', () =>
    startWatching('make', ['dev'], folder, environment),
  )
  try {
    const stack = runningStack(await createPlan(stackFolder, ports), true)
    const policy = join(folder, service, 'src/policy.ts')
    for (let round = 1; round <= rounds; round += 1) {
      const version = `amount-limit@${round + 1}`
      const text = readFileSync(policy, 'utf8').replace(/amount-limit@\d+/, version)
      await timed('a saved file, until its code has handled an event', async () => {
        writeFileSync(policy, text)
        await eventually(async () => {
          const { body } = await post<Order>(`${orderUrl(stack)}/v1/orders`, anOrder)
          const { payment } = await orderWith(orderUrl(stack), body.id, 'Paid')
          return payment?.policy === version
        }, `a payment by ${version}`)
      })
    }
  } finally {
    await dev.stop()
  }
}

async function timed<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const begun = performance.now()
  const result = await work()
  console.log(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${what}`)
  return result
}

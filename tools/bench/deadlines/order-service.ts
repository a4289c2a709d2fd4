/**
 * order-service for measurements. `DEADLINES=off` removes its deadlines. After SIGUSR2, it collects garbage and writes its memory to the file
 * `MEMORY_FILE`.
 */
import { writeFileSync } from 'node:fs'
import { order } from '@orderflow/order-service/order'
import { orderRoutes } from '@orderflow/order-service/routes'
import { service } from '@orderflow/order-service/service'
import { currencyOf, openEntity, run } from '@orderflow/service-kit'

process.on('SIGUSR2', () => {
  globalThis.gc?.()
  writeFileSync(process.env.MEMORY_FILE ?? '', JSON.stringify(process.memoryUsage()))
})

const withoutDeadlines: typeof service = {
  ...service,
  create({ settings, ...context }) {
    const currency = currencyOf(settings.Money.Currency)
    const { deadlines: _, onDeadline: _decisions, ...declaration } = order(currency, 0)
    const orders = openEntity(declaration as ReturnType<typeof order>, context)
    return { entities: [orders], routes: orderRoutes(orders, currency) }
  },
}

await run(process.env.DEADLINES === 'off' ? withoutDeadlines : service)

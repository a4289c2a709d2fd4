import express from 'express'
import { transact } from './dapr.ts'
import { newOrder, readOrder } from './order.ts'

// `node outbox-orders.ts` with PORT and DAPR_HTTP_PORT: one transaction per request, and Dapr’s outbox publishes.
const app = express()
app.use(express.json())
app.get('/readyz', (_request, response) => response.sendStatus(200))

app.post('/v1/orders', async (request, response) => {
  const order = newOrder(readOrder(request.body))
  await transact('outboxstore', `order/${order.id}`, order)
  response.status(201).location(`/v1/orders/${order.id}`).json(order)
})

app.listen(Number(process.env.PORT), '127.0.0.1')

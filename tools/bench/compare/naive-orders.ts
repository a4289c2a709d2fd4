import express from 'express'
import { publish, save } from './dapr.ts'
import { newOrder, orderCreated, readOrder } from './order.ts'

// `node naive-orders.ts` with PORT, DAPR_HTTP_PORT and TOPIC: one publish and one save per request.
const topic = process.env.TOPIC ?? ''
const app = express()
app.use(express.json())
app.get('/readyz', (_request, response) => response.sendStatus(200))

app.post('/v1/orders', async (request, response) => {
  const order = newOrder(readOrder(request.body))
  await publish(topic, order.id, orderCreated(order))
  await save(`order/${order.id}`, order)
  response.status(201).location(`/v1/orders/${order.id}`).json(order)
})

app.listen(Number(process.env.PORT), '127.0.0.1')

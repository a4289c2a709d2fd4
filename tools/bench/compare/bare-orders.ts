import express from 'express'
import { newOrder, readOrder } from './order.ts'

// `node bare-orders.ts` with PORT: only validates requests and answers them, without a sidecar.
const app = express()
app.use(express.json())
app.get('/readyz', (_request, response) => response.sendStatus(200))

app.post('/v1/orders', (request, response) => {
  const order = newOrder(readOrder(request.body))
  response.status(201).location(`/v1/orders/${order.id}`).json(order)
})

app.listen(Number(process.env.PORT), '127.0.0.1')

import express from 'express'
import { get, publish, save } from './dapr.ts'
import { type PaymentState, pay, paymentKey, readOrderCreated } from './payment.ts'

// `node naive-payments.ts` with PORT, DAPR_HTTP_PORT and TOPIC (to publish to): one event per delivery.
const topic = process.env.TOPIC ?? ''
const app = express()
app.use(express.json({ type: 'application/*+json' }))

app.get('/dapr/subscribe', (_request, response) => {
  response.json([{ pubsubname: 'pubsub', topic: 'orderevents', route: '/orders', metadata: { rawPayload: 'true' } }])
})

/** Dapr wraps a raw event in a CloudEvent, which contains the event as base64. */
app.post('/orders', async (request, response) => {
  const { id, data_base64: data } = request.body as { id: string; data_base64: string }
  const event = readOrderCreated(Buffer.from(data, 'base64'), { topic: 'orderevents', partition: 0, offset: id })
  if (event) {
    const key = paymentKey(event)
    const { state, announcement } = pay(event, await get<PaymentState>(key))
    await save(key, state)
    await publish(topic, event.Payload.OrderId, announcement)
  }
  response.sendStatus(200)
})

app.listen(Number(process.env.PORT), '127.0.0.1')

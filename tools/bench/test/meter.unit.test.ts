import { expect } from 'chai'
import { callsIn } from '../capacity/meter.ts'

const metrics = `# TYPE orderflow_batch_size_items histogram
orderflow_batch_size_items_bucket{le="1",queue="store"} 1
orderflow_batch_size_items_sum{queue="store"} 420
orderflow_batch_size_items_count{queue="store"} 3
orderflow_batch_size_items_sum{queue="paymentevents"} 400
orderflow_batch_size_items_count{queue="paymentevents"} 4
orderflow_flush_seconds_sum{queue="store"} 0.25
orderflow_flush_seconds_sum{queue="paymentevents"} 0.5
orderflow_delivery_size_events_sum{topic="orderevents"} 420
orderflow_delivery_size_events_count{topic="orderevents"} 5
orderflow_delivery_seconds_sum{topic="orderevents"} 1.5e-1
http_server_request_duration_seconds_count{method="POST",route="/v1/orders",status="2xx"} 7
http_server_request_duration_seconds_count{method="GET",route="/v1/orders",status="2xx"} 2
# EOF
`

describe('callsIn', () => {
  it('adds up the calls of all topics and separates saves from publishes', () => {
    expect(callsIn(metrics)).to.deep.equal({
      deliveries: 5,
      delivered: 420,
      saves: 3,
      saved: 420,
      publishes: 4,
      published: 400,
      requests: 9,
      deliverySeconds: 0.15,
      saveSeconds: 0.25,
      publishSeconds: 0.5,
    })
  })

  it('returns 0 for calls that a service has not made', () => {
    expect(callsIn('# EOF\n')).to.include({ deliveries: 0, saves: 0, publishSeconds: 0 })
  })
})

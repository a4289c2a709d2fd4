import { expect } from 'chai'
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts'
import { withServer } from '../../src/testing/http.ts'
import { samplesIn, scrape } from '../../src/testing/scrape.ts'

describe('metrics', () => {
  let metrics: Metrics
  beforeEach(() => {
    metrics = createMetrics()
  })
  const samples = () => scrape(metrics.listener)

  it('the listener answers in the OpenMetrics text format, with a help text for each metric', async () => {
    metrics.request({ operation: undefined, status: 200, ms: 3 })
    const { headers, text } = await withServer(metrics.listener, async (url) => {
      const response = await fetch(`${url}/metrics`)
      return { headers: response.headers, text: await response.text() }
    })
    expect(headers.get('content-type')).to.match(/^application\/openmetrics-text; version=1\.0\.0/)
    expect(text).to.match(/\n# EOF\n$/)
    const [helped, typed] = ['HELP', 'TYPE'].map((word) =>
      [...text.matchAll(new RegExp(`^# ${word} (\\S+) \\S`, 'gm'))].map(([, name]) => name),
    )
    expect(helped).to.deep.equal(typed)
    expect(helped).to.include.members(['http_server_request_duration_seconds', 'orderflow_events'])
  })

  it('the listener serves metrics only at /metrics', async () => {
    await withServer(metrics.listener, async (url) => {
      for (const [path, method] of [
        ['/', 'GET'],
        ['/metrics', 'POST'],
        ['/metrics/', 'GET'],
      ] as const) {
        expect((await fetch(url + path, { method })).status, `${method} ${path}`).to.equal(404)
      }
    })
  })

  it('the listener includes metrics of the process from the first scrape on', async () => {
    const found = [...(await samples()).keys()]
    expect(found).to.include('process_cpu_seconds_total')
    expect(found).to.include('nodejs_eventloop_lag_p99_seconds')
  })

  it('each scrape asks again which parts are ready', async () => {
    let missing: object = { store: 'does not answer' }
    metrics.readiness(['sidecar', 'store', 'stream'], async () => missing)
    const ready = async () =>
      [...(await samples())].filter(([series]) => series.startsWith('orderflow_ready')).map(([, value]) => value)
    expect(await ready()).to.deep.equal([1, 0, 1])
    missing = {}
    expect(await ready()).to.deep.equal([1, 1, 1])
  })

  it('answers a scrape with the previous readiness while the check takes longer than half a second', async () => {
    const metrics = createMetrics()
    const slow = Promise.withResolvers<object>()
    const answers: Promise<object>[] = [Promise.resolve({}), slow.promise, Promise.resolve({ sidecar: 'later' })]
    let asked = 0
    metrics.readiness(['sidecar'], () => answers[asked++] as Promise<object>)
    const ready = async () => (await scrape(metrics.listener)).get('orderflow_ready{part="sidecar"}')
    expect(await ready()).to.equal(1)
    expect([await ready(), await ready()]).to.deep.equal([1, 1])
    expect(asked).to.equal(2)
    slow.resolve({ sidecar: 'does not answer' })
    await new Promise(setImmediate)
    expect([await ready(), asked]).to.deep.equal([0, 3])
  })

  it('counts requests by operation and status class, and counts all requests for unknown paths as one operation', async () => {
    const operation = { method: 'GET', route: '/v1/things/{id}' }
    metrics.request({ operation, status: 200, ms: 3 })
    metrics.request({ operation, status: 204, ms: 700 })
    metrics.request({ operation, status: undefined, ms: 1 })
    metrics.request({ operation: undefined, status: 404, ms: 1 })
    const found = await samples()
    const counts = [...found].filter(([series]) => series.startsWith('http_server_request_duration_seconds_count'))
    expect(Object.fromEntries(counts)).to.deep.equal({
      'http_server_request_duration_seconds_count{method="GET",route="/v1/things/{id}",status="2xx"}': 2,
      'http_server_request_duration_seconds_count{method="GET",route="/v1/things/{id}",status="aborted"}': 1,
      'http_server_request_duration_seconds_count{method="other",route="other",status="4xx"}': 1,
    })
    const labels = 'le="0.5",method="GET",route="/v1/things/{id}",status="2xx"'
    expect(found.get(`http_server_request_duration_seconds_bucket{${labels}}`)).to.equal(1)
  })

  it('measures the batches of a queue, and counts its waiting items', async () => {
    const watch = metrics.queue('store')
    watch.opened(() => 7)
    watch.flushed(20, 12, 300)
    const found = await samples()
    expect(found.get('orderflow_queue_depth{queue="store"}')).to.equal(7)
    expect(found.get('orderflow_batch_size_items_sum{queue="store"}')).to.equal(20)
    expect(found.get('orderflow_queue_wait_seconds_sum{queue="store"}')).to.equal(0.012)
    expect(found.get('orderflow_flush_seconds_sum{queue="store"}')).to.equal(0.3)
  })

  it('counts events by outcome, with counters that begin at zero', async () => {
    const topic = metrics.topic('in', ['not-json'])
    const before = await samples()
    for (const outcome of ['handled', 'duplicate', 'dead-letter', 'unhandled', 'retried']) {
      expect(before.get(`orderflow_events_total{topic="in",outcome="${outcome}"}`), outcome).to.equal(0)
    }
    expect(before.get('orderflow_dead_letters_total{topic="in",reason="not-json"}')).to.equal(0)
    const delivery = topic.delivery()
    delivery.add(1)
    delivery.add(2)
    expect((await samples()).get('orderflow_events_in_flight{topic="in"}')).to.equal(3)
    delivery.end(['handled', 'handled', 'retried'], 2_000)
    topic.deadLetter('not-json')
    topic.reacted('PaymentApproved@1', 80)
    const after = await samples()
    expect(after.get('orderflow_events_in_flight{topic="in"}')).to.equal(0)
    expect(after.get('orderflow_events_total{topic="in",outcome="handled"}')).to.equal(2)
    expect(after.get('orderflow_events_total{topic="in",outcome="retried"}')).to.equal(1)
    expect(after.get('orderflow_dead_letters_total{topic="in",reason="not-json"}')).to.equal(1)
    expect(after.get('orderflow_delivery_wait_seconds_sum{topic="in"}')).to.equal(2)
    expect(after.get('orderflow_delivery_size_events_sum{topic="in"}')).to.equal(3)
    expect(after.get('orderflow_reaction_seconds_bucket{le="0.1",topic="in",event="PaymentApproved@1"}')).to.equal(1)
  })

  it('creates no time series for names that a publisher invents', async () => {
    // Leaves out metrics of the process: the first garbage collection of each type adds a time series.
    const own = (all: Map<string, number>) => [...all.keys()].filter((series) => series.startsWith('orderflow_'))
    const topic = metrics.topic('in', [])
    const before = own(await samples())
    for (let count = 0; count < 1_000; count += 1) topic.unhandled(`Ada Lovelace ${count}@1`)
    topic.unhandled('OrderCreated@1')
    const after = await samples()
    expect(after.get('orderflow_unhandled_events_total{topic="in",event="other"}')).to.equal(1_000)
    expect(after.get('orderflow_unhandled_events_total{topic="in",event="OrderCreated@1"}')).to.equal(1)
    expect(own(after)).to.have.lengthOf(before.length + 2)
  })

  it('samplesIn reads labels with spaces and braces', () => {
    expect([...samplesIn('a{b="c d",e="{}"} 1\n# HELP x y\nf 2.5\n')]).to.deep.equal([
      ['a{b="c d",e="{}"}', 1],
      ['f', 2.5],
    ])
  })
})

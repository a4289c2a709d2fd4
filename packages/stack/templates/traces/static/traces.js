// Lists the latest traces and shows the spans of one trace, from Jaeger's query API (/api/traces).

const main = document.querySelector('#main')

/** Data of spans becomes text, never markup. */
function element(name, attributes = {}, ...children) {
  const isSvg = ['svg', 'rect'].includes(name)
  const made = isSvg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'onclick') made.addEventListener('click', value)
    else made.setAttribute(key, value)
  }
  for (const child of children.flat()) made.append(child)
  return made
}

async function ask(path) {
  const response = await fetch(path)
  return response.ok ? ((await response.json()).data ?? []) : []
}

const milliseconds = (microseconds) => `${(microseconds / 1_000).toFixed(microseconds < 100_000 ? 1 : 0)} ms`
const tagOf = ({ tags }, key) => tags.find((tag) => tag.key === key)?.value
const isFailed = (span) => tagOf(span, 'error') === true || tagOf(span, 'error.type') !== undefined
const parentOf = ({ references }) => references.find(({ refType }) => refType === 'CHILD_OF')
const serviceOf = ({ processes }, { processID }) => processes[processID].serviceName

function coloursOf({ processes }) {
  const names = [...new Set(Object.values(processes).map(({ serviceName }) => serviceName))].toSorted()
  return new Map(names.map((name, index) => [name, `hsl(${200 + (index * 360) / names.length} 55% 50%)`]))
}

/** Returns begin and duration in microseconds. */
function timesOf({ spans }) {
  const begin = spans.reduce((first, { startTime }) => Math.min(first, startTime), Infinity)
  const end = spans.reduce((last, { startTime, duration }) => Math.max(last, startTime + duration), begin + 1)
  return { begin, whole: end - begin }
}

/** Returns spans with their depth, each after its parent. A span without a known parent has depth 0. */
function inOrder(spans) {
  const ids = new Set(spans.map(({ spanID }) => spanID))
  const byParent = Map.groupBy(spans, (span) => {
    const parent = parentOf(span)?.spanID
    return ids.has(parent) ? parent : undefined
  })
  const below = (parent, depth) =>
    (byParent.get(parent) ?? [])
      .toSorted((one, other) => one.startTime - other.startTime)
      .flatMap((span) => [{ span, depth }, ...below(span.spanID, depth + 1)])
  return below(undefined, 0)
}

function detailsOf(trace, span) {
  const links = span.references.filter(({ refType }) => refType === 'FOLLOWS_FROM')
  const rows = [
    ['service', serviceOf(trace, span)],
    ...span.tags
      .filter(({ key }) => !/^(otel|internal|span\.kind)/.test(key))
      .map(({ key, value }) => [key, String(value)]),
    ...links.map(({ traceID }) => ['link', element('a', { href: `/trace/${traceID}` }, traceID)]),
  ]
  return element(
    'dl',
    {},
    rows.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]),
  )
}

function barOf({ begin, whole }, { startTime, duration }, colour) {
  const percent = (value) => `${((value * 100) / whole).toFixed(3)}%`
  const place = { x: percent(startTime - begin), width: percent(Math.max(duration, whole / 400)) }
  return element('svg', {}, element('rect', { ...place, y: 3, height: 11, rx: 2, fill: colour }))
}

function showTrace(trace) {
  const [times, colours] = [timesOf(trace), coloursOf(trace)]
  const rows = inOrder(trace.spans).flatMap(({ span, depth }) => {
    const service = serviceOf(trace, span)
    const details = element('tr', { hidden: '' }, element('td', { colspan: 4 }, detailsOf(trace, span)))
    const toggle = () => {
      details.hidden = !details.hidden
    }
    const name = `${'\u2007'.repeat(depth * 2)}${span.operationName.replace(/^\/?dapr\.proto\.runtime\.v1\.Dapr\//, 'Dapr/')}`
    const type = ` ${tagOf(span, 'orderflow.event.type') ?? ''}`
    const failed = isFailed(span) ? ` ${tagOf(span, 'error.type') ?? 'failed'}` : ''
    return [
      element(
        'tr',
        { class: 'span', onclick: toggle },
        element('td', { class: 'faint' }, service),
        element('td', {}, name, element('span', { class: 'faint' }, type), element('span', { class: 'error' }, failed)),
        element('td', { class: 'time' }, barOf(times, span, colours.get(service))),
        element('td', {}, milliseconds(span.duration)),
      ),
      details,
    ]
  })
  const title = `${trace.traceID}, ${milliseconds(times.whole)}, ${trace.spans.length} spans`
  main.replaceChildren(element('h3', {}, title), element('table', {}, rows))
}

function showList(traces) {
  const head = ['start', 'first span', 'services', 'spans', 'duration']
  const rows = traces
    .map((trace) => ({ trace, times: timesOf(trace), first: inOrder(trace.spans)[0].span }))
    .toSorted((one, other) => other.times.begin - one.times.begin)
    // Leaves out traces of deliveries, because the traces of the delivered events link to them.
    .filter(({ first }) => !first.operationName.startsWith('receive '))
    .map(({ trace, times, first }) => {
      const services = [...new Set(trace.spans.map((span) => serviceOf(trace, span)))].toSorted()
      const cells = [
        new Date(times.begin / 1_000).toLocaleTimeString(),
        element('a', { href: `/trace/${trace.traceID}` }, first.operationName),
        services.join(', '),
        trace.spans.length,
        milliseconds(times.whole),
      ]
      const isError = trace.spans.some(isFailed)
      return element(
        'tr',
        isError ? { class: 'error' } : {},
        cells.map((cell) => element('td', {}, cell)),
      )
    })
  const header = element(
    'tr',
    {},
    head.map((name) => element('th', {}, name)),
  )
  main.replaceChildren(
    rows.length > 0
      ? element('table', {}, header, rows)
      : element('p', {}, 'No traces yet. Send a request to a service, then reload this page.'),
  )
}

/** Returns the traces in which a span has the tag. Without a tag, returns all traces. */
async function find(tag) {
  const services = await ask('/api/services')
  const query = new URLSearchParams({ limit: 40, lookback: '24h', ...(tag && { tags: JSON.stringify(tag) }) })
  const found = await Promise.all(services.map((service) => ask(`/api/traces?service=${service}&${query}`)))
  return [...new Map(found.flat().map((trace) => [trace.traceID, trace])).values()]
}

/** Shows the trace with this id, or all traces with this CorrelationId, key or message id. */
async function search(id) {
  const [trace] = await ask(`/api/traces/${id.replaceAll('-', '')}`)
  if (trace) return showTrace(trace)
  const tags = ['messaging.message.conversation_id', 'messaging.kafka.message.key', 'messaging.message.id']
  const found = await Promise.all(tags.map((tag) => find({ [tag]: id.toLowerCase() })))
  const traces = [...new Map(found.flat().map((one) => [one.traceID, one])).values()]
  if (traces.length === 1) showTrace(traces[0])
  else showList(traces)
}

const [, id] = /^\/trace\/([\w-]+)$/.exec(location.pathname) ?? []
if (id) await search(id)
else showList(await find())

document.querySelector('#search').addEventListener('submit', (event) => {
  event.preventDefault()
  location.href = `/trace/${encodeURIComponent(new FormData(event.target).get('id').trim())}`
})

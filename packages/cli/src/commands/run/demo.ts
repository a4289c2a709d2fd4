import { meansOneOf, personalNames } from '@orderflow/envelope'
import type { Demo } from '@orderflow/service-kit/application'
import { application, requireRunning, urlOf, watchUrl } from '@orderflow/stack'
import { CliError, paint, poll, print, timed } from '@orderflow/stack/base'
import { type WatchedEvent, watchEvents } from '@orderflow/stack/operate'
import type { Command } from '../../command-line.ts'
import { nearKafka } from '../../near-kafka.ts'

/** If services require a key, `API_KEY` must contain it. */
export const command: Command = {
  run: nearKafka('demo', () => demo(process.env)),
}

interface Thing {
  id: string
  status?: string
  correlationId: string
}

const timeoutMs = 15_000

/** A service may answer a repeated request with the thing of the first one. Its events are then older than the request. */
const recentEvents = 200n

/** Sends the request that services.json declares and waits for the declared status. */
async function demo({ API_KEY: key }: NodeJS.ProcessEnv): Promise<void> {
  const plan = application.demo
  if (!plan) throw new CliError('usage', 'services.json has no demo', { nextStep: 'add "demo" to services.json' })
  const call = callAs(key, plan)
  const addresses = await requireRunning()
  const url = urlOf(addresses, plan.service)
  const early: WatchedEvent[] = []
  let show = (event: WatchedEvent) => void early.push(event)
  const topics = application.topics.map(({ name }) => name)
  const stopWatching = await watchEvents(addresses.kafka, topics, (event) => show(event), recentEvents)
  try {
    const tell = timed()
    tell(`POST ${url}${plan.post} ${stringifyMasked(plan.body)}`)
    const thing = await call<Thing>(`${url}${plan.post}`, plan.body)
    tell(named(plan, thing))
    const { id, correlationId } = thing
    const names = new Set<string>()
    show = (event) => {
      const { Name = '', AppName, CorrelationId, Payload } = event.envelope
      if (CorrelationId !== correlationId && !Object.values(Payload ?? {}).includes(id)) return
      names.add(Name)
      const position = `${event.topic}, partition ${event.partition}, offset ${event.offset}`
      tell(`event ${paint('cyan', Name)} from ${AppName} on ${position}`)
      print(`         ${paint('dim', stringifyMasked(Payload))}`)
    }
    early.forEach(show)
    const read = () => call<Thing>(`${url}${plan.get.replaceAll('{id}', id)}`)
    await untilDone(plan, { read, thing, tell, names })
    const lists = await Promise.all(
      plan.show.map(async ({ thing, service, get }) => {
        const { items } = await call<{ items: unknown[] }>(`${urlOf(addresses, service)}${get.replaceAll('{id}', id)}`)
        return items.map((item) => `${thing.padEnd(width(plan))}  ${stringifyMasked(item)}`)
      }),
    )
    tell(`${plan.thing.padEnd(width(plan))}  ${stringifyMasked(await read())}`)
    for (const line of lists.flat()) tell(line)
    const { status } = plan.until
    tell(paint('green', status ? `the ${plan.thing} is ${status.toLowerCase()}` : 'all events have arrived'))
    print(`see it all: ${watchUrl(addresses)}/c/${correlationId}`)
  } finally {
    await stopWatching()
  }
}

const width = ({ thing, show }: Demo) =>
  show.reduce((longest, each) => Math.max(longest, each.thing.length), thing.length)

const named = ({ thing: what }: Pick<Demo, 'thing'>, { id, status }: Thing) =>
  status ? `${what} ${id} is ${paint('bold', status)}` : `${what} ${id}`

interface Progress {
  read: () => Promise<Thing>
  thing: Thing
  tell: (line: string) => void
  names: Set<string>
}

async function untilDone(plan: Demo, { read, thing: last, tell, names }: Progress): Promise<void> {
  const { status, events } = plan.until
  const isDone = async () => {
    const isFinal = status === undefined || last.status === status
    if (isFinal && events.every((event) => names.has(event))) return true
    const now = await read()
    if (now.status !== last.status) tell(named(plan, now))
    last = now
    return false
  }
  if (await poll(isDone, { timeoutMs })) return
  const seen = [...names].join(', ') || 'no event'
  throw new CliError('demo-failed', `after ${timeoutMs / 1000} s: ${named(plan, last)}; received: ${seen}`, {
    nextStep:
      names.size > 0
        ? 'make status, make logs'
        : 'make status, make logs; if an earlier make demo created this thing, change "body" of "demo" in services.json',
  })
}

function callAs(key: string | undefined, { scopes }: Demo) {
  const authorization = key ? { authorization: `Bearer ${key}` } : {}
  return <Body>(url: string, body?: object): Promise<Body> =>
    send(url, { headers: authorization, ...(body && postOf(body, authorization)) }, scopes)
}

const postOf = (body: object, authorization: object) => ({
  method: 'POST',
  headers: { ...authorization, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

async function send<Body>(url: string, request: RequestInit, scopes: readonly string[]): Promise<Body> {
  const response = await fetch(url, { ...request, signal: AbortSignal.timeout(timeoutMs) }).catch((cause: Error) => {
    throw new CliError('demo-failed', `${url}: ${cause.message}`, { nextStep: 'make status, make logs', cause })
  })
  const text = await response.text()
  if (response.ok) return JSON.parse(text) as Body
  throw new CliError('demo-failed', `${url} answered ${response.status}: ${text}`, {
    nextStep: nextStepAfter(response.status, scopes),
  })
}

function nextStepAfter(status: number, scopes: readonly string[]): string {
  if (status === 401 || status === 403)
    return `./orderflow api-key create demo --scopes "${scopes.join(' ')}", then make demo API_KEY=...`
  return [400, 404, 409, 422].includes(status) ? 'correct "demo" in services.json' : 'make status, make logs'
}

const isPersonal = meansOneOf(personalNames)

/** Masks fields that the contract marks as personal, and ignores the case of their names. */
export function stringifyMasked(value: unknown): string {
  return JSON.stringify(value, (key, inner) => (isPersonal(key) ? '***' : inner))
}

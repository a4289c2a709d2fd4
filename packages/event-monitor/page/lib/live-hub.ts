import type { Job, LiveBatch, LiveMessages, Problem } from '../../src/api/index.ts'

/** The view of one tab. Only tabs with the same credential share a stream. */
export interface Subscription {
  /** The address of the stream, without a query. */
  url: string
  /** The filter, as a query string that begins with `?`, or empty. */
  search: string
  /** The header with the tab's key or token; null without a credential. */
  authorization: string | null
}

/** A message to a tab. `joined` reports that the hub works; `ended` is the last message. */
export type ToTab =
  | { kind: 'joined' }
  | { kind: 'message'; event: string; data: unknown }
  | { kind: 'ended'; problem: Problem }

/** Opens a stream and calls `onMessage` until it ends or is aborted. Rejects with a `Problem`. */
export type OpenStream = (
  url: string,
  options: { authorization: string | null; signal: AbortSignal; onMessage: (event: string, data: unknown) => void },
) => Promise<never>

interface Member {
  search: string
  send: (message: ToTab) => void
  /** The stream whose messages the member receives. */
  stream: Stream | null
}

interface Stream {
  /** The filter of each view. */
  searches: string[]
  /** The newest state of each view that has begun. */
  hellos: Map<string, LiveMessages['hello']>
  abort: AbortController
}

interface Group {
  url: string
  authorization: string | null
  members: Set<Member>
  /** The stream in use, and the stream that replaces it after its first message. */
  current: Stream | null
  next: Stream | null
  timer: ReturnType<typeof setTimeout> | undefined
}

/** The time in which several changes lead to one new stream, in milliseconds. */
const pauseMs = 20
/** Browsers allow six connections for each host. The others are for requests. */
const maxStreams = 3
/** The largest query. A server may refuse headers of more than 16 KiB, with the address and the token. */
const maxQuery = 6_000

const queryOf = (searches: readonly string[]) =>
  searches.map((search) => `view=${encodeURIComponent(search.replace(/^\?/, ''))}`).join('&')

const problem = (title: string, status = 0): Problem => ({ type: 'about:blank', title, status })

/** Shares one stream among all tabs of a browser that have the same credential. Each tab has its own filter. */
export function createLiveHub(openStream: OpenStream) {
  const groups = new Map<string, Group>()

  function plan(group: Group): void {
    group.timer ??= setTimeout(() => {
      group.timer = undefined
      replace(group)
    }, pauseMs)
  }

  /** Opens a stream with the filters of all members. The old stream continues until the new one has begun. */
  function replace(group: Group): void {
    group.next?.abort.abort()
    const searches: string[] = []
    for (const { search } of group.members) {
      if (!searches.includes(search) && queryOf([...searches, search]).length <= maxQuery) searches.push(search)
    }
    const stream: Stream = { searches, hellos: new Map(), abort: new AbortController() }
    group.next = stream
    for (const member of group.members) {
      if (!searches.includes(member.search)) remove(group, member, problem('Too many different filters are open'))
    }
    openStream(`${group.url}?${queryOf(searches)}`, {
      authorization: group.authorization,
      signal: stream.abort.signal,
      onMessage: (event, data) => receive(group, stream, event, data),
    }).catch((error: unknown) => fail(group, stream, error as Problem))
  }

  function receive(group: Group, stream: Stream, event: string, data: unknown): void {
    if (stream !== group.current && stream !== group.next) return
    if (event === 'job') {
      for (const { send } of group.members) send({ kind: 'message', event, data: data as Job })
      return
    }
    const search = stream.searches[(data as { view: number }).view]
    if (search === undefined) return
    if (event === 'hello') begin(group, stream, search, data as LiveMessages['hello'])
    else keepState(stream, search, data as LiveBatch)
    for (const member of group.members) {
      if (member.search === search && member.stream === stream) member.send({ kind: 'message', event, data })
    }
  }

  function begin(group: Group, stream: Stream, search: string, hello: LiveMessages['hello']): void {
    if (stream === group.next) {
      group.current?.abort.abort()
      group.current = stream
      group.next = null
    }
    stream.hellos.set(search, hello)
    for (const member of group.members) if (member.search === search) member.stream = stream
  }

  function keepState(stream: Stream, search: string, { completeness }: LiveBatch): void {
    const hello = stream.hellos.get(search)
    if (hello) stream.hellos.set(search, { ...hello, completeness: { ...hello.completeness, ...completeness } })
  }

  /** Ends the views that the problem names, or all views that have no other stream. */
  function fail(group: Group, stream: Stream, why: Problem): void {
    if (stream !== group.current && stream !== group.next) return
    if (stream === group.current) group.current = null
    else group.next = null
    const wrong = new Set(viewsIn(why).map((view) => stream.searches[view]))
    const isOver = ({ search, stream: own }: Member) =>
      wrong.size > 0 ? wrong.has(search) : own !== group.current || !own
    for (const member of [...group.members]) if (isOver(member)) remove(group, member, why)
    if (wrong.size > 0 && group.members.size > 0) plan(group)
  }

  function remove(group: Group, member: Member, why?: Problem): void {
    if (!group.members.delete(member)) return
    if (why) member.send({ kind: 'ended', problem: why })
    if (group.members.size > 0) return
    clearTimeout(group.timer)
    group.current?.abort.abort()
    group.next?.abort.abort()
    for (const [key, each] of groups) if (each === group) groups.delete(key)
  }

  return {
    /** Subscribes a tab. Returns a function that ends the subscription. */
    join({ url, search, authorization }: Subscription, send: (message: ToTab) => void): () => void {
      const key = JSON.stringify([url, authorization])
      const group = groups.get(key) ?? {
        ...{ url, authorization, members: new Set<Member>(), current: null, next: null, timer: undefined },
      }
      send({ kind: 'joined' })
      if (!groups.has(key) && groups.size >= maxStreams) {
        send({ kind: 'ended', problem: problem('Other tabs of this browser are signed in with several other keys') })
        return () => {}
      }
      groups.set(key, group)
      const hello = group.current?.hellos.get(search)
      const member: Member = { search, send, stream: hello ? group.current : null }
      group.members.add(member)
      if (hello) send({ kind: 'message', event: 'hello', data: hello })
      else plan(group)
      return () => remove(group, member)
    },
  }
}

/** Returns the indexes of the views that a problem names, such as 1 in `view/1/guid`. */
function viewsIn({ errors = [] }: Problem): number[] {
  return errors.flatMap(({ pointer, parameter }) => {
    const [, index] = /^view\/(\d+)/.exec(parameter ?? pointer ?? '') ?? []
    return index === undefined ? [] : [Number(index)]
  })
}

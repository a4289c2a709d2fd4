/**
 * The urgency of a topic's events. `prompt`: someone waits for the result. `background`: events are collected in larger batches, because their
 * results are not urgent (docs/adr/0018).
 */
export type Urgency = 'prompt' | 'background'

/** The runner of a stack. In containers, a service may have several replicas, and each replica needs its own partitions (docs/operations.md). */
export type Surroundings = 'processes' | 'containers'

export interface Topic {
  name: string
  constant: string
  /** The fields of the Payload whose values are the partition key. An event has a key only if its Payload has all of these fields. */
  key: readonly string[]
  /** The events that outside applications may write, if trust.json allows it. */
  outside: readonly string[]
}

/** A rule: the service `by` publishes one of the events `answers` at most `within` seconds after the event `after`. */
export interface Reaction {
  after: string
  answers: readonly string[]
  by: string
  within: number
  about: string
}

/** The share of things (such as orders) that must reach `status` within `seconds`. The time begins when the cause of `event` reaches the log. */
export interface Objective {
  thing: string
  things: string
  status: string
  /** The event as Name@Version. The measured time ends when `service` has handled the event. */
  event: string
  service: string
  seconds: number
  share: number
}

/** The settings of `make demo`, which creates a thing (such as an order) and waits for its events, and for its status if it has one. */
export interface Demo {
  thing: string
  service: string
  post: string
  body: object
  get: string
  until: { status?: string; events: readonly string[] }
  show: readonly { thing: string; service: string; get: string }[]
  scopes: readonly string[]
}

export interface ServiceEntry {
  package?: string
  /** Ports on the loopback interface: `http` and `https` for clients, and `channel` for the sidecar. */
  http: number
  https: number
  channel: number
  /** The number of replicas of the service in containers. `make scale` overrides it. */
  replicas: number
  /** True if entities of the service have deadlines. It then publishes and consumes their events on the topic `deadlines`. */
  deadlines?: boolean
  /** True if entities of the service call other systems. It then publishes and consumes the answers on the topic `calls`. */
  calls?: boolean
  consumes: Record<string, Urgency>
  /** The events that the service publishes under its own name, by topic. Empty if it only forwards events. */
  produces: Record<string, string[]>
  watches?: boolean
}

export type SharedSettings = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface Application {
  partitions: Record<Surroundings, number>
  /** A number that is added to all default ports, except those of the services. */
  portOffset: number
  consumersPerReplica: number
  /** The values of the settings that several services share, by section and name. A variable cannot replace them. */
  settings: SharedSettings
  topics: readonly Topic[]
  reactions: readonly Reaction[]
  objective: Objective | undefined
  demo: Demo | undefined
  services: Record<string, ServiceEntry>
}

export interface ApplicationJson extends Pick<Application, 'partitions' | 'consumersPerReplica' | 'services'> {
  topics: Record<string, { constant?: string; key: string | string[]; outside?: string[] }>
  reactions?: (Omit<Reaction, 'about'> & { about?: string })[]
  portOffset?: number
  settings?: SharedSettings
  objective?: Objective
  demo?: Omit<Demo, 'show' | 'scopes'> & Partial<Pick<Demo, 'show' | 'scopes'>>
}

/** A topic and the events that outside applications may write to it. */
type OpenTopic = Pick<Topic, 'name' | 'outside'>

/** The events that each service publishes, by topic. */
interface Publishing {
  services: Record<string, Pick<ServiceEntry, 'produces'>>
}

/** Returns the events of a topic: those that services publish, then those that only outside applications write. */
export function eventsOf({ services }: Publishing, { name, outside }: OpenTopic): string[] {
  const produced = Object.values(services).flatMap(({ produces }) => produces[name] ?? [])
  return [...new Set([...produced, ...outside])]
}

export function topicOfEvent<T extends OpenTopic>(
  application: Publishing & { topics: readonly T[] },
  event: string,
): T | undefined {
  return application.topics.find((topic) => eventsOf(application, topic).includes(event))
}

/**
 * Returns the reason why an outside application may not write an event to a topic, for example “is an event of …”. Returns undefined if the
 * application may write it, or if no topic has this event.
 */
export function outsideRefusal(
  application: Publishing & { topics: readonly OpenTopic[] },
  event: string,
  topic: string,
): string | undefined {
  const own = topicOfEvent(application, event)
  if (own === undefined) return undefined
  if (!own.outside.includes(event))
    return `is an event of ${own.name} that outside applications may not publish (docs/trust.md)`
  return own.name === topic ? undefined : `is an event of ${own.name}, not of ${topic}`
}

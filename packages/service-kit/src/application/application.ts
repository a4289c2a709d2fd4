/**
 * How soon a service wants the events of a topic: `prompt` what somebody waits for, over several consumers;
 * `background` what may take longer and come in larger batches (docs/adr/0018).
 */
export type Urgency = 'prompt' | 'background'

/**
 * How a stack runs: as processes, once on one machine; or in containers, here or on a host, where a service may have replicas. Each
 * replica needs partitions to take part (docs/operations.md).
 */
export type Surroundings = 'processes' | 'containers'

export interface Topic {
  name: string
  /** Name of the topic in generated types. */
  constant: string
  /** Fields of the Payload whose values are the partition key. An event that lacks one of them has no key. */
  key: readonly string[]
  /** Names of the events that outside applications may write to the topic, as far as trust.json lets them. */
  outside: readonly string[]
}

/** After the event `after`, the service `by` publishes one of `answers` within so many seconds. */
export interface Reaction {
  after: string
  answers: readonly string[]
  by: string
  within: number
  /** Field of the Payload whose value the event and its answer share. */
  about: string
}

/** How soon a thing has its status after an event, and which share of them: the alerts and the dashboard follow. */
export interface Objective {
  thing: string
  things: string
  status: string
  after: string
  /** Name and Version of the event whose handling by `service` ends it. */
  event: string
  service: string
  seconds: number
  share: number
}

/** `make demo`: creates a thing by a request, and waits for a status and for events. */
export interface Demo {
  thing: string
  service: string
  post: string
  body: object
  /** Paths of the thing; `{id}` stands for its id. */
  get: string
  until: { status: string; events: readonly string[] }
  /** Lists to show at the end. */
  show: readonly { thing: string; service: string; get: string }[]
  scopes: readonly string[]
}

/** Entry of a service in services.json. */
export interface ServiceEntry {
  /** Folder of a service that comes from a package. */
  package?: string
  /** Loopback ports: public http and https, and where its sidecar calls it. */
  http: number
  https: number
  channel: number
  /** How many there are in containers, unless `make scale` asked for another number. */
  replicas: number
  consumes: Record<string, Urgency>
  /** Names of the events that it publishes as itself, by topic; none where it only forwards events of others. */
  produces: Record<string, string[]>
  watches?: boolean
}

/** Content of services.json, with defaults filled in. */
export interface Application {
  partitions: Record<Surroundings, number>
  consumersPerReplica: number
  topics: readonly Topic[]
  reactions: readonly Reaction[]
  /** Undefined for an application without an objective. */
  objective: Objective | undefined
  /** Undefined for an application without a demo. */
  demo: Demo | undefined
  services: Record<string, ServiceEntry>
}

/** The JSON of services.json. */
export interface ApplicationJson extends Pick<Application, 'partitions' | 'consumersPerReplica' | 'services'> {
  topics: Record<string, { constant?: string; key: string | string[]; outside?: string[] }>
  reactions?: (Omit<Reaction, 'about'> & { about?: string })[]
  objective?: Objective
  demo?: Omit<Demo, 'show' | 'scopes'> & Partial<Pick<Demo, 'show' | 'scopes'>>
}

/** Returns the events of a topic: those that services publish, then those that only outside applications write. */
export function eventsOf({ services }: Pick<Application, 'services'>, { name, outside }: Topic): string[] {
  const produced = Object.values(services).flatMap(({ produces }) => produces[name] ?? [])
  return [...new Set([...produced, ...outside])]
}

/** Returns the topic of an event; undefined for an event of no topic. */
export function topicOfEvent(application: Pick<Application, 'topics' | 'services'>, event: string): Topic | undefined {
  return application.topics.find((topic) => eventsOf(application, topic).includes(event))
}

/**
 * Returns why an outside application may not write an event to a topic, as the predicate of a sentence about the event. Undefined if it
 * may, and for an event of no topic.
 */
export function outsideRefusal(
  application: Pick<Application, 'topics' | 'services'>,
  event: string,
  topic: string,
): string | undefined {
  const own = topicOfEvent(application, event)
  if (own === undefined) return undefined
  if (!own.outside.includes(event))
    return `is an event of ${own.name} that outside applications may not publish (docs/trust.md)`
  return own.name === topic ? undefined : `is an event of ${own.name}, not of ${topic}`
}

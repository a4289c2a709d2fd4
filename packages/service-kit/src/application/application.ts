/**
 * The urgency with which a service handles the events of a topic. `prompt`: someone waits, so several consumers work. `background`: larger batches
 * may take longer (docs/adr/0011).
 */
export type Urgency = 'prompt' | 'background'

/**
 * The runner of a stack. Processes run on one machine, one per service. Containers run here or on a host, and a service may have replicas. Each
 * replica needs partitions (docs/operations.md).
 */
export type Surroundings = 'processes' | 'containers'

export interface Topic {
  name: string
  /** The name of the topic in generated types. */
  constant: string
  /** The fields of the Payload whose values are the partition key. An event that lacks one of them has no key. */
  key: readonly string[]
  /** The events that outside applications may write to the topic, if trust.json allows it. */
  outside: readonly string[]
}

/** A rule: after the event `after`, the service `by` publishes one of `answers` within a number of seconds. */
export interface Reaction {
  after: string
  answers: readonly string[]
  by: string
  within: number
  /** The field of the Payload whose value the event and its answer share. */
  about: string
}

/** The time within which things must have their status after an event, and the share of them. Alerts and the dashboard use it. */
export interface Objective {
  thing: string
  things: string
  status: string
  after: string
  /** The name and version of the last event. The objective is reached when `service` has handled it. */
  event: string
  service: string
  seconds: number
  share: number
}

/** The settings of `make demo`: it creates a thing by a request, and waits for a status and for events. */
export interface Demo {
  thing: string
  service: string
  post: string
  body: object
  /** The paths of the thing, with `{id}` for its id. */
  get: string
  until: { status: string; events: readonly string[] }
  /** The lists to show at the end. */
  show: readonly { thing: string; service: string; get: string }[]
  scopes: readonly string[]
}

/** A service's entry in services.json. */
export interface ServiceEntry {
  /** The folder of a service from a package. */
  package?: string
  /** Loopback ports: public http and https, and the sidecar's channel. */
  http: number
  https: number
  channel: number
  /** The number of replicas in containers. `make scale` overrides it. */
  replicas: number
  consumes: Record<string, Urgency>
  /** The events that the service publishes as itself, by topic. Empty if it only forwards events. */
  produces: Record<string, string[]>
  watches?: boolean
}

/** The content of services.json, with defaults. */
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

/** Returns the events of a topic: those of services, then those of outside applications alone. */
export function eventsOf({ services }: Pick<Application, 'services'>, { name, outside }: Topic): string[] {
  const produced = Object.values(services).flatMap(({ produces }) => produces[name] ?? [])
  return [...new Set([...produced, ...outside])]
}

/** Returns the topic of an event, or undefined. */
export function topicOfEvent(application: Pick<Application, 'topics' | 'services'>, event: string): Topic | undefined {
  return application.topics.find((topic) => eventsOf(application, topic).includes(event))
}

/**
 * Returns the reason why an outside application may not write an event to a topic, as the predicate of a sentence about the event. Undefined if it
 * may, or if the event has no topic.
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

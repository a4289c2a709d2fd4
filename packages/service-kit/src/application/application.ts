/**
 * How soon a service wants the events of a topic: `prompt` what somebody waits for, over several lanes;
 * `background` what may take longer and come in larger batches (docs/adr/0011).
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
  /** Whether applications outside may write the topic, as far as trust.json lets them. */
  outside: boolean
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
  lanes: number
  topics: readonly Topic[]
  reactions: readonly Reaction[]
  /** Undefined for an application without an objective. */
  objective: Objective | undefined
  /** Undefined for an application without a demo. */
  demo: Demo | undefined
  services: Record<string, ServiceEntry>
}

/** The JSON of services.json. */
export interface ApplicationJson extends Pick<Application, 'partitions' | 'lanes' | 'services'> {
  topics: Record<string, { constant?: string; key: string | string[]; outside: boolean }>
  reactions?: (Omit<Reaction, 'about'> & { about?: string })[]
  objective?: Objective
  demo?: Omit<Demo, 'show' | 'scopes'> & Partial<Pick<Demo, 'show' | 'scopes'>>
}

/** Returns the topic to which a service publishes an event; undefined for the event of no service. */
export function topicOfEvent(
  { topics, services }: Pick<Application, 'topics' | 'services'>,
  event: string,
): Topic | undefined {
  const produced = Object.values(services).flatMap(({ produces }) => Object.entries(produces))
  const found = produced.find(([, events]) => events.includes(event))?.[0]
  return topics.find(({ name }) => name === found)
}

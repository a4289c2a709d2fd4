import type { KafkaConnection } from '@orderflow/kafka-log'
import { partitions, type Service, type Surroundings } from './application/services.ts'
import type { ColouredLine, LogOptions } from './base/terminal.ts'
import type { Addresses } from './kafka/connection.ts'

export type Store = 'sqlite' | 'mongodb' | 'postgresql'

export interface Reached extends Addresses {
  publisher: KafkaConnection
  /** The ports of the observers' pages. `grafana` is undefined if Grafana does not run. */
  observers: { jaeger: number; prometheus: number; grafana: number | undefined }
}

export interface ProgressOptions {
  onProgress: (line: string) => void
  signal: AbortSignal
}

export interface KafkaOptions extends ProgressOptions {
  store: Store
  brokers: number
}

export interface UpOptions extends KafkaOptions {
  /** True to rebuild all stores from the log before services start. */
  rebuild: boolean
  /** True to start traces, metrics and alerts, too. */
  observed: boolean
}

export interface StackStatus {
  /** A header, and a line for each part of the stack. */
  lines: readonly ColouredLine[]
  /** The failed parts, such as `kafka (crashed)`. Undefined for a stopped stack. */
  unwell: string[] | undefined
  /** The command that starts the parts in `unwell`. */
  nextStep: string
}

/** The answer of a service at `/readyz` (packages/service-kit/src/web/web.ts). */
export interface Readiness {
  status: string
  missing?: Record<string, string>
  warnings?: string[]
  redelivered?: { topic: string; partition: number; offset: string; deliveries: number }[]
}

export interface InsideOptions {
  /** The standard input, such as the content of a file on this machine. Undefined means the standard input of this process. */
  input: Buffer | undefined
  /** Variables that must be neither stored nor shown. */
  secrets: Record<string, string>
  signal: AbortSignal
}

/** Runs commands where Kafka is reachable, for a stack whose Kafka this machine cannot reach. */
export interface Inside {
  /** Runs a program of our packages, such as the program of a command. Returns its exit code. */
  run: (program: string, args: string[], options: InsideOptions) => Promise<number>
  /** Runs an operator's command with a service's settings and the rights of the operator. Returns its exit code. */
  operate: (service: Service, args: string[], options: InsideOptions) => Promise<number>
  /** Returns a line for each wrong setting of Kafka. */
  streamTroubles: () => Promise<string[]>
}

/** The list of API keys, as JSON. */
export interface ApiKeysText {
  /** The name for messages. */
  name: string
  read: () => Promise<string>
  write: (text: string) => Promise<void>
  /** The longest time after which running services read a change, for messages. */
  delay: string
}

export interface ServiceProbe {
  name: string
  ask: () => Promise<Readiness>
}

/** Runs the stack of this checkout: as processes, in containers or in Kubernetes. */
export interface Runner {
  /** The value of STACK that selects this runner. */
  name: string
  /** The words for the runner in messages, such as `in containers`. */
  title: string
  /** The supported stores. The first one is the default. */
  stores: readonly Store[]
  /** Selects the number of partitions and replicas of topics. */
  surroundings: Surroundings

  /** Returns the reason why this machine cannot use the runner. May download images. */
  missing: (options: ProgressOptions, store: string | undefined) => Promise<string | undefined>
  /** Returns `absent` for a stack without parts. */
  state: () => Promise<'running' | 'stopped' | 'absent'>
  lastStore: () => Store
  /** The supported numbers of brokers. The first one is the default. Empty if Kafka belongs to others. */
  brokerCounts: readonly number[]
  /** Returns the number of brokers that have data. Undefined if there is no data. */
  lastBrokers: () => Promise<number | undefined>
  /** Returns the location of the store's data, such as a volume. Returns undefined if there is no data. */
  dataOf: (store: Store) => Promise<string | undefined>

  /** Starts all stopped parts and waits until all services consume. */
  up: (options: UpOptions) => Promise<Reached>
  /** Starts Kafka and creates its topics; services stay stopped. Undefined if Kafka belongs to others. */
  startKafka?: (options: KafkaOptions) => Promise<KafkaConnection>
  /** Stops all parts; data stays. Returns false if nothing ran. */
  down: (onProgress: (line: string) => void) => Promise<boolean>
  /** Returns the names of the removed folders or volumes. The stack must be stopped. */
  clean: () => Promise<string[]>
  /** Restarts a service and its sidecar, one replica after the other. */
  restart: (service: Service, options: ProgressOptions) => Promise<void>
  /** Undefined if the runner supports only one replica. */
  scale?: (service: string, count: number, options: ProgressOptions) => Promise<void>

  status: () => Promise<StackStatus>
  runningServices: () => Promise<ServiceProbe[]>
  logNames: () => Promise<readonly string[]>
  /** Shows the end of logs. With `follow`, it also shows new lines until Ctrl-C, or until the output is closed. */
  logs: (names: readonly string[], options: LogOptions) => Promise<void>

  /** Returns the addresses of the stack, even if it does not run. */
  reach: () => Reached
  /** @throws {CliError} `not-running` if a part is stopped */
  requireRunning: () => Promise<void>
  /** @throws {CliError} `not-running` if all brokers are stopped */
  requireKafka: () => Promise<void>
  /** Runs an operator's command with a service's settings and store. Returns the exit code. */
  operate: (service: Service, args: string[]) => Promise<number>
  /** Returns the variables with which operators' commands on this machine use the stack's Kafka. Undefined for a stack of processes. */
  streamVariables?: () => Promise<Record<string, string>>
  /** The API keys of the running stack. Undefined if its services read the file of this checkout. */
  apiKeys?: ApiKeysText
  /** Undefined if this machine can reach Kafka. */
  inside?: Inside | undefined
}

/** Warns if a service has more replicas than partitions. */
export function warnAboutReplicas(count: number, onProgress: (line: string) => void): void {
  const most = partitions.containers
  if (count > most) onProgress(`warning: a topic has ${most} partitions, so only ${most} replicas receive its events`)
}

import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import type { Addresses } from './kafka/connection.ts'
import type { Service, Surroundings } from './lib/services.ts'
import type { LogOptions } from './lib/terminal.ts'

/** The store of a stack: one file for each service, or a server. */
export type Store = 'sqlite' | 'mongodb' | 'postgresql'

/** The addresses of a stack on this machine, and the ports of its observers. */
export interface Reached extends Addresses {
  /** The connection of an outside publisher to Kafka. */
  publisher: KafkaConnection
  /** The ports of the pages of `make observe`. Grafana has a port only if it runs. */
  observers: { jaeger: number; prometheus: number; grafana: number | undefined }
}

export interface ProgressOptions {
  onProgress: (line: string) => void
  signal: AbortSignal
}

export interface UpOptions extends ProgressOptions {
  store: Store
  /** True to also start the observers: traces, metrics and alerts. */
  observed: boolean
}

export interface StackStatus {
  /** A header, and a line for each part of the stack. */
  lines: readonly { text: string; colour: 'bold' | 'green' | 'red' | 'dim' }[]
  /** The failed parts, such as `kafka (crashed)`. Undefined if the whole stack is stopped. */
  unwell: string[] | undefined
  /** The command that starts the parts in `unwell`. */
  nextStep: string
}

/** The answer of a service at `/readyz` (packages/service-kit/src/web/web.ts). */
export interface Readiness {
  status: string
  missing?: Record<string, string>
  redelivered?: { topic: string; partition: number; offset: string; deliveries: number }[]
}

/** A running service with its name in `make status` and `make logs`. */
export interface ServiceProbe {
  name: string
  ask: () => Promise<Readiness>
}

/** Runs the stack of this checkout, in containers or as processes. Commands are the same for both. */
export interface Runner {
  /** The value of STACK that selects this runner. */
  name: string
  /** The runner in messages, such as `in containers`. */
  title: string
  /** The supported values of STORE. The first one is the default. */
  stores: readonly Store[]
  /** Selects the number of partitions and replicas of topics. */
  surroundings: Surroundings

  /** Returns the reason why this machine cannot run the stack with this runner, or undefined if it can. May download images. */
  missing: (options: ProgressOptions, store: string | undefined) => Promise<string | undefined>
  /** Returns `stopped` if all parts of the stack are stopped, and `absent` if it has no parts. */
  state: () => Promise<'running' | 'stopped' | 'absent'>
  lastStore: () => Store
  /** Returns the location of the data in the store of the last start, or undefined without data. */
  dataOf: (store: Store) => Promise<string | undefined>

  /** Starts all stopped parts and waits until all services consume. */
  up: (options: UpOptions) => Promise<Reached>
  /** Stops everything; data stays. Returns false if nothing ran. */
  down: (onProgress: (line: string) => void) => Promise<boolean>
  /** Removes the data of a stopped stack and returns the names of the removed folders or volumes. */
  clean: () => Promise<string[]>
  /** Restarts a service and its sidecar, one replica after the other. */
  restart: (service: Service, options: ProgressOptions) => Promise<void>
  /** Runs `count` replicas of a service. Undefined if the runner supports only one. */
  scale?: (service: string, count: number, options: ProgressOptions) => Promise<void>

  status: () => Promise<StackStatus>
  runningServices: () => Promise<ServiceProbe[]>
  logNames: () => Promise<readonly string[]>
  /** Shows the end of logs. With `follow` it also shows new lines, until it is interrupted or its output is closed. */
  logs: (names: readonly string[], options: LogOptions) => Promise<void>

  /** Returns the addresses of the stack, even if it does not run. */
  reach: () => Reached
  /** @throws {CliError} `not-running` if one of these parts is stopped; checks all parts by default */
  requireRunning: (parts?: readonly string[]) => Promise<void>
  /** Runs an operator's command with the settings of a service and the store of its sidecar. Returns the exit code. */
  operate: (service: Service, args: string[]) => Promise<number>
  /** Returns the variables that an operator's command on this machine needs for the stream, in addition to those of processes. */
  streamVariables: () => Promise<Record<string, string>>
}

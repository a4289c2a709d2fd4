import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import type { Addresses } from './kafka/connection.ts'
import type { Service, Surroundings } from './lib/services.ts'
import type { LogOptions } from './lib/terminal.ts'

/** The store of a stack: a file of each service, or a server. */
export type Store = 'sqlite' | 'mongodb' | 'postgresql'

/** The addresses of a stack on this machine, and the ports of its observers. */
export interface Reached extends Addresses {
  /** Kafka as an outside application reaches it. */
  publisher: KafkaConnection
  /** The ports of the pages of `make observe`; Grafana's only where it runs. */
  observers: { jaeger: number; prometheus: number; grafana: number | undefined }
}

export interface ProgressOptions {
  onProgress: (line: string) => void
  signal: AbortSignal
}

export interface UpOptions extends ProgressOptions {
  store: Store
  /** Whether to start the observers, too: traces, metrics and alerts. */
  observed: boolean
}

export interface StackStatus {
  /** A line for each part of the stack, after a header. */
  lines: readonly { text: string; colour: 'bold' | 'green' | 'red' | 'dim' }[]
  /** Parts that do not run as they should, such as `kafka (crashed)`. Undefined if the whole stack is stopped. */
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

/** A running service, by the name that `make status` and `make logs` have for it. */
export interface ServiceProbe {
  name: string
  ask: () => Promise<Readiness>
}

/** Runs the stack of this checkout: one adapter for each way to run it. Commands do not depend on the way. */
export interface Runner {
  /** The value of STACK that selects this runner. */
  name: string
  /** How the stack runs, such as `in containers`. */
  title: string
  /** The values of STORE that this runner supports, the default first. */
  stores: readonly Store[]
  /** Selects the number of partitions and replicas of topics. */
  surroundings: Surroundings

  /** Returns why this machine cannot run the stack so, and undefined if it can. May download images. */
  missing: (options: ProgressOptions, store: string | undefined) => Promise<string | undefined>
  /** Returns `stopped` if parts of the stack remain that do not run, and `absent` if none remain. */
  state: () => Promise<'running' | 'stopped' | 'absent'>
  /** Returns the store of the last start. */
  lastStore: () => Store
  /** Returns where the data of the store of the last start is, and undefined if it has none. */
  dataOf: (store: Store) => Promise<string | undefined>

  /** Starts everything that does not run, and waits until all services consume. */
  up: (options: UpOptions) => Promise<Reached>
  /** Stops everything; data stays. Returns whether anything was there to stop. */
  down: (onProgress: (line: string) => void) => Promise<boolean>
  /** Removes the data of a stopped stack and returns what it removed. */
  clean: () => Promise<string[]>
  /** Stops a service and its sidecar in order and starts them again, one replica after the other. */
  restart: (service: Service, options: ProgressOptions) => Promise<void>
  /** Runs a service `count` times; undefined if the runner has one replica of each service only. */
  scale?: (service: string, count: number, options: ProgressOptions) => Promise<void>

  status: () => Promise<StackStatus>
  /** Returns the services that run, including all replicas. */
  runningServices: () => Promise<ServiceProbe[]>
  /** Returns the names that `logs` takes. */
  logNames: () => Promise<readonly string[]>
  /** Shows the end of logs, and new lines if asked to follow, until it is interrupted or its output is closed. */
  logs: (names: readonly string[], options: LogOptions) => Promise<void>

  /** Returns the addresses of the stack, which need not run. */
  reach: () => Reached
  /** @throws {CliError} `not-running` naming those of these parts that do not run; of all parts if none are named */
  requireRunning: (parts?: readonly string[]) => Promise<void>
  /** Runs an operator's command of a service with its settings, and its sidecar's store. Returns the exit code. */
  operate: (service: Service, args: string[]) => Promise<number>
  /**
   * Returns the variables by which an operator's command on this machine reaches the stream, beyond those of processes.
   */
  streamVariables: () => Promise<Record<string, string>>
}

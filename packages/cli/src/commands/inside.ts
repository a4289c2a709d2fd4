import { untilAllConsume } from '../kafka/readiness.ts'
import { topics } from '../kafka/topics.ts'
import { readRecord } from '../kubernetes/cluster.ts'
import { readBytes } from '../lib/files.ts'
import { print } from '../lib/terminal.ts'
import type { InsideOptions } from '../runner.ts'
import { requireRunning, runningRunner } from './runners.ts'
import { streamTroubles } from './stack.ts'

interface InsideRequest {
  args: string[]
  /** A file on this machine, which the command reads from its standard input. The command has `-` in place of its name. */
  file?: string | undefined
  signal: () => AbortSignal
}

/** Runs a command of this program where Kafka is reachable. Returns its exit code, or undefined if this is the case on this machine. */
export async function runNearKafka({ args, file, signal }: InsideRequest): Promise<number | undefined> {
  if (!readRecord()) return undefined
  const { inside } = (await runningRunner()) ?? {}
  return await inside?.run(args, insideOptions(file, signal()))
}

/** @throws {CliError} `usage` for an unreadable file */
export function insideOptions(file: string | undefined, signal: AbortSignal): InsideOptions {
  const { API_KEY } = process.env
  const input = file === undefined || file === '-' ? undefined : readBytes(file)
  return { input, secrets: API_KEY ? { API_KEY } : {}, signal }
}

// The following commands are for the pods in which commands run.

export async function awaitConsumers(): Promise<void> {
  const { kafka } = await requireRunning()
  await untilAllConsume(kafka, print)
}

/** @param hasUsers true if the setup job creates users in this Kafka */
export async function printStreamTroubles(hasUsers: boolean): Promise<void> {
  const { kafka } = await requireRunning()
  for (const trouble of await streamTroubles(kafka, topics.containers, hasUsers)) print(trouble)
}

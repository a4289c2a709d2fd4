import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { clusterRunner, type InsideOptions } from '@orderflow/stack'
import { CliError } from '@orderflow/stack/base'
import type { Command, Given } from './command-line.ts'

/**
 * Runs a command in the cluster if the stack runs in Kubernetes, because Kafka is reachable only there. Otherwise runs it here.
 * @param inside the arguments of the command in the cluster, and the file that it reads from its standard input in place of `-`
 */
export function nearKafka(
  name: string,
  run: Command['run'],
  inside: (given: Given) => { args: string[]; file?: string | undefined } = ({ all }) => ({ args: all }),
): Command['run'] {
  return async (given) => {
    const cluster = (await clusterRunner())?.inside
    if (!cluster) return (await run(given)) ?? 0
    const { args, file } = inside(given)
    const program = fileURLToPath(import.meta.resolve('#cli'))
    return await cluster.run(program, [name, ...args], insideOptions(file, given.signal()))
  }
}

/** Runs a command with the Kafka that `Stream__Brokers` names, otherwise as `nearKafka` does. */
export function nearNamedKafka(name: string, run: Command['run']): Command['run'] {
  return (given) => (process.env.Stream__Brokers ? run(given) : nearKafka(name, run)(given))
}

/** @throws {CliError} `usage` for an unreadable file */
export function insideOptions(file: string | undefined, signal: AbortSignal): InsideOptions {
  const { API_KEY } = process.env
  const input = file === undefined || file === '-' ? undefined : readBytes(file)
  return { input, secrets: API_KEY ? { API_KEY } : {}, signal }
}

/**
 * Reads a file, or the standard input for the name `-`.
 * @throws {CliError} `usage` for an unreadable file
 */
export function readBytes(file: string): Buffer {
  try {
    return readFileSync(file === '-' ? 0 : file)
  } catch (cause) {
    throw new CliError('usage', `cannot read ${file}: ${(cause as Error).message}`, { cause })
  }
}

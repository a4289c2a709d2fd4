import { createInterface } from 'node:readline/promises'
import { CliError } from '../lib/error.ts'
import { applicationName } from '../lib/paths.ts'
import { type Cluster, readContext, readRecord } from './cluster.ts'

/**
 * Returns the cluster of `make up`: the recorded one, otherwise that of the current context.
 * @throws {CliError} `usage` if `NAMESPACE` differs from the recorded namespace
 */
export async function chooseCluster({ NAMESPACE }: NodeJS.ProcessEnv): Promise<Cluster> {
  const record = readRecord()
  const { context, server } = await readContext(record?.context)
  if (record && NAMESPACE && NAMESPACE !== record.namespace) {
    throw new CliError('usage', `NAMESPACE=${NAMESPACE}, but the stack is in namespace ${record.namespace}`, {
      nextStep: `make down and ./orderflow clean, then make up STACK=kubernetes NAMESPACE=${NAMESPACE}`,
    })
  }
  return { context, server, namespace: record?.namespace ?? (NAMESPACE || applicationName) }
}

/**
 * Asks before the first change of a cluster that is not on this machine.
 * @throws {CliError} `usage` without consent
 */
export async function requireConsent(
  { context, server }: Cluster,
  { CONFIRM }: NodeJS.ProcessEnv,
  record = readRecord(),
): Promise<void> {
  const isKnown = record?.context === context && record.server === server
  if (isKnown || isLocal(context, server) || CONFIRM === context) return
  const refusal = new CliError('usage', `${context} (${server}) is not a cluster of this machine`, {
    nextStep: `select another context (kubectl config use-context NAME), or confirm this one: make up STACK=kubernetes CONFIRM=${context}`,
  })
  if (!process.stdin.isTTY || !process.stdout.isTTY) throw refusal
  const prompt = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await prompt.question(`Install into ${context} (${server})? Type the name of the context to confirm: `)
  prompt.close()
  if (answer.trim() !== context) throw refusal
}

const loopback =
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0|kubernetes\.docker\.internal|host\.docker\.internal)$/
const privateAddress = /^(10\.|172\.(1[6-9]|2\d|3[01])\.|192\.168\.|169\.254\.|\[f[cde])/
const localContext = /^(kind-.+|k3d-.+|minikube|docker-desktop)$/

/** Returns true for the clusters of developers' tools: on loopback, or at a private address of a context with such a tool's name. */
export function isLocal(context: string, server: string): boolean {
  const { hostname } = new URL(server)
  return loopback.test(hostname) || (localContext.test(context) && privateAddress.test(hostname))
}

import { execFile, type PromiseWithChild } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { applicationName, localFolder, repository } from '../application/paths.ts'
import { changeStack } from '../application/stack-record.ts'
import { CliError } from '../base/error.ts'
import { replaceFile } from '../base/files.ts'
import type { KubernetesStore } from './values.ts'

export interface Cluster {
  /** The context in the kubeconfig. */
  context: string
  /** The address of the API server. */
  server: string
  namespace: string
}

/** The cluster of the last `make up`. */
export interface RecordedCluster extends Cluster {
  store: KubernetesStore
}

const recordFile = () => join(localFolder, 'kubernetes.json')

/** Returns undefined if this checkout has no stack in Kubernetes. Then no command calls kubectl. */
export function readRecord(): RecordedCluster | undefined {
  return existsSync(recordFile()) ? (JSON.parse(readFileSync(recordFile(), 'utf8')) as RecordedCluster) : undefined
}

/** Returns true if this checkout has a stack in Kubernetes, perhaps a stopped one. */
export const runsInKubernetes = (): boolean => existsSync(recordFile())

export function writeRecord(record: RecordedCluster): void {
  replaceFile(recordFile(), `${JSON.stringify(record, null, 2)}\n`)
  changeStack(localFolder, { runner: 'kubernetes' })
}

export function removeRecord(): void {
  rmSync(recordFile(), { force: true })
}

/** @throws {CliError} `not-running` if this checkout has no stack in Kubernetes */
export function requireRecord(): RecordedCluster {
  const record = readRecord()
  if (record) return record
  throw new CliError('not-running', 'the stack does not run in Kubernetes', { nextStep: 'make up STACK=kubernetes' })
}

/** The label of namespaces and Secrets that `make up` has created. Only these are removed again. */
export const ownLabel = { 'app.kubernetes.io/managed-by': 'orderflow-cli' }
export const ownSelector = Object.entries(ownLabel)
  .map((pair) => pair.join('='))
  .join()

/** Selects everything of the Helm release. */
export const releaseSelector = `app.kubernetes.io/instance=${applicationName}`

const requestTimeoutMs = 10_000
/** A plugin for credentials may hang, so each program also has a limit. */
const programTimeoutMs = 30_000
/** The list of all pods of a large release has some megabytes. */
const maxBuffer = 64 * 1024 * 1024

interface RunOptions {
  /** The standard input. Secrets are passed here, because other users of this machine can read arguments. */
  input?: string
  timeoutMs?: number
  signal?: AbortSignal
}

const run = promisify(execFile)

/**
 * Runs kubectl and returns its output.
 * @throws {CliError} `tools-missing`, `unreachable` or `cluster-failed`, after 30 seconds at the latest by default
 */
export async function kubectl(cluster: Cluster, args: string[], options: RunOptions = {}): Promise<string> {
  const limit = `--request-timeout=${requestTimeoutMs / 1000}s`
  return await execute('kubectl', [...kubectlOptions(cluster), limit, ...args], options, cluster)
}

/** Names the server, too: a context of the same name may lead to another cluster by now. */
export function kubectlOptions({ context, server, namespace }: Cluster): string[] {
  return ['--context', context, '--server', server, '--namespace', namespace]
}

export async function kubectlJson<Answer>(cluster: Cluster, args: string[]): Promise<Answer> {
  return JSON.parse(await kubectl(cluster, [...args, '--output', 'json'])) as Answer
}

/** Creates or replaces objects. kubectl reads them from its standard input. */
export async function sendObjects(cluster: Cluster, verb: 'create' | 'replace', items: object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  if (items.length > 0) await kubectl(cluster, [verb, '--filename', '-'], { input })
}

/** Runs helm and returns its output. The same errors as those of `kubectl`. */
export async function helm(cluster: Cluster, args: string[], options: RunOptions = {}): Promise<string> {
  const { context, server, namespace } = cluster
  const target = ['--kube-context', context, '--kube-apiserver', server, '--namespace', namespace]
  return await execute('helm', [...args, ...target], options, cluster)
}

/**
 * Reads the kubeconfig; the cluster is not called.
 * @param asked the name of a context; undefined means the current context
 * @throws {CliError} `usage` without such a context
 */
export async function readContext(asked: string | undefined) {
  const args = ['config', 'view', '--minify', '--output', 'json', ...(asked ? ['--context', asked] : [])]
  const output = await execute('kubectl', args, {}, undefined).catch((error: CliError) => {
    if (error.code === 'tools-missing') throw error
    throw noContext(asked)
  })
  const config = JSON.parse(output) as KubeConfig
  const { name = '', context } = config.contexts?.[0] ?? {}
  const server = config.clusters?.[0]?.cluster?.server
  if (!name || !server) throw noContext(asked)
  return { context: name, server, namespace: context?.namespace }
}

interface KubeConfig {
  contexts: { name: string; context: { namespace?: string } }[] | null
  clusters: { cluster: { server?: string } }[] | null
}

function noContext(asked: string | undefined): CliError {
  const what = asked ? `the kubeconfig has no context ${asked}` : 'the kubeconfig has no current context'
  return new CliError('usage', what, {
    nextStep: asked ? retireStep : 'set KUBECONFIG, or select a context: kubectl config use-context NAME',
  })
}

const retireStep = 'start or restore the cluster; or remove .stack/kubernetes.json, if the cluster is gone for good'

async function execute(
  program: 'kubectl' | 'helm',
  args: string[],
  { input = '', timeoutMs = programTimeoutMs, signal }: RunOptions,
  cluster: Cluster | undefined,
): Promise<string> {
  try {
    // SIGINT lets Helm record that the release was interrupted.
    const settings = { cwd: repository, timeout: timeoutMs, killSignal: 'SIGINT', maxBuffer, signal } as const
    const running: PromiseWithChild<{ stdout: string }> = run(program, args, settings)
    // The program may end before it has read its input.
    running.child.stdin?.on('error', () => {})
    running.child.stdin?.end(input)
    return (await running).stdout
  } catch (error) {
    throw failure(program, error as ProgramError, cluster)
  }
}

type ProgramError = Error & { code?: string | number; killed?: boolean; stderr?: string }

const awayPattern =
  /unable to connect|connection refused|was refused|i\/o timeout|no such host|unreachable|timed? ?out|deadline exceeded|no route to host/i

/** The message has only the program's errors: its arguments and its output may contain values of the cluster. */
function failure(program: 'kubectl' | 'helm', error: ProgramError, cluster: Cluster | undefined): CliError {
  if (error.code === 'ENOENT') {
    const nextStep = `${installation[program]}, then run this again`
    return new CliError('tools-missing', `${program} is not installed`, { nextStep })
  }
  if (error.name === 'AbortError') return new CliError('interrupted', 'interrupted')
  const lines = (error.stderr ?? '').trim().split('\n').filter(Boolean)
  const last = lines.at(-1) ?? ''
  if (cluster && (error.killed || awayPattern.test(last))) {
    const problem = `the cluster of context ${cluster.context} does not answer: ${last || 'no answer in time'}`
    return new CliError('unreachable', problem, { nextStep: retireStep })
  }
  if (cluster && /context .* does not exist/.test(last)) return noContext(cluster.context)
  const text = lines.slice(-20).join('\n') || `it ended with ${error.code}`
  return new CliError('cluster-failed', `${program}: ${text}`, { nextStep: 'make status, make logs' })
}

const installation = {
  kubectl: 'install kubectl (https://kubernetes.io/docs/tasks/tools/)',
  helm: 'install Helm (https://helm.sh/docs/intro/install/)',
}

/** Returns the reason why this machine cannot use a cluster, with the next step. */
export async function programMissing(): Promise<CliError | undefined> {
  for (const [program, args] of [
    ['kubectl', ['version', '--client']],
    ['helm', ['version', '--short']],
  ] as const) {
    const error = await execute(program, [...args], {}, undefined).catch((cause: CliError) => cause)
    if (error instanceof CliError) return error
  }
  return undefined
}

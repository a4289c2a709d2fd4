import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { entryOf, eventually, type RunningStack, repository, type StackPorts } from '@orderflow/cli'

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Runs an operator’s command of a service. `env` adds variables to the service’s settings. */
export type Operate = (service: string, args: string[], env?: Record<string, string>) => Promise<Ended>

/**
 * Runs `src/operate.ts` with the settings of the service in a local stack.
 * @param folder the repository of the services
 */
export function operatorOf(stack: RunningStack, ports: StackPorts, folder = repository): Operate {
  return (service, args, env = {}) => {
    const settings = {
      ...settingsOf(stack, service, ports),
      NODE_COMPILE_CACHE: join(folder, '.stack/compile-cache'),
    }
    const file = join(folder, service, 'src/operate.ts')
    return promisify(execFile)(process.execPath, [file, ...args], { env: { ...process.env, ...settings, ...env } })
      .then(({ stdout, stderr }) => ({ code: 0, stdout, stderr }))
      .catch((error: Ended) => error)
  }
}

/** Works like `operatorOf`, but runs all commands in one process, because loading the modules takes 1.5 seconds. */
export function startOperator(stack: RunningStack, ports: StackPorts): { operate: Operate; close: () => void } {
  const file = fileURLToPath(new URL('operator-program.ts', import.meta.url))
  const child = spawn(process.execPath, [file], { stdio: 'pipe' })
  const [stdout, stderr] = [collect(child, 'stdout'), collect(child, 'stderr')]
  let last: Promise<unknown> = Promise.resolve()

  async function run(service: string, args: string[], env: Record<string, string>): Promise<Ended> {
    const settings = settingsOf(stack, service, ports)
    child.stdin.write(`${JSON.stringify({ service, args, env: { ...settings, ...env } })}\n`)
    const [printed, complained] = await Promise.all([stdout(), stderr()])
    return { code: printed.code, stdout: printed.text, stderr: complained.text }
  }
  return {
    operate(service, args, env = {}) {
      const ended = last.then(() => run(service, args, env))
      last = ended.catch(() => {})
      return ended
    },
    close: () => child.stdin.end(),
  }
}

function settingsOf(stack: RunningStack, service: string, ports: StackPorts): Record<string, string> {
  const { app, dapr } = entryOf(stack.tokens, service)
  return {
    APP_API_TOKEN: app,
    DAPR_API_TOKEN: dapr,
    Sidecar__GrpcPort: String(entryOf(ports.services, service).daprGrpc),
    Stream__Brokers: stack.kafka.bootstrapBrokers.join(','),
  }
}

/** Collects the output of the operator’s process, split by the mark after each command. */
function collect(child: ChildProcessWithoutNullStreams, stream: 'stdout' | 'stderr') {
  let text = ''
  child[stream].setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return async () => {
    const [whole, printed = '', code] = await eventually(() => {
      const end = endOfCommand.exec(text)
      if (!end && child.exitCode !== null) throw new Error(`the operator’s process exited: ${text}`)
      return end ?? undefined
    }, "the end of the operator's command")
    text = text.slice(whole.length)
    return { text: printed, code: Number(code) }
  }
}

const endOfCommand = /^(.*?)\0end (\d+)\n/s

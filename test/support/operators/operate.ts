import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { RunningStack, StackPorts } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { type Ended, type Operate, operatorSettings } from '@orderflow/test-kit/stacks'

/** Works like `operatorOf`, but runs all commands in one process, because loading the modules takes 1.5 seconds. */
export function startOperator(stack: RunningStack, ports: StackPorts): { operate: Operate; close: () => void } {
  const file = fileURLToPath(new URL('operator-program.ts', import.meta.url))
  const child = spawn(process.execPath, [file], { stdio: 'pipe' })
  const [stdout, stderr] = [collect(child, 'stdout'), collect(child, 'stderr')]
  let last: Promise<unknown> = Promise.resolve()

  async function run(service: string, args: string[], env: Record<string, string>): Promise<Ended> {
    const settings = operatorSettings(stack, service, ports)
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

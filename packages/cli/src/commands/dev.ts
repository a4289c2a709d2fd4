import { dev as runDev } from '../dev/dev.ts'
import { CliError } from '../lib/error.ts'
import { serviceNamed, services } from '../lib/services.ts'
import { timed } from '../lib/terminal.ts'
import { processRunner, serversFrom } from '../processes/runner.ts'
import { runningRunner } from './runners.ts'
import { chooseServers } from './stack.ts'

/**
 * Runs `make dev`.
 * @param names the services to restart; if empty, all services
 * @throws {CliError} `usage` for an unknown service or another runner, `still-running` if the stack of another runner is running
 */
export async function dev(
  env: NodeJS.ProcessEnv,
  names: readonly string[],
  { inspected, signal }: { inspected: boolean; signal: AbortSignal },
): Promise<void> {
  const named = names.map((name) => serviceNamed(name).name)
  const { name: local } = processRunner
  if (env.STACK && env.STACK !== local) {
    throw new CliError('usage', `make dev runs the stack as processes, but STACK=${env.STACK}`, {
      nextStep: `leave STACK out, or set STACK=${local}`,
    })
  }
  const running = await runningRunner()
  if (running && running !== processRunner) {
    throw new CliError('still-running', `make dev needs a stack of processes, but a stack runs ${running.title}`, {
      nextStep: 'make down, then make dev',
    })
  }
  const onProgress = timed()
  const { servers, needsRebuild } = await chooseServers({ ...env, STACK: local }, { onProgress, signal })
  const all = services.map(({ name }) => name)
  await runDev({
    names: named.length > 0 ? [...new Set(named)] : all,
    inspected,
    servers: serversFrom(servers),
    rebuild: needsRebuild,
    onProgress,
    signal,
  })
}

// Runs `src/operate.ts` of a service for each line of input: {"service", "args", "env"}. After each command, both outputs get the mark
// "\0end", the exit code and a line break.
import { createInterface } from 'node:readline'
import type { ServiceDefinition } from '@orderflow/service-kit'
import { operate } from '@orderflow/service-kit/operations'

const own = { ...process.env }
// Each command adds a listener for a reader that disconnects early, so there is no limit for the number of listeners.
process.stdout.setMaxListeners(0)

for await (const line of createInterface({ input: process.stdin })) {
  const { service, args, env } = JSON.parse(line) as { service: string; args: string[]; env: Record<string, string> }
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, own, env)
  process.argv.splice(2, process.argv.length, ...args)
  const module = (await import(`@orderflow/${service}/service`)) as { service: ServiceDefinition }
  await operate(module.service)
  const mark = `\0end ${process.exitCode ?? 0}\n`
  process.exitCode = 0
  process.stdout.write(mark)
  process.stderr.write(mark)
}
process.exit()

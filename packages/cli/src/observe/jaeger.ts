import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../lib/files.ts'
import type { StackPorts } from '../lib/ports.ts'
import { dataFolder } from '../processes/plan.ts'
import { jaeger } from '../processes/trace-variables.ts'
import { jaegerFile, jaegerTool } from '../provision/jaeger.ts'
import type { ProvisionOptions } from '../provision/options.ts'
import { provisionTools } from '../provision/provision.ts'
import { startBeside } from './beside.ts'
import { localJaeger } from './jaeger-config.ts'

/**
 * Makes sure that Jaeger runs beside a stack of processes: it takes traces by OTLP over HTTP, keeps them in memory, and shows them. What of the
 * stack starts from now on sends it its own; what runs already does not.
 * @throws {StackError} `tools-missing`, `provision-failed`, and as `startBeside` does
 */
export async function startJaeger(folder: string, ports: StackPorts, options: ProvisionOptions): Promise<void> {
  await provisionTools([jaegerTool()], options)
  const file = join(dataFolder(folder), 'jaeger.yml')
  mkdirSync(dataFolder(folder), { recursive: true })
  replaceFile(file, localJaeger(ports))
  const spec = {
    name: jaeger,
    command: jaegerFile(),
    args: [`--config=file:${file}`],
    env: {},
    ports: { otlp: ports.otlp, page: ports.jaeger },
  }
  await startBeside(folder, [{ spec, url: `http://127.0.0.1:${ports.jaeger}/api/services` }], options)
}

// `make -C tools model` checks each model with TLC, complete and without each guard (tools/docs/model/README.md).
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { ensureTlc } from '@orderflow/programs'
import { timed } from '@orderflow/stack/base'
import { configurations } from './configurations.ts'
import { runAll } from './run.ts'
import { check } from './tlc.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { without: { type: 'string' } } })
const [model] = positionals
const chosen = configurations().filter(
  (each) =>
    (model === undefined || each.model === model) && (values.without === undefined || each.without === values.without),
)
if (chosen.length === 0) {
  process.stderr.write(
    'error: unknown configuration\nnext: choose MODEL and WITHOUT from the table in tools/docs/model/README.md\n',
  )
  process.exit(1)
}
const command = await ensureTlc({ onProgress: timed() })
const wrong = await runAll(chosen, {
  check: (configuration) => check(command, import.meta.dirname, configuration),
  print: (text) => process.stdout.write(`${text}\n`),
  parallelism: availableParallelism(),
})
process.exitCode = wrong === 0 ? 0 : 1

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createEnvelope } from '@orderflow/envelope-schema'
import { repository } from '@orderflow/stack/base'
import { atLeast, atMost, type Findings, mebibytes, number } from '../report/findings.ts'
import { inTurn, type Part } from '../report/part.ts'
import { median } from '../report/statistics.ts'

interface Contender {
  name: string
  args: string[]
  events: number
}

interface Sample {
  seconds: number
  processorSeconds: number
  peakBytes: number
}

const cli = join(repository, 'dist/envelope-schema/dist/cli/main.js')

const parseAlone = `import { createInterface } from 'node:readline'
import { createReadStream } from 'node:fs'
for await (const line of createInterface({ input: createReadStream(process.argv[1]) })) JSON.parse(line)`

/** Measures the installed command `envelope`, for a file with many envelopes and for a single envelope. */
export const envelope: Part = {
  title: 'envelope validate: JSON lines, on one core',

  async measure(run) {
    run.tell('building the package')
    execFileSync(process.execPath, [join(repository, 'packages/envelope/build.ts')], { stdio: 'ignore' })
    const folder = mkdtempSync(join(tmpdir(), 'orderflow bench '))
    try {
      const count = run.quick ? 20_000 : 1_000_000
      const many = await writeEvents(join(folder, 'many'), count)
      const one = await writeEvents(join(folder, 'one'), 1)
      const contenders: Contender[] = [
        { name: 'envelope validate', args: [cli, 'validate', many], events: count },
        {
          name: 'envelope validate, in a heap of 32 MiB',
          args: ['--max-old-space-size=32', cli, 'validate', many],
          events: count,
        },
        {
          name: 'only JSON.parse of each line',
          args: ['--input-type=module', '-e', parseAlone, many],
          events: count,
        },
      ]
      const samples = await inTurn(run, contenders, run.quick ? 1 : 5, ({ args }) => timed(args))
      const starts = await inTurn(
        run,
        [
          { name: 'one envelope', args: [cli, 'validate', one] },
          { name: 'Node alone', args: ['-e', '0'] },
        ],
        run.quick ? 3 : 15,
        ({ args }) => timed(args),
      )
      return findings([...samples], [...starts])
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

async function writeEvents(file: string, count: number): Promise<string> {
  const output = createWriteStream(file)
  const app = { id: '0b5c3d6e-8f1a-4b2c-9d3e-4f5a6b7c8d9e', name: 'legacy-shop' }
  for (let number = 0; number < count; number += 1) {
    const payload = {
      OrderId: crypto.randomUUID(),
      CustomerName: 'Ada Lovelace',
      CustomerTaxId: `GB-${number}`,
      Total: number + 0.5,
    }
    const headers = { CausationId: crypto.randomUUID() }
    const event = createEnvelope({ type: 'OrderCreated@1', app, payload, headers, creationDate: new Date() })
    if (!output.write(`${JSON.stringify(event)}\n`)) await once(output, 'drain')
  }
  output.end()
  await once(output, 'close')
  return file
}

/** A module that makes a process report its used resources through a pipe, when it exits. */
const telling = `data:text/javascript,${encodeURIComponent(
  "import { writeSync } from 'node:fs'; process.on('exit', () => writeSync(3, JSON.stringify(process.resourceUsage())))",
)}`

/** Runs Node and measures its use of resources. On Linux, `taskset` limits Node to the first core. */
async function timed(args: string[]): Promise<Sample> {
  const own = ['--import', telling, ...args]
  const [program, ...others] =
    process.platform === 'linux' ? ['taskset', '-c', '0', process.execPath, ...own] : [process.execPath, ...own]
  const started = performance.now()
  const child = spawn(program as string, others, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] })
  const pipe = child.stdio[3] as NodeJS.ReadableStream
  const [usage, error, [code]] = await Promise.all([
    text(pipe),
    text(child.stderr as NodeJS.ReadableStream),
    once(child, 'close'),
  ])
  const seconds = (performance.now() - started) / 1_000
  if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}: ${error.slice(0, 300)}`)
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(usage)
  return { seconds, processorSeconds: (userCPUTime + systemCPUTime) / 1e6, peakBytes: maxRSS * 1024 }
}

const of = (samples: Sample[], key: keyof Sample) => median(samples.map((sample) => sample[key]))

function findings(samples: [Contender, Sample[]][], starts: [{ name: string }, Sample[]][]): Findings {
  const rate = ([{ events }, found]: [Contender, Sample[]]) => events / of(found, 'seconds')
  const [validated] = samples
  const [one] = starts
  if (!validated || !one) throw new Error('nothing was measured')
  const startMs = of(one[1], 'seconds') * 1_000
  return {
    tables: [
      {
        title: `Files of envelopes, ${availableParallelism()} cores, of which one is used; including the start of Node`,
        head: ['', 'envelopes', 'envelopes/s', 'µs of processor time per envelope', 'peak memory, MiB'],
        rows: samples.map(([contender, found]) => [
          contender.name,
          number(contender.events),
          number(rate([contender, found])),
          number((of(found, 'processorSeconds') * 1e6) / contender.events, 2),
          mebibytes(of(found, 'peakBytes')),
        ]),
      },
      {
        title: 'From the start of the process to its end',
        head: ['', 'ms'],
        rows: starts.map(([{ name }, found]) => [name, number(of(found, 'seconds') * 1_000)]),
      },
    ],
    goals: [
      atLeast('envelopes validated per second, on one core', rate(validated), 200_000),
      atMost('ms to validate one envelope, including the start of Node', startMs, 150),
    ],
    figures: { samples, starts },
  }
}

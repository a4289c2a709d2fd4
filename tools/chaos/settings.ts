import { randomInt } from 'node:crypto'
import type { Brokers, LocalStore } from '@orderflow/stack'
import { CliError } from '@orderflow/stack/base'

export interface ChaosSettings {
  seed: string
  minutes: number
  rate: number
  replicas: number
  store: LocalStore
  brokers: Brokers
}

/**
 * Reads the settings of `make -C tools chaos`.
 * @throws {CliError} `usage` with the name of an invalid variable
 */
export function chaosSettings(env: NodeJS.ProcessEnv): ChaosSettings {
  return {
    seed: seed(env.SEED),
    minutes: number('MINUTES', env.MINUTES, 12, 0.1, 24 * 60),
    rate: number('RATE', env.RATE, 200, 1, 5_000),
    replicas: number('REPLICAS', env.REPLICAS, 2, 1, 2),
    store: store(env.STORE),
    brokers: brokers(env.BROKERS),
  }
}

/** The seed becomes part of a folder’s name and of keys. */
function seed(text = ''): string {
  if (text === '') return String(randomInt(1_000_000))
  if (/^[\w-]{1,40}$/.test(text)) return text
  throw usage('SEED', text, 'letters, digits, - and _, at most 40')
}

function number(name: string, text = '', usual: number, least: number, most: number): number {
  if (text === '') return usual
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw usage(name, text, `a number from ${least} to ${most}`)
}

function store(text = ''): LocalStore {
  if (text === '' || text === 'sqlite') return 'sqlite'
  if (text === 'postgresql') return text
  throw usage('STORE', text, 'sqlite or postgresql')
}

function brokers(text = ''): Brokers {
  if (text === '' || text === '1') return 1
  if (text === '3') return 3
  throw usage('BROKERS', text, '1 or 3')
}

function usage(name: string, text: string, rule: string): CliError {
  return new CliError('usage', `${name}: ${JSON.stringify(text)} is not ${rule}`, {
    nextStep: 'for example: make -C tools chaos MINUTES=12 SEED=1 RATE=100',
  })
}

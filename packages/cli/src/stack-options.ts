import type { Given, Option } from './command-line.ts'

/** The options of commands that start the stack. */
export const stackOptions: Record<string, Option> = {
  stack: {
    value: 'docker|local|kubernetes',
    summary: 'run in containers, as processes or in a cluster (default: the variable STACK)',
  },
  store: { value: 'STORE', summary: 'mongodb, postgresql or sqlite, see docs/stores.md (default: the variable STORE)' },
  brokers: {
    value: '1|3',
    summary: 'the number of Kafka brokers, see docs/operations.md (default: the variable BROKERS)',
  },
}

/** Returns the environment variables. Options of the command replace the variables `STACK`, `STORE` and `BROKERS`. */
export function stackSettings({ text }: Given): NodeJS.ProcessEnv {
  const [STACK, STORE, BROKERS] = [text('stack'), text('store'), text('brokers')]
  return { ...process.env, ...(STACK && { STACK }), ...(STORE && { STORE }), ...(BROKERS && { BROKERS }) }
}

import { join } from 'node:path'
import { npmTools } from '../support/programs/npm-tools.ts'

interface AsyncApiParser {
  Parser: new () => {
    parse: (
      text: string,
    ) => Promise<{ document?: unknown; diagnostics: { severity: number; message: string; path: string[] }[] }>
  }
}

interface CloudEventsSdk {
  CloudEvent: new (event: object) => object
  Kafka: Bindings
  HTTP: Bindings
}

export interface Message {
  headers: Record<string, string>
  value?: unknown
  body?: unknown
}

interface Bindings {
  binary: (event: object) => Message
  structured: (event: object) => Message
  toEvent: (message: object) => Record<string, unknown>
}

/** Installs the official AsyncAPI parser and CloudEvents SDK (177 packages, 56 MB). */
export async function contractTools(): Promise<{ asyncApi: AsyncApiParser; cloudEvents: CloudEventsSdk }> {
  const folder = await npmTools('contract', import.meta.dirname, '@asyncapi/parser and cloudevents: downloading 10 MB')
  const load = async (path: string) => (await import(join(folder, path))).default
  return {
    asyncApi: await load('@asyncapi/parser/cjs/index.js'),
    cloudEvents: await load('cloudevents/dist/index.js'),
  }
}

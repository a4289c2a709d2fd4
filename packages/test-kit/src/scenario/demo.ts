import { type Demo, readApplication } from '@orderflow/service-kit/application'
import { applicationFile } from '@orderflow/service-kit/setup'
import { expect } from 'chai'
import type { MemoryService } from './memory-service.ts'

/** Returns the demo of services.json if a service receives its request. */
export function demoOf(service: string): Demo | undefined {
  const { demo } = readApplication(applicationFile(import.meta.dirname))
  return demo?.service === service ? demo : undefined
}

/** Expects that a service answers the requests of `make demo` with the fields that the command needs. */
export async function expectDemo(memory: MemoryService, { post, body, get, until }: Demo): Promise<void> {
  const posted = await memory.request({ method: 'POST', path: post, headers: {}, body })
  expect(posted.status, `POST ${post}: ${JSON.stringify(posted.body)}`).to.be.within(200, 299)
  const fields = ['id', 'correlationId', ...(until.status === undefined ? [] : ['status'])]
  expect(posted.body, `the answer of POST ${post}`).to.include.keys(fields)
  const path = get.replaceAll('{id}', (posted.body as { id: string }).id)
  const read = await memory.request({ method: 'GET', path, headers: {} })
  expect(read.status, `GET ${path}: ${JSON.stringify(read.body)}`).to.equal(200)
  expect(read.body, `the answer of GET ${path}`).to.include.keys(fields)
}

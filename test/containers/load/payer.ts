import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { defaultPorts, entryOf } from '@orderflow/stack'
import { openContainer } from '@orderflow/test-kit/containers'

const url = `http://127.0.0.1:${entryOf(defaultPorts.services, 'payment-service').http}/v1/payments`
/** A program that posts each line of its input, and prints the status of each answer. */
const script = `const { createInterface } = await import('node:readline')
  const headers = { 'content-type': 'application/json' }
  console.log('ready')
  for await (const body of createInterface({ input: process.stdin })) {
    const { status } = await fetch('${url}', { method: 'POST', headers, body })
    console.log(status)
  }`

/**
 * Starts a program inside the container of a replica, because replicas publish no port. The program sends payment requests to the replica.
 * It starts in advance, so that all replicas can receive a request at the same moment.
 */
export async function openPayer(project: string, replica: string) {
  const { id } = await openContainer(project, replica)
  const program = ['node', '--input-type=module', '--eval', script]
  const child = spawn('docker', ['exec', '--interactive', id, ...program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ended = new Promise((resolve) => child.once('close', resolve))
  await lines.next()
  return {
    async pay(orderId: string, amount: number): Promise<number> {
      child.stdin.write(`${JSON.stringify({ orderId, amount })}\n`)
      return Number((await lines.next()).value)
    },
    async close(): Promise<void> {
      child.stdin.end()
      await ended
    },
  }
}

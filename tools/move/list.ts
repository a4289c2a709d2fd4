import { CliError } from '@orderflow/cli'
import { runMain } from './run-main.ts'

/** Runs `make -C tools move-list URL=...`. Prints all items of a list, one on each line, sorted. */
async function main({ URL: address = '', API_KEY }: NodeJS.ProcessEnv): Promise<void> {
  if (!address) {
    throw new CliError('usage', 'URL is missing', {
      nextStep: 'make -C tools move-list URL=http://localhost:5000/v1/orders',
    })
  }
  const lines: string[] = []
  let cursor: string | null = ''
  do {
    const url = new URL(address)
    url.searchParams.set('limit', '100')
    if (cursor) url.searchParams.set('cursor', cursor)
    const response = await fetch(url, { headers: API_KEY ? { authorization: `Bearer ${API_KEY}` } : {} })
    if (!response.ok) throw new CliError('usage', `${url} answers ${response.status}`)
    const page = (await response.json()) as { items: unknown[]; next: string | null }
    for (const item of page.items) lines.push(JSON.stringify(item))
    cursor = page.next
  } while (cursor)
  for (const line of lines.toSorted()) console.log(line)
}

await runMain(() => main(process.env))
